//! Any corpus: English texts read sentence by sentence through the dataflow.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hypercane::connect::packs;
use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, DocumentKey, Mode, Query, QueryId, QueryParameters};
use proptest::prelude::*;

use crate::{
    command::root,
    harness::{History, Step, equals_rebuild, plain_states, run},
    lakes, plain,
};

/// The pack with its language model, which `make test` fetches.
pub fn domain() -> Option<Arc<Domain>> {
    Some(Arc::new(packs::load_with_models("general", &models()?).unwrap()))
}

/// The same, with short chunks.
pub fn domain_in_chunks(length: usize, overlap: usize) -> Option<Arc<Domain>> {
    let models = models()?;
    let pack = std::fs::read_to_string(root().join("data/domains/general/domain.toml")).unwrap();
    let chunks = format!("[chunks]\nlength = {length}\noverlap = {overlap}\n");
    let (before, rest) = pack.split_once("[chunks]").unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("domain.toml"), format!("{before}{chunks}\n{after}")).unwrap();
    Some(Arc::new(packs::load_with_models(&folder.path().to_string_lossy(), &models).unwrap()))
}

/// The folder of models, where the language model is in it.
fn models() -> Option<PathBuf> {
    let models = std::env::var_os("HYPERCANE_CACHE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/models"),
        |cache| Path::new(&cache).join("models"),
    );
    if !models.join("en_core_web_sm").is_dir() {
        eprintln!("skipped: there is no language model in {}; `make models` fetches it", models.display());
        return None;
    }
    Some(models)
}

const SENTENCES: [&str; 7] = [
    "Marie Curie was born in Warsaw.",
    "She discovered polonium in 1898.",
    "Its harbour lies on the Vistula River.",
    "Warsaw is the capital of Poland.",
    "Poland joined the European Union on 1 May 2004.",
    "The old bridge was closed.",
    "It reopened in May 2004!",
];
const TITLES: [Option<&str>; 4] = [None, Some("Marie Curie"), Some("Warsaw (city)"), Some(" ")];
const QUESTIONS: [&str; 2] = ["Where was Marie Curie born?", "When did Poland join the European Union?"];

fn document(key: &str, title: Option<&str>, sentences: &[usize]) -> Document {
    let text = sentences.iter().map(|at| SENTENCES[*at]).collect::<Vec<_>>().join(" ");
    Document { title: title.map(str::to_owned), ..Document::plain(key, text) }
}

fn step() -> impl Strategy<Value = Step> {
    let key = (0..4usize).prop_map(|number| format!("text-{number}"));
    let sentences = prop::collection::vec(0..SENTENCES.len(), 0..4);
    let put = (key.clone(), 0..TITLES.len(), sentences).prop_map(|(key, title, sentences)| {
        Step::Document(DocumentKey(key.clone()), Some(document(&key, TITLES[title], &sentences)))
    });
    let drop = key.prop_map(|key| Step::Document(DocumentKey(key), None));
    let mode = prop::sample::select(&[Mode::Trajectory, Mode::Spread, Mode::Evidence][..]);
    let ask = (0..QUESTIONS.len(), mode, any::<bool>()).prop_map(|(number, mode, stands)| {
        let id = QueryId(format!("query-{number}"));
        let query = Query {
            id: id.clone(),
            question: QUESTIONS[number].into(),
            mode,
            group: None,
            as_of: None,
            parameters: QueryParameters { passages: 2, ..QueryParameters::default() },
        };
        Step::Query(id, stands.then_some(query))
    });
    prop_oneof![5 => put, 2 => drop, 2 => ask]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_stands_is_what_a_rebuild_gives(history in prop::collection::vec(prop::collection::vec(step(), 1..4), 1..5)) {
        let Some(domain) = domain() else { return Ok(()) };
        let history: History = history;
        let outcome = equals_rebuild(&history, &plain_states(&history, &domain), &domain);
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

#[test]
fn a_fact_leads_to_its_bytes_and_goes_with_the_last_text_that_states_it() {
    let Some(domain) = domain() else { return };
    let put = |key: &str, title| Step::Document(DocumentKey(key.into()), Some(document(key, title, &[0, 1])));
    let history = vec![
        vec![put("a", Some("Marie Curie"))],
        vec![put("b", Some("Marie Curie"))],
        vec![Step::Document(DocumentKey("a".into()), None)],
    ];
    let named = |state: &plain::State| -> Vec<String> {
        state.entities.keys().map(|entity| entity.key.0.clone()).filter(|key| key.starts_with("name:")).collect()
    };
    let mut seen = Vec::new();
    run(&history, 1, &domain, |_, state| {
        for hyperedge in state.hyperedges.keys() {
            for place in &hyperedge.provenance {
                let text = document("", None, &[0, 1]).text;
                let stated = place.span.of(&text).unwrap();
                assert!(SENTENCES[..2].contains(&stated), "{stated:?}");
            }
        }
        let texts = state.hyperedges.keys().map(|hyperedge| hyperedge.text.clone()).collect::<Vec<_>>();
        assert!(texts.contains(&"Marie Curie discovered polonium in 1898.".to_owned()), "{texts:?}");
        seen.push(named(state));
        Ok(())
    })
    .unwrap();
    assert!(
        seen[0].contains(&"name:marie curie".to_owned()) && seen[0].contains(&"name:warsaw".to_owned()),
        "{seen:?}"
    );
    assert_eq!(seen[1], seen[2], "what both state stays while one of them does");
}

#[test]
fn a_query_that_its_pack_cannot_answer_is_told() {
    let id = QueryId("ranked".into());
    let query = Query {
        id: id.clone(),
        question: "Which passages tell of Laura?".into(),
        mode: Mode::Spread,
        group: None,
        as_of: None,
        parameters: QueryParameters::default(),
    };
    let history = vec![vec![Step::Query(id.clone(), Some(query))], vec![Step::Query(id, None)]];
    run(&history, 1, &lakes::domain(), |epoch, state| {
        let rejects: Vec<&(String, String)> = state.rejects.keys().collect();
        match epoch {
            0 => assert!(rejects.len() == 1 && rejects[0].0 == "ranked" && rejects[0].1.contains("mode spread")),
            _ => assert!(rejects.is_empty(), "it goes with its query"),
        }
        Ok(())
    })
    .unwrap();
}
