//! Where the texts of language models are kept: the interface, one in memory, and one that is a file of JSON Lines.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{FutureExt, future::BoxFuture};
use hypercane_schemas::{ContentHash, ModelText};

use crate::connect;

/// What language models wrote, by (model, template, input).
pub trait TextStore: fmt::Debug + Send + Sync + 'static {
    /// What is recorded.
    fn get(&self, model: &str, template: ContentHash, input: ContentHash) -> Option<Arc<str>>;

    /// Whether there is something for that input from another model, or under another template.
    fn has_other(&self, model: &str, template: ContentHash, input: ContentHash) -> bool;

    /// Records texts; they are kept when this returns. A key that is known already keeps its first text.
    fn put(&self, rows: Vec<ModelText>) -> BoxFuture<'_, Result<(), connect::Error>>;
}

/// A store that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryTexts {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The names of models, each once.
    models: BTreeSet<Arc<str>>,
    texts: HashMap<ContentHash, Vec<Text>>,
}

#[derive(Debug)]
struct Text {
    model: Arc<str>,
    template: ContentHash,
    text: Arc<str>,
}

impl MemoryTexts {
    /// Adds a text, unless there is one under its key.
    pub(crate) fn insert(&self, row: &ModelText) {
        let mut known = self.locked();
        let model = match known.models.get(row.model.as_str()) {
            Some(model) => Arc::clone(model),
            None => {
                let model: Arc<str> = row.model.as_str().into();
                known.models.insert(Arc::clone(&model));
                model
            }
        };
        let texts = known.texts.entry(row.input).or_default();
        if !texts.iter().any(|text| text.template == row.template && text.model == model) {
            texts.push(Text { model, template: row.template, text: row.text.as_str().into() });
        }
    }

    /// How many texts it holds.
    pub fn len(&self) -> usize {
        self.locked().texts.values().map(Vec::len).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn locked(&self) -> MutexGuard<'_, Known> {
        // A thread that died while it held the lock has added a whole text or none.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TextStore for MemoryTexts {
    fn get(&self, model: &str, template: ContentHash, input: ContentHash) -> Option<Arc<str>> {
        let known = self.locked();
        let text = known.texts.get(&input)?.iter().find(|text| text.template == template && *text.model == *model)?;
        Some(Arc::clone(&text.text))
    }

    fn has_other(&self, model: &str, template: ContentHash, input: ContentHash) -> bool {
        let known = self.locked();
        let is_other = |text: &Text| text.template != template || *text.model != *model;
        known.texts.get(&input).is_some_and(|texts| texts.iter().any(is_other))
    }

    fn put(&self, rows: Vec<ModelText>) -> BoxFuture<'_, Result<(), connect::Error>> {
        rows.iter().for_each(|row| self.insert(row));
        futures::future::ready(Ok(())).boxed()
    }
}

/// A store in one file, a record a line. A line that a crash cut short is dropped when the file is opened.
#[derive(Debug)]
pub struct FileTexts {
    path: PathBuf,
    memory: MemoryTexts,
    file: Mutex<File>,
}

impl FileTexts {
    /// Opens or makes the file.
    ///
    /// # Errors
    /// It can't be read or written, or a line of it is no record.
    pub fn open(path: &Path) -> Result<Self, connect::Error> {
        let failed = |e: std::io::Error| {
            connect::Error::lasting(format!("can't use the file of recorded texts {}", path.display())).because(e)
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        let bytes = fs::read(path).map_err(failed)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let memory = MemoryTexts::default();
        for (idx, line) in bytes[..end].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let row = serde_json::from_slice::<ModelText>(line).map_err(|e| {
                let place = format!("{}, line {}", path.display(), idx + 1);
                connect::Error::lasting(format!("{place}: no recorded text of a model")).because(e)
            })?;
            memory.insert(&row);
        }
        if bytes.len() > end {
            tracing::warn!(path = %path.display(), n_bytes = bytes.len() - end, "dropped a record that was cut short");
            file.set_len(end as u64).map_err(failed)?;
        }
        Ok(Self { path: path.to_owned(), memory, file: Mutex::new(file) })
    }

    fn write(&self, rows: &[ModelText]) -> Result<(), connect::Error> {
        let failed =
            |e: std::io::Error| connect::Error::lasting(format!("can't write to {}", self.path.display())).because(e);
        let mut lines = Vec::new();
        for row in rows.iter().filter(|row| self.memory.get(&row.model, row.template, row.input).is_none()) {
            serde_json::to_writer(&mut lines, row).map_err(|e| failed(e.into()))?;
            lines.push(b'\n');
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&lines).and_then(|()| file.sync_data()).map_err(failed)?;
        rows.iter().for_each(|row| self.memory.insert(row));
        Ok(())
    }
}

impl TextStore for FileTexts {
    fn get(&self, model: &str, template: ContentHash, input: ContentHash) -> Option<Arc<str>> {
        self.memory.get(model, template, input)
    }

    fn has_other(&self, model: &str, template: ContentHash, input: ContentHash) -> bool {
        self.memory.has_other(model, template, input)
    }

    fn put(&self, rows: Vec<ModelText>) -> BoxFuture<'_, Result<(), connect::Error>> {
        futures::future::ready(self.write(&rows)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentHash, FileTexts, ModelText, TextStore, fs};

    fn row(model: &str, input: u128, text: &str) -> ModelText {
        ModelText { model: model.into(), template: ContentHash(9), input: ContentHash(input), text: text.into() }
    }

    #[tokio::test]
    async fn texts_survive_a_restart_and_a_torn_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m/texts.jsonl");
        let store = FileTexts::open(&path).unwrap();
        store.put(vec![row("m", 1, "one\ntwo"), row("m", 2, "")]).await.unwrap();
        store.put(vec![row("m", 1, "another"), row("n", 3, "three")]).await.unwrap();
        drop(store);
        let whole = fs::metadata(&path).unwrap().len();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(whole - 2).unwrap();

        let store = FileTexts::open(&path).unwrap();
        let get = |model: &str, input| store.get(model, ContentHash(9), ContentHash(input));
        assert_eq!(get("m", 1).as_deref(), Some("one\ntwo"), "the first text stays");
        assert_eq!((get("m", 2).as_deref(), get("n", 3)), (Some(""), None), "the last record was cut");
        assert!(
            store.has_other("n", ContentHash(9), ContentHash(1))
                && !store.has_other("m", ContentHash(9), ContentHash(1))
        );
        store.put(vec![row("n", 3, "three")]).await.unwrap();
        drop(store);
        assert_eq!(FileTexts::open(&path).unwrap().memory.len(), 3);

        fs::write(&path, "{}\n").unwrap();
        assert!(FileTexts::open(&path).unwrap_err().to_string().contains("line 1"));
    }
}
