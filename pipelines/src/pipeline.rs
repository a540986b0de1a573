//! A pipeline: the engine with its models and its lake, driven epoch by epoch.
//!
//! An epoch is: decode, ask the models for what is missing, step the dataflow, tell what changed. A commit covers the
//! epochs since the last one; it runs beside the next epochs, one commit at a time, and holds the offsets up to which its
//! epochs have read. On start, what the lake says counts: inputs as of the last commit are loaded, nothing is written
//! again, and every source goes on at the committed offsets.

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use hypercane_operators::{Shared, domain::Domain};
use hypercane_schemas::{
    ContentHash, Diff, Document, DocumentKey, Epoch, HorizonUpdate, ModelOutput, Query, Reject, ResultEvent, Vector,
};
use tokio::task::JoinHandle;

use crate::{
    changes::{Changes, owned},
    connect::{
        self,
        embed::{self, Recorded},
        format::Input,
        lake::{self, CommitBatch, CommitReport, Lake},
    },
    enrich::{Enricher, Watch},
    results::results,
    worker::{self, Batch, Engine},
};

/// Why a pipeline stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The dataflow.
    #[error("the dataflow stopped")]
    Engine(#[from] worker::Error),
    /// A model, a source or a sink.
    #[error(transparent)]
    Connect(#[from] connect::Error),
    /// The lake.
    #[error("the lake can't be used")]
    Lake(#[from] lake::Error),
    /// A task was ended from outside.
    #[error("a commit was cut short: {0}")]
    Commit(String),
}

/// Where each topic and partition goes on.
pub type Offsets = BTreeMap<(String, i32), i64>;

/// A running pipeline.
pub struct Pipeline {
    engine: Engine,
    enricher: Enricher,
    lake: Option<Lake>,
    /// Updates since the last commit was begun.
    uncommitted: Changes,
    offsets: Offsets,
    committed_at: Instant,
    committing: Option<JoinHandle<Result<CommitReport, lake::Error>>>,
    sequence: u64,
    /// Keys of the documents that stood in the lake at the start.
    resumed: Vec<DocumentKey>,
}

impl Pipeline {
    /// Starts the workers and, where there is a lake, goes on from its last commit.
    ///
    /// # Errors
    /// The lake can't be read, the workers can't be started, or a model fails on a text that is not recorded.
    pub async fn start(
        n_workers: usize,
        domain: Arc<Domain>,
        recorded: Arc<Recorded>,
        lake: Option<Lake>,
    ) -> Result<Self, Error> {
        let point = match &lake {
            Some(lake) => lake.recover().await?,
            None => None,
        };
        let first_epoch = point.as_ref().map_or(1, |point| point.epoch);
        let mut pipeline = Self {
            engine: Engine::start(n_workers, first_epoch, Arc::clone(&domain))?,
            enricher: Enricher::new(domain, recorded),
            lake,
            uncommitted: Changes::default(),
            offsets: Offsets::new(),
            committed_at: Instant::now(),
            committing: None,
            sequence: 0,
            resumed: Vec::new(),
        };
        if let (Some(point), Some(lake)) = (point, pipeline.lake.clone()) {
            let state = read_inputs(&lake, None).await?;
            tracing::info!(epoch = point.epoch, documents = state.documents.len(), "resuming from the lake");
            pipeline.resumed = state.documents.iter().map(|document| document.key.clone()).collect();
            pipeline.step(state.into_inputs()).await?;
            // What follows from the committed inputs is in the lake already.
            pipeline.uncommitted = Changes::default();
            pipeline.offsets = point.offsets;
        }
        Ok(pipeline)
    }

    /// Sets who hears how many vectors of how many there are, while models are asked.
    pub fn watch_models(&mut self, watch: Watch) {
        self.enricher.watch(watch);
    }

    /// Keys of the documents that stood in the lake at the start. A source that has no offsets compares with them what is
    /// there now.
    pub fn resumed(&self) -> &[DocumentKey] {
        &self.resumed
    }

    /// Where each topic and partition goes on.
    pub fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// The epoch that the next step will be.
    pub fn next_epoch(&self) -> Epoch {
        self.engine.next_epoch()
    }

    /// Works off some inputs as one epoch.
    ///
    /// # Errors
    /// A model or a worker fails.
    pub async fn step(&mut self, inputs: Vec<Input>) -> Result<Stepped, Error> {
        let documents = inputs.iter().filter_map(|input| match input {
            Input::Document(_, Some(document)) => Some(document),
            _ => None,
        });
        let questions = inputs.iter().filter_map(|input| match input {
            Input::Query(_, Some(query)) => Some(query.question.as_str()),
            _ => None,
        });
        let began = Instant::now();
        let mut batch = Batch { vectors: self.enricher.vectors(documents, questions).await?, ..Batch::default() };
        for input in inputs {
            self.sequence += 1;
            match input {
                Input::Document(key, value) => batch.documents.push((key, self.sequence, value.map(Shared::new))),
                Input::Horizon(group, value) => batch.horizons.push((group, self.sequence, value)),
                Input::Query(id, value) => batch.queries.push((id, self.sequence, value.map(Shared::new))),
            }
        }
        let epoch = self.engine.next_epoch();
        let enriched = Instant::now();
        let changes = self.engine.step(batch)?;
        let stepped = Instant::now();
        let results = results(&changes, epoch);
        let took = Took { enrich: enriched - began, dataflow: stepped - enriched, results: stepped.elapsed() };
        let rejects =
            changes.rejects.iter().filter(|(.., diff)| *diff > 0).map(|(reject, ..)| reject.clone()).collect();
        let n_updates = changes.len();
        if self.lake.is_some() {
            self.uncommitted.absorb(changes);
            return Ok(Stepped { epoch, results, rejects, n_updates, took, changes: None });
        }
        Ok(Stepped { epoch, results, rejects, n_updates, took, changes: Some(changes) })
    }

    /// Notes how far the sources have been read by the epochs up to now.
    pub fn read_up_to(&mut self, offsets: Offsets) {
        self.offsets.extend(offsets);
    }

    /// Notes records that could not be decoded, as an epoch of their own.
    ///
    /// # Errors
    /// A worker is gone.
    pub async fn reject(&mut self, rejects: Vec<Reject>) -> Result<(), Error> {
        let epoch = self.engine.next_epoch();
        let changes = self.engine.step(Batch::default())?;
        self.uncommitted.absorb(changes);
        self.uncommitted.rejects.extend(rejects.into_iter().map(|reject| (reject, epoch, 1)));
        Ok(())
    }

    /// How long ago the last commit was begun.
    pub fn since_commit(&self) -> Duration {
        self.committed_at.elapsed()
    }

    /// Begins a commit of the epochs since the last one, after that one is done.
    ///
    /// # Errors
    /// The last commit failed.
    pub async fn begin_commit(&mut self) -> Result<(), Error> {
        self.finish_commit().await?;
        self.committed_at = Instant::now();
        let Some(lake) = self.lake.clone() else { return Ok(()) };
        if self.uncommitted.is_empty() {
            return Ok(());
        }
        let changes = std::mem::take(&mut self.uncommitted);
        let (epoch, offsets) = (self.engine.next_epoch() - 1, self.offsets.clone());
        self.committing = Some(tokio::spawn(async move {
            let encoded = tokio::task::spawn_blocking(move || encode(changes, epoch, offsets)).await;
            let batch = encoded.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
            commit_with_patience(&lake, batch).await
        }));
        Ok(())
    }

    /// Waits for the commit that was begun last.
    ///
    /// # Errors
    /// It failed.
    pub async fn finish_commit(&mut self) -> Result<(), Error> {
        if let Some(commit) = self.committing.take() {
            let report = commit.await.map_err(|e| Error::Commit(e.to_string()))??;
            tracing::debug!(rows = report.n_rows, took_ms = report.took.as_millis(), "committed");
        }
        Ok(())
    }

    /// Commits everything and waits for it.
    ///
    /// # Errors
    /// The commit failed.
    pub async fn commit(&mut self) -> Result<(), Error> {
        self.begin_commit().await?;
        self.finish_commit().await
    }
}

/// What an epoch did.
#[derive(Debug)]
pub struct Stepped {
    /// The epoch.
    pub epoch: Epoch,
    /// What changed in the answers.
    pub results: Vec<ResultEvent>,
    /// Documents, or parts of them, that could not be read.
    pub rejects: Vec<Reject>,
    /// How many rows came and went.
    pub n_updates: usize,
    /// How long its parts took.
    pub took: Took,
    /// The updates, where there is no lake to keep them for.
    pub changes: Option<Changes>,
}

/// Commits a batch. While the lake can't be written for a reason that may pass (a full disk, a store that does not
/// answer), it tries again, and since the next commit waits for this one, the pipeline stops reading meanwhile.
async fn commit_with_patience(lake: &Lake, batch: CommitBatch) -> Result<CommitReport, lake::Error> {
    let mut wait = Duration::from_millis(250);
    loop {
        match lake.commit(batch.clone()).await {
            Err(error) if error.is_transient() => {
                tracing::error!(error = &error as &dyn std::error::Error, retry_in = ?wait, "the lake can't be written; reading stops until it can");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(30));
            }
            outcome => return outcome,
        }
    }
}

/// How long the parts of an epoch took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// Extraction, and asking the record of vectors and the model.
    pub enrich: Duration,
    /// The dataflow.
    pub dataflow: Duration,
    /// Telling what changed in the answers.
    pub results: Duration,
}

fn encode(changes: Changes, epoch: Epoch, offsets: Offsets) -> Result<CommitBatch, lake::Error> {
    let mut batch = CommitBatch { epoch, offsets, ..CommitBatch::default() };
    batch.add(&owned(changes.documents))?;
    batch.add(&changes.horizons)?;
    batch.add(&owned(changes.queries))?;
    batch.add(&owned(changes.entities))?;
    batch.add(&owned(changes.hyperedges))?;
    batch.add(&changes.incidence)?;
    batch.add(&changes.degrees)?;
    batch.add(&changes.precedence)?;
    batch.add(&changes.conflicts)?;
    batch.add(&changes.answers)?;
    batch.add(&changes.rejects)?;
    Ok(batch)
}

/// The inputs that stand in a lake.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Documents.
    pub documents: Vec<Document>,
    /// Reference times.
    pub horizons: Vec<HorizonUpdate>,
    /// Queries.
    pub queries: Vec<Query>,
}

impl Inputs {
    /// As changes from nothing.
    pub fn into_inputs(self) -> Vec<Input> {
        let documents = self.documents.into_iter().map(|row| Input::Document(row.key.clone(), Some(row)));
        let horizons = self.horizons.into_iter().map(|row| Input::Horizon(row.group.clone(), Some(row)));
        let queries = self.queries.into_iter().map(|row| Input::Query(row.id.clone(), Some(row)));
        documents.chain(horizons).chain(queries).collect()
    }
}

/// Reads the inputs that stand at an epoch, or at the last commit.
///
/// # Errors
/// The lake can't be read.
pub async fn read_inputs(lake: &Lake, as_of: Option<Epoch>) -> Result<Inputs, lake::Error> {
    fn standing<R>(rows: Vec<(R, Diff)>) -> Vec<R> {
        rows.into_iter().filter(|(_, count)| *count > 0).map(|(row, _)| row).collect()
    }
    Ok(Inputs {
        documents: standing(lake.read::<Document>(as_of).await?),
        horizons: standing(lake.read::<HorizonUpdate>(as_of).await?),
        queries: standing(lake.read::<Query>(as_of).await?),
    })
}

/// The vectors that a lake has recorded of a model, to read only.
///
/// # Errors
/// The lake can't be read.
pub async fn recorded_vectors(lake: &Lake, model: &str) -> Result<embed::MemoryStore, Error> {
    let known = lake.read_model_outputs(model, embed::template_hash()).await?;
    let known: Vec<(ContentHash, Vector)> = known.into_iter().collect();
    let store = embed::MemoryStore::default();
    embed::VectorStore::put(&store, &known)?;
    Ok(store)
}

/// The record of vectors in a lake: what it holds is read once, what is new is appended at once.
pub struct LakeVectors {
    memory: embed::MemoryStore,
    lake: Lake,
    model: String,
    runtime: tokio::runtime::Handle,
}

impl fmt::Debug for LakeVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LakeVectors").field("model", &self.model).finish_non_exhaustive()
    }
}

impl LakeVectors {
    /// Reads what the lake has recorded of a model.
    ///
    /// # Errors
    /// The lake can't be read.
    pub async fn open(lake: Lake, model: &str) -> Result<Self, Error> {
        let memory = recorded_vectors(&lake, model).await?;
        Ok(Self { memory, lake, model: model.into(), runtime: tokio::runtime::Handle::current() })
    }
}

impl embed::VectorStore for LakeVectors {
    fn get(&self, inputs: &[ContentHash]) -> Result<Vec<Option<Vector>>, connect::Error> {
        self.memory.get(inputs)
    }

    fn put(&self, rows: &[(ContentHash, Vector)]) -> Result<(), connect::Error> {
        let outputs: Vec<ModelOutput> = rows
            .iter()
            .map(|(input, vector)| ModelOutput {
                model: self.model.clone(),
                template: embed::template_hash(),
                input: *input,
                vector: vector.clone(),
            })
            .collect();
        tokio::task::block_in_place(|| self.runtime.block_on(self.lake.append_model_outputs(&outputs)))
            .map_err(|e| connect::Error::lasting("vectors can't be recorded in the lake".to_owned()).because(e))?;
        self.memory.put(rows)
    }
}
