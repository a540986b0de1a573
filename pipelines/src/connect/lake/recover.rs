//! Coming back after a crash: what lies beyond the last commit is taken out again.
//!
//! The log entries after the recorded version say which files were added. They are removed by one more entry, so that
//! every reader of the table sees the state of the commit point. Rewrites that change no row (a compaction) are left alone,
//! and so is folded history; anything else that another program did is an error, since the state can't be told any more.

use std::collections::BTreeMap;

use deltalake_core::{
    kernel::{Action, Add, Remove},
    protocol::DeltaOperation,
};
use jiff::Timestamp;

use super::{COMMITS, CommitPoint, Error, Lake, is_record, table::Table};

impl Lake {
    /// Brings every table back to the last commit, and gives it; `None` for a lake without a commit. Also removes the files
    /// that a process left behind which died; so no other part of the process may be writing.
    pub async fn recover(&self) -> Result<Option<CommitPoint>, Error> {
        tracing::info!(lake = self.storage.location, "recovering the lake");
        self.maintenance.wait().await;
        let mut state = self.state.lock().await;
        state.clean = false;
        let point = self.repair().await?;
        self.sweep().await;
        state.point = Some(point.clone());
        state.clean = true;
        Ok(point)
    }

    pub(super) async fn repair(&self) -> Result<Option<CommitPoint>, Error> {
        // Versions are learned anew: a write that was reported as failed may have arrived.
        self.tables.lock().await.retain(|name, _| is_record(name));
        let point = CommitPoint::load(&self.storage).await?;
        let mut found = Vec::new();
        for name in self.storage.tables().await? {
            if name == COMMITS || is_record(&name) {
                continue;
            }
            let committed = point.as_ref().and_then(|point| point.versions.get(&name)).copied();
            let mut table = match Table::open(&self.storage, &name, Some(&self.pipeline)).await {
                Ok(Some(table)) => table,
                Ok(None) => continue,
                // Someone keeps a table of their own beside ours.
                Err(Error::Owner { .. }) if committed.is_none() => continue,
                Err(error) => return Err(error),
            };
            self.roll_back(&mut table, committed.unwrap_or_default(), point.as_ref()).await?;
            found.push(name);
        }
        if let Some(point) = &point
            && let Some(lost) = point.versions.keys().find(|name| !found.contains(name))
        {
            return Err(Error::damaged(self.storage.place(lost), "the table is missing"));
        }
        Ok(point)
    }

    async fn roll_back(&self, table: &mut Table, committed: u64, point: Option<&CommitPoint>) -> Result<(), Error> {
        if table.version < committed {
            let reason = format!("it ends at version {}, but version {committed} is committed", table.version);
            return Err(Error::damaged(table.place(), reason));
        }
        let mut uncommitted: BTreeMap<String, Add> = BTreeMap::new();
        for version in committed + 1..=table.version {
            let entry = table.entry(version).await?;
            if entry.is_fold() {
                continue;
            }
            for action in entry.actions {
                let foreign = |what| Error::Foreign { place: table.place().into(), version, what, committed };
                match action {
                    Action::Add(add) if add.data_change => {
                        uncommitted.insert(add.path.clone(), add);
                    }
                    Action::Remove(remove) => match uncommitted.remove(&remove.path) {
                        Some(_) if remove.data_change => {}
                        Some(_) => return Err(foreign("merges rows that were never committed")),
                        None if remove.data_change => return Err(foreign("removes committed rows")),
                        None => {}
                    },
                    _ => {}
                }
            }
        }
        if uncommitted.is_empty() {
            return Ok(());
        }
        tracing::warn!(table = table.place(), files = uncommitted.len(), "removing rows that were never committed");
        let now = Timestamp::now().as_millisecond();
        let removes = uncommitted.into_values().map(|add| {
            Action::Remove(Remove {
                path: add.path,
                data_change: true,
                deletion_timestamp: Some(now),
                extended_file_metadata: Some(true),
                partition_values: Some(add.partition_values),
                size: Some(add.size),
                ..Remove::default()
            })
        });
        // The mark goes back too, so that it always names the last epoch that the table holds.
        let mark = self.mark(point.map_or(0, |point| point.epoch));
        table.log(removes.collect(), DeltaOperation::Delete { predicate: None }, Some(mark)).await?;
        Ok(())
    }
}
