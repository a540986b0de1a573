//! What language models wrote, recorded in a lake, and which of them extracts.

use std::{collections::HashSet, fmt, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use hypercane_operators::extract::UNANSWERED;
use hypercane_schemas::{ContentHash, Epoch, ModelText, Reject};
use tokio::sync::Mutex;

use crate::{
    connect::{
        self,
        lake::{self, Lake},
        language_model::{Extractor, ExtractorId, MemoryTexts, TextStore},
    },
    enrich::Models,
    pipeline::Error,
};

/// Notes in a lake which language model extracts, if that is not what it says.
pub(crate) async fn note_extractor(lake: &Lake, extractor: Option<&Extractor>) -> Result<(), Error> {
    let id = extractor.map(Extractor::id);
    if extractor_id(lake).await?.as_ref() == id {
        return Ok(());
    }
    let note = id.map(serde_json::to_string).transpose().map_err(Error::Extractor)?;
    Ok(lake.note_extractor(&note.unwrap_or_default()).await?)
}

async fn extractor_id(lake: &Lake) -> Result<Option<ExtractorId>, Error> {
    let note = lake.extractor().await?.filter(|note| !note.is_empty());
    note.map(|note| serde_json::from_str(&note)).transpose().map_err(Error::Extractor)
}

/// The record of the language model that extracts in the pipeline of a lake; `None` where none does.
///
/// # Errors
/// The lake can't be read.
pub async fn recorded_extractor(lake: &Lake) -> Result<Option<Arc<Extractor>>, Error> {
    let Some(id) = extractor_id(lake).await? else { return Ok(None) };
    let texts = LakeTexts::open(lake.clone(), &id.model).await?;
    Ok(Some(Arc::new(Extractor::recorded_under(id, Arc::new(texts)))))
}

/// The [rejects](hypercane_operators::extract::unanswered) of chunks that had no answer of a language model at an epoch, or the
/// last commit, where one extracts.
///
/// # Errors
/// The lake can't be read.
pub async fn unanswered(
    models: &Models,
    lake: &Lake,
    epoch: Option<Epoch>,
) -> Result<HashSet<ContentHash>, lake::Error> {
    if models.extractor.is_none() {
        return Ok(HashSet::new());
    }
    let rejects = lake.read::<Reject>(epoch).await?.into_iter();
    Ok(rejects
        .filter(|(reject, count)| *count > 0 && reject.reason == UNANSWERED)
        .map(|(reject, _)| reject.id)
        .collect())
}

/// The record of texts in a lake: what it holds is read once, what is new is appended at once. Texts that arrive while
/// others are written go together in the next write.
pub struct LakeTexts {
    memory: MemoryTexts,
    lake: Lake,
    model: String,
    /// Texts that are not written yet.
    waiting: std::sync::Mutex<Vec<ModelText>>,
    writing: Mutex<()>,
}

impl fmt::Debug for LakeTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LakeTexts").field("model", &self.model).finish_non_exhaustive()
    }
}

impl LakeTexts {
    /// Reads what the lake has recorded of a model, and of which inputs it has outputs of others.
    ///
    /// # Errors
    /// The lake can't be read.
    pub async fn open(lake: Lake, model: &str) -> Result<Self, Error> {
        let memory = MemoryTexts::default();
        lake.read_model_texts(model).await?.iter().for_each(|row| memory.insert(row));
        Ok(Self { memory, lake, model: model.into(), waiting: std::sync::Mutex::default(), writing: Mutex::new(()) })
    }

    async fn write(&self, rows: Vec<ModelText>) -> Result<(), connect::Error> {
        let mine = rows.clone();
        self.waiting().extend(rows);
        let _turn = self.writing.lock().await;
        let batch = self.waiting().clone();
        // Whoever had the turn before may have written these as well.
        if batch.iter().any(|row| mine.contains(row)) {
            let append = || self.lake.append_model_texts(&batch);
            let written = self.lake.patiently(append).await;
            // What can't be written is told to each who wants it written, so it stays for those who wait; mine goes.
            self.waiting().retain(|row| if written.is_ok() { !batch.contains(row) } else { !mine.contains(row) });
            written.map_err(|e| {
                connect::Error::lasting("a language model's text can't be recorded in the lake").because(e)
            })?;
        }
        mine.iter().for_each(|row| self.memory.insert(row));
        Ok(())
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<ModelText>> {
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl TextStore for LakeTexts {
    fn get(&self, model: &str, template: ContentHash, input: ContentHash) -> Option<Arc<str>> {
        // Texts of other models were read without their words.
        if model == self.model { self.memory.get(model, template, input) } else { None }
    }

    fn has_other(&self, model: &str, template: ContentHash, input: ContentHash) -> bool {
        self.memory.has_other(model, template, input)
    }

    fn put(&self, rows: Vec<ModelText>) -> BoxFuture<'_, Result<(), connect::Error>> {
        self.write(rows).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, ContentHash, Lake, LakeTexts, ModelText, TextStore};
    use crate::connect::lake::Options;

    fn row(model: &str, input: u128) -> ModelText {
        ModelText {
            model: model.into(),
            template: ContentHash(1),
            input: ContentHash(input),
            text: format!("text {input}"),
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn texts_of_many_calls_are_written_together_and_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let location = dir.path().to_str().unwrap().to_owned();
        let lake = Lake::open(&location, "p", Options::default()).await.unwrap();
        let texts = Arc::new(LakeTexts::open(lake.clone(), "m").await.unwrap());
        let calls: Vec<_> = (0..40)
            .map(|n| {
                let texts = Arc::clone(&texts);
                tokio::spawn(async move { texts.put(vec![row("m", n)]).await.unwrap() })
            })
            .collect();
        for call in calls {
            call.await.unwrap();
        }
        texts.put(vec![row("other", 7)]).await.unwrap();
        let n_files = std::fs::read_dir(dir.path().join("model_texts")).unwrap().count();
        assert!(n_files < 40, "{n_files} files for 41 texts");
        drop(texts);

        let texts = LakeTexts::open(lake, "m").await.unwrap();
        let get = |model, input| texts.get(model, ContentHash(1), ContentHash(input));
        assert_eq!(get("m", 39).as_deref(), Some("text 39"));
        assert_eq!((get("m", 40), get("other", 7)), (None, None));
        assert!(texts.has_other("m", ContentHash(1), ContentHash(7)));
        assert!(!texts.has_other("m", ContentHash(1), ContentHash(8)));
    }
}
