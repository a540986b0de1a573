//! Compaction: what is read stays the same, for readers of all epochs, beside commits, and wherever a process dies.

use std::{path::Path, process::Command, time::Duration};

use hypercane_schemas::{Degree, Epoch, ModelOutput, Record};

use super::{Files, PIPELINE, bare, batch, folder, open, samples, write_tables};
use crate::connect::lake::{CommitPoint, Lake, Options, compact::When, fault};

const LAKE_VARIABLE: &str = "HYPERCANE_TEST_LAKE";
const FAULT_VARIABLE: &str = "HYPERCANE_TEST_FAULT";

fn row() -> Degree {
    samples::degrees()[0].clone()
}

async fn commits(lake: &Lake, epochs: impl IntoIterator<Item = Epoch>) {
    for epoch in epochs {
        lake.commit(batch(epoch, &[(row(), 1)])).await.unwrap();
    }
}

async fn n_files(lake: &Lake, table: &str) -> usize {
    Files::of(&lake.storage, table).await.unwrap().unwrap().all().len()
}

/// Each epoch has added the row once.
async fn check(lake: &Lake, last: Epoch) {
    for epoch in 1..=last {
        assert_eq!(lake.read::<Degree>(Some(epoch)).await.unwrap(), [(row(), epoch as isize)]);
    }
    assert_eq!(bare::<Degree>(lake).await, (1..=last).map(|epoch| ((row(), epoch), 1)).collect());
}

#[tokio::test]
async fn files_become_few_and_every_epoch_reads_the_same() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=9).await;
    let outputs = samples::model_outputs();
    for output in &outputs {
        lake.append_model_outputs(std::slice::from_ref(output)).await.unwrap();
    }
    let looked = Lake::view(&location, Options::default()).await.unwrap().compact(true).await.unwrap();
    assert_eq!(looked, [("commits".into(), 8), ("degrees".into(), 9), (ModelOutput::TABLE.into(), 2)]);
    assert_eq!(n_files(&lake, "degrees").await, 9);

    assert_eq!(lake.compact(false).await.unwrap(), looked);
    assert_eq!(n_files(&lake, "degrees").await, 1);
    // The newest commit keeps its own file, which a start reads.
    assert_eq!(n_files(&lake, "commits").await, 2);
    check(&lake, 9).await;
    assert_eq!(lake.compact(false).await.unwrap(), []);
    let found = lake.read_model_outputs(&outputs[0].model, outputs[0].template).await.unwrap();
    assert_eq!(found.len(), 2);
    let moment = jiff::Timestamp::now();
    assert_eq!(lake.epoch_at(moment).await.unwrap(), Some(9));

    // Commits go on behind it, and name the version with fewer files.
    commits(&lake, 10..=12).await;
    let point = lake.commit_point().await.unwrap().unwrap();
    assert_eq!(point.versions["degrees"], 13);
    assert_eq!(lake.epoch_at(moment).await.unwrap(), Some(9));
    check(&lake, 12).await;
    lake.close().await;
    let lake = open(&location).await;
    assert_eq!(lake.recover().await.unwrap(), Some(point));
    check(&lake, 12).await;
}

#[tokio::test]
async fn uncommitted_rows_behind_a_compaction_are_taken_out() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=4).await;
    lake.compact(false).await.unwrap();
    write_tables(&lake, &batch(5, &[(row(), 1)])).await.unwrap();
    drop(lake);
    let lake = open(&location).await;
    let point: CommitPoint = lake.recover().await.unwrap().unwrap();
    assert_eq!((point.epoch, point.versions["degrees"]), (4, 4));
    check(&lake, 4).await;
    commits(&lake, 5..=6).await;
    check(&lake, 6).await;
}

#[tokio::test]
async fn while_a_commit_has_failed_nothing_is_merged() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=4).await;
    // As a commit leaves it that failed in between.
    write_tables(&lake, &batch(5, &[(row(), 1)])).await.unwrap();
    lake.state.lock().await.clean = false;
    assert_eq!(lake.compact(false).await.unwrap(), []);
    commits(&lake, 5..=5).await;
    check(&lake, 5).await;
    assert_eq!(lake.compact(false).await.unwrap().len(), 2);
    check(&lake, 5).await;
}

#[tokio::test]
async fn a_swap_that_comes_too_late_is_not_made() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=4).await;
    let optimize = || deltalake_core::protocol::DeltaOperation::Optimize { predicate: None, target_size: 0 };
    let rewritten = async || {
        let files = lake.committed_files("degrees").await.unwrap().unwrap();
        let chosen: Vec<_> = files.all().collect();
        lake.rewrite("degrees", &files, &chosen, &mut Ok).await.unwrap()
    };
    let (first, second, third) = (rewritten().await, rewritten().await, rewritten().await);
    commits(&lake, 5..=5).await;
    assert!(lake.swap("degrees", first, false, optimize(), None).await.unwrap());
    assert!(!lake.swap("degrees", second, false, optimize(), None).await.unwrap());
    check(&lake, 5).await;
    // Also where the writer has not heard of the other program.
    lake.tables.lock().await.remove("degrees");
    lake.open_at("degrees", 4).await;
    assert!(!lake.swap("degrees", third, false, optimize(), None).await.unwrap());
    check(&lake, 5).await;
    commits(&lake, 6..=7).await;
    check(&lake, 7).await;
}

impl Lake {
    /// A handle that has missed all entries after a version.
    async fn open_at(&self, name: &str, version: u64) {
        let mut table = super::super::table::Table::open(&self.storage, name, Some(PIPELINE)).await.unwrap().unwrap();
        table.version = version;
        self.tables.lock().await.insert(name.into(), std::sync::Arc::new(tokio::sync::Mutex::new(table)));
    }
}

#[tokio::test]
async fn tables_are_compacted_beside_the_commits() {
    let (_dir, location) = folder();
    let options = Options { small_files: 5, ..Options::default() };
    let lake = Lake::open(&location, PIPELINE, options.clone()).await.unwrap();
    let mut most = 0;
    for epoch in 1..=60 {
        commits(&lake, [epoch]).await;
        // So slow that what was begun after a commit is done before the next.
        lake.maintenance.wait().await;
        most = most.max(n_files(&lake, "degrees").await).max(n_files(&lake, "commits").await);
    }
    assert!(most <= 7, "{most} files");
    check(&lake, 60).await;
    lake.close().await;
    // A start knows nothing of the files that are there, and looks.
    let lake = Lake::open(&location, PIPELINE, Options { small_files: 2, ..options }).await.unwrap();
    commits(&lake, [61]).await;
    lake.maintenance.wait().await;
    assert!(n_files(&lake, "degrees").await <= 2);
    check(&lake, 61).await;
}

#[tokio::test]
async fn few_files_are_merged_when_they_are_old() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=4).await;
    let due = |older_than| When::Due { more_than: 5, older_than };
    assert_eq!(lake.compact_table("degrees", due(Duration::from_secs(60))).await.unwrap().n_merged, 0);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(lake.compact_table("degrees", due(Duration::from_millis(1))).await.unwrap().n_merged, 4);
    check(&lake, 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_see_the_same_rows_all_the_while() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=3).await;
    let reader = {
        let location = location.clone();
        tokio::spawn(async move {
            let mut n_reads = 0;
            loop {
                let lake = Lake::view(&location, Options::default()).await.unwrap();
                let last = lake.commit_point().await.unwrap().unwrap().epoch;
                for epoch in [1, last / 2 + 1, last] {
                    assert_eq!(lake.read::<Degree>(Some(epoch)).await.unwrap(), [(row(), epoch as isize)]);
                }
                n_reads += 1;
                if last == 40 {
                    return n_reads;
                }
            }
        })
    };
    for epoch in 4..=40 {
        tokio::join!(commits(&lake, [epoch]), async { lake.compact(false).await.unwrap() });
        // No read takes that long.
        lake.vacuum(Duration::from_secs(20), false).await.unwrap();
    }
    assert!(reader.await.unwrap() > 1);
    check(&lake, 40).await;
}

#[tokio::test]
async fn a_vacuum_deletes_what_is_removed_and_old_and_keeps_what_is_live() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    commits(&lake, 1..=6).await;
    let orphan = Path::new(&location).join("degrees/part-left-by-a-crash.parquet");
    std::fs::write(&orphan, "half a file").unwrap();
    let other = Path::new(&location).join("degrees/README.md");
    std::fs::write(&other, "about this table").unwrap();
    lake.compact(false).await.unwrap();
    let stored = async || lake.sizes().await.unwrap().iter().map(|table| table.n_stored_files).collect::<Vec<_>>();
    assert_eq!(stored().await, [7, 9]);
    assert_eq!(lake.vacuum(Duration::from_secs(3600), false).await.unwrap().n_files, 0);
    tokio::time::sleep(Duration::from_millis(5)).await;
    // Five commits, six files of rows, the orphan.
    assert_eq!(lake.vacuum(Duration::ZERO, true).await.unwrap().n_files, 12);
    assert!(orphan.exists());
    let vacuumed = lake.vacuum(Duration::ZERO, false).await.unwrap();
    assert!(vacuumed.n_files == 12 && vacuumed.n_bytes > 0, "{vacuumed:?}");
    assert!(!orphan.exists() && other.exists());
    assert_eq!(stored().await, [2, 2]);
    assert_eq!(lake.vacuum(Duration::ZERO, false).await.unwrap().n_files, 0);
    check(&lake, 6).await;
    assert_eq!(lake.recover().await.unwrap().unwrap().epoch, 6);
    commits(&lake, 7..=8).await;
    check(&lake, 8).await;
}

/// The process that dies: it only does anything where the other test starts it.
#[tokio::test]
async fn the_process_that_dies() {
    let Ok(location) = std::env::var(LAKE_VARIABLE) else { return };
    if let Ok(spec) = std::env::var(FAULT_VARIABLE) {
        fault::arm(&spec).unwrap();
    }
    let lake = open(&location).await;
    let last = lake.recover().await.unwrap().map_or(0, |point| point.epoch);
    for epoch in last + 1..=last + 4 {
        commits(&lake, [epoch]).await;
        lake.compact(false).await.unwrap();
    }
    lake.fold(last + 2, false).await.unwrap();
    write_tables(&lake, &batch(last + 5, &[(row(), 1)])).await.unwrap();
}

#[tokio::test]
async fn nothing_is_lost_or_twice_wherever_a_rewrite_dies() {
    let run = |location: &str, fault: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "connect::lake::tests::compact::the_process_that_dies"]).env(LAKE_VARIABLE, location);
        if let Some(fault) = fault {
            command.env(FAULT_VARIABLE, fault);
        }
        command.output().unwrap().status.success()
    };
    for place in fault::REWRITE_PLACES {
        // Merges of the first commits, of later ones, the fold of one table and of the other.
        for count in [1, 2, 4, 6, 7] {
            let (_dir, location) = folder();
            let fault = format!("{place}:{count}");
            assert!(!run(&location, Some(&fault)), "{fault} did not end the process");
            assert!(run(&location, None), "after {fault}");
            let lake = open(&location).await;
            let last = lake.recover().await.unwrap().unwrap().epoch;
            assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row(), last as isize)], "after {fault}");
            assert_eq!(bare::<Degree>(&lake).await.into_values().sum::<isize>(), last as isize, "after {fault}");
        }
    }
}
