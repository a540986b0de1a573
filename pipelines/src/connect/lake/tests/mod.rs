//! Tests of the lake, on a temporary folder.

mod commit;
mod compact;
mod crash;
mod fold;
mod killed;
mod maintenance;
mod remote;
mod round_trip;
mod samples;
mod sweep;
mod trouble;
mod upkeep;

use std::collections::BTreeMap;

use hypercane_schemas::{Diff, Epoch, Record};
use tempfile::TempDir;

use super::{CommitBatch, Error, Lake, Options, decode, read::Files};

const PIPELINE: &str = "test";

fn folder() -> (TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    // A blank in the path: names must not be taken for URLs.
    let location = dir.path().join("my lake").to_str().unwrap().to_string();
    (dir, location)
}

async fn open(location: &str) -> Lake {
    Lake::open(location, PIPELINE, Options::default()).await.unwrap()
}

fn batch<R: Record>(epoch: Epoch, rows: &[(R, Diff)]) -> CommitBatch {
    let mut batch = CommitBatch { epoch, ..CommitBatch::default() };
    batch.offsets.insert(("documents".into(), 0), epoch as i64 * 10);
    let rows: Vec<(R, Epoch, Diff)> = rows.iter().map(|(record, diff)| (record.clone(), epoch, *diff)).collect();
    batch.add(&rows).unwrap();
    batch
}

/// A commit that ends before its commit point; gives the versions of the tables.
async fn write_tables(lake: &Lake, batch: &CommitBatch) -> Result<Vec<(String, u64)>, Error> {
    let part = lake.write_part(batch.clone()).await?;
    lake.log_tables(batch.epoch, part.tables).await
}

/// All rows that a reader of the bare table finds, whatever the commit point says.
async fn bare<R: Record>(lake: &Lake) -> BTreeMap<(R, Epoch), Diff> {
    let mut rows = BTreeMap::new();
    let Some(files) = Files::of(&lake.storage, R::TABLE).await.unwrap() else { return rows };
    for file in files.all() {
        let visit = &mut |batch| {
            for (record, epoch, diff) in decode::<R>(&batch)? {
                *rows.entry((record, epoch)).or_default() += diff;
            }
            Ok(())
        };
        files.read(file, visit).await.unwrap();
    }
    rows
}
