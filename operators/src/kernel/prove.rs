//! One hop of answer-guided expansion (HyperProve 3.3): a bounded search over the local walk, scores with the frontier that
//! earlier hops carried, the best K facts, the new frontier.

use std::collections::BTreeSet;

use super::{FactWalk, rank::higher_first};

/// How a hop searches and what it keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProveSettings {
    /// theta: a transition leads on where it is strictly above.
    pub theta: f64,
    /// L: most steps from a start.
    pub steps: u32,
    /// alpha: weight of the cosine against structure, 0 to 1.
    pub alpha: f64,
    /// K: facts taken as evidence.
    pub facts: usize,
    /// Whether the search starts from the carried frontier too (the paper's introduction), or from the seeds alone (its
    /// section 3.3).
    pub from_frontier: bool,
}

/// A fact that a hop reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached<F> {
    /// The fact.
    pub fact: F,
    /// Steps from the nearest start.
    pub steps: u32,
    /// c_t,k: cosine with the sub-query.
    pub cosine: f64,
    /// Steps to the nearest fact of the frontier, where one can be reached.
    pub frontier_steps: Option<u32>,
    /// struct: see [`structure`].
    pub structure: f64,
    /// alpha times cosine and the rest of structure.
    pub score: f64,
}

/// What a hop found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop<F> {
    /// All facts reached, best first, equal ones by id.
    pub ranking: Vec<Reached<F>>,
    /// How many of the ranking, from its start, are the hop's evidence: K, or all.
    pub taken: usize,
    /// F_t: the carried frontier with the evidence.
    pub frontier: BTreeSet<F>,
}

impl<F> Hop<F> {
    /// The evidence of the hop, best first.
    pub fn evidence(&self) -> &[Reached<F>] {
        &self.ranking[..self.taken]
    }
}

/// One hop over T*, the walk on the local facts G*. Seeds and members of the frontier outside G* start no search and have
/// no distance, but stay in the frontier. `cosine` is by fact of the walk. Facts of the frontier may be evidence again. Cost:
/// the sum over ties of their facts squared ([`neighbours`]), then sorting what is reached.
pub fn prove_hop<F: Ord + Clone, N>(
    walk: &FactWalk<F, N>,
    seeds: &BTreeSet<F>,
    frontier: &BTreeSet<F>,
    cosine: &[f64],
    settings: &ProveSettings,
) -> Hop<F> {
    let facts = walk.graph().hyperedges();
    let forward = neighbours(walk, settings.theta);
    let carried = walk.graph().hyperedges_among(frontier);
    let mut starts = walk.graph().hyperedges_among(seeds);
    if settings.from_frontier {
        starts.extend(&carried);
    }
    let steps = distances(&forward, &starts, settings.steps);
    // A path from a fact to the frontier is one from the frontier against the direction of transitions.
    let frontier_steps = distances(&reversed(&forward), &carried, u32::MAX);

    let scored = |(at, steps): (usize, Option<u32>)| {
        let structure = structure(frontier_steps[at]);
        Some(Reached {
            fact: facts[at].clone(),
            steps: steps?,
            cosine: cosine[at],
            frontier_steps: frontier_steps[at],
            structure,
            score: settings.alpha * cosine[at] + (1.0 - settings.alpha) * structure,
        })
    };
    let mut ranking: Vec<Reached<F>> = steps.into_iter().enumerate().filter_map(scored).collect();
    // They come in the order of ids, which a stable sort keeps among equals.
    ranking.sort_by(|a, b| higher_first(a.score, b.score));
    let taken = settings.facts.min(ranking.len());
    let evidence = ranking[..taken].iter().map(|reached| &reached.fact);
    let frontier = frontier.iter().chain(evidence).cloned().collect();
    Hop { ranking, taken, frontier }
}

/// N_theta: the facts that a transition strictly above `theta` leads to from each fact, ascending (HyperProve 3.3). Cost: the
/// sum over ties of their facts squared.
pub fn neighbours<F, N>(walk: &FactWalk<F, N>, theta: f64) -> Vec<Vec<u32>> {
    let above =
        |row: Vec<(u32, f64)>| row.into_iter().filter(|&(_, share)| share > theta).map(|(fact, _)| fact).collect();
    walk.rows().map(above).collect()
}

/// Steps from the nearest start to each fact, along the direction of `neighbours`, where it takes at most `most`. Cost: the
/// neighbours of the facts reached.
pub fn distances(neighbours: &[Vec<u32>], starts: &[u32], most: u32) -> Vec<Option<u32>> {
    let mut distances: Vec<Option<u32>> = vec![None; neighbours.len()];
    starts.iter().for_each(|&start| distances[start as usize] = Some(0));
    let mut layer: Vec<u32> = starts.to_vec();
    let mut distance = 0;
    while distance < most && !layer.is_empty() {
        distance += 1;
        let mut next = Vec::new();
        for &other in layer.iter().flat_map(|&fact| &neighbours[fact as usize]) {
            if distances[other as usize].is_none() {
                distances[other as usize] = Some(distance);
                next.push(other);
            }
        }
        layer = next;
    }
    distances
}

/// struct (HyperProve 3.3): the reciprocal of the steps to the frontier. 1 for a fact of the frontier itself, as for its direct
/// neighbours; 0 where the frontier can't be reached.
pub fn structure(frontier_steps: Option<u32>) -> f64 {
    frontier_steps.map_or(0.0, |steps| 1.0 / f64::from(steps.max(1)))
}

fn reversed(neighbours: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut reversed = vec![Vec::new(); neighbours.len()];
    for (fact, others) in (0u32..).zip(neighbours) {
        others.iter().for_each(|&other| reversed[other as usize].push(fact));
    }
    reversed
}
