//! `hypercane extract`: a plan before any call, answers into the lake, and no call for what is on record.

use std::fs;

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    command::hypercane,
    endpoint::{Reply, Seen, Server},
};

const KEY: &str = "sk-of-the-test";

/// Says one fact of every passage to who has the key.
fn reply(_: usize, seen: &Seen) -> Reply {
    let fact =
        json!({"text": "Ada lived in London.", "entities": ["Ada", "London"], "relation": "lived in", "conf": 0.9});
    let has_key = seen.head.lines().any(|line| line.eq_ignore_ascii_case(&format!("authorization: bearer {KEY}")));
    match has_key {
        true => Reply::Says(json!({"entities": [], "hyperedges": [fact], "relations": []}).to_string()),
        false => Reply::Status(401, String::new(), json!({"error": {"message": "no key"}}).to_string()),
    }
}

#[test]
fn documents_are_asked_about_once_and_a_dry_run_asks_nothing() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(reply));
    let address = server.base_url();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let corpus = dir.path().join("in");
    fs::create_dir(&corpus).unwrap();
    fs::write(corpus.join("a.txt"), "Ada lived in London.").unwrap();
    fs::write(corpus.join("b.txt"), "Ada left London.").unwrap();
    let config = dir.path().join("config.toml");
    let text = format!(
        "[pipeline]\ndomain = \"general\"\n[source.files]\npaths = [\"{folder}/in\"]\n[lake]\nlocation = \"{folder}/lake\"\n\
         [language_model]\nbase_url = \"{address}\"\nmodel = \"m\"\nkey_env = \"M_KEY\"\n"
    );
    fs::write(&config, text).unwrap();
    let run = |more: &[&str], key: &str| {
        let config = config.to_str().unwrap();
        let arguments = [&["extract", "--config", config], more, &[corpus.to_str().unwrap()]].concat();
        let output = hypercane(&arguments, &[("M_KEY", key)]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains(KEY), "{told}");
        (output.status.success(), String::from_utf8(output.stdout).unwrap(), told)
    };

    let (ok, _, told) = run(&["--dry-run"], KEY);
    assert!(ok && told.contains("0 of 2 passages are on record for m") && told.contains("2 calls"), "{told}");
    assert_eq!(server.n_calls(), 0);

    let (ok, _, told) = run(&[], "another");
    assert!(!ok && told.contains("HTTP 401: no key") && told.contains("key_env"), "{told}");
    let n_refused = server.n_calls();

    for n_asked in [2, 2] {
        let (ok, report, told) = run(&["--json"], KEY);
        let report: Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}: {report} {told}"));
        assert!(ok && report["facts"] == 2 && report["unanswered"] == 0, "{report} {told}");
        assert_eq!(server.n_calls(), n_refused + n_asked);
    }
    assert!(dir.path().join("lake/model_texts/_delta_log").is_dir());
}
