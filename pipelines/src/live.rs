//! The live pipeline: documents, horizons and queries in; hypergraph, precedence, conflicts and answers out.
//!
//! ```text
//! answers   -> upsert -----------v  (of a language model, where one extracts)
//! documents -> upsert -> chunk -> extract -> supersede -> canonicalize -> unify -> dedupe -> inject_horizons -+-> hyperedges
//! horizons  -> upsert --------------------------------------------> reference_times -------------^           |
//!                                                                      synthesize_changes <------------------+
//!                     incidence, degrees, entities, precedence, conflicts <- hyperedges
//!                     synonyms <- entities, vectors   (where the pack looks for them)
//! queries   -> upsert -> link -> candidates -> trajectory -> answers
//!                          |        ^
//!                          +--------|-----> rank_passages -> rankings
//!                          |        |          ^
//! vectors   ---------------|--------+-> passages   (from what extract gives, where the pack reads running text)
//!                          +---> asked ----> find_evidence <- hyperedges, entities; -> evidence
//! ```

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    mem,
    rc::Rc,
    sync::Arc,
};

use differential_dataflow::{AsCollection, ExchangeData, Hashable};
use hypercane_operators::{
    Candidate, Collection, KeyedChange, Shared, asked, candidates, canonicalize, cells, chunk, dedupe, degrees,
    domain::Domain, embed, entities, extract, extract::RecordedAnswer, extract_answered, find_evidence, incidence,
    inject_horizons, kernel::PrecedenceRules, link, mentioned, order_conflicts, passages, precedence, rank_passages,
    reference_times, supersede, synonyms, synthesize_changes, trajectory, unify, unranked, upsert, value_conflicts,
};
use hypercane_schemas::{
    ContentHash, Document, DocumentKey, Epoch, GroupKey, HorizonUpdate, Mode, Query, QueryId, Vector,
};
use timely::{
    container::CapacityContainerBuilder,
    dataflow::{
        InputHandle, Scope,
        operators::{Exchange, Input as _, Inspect, Probe, probe, vec::Broadcast},
    },
};

use crate::changes::Changes;

/// Changes of documents.
pub type DocumentChange = KeyedChange<DocumentKey, Shared<Document>>;
/// Changes of horizons.
pub type HorizonChange = KeyedChange<GroupKey, HorizonUpdate>;
/// Changes of queries.
pub type QueryChange = KeyedChange<QueryId, Shared<Query>>;
/// A recorded vector, under the hash of the text that it stands for.
pub type VectorChange = KeyedChange<ContentHash, Vector>;
/// A recorded answer of a language model, under the hash of the passage that it is about.
pub type AnswerChange = KeyedChange<ContentHash, RecordedAnswer>;

type ChangeHandle<C> = InputHandle<Epoch, CapacityContainerBuilder<Vec<C>>>;

/// The handles by which a worker feeds the dataflow.
pub struct Inputs {
    /// Documents that came, changed or went.
    pub documents: ChangeHandle<DocumentChange>,
    /// Reference times that were set or taken away.
    pub horizons: ChangeHandle<HorizonChange>,
    /// Queries that came, changed or went.
    pub queries: ChangeHandle<QueryChange>,
    /// Recorded vectors. One that several processes give counts once.
    pub vectors: ChangeHandle<VectorChange>,
    /// Recorded answers, which count where the domain pack [reads](Domain::reads_answers) by them.
    pub answers: ChangeHandle<AnswerChange>,
}

impl Inputs {
    /// Closes every epoch before `epoch`.
    pub fn advance_to(&mut self, epoch: Epoch) {
        self.documents.advance_to(epoch);
        self.horizons.advance_to(epoch);
        self.queries.advance_to(epoch);
        self.vectors.advance_to(epoch);
        self.answers.advance_to(epoch);
    }
}

/// Where a worker's updates wait until their epoch is complete. What other processes send for the next epoch may come before
/// this one has seen that the last is complete, so epochs are kept apart.
#[derive(Clone, Default)]
pub struct Outbox(Rc<RefCell<BTreeMap<Epoch, Changes>>>);

impl Outbox {
    fn note(&self, epoch: Epoch, note: impl FnOnce(&mut Changes)) {
        note(self.0.borrow_mut().entry(epoch).or_default());
    }

    /// What came up to an epoch, consolidated.
    pub fn take_up_to(&self, epoch: Epoch) -> Changes {
        let mut waiting = self.0.borrow_mut();
        let later = waiting.split_off(&(epoch + 1));
        let complete = mem::replace(&mut *waiting, later);
        let mut changes = Changes::default();
        complete.into_values().for_each(|part| changes.absorb(part));
        changes.consolidate();
        changes
    }
}

/// The groups whose facts are kept; all where it is `None`.
pub type Groups = Option<Arc<BTreeSet<GroupKey>>>;

/// Builds the dataflow on one worker. What is kept of a group alone does not depend on which other groups are.
///
/// Where it is `spread` over several processes, all that tells of a change in an answer comes out where the answer does.
pub fn live(
    scope: Scope<'_, Epoch>,
    domain: &Arc<Domain>,
    groups: Groups,
    spread: bool,
) -> (Inputs, Outbox, probe::Handle<Epoch>) {
    let outbox = Outbox::default();
    let mut probe = probe::Handle::new();
    let (document_input, document_changes) = scope.new_input();
    let (horizon_input, horizon_changes) = scope.new_input();
    let (query_input, query_changes) = scope.new_input();
    let (vector_input, vector_changes) = scope.new_input();
    let (answer_input, answer_changes) = scope.new_input();

    let documents = upsert::<DocumentKey, Shared<Document>>(document_changes);
    let horizons = upsert::<GroupKey, HorizonUpdate>(horizon_changes);
    let queries = upsert::<QueryId, Shared<Query>>(query_changes);
    let vectors = upsert::<ContentHash, Vector>(vector_changes);
    let answers = upsert::<ContentHash, RecordedAnswer>(answer_changes);

    let chunks = chunk(documents.clone(), Arc::clone(domain));
    let (extracted, unreadable) = match domain.reads_answers() {
        true => extract_answered(chunks, answers, Arc::clone(domain)),
        false => extract(chunks, Arc::clone(domain)),
    };
    let spoken = supersede(extracted);
    let (assertions, unknown_words) = canonicalize(spoken.clone(), Arc::clone(domain));
    let assertions = unify(assertions)
        .filter(move |assertion| groups.as_ref().is_none_or(|groups| groups.contains(&assertion.hyperedge.group)));
    let facts = dedupe(assertions.clone());
    let reference_times = reference_times(horizons.clone(), assertions);
    let stated = inject_horizons(facts.clone(), reference_times.clone());
    let changes = synthesize_changes(stated.clone(), Arc::clone(domain));
    let hyperedges = stated.clone().concat(changes);
    let incidence = incidence(hyperedges.clone());
    let conflicts = value_conflicts(stated, Arc::clone(domain)).concat(order_conflicts(facts.clone(), reference_times));

    let mut rejects = unreadable.concat(unknown_words);
    if !domain.ranks_passages() {
        rejects = rejects.concat(unranked(queries.clone()));
    }

    let entities = entities(facts, Arc::clone(domain));
    let queries_linked = link(queries.clone(), entities.clone(), vectors.clone(), Arc::clone(domain));
    let embedded = embed(hyperedges.clone(), vectors.clone(), Arc::clone(domain));
    let of_mode = |mode| queries_linked.clone().filter(move |(_, query)| query.query.mode == mode);
    let (ordered, ranked, reasoned) = (of_mode(Mode::Trajectory), of_mode(Mode::Spread), of_mode(Mode::Evidence));
    let candidates = candidates(ordered.clone(), embedded.clone(), Arc::clone(domain));

    let rules = Arc::new(PrecedenceRules::from(&**domain));
    let cells = cells(hyperedges.clone(), Arc::clone(&rules));

    macro_rules! collect {
        ($kind:ident, $rows:expr) => {{
            let outbox = outbox.clone();
            let rows = if spread { on_its_own_worker($rows) } else { $rows };
            rows.inspect(move |(row, epoch, diff)| {
                outbox.note(*epoch, |changes| changes.$kind.push((row.clone(), *epoch, *diff)))
            })
            .probe_with(&mut probe);
        }};
    }
    macro_rules! tell_all {
        ($kind:ident) => {{
            let (keys, outbox) = ($kind.clone().map(|(key, _)| key).inner, outbox.clone());
            let keys = if spread { keys.broadcast() } else { keys };
            keys.inspect(move |(key, epoch, _)| {
                outbox.note(*epoch, |changes| drop(changes.moved.$kind.replace(key.clone())));
            })
            .probe_with(&probe);
        }};
    }
    tell_all!(documents);
    tell_all!(horizons);
    tell_all!(queries);
    collect!(documents, documents.map(|(_, document)| document));
    collect!(horizons, horizons.map(|(_, horizon)| horizon));
    collect!(queries, queries.map(|(_, query)| query));
    collect!(hyperedges, hyperedges.map(|(_, hyperedge)| hyperedge));
    collect!(degrees, degrees(incidence.clone(), domain.hub_degree()));
    collect!(incidence, incidence);
    collect!(entities, entities.clone().map(|(_, entity)| entity));
    if let Some(eta) = domain.synonym_cosine() {
        collect!(synonyms, synonyms(entities.clone(), vectors.clone(), eta));
    }
    if domain.ranks_passages() {
        let pack = Arc::clone(domain);
        let asked = asked(reasoned, vectors.clone(), move |question| mentioned(question, &pack));
        let (hub, eta) = (domain.hub_degree() as usize, domain.synonym_cosine());
        collect!(evidence, find_evidence(embedded, entities, vectors.clone(), asked, hub, eta));
        let passages = passages(spoken, vectors);
        collect!(rankings, rank_passages(passages, ranked, Arc::clone(domain)));
    }
    let answers = trajectory(ordered, candidates.clone(), cells.clone(), Arc::clone(domain));
    let answers = if spread { by_query(answers, |answer| &answer.query) } else { answers };
    let told = outbox.clone();
    answers
        .inspect(move |(row, epoch, diff)| {
            told.note(*epoch, |changes| changes.answers.push((row.clone(), *epoch, *diff)));
        })
        .probe_with(&probe);
    touched(candidates, spread, &outbox, &mut probe);
    collect!(precedence, precedence(cells, rules));
    collect!(conflicts, conflicts);
    collect!(rejects, rejects);

    let inputs = Inputs {
        documents: document_input,
        horizons: horizon_input,
        queries: query_input,
        vectors: vector_input,
        answers: answer_input,
    };
    (inputs, outbox, probe)
}

/// The rows, each on the worker of its own hash. A row may follow from one thing before and from another after: it would go
/// in one process and come in another, and each would tell a change where there is none.
fn on_its_own_worker<R: ExchangeData + Hashable<Output = u64>>(rows: Collection<'_, R>) -> Collection<'_, R> {
    rows.inner.exchange(|(row, ..)| row.hashed()).as_collection()
}

/// Brings rows to the worker that their query belongs to.
fn by_query<R: ExchangeData>(rows: Collection<'_, R>, query: fn(&R) -> &QueryId) -> Collection<'_, R> {
    rows.inner.exchange(move |(row, ..)| query(row).hashed()).as_collection()
}

/// Notes for each query whose candidates change which documents and groups they are of.
fn touched(
    candidates: Collection<'_, (QueryId, Candidate)>,
    spread: bool,
    outbox: &Outbox,
    probe: &mut probe::Handle<Epoch>,
) {
    let outbox = outbox.clone();
    if spread {
        let touched = candidates.flat_map(|(query, candidate)| {
            let hash = candidate.hashed();
            places(&query, &candidate).map(|place| (place, hash)).collect::<Vec<_>>()
        });
        by_query(touched, |((query, ..), _)| query)
            .inspect(move |((place, hash), epoch, diff)| {
                outbox.note(*epoch, |changes| changes.touched.add(place.clone(), *hash, *diff));
            })
            .probe_with(probe);
        return;
    }
    // The same without a row for each: this runs for every candidate that comes or goes.
    candidates
        .inspect(move |((query, candidate), epoch, diff)| {
            let hash = candidate.hashed();
            outbox.note(*epoch, |changes| {
                places(query, candidate).for_each(|place| changes.touched.add(place, hash, *diff));
            });
        })
        .probe_with(probe);
}

/// The places where a candidate of a query stands: the documents that state it, and its group.
fn places(query: &QueryId, candidate: &Candidate) -> impl Iterator<Item = (QueryId, DocumentKey, GroupKey)> {
    let hyperedge = &candidate.embedded.hyperedge;
    hyperedge.provenance.iter().map(|place| (query.clone(), place.document.clone(), hyperedge.group.clone()))
}
