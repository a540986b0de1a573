//! Files as records, read once and watched.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use super::*;
use crate::connect::{
    format::{Decoder, Input},
    transport::Next,
};

fn write(root: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Written aside and moved, so that a watched folder never shows half of it.
    let aside = root.join(".aside");
    fs::write(&aside, content).unwrap();
    fs::rename(aside, path).unwrap();
}

/// An event in one line: `key = text`, `key gone`, `key! reason`.
fn line(event: &Event) -> String {
    let decoded = match event {
        Event::Record(raw) => Decoder { max_bytes: 1000, ..Decoder::default() }.decode(raw),
        Event::Rejected(reject) | Event::Skipped(reject, _) => Err(reject.clone()),
        Event::CaughtUp => return "caught up".into(),
        Event::Failed(error) => return format!("failed: {error}"),
    };
    match decoded {
        Ok(Input::Document(key, Some(document))) => format!("{} = {}", key.0, document.text.trim()),
        Ok(Input::Document(key, None)) => format!("{} gone", key.0),
        Ok(Input::Query(id, query)) => format!("{} ? {}", id.0, query.is_some()),
        Ok(Input::Horizon(group, update)) => format!("{} @ {}", group.0, update.is_some()),
        Err(reject) => format!("{}! {}", reject.key, reject.reason),
    }
}

fn settings(root: &Path) -> Settings {
    Settings { max_bytes: 1000, ..Settings::once([root.to_str().unwrap()]).unwrap() }
}

fn read(root: &Path) -> Vec<String> {
    open(settings(root), Limits::default()).unwrap().iter().map(|event| line(&event)).collect()
}

#[test]
fn a_folder_is_read_in_the_order_of_its_paths() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "b/tcp_T-048h.txt", "BULLETIN b");
    write(dir.path(), "a.txt", "\u{feff}BULLETIN a\r\n");
    assert_eq!(read(dir.path()), ["a.txt = BULLETIN a", "b/tcp_T-048h.txt = BULLETIN b", "caught up"]);
    let feed = open(settings(dir.path()), Limits::default()).unwrap();
    let horizons: Vec<_> = feed
        .iter()
        .filter_map(|event| match event {
            Event::Record(raw) => Some(Decoder::default().decode(&raw)),
            _ => None,
        })
        .map(|input| match input {
            Ok(Input::Document(_, Some(document))) => document.horizon_hours,
            _ => None,
        })
        .collect();
    assert_eq!(horizons, [None, Some(48)]);
}

#[test]
fn bad_files_are_rejects_and_the_rest_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "1.txt", b"caf\xe9");
    write(dir.path(), "2.txt", "");
    write(dir.path(), "3.txt", "x".repeat(1001));
    write(dir.path(), "4.txt", "good");
    let lines = read(dir.path());
    assert!(lines[0].starts_with("1.txt! the payload is not UTF-8 (byte 0xE9 at position 3)"), "{lines:?}");
    assert!(lines[1].starts_with("2.txt! `text` holds no text"), "{lines:?}");
    assert!(lines[2].starts_with("3.txt! the payload has 1001 bytes"), "{lines:?}");
    assert_eq!(lines[3..], ["4.txt = good", "caught up"]);
}

#[test]
fn json_lines_name_topics_and_keys_or_are_bare_documents() {
    let dir = tempfile::tempdir().unwrap();
    let content = r#"{"key": "d1", "value": {"text": "one"}}
{"key": "d2", "text": "two"}

{"text": "three"}
{"topic": "queries", "key": "q1", "value": {"question": "Open?"}}
{"key": "d1", "value": null}
{"key": 5, "value": {}}
{"key": "d4", "value": {}, "valeu": 1}
{"cut
"#;
    write(dir.path(), "in.jsonl", content);
    let lines = read(dir.path());
    assert_eq!(lines[..5], ["d1 = one", "d2 = two", "in.jsonl#line=4 = three", "q1 ? true", "d1 gone"]);
    assert!(lines[5].starts_with("in.jsonl#line=7! `key` is 5"), "{lines:?}");
    assert!(lines[6].contains("`valeu` is unknown"), "{lines:?}");
    assert!(lines[7].starts_with("in.jsonl#line=9! the payload is not JSON"), "{lines:?}");
}

#[test]
fn tables_of_posts_give_a_document_a_row() {
    let dir = tempfile::tempdir().unwrap();
    let table = "time_utc,id,text,photos\n8/25/2017 3:05,7,\"Condition WHISKEY set,\nfor Galveston\",x\n\
        31/12/2017 3:05,8,late,\n8/25/2017 3:06,,nobody,\n8/25/2017 3:07,9\n";
    write(dir.path(), "ports/posts.csv", table);
    write(dir.path(), "ports/other.csv", "a,b\n1,2\n");
    let lines = read(dir.path());
    assert!(lines[0].starts_with("ports/other.csv! the table has no column `id`"), "{lines:?}");
    assert_eq!(lines[1], "ports/posts.csv#id=7 = Condition WHISKEY set,\nfor Galveston");
    assert!(lines[2].starts_with("ports/posts.csv#id=8! `time_utc` is \"31/12/2017 3:05\""), "{lines:?}");
    assert!(lines[3].starts_with("ports/posts.csv#line=5! the row has no `id`"), "{lines:?}");
    assert!(lines[4].starts_with("ports/posts.csv#id=9! the row ends before column `text`"), "{lines:?}");
    let feed = open(settings(dir.path()), Limits::default()).unwrap();
    let first = feed.iter().find_map(|event| match event {
        Event::Record(raw) => Decoder::default().decode(&raw).ok(),
        _ => None,
    });
    let Some(Input::Document(_, Some(document))) = first else { panic!("no document") };
    assert_eq!(document.source_kind.as_deref(), Some("port_post"));
    assert_eq!(document.issued_at.map(|at| at.to_string()).as_deref(), Some("2017-08-25T03:05:00Z"));
}

#[test]
fn documents_of_an_earlier_run_that_are_gone_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.txt", "a");
    let settings = Settings { known_keys: vec!["a.txt".into(), "b.txt".into()], ..settings(dir.path()) };
    let lines: Vec<_> = open(settings, Limits::default()).unwrap().iter().map(|event| line(&event)).collect();
    assert_eq!(lines, ["a.txt = a", "b.txt gone", "caught up"]);
}

#[test]
fn two_files_never_become_one_document() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "x/a.txt", "1");
    write(dir.path(), "y/a.txt", "2");
    let root = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let settings = Settings::once([root("x"), root("y")]).unwrap();
    let lines: Vec<_> = open(settings, Limits::default()).unwrap().iter().map(|event| line(&event)).collect();
    assert!(lines[0].starts_with("failed:") && lines[0].contains("a.txt"), "{lines:?}");
}

#[test]
fn a_watched_folder_sends_what_changes() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(root, "a.txt", "one");
    write(root, "log.jsonl", "{\"key\": \"k1\", \"text\": \"1\"}\n{\"key\": \"k2\", \"text\": \"2\"}\n");
    let feed = open(Settings { watch: true, ..settings(root) }, Limits::default()).unwrap();
    let next = |n: usize| {
        let until = Instant::now() + Duration::from_secs(20);
        let mut lines = Vec::new();
        while lines.len() < n && Instant::now() < until {
            if let Next::Event(event) = feed.next_within(Duration::from_millis(100)) {
                lines.push(line(&event));
            }
        }
        lines
    };
    assert_eq!(next(4), ["a.txt = one", "k1 = 1", "k2 = 2", "caught up"]);
    write(root, "a.txt", "one, corrected");
    assert_eq!(next(1), ["a.txt = one, corrected"]);
    write(root, "new/b.txt", "two");
    assert_eq!(next(1), ["new/b.txt = two"]);
    fs::remove_file(root.join("a.txt")).unwrap();
    assert_eq!(next(1), ["a.txt gone"]);
    write(root, "log.jsonl", "{\"key\": \"k2\", \"text\": \"2\"}\n{\"key\": \"k3\", \"text\": \"3\"}\n");
    assert_eq!(next(2), ["k3 = 3", "k1 gone"]);
    write(root, "new/b.txt", b"\xff");
    assert!(next(1)[0].starts_with("new/b.txt! the payload is not UTF-8"));
    fs::remove_dir_all(root.join("new")).unwrap();
    assert_eq!(next(1), ["new/b.txt gone"]);
    assert!(matches!(feed.next_within(Duration::from_millis(300)), Next::Nothing));
}
