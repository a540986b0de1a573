//! Random histories, the running engine, and what its updates add up to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hypercane::{
    changes::{Changes, Updates},
    worker::{Batch, Engine},
};
use hypercane_operators::{Shared, domain::Domain, extract::read, kernel};
use hypercane_schemas::{ContentHash, Document, DocumentKey, GroupKey, HorizonUpdate, Query, QueryId, Vector};

use crate::plain::State;

/// One change of the input.
#[derive(Clone, Debug)]
pub enum Step {
    Document(DocumentKey, Option<Document>),
    Horizon(GroupKey, Option<HorizonUpdate>),
    Query(QueryId, Option<Query>),
}

/// A history: epochs of steps.
pub type History = Vec<Vec<Step>>;

/// What stands after some epochs.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub documents: BTreeMap<DocumentKey, Document>,
    pub horizons: BTreeMap<GroupKey, HorizonUpdate>,
    pub queries: BTreeMap<QueryId, Query>,
}

impl Standing {
    pub fn apply(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Document(key, Some(document)) => _ = self.documents.insert(key.clone(), document.clone()),
                Step::Document(key, None) => _ = self.documents.remove(key),
                Step::Horizon(group, Some(horizon)) => _ = self.horizons.insert(group.clone(), horizon.clone()),
                Step::Horizon(group, None) => _ = self.horizons.remove(group),
                Step::Query(id, Some(query)) => _ = self.queries.insert(id.clone(), query.clone()),
                Step::Query(id, None) => _ = self.queries.remove(id),
            }
        }
    }
}

/// The vector of a text in these tests: a fixed function of its hash, the same for the engine and for the plain form.
pub fn vector(text: ContentHash) -> Vector {
    let component = |n: u32| (((text.0 >> (n * 16)) & 0xff) as f32 - 127.0) / 128.0;
    Vector((0..8).map(component).collect())
}

/// Turns epochs of steps into the engine's batches.
pub struct Feeder {
    domain: Arc<Domain>,
    sequence: u64,
    given: BTreeSet<ContentHash>,
}

impl Feeder {
    pub fn new(domain: &Arc<Domain>) -> Self {
        Self { domain: Arc::clone(domain), sequence: 0, given: BTreeSet::new() }
    }

    /// The batch of an epoch, with the vectors that it needs and no earlier one gave.
    pub fn batch(&mut self, steps: &[Step]) -> Batch {
        let mut batch = Batch::default();
        for step in steps {
            self.sequence += 1;
            for text in self.texts(step) {
                if self.given.insert(text) {
                    batch.vectors.push((text, vector(text)));
                }
            }
            match step.clone() {
                Step::Document(key, document) => batch.documents.push((key, self.sequence, document.map(Shared::new))),
                Step::Horizon(group, horizon) => batch.horizons.push((group, self.sequence, horizon)),
                Step::Query(id, query) => batch.queries.push((id, self.sequence, query.map(Shared::new))),
            }
        }
        batch
    }

    fn texts(&self, step: &Step) -> Vec<ContentHash> {
        let texts: Vec<String> = match step {
            Step::Document(key, Some(document)) => {
                let mut texts = Vec::new();
                for chunk in read(document, &self.domain).into_iter().flatten() {
                    let facts = chunk.extraction.facts.iter();
                    let assertions =
                        facts.filter_map(|fact| kernel::canonicalize(key, &chunk, fact, &self.domain).ok());
                    texts.extend(assertions.flat_map(|assertion| kernel::texts_to_embed(&assertion, &self.domain)));
                }
                texts
            }
            Step::Query(_, Some(query)) => vec![query.question.clone()],
            _ => Vec::new(),
        };
        texts.iter().map(|text| kernel::embedded_as(text)).collect()
    }
}

/// Runs a history and calls `check` with the accumulated state after each epoch.
pub fn run(history: &History, n_workers: usize, domain: &Arc<Domain>, mut check: impl FnMut(usize, &State)) {
    let mut engine = Engine::start(n_workers, 1, Arc::clone(domain)).unwrap();
    let mut state = State::default();
    let mut feeder = Feeder::new(domain);
    for (idx, steps) in history.iter().enumerate() {
        let changes = engine.step(feeder.batch(steps)).unwrap();
        accumulate(&mut state, changes);
        // A document is let in with every vector that its facts ask for.
        for hyperedge in state.hyperedges.keys() {
            assert!(feeder.given.contains(&hyperedge.embedded_as), "no vector for {hyperedge:#?}");
        }
        check(idx, &state);
    }
}

/// Adds updates to a state.
pub fn accumulate(state: &mut State, changes: Changes) {
    add(&mut state.documents, changes.documents, |row| (**row).clone());
    add(&mut state.horizons, changes.horizons, Clone::clone);
    add(&mut state.hyperedges, changes.hyperedges, |row| (**row).clone());
    add(&mut state.incidence, changes.incidence, Clone::clone);
    add(&mut state.degrees, changes.degrees, Clone::clone);
    add(&mut state.entities, changes.entities, |row| (**row).clone());
    add(&mut state.precedence, changes.precedence, Clone::clone);
    add(&mut state.conflicts, changes.conflicts, Clone::clone);
    add(&mut state.answers, changes.answers, Clone::clone);
    add(&mut state.rejects, changes.rejects, |row| (row.key.clone(), row.reason.clone()));
}

fn add<R, K: Ord>(rows: &mut BTreeMap<K, isize>, updates: Updates<R>, key: impl Fn(&R) -> K) {
    for (row, _, diff) in updates {
        let key = key(&row);
        let count = rows.entry(key).or_default();
        *count += diff;
    }
    rows.retain(|_, count| *count != 0);
}

/// Fails with the first rows that differ, kind by kind.
pub fn assert_equal(found: &State, wanted: &State, when: &str) {
    macro_rules! compare {
        ($($kind:ident),*) => {$(
            if found.$kind != wanted.$kind {
                let missing: Vec<_> = wanted.$kind.iter().filter(|(k, v)| found.$kind.get(k) != Some(v)).take(3).collect();
                let extra: Vec<_> = found.$kind.iter().filter(|(k, v)| wanted.$kind.get(k) != Some(v)).take(3).collect();
                panic!("{when}: {} differ\nmissing: {missing:#?}\nextra: {extra:#?}", stringify!($kind));
            }
        )*};
    }
    compare!(documents, rejects, horizons, hyperedges, incidence, degrees, entities, precedence, conflicts, answers);
}
