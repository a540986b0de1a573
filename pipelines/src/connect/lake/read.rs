//! Reading tables back: file by file, in the order of their epochs, so that memory follows the state and not the history.

use std::{collections::BTreeMap, ops::RangeInclusive};

use arrow::array::RecordBatch;
use deltalake_core::{
    DeltaTable,
    kernel::Remove,
    logstore::{
        LogStoreRef,
        object_store::{self, ObjectStoreExt, path::Path},
    },
};
use hypercane_schemas::{Diff, Epoch, Record};
use jiff::Timestamp;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::{
    CommitPoint, Error, Lake, damage,
    decode::decode,
    file::rows_at_once,
    fold::FOLDED,
    storage::{Storage, with_retries},
};

/// How often a read begins anew that history was folded under.
const READ_TRIES: usize = 3;

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
        let Some((files, last)) = self.readable(R::TABLE, as_of).await? else { return Ok(()) };
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

impl Lake {
    /// The files of a table, and the epoch up to which they are to be read.
    async fn readable(&self, table: &str, as_of: Option<Epoch>) -> Result<Option<(Files, Epoch)>, Error> {
        let mut tries = 0..READ_TRIES;
        loop {
            let Some(point) = CommitPoint::load(&self.storage).await? else { return Ok(None) };
            // What lies beyond the commit point is not there yet, or is left over from a crash.
            let last = as_of.map_or(point.epoch, |epoch| epoch.min(point.epoch));
            let Some(files) = Files::of(&self.storage, table).await? else { return Ok(None) };
            match files.check_not_folded(last).await {
                // There was a commit meanwhile, and history was folded up to it.
                Err(Error::Folded { .. }) if as_of.is_none() && tries.next().is_some() => {}
                checked => return checked.map(|()| Some((files, last))),
            }
        }
    }
}

/// The files of a table, oldest epochs first.
pub(super) struct Files {
    place: String,
    log_store: LogStoreRef,
    /// The table at its newest version.
    pub(super) table: DeltaTable,
    pub(super) version: u64,
    files: Vec<DataFile>,
}

/// One Parquet file of a table.
pub(super) struct DataFile {
    path: Path,
    /// Its first and last epoch, where the log says so.
    pub(super) epochs: Option<RangeInclusive<Epoch>>,
    pub(super) n_bytes: u64,
    /// How many rows it has, where the log says so.
    pub(super) n_rows: Option<u64>,
    /// When it was written.
    pub(super) written_at: Timestamp,
    /// The log's word for taking it out.
    pub(super) removal: Remove,
    /// The first moment at which a row of it was committed, where the log says so (table `commits` only).
    pub(super) since: Option<Timestamp>,
}

impl Files {
    /// The files of the newest version of a table, if there is such a table.
    pub(super) async fn of(storage: &Storage, table: &str) -> Result<Option<Self>, Error> {
        Self::at(storage, table, None).await
    }

    /// The files of one version of a table, or of the newest.
    pub(super) async fn at(storage: &Storage, table: &str, version: Option<u64>) -> Result<Option<Self>, Error> {
        let (log_store, place) = (storage.log_store(table)?, storage.place(table));
        let exists = with_retries(|| async {
            log_store.is_delta_table_location().await.map_err(|e| Error::storage("read", &place, e))
        });
        if !exists.await? {
            return Ok(None);
        }
        let mut snapshot = DeltaTable::new(log_store.clone());
        let loaded = match version {
            Some(version) => snapshot.load_version(version).await,
            None => snapshot.load().await,
        };
        if let Err(error) = loaded {
            return Err(damage::explain(&log_store, &place, error).await);
        }
        let state = snapshot.snapshot().map_err(|e| Error::storage("read", &place, e))?;
        let version = state.version();
        let mut files: Vec<DataFile> = state
            .log_data()
            .iter()
            .map(|file| {
                let stats: Option<Value> = file.stats().and_then(|stats| serde_json::from_str(&stats).ok());
                DataFile {
                    path: file.object_store_path(),
                    epochs: stats.as_ref().and_then(epochs),
                    since: stats.as_ref().and_then(since),
                    n_bytes: file.size().try_into().unwrap_or_default(),
                    n_rows: file.num_records().map(|n_rows| n_rows as u64),
                    written_at: Timestamp::from_millisecond(file.modification_time()).unwrap_or_default(),
                    removal: file.remove_action(false),
                }
            })
            .collect();
        files.sort_by(|a, b| {
            let start = |file: &DataFile| file.epochs.as_ref().map(|epochs| *epochs.start());
            start(a).cmp(&start(b)).then_with(|| a.path.cmp(&b.path))
        });
        Ok(Some(Self { place, log_store, table: snapshot, version, files }))
    }

    /// The table's folder, as a person would write it.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// All files.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = &DataFile> + ExactSizeIterator {
        self.files.iter()
    }

    /// The epoch before which the table's history was folded away, if it was.
    pub(super) async fn folded_before(&self) -> Result<Option<Epoch>, Error> {
        let failed = |e| Error::storage("read the log of", &self.place, e);
        let state = self.table.snapshot().map_err(failed)?;
        let bound = state.transaction_version(&*self.log_store, FOLDED).await.map_err(failed)?;
        Ok(bound.and_then(|bound| bound.try_into().ok()))
    }

    /// An error if the state at an epoch is not there any more.
    async fn check_not_folded(&self, epoch: Epoch) -> Result<(), Error> {
        match self.folded_before().await? {
            Some(bound) if epoch < bound => Err(Error::Folded { place: self.place.clone(), epoch, bound }),
            _ => Ok(()),
        }
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
        let groups = reader.metadata().row_groups().iter();
        let (n_rows, n_bytes) = groups.fold((0, 0), |(n_rows, n_bytes), group| {
            (n_rows + group.num_rows().max(0) as usize, n_bytes + group.total_byte_size().max(0) as usize)
        });
        for batch in reader.with_batch_size(rows_at_once(n_rows, n_bytes)).build().map_err(damaged)? {
            visit(batch.map_err(|e| Error::damaged(&name, e))?)?;
        }
        Ok(())
    }
}

impl DataFile {
    /// Where it is, from the table's folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn missing_or_failed(file: &str, error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::damaged(file, "the file is missing"),
        error => Error::storage("read", file, error),
    }
}

fn since(stats: &Value) -> Option<Timestamp> {
    stats.get("minValues")?.get("committed_at")?.as_str()?.parse().ok()
}

fn epochs(stats: &Value) -> Option<RangeInclusive<Epoch>> {
    let bound = |name: &str| stats.get(name)?.get("epoch")?.as_u64();
    Some(bound("minValues")?..=bound("maxValues")?)
}
