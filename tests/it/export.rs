//! Exports: equal states are equal bytes whatever led to them, now and at earlier points.

use std::{collections::BTreeMap, fs, path::Path};

use hypercane::{
    connect::lake::{self, Lake},
    export::{AsOf, Error, Format, TABLES, export},
};
use hypercane_schemas::{Document, Record as _};
use jiff::Timestamp;
use tokio::runtime::Runtime;

use crate::lakes::{advisory, asked, landfall, no_advisory, write};

/// Exports a lake and gives each file's bytes.
fn exported(runtime: &Runtime, lake: &Path, as_of: AsOf) -> BTreeMap<String, Vec<u8>> {
    let out = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let lake = Lake::view(&lake.to_string_lossy(), lake::Options::default()).await.unwrap();
        let epoch = as_of.epoch(&lake).await.unwrap();
        export(&lake, epoch, &[], Format::Jsonl, out.path(), |_, _| ()).await.unwrap();
    });
    let files = fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())).collect()
}

#[test]
fn equal_states_are_equal_bytes_whatever_led_to_them() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (long, short) = (folder.path().join("long"), folder.path().join("short"));
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));

    let epochs = write(&runtime, &long, vec![vec![advisory(1, 5), asked("q")], vec![advisory(2, 9), advisory(3, 1)]]);
    let between = Timestamp::now();
    // A pipeline that goes on where the lake ended.
    write(&runtime, &long, vec![vec![landfall()], vec![no_advisory(3)], vec![advisory(2, 7)]]);
    write(&runtime, &short, vec![vec![landfall(), asked("q"), advisory(2, 7), advisory(1, 5)]]);
    write(&runtime, &first, vec![vec![asked("q"), advisory(1, 5)]]);
    write(&runtime, &second, vec![vec![advisory(3, 1)], vec![advisory(2, 9), asked("q"), advisory(1, 5)]]);

    let now = exported(&runtime, &long, AsOf::Latest);
    assert_eq!(now.len(), TABLES.len());
    for (name, bytes) in &now {
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        assert!(lines.is_sorted(), "{name}");
        let may_be_empty = ["rejects.jsonl", "conflicts.jsonl", "synonyms.jsonl", "rankings.jsonl", "evidence.jsonl"]
            .contains(&name.as_str());
        assert!(may_be_empty || !bytes.is_empty(), "{name} is empty");
    }
    let same = |a: &BTreeMap<String, Vec<u8>>, b: &Path| {
        for (name, bytes) in exported(&runtime, b, AsOf::Latest) {
            let (a, b) = (String::from_utf8_lossy(&a[&name]), String::from_utf8_lossy(&bytes));
            assert_eq!(a, b, "{name} differs");
        }
    };
    same(&now, &short);
    same(&exported(&runtime, &long, AsOf::Epoch(epochs[0])), &first);
    same(&exported(&runtime, &long, AsOf::Epoch(epochs[1])), &second);
    same(&exported(&runtime, &long, AsOf::Time(between)), &second);

    let documents = now["documents.jsonl"].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let keys: Vec<String> = documents.map(|line| serde_json::from_slice::<Document>(line).unwrap().key.0).collect();
    assert_eq!(keys, ["tcm_001.txt", "tcm_002.txt"]);
}

#[test]
fn what_is_not_there_is_said() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(&runtime, folder.path(), vec![vec![advisory(1, 5)]]);
    let out = folder.path().join("out");
    runtime.block_on(async {
        let lake = Lake::view(&folder.path().to_string_lossy(), lake::Options::default()).await.unwrap();
        assert!(matches!(AsOf::Epoch(9).epoch(&lake).await, Err(Error::NotYet { asked: 9, last: 1 })));
        let early = "2020-01-01T00:00Z".parse().unwrap();
        assert!(matches!(AsOf::Time(early).epoch(&lake).await, Err(Error::Before(_))));
        let unknown = ["storms".to_owned()];
        let outcome = export(&lake, 1, &unknown, Format::Jsonl, &out, |_, _| ()).await;
        assert!(outcome.unwrap_err().to_string().contains("hyperedges"));
        let one = [Document::TABLE.to_owned()];
        let mut told = Vec::new();
        export(&lake, 1, &one, Format::Parquet, &out, |table, n| told.push((table.to_owned(), n))).await.unwrap();
        assert_eq!(told, [("documents".to_owned(), 1)]);
        assert!(out.join("documents.parquet").is_file());
    });
}
