//! Random histories, the running engine, and what its updates add up to.

use std::{collections::BTreeMap, sync::Arc};

use hypercane::{
    changes::{Changes, Updates},
    worker::{Batch, Engine},
};
use hypercane_operators::{Shared, domain::Domain};
use hypercane_schemas::{Document, DocumentKey, GroupKey, HorizonUpdate};

use crate::plain::State;

/// One change of the input.
#[derive(Clone, Debug)]
pub enum Step {
    Document(DocumentKey, Option<Document>),
    Horizon(GroupKey, Option<HorizonUpdate>),
}

/// A history: epochs of steps.
pub type History = Vec<Vec<Step>>;

/// What stands after some epochs.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub documents: BTreeMap<DocumentKey, Document>,
    pub horizons: BTreeMap<GroupKey, HorizonUpdate>,
}

impl Standing {
    pub fn apply(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Document(key, Some(document)) => _ = self.documents.insert(key.clone(), document.clone()),
                Step::Document(key, None) => _ = self.documents.remove(key),
                Step::Horizon(group, Some(horizon)) => _ = self.horizons.insert(group.clone(), horizon.clone()),
                Step::Horizon(group, None) => _ = self.horizons.remove(group),
            }
        }
    }
}

/// The engine's batch for an epoch; `sequence` numbers go on over epochs.
pub fn batch(steps: &[Step], sequence: &mut u64) -> Batch {
    let mut batch = Batch::default();
    for step in steps {
        *sequence += 1;
        match step.clone() {
            Step::Document(key, document) => batch.documents.push((key, *sequence, document.map(Shared::new))),
            Step::Horizon(group, horizon) => batch.horizons.push((group, *sequence, horizon)),
        }
    }
    batch
}

/// Runs a history and calls `check` with the accumulated state after each epoch.
pub fn run(history: &History, n_workers: usize, domain: &Arc<Domain>, mut check: impl FnMut(usize, &State)) {
    let mut engine = Engine::start(n_workers, 1, Arc::clone(domain)).unwrap();
    let mut state = State::default();
    let mut sequence = 0;
    for (idx, steps) in history.iter().enumerate() {
        let changes = engine.step(batch(steps, &mut sequence)).unwrap();
        accumulate(&mut state, changes);
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
    compare!(documents, rejects, horizons, hyperedges, incidence, degrees, entities, precedence, conflicts);
}
