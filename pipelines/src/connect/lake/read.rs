//! Reading tables back: file by file, in the order of their epochs, so that memory follows the state and not the history.

use std::{collections::BTreeMap, ops::RangeInclusive};

use arrow::array::RecordBatch;
use deltalake_core::{
    DeltaTable,
    logstore::{
        LogStoreRef,
        object_store::{self, ObjectStoreExt, path::Path},
    },
};
use hypercane_schemas::{Diff, Epoch, Record};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::{
    CommitPoint, Error, Lake, damage,
    decode::decode,
    storage::{Storage, with_retries},
};

const ROWS_AT_ONCE: usize = 8192;

impl Lake {
    /// The rows of a table as of an epoch (the last committed one by default), each with how often it is present.
    pub async fn read<R: Record>(&self, as_of: Option<Epoch>) -> Result<Vec<(R, Diff)>, Error> {
        let mut state: BTreeMap<R, Diff> = BTreeMap::new();
        self.read_changes(as_of, |record: R, _, diff| {
            let entry = state.entry(record);
            if let std::collections::btree_map::Entry::Occupied(mut present) = entry {
                *present.get_mut() += diff;
                if *present.get() == 0 {
                    present.remove();
                }
            } else if diff != 0 {
                entry.or_insert(diff);
            }
        })
        .await?;
        Ok(state.into_iter().collect())
    }

    /// Hands over every change of a table up to an epoch (the last committed one by default), roughly in their order.
    pub async fn read_changes<R: Record>(
        &self,
        as_of: Option<Epoch>,
        mut visit: impl FnMut(R, Epoch, Diff) + Send,
    ) -> Result<(), Error> {
        let Some(point) = CommitPoint::load(&self.storage).await? else { return Ok(()) };
        // What lies beyond the commit point is not there yet, or is left over from a crash.
        let last = as_of.map_or(point.epoch, |epoch| epoch.min(point.epoch));
        let Some(files) = Files::of(&self.storage, R::TABLE).await? else { return Ok(()) };
        for file in files.up_to(last) {
            files
                .read(file, &mut |batch| {
                    for (record, epoch, diff) in decode(&batch)? {
                        if epoch <= last {
                            visit(record, epoch, diff);
                        }
                    }
                    Ok(())
                })
                .await?;
        }
        Ok(())
    }
}

/// The files of a table, oldest epochs first.
pub(super) struct Files {
    place: String,
    log_store: LogStoreRef,
    files: Vec<DataFile>,
}

/// One Parquet file of a table.
pub(super) struct DataFile {
    path: Path,
    /// Its first and last epoch, where the log says so.
    epochs: Option<RangeInclusive<Epoch>>,
}

impl Files {
    /// The files of the newest version of a table, if there is such a table.
    pub(super) async fn of(storage: &Storage, table: &str) -> Result<Option<Self>, Error> {
        let (log_store, place) = (storage.log_store(table)?, storage.place(table));
        let exists = with_retries(|| async {
            log_store.is_delta_table_location().await.map_err(|e| Error::storage("read", &place, e))
        });
        if !exists.await? {
            return Ok(None);
        }
        let mut snapshot = DeltaTable::new(log_store.clone());
        if let Err(error) = snapshot.load().await {
            return Err(damage::explain(&log_store, &place, error).await);
        }
        let state = snapshot.snapshot().map_err(|e| Error::storage("read", &place, e))?;
        let mut files: Vec<DataFile> = state
            .log_data()
            .iter()
            .map(|file| DataFile {
                path: file.object_store_path(),
                epochs: file.stats().and_then(|stats| epochs(&stats)),
            })
            .collect();
        files.sort_by(|a, b| {
            let start = |file: &DataFile| file.epochs.as_ref().map(|epochs| *epochs.start());
            start(a).cmp(&start(b)).then_with(|| a.path.cmp(&b.path))
        });
        Ok(Some(Self { place, log_store, files }))
    }

    /// All files.
    pub(super) fn all(&self) -> impl Iterator<Item = &DataFile> {
        self.files.iter()
    }

    /// The files that may hold rows up to an epoch.
    fn up_to(&self, last: Epoch) -> impl Iterator<Item = &DataFile> {
        self.files.iter().filter(move |file| file.epochs.as_ref().is_none_or(|epochs| *epochs.start() <= last))
    }

    /// The files that may hold rows of the newest epoch.
    pub(super) fn newest(&self) -> impl Iterator<Item = &DataFile> {
        let newest = self.files.iter().filter_map(|file| file.epochs.as_ref().map(|epochs| *epochs.end())).max();
        self.files.iter().filter(move |file| {
            let Some(newest) = newest else { return true };
            file.epochs.as_ref().is_none_or(|epochs| epochs.contains(&newest))
        })
    }

    /// Reads one file, some thousand rows at a time.
    pub(super) async fn read(
        &self,
        file: &DataFile,
        visit: &mut (dyn FnMut(RecordBatch) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        let name = format!("{}/{}", self.place, file.path);
        let store = self.log_store.object_store(None);
        let fetched = with_retries(|| async {
            let object = store.get(&file.path).await.map_err(|e| missing_or_failed(&name, e))?;
            object.bytes().await.map_err(|e| missing_or_failed(&name, e))
        });
        let damaged = |e| Error::damaged(&name, e);
        let reader = ParquetRecordBatchReaderBuilder::try_new(fetched.await?).map_err(damaged)?;
        for batch in reader.with_batch_size(ROWS_AT_ONCE).build().map_err(damaged)? {
            visit(batch.map_err(|e| Error::damaged(&name, e))?)?;
        }
        Ok(())
    }
}

fn missing_or_failed(file: &str, error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::damaged(file, "the file is missing"),
        error => Error::storage("read", file, error),
    }
}

fn epochs(stats: &str) -> Option<RangeInclusive<Epoch>> {
    let stats: Value = serde_json::from_str(stats).ok()?;
    let bound = |name: &str| stats.get(name)?.get("epoch")?.as_u64();
    Some(bound("minValues")?..=bound("maxValues")?)
}
