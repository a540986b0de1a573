//! Records to Arrow: each record's serde form, laid out in the columns of its table.

use std::sync::Arc;

use arrow::{
    array::{ArrayRef, Int64Array, RecordBatch},
    datatypes::{Schema, SchemaRef},
    json::ReaderBuilder,
};
use hypercane_schemas::{Diff, Epoch, Record};
use serde::Serialize;

use super::Error;

/// Lays out changes of one record kind as a batch of its changelog.
pub fn encode<R: Record>(rows: &[(R, Epoch, Diff)]) -> Result<RecordBatch, Error> {
    let own = Arc::new(Schema::new(R::columns()));
    let records: Vec<&R> = rows.iter().map(|(record, ..)| record).collect();
    let mut columns = encode_columns(R::TABLE, own, &records)?;
    let epochs = rows.iter().map(|&(_, epoch, _)| i64::try_from(epoch));
    let epochs = epochs.collect::<Result<Int64Array, _>>().map_err(|e| Error::row(R::TABLE, format!("epoch: {e}")))?;
    columns.push(Arc::new(epochs));
    columns.push(Arc::new(rows.iter().map(|&(_, _, diff)| diff as i64).collect::<Int64Array>()));
    RecordBatch::try_new(Arc::new(R::arrow_schema()), columns).map_err(|e| Error::row(R::TABLE, e))
}

/// Lays out rows by a schema; a field that the schema has no column for is an error.
pub(super) fn encode_columns<S: Serialize>(table: &str, schema: SchemaRef, rows: &[S]) -> Result<Vec<ArrayRef>, Error> {
    let failed = |e| Error::row(table, e);
    let reader = ReaderBuilder::new(schema.clone()).with_strict_mode(true);
    let mut decoder = reader.build_decoder().map_err(failed)?;
    decoder.serialize(rows).map_err(failed)?;
    let batch = decoder.flush().map_err(failed)?.unwrap_or_else(|| RecordBatch::new_empty(schema));
    Ok(batch.columns().to_vec())
}
