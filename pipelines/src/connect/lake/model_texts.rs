//! What language models wrote: appended at once, outside the commit, as vectors are.
//!
//! Asked twice (by two processes at once), a model may write two texts under one key. Of these the least counts, so that it
//! does not depend on the order in which they were written.

use std::{collections::BTreeMap, sync::Arc};

use arrow::{
    array::{Array, RecordBatch, StringArray},
    datatypes::Schema,
};
use hypercane_schemas::{ContentHash, ModelText, Record};

use super::{Error, Lake, model_outputs::text, read::Files};

/// (model, template, input) of a text.
type TextKey = (String, ContentHash, ContentHash);

impl Lake {
    /// Writes texts; they are kept when this returns.
    pub async fn append_model_texts(&self, rows: &[ModelText]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let batch = to_batch(rows)?;
        let table = self.table(ModelText::TABLE, &batch.schema()).await?;
        let mut table = table.lock().await;
        table.catch_up().await?;
        table.append(&[batch], None).await?;
        self.checkpoint(&table).await;
        Ok(())
    }

    /// Every text that is recorded; those of other models than the one given without their words.
    pub async fn read_model_texts(&self, model: &str) -> Result<Vec<ModelText>, Error> {
        let mut texts = BTreeMap::new();
        let Some(files) = Files::of(&self.storage, ModelText::TABLE).await? else { return Ok(Vec::new()) };
        for file in files.all() {
            files.read(file, &mut |batch| collect(&batch, model, &mut texts)).await?;
        }
        let row = |((model, template, input), text)| ModelText { model, template, input, text };
        Ok(texts.into_iter().map(row).collect())
    }
}

fn to_batch(rows: &[ModelText]) -> Result<RecordBatch, Error> {
    let column = |of: &dyn Fn(&ModelText) -> String| -> Arc<dyn Array> {
        Arc::new(rows.iter().map(|row| Some(of(row))).collect::<StringArray>())
    };
    let columns = vec![
        column(&|row| row.model.clone()),
        column(&|row| row.template.to_string()),
        column(&|row| row.input.to_string()),
        column(&|row| row.text.clone()),
    ];
    let schema = Arc::new(Schema::new(ModelText::columns()));
    RecordBatch::try_new(schema, columns).map_err(|e| Error::row(ModelText::TABLE, e))
}

fn collect(batch: &RecordBatch, model: &str, found: &mut BTreeMap<TextKey, String>) -> Result<(), Error> {
    let columns = ["model", "template", "input", "text"].map(|name| text(batch, name));
    let [models, templates, inputs, texts] = columns;
    let (models, templates, inputs, texts) = (models?, templates?, inputs?, texts?);
    let hash = |text: &str| text.parse::<ContentHash>().map_err(|e| Error::row(ModelText::TABLE, e));
    for row in 0..batch.num_rows() {
        let key = (models.value(row).to_owned(), hash(templates.value(row))?, hash(inputs.value(row))?);
        let words = if key.0 == model { texts.value(row) } else { "" };
        found
            .entry(key)
            .and_modify(|known| {
                if words < known.as_str() {
                    words.clone_into(known);
                }
            })
            .or_insert_with(|| words.to_owned());
    }
    Ok(())
}
