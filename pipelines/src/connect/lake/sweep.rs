//! Taking away what a process left behind that died half-way through a write: data files that no log entry mentions, and
//! the temporary files of a put to local disk.
//!
//! Readers never see such files, so this only saves space, and a failure is only told. Three things make it safe:
//!
//! - It runs when a writer starts, before it writes anything. The lake's lock keeps other writers out. Where there is no
//!   lock, on an object store, what is younger than a day stays, since it may be part of a write that is under way.
//! - Only files whose names are of our making are taken. So those of other programs stay, also while these still write.
//! - What the log mentions stays: live files, and files that were removed within the table's retention (7 days unless the
//!   table says otherwise), which somebody may still read. Checkpoints forget older removals. So a file that is older and
//!   not mentioned may be one of these, and is left to a vacuum, whose user knows what has to be kept.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path as FilePath, PathBuf},
    time::Duration,
};

use deltalake_core::{
    DeltaTable,
    logstore::object_store::{ObjectStore, ObjectStoreExt},
    table::config::TablePropertiesExt,
};
use futures::TryStreamExt;
use jiff::Timestamp;

use super::{
    Error, Lake, file, is_record,
    storage::{Storage, with_retries},
    table::Table,
};

/// How old a file must be where no lock keeps other writers out. No write takes as long.
const UNLOCKED_AGE: Duration = Duration::from_hours(24);

impl Lake {
    /// Removes what no log entry mentions from every table of ours.
    pub(super) async fn sweep(&self) {
        // Nothing of this process may be half written: no checkpoint, no table that is just being made, no model's output.
        if let Some(Err(error)) = self.checkpoints.finish().await {
            tracing::warn!(%error, "no checkpoint was written");
        }
        let tables = self.tables.lock().await;
        let records: Vec<_> =
            tables.iter().filter(|(name, _)| is_record(name)).map(|(_, table)| table.clone()).collect();
        let mut _no_outputs = Vec::new();
        for record in &records {
            _no_outputs.push(record.lock().await);
        }
        let least_age = if self._lock.is_some() { Duration::ZERO } else { UNLOCKED_AGE };
        let names = match self.storage.tables().await {
            Ok(names) => names,
            Err(error) => return tracing::warn!(%error, "leftovers of a crash were not looked for"),
        };
        for name in names {
            match sweep_table(&self.storage, &name, &self.pipeline, least_age).await {
                Ok(0) | Err(Error::Owner { .. }) => {}
                Ok(n_files) => {
                    tracing::warn!(table = self.storage.place(&name), n_files, "removed files that a crash left behind")
                }
                Err(error) => tracing::warn!(%error, "leftovers of a crash were not removed"),
            }
        }
    }
}

async fn sweep_table(storage: &Storage, name: &str, pipeline: &str, least_age: Duration) -> Result<usize, Error> {
    let place = storage.place(name);
    let is_whole = Table::open(storage, name, Some(pipeline)).await?.is_some();
    let mut n_removed = 0;
    if let Some(folder) = storage.folder() {
        let failed = |e| Error::storage("remove a temporary file in", &place, e);
        let folder = folder.join(name);
        n_removed += remove_staged(&folder.join("_delta_log"), |_| true).map_err(failed)?;
        if is_whole {
            n_removed += remove_staged(&folder, file::is_own_name).map_err(failed)?;
        }
    }
    // A table whose first log entry was never put has no data.
    if is_whole {
        n_removed += remove_unmentioned(storage, name, least_age).await?;
    }
    Ok(n_removed)
}

async fn remove_unmentioned(storage: &Storage, name: &str, least_age: Duration) -> Result<usize, Error> {
    let (log_store, place) = (storage.log_store(name)?, storage.place(name));
    let store = log_store.object_store(None);
    let listed =
        with_retries(|| async { store.list_with_delimiter(None).await.map_err(|e| Error::storage("list", &place, e)) });
    let mut own = listed.await?.objects;
    own.retain(|object| object.location.filename().is_some_and(file::is_own_name));

    let failed = |e| Error::storage("read", &place, e);
    let mut table = DeltaTable::new(log_store.clone());
    table.load().await.map_err(failed)?;
    let state = table.snapshot().map_err(failed)?;
    let live: BTreeSet<String> = state.log_data().iter().map(|file| file.path().into_owned()).collect();
    own.retain(|object| !live.contains(object.location.as_ref()));
    let retention = state.snapshot().table_properties().deleted_file_retention_duration();
    let now = Timestamp::now().as_millisecond();
    // A clock that was set back makes files that come from the future; these are young.
    own.retain(|object| {
        let age = Duration::from_millis((now - object.last_modified.timestamp_millis()).max(0).unsigned_abs());
        (least_age..retention).contains(&age)
    });
    if own.is_empty() {
        return Ok(0);
    }
    let removed: Vec<_> = state.all_tombstones(log_store.as_ref()).try_collect().await.map_err(failed)?;
    let removed: BTreeSet<String> = removed.iter().map(|file| file.path().into_owned()).collect();
    own.retain(|object| !removed.contains(object.location.as_ref()));
    for object in &own {
        with_retries(|| async {
            store.delete(&object.location).await.map_err(|e| Error::storage("remove a file of", &place, e))
        })
        .await?;
    }
    Ok(own.len())
}

/// Removes the temporary files of puts to local disk, `NAME#NUMBER`, which the store itself does not list.
fn remove_staged(folder: &FilePath, is_ours: impl Fn(&str) -> bool) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    let staged = paths.iter().filter(|path| {
        let parts = path.file_name().and_then(|name| name.to_str()?.split_once('#'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        parts.is_some_and(|(name, number)| is_ours(name) && is_number(number))
    });
    let mut n_removed = 0;
    for path in staged {
        fs::remove_file(path)?;
        n_removed += 1;
    }
    Ok(n_removed)
}
