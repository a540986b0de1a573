//! A small folder made for the test, and the real data where they are at hand.

use std::path::PathBuf;

use hypercane_operators::domain::Domain;

use crate::connect::packs;

use super::{Report, check};

fn cyclone() -> Domain {
    packs::load("cyclone").unwrap()
}

/// The folder of shared data: `HYPERCANE_SHARED`, or `shared` beside the repository.
fn shared() -> PathBuf {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("HYPERCANE_SHARED").map_or(beside, PathBuf::from)
}

#[test]
fn all_tables_agree_with_the_texts() {
    let dir = shared().join("data/cyclone");
    if !dir.is_dir() {
        println!("skipped: {} is not there", dir.display());
        return;
    }
    let report = check(&dir, &cyclone()).unwrap();
    println!("{report}");
    let wrong: Vec<String> = report
        .fields
        .iter()
        .flat_map(|field| field.wrong.iter().map(|wrong| format!("{}: {}", field.name, wrong.file)))
        .collect();
    // Harvey's first public advisory and its forecast/advisory contradict each other; nothing else may.
    assert_eq!(wrong, ["TCP centre: nhc/al092017_harvey/tcp_001.txt"]);
    assert!(report.fields.iter().map(|field| field.total).sum::<usize>() > 20_000);
    for folder in report.folders {
        assert_eq!(folder.texts, folder.parsed + folder.rejected.len(), "{}", folder.name);
    }
}

#[test]
fn a_report_shows_what_is_wrong() {
    let mut report = Report::default();
    report.compare("centre", None);
    let wrong =
        super::Wrong { file: "a.txt".into(), line: 3, expected: "latitude 1".into(), found: "latitude 2".into() };
    report.compare("centre", Some(wrong));
    let shown = report.to_string();
    assert!(shown.contains("1/2"), "{shown}");
    assert!(shown.contains("a.txt:3: the table has latitude 1, the text gave latitude 2"));
    assert!(!report.all_right());
}

#[test]
fn an_empty_folder_is_an_error() {
    let dir = std::env::temp_dir().join("hypercane_check_extraction_empty");
    std::fs::create_dir_all(&dir).unwrap();
    assert!(check(&dir, &cyclone()).is_err());
}
