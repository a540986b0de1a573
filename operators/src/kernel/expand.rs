//! From entry entities to the query's hyperedges (HyCE-RAG 3.3.2): candidates by hops over the incidence, s_hyp, the best
//! K_h of them.

use super::{Hypergraph, rank::top};

/// How far to go and what to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpandSettings {
    /// Hops from entities over their hyperedges to entities; one is eq. 15 as printed.
    pub hops: usize,
    /// Weight of entry matching against the relevance of the text (eq. 16), 0 to 1.
    pub beta: f64,
    /// The constant in the denominator of eq. 17.
    pub epsilon: f64,
    /// K_h: most hyperedges kept (eq. 19).
    pub hyperedges: usize,
}

/// A hyperedge that expansion came to, with its retrieval score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expanded {
    /// Its index.
    pub hyperedge: u32,
    /// The hop in which it was met first, from one.
    pub hop: usize,
    /// s_entry (eq. 17).
    pub entry: f64,
    /// s_rel (eq. 18), as given.
    pub relevance: f64,
    /// s_hyp (eq. 16).
    pub score: f64,
}

/// E_q: the K_h candidates with the highest s_hyp, best first, equal ones by id (HyCE-RAG eq. 15 to 19). `entry` are the
/// entry entities by index, without repeats; `carries` says which entities carry expansion (a hub carries none, as an entry
/// entity neither); `relevance` gives s_rel, and is asked for candidates only. Cost: that of [`candidates`] and [`score`].
pub fn expand<E, V>(
    graph: &Hypergraph<E, V>,
    entry: &[u32],
    carries: impl Fn(u32) -> bool,
    relevance: impl FnMut(u32) -> f64,
    settings: &ExpandSettings,
) -> Vec<Expanded> {
    let found = candidates(graph, entry, carries, settings.hops);
    let scored = score(graph, &found, entry, relevance, settings);
    let scores: Vec<f64> = scored.iter().map(|expanded| expanded.score).collect();
    top(&scores, settings.hyperedges).into_iter().map(|at| scored[at]).collect()
}

/// E_c: the hyperedges met within some hops, each with the hop in which it was met first, ascending (HyCE-RAG eq. 15,
/// repeated with the entities reached). Entities that do not carry expansion are reached, but lead nowhere. Cost: the
/// incidences of the hyperedges met, and a pass over one mark for each hyperedge and entity.
pub fn candidates<E, V>(
    graph: &Hypergraph<E, V>,
    entry: &[u32],
    carries: impl Fn(u32) -> bool,
    hops: usize,
) -> Vec<(u32, usize)> {
    // 0: not met.
    let mut met_in = vec![0; graph.hyperedges().len()];
    let mut reached = vec![false; graph.entities().len()];
    let mut arrive = |entity: u32, frontier: &mut Vec<u32>| {
        if !std::mem::replace(&mut reached[entity as usize], true) && carries(entity) {
            frontier.push(entity);
        }
    };
    let mut frontier: Vec<u32> = Vec::new();
    entry.iter().for_each(|&entity| arrive(entity, &mut frontier));
    for hop in 1..=hops {
        let mut next = Vec::new();
        for &hyperedge in frontier.iter().flat_map(|&entity| graph.hyperedges_of(entity)) {
            let met_in = &mut met_in[hyperedge as usize];
            if *met_in == 0 {
                *met_in = hop;
                graph.entities_of(hyperedge).iter().for_each(|&entity| arrive(entity, &mut next));
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    (0u32..).zip(met_in).filter(|&(_, hop)| hop > 0).collect()
}

/// s_entry and s_hyp of candidates (HyCE-RAG eq. 16 and 17). s_entry counts the entry entities themselves, so it is 0 for
/// what only farther hops reach. Cost: the candidates, the hyperedges of the entry entities, and clearing one count for each
/// hyperedge.
pub fn score<E, V>(
    graph: &Hypergraph<E, V>,
    candidates: &[(u32, usize)],
    entry: &[u32],
    mut relevance: impl FnMut(u32) -> f64,
    settings: &ExpandSettings,
) -> Vec<Expanded> {
    let ExpandSettings { beta, epsilon, .. } = *settings;
    let mut n_entry = vec![0u32; graph.hyperedges().len()];
    for &hyperedge in entry.iter().flat_map(|&entity| graph.hyperedges_of(entity)) {
        n_entry[hyperedge as usize] += 1;
    }
    candidates
        .iter()
        .map(|&(hyperedge, hop)| {
            let n_members = graph.entities_of(hyperedge).len() as f64;
            let share = f64::from(n_entry[hyperedge as usize]) / (n_members + epsilon);
            let relevance = relevance(hyperedge);
            Expanded { hyperedge, hop, entry: share, relevance, score: beta * share + (1.0 - beta) * relevance }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::candidates;
    use crate::kernel::Hypergraph;

    #[test]
    fn hubs_are_reached_but_lead_nowhere() {
        let graph = Hypergraph::new([(0, "a"), (0, "hub"), (1, "hub"), (1, "b"), (2, "b")]);
        let entry = graph.entities_among(&["a"]);
        let hub = graph.entity(&"hub").unwrap();
        assert_eq!(candidates(&graph, &entry, |_| true, 9), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(candidates(&graph, &entry, |entity| entity != hub, 9), [(0, 1)]);
        assert_eq!(candidates(&graph, &[hub], |entity| entity != hub, 9), []);
        assert_eq!(candidates(&graph, &entry, |_| true, 0), []);
    }
}
