//! `hypercane eval multihop` on a small corpus: what is found, how it is told, and what is wrong with a set.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::command::{hypercane, root};

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// Three passages that lead to each other by name, and three that have more of the question's words.
fn set(folder: &Path) {
    let corpus = [
        json!({"id": "storm", "title": "Hurricane Alder", "text": "Hurricane Alder closed the Port of Birchton for a week."}),
        json!({"id": "port", "title": "Port of Birchton", "text": "It was built by Mary Cedarfield."}),
        json!({"id": "builder", "title": "Mary Cedarfield", "text": "She was an engineer from Elmsworth."}),
        json!({"id": "a", "title": "Rose Bay", "text": "The town of a bay where many people were born."}),
        json!({"id": "b", "title": "Fern Hill", "text": "In which town was the hill born, people ask."}),
        json!({"id": "c", "title": "Moss Lake", "text": "Who closed the lake and built the town?"}),
    ];
    let question = "In which town was the builder of the port born that Hurricane Alder closed?";
    let questions = [json!({"id": "q", "question": question, "supporting": ["storm", "port", "builder"]})];
    fs::create_dir(folder.join("ports")).unwrap();
    fs::write(folder.join("ports/corpus.jsonl"), lines(&corpus)).unwrap();
    fs::write(folder.join("ports/questions.jsonl"), lines(&questions)).unwrap();
}

#[test]
fn passages_are_found_over_what_they_name_and_rankings_are_written() {
    let cache = std::env::var_os("HYPERCANE_CACHE").map_or_else(|| root().join(".cache"), Into::into);
    if !cache.join("models/en_core_web_sm").is_dir() {
        eprintln!("skipped: there is no language model in {}; `make models` fetches it", cache.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    let ranking = folder.path().join("ranked.jsonl");
    let data = folder.path().to_str().unwrap();
    let output = hypercane(
        &["eval", "multihop", "--data", data, "--hashed", "--json", "--ranking", ranking.to_str().unwrap()],
        &[],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |mode: &str, figure: &str| figures["sets"]["ports"][mode][figure].as_f64().unwrap();
    assert_eq!(of("spread", "R@5"), 100.0, "{figures}");
    assert!(of("lexical", "R@2") < of("spread", "R@5") && of("spread", "query_ms") > 0.0);
    assert!(of("dense", "index_cpu_s") >= 0.0 && of("fused", "all@5") >= 0.0 && of("fused", "R@10") == 100.0);

    let ranked: Vec<Value> =
        fs::read_to_string(&ranking).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let modes: Vec<&str> = ranked.iter().map(|line| line["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["dense", "lexical", "fused", "spread"]);
    let spread = ranked[3]["ranking"].as_array().unwrap();
    assert_eq!((spread.len(), &ranked[3]["id"], &ranked[3]["set"]), (6, &json!("q"), &json!("ports")));
    assert!(spread[..3].contains(&json!("port")), "{spread:?}");
}

#[test]
fn a_set_that_is_not_there_is_named_with_what_a_set_is() {
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    let wrong = |sets: &str| {
        let output = hypercane(&["eval", "multihop", "--data", folder.path().to_str().unwrap(), "--sets", sets], &[]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(wrong("bays").contains("\"bays\"") && wrong("bays").contains("corpus.jsonl"));
    fs::write(folder.path().join("ports/corpus.jsonl"), "{\"id\": 3}\n").unwrap();
    assert!(wrong("ports").contains("corpus.jsonl line 1"));
}
