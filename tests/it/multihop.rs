//! `hypercane eval multihop`: what is found, how it is told and explained, and what is wrong with a set.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    command::{hypercane, root},
    endpoint::{Reply, Server},
};

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

/// Whether a model was fetched; says so where it was not.
pub fn has_model(name: &str) -> bool {
    let cache: PathBuf = std::env::var_os("HYPERCANE_CACHE").map_or_else(|| root().join(".cache"), Into::into);
    let is_there = cache.join("models").join(name).is_dir();
    if !is_there {
        eprintln!("skipped: there is no {name} in {}; `make models` fetches it", cache.display());
    }
    is_there
}

/// The shared sets, where they are; says so where they are not.
fn shared_sets() -> Option<PathBuf> {
    let named = std::env::var_os("HYPERCANE_SHARED").map(PathBuf::from);
    let folders = named.into_iter().chain([root().join("shared"), root().join("../shared")]);
    let found = folders.map(|folder| folder.join("data/multihop")).find(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!("skipped: there are no shared sets; HYPERCANE_SHARED names their folder");
    }
    found
}

fn read(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The figures of a folder of sets by the hashed model, and what was told beside them.
fn evaluated(data: &Path, arguments: &[&str]) -> (Value, String) {
    let whole = ["eval", "multihop", "--hashed", "--json", "--data", data.to_str().unwrap()];
    let output = hypercane(&[&whole[..], arguments].concat(), &[]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    (serde_json::from_slice(&output.stdout).unwrap(), told)
}

#[test]
fn passages_are_found_over_what_they_name_and_rankings_are_written() {
    if !has_model("en_core_web_sm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    let ranking = folder.path().join("ranked.jsonl");
    let (figures, _) = evaluated(folder.path(), &["--ranking", ranking.to_str().unwrap()]);
    let of = |mode: &str, figure: &str| figures["sets"]["ports"][mode][figure].as_f64().unwrap();
    assert_eq!(of("spread", "R@5"), 100.0, "{figures}");
    assert!(of("lexical", "R@2") < of("spread", "R@5") && of("spread", "query_ms") > 0.0);
    assert!(of("dense", "index_cpu_s") >= 0.0 && of("fused", "all@5") >= 0.0 && of("fused", "R@10") == 100.0);

    // Both find the storm and its port, and not the river.
    assert!(of("evidence", "R@5") > 60.0 && of("prove", "R@5") > 60.0, "{figures}");
    assert!(of("evidence", "query_ms") > 0.0 && of("prove", "query_ms") > 0.0);
    assert!(figures.get("ablations").is_none());

    let ranked = read(&ranking);
    let modes: Vec<&str> = ranked.iter().map(|line| line["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["dense", "lexical", "fused", "spread", "evidence", "lifted", "prove"]);
    let spread = ranked[3]["ranking"].as_array().unwrap();
    assert_eq!((spread.len(), &ranked[3]["id"], &ranked[3]["set"]), (6, &json!("q"), &json!("ports")));
    assert!(spread[..3].contains(&json!("port")), "{spread:?}");
}

#[test]
fn a_language_model_splits_questions_and_answers_hops_where_one_is_configured() {
    if !has_model("en_core_web_sm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("sets")).unwrap();
    set(&folder.path().join("sets"));
    // A record of its own, with the models that were fetched.
    let fetched = std::env::var_os("HYPERCANE_CACHE").map_or_else(|| root().join(".cache"), PathBuf::from);
    fs::create_dir(path("cache")).unwrap();
    std::os::unix::fs::symlink(fetched.join("models"), path("cache/models")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(|_, seen| {
        let asked = seen.message(1);
        let says = match asked {
            _ if asked.contains("at most 4") => {
                json!({"sub_queries": ["What did Alder close?", "Who built #1?", "Whence is #2?"]})
            }
            _ if asked.ends_with("What did Alder close?") => json!({"answer": "the Port of Birchton"}),
            _ if asked.ends_with("Who built the Port of Birchton?") => json!({"answer": "Mary Cedarfield"}),
            _ => json!({"answer": ["no", "answer"]}),
        };
        Reply::Says(says.to_string())
    }));
    let config = format!(
        "[source.files]\npaths = [\"x\"]\n[lake]\nlocation = \"x\"\n[language_model]\nbase_url = \"{}\"\nmodel = \"m\"\n",
        server.base_url()
    );
    fs::write(path("config.toml"), config).unwrap();
    let cache = path("cache");
    let explained = |wanted: usize| -> Value {
        let (sets, config) = (path("sets"), path("config.toml"));
        let arguments =
            ["eval", "multihop", "--data", &sets, "--hashed", "--explain", "q", "--json", "--config", &config];
        let output = hypercane(&arguments, &[("HYPERCANE_CACHE", &cache)]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        assert_eq!(server.n_calls(), wanted, "{told}");
        assert!(told.contains("1 times it gave nothing that can be used"), "{told}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // The last answer is malformed, and so is its repair.
    let first = explained(5);
    let hops = first["hops"].as_array().unwrap();
    let queries: Vec<&str> = hops.iter().map(|hop| hop["query"].as_str().unwrap()).collect();
    assert_eq!(queries, ["What did Alder close?", "Who built the Port of Birchton?", "Whence is Mary Cedarfield?"]);
    assert_eq!(hops[1]["answer"], "Mary Cedarfield");
    assert_eq!(explained(5), first, "what is on record is not asked for");
}

#[test]
fn only_the_modes_that_are_wanted_are_measured() {
    if !has_model("en_core_web_sm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    for (modes, embeds_names) in [("spread,dense", false), ("lifted,spread", true)] {
        let (figures, told) = evaluated(folder.path(), &["--modes", modes]);
        assert_eq!(told.contains("synonyms"), embeds_names, "{told}");
        let measured: BTreeSet<&String> = figures["sets"]["ports"].as_object().unwrap().keys().collect();
        assert_eq!(
            measured,
            modes.split(',').map(str::to_owned).collect::<BTreeSet<_>>().iter().collect(),
            "{figures}"
        );
    }
}

#[test]
fn ablations_name_what_is_changed() {
    if !has_model("en_core_web_sm") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    set(folder.path());
    let (figures, _) = evaluated(folder.path(), &["--compare"]);
    let ablations = figures["ablations"]["ports"].as_array().unwrap();
    let lines: BTreeSet<(&str, &str)> =
        ablations.iter().map(|line| (line["mode"].as_str().unwrap(), line["change"].as_str().unwrap())).collect();
    for wanted in [
        ("spread", "no propagation"),
        ("evidence", "no propagation"),
        ("evidence", "no evidence assembly"),
        ("evidence", "pairwise edges"),
        ("evidence", "no synonyms"),
        ("lifted", "entry entities alike, as published"),
        ("lifted", "walk as published"),
        ("lifted", "no fused score of passages"),
        ("prove", "no synonyms"),
        ("prove", "fixed query"),
    ] {
        assert!(lines.contains(&wanted), "{lines:?}");
    }
    for mode in ["spread", "evidence", "lifted", "prove"] {
        let as_it_is = ablations.iter().find(|line| line["mode"] == mode && line["change"] == "").unwrap();
        assert_eq!(as_it_is["measured"]["R@5"], figures["sets"]["ports"][mode]["R@5"], "{mode}");
    }
}

/// Sentences of Wikipedia, with vectors of hashed words: what is measured is how evidence is found, not the model.
#[test]
fn evidence_and_proof_find_what_they_found() {
    let (Some(sets), true) = (shared_sets(), has_model("en_core_web_sm")) else { return };
    let (figures, _) = evaluated(&sets, &["--sets", "2wikimultihopqa"]);
    let of = |mode: &str| figures["sets"]["2wikimultihopqa"][mode]["R@5"].as_f64().unwrap();
    for (mode, least) in [("evidence", 45.0), ("prove", 34.0), ("spread", 90.0)] {
        assert!(of(mode) >= least, "{mode}: {} is less than {least}", of(mode));
    }
}

/// The case study of HyCE-RAG (its 4.6): its question, its passages and some that do not belong to it, with the real model.
#[test]
fn proof_and_evidence_of_the_case_study_come_to_the_sentence_with_its_answer() {
    let (Some(sets), true, true) = (shared_sets(), has_model("en_core_web_sm"), has_model("all-MiniLM-L6-v2")) else {
        return;
    };
    let musique = sets.join("musique");
    let question = read(&musique.join("questions_extra.jsonl")).remove(0);
    let wanted: BTreeSet<&str> =
        question["candidates"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let all = [read(&musique.join("extra_distractors.jsonl")), read(&musique.join("corpus.jsonl"))].concat();
    let (own, others): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|passage| wanted.contains(passage["id"].as_str().unwrap()));
    assert_eq!(own.len(), wanted.len());
    let passages: Vec<Value> = own.into_iter().chain(others.into_iter().step_by(60)).collect();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("musique");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("corpus.jsonl"), lines(&passages)).unwrap();
    fs::write(data.join("questions.jsonl"), "").unwrap();
    fs::write(data.join("questions_extra.jsonl"), lines(std::slice::from_ref(&question))).unwrap();
    let explain = |more: &[&str]| {
        let id = question["id"].as_str().unwrap();
        let arguments =
            [&["eval", "multihop", "--data", folder.path().to_str().unwrap(), "--explain", id], more].concat();
        let output = hypercane(&arguments, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let explained: Value = serde_json::from_str(&explain(&["--json"])).unwrap();
    // The proof goes over the station's city and its ocean to the sentence that holds the answer.
    let hops = explained["hops"].as_array().unwrap();
    let last = hops.last().unwrap();
    assert!(hops.len() == 3 && last["query"].as_str().unwrap().contains("Atlantic Ocean"), "{hops:?}");
    let best = &last["evidence"][0];
    assert!(best[3].as_str().unwrap().contains("Milwaukee Deep"), "{best}");
    let parts = [0, 1, 2].map(|part| best[part].as_f64().unwrap());
    assert!(
        parts[0] > 0.0 && parts[0] <= parts[1].max(parts[2]),
        "the score is a mean of cosine and structure: {best}"
    );
    // The best evidence path is where the question starts.
    let best = &explained["lifted"]["paths"][0];
    assert!(best["text"].as_str().unwrap().contains("Main Street Station") && best["supports"] == true, "{best}");
    assert!(best["retained"]["main street station"].as_f64().unwrap() > 0.0, "{best}");
    for evidence in [&explained["evidence"], &explained["lifted"]] {
        for path in evidence["paths"].as_array().unwrap() {
            let weighed = |of: &str| path["parts"][of].as_f64().unwrap() * evidence["weights"][of].as_f64().unwrap();
            let sum: f64 = ["coverage", "propagation", "extraction", "entry", "relations"].map(weighed).iter().sum();
            assert!((sum - path["score"].as_f64().unwrap()).abs() < 1e-9, "{path}");
        }
        assert!((0.0..=1.0).contains(&evidence["contradiction"].as_f64().unwrap()));
    }
    let shown = explain(&[]);
    for part in [
        "coverage",
        "propagation",
        "extraction",
        "entry",
        "relations",
        "Contradiction score",
        "Proof",
        "Passages of mode spread",
    ] {
        assert!(shown.contains(part), "{part} is missing in\n{shown}");
    }
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
