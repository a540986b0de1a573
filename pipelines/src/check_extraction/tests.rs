//! A small folder made for the test, and the real data where they are at hand.

use std::path::PathBuf;

use hypercane_operators::domain::Domain;

use super::{Report, check};

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
    let report = check(&dir, &Domain::default()).unwrap();
    println!("{report}");
    let total: usize = report.fields.iter().map(|field| field.total).sum();
    assert!(total > 0);
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
    assert!(check(&dir, &Domain::default()).is_err());
}
#[test]
fn dump() {
    let Some(files) = std::env::var_os("GA_DUMP") else { return };
    for file in files.to_string_lossy().split(',') {
        println!("=== {file}");
        let text = super::table::text(std::path::Path::new(file)).unwrap();
        match hypercane_operators::grammar::extract(
            &hypercane_schemas::Document::plain(file, &text),
            &Domain::default(),
        ) {
            Err(f) => println!("ERR {f:?}"),
            Ok(x) => {
                for f in &x.facts {
                    let m: Vec<String> = f.mentions.iter().skip(3).map(|m| m.entity.0.clone()).collect();
                    let a: Vec<String> = f
                        .attributes
                        .iter()
                        .skip(1)
                        .map(|a| {
                            format!(
                                "{}={}",
                                a.name,
                                a.value
                                    .number
                                    .map(|n| n.to_string())
                                    .or(a.value.time.map(|t| t.to_string()))
                                    .unwrap_or(a.value.given.clone())
                            )
                        })
                        .collect();
                    println!(
                        "{} | {} | {} | {}",
                        f.relation,
                        f.text.split_once(": ").map_or("", |x| x.1),
                        m.join(" "),
                        a.join(";")
                    );
                }
                println!("{:?}", x.failures);
            }
        }
    }
}
