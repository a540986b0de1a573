//! Lakes that can't be opened, written or read, and what the errors say.

use std::{fs, path::Path};

use hypercane_schemas::{Degree, Document};

use super::{PIPELINE, bare, batch, folder, open, samples};
use crate::connect::lake::{Error, Lake, Options};

async fn refused(location: &str, pipeline: &str) -> Error {
    match Lake::open(location, pipeline, Options::default()).await {
        Err(error) => error,
        Ok(_) => panic!("{location} was opened"),
    }
}

fn check(error: &Error, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[tokio::test]
async fn a_location_that_can_not_be_written_is_named() {
    let (dir, location) = folder();
    fs::write(dir.path().join("file"), "").unwrap();
    let under_a_file = dir.path().join("file/lake");
    check(&refused(under_a_file.to_str().unwrap(), PIPELINE).await, &["file/lake", "choose another folder"]);
    check(&refused("", PIPELINE).await, &["empty", "give a folder"]);
    check(&refused("nonsense://x/y", PIPELINE).await, &["nonsense://x/y"]);
    let error = match Lake::view(&location, Options::default()).await {
        Err(error) => error,
        Ok(_) => panic!("an empty lake was opened for reading"),
    };
    check(&error, &["my lake", "no lake has been written there"]);
    assert!(!Path::new(&location).exists());
}

#[tokio::test]
async fn a_lake_has_one_writer_and_one_owner() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    lake.commit(batch(1, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    let process = format!("process {}", std::process::id());
    check(&refused(&location, PIPELINE).await, &["my lake", "in use", &process, PIPELINE]);
    drop(lake);
    check(&refused(&location, "another").await, &["my lake/commits", "`test`", "`another`"]);

    // The note of a process that is gone does not keep the next one out.
    fs::write(Path::new(&location).join(".hypercane.lock"), "process 1 of pipeline test, since long ago").unwrap();
    open(&location).await;
}

#[tokio::test]
async fn a_table_of_someone_else_is_left_alone_unless_its_name_is_needed() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let row = samples::degrees()[0].clone();
    lake.commit(batch(1, &[(row.clone(), 1)])).await.unwrap();
    let (_dir, other_location) = folder();
    let other = Lake::open(&other_location, "another", Options::default()).await.unwrap();
    other.commit(batch(1, &[(samples::documents()[0].clone(), 1)])).await.unwrap();
    let theirs = Path::new(&other_location).join("documents");
    fs::rename(theirs, Path::new(&location).join("documents")).unwrap();

    assert_eq!(lake.recover().await.unwrap().unwrap().epoch, 1);
    lake.commit(batch(2, &[(row.clone(), 1)])).await.unwrap();
    let error = lake.commit(batch(3, &[(samples::documents()[0].clone(), 1)])).await.unwrap_err();
    check(&error, &["my lake/documents", "`another`"]);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row, 2)]);
}

#[tokio::test]
async fn a_second_writer_without_the_lock_is_noticed() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let row = samples::degrees()[0].clone();
    lake.commit(batch(1, &[(row.clone(), 1)])).await.unwrap();
    fs::remove_file(Path::new(&location).join(".hypercane.lock")).unwrap();
    let intruder = open(&location).await;
    intruder.commit(batch(2, &[(row.clone(), 1)])).await.unwrap();
    let error = lake.commit(batch(2, &[(row.clone(), 1)])).await.unwrap_err();
    check(&error, &["degrees", "another process"]);
    assert!(!error.is_transient());
    assert_eq!(intruder.read::<Degree>(None).await.unwrap(), [(row, 2)]);
}

#[tokio::test]
async fn a_commit_that_failed_can_be_made_again() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let (row, document) = (samples::degrees()[0].clone(), samples::documents()[0].clone());
    let both = |epoch| {
        let mut both = batch(epoch, &[(row.clone(), 1)]);
        both.add(&[(document.clone(), epoch, 1)]).unwrap();
        both
    };
    lake.commit(both(1)).await.unwrap();
    let table = Path::new(&location).join("documents");
    let aside = Path::new(&location).join("aside");
    fs::rename(&table, &aside).unwrap();
    fs::write(&table, "in the way").unwrap();
    let error = lake.commit(both(2)).await.unwrap_err();
    check(&error, &["my lake/documents"]);
    assert!(error.is_transient());
    fs::remove_file(&table).unwrap();
    fs::rename(&aside, &table).unwrap();
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row.clone(), 1)]);
    lake.commit(both(2)).await.unwrap();
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row.clone(), 2)]);
    assert_eq!(lake.read::<Document>(None).await.unwrap(), [(document, 2)]);
}

fn files(location: &str, folder: &str, ending: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(Path::new(location).join(folder)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file() && file.to_str().unwrap().ends_with(ending));
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[tokio::test]
async fn a_damaged_file_is_named() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    for epoch in 1..=3 {
        lake.commit(batch(epoch, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    }
    for (bytes, words) in [(&b"PAR1 no parquet"[..], "damaged"), (b"", "damaged")] {
        let file = &files(&location, "degrees", ".parquet")[1];
        let kept = fs::read(file).unwrap();
        fs::write(file, bytes).unwrap();
        check(&lake.read::<Degree>(None).await.unwrap_err(), &["my lake/degrees", name(file), words]);
        fs::remove_file(file).unwrap();
        check(&lake.read::<Degree>(None).await.unwrap_err(), &[name(file), "missing"]);
        fs::write(file, kept).unwrap();
    }
    let rows = bare::<Degree>(&lake).await;
    for (table, version) in [("degrees", 2), ("commits", 3), ("degrees", 0)] {
        let file = &files(&location, &format!("{table}/_delta_log"), ".json")[version];
        let kept = fs::read(file).unwrap();
        fs::write(file, &kept[..kept.len() / 2]).unwrap();
        check(&lake.recover().await.unwrap_err(), &[table, name(file)]);
        fs::write(file, kept).unwrap();
    }
    let file = &files(&location, "degrees/_delta_log", ".json")[1];
    let kept = fs::read(file).unwrap();
    fs::remove_file(file).unwrap();
    check(&lake.read::<Degree>(None).await.unwrap_err(), &["degrees", "version 1 before it is missing"]);
    fs::write(file, kept).unwrap();

    let file = Path::new(&location).join("degrees/_delta_log/00000000000000000002.checkpoint.parquet");
    fs::write(&file, "PAR1").unwrap();
    check(&lake.read::<Degree>(None).await.unwrap_err(), &["degrees", name(&file)]);
    fs::remove_file(file).unwrap();
    assert_eq!(bare::<Degree>(&lake).await, rows);

    fs::rename(Path::new(&location).join("degrees"), Path::new(&location).join("elsewhere")).unwrap();
    check(&lake.recover().await.unwrap_err(), &["my lake/degrees", "the table is missing"]);
}

#[tokio::test]
async fn a_start_waits_for_the_members_of_an_earlier_cluster() {
    let (_dir, location) = folder();
    let former = open(&location).await;
    let member = Lake::join(&location, PIPELINE, Options::default()).unwrap();
    let membership = member.enter().await.unwrap();
    drop(former);
    let (started, ended) = (
        tokio::spawn({
            let location = location.clone();
            async move { open(&location).await }
        }),
        std::time::Duration::from_millis(200),
    );
    tokio::time::sleep(ended).await;
    assert!(!started.is_finished());
    drop(membership);
    started.await.unwrap();
}
