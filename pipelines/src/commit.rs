//! Commits that several processes make together, and one process alone in the same way.
//!
//! The first process leads. It says with an epoch that this is a *cut*; what has changed since the last cut is then one
//! commit. Each process writes its rows to data files of its own and tells the leader which. When the leader has the parts of
//! all, it enters the files into the logs and writes the commit point. So a process that dies at any instant leaves files that
//! nobody mentions and no more. One commit is under way at a time; when the next one is due before it is done, all processes
//! stop reading until it is, so that a slow lake slows the sources down.

use std::{
    collections::BTreeMap,
    mem,
    time::{Duration, Instant},
};

use hypercane_schemas::Epoch;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::{
    changes::{Changes, owned},
    connect::lake::{self, CommitBatch, CommitReport, Lake, Part},
    pipeline::{Error, Offsets},
};

/// What a process says of commits with an epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct News {
    /// By the leader: the commit that begins covers the epochs up to this one.
    pub(crate) cut: bool,
    /// By the leader: no process may read on until it says otherwise.
    pub(crate) hold: bool,
    /// By any: so much was read since the last cut that the next one should not wait for its time.
    pub(crate) full: bool,
    /// Data files that this process has written for the commit under way.
    pub(crate) part: Option<Part>,
    /// By the leader: the last epoch that is committed.
    pub(crate) committed: Option<Epoch>,
}

/// How many bytes of records may have been read since the last cut before the next one is due. What follows from them waits
/// in memory, several times as large, so this and not the rate of a source decides how much that is.
const MOST_UNCOMMITTED_BYTES: usize = 8 << 20;

/// What this process has of a commit, and how far it is.
pub(crate) struct Committer {
    lake: Lake,
    process: usize,
    n_processes: usize,
    /// What changed here since the last cut.
    uncommitted: Changes,
    /// Where the partitions go on that were read here since the start. Others are none of this process's business: what it
    /// knew of them at the start is old.
    read: Offsets,
    /// Whether any process has read anything since the last cut.
    pending: bool,
    /// How many bytes were read here since the last cut, and whether that is much, here or in another process.
    n_bytes: usize,
    is_full: bool,
    cut_at: Instant,
    stage: Stage,
    /// For the leader: the parts of the commit under way, by process.
    parts: BTreeMap<usize, Part>,
    /// The last epoch known to be committed.
    committed: Option<Epoch>,
    /// Whether the others were told to wait.
    holds: bool,
}

enum Stage {
    /// No commit is under way.
    Idle,
    /// Rows are being written to data files.
    Writing(JoinHandle<Result<Part, lake::Error>>),
    /// The own part is written; those of others, or the commit point, are awaited.
    Waiting,
    /// The leader enters the files into the logs.
    Logging(Epoch, JoinHandle<Result<CommitReport, lake::Error>>),
}

impl Committer {
    pub(crate) fn new(lake: Lake, process: usize, n_processes: usize) -> Self {
        Self {
            lake,
            process,
            n_processes,
            uncommitted: Changes::default(),
            read: Offsets::new(),
            pending: false,
            n_bytes: 0,
            is_full: false,
            cut_at: Instant::now(),
            stage: Stage::Idle,
            parts: BTreeMap::new(),
            committed: None,
            holds: false,
        }
    }

    fn leads(&self) -> bool {
        self.process == 0
    }

    pub(crate) fn lake(&self) -> &Lake {
        &self.lake
    }

    pub(crate) fn read(&self) -> &Offsets {
        &self.read
    }

    pub(crate) fn since_cut(&self) -> Duration {
        self.cut_at.elapsed()
    }

    /// Whether no commit is under way, as far as this process knows.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    /// Whether everything that was read anywhere is committed.
    pub(crate) fn is_done(&self) -> bool {
        self.is_idle() && !self.pending
    }

    /// Takes what changed here in an epoch.
    pub(crate) fn add(&mut self, changes: Changes) {
        self.uncommitted.absorb(changes);
    }

    /// Takes how far the sources have been read here by the epochs up to now, and how many bytes these were.
    pub(crate) fn read_up_to(&mut self, offsets: Offsets, n_bytes: usize) {
        self.read.extend(offsets);
        self.n_bytes += n_bytes;
    }

    /// Hears that something was read, here or in another process: there is something to commit.
    pub(crate) fn expect(&mut self) {
        self.pending = true;
    }

    /// What there is to say with the next epoch, after a look at what is under way. The leader cuts when a commit is due
    /// after `interval`.
    ///
    /// # Errors
    /// The lake can't be written, and waiting would not help.
    pub(crate) async fn news(&mut self, interval: Duration) -> Result<News, Error> {
        let part = self.advance(false).await?;
        let mut news = News { part, full: self.n_bytes >= MOST_UNCOMMITTED_BYTES, ..News::default() };
        if self.leads() {
            let is_due = self.pending && (self.is_full || self.cut_at.elapsed() >= interval);
            news.cut = is_due && self.is_idle();
            news.hold = is_due && !self.is_idle();
            news.committed = self.committed;
        }
        Ok(news)
    }

    /// Hears the news of all processes in an epoch that is complete. Changes of the epoch must have been added before.
    pub(crate) fn hear(&mut self, news: impl IntoIterator<Item = (usize, News)>, epoch: Epoch) {
        let (mut is_cut, mut is_full) = (false, false);
        for (process, news) in news {
            is_cut |= news.cut;
            is_full |= news.full;
            if process == 0 {
                self.holds = news.hold;
            }
            match (self.leads(), news.part) {
                (true, Some(part)) => drop(self.parts.insert(process, part)),
                (true, None) => {}
                (false, _) => self.hear_committed(news.committed),
            }
        }
        // What was full before a cut is not full after it.
        self.is_full |= is_full;
        if is_cut {
            self.cut(epoch);
        }
    }

    /// Hears from the leader what is committed, if this process has told its part of it.
    fn hear_committed(&mut self, committed: Option<Epoch>) {
        if committed.is_some() && committed != self.committed && matches!(self.stage, Stage::Waiting) {
            self.committed = committed;
            self.stage = Stage::Idle;
        }
    }

    /// Whether reading has to wait for the lake.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// Begins a commit of what changed up to an epoch. None may be under way.
    pub(crate) fn cut(&mut self, epoch: Epoch) {
        debug_assert!(self.is_idle(), "one commit at a time");
        self.cut_at = Instant::now();
        (self.n_bytes, self.is_full) = (0, false);
        if !mem::take(&mut self.pending) {
            return;
        }
        let (changes, offsets, lake) = (mem::take(&mut self.uncommitted), self.read.clone(), self.lake.clone());
        self.stage = Stage::Writing(tokio::spawn(async move {
            let encoded = tokio::task::spawn_blocking(move || encode(changes, epoch, offsets)).await;
            let batch = encoded.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
            lake.patiently(|| lake.write_part(batch.clone())).await
        }));
    }

    /// Takes the commit under way as far as it goes; `to_the_end` waits for what this process does itself. Gives the own
    /// part when it is to be told to the leader.
    async fn advance(&mut self, to_the_end: bool) -> Result<Option<Part>, Error> {
        let mut told = None;
        if let Stage::Writing(writing) = &mut self.stage
            && (to_the_end || writing.is_finished())
        {
            let part = finished(writing).await?;
            self.stage = Stage::Waiting;
            if self.leads() {
                self.parts.insert(0, part);
            } else {
                told = Some(part);
            }
        }
        if matches!(self.stage, Stage::Waiting) && self.leads() && self.parts.len() == self.n_processes {
            let parts: Vec<Part> = mem::take(&mut self.parts).into_values().collect();
            let (epoch, lake) = (parts[0].epoch, self.lake.clone());
            let logging = tokio::spawn(async move { lake.patiently(|| lake.commit_parts(parts.clone())).await });
            self.stage = Stage::Logging(epoch, logging);
        }
        if let Stage::Logging(epoch, logging) = &mut self.stage
            && (to_the_end || logging.is_finished())
        {
            let (epoch, report) = (*epoch, finished(logging).await?);
            tracing::debug!(epoch, rows = report.n_rows, took_ms = report.took.as_millis(), "committed");
            self.committed = Some(epoch);
            self.stage = Stage::Idle;
        }
        Ok(told)
    }

    /// Waits for the commit under way. For a process that works alone.
    ///
    /// # Errors
    /// It failed.
    pub(crate) async fn finish(&mut self) -> Result<(), Error> {
        self.advance(true).await.map(drop)
    }
}

async fn finished<T>(task: &mut JoinHandle<Result<T, lake::Error>>) -> Result<T, Error> {
    Ok(task.await.map_err(|e| Error::Commit(e.to_string()))??)
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
    batch.add(&changes.synonyms)?;
    batch.add(&changes.precedence)?;
    batch.add(&changes.conflicts)?;
    batch.add(&changes.answers)?;
    batch.add(&changes.rankings)?;
    batch.add(&changes.evidence)?;
    batch.add(&changes.rejects)?;
    Ok(batch)
}
