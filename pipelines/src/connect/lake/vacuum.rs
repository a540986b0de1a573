//! Vacuum: files that no reader can need any more are deleted.
//!
//! A rewrite takes files out of a table's log; the files themselves stay, for readers that have begun with an older version.
//! After the retention time they go, and with them files that no log entry ever named, as a crash leaves them.

use std::{collections::BTreeSet, time::Duration};

use deltalake_core::logstore::object_store::{ObjectStore, ObjectStoreExt, path::Path};
use futures::TryStreamExt;
use serde::Serialize;

use super::{Error, Lake, file::age_limit, read::Files, storage::with_retries};

/// What a vacuum deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Vacuumed {
    /// Files.
    pub n_files: u64,
    /// Their size.
    pub n_bytes: u64,
}

impl Lake {
    /// Deletes the data files of every table that were removed from it longer ago than `retention`. `dry_run` only counts.
    ///
    /// A reader that began before the removal and is still at it fails, so the retention has to be longer than any read.
    /// While a pipeline runs it has to be longer than any commit as well.
    pub async fn vacuum(&self, retention: Duration, dry_run: bool) -> Result<Vacuumed, Error> {
        let mut all = Vacuumed::default();
        for name in self.own_tables().await? {
            let one = self.vacuum_table(&name, retention, dry_run).await?;
            all.n_files += one.n_files;
            all.n_bytes += one.n_bytes;
        }
        Ok(all)
    }

    pub(super) async fn vacuum_table(&self, name: &str, retention: Duration, dry_run: bool) -> Result<Vacuumed, Error> {
        match Files::of(&self.storage, name).await? {
            Some(files) => files.vacuum(retention, dry_run).await,
            None => Ok(Vacuumed::default()),
        }
    }
}

impl Files {
    async fn vacuum(&self, retention: Duration, dry_run: bool) -> Result<Vacuumed, Error> {
        let limit = age_limit(retention).as_millisecond();
        let log_store = self.table.log_store();
        let store = log_store.object_store(None);
        let failed = |e| Error::storage("read the log of", self.place(), e);
        let state = self.table.snapshot().map_err(failed)?;
        let removed = state.all_tombstones(&*log_store).try_collect::<Vec<_>>().await.map_err(failed)?;
        let lately = removed.iter().filter(|file| file.deletion_timestamp().is_some_and(|at| at > limit));
        let mut kept: BTreeSet<Path> = lately.map(|file| Path::from(file.path().as_ref())).collect();
        kept.extend(self.all().map(|file| file.path().clone()));

        let listed = with_retries(|| async {
            store.list_with_delimiter(None).await.map_err(|e| Error::storage("list", self.place(), e))
        });
        let mut deleted = Vacuumed::default();
        for object in listed.await?.objects {
            let is_data = object.location.extension() == Some("parquet");
            // A file that is being written, and a clock that was set back, look young.
            let is_young = object.last_modified.timestamp_millis() > limit;
            if !is_data || is_young || kept.contains(&object.location) {
                continue;
            }
            if !dry_run {
                let delete = || async { store.delete(&object.location).await.map_err(|e| self.not_deleted(e)) };
                with_retries(delete).await?;
            }
            deleted.n_files += 1;
            deleted.n_bytes += object.size;
        }
        Ok(deleted)
    }

    fn not_deleted(&self, error: deltalake_core::logstore::object_store::Error) -> Error {
        Error::storage("delete a removed file of", self.place(), error)
    }
}
