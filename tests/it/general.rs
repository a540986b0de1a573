//! Any corpus: English texts read sentence by sentence through the dataflow.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hypercane::connect::packs;
use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, DocumentKey, EntityKey, Mode, Query, QueryId, QueryParameters};
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
    domain_but(|pack| {
        let chunks = format!("[chunks]\nlength = {length}\noverlap = {overlap}\n");
        let (before, rest) = pack.split_once("[chunks]").unwrap();
        let (_, after) = rest.split_once("\n\n").unwrap();
        format!("{before}{chunks}\n{after}")
    })
}

/// The same, where so high a cosine makes names synonyms.
fn domain_with_synonyms(eta: &str) -> Option<Arc<Domain>> {
    domain_but(|pack| {
        assert!(pack.contains("\nsynonym_cosine = 0.8\n"));
        pack.replace("\nsynonym_cosine = 0.8\n", &format!("\nsynonym_cosine = {eta}\n"))
    })
}

/// The same, with its file changed.
fn domain_but(change: impl Fn(String) -> String) -> Option<Arc<Domain>> {
    let models = models()?;
    let pack = std::fs::read_to_string(root().join("data/domains/general/domain.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("domain.toml"), change(pack)).unwrap();
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
        // Random vectors of names are seldom near each other.
        let Some(domain) = domain_with_synonyms("0.3") else { return Ok(()) };
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
fn names_are_linked_while_texts_name_them() {
    let Some(domain) = domain_with_synonyms("0.1") else { return };
    let put = |sentences: &[usize]| Step::Document(DocumentKey("a".into()), Some(document("a", None, sentences)));
    let history = vec![vec![put(&[0, 2, 3, 4])], vec![put(&[0, 3])], vec![put(&[5])]];
    let mut linked: Vec<Vec<(EntityKey, EntityKey)>> = Vec::new();
    run(&history, 2, &domain, |_, state| {
        linked.push(state.synonyms.keys().map(|link| (link.a.clone(), link.b.clone())).collect());
        Ok(())
    })
    .unwrap();
    let [many, few, none] = &linked[..] else { panic!("three epochs") };
    assert!(many.len() > few.len() && !few.is_empty() && none.is_empty(), "{linked:?}");
    assert!(few.iter().all(|link| many.contains(link)), "{linked:?}");
    let is_guarded = |key: &EntityKey| !key.0.starts_with("name:");
    assert!(!many.iter().any(|(a, b)| is_guarded(a) || is_guarded(b)), "dates have none: {linked:?}");
}

#[test]
fn evidence_leads_from_what_is_asked_over_what_sentences_share_and_goes_with_its_text() {
    let Some(domain) = domain() else { return };
    let text = |key: &str, text: &str| Step::Document(DocumentKey(key.into()), Some(Document::plain(key, text)));
    let question =
        Query { mode: Mode::Evidence, ..question("On which river is the port that Hurricane Alder closed?") };
    let history = vec![
        vec![
            text("storm", "The Port of Birchton was closed by Hurricane Alder in 2019."),
            text("port", "The Port of Birchton lies on the Cedar River."),
            text("other", "Oslo is the capital of Norway."),
            Step::Query(question.id.clone(), Some(question)),
        ],
        vec![Step::Document(DocumentKey("port".into()), None)],
    ];
    let mut found: Vec<Vec<String>> = Vec::new();
    run(&history, 2, &domain, |_, state| {
        assert!(state.evidence.keys().all(|path| path.score.entry.to_f64() <= 1.0 && !path.provenance.is_empty()));
        let mut paths: Vec<_> = state.evidence.keys().collect();
        paths.sort_by_key(|path| path.rank);
        assert!(paths[0].supports && !paths[0].retained.is_empty() && paths[0].score.total.to_f64() > 0.0, "{paths:?}");
        found.push(paths.iter().map(|path| path.text.clone()).collect());
        Ok(())
    })
    .unwrap();
    let [storm, port] = ["closed by Hurricane Alder", "lies on the Cedar River"];
    let has = |at: usize, words: &str| found[at].iter().any(|text| text.contains(words));
    assert!(has(0, storm) && has(0, port) && !has(0, "Oslo"), "{found:?}");
    assert!(has(1, storm) && !has(1, port), "{found:?}");
}

#[test]
fn a_query_that_its_pack_cannot_answer_is_told() {
    for (mode, told) in [(Mode::Spread, "mode spread"), (Mode::Evidence, "mode evidence")] {
        let query = Query { mode, ..question("Which passages tell of Laura?") };
        let id = query.id.clone();
        let history = vec![vec![Step::Query(id.clone(), Some(query))], vec![Step::Query(id, None)]];
        run(&history, 1, &lakes::domain(), |epoch, state| {
            let rejects: Vec<&(String, String)> = state.rejects.keys().collect();
            match epoch {
                0 => assert!(rejects.len() == 1 && rejects[0].0 == "asked" && rejects[0].1.contains(told)),
                _ => assert!(rejects.is_empty(), "it goes with its query"),
            }
            Ok(())
        })
        .unwrap();
    }
}

fn question(words: &str) -> Query {
    Query {
        id: QueryId("asked".into()),
        question: words.into(),
        mode: Mode::default(),
        group: None,
        as_of: None,
        parameters: QueryParameters::default(),
    }
}
