//! Candidates: the hyperedges from which each query may be answered.
//!
//! As if its input never changed: for each query the hyperedges that share a scope key with its links and that no link
//! excludes; for a query whose links give no key, the hyperedges of the texts nearest to it by cosine; each with how well
//! it fits, so that a fit is computed once and not whenever another candidate of the query changes. It keeps the
//! hyperedges by scope key, and the cosines of queries without links.

use std::{cmp::Reverse, sync::Arc};

use hypercane_schemas::{ContentHash, Fixed, Hyperedge, HyperedgeId, QueryId, Vector};
use serde::{Deserialize, Serialize};

use crate::{
    collection::{Collection, left_join},
    domain::Domain,
    kernel::{
        link::{ScopeKey, edge_scope_keys, shelf_of},
        relevance,
    },
    link::LinkedQuery,
    shared::Shared,
};

/// A hyperedge with its vector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Embedded {
    /// The hyperedge.
    pub hyperedge: Shared<Hyperedge>,
    /// The vector of its text; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// The hash of its shelf ([`shelf_of`]).
    pub shelf: ContentHash,
    /// The keys under which questions find it, sorted.
    pub scope: Vec<ScopeKey>,
}

impl Embedded {
    /// A hyperedge with its vector.
    pub fn new(hyperedge: Shared<Hyperedge>, vector: Option<Vector>, domain: &Domain) -> Self {
        let shelf = ContentHash::of_parts([shelf_of(&hyperedge)]);
        let scope = edge_scope_keys(&hyperedge, domain.questions());
        Self { hyperedge, vector, shelf, scope }
    }
}

/// A hyperedge from which a query may be answered, with how well it fits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// How many of the query's links it satisfies, weighted.
    pub points: i64,
    /// Cosine with the question; zero until both vectors are recorded.
    pub relevance: Fixed,
    /// The hyperedge.
    pub embedded: Shared<Embedded>,
}

impl Candidate {
    /// The fit of a hyperedge to a query; `None` where a link of the query excludes it.
    pub fn of(query: &LinkedQuery, embedded: &Shared<Embedded>, domain: &Domain) -> Option<Self> {
        let points = query.links.score(&embedded.hyperedge, domain.questions())?;
        let relevance = match (&query.vector, &embedded.vector) {
            (Some(question), Some(vector)) => Fixed::from_f64(relevance(&question.0, &vector.0)),
            _ => Fixed::default(),
        };
        Some(Self { points, relevance, embedded: embedded.clone() })
    }
}

/// The hyperedges with their vectors.
pub fn embed<'scope>(
    hyperedges: Collection<'scope, (HyperedgeId, Shared<Hyperedge>)>,
    vectors: Collection<'scope, (ContentHash, Vector)>,
    domain: Arc<Domain>,
) -> Collection<'scope, Shared<Embedded>> {
    let by_text = hyperedges.map(|(_, hyperedge)| (hyperedge.embedded_as, hyperedge));
    left_join(by_text, vectors)
        .map(move |(_, hyperedge, vector)| Shared::new(Embedded::new(hyperedge, vector, &domain)))
}

/// The candidates of each query.
pub fn candidates<'scope>(
    queries: Collection<'scope, (QueryId, Shared<LinkedQuery>)>,
    hyperedges: Collection<'scope, Shared<Embedded>>,
    domain: Arc<Domain>,
) -> Collection<'scope, (QueryId, Candidate)> {
    let scoring = Arc::clone(&domain);
    let asked = queries.clone().flat_map(|(id, query)| {
        let keys = query.links.scope.iter();
        keys.map(|key| (*key, (id.clone(), query.clone()))).collect::<Vec<_>>()
    });
    let offered = hyperedges.clone().flat_map(|embedded| {
        let keys = embedded.scope.iter();
        keys.map(|key| (*key, embedded.clone())).collect::<Vec<_>>()
    });
    let linked = asked
        .join_map(offered, move |key, (id, query), embedded| {
            // They meet under every key that they share; once is enough.
            let met = query.links.scope.iter().find(|key| embedded.scope.binary_search(key).is_ok());
            let candidate = if met == Some(key) { Candidate::of(query, embedded, &scoring) } else { None };
            candidate.map(|candidate| (id.clone(), candidate))
        })
        .flat_map(|candidate| candidate);
    linked.concat(nearest(queries, hyperedges, domain))
}

/// Texts are spread over so many keys, by their hash, so that workers share the scan for a query.
const SHARDS: u64 = 16;

/// Cosines are ranked among the texts whose hashes agree in so many bits, then the best of these among those that agree in
/// fewer, then all: a text that comes or goes is ranked among a few and not among all.
const RANKED_BY_BITS: [u32; 3] = [12, 6, 0];

/// For queries without links: the hyperedges of the texts nearest to the question.
fn nearest<'scope>(
    queries: Collection<'scope, (QueryId, Shared<LinkedQuery>)>,
    hyperedges: Collection<'scope, Shared<Embedded>>,
    domain: Arc<Domain>,
) -> Collection<'scope, (QueryId, Candidate)> {
    let open = queries.filter(|(_, query)| query.vector.is_some() && query.links.scope.is_empty());
    let everywhere =
        open.clone().flat_map(|(id, query)| (0..SHARDS).map(move |shard| (shard, (id.clone(), query.clone()))));
    let texts = hyperedges
        .clone()
        .flat_map(|embedded| Some((embedded.hyperedge.embedded_as, embedded.vector.clone()?)))
        .distinct()
        .map(|(text, vector)| ((text.0 % u128::from(SHARDS)) as u64, (text, vector)));
    let cosine = |question: &Option<Vector>, vector: &Vector| {
        let cosine = question.as_ref().map_or(0.0, |question| relevance(&question.0, &vector.0));
        Reverse(Fixed::from_f64(cosine))
    };
    let mut ranked = everywhere.join_map(texts, move |_, (id, query), (text, vector)| {
        (id.clone(), (cosine(&query.vector, vector), *text, query.query.parameters.seeds))
    });
    for bits in RANKED_BY_BITS {
        ranked = ranked
            .map(move |(id, row)| ((id, row.1.0 as u64 & ((1 << bits) - 1)), row))
            .reduce_named("Nearest", |_, ranked, output| output.extend(best(ranked)))
            .map(|((id, _), row)| (id, row));
    }
    let best_texts = ranked.map(|(id, (_, text, _))| (text, id));
    let by_text = hyperedges.map(|embedded| (embedded.hyperedge.embedded_as, embedded));
    let found = best_texts.join_map(by_text, |_, id, embedded| (id.clone(), embedded.clone()));
    // What a link excludes, such as a later issue than the query's `as_of`, stays out here too.
    found
        .join_map(open, move |id, embedded, query| {
            Candidate::of(query, embedded, &domain).map(|candidate| (id.clone(), candidate))
        })
        .flat_map(|candidate| candidate)
}

type Ranked = (Reverse<Fixed>, ContentHash, u16);

/// The first of a sorted list, as many as the query wants seeds.
fn best(ranked: &[(&Ranked, isize)]) -> Vec<(Ranked, isize)> {
    let n_seeds = ranked.first().map_or(0, |((_, _, seeds), _)| usize::from(*seeds));
    ranked.iter().take(n_seeds).map(|(ranked, _)| (**ranked, 1)).collect()
}
