//! Outputs of language models that were made elsewhere become recorded outputs.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
};

use hypercane_operators::language_model::{OpenIe, Passage, imported_template};
use hypercane_schemas::ModelText;
use serde::{Deserialize, de::DeserializeOwned};

use super::{Error, TextStore, extractor::row};

/// Outputs that are recorded at a time.
const PART: usize = 1_024;

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Outputs that are on record now.
    pub recorded: usize,
    /// Outputs of passages that the corpus does not have; they can't be used.
    pub unknown: Vec<String>,
    /// Passages of the corpus without an output.
    pub missing: usize,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

/// Records the extractions in a file of JSON Lines `{"id", "entities", "triples", "nary"}`, as HippoRAG's OpenIE gives
/// them, as outputs of a model. The corpus, JSON Lines `{"id", "title", "text"}`, says which passage an id is.
///
/// # Errors
/// A file can't be read, or a line of it is wrong: says which; or the outputs can't be recorded.
pub async fn import(extractions: &Path, corpus: &Path, model: &str, store: &dyn TextStore) -> Result<Imported, Error> {
    let mut passages: BTreeMap<String, Passage> = BTreeMap::new();
    read_lines(corpus, |entry: Entry| {
        passages.insert(entry.id, Passage { title: entry.title, text: entry.text });
    })?;
    let mut imported = Imported { missing: passages.len(), ..Imported::default() };
    let mut rows: Vec<ModelText> = Vec::new();
    read_lines(extractions, |extraction: OpenIe| match passages.get(&extraction.id) {
        Some(passage) => {
            let text = serde_json::to_string(&extraction.answer()).unwrap_or_default();
            rows.push(row(model, imported_template(), passage, text));
        }
        None => imported.unknown.push(extraction.id),
    })?;
    imported.recorded = rows.len();
    imported.missing = imported.missing.saturating_sub(rows.len());
    for part in rows.chunks(PART) {
        store.put(part.to_vec()).await?;
    }
    Ok(imported)
}

fn read_lines<T: DeserializeOwned>(path: &Path, mut each: impl FnMut(T)) -> Result<(), Error> {
    let failed = |what: String| Error::Record(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|e| failed(format!("can't be opened: {e}")))?;
    for (idx, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|e| failed(format!("line {}: {e}", idx + 1)))?;
        if !line.trim().is_empty() {
            each(serde_json::from_str(&line).map_err(|e| failed(format!("line {}: {e}", idx + 1)))?);
        }
    }
    Ok(())
}
