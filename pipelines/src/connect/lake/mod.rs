//! The lake: Delta tables (Parquet files and a transaction log), one changelog per record kind, committed exactly once.
//!
//! A commit writes its rows to every table, then one row to table `commits`; that row is the commit point. A reader who
//! wants committed rows only takes those with an `epoch` up to the last one in `commits`. After a crash, [`Lake::recover`]
//! takes out whatever lies beyond, and removes the files that nothing mentions. The state at an epoch is the sum of `diff` up to it.

mod checkpoint;
mod commit;
mod compact;
mod damage;
mod decode;
mod encode;
mod error;
pub mod fault;
mod file;
mod fold;
mod maintenance;
mod model_outputs;
mod model_texts;
mod patience;
mod point;
mod program;
mod read;
mod recover;
mod rewrite;
mod sizes;
mod state;
mod storage;
mod sweep;
mod table;
#[cfg(test)]
mod tests;
mod vacuum;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::Mutex;

pub use commit::{CommitBatch, CommitReport, Part};
pub use decode::decode;
pub use encode::encode;
pub use error::Error;
pub use point::CommitPoint;
pub use sizes::TableSize;
pub use state::write_state;
pub use vacuum::Vacuumed;

use checkpoint::Checkpoints;
use maintenance::Maintenance;
use model_outputs::is_record;
use point::COMMITS;
use storage::{Lock, Storage};
use table::Table;

/// How a lake is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// Options of the object store, such as `aws_region`; a local lake has none.
    pub storage: BTreeMap<String, String>,
    /// Versions between two checkpoints of a table; zero for none.
    pub checkpoint_interval: u64,
    /// A table with more small files than this is compacted beside the commits; zero for never.
    pub small_files: usize,
    /// Small files that are older than this are merged also where they are few.
    pub merge_after: Duration,
    /// How long removed files, and log entries that are no longer needed, are kept for those who still read them.
    pub retention: Duration,
    /// How far back the state at an epoch stays readable; for ever if not given.
    pub history: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            storage: BTreeMap::new(),
            checkpoint_interval: 100,
            small_files: 32,
            merge_after: Duration::from_hours(1),
            retention: Duration::from_hours(7 * 24),
            history: None,
        }
    }
}

/// A lake that this process writes to, or only reads. Clones share it.
#[derive(Clone)]
pub struct Lake {
    storage: Storage,
    pipeline: Arc<str>,
    options: Arc<Options>,
    /// Tables that are open for appending.
    tables: Arc<Mutex<BTreeMap<String, Arc<Mutex<Table>>>>>,
    state: Arc<Mutex<State>>,
    checkpoints: Arc<Checkpoints>,
    maintenance: Arc<Maintenance>,
    /// Kept until the last clone goes.
    _lock: Option<Arc<Lock>>,
}

/// Held by a process that has joined a lake.
#[derive(Debug)]
pub struct Membership {
    _lock: Option<Lock>,
}

/// What the writer knows of the lake.
#[derive(Default)]
struct State {
    /// The commit point, once it is known.
    point: Option<Option<CommitPoint>>,
    /// Whether the tables are exactly at the commit point.
    clean: bool,
    /// The epoch of the last commit that was begun.
    attempted: Option<hypercane_schemas::Epoch>,
}

impl Lake {
    /// Opens a lake for writing. Fails if the location can't be written, if another live process holds it, or if it
    /// belongs to another pipeline. Tables are made when rows come.
    pub async fn open(location: &str, pipeline: &str, options: Options) -> Result<Self, Error> {
        let storage = Storage::parse(location, &options.storage)?;
        Self::claim(storage, pipeline, options).await
    }

    /// Opens a lake for writing, in the name of the pipeline that it belongs to. Fails if there is no commit in it, and as
    /// [`Lake::open`] does.
    pub async fn open_as_owner(location: &str, options: Options) -> Result<Self, Error> {
        let storage = Storage::parse(location, &options.storage)?;
        let pipeline = Table::open(&storage, COMMITS, None).await?.and_then(|commits| commits.pipeline);
        let nothing = || Error::Location { location: location.into(), reason: "no lake has been written there".into() };
        Self::claim(storage, &pipeline.ok_or_else(nothing)?, options).await
    }

    async fn claim(storage: Storage, pipeline: &str, options: Options) -> Result<Self, Error> {
        let lock = storage.claim(pipeline).await?;
        // Opening it checks whose it is.
        Table::open(&storage, COMMITS, Some(pipeline)).await?;
        Ok(Self::new(storage, pipeline, options, lock))
    }

    fn new(storage: Storage, pipeline: &str, options: Options, lock: Option<Lock>) -> Self {
        Self {
            storage,
            pipeline: pipeline.into(),
            options: Arc::new(options),
            tables: Arc::default(),
            state: Arc::default(),
            checkpoints: Arc::default(),
            maintenance: Arc::default(),
            _lock: lock.map(Arc::new),
        }
    }

    /// Joins a lake that another process holds, to write parts of its commits and outputs of models. That process makes the
    /// lake and its tables, and it alone may recover it or commit to it.
    ///
    /// # Errors
    /// The location is none.
    pub fn join(location: &str, pipeline: &str, options: Options) -> Result<Self, Error> {
        Ok(Self::new(Storage::parse(location, &options.storage)?, pipeline, options, None))
    }

    /// Counts this process among those that write beside the one that holds the lake, until the result is dropped. To be
    /// called when that one has recovered the lake, and before anything is written: the next start waits for those that
    /// are counted, since it takes away files that no log mentions.
    pub async fn enter(&self) -> Result<Membership, Error> {
        Ok(Membership { _lock: self.storage.enter().await? })
    }

    /// Opens a lake for reading, also while another process writes to it. Fails if there is no commit in it.
    pub async fn view(location: &str, options: Options) -> Result<Self, Error> {
        let storage = Storage::parse(location, &options.storage)?;
        if Table::open(&storage, COMMITS, None).await?.is_none() {
            return Err(Error::Location { location: location.into(), reason: "no lake has been written there".into() });
        }
        Ok(Self::new(storage, "", options, None))
    }

    /// The last commit, as it stands in the lake now.
    pub async fn commit_point(&self) -> Result<Option<CommitPoint>, Error> {
        CommitPoint::load(&self.storage).await
    }
}
