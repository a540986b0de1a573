//! Replacing files of a table by others: new files are written while commits go on, and one log entry swaps them.
//!
//! Only files of a committed version are taken, and the swap waits for a moment at which everything is committed. So a
//! rewrite never meets rows that a crash will take out, and [`Lake::recover`] can leave it alone. A process that dies before
//! the swap leaves files that no log entry names; one that dies after it has lost nothing.

use std::time::Duration;

use arrow::array::RecordBatch;
use deltalake_core::{
    kernel::{Add, Remove, Transaction},
    protocol::DeltaOperation,
};
use jiff::Timestamp;

use super::{
    Error, Lake, fault,
    file::{DataFile as NewFile, Layout},
    read::{DataFile, Files},
    table::Table,
};

/// Files of a table, and those that take their place.
pub(super) struct Rewrite {
    /// The version whose files are replaced.
    seen: u64,
    old: Vec<Remove>,
    new: Vec<Add>,
}

impl Lake {
    /// The files of a table at a version where everything is committed; `None` if there is no such table, or no such
    /// moment because a commit has failed.
    pub(super) async fn committed_files(&self, name: &str) -> Result<Option<Files>, Error> {
        let state = self.state.lock().await;
        if !state.clean {
            return Ok(None);
        }
        let Some(table) = self.open_table(name).await? else { return Ok(None) };
        let version = table.lock().await.version;
        drop(state);
        Files::at(&self.storage, name, Some(version)).await
    }

    /// Writes the rows of some files into new ones, after `change` has seen them.
    pub(super) async fn rewrite(
        &self,
        name: &str,
        files: &Files,
        chosen: &[&DataFile],
        change: &mut (dyn FnMut(RecordBatch) -> Result<RecordBatch, Error> + Send),
    ) -> Result<Rewrite, Error> {
        // A handle of its own, so that commits do not wait for it.
        let missing = || Error::damaged(self.storage.place(name), "the table is missing");
        let table = Table::open(&self.storage, name, Some(&self.pipeline)).await?.ok_or_else(missing)?;
        let failed = |e| Error::row(name, e);
        let mut layout = Layout::new(&table.schema);
        let mut new = Vec::new();
        for &file in chosen {
            let mut full: Vec<NewFile> = Vec::new();
            let visit = &mut |batch: RecordBatch| {
                let rows = change(batch)?;
                table.check(&rows.schema())?;
                full.extend(if rows.num_rows() > 0 { layout.write(&rows).map_err(failed)? } else { None });
                Ok(())
            };
            files.read(file, visit).await?;
            for file in full {
                new.push(table.put_file(file).await?);
            }
        }
        if let Some(file) = layout.finish().map_err(failed)? {
            new.push(table.put_file(file).await?);
        }
        fault::reach("after_rewritten_file");
        Ok(Rewrite { seen: files.version, old: chosen.iter().map(|file| file.removal.clone()).collect(), new })
    }

    /// Puts new files into the place of the old ones. False when that is not possible any more: another program took one
    /// of the old files away, or a commit has failed.
    pub(super) async fn swap(
        &self,
        name: &str,
        rewrite: Rewrite,
        data_change: bool,
        operation: DeltaOperation,
        mark: Option<Transaction>,
    ) -> Result<bool, Error> {
        let now = Timestamp::now().as_millisecond();
        let Rewrite { seen, mut old, mut new } = rewrite;
        for file in &mut old {
            (file.data_change, file.deletion_timestamp) = (data_change, Some(now));
        }
        for file in &mut new {
            file.data_change = data_change;
        }
        let mut state = self.state.lock().await;
        let Some(table) = self.open_table(name).await?.filter(|_| state.clean) else { return Ok(false) };
        let mut table = table.lock().await;
        let Some(version) = table.replace(seen, old, &new, operation, mark).await? else {
            table.take_away(&new).await;
            return Ok(false);
        };
        fault::reach("after_rewrite");
        // The next commit names the version that has the same rows in fewer files.
        if let Some(Some(point)) = &mut state.point
            && let Some(committed) = point.versions.get_mut(name)
        {
            *committed = version;
        }
        drop(state);
        if let Some(checkpoint) = table.due_checkpoint(self.options.checkpoint_interval) {
            // It takes no log entries away: a start looks at all that follow the last commit.
            self.checkpoints.start(checkpoint, Duration::MAX).await;
        }
        Ok(true)
    }

    /// The names of the tables that are this pipeline's; of all where the lake is only read.
    pub(super) async fn own_tables(&self) -> Result<Vec<String>, Error> {
        let pipeline = Some(&*self.pipeline).filter(|pipeline| !pipeline.is_empty());
        let mut own = Vec::new();
        for name in self.storage.tables().await? {
            match Table::open(&self.storage, &name, pipeline).await {
                Ok(Some(_)) => own.push(name),
                Ok(None) | Err(Error::Owner { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(own)
    }
}
