//! What a process leaves behind that dies half-way through a write, and what must stay.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::Path,
    time::{Duration, SystemTime},
};

use deltalake_core::{
    kernel::{Action, Remove},
    protocol::DeltaOperation,
};
use hypercane_schemas::Degree;

use super::{PIPELINE, batch, folder, open, samples, write_tables};
use crate::connect::lake::{Lake, Options, file, table::Table};

const DAY: Duration = Duration::from_hours(24);

/// All files of the lake, by their path in it.
fn files(location: &str) -> BTreeSet<String> {
    fn walk(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(Path::new(location), &mut found);
    found.iter().map(|path| path.strip_prefix(location).unwrap().to_str().unwrap().to_owned()).collect()
}

/// Puts a file there that was written so long ago.
fn put(location: &str, name: &str, age: Duration) -> String {
    let path = Path::new(location).join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
    name.to_owned()
}

/// A data file of a write that never came to its log entry.
async fn orphan(location: &str, table: &str, age: Duration) -> String {
    let rows = batch(9, &[(samples::degrees()[0].clone(), 1)]).tables.remove("degrees").unwrap();
    let laid_out = file::lay_out(&rows[0].schema(), &rows).unwrap().remove(0);
    put(location, &format!("{table}/{}", laid_out.add.path), age)
}

async fn filled(location: &str) -> Lake {
    let lake = open(location).await;
    lake.append_model_outputs(&samples::model_outputs()).await.unwrap();
    for epoch in 1..=3 {
        lake.commit(batch(epoch, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    }
    lake
}

#[tokio::test]
async fn what_a_crash_leaves_goes_and_all_else_stays() {
    let (_dir, location) = folder();
    let lake = filled(&location).await;
    // Rows that were never committed are removed by a log entry; their file is then mentioned as removed, and stays.
    write_tables(&lake, &batch(4, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    drop(lake);
    for other in [
        "README",
        "degrees/README",
        "degrees/part-00000-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed-c000.snappy.parquet",
        "theirs/part-00112233445566778899aabbccddeeff.parquet",
        "theirs/note#1",
        "degrees/note#1",
    ] {
        put(&location, other, Duration::ZERO);
    }
    let mut wanted = files(&location);
    wanted.insert("degrees/_delta_log/00000000000000000005.json".into());

    let mut left = Vec::new();
    for table in ["degrees", "commits", "model_outputs"] {
        left.push(orphan(&location, table, Duration::ZERO).await);
        left.push(put(&location, &format!("{}#1", orphan(&location, table, DAY).await), Duration::ZERO));
        left.push(put(&location, &format!("{table}/_delta_log/00000000000000000007.json#12"), DAY * 30));
        left.push(put(&location, &format!("{table}/_delta_log/00000000000000000003.checkpoint.parquet#1"), DAY));
    }
    left.push(put(&location, "documents/_delta_log/00000000000000000000.json#1", Duration::ZERO));
    assert!(left.iter().all(|file| Path::new(&location).join(file).exists()));

    let lake = open(&location).await;
    assert_eq!(lake.recover().await.unwrap().unwrap().epoch, 3);
    assert_eq!(files(&location), wanted);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(samples::degrees()[0].clone(), 3)]);
    // A second start finds nothing to do, also by way of a checkpoint.
    let table = Table::open(&lake.storage, "degrees", Some(PIPELINE)).await.unwrap().unwrap();
    table.due_checkpoint(1).unwrap().write(Options::default().retention).await.unwrap();
    let wanted = files(&location);
    lake.recover().await.unwrap();
    assert_eq!(files(&location), wanted);
}

#[tokio::test]
async fn what_may_be_a_removed_file_that_checkpoints_forgot_is_left_to_a_vacuum() {
    let (_dir, location) = folder();
    let lake = filled(&location).await;
    let mut table = Table::open(&lake.storage, "degrees", Some(PIPELINE)).await.unwrap().unwrap();
    // A compaction of ten days ago replaced the file of version 1.
    let first = table.entry(1).await.unwrap().actions.into_iter().find_map(|action| match action {
        Action::Add(add) => Some(add),
        _ => None,
    });
    let first = first.unwrap();
    let long_ago = SystemTime::now() - 10 * DAY;
    File::options()
        .write(true)
        .open(Path::new(&location).join("degrees").join(&first.path))
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    let at = long_ago.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64;
    let remove =
        Remove { path: first.path.clone(), deletion_timestamp: Some(at), size: Some(first.size), ..Remove::default() };
    table.log(vec![Action::Remove(remove)], DeltaOperation::Delete { predicate: None }, None).await.unwrap();
    table.due_checkpoint(1).unwrap().write(Options::default().retention).await.unwrap();
    let young = orphan(&location, "degrees", 6 * DAY).await;
    let old = orphan(&location, "degrees", 8 * DAY).await;

    lake.recover().await.unwrap();
    let found = files(&location);
    assert!(found.contains(&format!("degrees/{}", first.path)) && found.contains(&old) && !found.contains(&young));
}

#[tokio::test]
async fn without_a_lock_a_write_of_another_process_may_be_under_way() {
    let (_dir, location) = folder();
    let mut lake = filled(&location).await;
    // As on an object store.
    lake._lock = None;
    let young = orphan(&location, "degrees", DAY / 2).await;
    let old = orphan(&location, "degrees", DAY * 2).await;
    lake.recover().await.unwrap();
    let found = files(&location);
    assert!(found.contains(&young) && !found.contains(&old));
}
