//! Recorded model outputs: appended at once, outside the commit, since they are keyed by content.
//!
//! A row that was written twice (the process died before it knew of the first) does no harm: equal keys have equal values.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use arrow::{
    array::{Array, AsArray, Float32Array, ListArray, RecordBatch, StringArray},
    buffer::OffsetBuffer,
    datatypes::{DataType, Field, Float32Type, Schema, SchemaRef},
};
use hypercane_schemas::{ContentHash, ModelOutput, ModelText, Record, Vector};

use super::{Error, Lake, read::Files};

pub(super) const MODEL_OUTPUTS: &str = ModelOutput::TABLE;

/// Whether a table is a record of what models gave, and so no changelog.
pub(super) fn is_record(table: &str) -> bool {
    table == MODEL_OUTPUTS || table == ModelText::TABLE
}

impl Lake {
    /// Writes outputs; they are kept when this returns.
    pub async fn append_model_outputs(&self, rows: &[ModelOutput]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let batch = to_batch(rows)?;
        let table = self.table(MODEL_OUTPUTS, &batch.schema()).await?;
        let mut table = table.lock().await;
        table.catch_up().await?;
        table.append(&[batch], None).await?;
        self.checkpoint(&table).await;
        Ok(())
    }

    /// The models of which there are outputs.
    pub async fn models(&self) -> Result<BTreeSet<String>, Error> {
        let mut models = BTreeSet::new();
        let Some(files) = Files::of(&self.storage, MODEL_OUTPUTS).await? else { return Ok(models) };
        for file in files.all() {
            let collect = &mut |batch: RecordBatch| {
                models.extend(text(&batch, "model")?.iter().flatten().map(str::to_owned));
                Ok(())
            };
            files.read(file, collect).await?;
        }
        Ok(models)
    }

    /// All outputs of one model under one template, by the hash of their input.
    pub async fn read_model_outputs(
        &self,
        model: &str,
        template: ContentHash,
    ) -> Result<BTreeMap<ContentHash, Vector>, Error> {
        let mut outputs = BTreeMap::new();
        let Some(files) = Files::of(&self.storage, MODEL_OUTPUTS).await? else { return Ok(outputs) };
        let template = template.to_string();
        for file in files.all() {
            files.read(file, &mut |batch| collect(&batch, model, &template, &mut outputs)).await?;
        }
        Ok(outputs)
    }
}

/// The text column of that name.
pub(super) fn text<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StringArray, Error> {
    let column = batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    column.ok_or_else(|| mistyped(name))
}

fn mistyped(name: &str) -> Error {
    Error::row(MODEL_OUTPUTS, format!("there is no column `{name}` of the right type"))
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(ModelOutput::columns()))
}

fn to_batch(rows: &[ModelOutput]) -> Result<RecordBatch, Error> {
    let models: StringArray = rows.iter().map(|row| Some(row.model.as_str())).collect();
    let templates: StringArray = rows.iter().map(|row| Some(row.template.to_string())).collect();
    let inputs: StringArray = rows.iter().map(|row| Some(row.input.to_string())).collect();
    let numbers: Float32Array = rows.iter().flat_map(|row| row.vector.0.iter().copied()).collect();
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|row| row.vector.0.len()));
    let item = Arc::new(Field::new("element", DataType::Float32, false));
    let failed = |e| Error::row(MODEL_OUTPUTS, e);
    let vectors = ListArray::try_new(item, offsets, Arc::new(numbers), None).map_err(failed)?;
    let columns: Vec<Arc<dyn Array>> = vec![Arc::new(models), Arc::new(templates), Arc::new(inputs), Arc::new(vectors)];
    RecordBatch::try_new(schema(), columns).map_err(failed)
}

fn collect(
    batch: &RecordBatch,
    model: &str,
    template: &str,
    outputs: &mut BTreeMap<ContentHash, Vector>,
) -> Result<(), Error> {
    let (models, templates, inputs) = (text(batch, "model")?, text(batch, "template")?, text(batch, "input")?);
    let vectors = batch.column_by_name("vector").and_then(|c| c.as_list_opt::<i32>());
    let vectors = vectors.ok_or_else(|| mistyped("vector"))?;
    for row in 0..batch.num_rows() {
        if models.value(row) != model || templates.value(row) != template {
            continue;
        }
        let input = inputs.value(row).parse().map_err(|e| Error::row(MODEL_OUTPUTS, e))?;
        let numbers = vectors.value(row);
        let numbers = numbers.as_primitive_opt::<Float32Type>().ok_or_else(|| mistyped("vector"))?;
        outputs.insert(input, Vector(Arc::from(&numbers.values()[..])));
    }
    Ok(())
}
