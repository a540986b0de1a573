//! Arrow to records: a serde deserializer that walks the arrays, so that no text form lies between.
//!
//! A null cell counts as a field that is not there, since that is how records write what they don't have.

use arrow::{
    array::{
        Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, Int64Array, LargeStringArray, ListArray,
        RecordBatch, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    },
    datatypes::{DataType, Fields, TimeUnit},
};
use hypercane_schemas::{Diff, Epoch, Record};
use jiff::Timestamp;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        DeserializeSeed, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor,
        value::{BorrowedStrDeserializer, Error as ValueError},
    },
    forward_to_deserialize_any,
};

use super::Error;

/// Reads changes of one record kind from a batch of its changelog. Columns that the record does not know are skipped.
pub fn decode<R: Record>(batch: &RecordBatch) -> Result<Vec<(R, Epoch, Diff)>, Error> {
    let epochs = integers(batch, R::TABLE, "epoch")?;
    let diffs = integers(batch, R::TABLE, "diff")?;
    let own = R::columns();
    let names: Vec<&str> = own.iter().map(|column| column.name().as_str()).collect();
    let columns = Columns::of(batch, &names);
    let rows = (0..batch.num_rows()).map(|row| {
        let record = columns.record(row).map_err(|e| Error::row(R::TABLE, format!("row {row}: {e}")))?;
        let epoch = Epoch::try_from(epochs.value(row));
        let epoch = epoch.map_err(|_| Error::row(R::TABLE, format!("row {row}: negative epoch")))?;
        Ok((record, epoch, diffs.value(row) as Diff))
    });
    rows.collect()
}

/// Reads rows of any shape.
pub(super) fn decode_rows<T>(table: &str, batch: &RecordBatch) -> Result<Vec<T>, Error>
where
    T: Serialize + for<'de> Deserialize<'de>,
{
    let schema = batch.schema();
    let names: Vec<&str> = schema.fields().iter().map(|column| column.name().as_str()).collect();
    let columns = Columns::of(batch, &names);
    let rows = (0..batch.num_rows()).map(|row| columns.record(row));
    rows.collect::<Result<_, _>>().map_err(|e| Error::row(table, e))
}

pub(super) fn integers<'a>(batch: &'a RecordBatch, table: &str, name: &str) -> Result<&'a Int64Array, Error> {
    let column = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref::<Int64Array>());
    column.ok_or_else(|| Error::row(table, format!("there is no integer column `{name}`")))
}

struct Columns<'a>(Vec<(&'a str, &'a ArrayRef)>);

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch, names: &[&'a str]) -> Self {
        Self(names.iter().filter_map(|&name| Some((name, batch.column_by_name(name)?))).collect())
    }

    fn record<T: Deserialize<'a>>(&self, row: usize) -> Result<T, ValueError> {
        let fields = self.0.iter().map(|&(name, array)| (name, array));
        T::deserialize(Row { fields, row })
    }
}

/// One row of named columns.
struct Row<I> {
    fields: I,
    row: usize,
}

impl<'de, I: Iterator<Item = (&'de str, &'de ArrayRef)>> Deserializer<'de> for Row<I> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_map(Present { fields: self.fields, row: self.row, value: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The fields of a row that are not null.
struct Present<'a, I> {
    fields: I,
    row: usize,
    value: Option<&'a ArrayRef>,
}

impl<'a, I: Iterator<Item = (&'a str, &'a ArrayRef)>> MapAccess<'a> for Present<'a, I> {
    type Error = ValueError;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, ValueError> {
        let row = self.row;
        let Some((name, array)) = self.fields.find(|(_, array)| array.is_valid(row)) else { return Ok(None) };
        self.value = Some(array);
        seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, ValueError> {
        let array = self.value.take().ok_or_else(|| ValueError::custom("a value before its key"))?;
        seed.deserialize(Cell { array: array.as_ref(), row: self.row })
    }
}

/// One value of one column.
struct Cell<'a> {
    array: &'a dyn Array,
    row: usize,
}

impl<'a> Cell<'a> {
    fn of<A: 'static>(&self) -> Result<&'a A, ValueError> {
        let mistyped = || ValueError::custom(format!("an array that is not of type {}", self.array.data_type()));
        self.array.as_any().downcast_ref::<A>().ok_or_else(mistyped)
    }

    fn text(&self) -> Result<&'a str, ValueError> {
        match self.array.data_type() {
            DataType::Utf8 => Ok(self.of::<StringArray>()?.value(self.row)),
            DataType::LargeUtf8 => Ok(self.of::<LargeStringArray>()?.value(self.row)),
            DataType::Utf8View => Ok(self.of::<StringViewArray>()?.value(self.row)),
            other => Err(ValueError::custom(format!("expected text, found {other}"))),
        }
    }
}

impl<'de> Deserializer<'de> for Cell<'de> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if self.array.is_null(self.row) {
            return visitor.visit_unit();
        }
        match self.array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => visitor.visit_borrowed_str(self.text()?),
            DataType::Int64 => visitor.visit_i64(self.of::<Int64Array>()?.value(self.row)),
            DataType::Int32 => visitor.visit_i32(self.of::<Int32Array>()?.value(self.row)),
            DataType::Float64 => visitor.visit_f64(self.of::<Float64Array>()?.value(self.row)),
            DataType::Float32 => visitor.visit_f32(self.of::<Float32Array>()?.value(self.row)),
            DataType::Boolean => visitor.visit_bool(self.of::<BooleanArray>()?.value(self.row)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let micros = self.of::<TimestampMicrosecondArray>()?.value(self.row);
                let moment = Timestamp::from_microsecond(micros).map_err(ValueError::custom)?;
                visitor.visit_string(moment.to_string())
            }
            DataType::List(_) => {
                let items = self.of::<ListArray>()?;
                let offsets = items.value_offsets();
                let (next, end) = (offsets[self.row] as usize, offsets[self.row + 1] as usize);
                visitor.visit_seq(Items { array: items.values().as_ref(), next, end })
            }
            DataType::Struct(_) => {
                let record = self.of::<StructArray>()?;
                let names: &'de Fields = record.fields();
                let fields = names.iter().map(|field| field.name().as_str()).zip(record.columns());
                Row { fields, row: self.row }.deserialize_any(visitor)
            }
            other => Err(ValueError::custom(format!("columns of type {other} are not read"))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if self.array.is_null(self.row) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_enum(self.text()?.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The items of one list.
struct Items<'a> {
    array: &'a dyn Array,
    next: usize,
    end: usize,
}

impl<'a> SeqAccess<'a> for Items<'a> {
    type Error = ValueError;

    fn next_element_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<Option<S::Value>, ValueError> {
        if self.next == self.end {
            return Ok(None);
        }
        let row = self.next;
        self.next += 1;
        seed.deserialize(Cell { array: self.array, row }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.end - self.next)
    }
}
