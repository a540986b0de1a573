//! Upkeep beside the commits: small files are merged, history is folded, removed files are deleted, one thing at a time.
//!
//! A commit only looks whether something is due, and starts it. History and removed files are seen to one table at a time, so
//! that small files never wait long. Nothing depends on it, so a failure is only told.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use tokio::{sync::Mutex, task::JoinHandle};

use super::{Error, Lake, compact::When, file::age_limit, is_record};

/// Removed files are looked for this many times in the retention time, history this many times in its length.
const PARTS: u32 = 8;
/// Neither more often than this, nor, for removed files, more rarely than the other.
const LEAST_PAUSE: Duration = Duration::from_secs(10);
const MOST_PAUSE: Duration = Duration::from_hours(1);

/// What is being done, and what is known of the tables.
#[derive(Default)]
pub(super) struct Maintenance {
    progress: Mutex<Progress>,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Progress {
    running: Option<JoinHandle<()>>,
    /// For each table how many small files it had at which version.
    known: BTreeMap<String, (usize, u64)>,
    looked_at_ages: Option<Instant>,
    vacuumed: Option<Instant>,
    folded: Option<Instant>,
    /// What has its turn when no small files have to be merged.
    waiting: VecDeque<Job>,
}

/// Work on one table.
enum Job {
    Fold(String),
    Vacuum(String),
}

/// What is to be done: the tables whose small files are merged, with their versions, and one thing more.
#[derive(Default)]
struct Due {
    tables: Vec<(String, u64)>,
    job: Option<Job>,
}

impl Lake {
    /// Starts what is due, unless something is being done.
    pub(super) async fn maintain(&self) {
        if self.options.small_files == 0 || self.maintenance.stopping.load(Ordering::Relaxed) {
            return;
        }
        let mut progress = self.maintenance.progress.lock().await;
        if progress.running.as_ref().is_some_and(|task| !task.is_finished()) {
            return;
        }
        let due = self.due(&mut progress).await;
        if !due.tables.is_empty() || due.job.is_some() {
            let lake = self.clone();
            progress.running = Some(tokio::spawn(async move { lake.work(due).await }));
        }
    }

    async fn due(&self, progress: &mut Progress) -> Due {
        let most = self.options.small_files as u64;
        let has_passed = |since: &mut Option<Instant>, pause: Duration| {
            let passed = since.is_none_or(|since| since.elapsed() >= pause);
            if passed {
                *since = Some(Instant::now());
            }
            passed
        };
        let mut versions = Vec::new();
        for (name, table) in self.tables.lock().await.iter() {
            // One that is being written has its turn after the next commit.
            if let Ok(table) = table.try_lock() {
                versions.push((name.clone(), table.version));
            }
        }
        // A young lake has nothing to keep up.
        if versions.iter().all(|(_, version)| *version <= most) {
            return Due::default();
        }
        let look_at_ages = has_passed(&mut progress.looked_at_ages, self.options.merge_after);
        if progress.waiting.is_empty() {
            let names = || versions.iter().map(|(name, _)| name.clone());
            let retention = (self.options.retention / PARTS).clamp(LEAST_PAUSE, MOST_PAUSE);
            if let Some(history) = self.options.history
                && has_passed(&mut progress.folded, LEAST_PAUSE.max(history / PARTS))
            {
                progress.waiting.extend(names().map(Job::Fold));
            }
            if has_passed(&mut progress.vacuumed, retention) {
                progress.waiting.extend(names().map(Job::Vacuum));
            }
        }
        // A version adds a file, or rarely more: an estimate that the next look puts right.
        versions.retain(|(name, version)| {
            let (n_small, since) = progress.known.get(name).copied().unwrap_or_default();
            look_at_ages || n_small as u64 + version.saturating_sub(since) > most
        });
        Due { tables: versions, job: progress.waiting.pop_front() }
    }

    async fn work(&self, due: Due) {
        let is_stopping = || self.maintenance.stopping.load(Ordering::Relaxed);
        let when = When::Due { more_than: self.options.small_files, older_than: self.options.merge_after };
        for (name, version) in due.tables {
            if is_stopping() {
                return;
            }
            match self.compact_table(&name, when).await {
                Ok(compacted) => {
                    let mut progress = self.maintenance.progress.lock().await;
                    progress.known.insert(name, (compacted.n_small, version));
                }
                Err(error) => told(&error, "small files were not merged"),
            }
        }
        let Some(job) = due.job.filter(|_| !is_stopping()) else { return };
        let (done, failed) = match job {
            Job::Fold(name) => (self.fold_history(&name).await, "history was not folded"),
            Job::Vacuum(name) => {
                let vacuumed = self.vacuum_table(&name, self.options.retention, false).await;
                (vacuumed.map(|_| ()), "removed files were not deleted")
            }
        };
        if let Err(error) = done {
            told(&error, failed);
        }
    }

    async fn fold_history(&self, name: &str) -> Result<(), Error> {
        let Some(history) = self.options.history.filter(|_| !is_record(name)) else { return Ok(()) };
        if let Some(epoch) = self.epoch_at(age_limit(history)).await? {
            let rows = self.fold_table(name, epoch, false).await?;
            tracing::debug!(table = name, rows, "folded history");
        }
        Ok(())
    }
}

impl Maintenance {
    /// Lets what is being done come to a good place to stop, and waits for it.
    pub(super) async fn finish(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.wait().await;
    }

    /// Waits for what is being done.
    pub(super) async fn wait(&self) {
        let running = self.progress.lock().await.running.take();
        if let Some(task) = running
            && let Err(error) = task.await
        {
            tracing::warn!(%error, "the lake's upkeep was cut short");
        }
    }
}

fn told(error: &Error, what: &str) {
    tracing::warn!(error = error as &dyn std::error::Error, "{what}; the next commits will try again");
}
