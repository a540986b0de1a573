//! The layout's invariants (ARCHITECTURE.md), as checks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::command::root;

/// The folders at the top, each with its README.
const FOLDERS: [&str; 6] = ["data", "deploy", "operators", "pipelines", "schemas", "tests"];

/// A file of code longer than this says in its header why: a line that starts with [`WHY_LONG`].
const MOST_LINES: usize = 500;
const WHY_LONG: &str = "//! Long, because";

/// All files below a folder, but for what is built, fetched or hidden.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

/// Files of the repository, by their path in it, with their text.
fn texts(folders: &[&str], extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in folders {
        files(&root().join(folder), &mut found);
    }
    found.retain(|path| {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        extensions.iter().any(|wanted| *wanted == extension)
    });
    found.sort();
    found
        .into_iter()
        .map(|path| (path.strip_prefix(root()).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn sources() -> Vec<(PathBuf, String)> {
    texts(&["schemas", "operators", "pipelines", "tests"], &["rs"])
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The lines of a file's header.
fn header(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| line.starts_with("//!"))
}

/// The text before the tests that stand in the same file.
fn without_tests(text: &str) -> &str {
    &text[..text.find("#[cfg(test)]").unwrap_or(text.len())]
}

fn is_test(path: &Path) -> bool {
    path.components()
        .any(|part| ["tests.rs", "conformance.rs", "conformance", "tests"].iter().any(|name| part.as_os_str() == *name))
}

#[test]
fn dependencies_point_one_way() {
    let manifest = |member: &str| read(&format!("{member}/Cargo.toml"));
    let schemas = manifest("schemas");
    for ours in ["hypercane-operators", "hypercane."] {
        assert!(!schemas.contains(ours), "schemas depend on {ours}");
    }
    let operators = manifest("operators");
    for foreign in ["tokio", "rdkafka", "parquet", "deltalake", "reqwest", "hyper.", "candle", "hypercane."] {
        assert!(!operators.contains(foreign), "operators name {foreign}");
    }
    for member in ["schemas", "operators", "pipelines"] {
        assert!(!manifest(member).contains("hypercane-tests"), "{member} depends on the tests");
    }
}

#[test]
fn kernels_know_no_dataflow_and_operators_no_world() {
    for (path, text) in texts(&["operators/src"], &["rs"]) {
        for foreign in ["std::fs", "std::net", "std::env", "SystemTime", "Instant::now", "Timestamp::now"] {
            assert!(is_test(&path) || !without_tests(&text).contains(foreign), "{path:?} uses {foreign}");
        }
        if path.starts_with("operators/src/kernel") {
            for foreign in ["use timely", "use differential_dataflow"] {
                assert!(!text.contains(foreign), "{path:?}: a kernel imports the dataflow");
            }
        }
    }
}

#[test]
fn only_connectors_name_external_systems_and_only_the_command_reads_the_environment() {
    for (path, text) in texts(&["pipelines/src"], &["rs"]) {
        let text = without_tests(&text);
        if !path.starts_with("pipelines/src/connect") {
            for system in
                ["rdkafka::", "deltalake_core::", "parquet::", "candle_core::", "tokenizers::", "notify::", "reqwest::"]
            {
                assert!(!text.contains(system), "{path:?} names {system}; that belongs into connect/");
            }
        }
        let is_command = path.starts_with("pipelines/src/cli") || path.ends_with("src/cli.rs");
        if !is_command && !is_test(&path) {
            for world in ["env::var", "env::args", "tokio::signal"] {
                assert!(!text.contains(world), "{path:?} uses {world}; that belongs into cli/");
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_nothing_is_left_open() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{path:?} does not start with //!");
        for left in ["todo!(", "dbg!(", "unimplemented!(", "#[ignore", "FIXME"] {
            // This file names them.
            assert!(path.ends_with("tidy.rs") || !text.contains(left), "{path:?} contains {left}");
        }
    }
}

#[test]
fn operators_say_what_they_compute_and_what_they_keep() {
    let mut n_operators = 0;
    for (path, text) in texts(&["operators/src"], &["rs"]) {
        let at_top = path.parent() == Some(Path::new("operators/src"));
        let is_operator = text.contains("-> Collection<'scope") || text.contains("-> (Collection<'scope");
        if !at_top || !is_operator || path.ends_with("collection.rs") {
            continue;
        }
        n_operators += 1;
        let header: Vec<&str> = header(&text).collect();
        let header = header.join(" ");
        assert!(
            header.contains("As if"),
            "{path:?}: the header does not say what it computes as if its input never changed"
        );
        assert!(header.contains("keep"), "{path:?}: the header does not say what the operator keeps");
    }
    assert!(n_operators > 10, "{n_operators} operators found");
}

#[test]
fn files_are_short_or_say_why_not() {
    let mut lengths: Vec<usize> = Vec::new();
    for (path, text) in sources() {
        let n_lines = text.lines().count();
        lengths.push(n_lines);
        let says_why = header(&text).any(|line| line.starts_with(WHY_LONG));
        assert!(n_lines <= MOST_LINES || says_why, "{path:?} has {n_lines} lines: split it, or say `{WHY_LONG} …`");
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= 200, "half of the files have {median} lines or more");
}

#[test]
fn every_folder_has_a_readme_and_the_architecture_stays_short() {
    for folder in FOLDERS {
        let text = read(&format!("{folder}/README.md"));
        assert!(text.starts_with("# "), "{folder}/README.md has no title");
    }
    for file in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"] {
        assert!(!read(file).trim().is_empty(), "{file} is empty");
    }
    let architecture = read("ARCHITECTURE.md");
    let n_lines = architecture.lines().count();
    assert!(n_lines <= 150, "ARCHITECTURE.md has {n_lines} lines");
    for folder in FOLDERS {
        assert!(architecture.contains(&format!("`{folder}")), "ARCHITECTURE.md does not speak of {folder}");
    }
}

/// The part of a link's target that is a path in the repository; none for the web and for anchors.
fn local_target(link: &str) -> Option<&str> {
    let target = link.split('#').next().unwrap_or_default();
    (!target.is_empty() && !target.contains("://")).then_some(target)
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let mut documents = texts(&FOLDERS, &["md"]);
    for file in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        documents.push((file.into(), read(file)));
    }
    for (path, text) in documents {
        let folder = root().join(path.parent().unwrap_or(Path::new("")));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some(target) = local_target(link) else { continue };
            assert!(folder.join(target).exists(), "{path:?} links to {target}, which is not there");
        }
    }
}

#[test]
fn data_is_listed_with_its_checksums() {
    let mut listed: BTreeMap<String, String> = BTreeMap::new();
    for line in read("data/README.md").lines() {
        let cells: Vec<&str> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        if let [_, file, sum, _] = cells[..]
            && sum.len() == 64
        {
            listed.insert(file.to_owned(), sum.to_owned());
        }
    }
    let mut found = Vec::new();
    files(&root().join("data"), &mut found);
    let found: BTreeSet<String> = found
        .iter()
        .filter(|path| !path.ends_with("README.md"))
        .map(|path| path.strip_prefix(root().join("data")).unwrap().to_string_lossy().into_owned())
        .collect();
    let names: BTreeSet<String> = listed.keys().cloned().collect();
    assert_eq!(found, names, "the files under data/ and the table of data/README.md");

    let sums: String = listed.iter().map(|(file, sum)| format!("{sum}  {file}\n")).collect();
    let mut check = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet", "-"])
        .current_dir(root().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sha256sum of coreutils is needed");
    check.stdin.take().expect("it is piped").write_all(sums.as_bytes()).unwrap();
    let done = check.wait_with_output().unwrap();
    assert!(
        done.status.success(),
        "checksums of data/README.md are stale:\n{}data/README.md says how they are made",
        String::from_utf8_lossy(&done.stdout)
    );
}

#[test]
fn nothing_names_a_machine_or_a_host() {
    let mut all = texts(&FOLDERS, &["rs", "toml", "md", "sh", "sha256", "json", "jsonl", "csv", "txt"]);
    for file in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", ".ci/run", "Cargo.toml"]
    {
        all.push((file.into(), read(file)));
    }
    // Written so that this file does not contain them itself.
    let homes = ["work", "root", "home", "Users"].map(|folder| format!("/{folder}/"));
    for (path, text) in &all {
        for home in &homes {
            assert!(!text.contains(home.as_str()), "{path:?} names {home}");
        }
    }
    // The namespace of a Maven project is a name, not a place.
    let scripts = all.iter().filter(|(path, _)| path.extension().is_some_and(|extension| extension == "sh"));
    for (path, text) in scripts.chain(all.iter().filter(|(path, _)| path.ends_with("Makefile"))) {
        let hosts = text.lines().filter(|line| line.contains("http") && line.contains("://"));
        let named: Vec<&str> = hosts.filter(|line| !line.contains("POM/4.0.0")).collect();
        assert!(named.is_empty(), "{path:?} names hosts: {named:?}");
    }
}
