//! The running engine, and what its updates add up to.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use hypercane::{
    changes::{Changes, Updates},
    enrich::texts_of_query,
    live::live,
    worker::{Batch, Engine},
};
use hypercane_operators::{Shared, domain::Domain, extract::read, kernel};
use hypercane_schemas::{ContentHash, Document, DocumentKey, GroupKey, HorizonUpdate, Query, QueryId, Vector};

use crate::plain::{self, State};

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

impl Standing {
    /// The steps that bring about what stands.
    pub fn steps(&self) -> Vec<Step> {
        let documents =
            self.documents.iter().map(|(key, document)| Step::Document(key.clone(), Some(document.clone())));
        let horizons = self.horizons.iter().map(|(group, horizon)| Step::Horizon(group.clone(), Some(horizon.clone())));
        let queries = self.queries.iter().map(|(id, query)| Step::Query(id.clone(), Some(query.clone())));
        documents.chain(horizons).chain(queries).collect()
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
                    texts.extend(chunk.passage.iter().flat_map(|(passage, _)| passage.texts()));
                }
                texts
            }
            Step::Query(_, Some(query)) => texts_of_query(query, &self.domain),
            _ => Vec::new(),
        };
        texts.iter().map(|text| kernel::embedded_as(text)).collect()
    }
}

/// Runs a history and calls `check` with the accumulated state after each epoch.
///
/// # Errors
/// The first that `check` gives.
pub fn run(
    history: &History,
    n_workers: usize,
    domain: &Arc<Domain>,
    mut check: impl FnMut(usize, &State) -> Result<(), String>,
) -> Result<(), String> {
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
        check(idx, &state)?;
    }
    Ok(())
}

/// Runs a history and compares, for each epoch, the updates of all workers consolidated one by one and together. Where these
/// are as many, no row goes on one worker and comes on another, and processes may write what is theirs.
///
/// # Errors
/// The first epoch in which they are not, and the numbers by kind.
pub fn apart_as_together(history: &History, n_workers: usize, domain: &Arc<Domain>) -> Result<(), String> {
    let mut feeder = Feeder::new(domain);
    let batches: Vec<Batch> = history.iter().map(|steps| feeder.batch(steps)).collect();
    let domain = Arc::clone(domain);
    let guards = timely::execute(timely::Config::process(n_workers), move |worker| {
        let (mut inputs, outbox, probe) = worker.dataflow(|scope| live(scope, &domain, None, true));
        let (index, n_workers) = (worker.index(), worker.peers());
        let mut epochs = Vec::new();
        for (epoch, batch) in (0..).zip(batches.clone()) {
            macro_rules! send {
                ($kind:ident, $rows:expr) => {
                    for (idx, row) in $rows.into_iter().enumerate() {
                        if idx % n_workers == index {
                            inputs.$kind.send(row);
                        }
                    }
                };
            }
            send!(documents, batch.documents);
            send!(horizons, batch.horizons);
            send!(queries, batch.queries);
            send!(vectors, batch.vectors.into_iter().map(|(hash, vector)| (hash, 0, Some(vector))));
            inputs.advance_to(epoch + 1);
            worker.step_or_park_while(Some(Duration::from_millis(1)), || probe.less_than(&(epoch + 1)));
            epochs.push(outbox.take_up_to(epoch));
        }
        epochs
    });
    let workers: Vec<Vec<Changes>> = guards?.join().into_iter().collect::<Result<_, String>>()?;
    for epoch in 0..history.len() {
        let apart: Vec<&Changes> = workers.iter().map(|epochs| &epochs[epoch]).collect();
        let mut together = Changes::default();
        apart.iter().for_each(|changes| together.absorb((*changes).clone()));
        together.consolidate();
        let mut split = Vec::new();
        macro_rules! count {
            ($($kind:ident),*) => {$(
                let sum: usize = apart.iter().map(|changes| changes.$kind.len()).sum();
                if sum != together.$kind.len() {
                    split.push(format!("{sum} updates of {} are {} together", stringify!($kind), together.$kind.len()));
                }
            )*};
        }
        count!(
            documents, horizons, queries, rejects, hyperedges, incidence, degrees, synonyms, entities, precedence,
            conflicts, answers, rankings, evidence
        );
        if !split.is_empty() {
            return Err(format!("{n_workers} workers, epoch {}: {}", epoch + 1, split.join(", ")));
        }
    }
    Ok(())
}

/// On how many workers histories are run.
const WORKERS: [usize; 3] = [1, 2, 4];

/// The plain state after each epoch of a history.
pub fn plain_states(history: &History, domain: &Domain) -> Vec<State> {
    let mut standing = Standing::default();
    let mut state = |epoch: &Vec<Step>| {
        standing.apply(epoch);
        plain::state(&standing.documents, &standing.horizons, &standing.queries, domain)
    };
    history.iter().map(&mut state).collect()
}

/// Runs a history on 1, 2 and 4 workers, and what stands in the end as a rebuild in one epoch.
///
/// # Errors
/// The first difference from the wanted states, one an epoch, and where.
pub fn equals_rebuild(history: &History, wanted: &[State], domain: &Arc<Domain>) -> Result<(), String> {
    for n_workers in WORKERS {
        run(history, n_workers, domain, |epoch, found| {
            compare(found, &wanted[epoch]).map_err(|e| format!("{n_workers} workers, epoch {}: {e}", epoch + 1))
        })?;
    }
    let Some(last) = wanted.last() else { return Ok(()) };
    let mut standing = Standing::default();
    history.iter().for_each(|epoch| standing.apply(epoch));
    run(&vec![standing.steps()], 1, domain, |_, found| {
        compare(found, last).map_err(|e| format!("rebuilt in one epoch: {e}"))
    })
}

/// Adds updates to a state.
pub fn accumulate(state: &mut State, changes: Changes) {
    add(&mut state.documents, changes.documents, |row| (**row).clone());
    add(&mut state.horizons, changes.horizons, Clone::clone);
    add(&mut state.hyperedges, changes.hyperedges, |row| (**row).clone());
    add(&mut state.incidence, changes.incidence, Clone::clone);
    add(&mut state.degrees, changes.degrees, Clone::clone);
    add(&mut state.synonyms, changes.synonyms, Clone::clone);
    add(&mut state.entities, changes.entities, |row| (**row).clone());
    add(&mut state.precedence, changes.precedence, Clone::clone);
    add(&mut state.conflicts, changes.conflicts, Clone::clone);
    add(&mut state.answers, changes.answers, Clone::clone);
    add(&mut state.rankings, changes.rankings, Clone::clone);
    add(&mut state.evidence, changes.evidence, Clone::clone);
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

/// Compares what was found with what is wanted.
///
/// # Errors
/// The first kind of rows that differ, with the first of these.
pub fn compare(found: &State, wanted: &State) -> Result<(), String> {
    macro_rules! compare {
        ($($kind:ident),*) => {$(
            if found.$kind != wanted.$kind {
                let missing: Vec<_> = wanted.$kind.iter().filter(|(k, v)| found.$kind.get(k) != Some(v)).take(3).collect();
                let extra: Vec<_> = found.$kind.iter().filter(|(k, v)| wanted.$kind.get(k) != Some(v)).take(3).collect();
                return Err(format!("{} differ\nmissing: {missing:#?}\nextra: {extra:#?}", stringify!($kind)));
            }
        )*};
    }
    compare!(
        documents, rejects, horizons, hyperedges, incidence, degrees, synonyms, entities, precedence, conflicts,
        answers, rankings, evidence
    );
    Ok(())
}
