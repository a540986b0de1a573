//! One Delta table: appended to in constant time, whatever its length.
//!
//! The log entry of a commit is put at the next version directly, since the lake has one writer and knows the version;
//! the list of all files is only loaded to write a checkpoint. A put never overwrites, so a second writer is noticed.

use std::{
    collections::{BTreeSet, HashMap},
    time::{Duration, Instant},
};

use arrow::{
    array::RecordBatch,
    datatypes::{FieldRef, Schema, SchemaRef},
};
use deltalake_core::{
    BlindDeltaTable, DeltaTable,
    kernel::{
        Action, Add, Remove, Transaction, engine::arrow_conversion::TryIntoKernel, schema::StructType,
        transaction::CommitData,
    },
    logstore::{
        LogStoreRef, commit_uri_from_version, get_actions,
        object_store::{self, PutMode, PutPayload},
    },
    operations::create::CreateBuilder,
    protocol::{DeltaOperation, SaveMode, checkpoints},
};

use super::{
    Error, Options, damage,
    file::{self, DataFile},
    fold::FOLDED,
    storage::{Storage, with_retries},
};

/// The table property that names the pipeline a table belongs to.
const PIPELINE_PROPERTY: &str = "hypercane.pipeline";

/// A table that is open for appending.
pub(super) struct Table {
    name: String,
    /// As a person would write its folder.
    place: String,
    log_store: LogStoreRef,
    pub(super) schema: SchemaRef,
    /// The pipeline that it belongs to, if it says.
    pub(super) pipeline: Option<String>,
    /// The newest version.
    pub(super) version: u64,
    /// When that was known for the last time.
    known_at: Instant,
}

/// For how long a version that may have been left behind by other writers is counted on from. Far shorter than any
/// retention: log entries between must still be there, or an old version would be written a second time.
const STALE: Duration = Duration::from_secs(60);

impl Table {
    /// Opens a table, if there is one. A table of another pipeline is an error.
    pub(super) async fn open(storage: &Storage, name: &str, pipeline: Option<&str>) -> Result<Option<Self>, Error> {
        let (log_store, place) = (storage.log_store(name)?, storage.place(name));
        let exists = with_retries(|| async {
            log_store.is_delta_table_location().await.map_err(|e| Error::storage("read", &place, e))
        });
        if !exists.await? {
            return Ok(None);
        }
        let head = match BlindDeltaTable::try_new_with_log_store(log_store.clone()).await {
            Ok(head) => head,
            Err(error) => return Err(damage::explain(&log_store, &place, error).await),
        };
        let found = head.metadata().configuration().get(PIPELINE_PROPERTY).cloned();
        if let Some(expected) = pipeline
            && found.as_deref() != Some(expected)
        {
            return Err(Error::Owner { place, found, expected: expected.into() });
        }
        let schema = head.arrow_schema().map_err(|e| Error::damaged(&place, e))?;
        let version = head.version();
        let (name, known_at) = (name.into(), Instant::now());
        Ok(Some(Self { name, place, log_store, schema, pipeline: found, version, known_at }))
    }

    /// Looks up the newest version, where that was long ago. For tables that others write to as well.
    pub(super) async fn catch_up(&mut self) -> Result<(), Error> {
        if self.known_at.elapsed() > STALE {
            let head = BlindDeltaTable::try_new_with_log_store(self.log_store.clone()).await;
            self.version = head.map_err(|e| Error::storage("read", &self.place, e))?.version();
            self.known_at = Instant::now();
        }
        Ok(())
    }

    /// Opens a table, or makes it with the columns of the rows that are to be written.
    pub(super) async fn open_or_create(
        storage: &Storage,
        name: &str,
        schema: &SchemaRef,
        pipeline: &str,
        options: &Options,
    ) -> Result<Self, Error> {
        if let Some(table) = Self::open(storage, name, Some(pipeline)).await? {
            return Ok(table);
        }
        let columns: StructType = schema.as_ref().try_into_kernel().map_err(|e| Error::row(name, e))?;
        let properties = [
            (PIPELINE_PROPERTY, pipeline.to_string()),
            ("delta.checkpointInterval", options.checkpoint_interval.to_string()),
            // Checkpoints carry removed files for so long.
            ("delta.deletedFileRetentionDuration", format!("interval {} seconds", options.retention.as_secs())),
            bounded_columns(schema),
        ];
        let log_store = storage.log_store(name)?;
        let create = CreateBuilder::new()
            .with_log_store(log_store)
            .with_table_name(name)
            .with_raise_if_key_not_exists(false)
            .with_columns(columns.fields().cloned())
            .with_configuration(properties.into_iter().map(|(key, value)| (key, Some(value))));
        let created = create.await.map_err(|e| Error::storage("write to", storage.place(name), e));
        // Another process of the pipeline may have been quicker.
        if let Err(error) = created {
            return Self::open(storage, name, Some(pipeline)).await?.ok_or(error);
        }
        let missing = || Error::damaged(storage.place(name), "the table that was just made is not there");
        Self::open(storage, name, Some(pipeline)).await?.ok_or_else(missing)
    }

    /// Writes rows and makes them part of the table. The table is as before if this fails.
    pub(super) async fn append(&mut self, batches: &[RecordBatch], mark: Option<Transaction>) -> Result<u64, Error> {
        let files = self.put(batches).await?;
        self.add(files, mark).await
    }

    /// Writes rows to data files that no log entry mentions yet.
    pub(super) async fn put(&self, batches: &[RecordBatch]) -> Result<Vec<Add>, Error> {
        for batch in batches {
            self.check(&batch.schema())?;
        }
        file::put(&self.log_store, &self.name, &self.place, &self.schema, batches).await
    }

    /// Makes data files part of the table.
    pub(super) async fn add(&mut self, files: Vec<Add>, mark: Option<Transaction>) -> Result<u64, Error> {
        let write = DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None };
        self.log(files.into_iter().map(Action::Add).collect(), write, mark).await
    }

    pub(super) fn check(&self, rows: &Schema) -> Result<(), Error> {
        let same = |(a, b): (&FieldRef, &FieldRef)| {
            a.name() == b.name() && a.data_type().equals_datatype(b.data_type()) && a.is_nullable() == b.is_nullable()
        };
        let columns = self.schema.fields();
        if columns.len() == rows.fields().len() && columns.iter().zip(rows.fields()).all(same) {
            return Ok(());
        }
        let different = columns.iter().zip(rows.fields()).find(|&pair| !same(pair));
        let reason = match different {
            Some((column, row)) => format!("column `{}` meets rows with `{}`", column, row),
            None => format!("{} columns meet rows with {}", columns.len(), rows.fields().len()),
        };
        Err(Error::row(&self.name, format!("{reason}; was {} written by another version?", self.place)))
    }

    /// Puts a log entry at the next version.
    pub(super) async fn log(
        &mut self,
        actions: Vec<Action>,
        operation: DeltaOperation,
        mark: Option<Transaction>,
    ) -> Result<u64, Error> {
        let pipeline = mark.as_ref().map(|mark| mark.app_id.clone());
        let entry = CommitData::new(actions, operation, HashMap::new(), mark.into_iter().collect()).get_bytes();
        let entry = entry.map_err(|e| Error::row(&self.name, e))?;
        while let Some(found) = self.put_entry(&entry).await? {
            if found.is_of(pipeline.as_deref()) {
                let holder = format!("it wrote version {} of table {}", self.version + 1, self.name);
                return Err(Error::Held { location: self.place.clone(), holder });
            }
            // Maintenance by another program; ours comes after it.
            self.version += 1;
        }
        Ok(self.version)
    }

    /// Puts a log entry that replaces files of the version `seen`. Where a later entry took one of them away, nothing is
    /// put, and `None` given: its rows would be there twice.
    pub(super) async fn replace(
        &mut self,
        seen: u64,
        files: Vec<Remove>,
        adds: &[Add],
        operation: DeltaOperation,
        mark: Option<Transaction>,
    ) -> Result<Option<u64>, Error> {
        let paths: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
        let is_gone = |entry: &Entry| {
            entry.actions.iter().any(|action| matches!(action, Action::Remove(gone) if paths.contains(&gone.path)))
        };
        for version in seen + 1..=self.version {
            if is_gone(&self.entry(version).await?) {
                return Ok(None);
            }
        }
        let actions = files.into_iter().map(Action::Remove).chain(adds.iter().cloned().map(Action::Add)).collect();
        let entry = CommitData::new(actions, operation, HashMap::new(), mark.into_iter().collect()).get_bytes();
        let entry = entry.map_err(|e| Error::row(&self.name, e))?;
        while let Some(found) = self.put_entry(&entry).await? {
            if is_gone(&found) {
                return Ok(None);
            }
            self.version += 1;
        }
        Ok(Some(self.version))
    }

    /// Puts an entry at the next version, which becomes the newest. Where another entry is there, that one is given.
    async fn put_entry(&mut self, entry: &[u8]) -> Result<Option<Entry>, Error> {
        let (version, path) = (self.version + 1, commit_uri_from_version(Some(self.version + 1)));
        let store = self.log_store.object_store(None);
        let put = with_retries(|| async {
            match store.put_opts(&path, PutPayload::from(entry.to_vec()), PutMode::Create.into()).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                Err(e) => Err(Error::storage("write to", &self.place, e)),
            }
        });
        if !put.await? {
            // A put that was reported as failed may have arrived.
            let found = self.entry(version).await?;
            if found.bytes != entry {
                return Ok(Some(found));
            }
        }
        self.version = version;
        self.known_at = Instant::now();
        Ok(None)
    }

    /// Puts a file, which is no part of the table until a log entry says so.
    pub(super) async fn put_file(&self, file: DataFile) -> Result<Add, Error> {
        let DataFile { add, bytes } = file;
        file::put_one(&self.log_store, &self.place, &add, bytes).await?;
        Ok(add)
    }

    /// Deletes files that no log entry mentions.
    pub(super) async fn take_away(&self, files: &[Add]) {
        file::take_away(&self.log_store, files).await;
    }

    /// Reads a log entry.
    pub(super) async fn entry(&self, version: u64) -> Result<Entry, Error> {
        let file = format!("{}/{}", self.place, commit_uri_from_version(Some(version)));
        let read = self.log_store.read_commit_entry(version).await;
        let bytes = read.map_err(|e| Error::storage("read", &file, e))?;
        let bytes = bytes.ok_or_else(|| Error::damaged(&file, "the log entry is missing"))?;
        let actions = get_actions(version, &bytes).map_err(|e| Error::damaged(&file, e))?;
        Ok(Entry { bytes: bytes.to_vec(), actions })
    }

    /// What to sum up now, if readers would start to feel the length of the log. Each table has its own turn, so that
    /// not all are due after the same commit.
    pub(super) fn due_checkpoint(&self, interval: u64) -> Option<Checkpoint> {
        let turn: u64 = self.name.bytes().map(u64::from).sum();
        let due = interval > 0 && (self.version + turn).is_multiple_of(interval);
        due.then(|| Checkpoint { place: self.place.clone(), log_store: self.log_store.clone(), version: self.version })
    }

    /// The folder, as a person would write it.
    pub(super) fn place(&self) -> &str {
        &self.place
    }
}

/// A sum of the log up to a version, to be written; readers then start from there.
pub(super) struct Checkpoint {
    place: String,
    log_store: LogStoreRef,
    version: u64,
}

impl Checkpoint {
    /// Writes it, and takes away log entries that are older than the retention and no longer needed.
    pub(super) async fn write(self, retention: Duration) -> Result<(), Error> {
        let failed = |e| Error::storage("write a checkpoint of", &self.place, e);
        let mut table = DeltaTable::new(self.log_store);
        table.load_version(self.version).await.map_err(failed)?;
        checkpoints::create_checkpoint(&table, None).await.map_err(failed)?;
        let cutoff = file::age_limit(retention).as_millisecond();
        let log_store = table.log_store();
        checkpoints::cleanup_expired_logs_for(self.version, &*log_store, cutoff, None).await.map_err(failed)?;
        Ok(())
    }
}

/// One version of a table's log.
pub(super) struct Entry {
    bytes: Vec<u8>,
    pub(super) actions: Vec<Action>,
}

impl Entry {
    /// Whether it folds history away. That is done to committed rows only.
    pub(super) fn is_fold(&self) -> bool {
        self.is_of(Some(FOLDED))
    }

    fn is_of(&self, pipeline: Option<&str>) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Txn(mark) if Some(mark.app_id.as_str()) == pipeline))
    }
}

/// The property that says for which columns the log keeps the bounds of each file.
fn bounded_columns(schema: &SchemaRef) -> (&'static str, String) {
    let bounded = schema.fields().iter().filter(|column| file::is_bounded(column.data_type()));
    let names: Vec<&str> = bounded.map(|column| column.name().as_str()).collect();
    match names.is_empty() {
        true => ("delta.dataSkippingNumIndexedCols", "0".into()),
        false => ("delta.dataSkippingStatsColumns", names.join(",")),
    }
}
