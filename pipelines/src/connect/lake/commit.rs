//! Committing: all tables first, several at once, then one row of `commits`, which makes them count.
//!
//! Where several processes write to a lake, each puts its rows into data files of its own, a [`Part`]. The one that holds the
//! lake enters the files of all parts into the logs, so that a table has one new version a commit, as with one process.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arrow::{array::RecordBatch, datatypes::SchemaRef};
use deltalake_core::kernel::{Add, Transaction};
use hypercane_schemas::{Epoch, Record};
use serde::{Deserialize, Serialize};
use tokio::{sync::Mutex, task::JoinSet};

use super::{COMMITS, CommitPoint, Error, Lake, State, decode::integers, encode, fault, file, point, table::Table};

/// What becomes visible together.
#[derive(Clone, Debug, Default)]
pub struct CommitBatch {
    /// The last epoch of the batch.
    pub epoch: Epoch,
    /// Where topics and partitions go on after it; those that are not named stay where they are.
    pub offsets: BTreeMap<(String, i32), i64>,
    /// Changes of the epochs since the last commit, per table.
    pub tables: BTreeMap<String, Vec<RecordBatch>>,
}

impl CommitBatch {
    /// Adds changes of one record kind.
    pub fn add<R: Record>(&mut self, rows: &[(R, Epoch, hypercane_schemas::Diff)]) -> Result<(), Error> {
        if !rows.is_empty() {
            self.tables.entry(R::TABLE.into()).or_default().push(encode(rows)?);
        }
        Ok(())
    }

    /// How many rows it has.
    pub fn n_rows(&self) -> usize {
        self.tables.values().flatten().map(RecordBatch::num_rows).sum()
    }

    fn check(&self, last: Option<Epoch>) -> Result<(), Error> {
        let refused = |reason: String| Error::Epoch { epoch: self.epoch, reason };
        if let Some(last) = last
            && self.epoch <= last
        {
            return Err(refused(format!("epoch {last} is committed already")));
        }
        for (table, batches) in &self.tables {
            if table == COMMITS || super::is_record(table) {
                return Err(refused(format!("table {table} is no changelog")));
            }
            for batch in batches {
                let outside = |&epoch: &i64| epoch > self.epoch as i64 || last.is_some_and(|last| epoch <= last as i64);
                if let Some(epoch) = integers(batch, table, "epoch")?.values().iter().find(|epoch| outside(epoch)) {
                    return Err(refused(format!("table {table} has a row of epoch {epoch}")));
                }
            }
        }
        Ok(())
    }
}

/// What one process has of a commit, written to data files that no log mentions yet. It can be sent to another process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The last epoch of the commit.
    pub epoch: Epoch,
    /// Where the topics and partitions that the process has read go on after it; others stay where they are.
    offsets: Vec<(String, i32, i64)>,
    pub(super) tables: BTreeMap<String, PartOfTable>,
}

/// The data files of one table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PartOfTable {
    schema: arrow::datatypes::Schema,
    n_rows: usize,
    files: Vec<Add>,
}

/// What a commit did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// Rows written.
    pub n_rows: usize,
    /// Tables written.
    pub n_tables: usize,
    /// How long it took.
    pub took: Duration,
}

impl Lake {
    /// Makes a batch part of the lake, whole or not at all. After an error nothing of it counts, and the same batch can
    /// be committed again; if the failed call did arrive after all, the second one finds that out and writes nothing.
    /// The call must be awaited to its end: one that is dropped half-way may still be writing.
    pub async fn commit(&self, batch: CommitBatch) -> Result<CommitReport, Error> {
        let started = Instant::now();
        let mut state = self.state.lock().await;
        let Some(point) = self.settle(&mut state, batch.epoch).await? else {
            return Ok(CommitReport { took: started.elapsed(), ..CommitReport::default() });
        };
        batch.check(point.as_ref().map(|point| point.epoch))?;
        let part = self.write_part(batch).await?;
        let report = self.log(&mut state, point, vec![part]).await?;
        Ok(CommitReport { took: started.elapsed(), ..report })
    }

    /// As [`Lake::commit`], of what several processes have written with [`Lake::write_part`], each of the same epochs.
    pub async fn commit_parts(&self, parts: Vec<Part>) -> Result<CommitReport, Error> {
        let started = Instant::now();
        let mut state = self.state.lock().await;
        let epoch = parts.first().map_or(0, |part| part.epoch);
        let refused = |reason: &str| Err(Error::Epoch { epoch, reason: reason.into() });
        if parts.iter().any(|part| part.epoch != epoch) {
            return refused("the parts of the commit are of different epochs");
        }
        let Some(point) = self.settle(&mut state, epoch).await? else {
            return Ok(CommitReport { took: started.elapsed(), ..CommitReport::default() });
        };
        if let Some(point) = &point
            && point.epoch >= epoch
        {
            return refused(&format!("epoch {} is committed already", point.epoch));
        }
        let report = self.log(&mut state, point, parts).await?;
        Ok(CommitReport { took: started.elapsed(), ..report })
    }

    /// Brings the tables to the commit point if a commit failed before, and gives that point; `None` when the failed commit
    /// was of this epoch and did arrive.
    async fn settle(&self, state: &mut State, epoch: Epoch) -> Result<Option<Option<CommitPoint>>, Error> {
        if let Some(point) = state.point.clone().filter(|_| state.clean) {
            return Ok(Some(point));
        }
        let point = self.repair().await?;
        state.point = Some(point.clone());
        state.clean = true;
        let has_arrived = state.attempted == Some(epoch) && point.as_ref().is_some_and(|p| p.epoch == epoch);
        Ok((!has_arrived).then_some(point))
    }

    /// Writes the rows of a batch to data files, for [`Lake::commit_parts`] here or in another process. What was written is
    /// taken away again if this fails.
    pub async fn write_part(&self, batch: CommitBatch) -> Result<Part, Error> {
        fault::reach("before_table_writes");
        let offsets =
            batch.offsets.into_iter().map(|((topic, partition), offset)| (topic, partition, offset)).collect();
        let mut writes = JoinSet::new();
        for (name, batches) in batch.tables {
            let batches: Vec<RecordBatch> = batches.into_iter().filter(|batch| batch.num_rows() > 0).collect();
            if batches.is_empty() {
                continue;
            }
            let lake = self.clone();
            writes.spawn(async move {
                let part = lake.write_table(&name, batches).await?;
                Ok::<_, Error>((name, part))
            });
        }
        let (mut tables, mut failure) = (BTreeMap::new(), None);
        while let Some(joined) = writes.join_next().await {
            match joined {
                Ok(Ok((name, part))) => drop(tables.insert(name, part)),
                Ok(Err(error)) => failure = failure.or(Some(error)),
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
        }
        if let Some(error) = failure {
            for (name, part) in &tables {
                file::take_away(&self.storage.log_store(name)?, &part.files).await;
            }
            return Err(error);
        }
        Ok(Part { epoch: batch.epoch, offsets, tables })
    }

    async fn write_table(&self, name: &str, batches: Vec<RecordBatch>) -> Result<PartOfTable, Error> {
        let schema = batches[0].schema();
        let files = match self.open_table(name).await? {
            Some(table) => table.lock().await.put(&batches).await?,
            // The table is made with the log entry, by the process that writes it.
            None => {
                let (log_store, place) = (self.storage.log_store(name)?, self.storage.place(name));
                file::put(&log_store, name, &place, &schema, &batches).await?
            }
        };
        let n_rows = batches.iter().map(RecordBatch::num_rows).sum();
        Ok(PartOfTable { schema: Arc::unwrap_or_clone(schema), n_rows, files })
    }

    /// Enters the files of all parts into the logs, then writes the commit point.
    async fn log(
        &self,
        state: &mut State,
        point: Option<CommitPoint>,
        parts: Vec<Part>,
    ) -> Result<CommitReport, Error> {
        let epoch = parts.first().map_or(0, |part| part.epoch);
        state.attempted = Some(epoch);
        state.clean = false;
        let mut next = CommitPoint { epoch, ..point.unwrap_or_default() };
        let mut tables: BTreeMap<String, PartOfTable> = BTreeMap::new();
        for part in parts {
            next.offsets.extend(part.offsets.into_iter().map(|(topic, partition, at)| ((topic, partition), at)));
            for (name, part) in part.tables {
                match tables.get_mut(&name) {
                    Some(table) => {
                        table.n_rows += part.n_rows;
                        table.files.extend(part.files);
                    }
                    None => drop(tables.insert(name, part)),
                }
            }
        }
        let n_rows = tables.values().map(|table| table.n_rows).sum();
        let written = self.log_tables(epoch, tables).await?;
        let report = CommitReport { n_rows, n_tables: written.len(), took: Duration::ZERO };
        next.versions.extend(written.iter().cloned());
        fault::reach("after_table_writes");
        self.write_point(&next).await?;
        fault::reach("after_commit");
        state.point = Some(Some(next));
        state.clean = true;
        for name in written.iter().map(|(name, _)| name.as_str()).chain([COMMITS]) {
            let table = self.tables.lock().await.get(name).cloned();
            if let Some(table) = table {
                self.checkpoint(&*table.lock().await).await;
            }
        }
        self.maintain().await;
        Ok(report)
    }

    /// Enters files into the logs, each table with the mark (pipeline, epoch); gives the new versions.
    pub(super) async fn log_tables(
        &self,
        epoch: Epoch,
        tables: BTreeMap<String, PartOfTable>,
    ) -> Result<Vec<(String, u64)>, Error> {
        let mut writes = JoinSet::new();
        for (name, part) in tables {
            let (lake, mark) = (self.clone(), self.mark(epoch));
            writes.spawn(async move {
                let table = lake.table(&name, &Arc::new(part.schema)).await?;
                let version = table.lock().await.add(part.files, Some(mark)).await?;
                fault::reach("after_table_write");
                Ok::<_, Error>((name, version))
            });
        }
        let (mut written, mut failure) = (Vec::new(), None);
        // All are awaited, so that no write is under way while the next call repairs.
        while let Some(joined) = writes.join_next().await {
            match joined {
                Ok(Ok(version)) => written.push(version),
                Ok(Err(error)) => failure = failure.or(Some(error)),
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            }
        }
        written.sort();
        failure.map_or(Ok(written), Err)
    }

    /// Writes the commit point.
    pub(super) async fn write_point(&self, point: &CommitPoint) -> Result<(), Error> {
        let table = self.table(COMMITS, &point::schema()).await?;
        let mark = self.mark(point.epoch);
        table.lock().await.append(&[point.to_batch()?], Some(mark)).await?;
        Ok(())
    }

    pub(super) fn mark(&self, epoch: Epoch) -> Transaction {
        Transaction::new(&self.pipeline, epoch as i64)
    }

    /// A table that is open, if there is such a table.
    pub(super) async fn open_table(&self, name: &str) -> Result<Option<Arc<Mutex<Table>>>, Error> {
        if let Some(table) = self.tables.lock().await.get(name) {
            return Ok(Some(table.clone()));
        }
        match Table::open(&self.storage, name, Some(&self.pipeline)).await? {
            Some(table) => Ok(Some(self.keep(name, table).await)),
            None => Ok(None),
        }
    }

    /// A table that is open for appending; it is made if need be.
    pub(super) async fn table(&self, name: &str, schema: &SchemaRef) -> Result<Arc<Mutex<Table>>, Error> {
        if let Some(table) = self.tables.lock().await.get(name) {
            return Ok(table.clone());
        }
        let table = Table::open_or_create(&self.storage, name, schema, &self.pipeline, &self.options).await?;
        Ok(self.keep(name, table).await)
    }

    async fn keep(&self, name: &str, table: Table) -> Arc<Mutex<Table>> {
        self.tables.lock().await.entry(name.into()).or_insert_with(|| Arc::new(Mutex::new(table))).clone()
    }
}
