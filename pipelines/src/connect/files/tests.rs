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
    assert!(lines[0].starts_with("1.txt! the file is not UTF-8 (byte 0xE9 at position 3, in line 1)"), "{lines:?}");
    assert!(lines[1].starts_with("2.txt! the file is empty"), "{lines:?}");
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
fn a_corpus_with_ids_of_its_own_is_read_under_them() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "c.jsonl",
        "{\"id\": \"p1\", \"title\": \"T\", \"text\": \"one\"}\n{\"id\": 2, \"text\": \"two\"}\n",
    );
    assert_eq!(read(dir.path()), ["c.jsonl#id=p1 = one", "c.jsonl#id=2 = two", "caught up"]);
}

#[test]
fn the_kind_of_a_file_is_that_of_its_ending_else_that_of_its_content() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "1.md", "# Tides\n\nThey *rise*.\n");
    write(dir.path(), "2.html", "<title>Locks</title><p>They <i>close</i>.</p>");
    write(dir.path(), "3", "<!doctype html><p>A page.");
    write(dir.path(), "4", "{\"key\": \"k\", \"text\": \"a line\"}\n");
    write(dir.path(), "5", "<html> is how a page starts");
    write(dir.path(), "6.txt", "<html> this is a text");
    write(dir.path(), "7.pdf", "%PDF-1.7");
    let lines = read(dir.path());
    let expected =
        ["1.md = Tides\n\nThey rise.", "2.html = They close.", "3 = A page.", "k = a line", "5 = is how a page starts"];
    assert_eq!(lines[..5], expected);
    assert_eq!(lines[5..], ["6.txt = <html> this is a text", "caught up"]);
    let titles: Vec<Option<String>> = documents(Selection::parse(dir.path().to_str().unwrap()).unwrap())
        .unwrap()
        .0
        .into_iter()
        .map(|document| document.title)
        .collect();
    assert_eq!(titles[..3], [Some("Tides".to_owned()), Some("Locks".to_owned()), None]);
}

#[test]
fn what_is_no_utf_8_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "1.md", b"# A\n\ncaf\xe9 x");
    write(dir.path(), "2.html", b"\xff\xfe<\0p\0");
    write(dir.path(), "3.txt", b"caf\xc3");
    write(dir.path(), "4.jsonl", b"{\"text\": \"good\"}\n{\"text\": \"caf\xe9\"}\n");
    let lines = read(dir.path());
    assert!(lines[0].contains("(byte 0xE9 at position 8, in line 3): save it in UTF-8"), "{lines:?}");
    assert!(lines[1].contains("position 0, in line 1); it looks like UTF-16"), "{lines:?}");
    assert!(lines[2].contains("position 3, in line 1); its last letter is cut"), "{lines:?}");
    assert_eq!(lines[3], "4.jsonl#line=1 = good");
    assert!(lines[4].starts_with("4.jsonl#line=2! the payload is not UTF-8"), "{lines:?}");
}

#[test]
fn a_file_that_holds_nothing_takes_out_what_stood_under_its_name() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "1.txt", "");
    write(dir.path(), "2.md", "---\ntitle: T\n---\n \n");
    write(dir.path(), "3.html", "<script>x()</script>");
    write(dir.path(), "4.jsonl", "\n \n");
    let settings = Settings { known_keys: vec!["2.md".into()], ..settings(dir.path()) };
    let lines: Vec<_> = open(settings, Limits::default()).unwrap().iter().map(|event| line(&event)).collect();
    assert!(lines[0].starts_with("1.txt! the file is empty: there is no document in it"), "{lines:?}");
    assert_eq!(lines[1], "2.md gone");
    assert!(lines[2].starts_with("2.md! the file has no text in its 19 bytes"), "{lines:?}");
    assert!(lines[3].starts_with("3.html! the file has no text"), "{lines:?}");
    assert_eq!(lines[4..], ["caught up"]);
}

#[test]
fn a_file_is_read_when_nobody_writes_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("slow.txt");
    let parts = ["half of a sentence", ", and the other", " half."];
    let writer = std::thread::spawn(move || {
        let mut file = fs::File::create(path).unwrap();
        for part in parts {
            std::io::Write::write_all(&mut file, part.as_bytes()).unwrap();
            std::thread::sleep(QUIET / 2);
        }
    });
    std::thread::sleep(QUIET / 8);
    assert_eq!(read(dir.path()), [format!("slow.txt = {}", parts.concat()), "caught up".into()]);
    writer.join().unwrap();
}

#[test]
fn stamps_of_a_clock_that_goes_ahead_are_waited_for_as_well() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.txt", "a");
    let file = fs::File::options().write(true).open(dir.path().join("a.txt")).unwrap();
    file.set_modified(std::time::SystemTime::now() + Duration::from_secs(3600)).unwrap();
    let began = Instant::now();
    assert_eq!(read(dir.path()), ["a.txt = a", "caught up"]);
    assert!(began.elapsed() >= QUIET);
}

#[test]
fn of_a_log_that_never_rests_the_whole_lines_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let is_done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stop = Arc::clone(&is_done);
    fs::write(&path, "").unwrap();
    let writer = std::thread::spawn(move || {
        let mut file = fs::File::options().append(true).open(path).unwrap();
        for number in 0.. {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
            for part in [format!("{{\"key\": \"k{number}\", "), "\"text\": \"line\"}\n".to_owned()] {
                std::io::Write::write_all(&mut file, part.as_bytes()).unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    });
    let lines = read(dir.path());
    is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
    let (last, others) = lines.split_last().unwrap();
    let (told, whole) = others.split_last().unwrap();
    assert!(whole.len() > 50 && whole.iter().all(|line| line.ends_with(" = line")), "{lines:?}");
    assert!(last == "caught up" && told.starts_with("log.jsonl! the file is still being written"), "{lines:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_not_taken_for_gone() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.txt", "a");
    // Reading a folder's link to itself fails for any user.
    std::os::unix::fs::symlink("/proc/self/mem", dir.path().join("b.txt")).unwrap();
    let known_keys = ["a.txt", "b.txt", "c.txt", "b.txt#x"].map(String::from).into();
    let lines: Vec<_> = open(Settings { known_keys, ..settings(dir.path()) }, Limits::default())
        .unwrap()
        .iter()
        .map(|event| line(&event))
        .collect();
    assert!(lines[1].starts_with("b.txt! the file can't be read"), "{lines:?}");
    assert_eq!(lines[2..], ["c.txt gone", "caught up"]);
}

#[test]
fn moving_the_whole_folder_changes_no_key() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "here/in/a.md", "# A");
    write(dir.path(), "here/in/b/c.txt", "c");
    let before = read(&dir.path().join("here/in"));
    fs::rename(dir.path().join("here"), dir.path().join("there")).unwrap();
    assert_eq!(read(&dir.path().join("there/in")), before);
    assert_eq!(before, ["a.md = A", "b/c.txt = c", "caught up"]);
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
    fs::rename(root.join("a.txt"), root.join("new/a.md")).unwrap();
    assert_eq!(next(2), ["new/a.md = one, corrected", "a.txt gone"]);
    fs::remove_file(root.join("new/a.md")).unwrap();
    assert_eq!(next(1), ["new/a.md gone"]);
    write(root, "log.jsonl", "{\"key\": \"k2\", \"text\": \"2\"}\n{\"key\": \"k3\", \"text\": \"3\"}\n");
    assert_eq!(next(2), ["k3 = 3", "k1 gone"]);
    write(root, "new/b.txt", b"\xff");
    assert!(next(1)[0].starts_with("new/b.txt! the file is not UTF-8"));
    write(root, "log.jsonl", "");
    assert_eq!(next(2), ["k2 gone", "k3 gone"]);
    fs::remove_dir_all(root.join("new")).unwrap();
    assert_eq!(next(1), ["new/b.txt gone"]);
    assert!(matches!(feed.next_within(Duration::from_millis(300)), Next::Nothing));
}
