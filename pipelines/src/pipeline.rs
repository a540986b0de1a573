//! A pipeline: the engine with its models and its lake, driven epoch by epoch.
//!
//! An epoch is: decode, ask the models for what is missing, step the dataflow, tell what changed. A commit covers the
//! epochs since the last one; it runs beside the next epochs, one commit at a time, and holds the offsets up to which its
//! epochs have read. On start, what the lake says counts: inputs as of the last commit are loaded, nothing is written
//! again, and every source goes on at the committed offsets.
//!
//! In a cluster each process does so with its share of the input, and all go through the same epochs. What one says with an
//! epoch all have heard when it is complete, so that all decide alike when to commit and when to leave.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use differential_dataflow::Hashable;
use hypercane_operators::{Shared, domain::Domain};
use hypercane_schemas::{ContentHash, Diff, Document, DocumentKey, Epoch, HorizonUpdate, Query, Reject, ResultEvent};
use serde::{Deserialize, Serialize};

use crate::{
    changes::Changes,
    commit::{Committer, News},
    connect::{
        self,
        format::Input,
        lake::{self, Lake, Membership},
    },
    enrich::{Enriched, Enricher, Models, Watch},
    results::results,
    texts::{note_extractor, unanswered},
    worker::{self, Batch, Engine, Layout},
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
    /// What a lake says of its language model can't be read; another version wrote it.
    #[error("the lake's note of the language model that extracts (.hypercane.extractor) can't be read")]
    Extractor(#[source] serde_json::Error),
    /// What processes tell each other can't be read; they are of different versions.
    #[error("a note of another process can't be read: are all processes of the same version?")]
    Note(#[source] serde_json::Error),
}

/// Where each topic and partition goes on.
pub type Offsets = BTreeMap<(String, i32), i64>;

/// A running pipeline.
pub struct Pipeline {
    engine: Engine,
    enricher: Enricher,
    place: Place,
    committer: Option<Committer>,
    _membership: Option<Membership>,
    sequence: u64,
    /// Keys of the documents that stood in the lake at the start.
    resumed: Vec<DocumentKey>,
    /// Where each topic and partition went on at the start.
    resumed_at: Offsets,
    /// What was said last, and whether all are about to end, or have ended.
    told: Note,
    is_ending: bool,
    has_ended: bool,
}

/// Which of how many processes this is.
#[derive(Clone, Copy, Debug)]
struct Place {
    process: usize,
    n_processes: usize,
}

impl Place {
    fn is_alone(self) -> bool {
        self.n_processes == 1
    }

    /// Whether what is kept under a key belongs to this process at the start. Any rule does that all processes follow.
    fn holds(self, key: &impl Hashable<Output = u64>) -> bool {
        self.is_alone() || key.hashed() % self.n_processes as u64 == self.process as u64
    }
}

/// What a process tells the others with an epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Note {
    process: usize,
    /// Whether it has read anything.
    has_read: bool,
    /// Whether its sources have ended.
    has_ended: bool,
    /// Whether it was asked to stop.
    stop: bool,
    news: News,
    /// By the leader, at the start: the commit point, if the lake has one.
    resume_at: Option<Epoch>,
    /// By the leader: everything is committed and all may leave.
    leave: bool,
}

impl Note {
    fn to_bytes(&self) -> Result<worker::Note, Error> {
        serde_json::to_vec(self).map_err(Error::Note)
    }

    /// The notes of all processes, the leader's first.
    fn read(notes: Vec<worker::Note>) -> Result<Vec<Self>, Error> {
        let notes: Result<Vec<Self>, _> = notes.iter().map(|note| serde_json::from_slice(note)).collect();
        let mut notes = notes.map_err(Error::Note)?;
        notes.sort_by_key(|note| note.process);
        Ok(notes)
    }
}

/// What was read from the sources for one epoch.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Records that could be decoded.
    pub inputs: Vec<Input>,
    /// Rejects of those that could not, and rejects that were answered since, which go.
    pub rejects: Vec<(Reject, Diff)>,
    /// Where the partitions go on after them.
    pub offsets: Offsets,
    /// How many bytes they were.
    pub n_bytes: usize,
    /// Whether there will be no more.
    pub has_ended: bool,
}

impl Gathered {
    fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.rejects.is_empty() && self.offsets.is_empty()
    }
}

impl Pipeline {
    /// Starts the workers and, where there is a lake, goes on from its last commit. In a cluster this waits for the other
    /// processes; the lake is the one that the first process holds and the others have joined.
    ///
    /// # Errors
    /// The lake can't be read, the workers can't be started, or a model fails on a text that is not recorded.
    pub async fn start(
        layout: impl Into<Layout>,
        domain: Arc<Domain>,
        models: impl Into<Models>,
        lake: Option<Lake>,
    ) -> Result<Self, Error> {
        let (layout, models): (Layout, Models) = (layout.into(), models.into());
        let domain = models.reading(domain);
        let place = Place { process: layout.process(), n_processes: layout.n_processes() };
        let mut point = match &lake {
            Some(lake) if place.process == 0 => {
                let point = lake.recover().await?;
                note_extractor(lake, models.extractor.as_deref()).await?;
                point
            }
            _ => None,
        };
        let engine = Engine::start(layout, 0, Arc::clone(&domain))?;
        let mut pipeline = Self {
            engine,
            enricher: Enricher::new(domain, models.clone()),
            place,
            committer: None,
            _membership: None,
            sequence: 0,
            resumed: Vec::new(),
            resumed_at: Offsets::new(),
            told: Note::default(),
            is_ending: false,
            has_ended: false,
        };
        if !place.is_alone() {
            let resume_at = point.as_ref().map(|point| point.epoch);
            let note = Note { process: place.process, resume_at, ..Note::default() };
            let (_, notes) = pipeline.engine.round(Batch::default(), note.to_bytes()?)?;
            // The leader has recovered the lake before it said this.
            let resume_at = Note::read(notes)?.first().and_then(|note| note.resume_at);
            if let Some(lake) = lake.as_ref().filter(|_| place.process > 0) {
                pipeline._membership = Some(lake.enter().await?);
                point = match resume_at {
                    Some(_) => lake.commit_point().await?,
                    None => None,
                };
            }
        }
        pipeline.engine.skip_to(point.as_ref().map_or(1, |point| point.epoch));
        if let (Some(point), Some(lake)) = (point, &lake) {
            let state = read_inputs(lake, Some(point.epoch)).await?.of(place);
            tracing::info!(epoch = point.epoch, documents = state.documents.len(), "resuming from the lake");
            pipeline.resumed = state.documents.iter().map(|document| document.key.clone()).collect();
            pipeline.enricher.withhold(unanswered(&models, lake, Some(point.epoch)).await?);
            // What follows from the committed inputs is in the lake already.
            pipeline.work(state.into_inputs(), Vec::new(), &Note::default()).await?;
            pipeline.resumed_at = point.offsets;
            // What follows from answers that have come since is not.
            pipeline.enricher.ask_again();
        }
        pipeline.committer = lake.map(|lake| Committer::new(lake, place.process, place.n_processes));
        Ok(pipeline)
    }

    /// Sets who hears how many vectors of how many there are, while models are asked.
    pub fn watch_models(&mut self, watch: Watch) {
        self.enricher.watch(watch);
    }

    /// Takes chunks with these rejects for unanswered by the language model, whatever is on record by now.
    pub fn withhold(&mut self, rejects: HashSet<ContentHash>) {
        self.enricher.withhold(rejects);
    }

    /// How many passages the language model has not answered about.
    pub fn n_unanswered(&self) -> usize {
        self.enricher.n_unanswered()
    }

    /// Keys of the documents that stood in the lake at the start. A source that has no offsets compares with them what is
    /// there now.
    pub fn resumed(&self) -> &[DocumentKey] {
        &self.resumed
    }

    /// Where each topic and partition goes on.
    pub fn offsets(&self) -> Offsets {
        let mut offsets = self.resumed_at.clone();
        offsets.extend(self.committer.iter().flat_map(|committer| committer.read().clone()));
        offsets
    }

    /// The epoch that the next step will be.
    pub fn next_epoch(&self) -> Epoch {
        self.engine.next_epoch()
    }

    /// Works off some inputs as one epoch. For a pipeline in one process.
    ///
    /// # Errors
    /// A model or a worker fails.
    pub async fn step(&mut self, inputs: Vec<Input>) -> Result<Stepped, Error> {
        Ok(self.work(inputs, Vec::new(), &Note { has_read: true, ..Note::default() }).await?.0)
    }

    /// The lake, where there is one.
    pub fn lake(&self) -> Option<&Lake> {
        self.committer.as_ref().map(Committer::lake)
    }

    /// Notes records that could not be decoded, or that were answered since, as an epoch of their own. For a pipeline in one
    /// process.
    ///
    /// # Errors
    /// A worker is gone.
    pub async fn reject(&mut self, rejects: Vec<(Reject, Diff)>) -> Result<(), Error> {
        self.work(Vec::new(), rejects, &Note { has_read: true, ..Note::default() }).await.map(drop)
    }

    /// One turn of a pipeline that runs: works off what was gathered as this process's share of the next epoch, and takes
    /// the commit under way further, or begins one when `commit_interval` has passed since the last began. Gives `None` when
    /// there was nothing to do. With `stop` all processes finish and commit what they have read; see
    /// [`Pipeline::has_ended`].
    ///
    /// # Errors
    /// A model, a worker or the lake fails, or another process is gone.
    pub async fn turn(
        &mut self,
        gathered: Gathered,
        stop: bool,
        commit_interval: Duration,
    ) -> Result<Option<Stepped>, Error> {
        let has_read = !gathered.is_empty() || self.enricher.asks_again();
        let interval = if self.is_ending { Duration::ZERO } else { commit_interval };
        let mut note = Note { process: self.place.process, has_read, stop, ..Note::default() };
        note.has_ended = gathered.has_ended;
        if let Some(committer) = &mut self.committer {
            committer.read_up_to(gathered.offsets, gathered.n_bytes);
            note.news = committer.news(interval).await?;
        }
        note.leave =
            self.is_ending && self.place.process == 0 && self.committer.as_ref().is_none_or(Committer::is_done);
        let is_news = || Note { has_read: false, ..note.clone() } != self.told;
        let has_epoch = has_read || !self.place.is_alone() && (self.engine.is_called()? || is_news());
        let (stepped, notes) = match (has_epoch, self.place.is_alone()) {
            (true, _) => {
                let (stepped, notes) = self.work(gathered.inputs, gathered.rejects, &note).await?;
                (Some(stepped), notes)
            }
            (false, true) => (None, vec![note.clone()]),
            (false, false) => return Ok(None),
        };
        // What is said once is not news until it is said again.
        self.told = Note { has_read: false, ..note };
        self.told.news.part = None;
        self.told.news.cut = false;
        self.hear(notes);
        Ok(stepped)
    }

    /// Hears what all processes said with an epoch, and so decides what all decide.
    fn hear(&mut self, notes: Vec<Note>) {
        let epoch = self.engine.next_epoch() - 1;
        if notes.iter().any(|note| note.leave) {
            self.has_ended = true;
            self.engine.leave();
        }
        self.is_ending |= notes.iter().any(|note| note.stop) || notes.iter().all(|note| note.has_ended);
        let Some(committer) = &mut self.committer else { return };
        if notes.iter().any(|note| note.has_read) {
            committer.expect();
        }
        committer.hear(notes.into_iter().map(|note| (note.process, note.news)), epoch);
    }

    /// Whether this is the only process.
    pub fn is_alone(&self) -> bool {
        self.place.is_alone()
    }

    /// Whether reading has to wait until the lake has taken what was read.
    pub fn holds(&self) -> bool {
        self.committer.as_ref().is_some_and(Committer::holds)
    }

    /// Whether all processes are finishing what they have read.
    pub fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// Whether everything that was read is committed and all processes leave.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Works off inputs, and changes of the rejects of records, as this process's share of one epoch.
    async fn work(
        &mut self,
        inputs: Vec<Input>,
        rejects: Vec<(Reject, Diff)>,
        note: &Note,
    ) -> Result<(Stepped, Vec<Note>), Error> {
        let documents = inputs.iter().filter_map(Input::document);
        self.enricher.forget(documents.clone().map(|(key, _)| key));
        let documents = documents.filter_map(|(_, document)| document);
        let queries = inputs.iter().filter_map(|input| match input {
            Input::Query(_, Some(query)) => Some(query),
            _ => None,
        });
        let began = Instant::now();
        let Enriched { answers, vectors } = self.enricher.enrich(documents, queries).await?;
        let n_vectors = vectors.len();
        let mut batch = Batch { answers, vectors, ..Batch::default() };
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
        let (mut changes, notes) = self.engine.round(batch, note.to_bytes()?)?;
        let stepped = Instant::now();
        let results = results(&changes, epoch);
        let took = Took { enrich: enriched - began, dataflow: stepped - enriched, results: stepped.elapsed() };
        let unreadable =
            changes.rejects.iter().filter(|(.., diff)| *diff > 0).map(|(reject, ..)| reject.clone()).collect();
        changes.rejects.extend(rejects.into_iter().map(|(reject, diff)| (reject, epoch, diff)));
        let n_updates = changes.len();
        let mut kept = None;
        match &mut self.committer {
            Some(committer) => {
                committer.add(changes);
                if note.has_read {
                    committer.expect();
                }
            }
            None => kept = Some(changes),
        }
        let rejects = unreadable;
        Ok((Stepped { epoch, results, rejects, n_vectors, n_updates, took, changes: kept }, Note::read(notes)?))
    }

    /// How long ago the last commit was begun.
    pub fn since_commit(&self) -> Duration {
        self.committer.as_ref().map_or(Duration::ZERO, Committer::since_cut)
    }

    /// Begins a commit of the epochs since the last one, after that one is done. For a pipeline in one process.
    ///
    /// # Errors
    /// The last commit failed.
    pub async fn begin_commit(&mut self) -> Result<(), Error> {
        let epoch = self.engine.next_epoch() - 1;
        let Some(committer) = &mut self.committer else { return Ok(()) };
        committer.finish().await?;
        committer.cut(epoch);
        Ok(())
    }

    /// Commits everything and waits for it. For a pipeline in one process.
    ///
    /// # Errors
    /// The commit failed.
    pub async fn commit(&mut self) -> Result<(), Error> {
        self.begin_commit().await?;
        match &mut self.committer {
            Some(committer) => committer.finish().await,
            None => Ok(()),
        }
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
    /// How many texts needed a vector that none before them had needed.
    pub n_vectors: usize,
    /// How many rows came and went.
    pub n_updates: usize,
    /// How long its parts took.
    pub took: Took,
    /// The updates, where there is no lake to keep them for.
    pub changes: Option<Changes>,
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
    /// Those that belong to one process.
    fn of(mut self, place: Place) -> Self {
        self.documents.retain(|row| place.holds(&row.key));
        self.horizons.retain(|row| place.holds(&row.group));
        self.queries.retain(|row| place.holds(&row.id));
        self
    }

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
