//! Trajectory retrieval for one question, in plain form: links scope the hyperedges, cosine and beam search rank them
//! (OKH-RAG 3.2, A.6, A.7), and the trajectories are laid out in time.
//!
//! Algorithm 1 alone would fill all steps from whatever is nearest in cosine, which among near-identical facts is chance.
//! So each trajectory is searched among the facts of the documents that the links want most and that no trajectory
//! before it has shown, with equal room for each of several documents.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use hypercane_schemas::{Cell, ContentHash, EntityKey, Fixed, GroupKey, Hyperedge, QueryParameters, StepScore};

use super::{
    BeamSettings, Heuristic, PrecedenceRules, Reach, ScopeSettings, Scoped, Standing, StepCosts, Trellis, Weights,
    beam_search,
    link::{Links, Plan},
    log_transition, overlaps, scope, sequence,
};
use crate::domain::Domain;

/// A hyperedge that may be evidence.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The hyperedge.
    pub edge: &'a Hyperedge,
    /// The hash of its shelf ([`super::link::shelf_of`]).
    pub shelf: ContentHash,
    /// How well it fits the links.
    pub points: i64,
    /// Cosine with the question.
    pub relevance: f64,
}

/// A question with what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its links.
    pub links: &'a Links,
    /// Its own group.
    pub group: Option<&'a GroupKey>,
    /// Settings.
    pub parameters: &'a QueryParameters,
}

/// A step: which candidate, and its cosine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index into the candidates.
    pub candidate: usize,
    /// Cosine with the question.
    pub relevance: f64,
}

/// A trajectory, laid out in time.
#[derive(Clone, Debug, PartialEq)]
pub struct Laid {
    /// Its steps, earliest first.
    pub steps: Vec<Step>,
    /// Its score, in the order in which it was found.
    pub score: StepScore,
}

/// Gives the precedence among the cells of a group; asked only for groups that a trajectory may pass through.
pub type ReachOf<'a> = &'a dyn Fn(&GroupKey) -> Option<Rc<Reach>>;

/// The best trajectories for a question among candidates, most wanted first. `reach_of` gives the precedence of the groups
/// that the candidates belong to.
pub fn retrieve(asked: &Asked<'_>, candidates: &[Offered<'_>], reach_of: ReachOf<'_>, domain: &Domain) -> Vec<Laid> {
    let plan = asked.links.plan(candidates, domain.questions());
    let rules = PrecedenceRules::from(domain);
    let search = Search { asked, candidates, reach_of, rules: &rules, domain };
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    let mut laid = Vec::new();
    for _ in 0..asked.parameters.trajectories {
        let pool = pool(&plan, &used, &shown, usize::from(asked.parameters.length), laid.is_empty());
        if pool.is_empty() {
            break;
        }
        let Some(trajectory) = search.best(pool) else { break };
        used.extend(trajectory.steps.iter().map(|s| s.candidate));
        for shelf in &plan.shelves {
            if shelf.edges.iter().any(|e| used.contains(e)) {
                shown.insert(&shelf.product);
            }
        }
        laid.push(trajectory);
    }
    laid
}

/// Documents within so many points of the best are answered from together in the first trajectory.
const MARGIN: i64 = 18;

/// The facts from which the next trajectory is searched: of the documents most wanted among those not shown yet, with
/// equal shares of the steps; of all others only when these run out.
fn pool(plan: &Plan, used: &BTreeSet<usize>, shown: &BTreeSet<&str>, length: usize, first: bool) -> Vec<usize> {
    let fresh: Vec<_> = plan.shelves.iter().filter(|s| !shown.contains(s.product.as_str())).collect();
    let best = fresh.first().map_or(0, |s| s.weight);
    let wanted: Vec<_> = fresh.into_iter().filter(|s| !first || s.weight >= best - MARGIN).take(length).collect();
    if let [only] = wanted.as_slice()
        && first
    {
        return only.edges.clone();
    }
    let again = plan.shelves.iter().filter(|s| shown.contains(s.product.as_str()));
    let lists: Vec<Vec<usize>> = wanted
        .into_iter()
        .chain(again)
        .map(|s| s.edges.iter().copied().filter(|e| !used.contains(e)).collect())
        .collect();
    let mut taken = Vec::new();
    let rounds = lists.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..rounds {
        for list in &lists {
            if taken.len() < length {
                taken.extend(list.get(round));
            }
        }
    }
    taken
}

/// What all searches of one question share.
struct Search<'a> {
    asked: &'a Asked<'a>,
    candidates: &'a [Offered<'a>],
    reach_of: ReachOf<'a>,
    rules: &'a PrecedenceRules,
    domain: &'a Domain,
}

impl Search<'_> {
    /// The best trajectory over a pool of candidates.
    fn best(&self, mut pool: Vec<usize>) -> Option<Laid> {
        pool.sort_unstable_by_key(|&at| self.candidates[at].edge.id);
        pool.dedup();
        if pool.len() > usize::from(self.asked.parameters.candidates) {
            pool = self.scoped(&pool);
        }
        let trellis = self.trellis(&pool);
        let parameters = self.asked.parameters;
        let settings = BeamSettings {
            width: usize::from(parameters.beam_width),
            length: usize::from(parameters.length),
            trajectories: 1,
            weights: Weights {
                lambda: parameters.lambda.to_f64(),
                mu: parameters.mu.to_f64(),
                nu: parameters.nu.to_f64(),
                rho: parameters.rho.to_f64(),
            },
            diversity_penalty: parameters.diversity_penalty.to_f64(),
        };
        let found = beam_search(&trellis, &settings).into_iter().next()?;
        let mut steps: Vec<Step> = found
            .steps
            .iter()
            .map(|&at| Step { candidate: pool[at], relevance: self.candidates[pool[at]].relevance })
            .collect();
        steps.sort_by_key(|s| self.place_in_time(self.candidates[s.candidate].edge));
        let fixed = Fixed::from_f64;
        let score = StepScore {
            relevance: fixed(found.parts.relevance),
            transition: fixed(found.parts.transition),
            precedence: fixed(found.parts.precedence),
            overlap: fixed(found.parts.overlap),
            coverage: fixed(found.parts.coverage),
            total: fixed(found.parts.total),
        };
        Some(Laid { steps, score })
    }

    /// A.7 over a pool that is too large.
    fn scoped(&self, pool: &[usize]) -> Vec<usize> {
        let mut groups: BTreeMap<&GroupKey, u32> = BTreeMap::new();
        let mut entities: BTreeMap<&EntityKey, (u32, u32)> = BTreeMap::new();
        let mut of_group = Vec::new();
        let mut of_entities: Vec<Vec<u32>> = Vec::new();
        for &at in pool {
            let edge = self.candidates[at].edge;
            let next = groups.len() as u32;
            of_group.push(*groups.entry(&edge.group).or_insert(next));
            let mut keys = Vec::new();
            for member in edge.members.iter().filter(|member| !member.entity.is_anchor()) {
                let next = entities.len() as u32;
                let (key, degree) = entities.entry(&member.entity).or_insert((next, 0));
                *degree += 1;
                keys.push(*key);
            }
            of_entities.push(keys);
        }
        // A hub joins everything with everything: a storm is in all that is said of it.
        let hubs: BTreeSet<u32> =
            entities.values().filter(|(_, degree)| *degree > self.domain.hub_degree()).map(|(key, _)| *key).collect();
        of_entities.iter_mut().for_each(|keys| keys.retain(|key| !hubs.contains(key)));
        let scoped: Vec<Scoped<'_>> = pool
            .iter()
            .enumerate()
            .map(|(i, &at)| Scoped {
                relevance: self.candidates[at].relevance,
                group: of_group[i],
                entities: &of_entities[i],
            })
            .collect();
        let parameters = self.asked.parameters;
        let settings = ScopeSettings {
            seeds: usize::from(parameters.seeds),
            candidates: usize::from(parameters.candidates),
            own_group_share: parameters.own_group_share,
        };
        let own = self.asked.group.and_then(|group| groups.get(group).copied());
        let mut kept: Vec<usize> =
            scope(&scoped, own, &settings).candidates.into_iter().map(|(i, _)| pool[i]).collect();
        kept.sort_unstable_by_key(|&at| self.candidates[at].edge.id);
        kept
    }

    fn trellis(&self, pool: &[usize]) -> Trellis {
        let edge = |at: usize| self.candidates[pool[at]].edge;
        let n = pool.len();
        let cells: Vec<Option<Cell>> = (0..n).map(|at| self.rules.cell_of(edge(at))).collect();
        let mut reaches: BTreeMap<&GroupKey, Option<Rc<Reach>>> = BTreeMap::new();
        for cell in cells.iter().flatten() {
            reaches.entry(&cell.group).or_insert_with(|| (self.reach_of)(&cell.group));
        }
        // The group's precedence and the place in it of each candidate.
        let places: Vec<Option<(&Rc<Reach>, usize)>> = cells
            .iter()
            .map(|cell| {
                let cell = cell.as_ref()?;
                let reach = reaches.get(&cell.group)?.as_ref()?;
                Some((reach, reach.index(cell)?))
            })
            .collect();
        let standings = standings(&cells);
        let heuristic = Heuristic { standings: &standings, costs: StepCosts::default() };
        let sets: Vec<Vec<&str>> =
            (0..n).map(|at| edge(at).members.iter().map(|m| m.entity.0.as_str()).collect()).collect();
        let slices: Vec<&[&str]> = sets.iter().map(Vec::as_slice).collect();
        let phases = self.domain.coverage_phases();
        let covers: Vec<Option<u8>> = (0..n)
            .map(|at| {
                let phase = self.domain.phase(edge(at).family);
                phases.iter().position(|p| p == phase).map(|p| p as u8)
            })
            .collect();
        Trellis::new(
            pool.iter().map(|&at| self.candidates[at].relevance).collect(),
            log_transition(&heuristic, n),
            |a, b| match (places[a], places[b]) {
                // Nothing is ordered across groups.
                (Some((reach, a)), Some((other, b))) => Rc::ptr_eq(reach, other) && reach.precedes(a, b),
                _ => false,
            },
            overlaps(&slices),
            &covers,
            phases.len() as u32,
        )
    }

    /// The order in which people read: time of issue (by horizon where there is no time), phase, family, text position.
    fn place_in_time<'e>(&self, edge: &'e Hyperedge) -> impl Ord + use<'e> {
        let horizon = std::cmp::Reverse(edge.horizon_hours);
        let phase = self.domain.phase_rank(edge.family);
        // A change stands where the state before it does.
        let at = match sequence(edge) {
            Some((false, minutes)) => Some(minutes),
            _ => edge.issued_at.map(|at| at.as_second().div_euclid(60)),
        };
        (at, horizon, phase, edge.base_family, edge.position, edge.id)
    }
}

/// Where candidates stand relative to each other, for the heuristic.
fn standings(cells: &[Option<Cell>]) -> Vec<Standing> {
    let mut lines: BTreeMap<(&GroupKey, bool), BTreeSet<i64>> = BTreeMap::new();
    for cell in cells.iter().flatten() {
        lines.entry((&cell.group, cell.by_horizon)).or_default().insert(cell.sequence);
    }
    type Ranked = (u32, BTreeMap<i64, u32>);
    let mut ranks: BTreeMap<(&GroupKey, bool), Ranked> = BTreeMap::new();
    for (line, (key, places)) in lines.into_iter().enumerate() {
        let order = places.into_iter().zip(0u32..).collect();
        ranks.insert(key, (line as u32, order));
    }
    let standing = |cell: &Option<Cell>| match cell {
        Some(cell) => {
            let (line, order) = &ranks[&(&cell.group, cell.by_horizon)];
            Standing { line: *line, position: order.get(&cell.sequence).copied(), phase: cell.phase }
        }
        None => Standing { line: u32::MAX, position: None, phase: 0 },
    };
    cells.iter().map(standing).collect()
}
