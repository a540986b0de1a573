//! The lake: Delta tables (Parquet files and a transaction log), one changelog per record kind, committed exactly once.
//!
//! A commit writes its rows to every table, then one row to table `commits`; that row is the commit point. A reader who
//! wants committed rows only takes those with an `epoch` up to the last one in `commits`. After a crash, [`Lake::recover`]
//! takes out whatever lies beyond, and removes the files that nothing mentions. The state at an epoch is the sum of `diff` up to it.

mod checkpoint;
mod commit;
mod damage;
mod decode;
mod encode;
mod error;
pub mod fault;
mod file;
mod model_outputs;
mod point;
mod read;
mod recover;
mod state;
mod storage;
mod sweep;
mod table;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::Mutex;

pub use commit::{CommitBatch, CommitReport, Part};
pub use decode::decode;
pub use encode::encode;
pub use error::Error;
pub use point::CommitPoint;
pub use state::write_state;

use checkpoint::Checkpoints;
use model_outputs::MODEL_OUTPUTS;
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
}

impl Default for Options {
    fn default() -> Self {
        Self { storage: BTreeMap::new(), checkpoint_interval: 100 }
    }
}

/// A lake that this process writes to, or only reads. Clones share it.
#[derive(Clone)]
pub struct Lake {
    storage: Storage,
    pipeline: Arc<str>,
    checkpoint_interval: u64,
    /// Tables that are open for appending.
    tables: Arc<Mutex<BTreeMap<String, Arc<Mutex<Table>>>>>,
    state: Arc<Mutex<State>>,
    checkpoints: Arc<Checkpoints>,
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
        Self::claim(storage, pipeline, options.checkpoint_interval).await
    }

    async fn claim(storage: Storage, pipeline: &str, checkpoint_interval: u64) -> Result<Self, Error> {
        let lock = storage.claim(pipeline).await?;
        // Opening it checks whose it is.
        Table::open(&storage, COMMITS, Some(pipeline)).await?;
        Ok(Self {
            storage,
            pipeline: pipeline.into(),
            checkpoint_interval,
            tables: Arc::default(),
            state: Arc::default(),
            checkpoints: Arc::default(),
            _lock: lock.map(Arc::new),
        })
    }

    /// Joins a lake that another process holds, to write parts of its commits and outputs of models. That process makes the
    /// lake and its tables, and it alone may recover it or commit to it.
    ///
    /// # Errors
    /// The location is none.
    pub fn join(location: &str, pipeline: &str, options: Options) -> Result<Self, Error> {
        Ok(Self {
            storage: Storage::parse(location, &options.storage)?,
            pipeline: pipeline.into(),
            checkpoint_interval: options.checkpoint_interval,
            tables: Arc::default(),
            state: Arc::default(),
            checkpoints: Arc::default(),
            _lock: None,
        })
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
        Ok(Self {
            storage,
            pipeline: "".into(),
            checkpoint_interval: 0,
            tables: Arc::default(),
            state: Arc::default(),
            checkpoints: Arc::default(),
            _lock: None,
        })
    }

    /// The last commit, as it stands in the lake now.
    pub async fn commit_point(&self) -> Result<Option<CommitPoint>, Error> {
        CommitPoint::load(&self.storage).await
    }
}
