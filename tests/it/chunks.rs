//! Long texts in chunks: what they say does not depend on how they are cut, and an edit costs what it changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use hypercane::{
    connect::{
        self,
        embed::{EmbedService, Hashed, MemoryStore, Model, Recorded, ServiceSettings},
        format::Input,
        packs,
    },
    pipeline::Pipeline,
};
use hypercane_operators::kernel;
use hypercane_schemas::{Document, DocumentKey, Hyperedge, Provenance, Vector};
use proptest::prelude::*;

use crate::{
    arrival::shared,
    general::{domain, domain_in_chunks},
    harness::{History, Step, equals_rebuild, plain_states},
    plain,
};

const NAMES: [&str; 6] = ["Marie Curie", "Pierre Curie", "Warsaw", "Paris", "Poland", "Vienna"];
const LENGTH: usize = 240;
const OVERLAP: usize = 60;

/// Sentences that differ by their number, with names that many of them share.
fn sentence(number: usize) -> String {
    let (one, other) = (NAMES[number % 6], NAMES[(number / 6) % 6]);
    match number % 3 {
        0 => format!("In {} {one} was seen near {other}.", 1900 + number % 50),
        1 => format!("It joined {one} with bridge number {number}."),
        _ => format!("{one} sent {number} letters to {other}."),
    }
}

fn document(key: &str, title: Option<&str>, numbers: &[usize]) -> Document {
    let text = numbers.iter().map(|number| sentence(*number)).collect::<Vec<_>>().join(" ");
    Document { title: title.map(str::to_owned), ..Document::plain(key, text) }
}

/// A change of one of the texts.
#[derive(Clone, Debug)]
enum Edit {
    Write(Vec<usize>),
    Insert(usize, usize),
    Replace(usize, usize),
    Remove(usize),
    Drop,
}

fn edit() -> impl Strategy<Value = (usize, Edit)> {
    let (at, number) = (0..40usize, 0..200usize);
    let edit = prop_oneof![
        3 => prop::collection::vec(number.clone(), 10..30).prop_map(Edit::Write),
        2 => (at.clone(), number.clone()).prop_map(|(at, number)| Edit::Insert(at, number)),
        2 => (at.clone(), number).prop_map(|(at, number)| Edit::Replace(at, number)),
        2 => at.prop_map(Edit::Remove),
        1 => Just(Edit::Drop),
    ];
    (0..2usize, edit)
}

/// The steps that edits are, as whole texts.
fn history(edits: Vec<Vec<(usize, Edit)>>) -> History {
    let mut texts: [Vec<usize>; 2] = Default::default();
    let mut step = |(which, edit): (usize, Edit)| {
        let text = &mut texts[which];
        match edit {
            Edit::Write(numbers) => *text = numbers,
            Edit::Insert(at, number) => text.insert(at.min(text.len()), number),
            Edit::Replace(at, number) if at < text.len() => text[at] = number,
            Edit::Remove(at) if at < text.len() => _ = text.remove(at),
            Edit::Replace(..) | Edit::Remove(_) => {}
            Edit::Drop => text.clear(),
        }
        let key = format!("text-{which}");
        let title = (which == 1).then_some("Letters (book)");
        let document = (!text.is_empty()).then(|| document(&key, title, text));
        Step::Document(DocumentKey(key), document)
    };
    edits.into_iter().map(|epoch| epoch.into_iter().map(&mut step).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn edits_of_long_texts_give_what_a_rebuild_gives(
        edits in prop::collection::vec(prop::collection::vec(edit(), 1..3), 2..6),
    ) {
        let Some(domain) = domain_in_chunks(LENGTH, OVERLAP) else { return Ok(()) };
        let history = history(edits);
        let outcome = equals_rebuild(&history, &plain_states(&history, &domain), &domain);
        prop_assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

fn state_of(document: &Document, domain: &Arc<hypercane_operators::domain::Domain>) -> plain::State {
    let documents = BTreeMap::from([(document.key.clone(), document.clone())]);
    plain::state(&documents, &BTreeMap::new(), &BTreeMap::new(), domain)
}

#[test]
fn a_text_says_the_same_in_chunks_as_in_one_piece_and_nothing_twice() {
    let (Some(whole), Some(chunked)) = (domain(), domain_in_chunks(LENGTH, OVERLAP)) else { return };
    // Some sentences stand twice.
    let numbers: Vec<usize> = (0..60).map(|n| n * 7 % 50).collect();
    let document = document("long", Some("Letters (book)"), &numbers);
    let n_chunks = kernel::chunk(&document, chunked.chunks()).len();
    assert!(n_chunks > 10 && kernel::chunk(&document, whole.chunks()).len() == 1, "{n_chunks} chunks");
    let (in_one, in_chunks) = (state_of(&document, &whole), state_of(&document, &chunked));
    let places = |state: &plain::State| -> BTreeMap<Hyperedge, isize> {
        let without_chunk = |place: &Provenance| Provenance { chunk: 0, ..place.clone() };
        let rows = state.hyperedges.iter().map(|(hyperedge, count)| {
            let provenance = hyperedge.provenance.iter().map(without_chunk).collect();
            (Hyperedge { provenance, ..hyperedge.clone() }, *count)
        });
        rows.collect()
    };
    assert_eq!(places(&in_one), places(&in_chunks));
    assert_eq!(
        (in_one.incidence, in_one.degrees, in_one.entities),
        (in_chunks.incidence, in_chunks.degrees, in_chunks.entities)
    );
    for place in in_chunks.hyperedges.keys().flat_map(|hyperedge| &hyperedge.provenance) {
        let stated = place.span.of(&document.text).unwrap();
        assert!(numbers.iter().any(|number| sentence(*number) == stated), "{stated:?}");
    }
}

#[test]
fn the_passages_of_the_evaluation_sets_are_one_chunk_each() {
    let Some(shared) = shared() else {
        println!("skipped: no shared data beside the checkout");
        return;
    };
    let length = packs::load("general").unwrap().chunks();
    let mut n_passages = 0;
    for set in std::fs::read_dir(shared.join("data/multihop")).unwrap() {
        let Ok(corpus) = std::fs::read_to_string(set.unwrap().path().join("corpus.jsonl")) else { continue };
        for line in corpus.lines() {
            let passage: serde_json::Value = serde_json::from_str(line).unwrap();
            let document = Document::plain("p", passage["text"].as_str().unwrap());
            assert_eq!(kernel::chunk(&document, length).len(), 1, "{}", passage["id"]);
            n_passages += 1;
        }
    }
    assert!(n_passages > 10_000, "{n_passages} passages");
}

/// A model that notes what it is asked.
#[derive(Default)]
struct Noting(Arc<Mutex<Vec<String>>>);

impl Model for Noting {
    fn id(&self) -> &str {
        Hashed.id()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, connect::Error> {
        self.0.lock().unwrap().extend_from_slice(texts);
        Hashed.embed(texts)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_embeds_only_what_it_changes_and_moves_the_rest() {
    let Some(domain) = domain_in_chunks(LENGTH, OVERLAP) else { return };
    let noting = Noting::default();
    let asked = Arc::clone(&noting.0);
    let service = EmbedService::start(Arc::new(noting), &ServiceSettings::default()).unwrap();
    let recorded = Arc::new(Recorded::new(service, Arc::new(MemoryStore::default())));
    let mut pipeline = Pipeline::start(2, Arc::clone(&domain), recorded, None).await.unwrap();
    let mut numbers: Vec<usize> = (0..300).collect();
    let put = |numbers: &[usize]| {
        let document = document("long", Some("Letters (book)"), numbers);
        vec![Input::Document(document.key.clone(), Some(document))]
    };
    let first = pipeline.step(put(&numbers)).await.unwrap();
    let n_texts = std::mem::take(&mut *asked.lock().unwrap()).len();
    assert!(n_texts > 250, "{n_texts} texts");
    let before = first.changes.unwrap();

    numbers.insert(3, 1001);
    numbers[150] = 1003;
    let edited = pipeline.step(put(&numbers)).await.unwrap();
    let texts = std::mem::take(&mut *asked.lock().unwrap());
    let new: BTreeSet<String> = texts.into_iter().collect();
    let stated = [1001, 1003].map(|number| format!("{number}"));
    let sentences: Vec<&String> = new.iter().filter(|text| text.matches('.').count() == 1).collect();
    assert!(stated.iter().all(|number| sentences.iter().any(|text| text.contains(number))), "{new:?}");
    assert_eq!((sentences.len(), new.len()), (2, 4), "two facts, and the two chunks in which they stand: {new:?}");
    // What stands behind the edit is the same facts at their new places.
    let changes = edited.changes.unwrap();
    let text = document("long", None, &numbers).text;
    let ids = |changes: &hypercane::changes::Changes, sign: isize| -> BTreeSet<_> {
        changes.hyperedges.iter().filter(|(.., diff)| *diff == sign).map(|(row, ..)| row.id).collect()
    };
    assert_eq!(ids(&changes, 1).difference(&ids(&before, 1)).count(), 2);
    for (row, ..) in changes.hyperedges.iter().filter(|(.., diff)| *diff > 0) {
        let places: Vec<&str> = row.provenance.iter().map(|place| place.span.of(&text).unwrap()).collect();
        assert!(places.iter().all(|place| numbers.iter().any(|number| sentence(*number) == *place)), "{places:?}");
    }
    assert_eq!(changes.incidence.iter().map(|(.., diff)| diff.abs()).sum::<isize>() as usize, changes.incidence.len());
    let n_moved: usize = changes.incidence.len();
    assert!(n_moved < 30, "{n_moved} incidences change for two sentences");
}
