//! Outputs from files, small ones and the real ones where they are at hand.

use std::{fs, path::PathBuf, sync::Arc};

use hypercane_operators::{kernel, language_model::extraction};
use hypercane_schemas::Document;

use super::{PROMPT, prompt};
use crate::connect::language_model::{Error, Extractor, Imported, MemoryTexts, import};
use hypercane_operators::language_model::Passage;

const MODEL: &str = "gpt-3.5-turbo-1106";

#[tokio::test]
async fn outputs_are_found_by_their_passage_and_what_fits_nothing_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let corpus = file(
        "corpus.jsonl",
        "{\"id\":\"a\",\"title\":\"Ada\",\"text\":\"Ada lived in London.\"}\n{\"id\":\"b\",\"text\":\"Bob.\"}\n",
    );
    let lines = "{\"id\":\"a\",\"entities\":[\"Ada\"],\"triples\":[[\"Ada\",\"lived in\",\"London\"]]}\n\n\
                 {\"id\":\"z\",\"entities\":[],\"triples\":[]}\n";
    let extractions = file("extractions.jsonl", lines);
    let store = Arc::new(MemoryTexts::default());
    let imported = import(&extractions, &corpus, MODEL, &*store).await.unwrap();
    assert_eq!(imported, Imported { recorded: 1, unknown: vec!["z".into()], missing: 1 });

    let extractor = Extractor::imported(MODEL, Arc::<MemoryTexts>::clone(&store));
    let ada = Passage { title: "Ada".into(), text: "Ada  lived in London.".into() };
    let bob = Passage { title: String::new(), text: "Bob.".into() };
    let plan = extractor.plan([&ada, &bob]);
    assert_eq!((plan.recorded, plan.calls), (1, 1));
    let answers = extractor.extract(&[ada.clone(), bob.clone()]).await;
    assert!(answers[0].as_ref().unwrap().text.contains("lived in"));
    let Err(error @ Error::NotRecorded { .. }) = &answers[1] else { panic!("{answers:?}") };
    assert!(error.to_string().contains("Bob.") && error.to_string().contains("base_url"), "{error}");

    // They are no answers to the prompt that ships, and the plan says so.
    let asks = Extractor::record_only(MODEL, prompt(), store);
    let plan = asks.plan([&ada, &bob]);
    assert_eq!((plan.recorded, plan.changed), (0, 1));
    assert!(PROMPT.contains("# Repair") && plan.to_string().contains("1 passages are on record only from another"));

    let wrong = file("wrong.jsonl", "{\"id\":\"a\",\"triples\":[[\"Ada\",\"lived in\"]]}\n");
    let told = import(&wrong, &corpus, MODEL, &MemoryTexts::default()).await.unwrap_err().to_string();
    assert!(told.contains("wrong.jsonl: line 1"), "{told}");
}

#[tokio::test]
async fn the_real_extractions_become_facts() {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("HYPERCANE_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("data/multihop/musique_openie");
    let (extractions, corpus) = (folder.join("extractions.jsonl"), folder.join("corpus.jsonl"));
    if !extractions.exists() {
        return eprintln!("skipped: there is no {}", extractions.display());
    }
    let store = Arc::new(MemoryTexts::default());
    let imported = import(&extractions, &corpus, MODEL, &*store).await.unwrap();
    assert_eq!((imported.recorded, imported.missing), (1_890, 0));
    assert!(imported.unknown.is_empty());
    assert_eq!(store.len(), 1_890, "no two passages are the same");
    let extractor = Extractor::imported(MODEL, store);
    let (mut n_facts, mut n_mentions, mut n_lost) = (0, 0, 0);
    for line in fs::read_to_string(&corpus).unwrap().lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let document = Document { title: Some(text("title")), ..Document::plain(text("id"), text("text")) };
        let chunk = kernel::chunk(&document, None).remove(0);
        let answer = extractor.recorded(&Passage::of(&chunk)).unwrap();
        let extraction = extraction(&answer.text, &chunk).unwrap();
        n_facts += extraction.facts.len();
        n_mentions += extraction.facts.iter().map(|fact| fact.mentions.len()).sum::<usize>();
        n_lost += extraction.failures.len();
        assert!(extraction.facts.iter().all(|fact| fact.span.of(&document.text).is_some() && fact.mentions.len() >= 2));
    }
    // 17,234 triples and 185 other tuples, less what is said twice. Some relate a thing to itself, one is 352 characters long.
    assert!(
        (17_000..=17_419).contains(&n_facts) && n_lost <= 24,
        "{n_facts} facts, {n_mentions} mentions, {n_lost} lost"
    );
    eprintln!("{n_facts} facts with {n_mentions} mentions, {n_lost} passages with losses");
}
