//! The layout's invariants (ARCHITECTURE.md), as checks.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for member in ["schemas", "operators", "pipelines", "tests"] {
        rust_files(&root().join(member), &mut files);
    }
    files.sort();
    files
        .into_iter()
        .map(|path| (path.strip_prefix(root()).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn manifest(member: &str) -> String {
    fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap()
}

#[test]
fn dependencies_point_one_way() {
    assert!(!manifest("schemas").contains("hypercane-operators"), "schemas depend on no crate of ours");
    let operators = manifest("operators");
    for foreign in ["tokio", "rdkafka", "parquet", "deltalake", "reqwest", "hyper.", "candle"] {
        assert!(!operators.contains(foreign), "operators name {foreign}");
    }
    for member in ["schemas", "operators", "pipelines"] {
        assert!(!manifest(member).contains("hypercane-tests"), "{member} depends on the tests");
    }
}

#[test]
fn kernels_know_no_dataflow_and_no_world() {
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("operators/src")) {
        for foreign in ["std::fs", "std::net", "std::env", "SystemTime", "Instant::now", "Timestamp::now"] {
            let in_tests = text.find("#[cfg(test)]").unwrap_or(text.len());
            let is_test = path.components().any(|part| {
                ["tests.rs", "conformance.rs", "conformance", "tests"].iter().any(|name| part.as_os_str() == *name)
            });
            assert!(is_test || !text[..in_tests].contains(foreign), "{path:?} uses {foreign}");
        }
        if path.starts_with("operators/src/kernel") {
            for foreign in ["use timely", "use differential_dataflow"] {
                assert!(!text.contains(foreign), "{path:?}: a kernel imports the dataflow");
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_nothing_is_left_open() {
    for (path, text) in sources() {
        assert!(text.starts_with("//!"), "{path:?} does not start with //!");
        for left in ["todo!(", "dbg!(", "unimplemented!(", "#[ignore", "FIXME"] {
            // This file names them.
            assert!(path.ends_with("tidy.rs") || !text.contains(left), "{path:?} contains {left}");
        }
    }
}
