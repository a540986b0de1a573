//! Upkeep beside the commits: small files are merged, history is folded, removed files are deleted, one thing at a time.
//!
//! A commit only looks whether something is due, and starts it. Nothing depends on it, so a failure is only told.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use tokio::{sync::Mutex, task::JoinHandle};

use super::{Error, Lake, compact::When, file::age_limit};

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
}

/// What is to be done.
#[derive(Default)]
struct Due {
    tables: Vec<(String, u64)>,
    vacuum: bool,
    fold: bool,
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
        if !due.tables.is_empty() || due.vacuum || due.fold {
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
        // A version adds a file, or rarely more: an estimate that the next look puts right.
        versions.retain(|(name, version)| {
            let (n_small, since) = progress.known.get(name).copied().unwrap_or_default();
            look_at_ages || n_small as u64 + version.saturating_sub(since) > most
        });
        let retention = (self.options.retention / PARTS).clamp(LEAST_PAUSE, MOST_PAUSE);
        Due {
            tables: versions,
            vacuum: has_passed(&mut progress.vacuumed, retention),
            fold: self
                .options
                .history
                .is_some_and(|history| has_passed(&mut progress.folded, LEAST_PAUSE.max(history / PARTS))),
        }
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
        if due.fold
            && !is_stopping()
            && let Err(error) = self.fold_history().await
        {
            told(&error, "history was not folded");
        }
        if due.vacuum && !is_stopping() {
            match self.vacuum(self.options.retention, false).await {
                Ok(vacuumed) => tracing::debug!(files = vacuumed.n_files, "deleted removed files"),
                Err(error) => told(&error, "removed files were not deleted"),
            }
        }
    }

    async fn fold_history(&self) -> Result<(), Error> {
        let Some(history) = self.options.history else { return Ok(()) };
        if let Some(epoch) = self.epoch_at(age_limit(history)).await? {
            for (table, rows) in self.fold(epoch, false).await? {
                tracing::debug!(table, rows, "folded history");
            }
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
