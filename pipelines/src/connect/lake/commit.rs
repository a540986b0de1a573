//! Committing: all tables first, several at once, then one row of `commits`, which makes them count.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arrow::{array::RecordBatch, datatypes::SchemaRef};
use deltalake_core::kernel::Transaction;
use hypercane_schemas::{Epoch, Record};
use tokio::{sync::Mutex, task::JoinSet};

use super::{COMMITS, CommitPoint, Error, Lake, decode::integers, encode, fault, point, table::Table};

/// What becomes visible together.
#[derive(Clone, Debug, Default)]
pub struct CommitBatch {
    /// The last epoch of the batch.
    pub epoch: Epoch,
    /// Where every topic and partition goes on after it.
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
            if [COMMITS, super::MODEL_OUTPUTS].contains(&table.as_str()) {
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
        let point = match state.point.clone().filter(|_| state.clean) {
            Some(point) => point,
            None => {
                let failed_before = state.attempted;
                state.point = Some(self.repair().await?);
                state.clean = true;
                let point = state.point.clone().flatten();
                if failed_before == Some(batch.epoch) && point.as_ref().is_some_and(|p| p.epoch == batch.epoch) {
                    return Ok(CommitReport { took: started.elapsed(), ..CommitReport::default() });
                }
                point
            }
        };
        batch.check(point.as_ref().map(|point| point.epoch))?;
        state.attempted = Some(batch.epoch);
        state.clean = false;

        let mut report = CommitReport { n_rows: batch.n_rows(), ..CommitReport::default() };
        let mut next = CommitPoint {
            epoch: batch.epoch,
            offsets: batch.offsets.clone(),
            versions: point.map(|point| point.versions).unwrap_or_default(),
        };
        fault::reach("before_table_writes");
        let written = self.write_tables(&batch).await?;
        report.n_tables = written.len();
        next.versions.extend(written.iter().cloned());
        fault::reach("after_table_writes");
        self.write_point(&next).await?;
        fault::reach("after_commit");
        state.point = Some(Some(next));
        state.clean = true;
        drop(state);

        let names = written.into_iter().map(|(name, _)| name).chain([COMMITS.into()]);
        for name in names {
            let table = self.tables.lock().await.get(&name).cloned();
            if let Some(table) = table {
                self.checkpoint(&*table.lock().await).await;
            }
        }
        report.took = started.elapsed();
        Ok(report)
    }

    /// Writes the rows, each table with the mark (pipeline, epoch); gives the new versions.
    pub(super) async fn write_tables(&self, batch: &CommitBatch) -> Result<Vec<(String, u64)>, Error> {
        let mut writes = JoinSet::new();
        let mut schemas = BTreeMap::new();
        for (name, batches) in &batch.tables {
            let batches: Vec<RecordBatch> = batches.iter().filter(|batch| batch.num_rows() > 0).cloned().collect();
            if let Some(first) = batches.first() {
                schemas.insert(name.clone(), (first.schema(), batches));
            }
        }
        for (name, (schema, batches)) in schemas {
            let (lake, mark) = (self.clone(), self.mark(batch.epoch));
            writes.spawn(async move {
                let table = lake.table(&name, &schema).await?;
                let version = table.lock().await.append(&batches, Some(mark)).await?;
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

    /// A table that is open for appending; it is made if need be.
    pub(super) async fn table(&self, name: &str, schema: &SchemaRef) -> Result<Arc<Mutex<Table>>, Error> {
        if let Some(table) = self.tables.lock().await.get(name) {
            return Ok(table.clone());
        }
        let interval = self.checkpoint_interval;
        let table = Table::open_or_create(&self.storage, name, schema, &self.pipeline, interval).await?;
        Ok(self.tables.lock().await.entry(name.into()).or_insert_with(|| Arc::new(Mutex::new(table))).clone())
    }
}
