//! The candidates of a query (OKH-RAG A.7): seeds by cosine, slots for the query's own group, and one hop around the seeds.

use std::collections::HashSet;

use hypercane_schemas::Fixed;

/// A hyperedge that may become a candidate. Those of one query are given in the order of their ids.
#[derive(Clone, Copy, Debug)]
pub struct Scoped<'a> {
    /// Cosine with the question.
    pub relevance: f64,
    /// Its group.
    pub group: u32,
    /// Its participants that carry expansion: no anchors and no hubs.
    pub entities: &'a [u32],
}

/// How many candidates, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeSettings {
    /// Seeds by cosine, K.
    pub seeds: usize,
    /// Most candidates.
    pub candidates: usize,
    /// Share of the candidates that the query's own group may fill first.
    pub own_group_share: Fixed,
}

/// Why a hyperedge is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Via {
    /// It is of the query's own group and filled a reserved slot.
    Reserved,
    /// It is one of the K best by cosine.
    Seed,
    /// It is of the group of a seed, of the query's own group, or shares an entity with a seed.
    Expansion,
}

/// What scoping found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scope {
    /// The K best by cosine, best first, whether or not there was room for them.
    pub seeds: Vec<usize>,
    /// The candidates in the order in which they were taken.
    pub candidates: Vec<(usize, Via)>,
}

/// Fills the slots: own group up to its share, then seeds, then one hop, each best cosine first (equal: by index). Slots
/// that the own group leaves go to the others.
pub fn scope(pool: &[Scoped<'_>], own_group: Option<u32>, settings: &ScopeSettings) -> Scope {
    let mut order: Vec<usize> = (0..pool.len()).collect();
    order.sort_unstable_by(|&a, &b| pool[b].relevance.total_cmp(&pool[a].relevance).then(a.cmp(&b)));
    let seeds: Vec<usize> = order.iter().copied().take(settings.seeds).collect();
    let groups: HashSet<u32> = seeds.iter().map(|&at| pool[at].group).chain(own_group).collect();
    let entities: HashSet<u32> = seeds.iter().flat_map(|&at| pool[at].entities.iter().copied()).collect();

    let own = |at: usize| Some(pool[at].group) == own_group;
    let near = |at: usize| {
        groups.contains(&pool[at].group) || pool[at].entities.iter().any(|entity| entities.contains(entity))
    };
    let reserved = order.iter().copied().filter(|&at| own(at)).take(reserved_slots(settings));
    let filling = reserved
        .map(|at| (at, Via::Reserved))
        .chain(seeds.iter().map(|&at| (at, Via::Seed)))
        .chain(order.iter().copied().filter(|&at| near(at)).map(|at| (at, Via::Expansion)));
    let mut taken = vec![false; pool.len()];
    let fresh = filling.filter(|&(at, _)| !std::mem::replace(&mut taken[at], true));
    let candidates = fresh.take(settings.candidates).collect();
    Scope { seeds, candidates }
}

/// Whole slots of the own group's share, rounded down. In integers, so that 0.4 of 150 is 60 on every machine.
fn reserved_slots(settings: &ScopeSettings) -> usize {
    let share = settings.own_group_share.0.clamp(0, Fixed::SCALE) as u128;
    (share * settings.candidates as u128 / Fixed::SCALE as u128) as usize
}
