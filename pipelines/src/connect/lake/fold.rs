//! Folding history: the rows up to an epoch are replaced by the state at that epoch.
//!
//! Rows that came and went again vanish; the others stand once, with their count as `diff`, as if they had come in that
//! epoch. The state at any later epoch stays what it is. What came before can't be read any more. Each table's log entry
//! says so, in the same atomic write: its application transaction [`FOLDED`] has the epoch as its version. A table
//! where nothing went keeps its rows, and can be read at every epoch.

use std::{collections::HashMap, sync::Arc};

use arrow::{
    array::{ArrayRef, Int64Array, RecordBatch, UInt32Array},
    compute::take_record_batch,
    row::{RowConverter, SortField},
};
use deltalake_core::{
    kernel::Transaction,
    protocol::{DeltaOperation, SaveMode},
};
use hypercane_schemas::Epoch;
use xxhash_rust::xxh3::xxh3_128;

use super::{
    COMMITS, Error, Lake,
    decode::integers,
    is_record,
    read::{DataFile, Files},
};

/// The application transaction whose version is the first epoch that a table can be read at.
pub(super) const FOLDED: &str = "hypercane.folded";

impl Lake {
    /// Folds the history of every table before an epoch; gives for each how many rows went. `dry_run` only counts. Fails
    /// if the epoch is not committed.
    pub async fn fold(&self, before: Epoch, dry_run: bool) -> Result<Vec<(String, u64)>, Error> {
        let committed = self.commit_point().await?.map_or(0, |point| point.epoch);
        if before > committed {
            let reason = format!("the last commit is epoch {committed}, and history can be folded up to there");
            return Err(Error::Epoch { epoch: before, reason });
        }
        let mut folded = Vec::new();
        for name in self.own_tables().await? {
            let n_rows = if is_record(&name) { 0 } else { self.fold_table(&name, before, dry_run).await? };
            if n_rows > 0 {
                folded.push((name, n_rows));
            }
        }
        Ok(folded)
    }

    pub(super) async fn fold_table(&self, name: &str, before: Epoch, dry_run: bool) -> Result<u64, Error> {
        let found = if dry_run { Files::of(&self.storage, name).await? } else { self.committed_files(name).await? };
        let Some(files) = found else { return Ok(0) };
        if files.folded_before().await?.is_some_and(|bound| bound >= before) {
            return Ok(0);
        }
        let n_files = files.all().len();
        // The newest commit stays in a file of its own.
        let n_taken = if name == COMMITS { n_files.saturating_sub(1) } else { n_files };
        let is_older = |file: &&DataFile| file.epochs.as_ref().is_none_or(|epochs| *epochs.start() <= before);
        let chosen: Vec<&DataFile> = files.all().take(n_taken).filter(is_older).collect();
        let mut history = if name == COMMITS { History::commits(before) } else { History::changes(name, before) };
        for file in &chosen {
            files.read(file, &mut |batch| history.count(&batch)).await?;
        }
        let n_gone = history.n_gone();
        if n_gone == 0 || dry_run {
            return Ok(n_gone);
        }
        let rewrite = self.rewrite(name, &files, &chosen, &mut |batch| history.fold(&batch)).await?;
        let predicate = Some(format!("epoch <= {before}"));
        let overwrite = DeltaOperation::Write { mode: SaveMode::Overwrite, partition_by: None, predicate };
        let mark = Transaction::new(FOLDED, before as i64);
        let swapped = self.swap(name, rewrite, true, overwrite, Some(mark)).await?;
        Ok(if swapped { n_gone } else { 0 })
    }
}

/// The history of a table up to an epoch, and what it adds up to.
struct History {
    table: String,
    before: Epoch,
    /// The sum of `diff` of each row that does not add up to nothing, by the hash of its content. `None` for the table of
    /// commits, of which those before the epoch are not needed any more.
    counts: Option<HashMap<u128, i64>>,
    n_rows: u64,
    n_standing: u64,
}

impl History {
    fn changes(table: &str, before: Epoch) -> Self {
        Self { table: table.into(), before, counts: Some(HashMap::new()), n_rows: 0, n_standing: 0 }
    }

    fn commits(before: Epoch) -> Self {
        Self { counts: None, ..Self::changes(COMMITS, before) }
    }

    /// How many rows are gone after the fold.
    fn n_gone(&self) -> u64 {
        self.n_rows - self.counts.as_ref().map_or(self.n_standing, |counts| counts.len() as u64)
    }

    /// Adds rows up.
    fn count(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let before = self.before as i64;
        let epochs = integers(batch, &self.table, "epoch")?.values();
        let Some(counts) = &mut self.counts else {
            self.n_rows += batch.num_rows() as u64;
            self.n_standing += epochs.iter().filter(|&&epoch| epoch >= before).count() as u64;
            return Ok(());
        };
        let diffs = integers(batch, &self.table, "diff")?.values();
        for (idx, hash) in hashes(batch, &self.table)?.into_iter().enumerate() {
            if epochs[idx] > before {
                continue;
            }
            self.n_rows += 1;
            let count = counts.entry(hash).or_default();
            *count += diffs[idx];
            if *count == 0 {
                counts.remove(&hash);
            }
        }
        Ok(())
    }

    /// The rows that stay of some. Each that stands is given once, so all have to be counted before.
    fn fold(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Error> {
        let failed = |e| Error::row(&self.table, e);
        let before = self.before as i64;
        let mut epochs = integers(batch, &self.table, "epoch")?.values().to_vec();
        let kept: UInt32Array;
        let mut columns;
        match &mut self.counts {
            None => {
                kept = (0..batch.num_rows() as u32).filter(|&idx| epochs[idx as usize] >= before).collect();
                columns = Vec::new();
            }
            Some(counts) => {
                let mut diffs = integers(batch, &self.table, "diff")?.values().to_vec();
                let mut rows = Vec::new();
                for (idx, hash) in hashes(batch, &self.table)?.into_iter().enumerate() {
                    if epochs[idx] <= before {
                        let Some(count) = counts.remove(&hash) else { continue };
                        (epochs[idx], diffs[idx]) = (before, count);
                    }
                    rows.push(idx as u32);
                }
                kept = rows.into();
                columns = vec![("epoch", epochs), ("diff", diffs)];
            }
        }
        let mut changed = batch.columns().to_vec();
        for (name, values) in columns.drain(..) {
            let at = batch.schema_ref().index_of(name).map_err(failed)?;
            changed[at] = Arc::new(Int64Array::from(values)) as ArrayRef;
        }
        let changed = RecordBatch::try_new(batch.schema(), changed).map_err(failed)?;
        take_record_batch(&changed, &kept).map_err(failed)
    }
}

/// The hash of each row's own columns.
fn hashes(batch: &RecordBatch, table: &str) -> Result<Vec<u128>, Error> {
    let failed = |e| Error::row(table, e);
    let schema = batch.schema_ref();
    let own =
        || schema.fields().iter().zip(batch.columns()).filter(|(f, _)| !["epoch", "diff"].contains(&f.name().as_str()));
    let fields = own().map(|(field, _)| SortField::new(field.data_type().clone())).collect();
    let columns: Vec<ArrayRef> = own().map(|(_, column)| Arc::clone(column)).collect();
    let rows = RowConverter::new(fields).and_then(|converter| converter.convert_columns(&columns)).map_err(failed)?;
    Ok(rows.iter().map(|row| xxh3_128(row.data())).collect())
}
