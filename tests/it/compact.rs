//! Compaction by command: the same states in fewer files, and no states before the bound of a fold.

use std::path::Path;

use hypercane::connect::lake::{self, Lake};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{
    command::hypercane,
    lakes::{advisory, asked, landfall, no_advisory, write},
};

fn compact(lake: &str, more: &[&str]) -> Value {
    let output = hypercane(&[&["compact", "--lake", lake, "--json"], more].concat(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What stands at an epoch, as the command exports it: the names of the files and their bytes.
fn exported(lake: &str, epoch: u64) -> Vec<(String, Vec<u8>)> {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let output = hypercane(&["export", "--lake", lake, "--out", folder, "--as-of", &epoch.to_string()], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = std::fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = files
        .map(|file| (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn n_files(report: &Value, when: &str) -> u64 {
    report[when].as_array().unwrap().iter().map(|table| table["n_files"].as_u64().unwrap()).sum()
}

#[test]
fn a_lake_is_compacted_folded_and_goes_on() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().to_str().unwrap();
    let epochs = vec![
        vec![advisory(1, 5), asked("q")],
        vec![advisory(2, 9)],
        vec![advisory(3, 1), landfall()],
        vec![no_advisory(3)],
    ];
    write(&runtime, Path::new(lake), epochs);
    let before: Vec<_> = (1..=4).map(|epoch| exported(lake, epoch)).collect();

    let looked = compact(lake, &["--dry-run"]);
    assert_eq!(n_files(&looked, "before"), n_files(&looked, "after"));
    let done = compact(lake, &["--retention", "0"]);
    assert_eq!(done["merged"], looked["merged"]);
    assert!(n_files(&done, "after") * 2 < n_files(&done, "before"), "{done}");
    assert!(done["vacuumed"]["n_files"].as_u64() > Some(0), "{done}");
    assert_eq!((1..=4).map(|epoch| exported(lake, epoch)).collect::<Vec<_>>(), before);

    let folded = compact(lake, &["--fold-before", "3"]);
    assert_eq!(folded["folded_before"], 3);
    assert_eq!((3..=4).map(|epoch| exported(lake, epoch)).collect::<Vec<_>>(), before[2..]);
    let output = hypercane(&["export", "--lake", lake, "--out", "/nonexistent", "--as-of", "2"], &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("history before epoch 3 was folded") && !output.status.success(), "{said}");

    // It is still what a rebuild of its input gives, and a pipeline goes on with it.
    assert!(hypercane(&["verify", "--lake", lake], &[]).status.success());
    write(&runtime, Path::new(lake), vec![vec![advisory(3, 1)]]);
    assert!(hypercane(&["verify", "--lake", lake], &[]).status.success());
}

#[test]
fn a_lake_that_a_pipeline_writes_to_is_left_to_it() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().to_str().unwrap();
    write(&runtime, folder.path(), vec![vec![advisory(1, 5)]]);
    let held = runtime.block_on(Lake::open(lake, "tests", lake::Options::default())).unwrap();
    let output = hypercane(&["compact", "--lake", lake], &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("compacts its lake by itself") && said.contains("is in use by another process"), "{said}");
    drop(held);
    assert!(hypercane(&["compact", "--lake", lake], &[]).status.success());

    let output = hypercane(&["compact", "--lake", &format!("{lake}/nothing")], &[]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no lake has been written there"));
}
