//! The trajectory objective (OKH-RAG eq. 5) and its terms (A.6) over precomputed numbers of the candidates.

use super::Matrix;

/// Everything about the candidates of one query that the objective reads, by candidate index.
///
/// Candidates are in the order of their ids, so that a comparison of indices is one of ids.
#[derive(Clone, Debug)]
pub struct Trellis {
    relevance: Vec<f64>,
    log_p: Matrix,
    precedes: Vec<bool>,
    overlap: Matrix,
    covers: Vec<u64>,
    n_covered: u32,
}

impl Trellis {
    /// Gathers the terms. `precedes(i, j)` is the whole relation, transitive closure included; `overlap` is the Jaccard
    /// similarity of entity sets; `covers` gives each candidate's phase as an index into the `n_covered`
    /// phases of S (eq. 13), `None` for a phase outside S.
    ///
    /// # Panics
    /// If the lengths differ, or S has more than 64 phases.
    pub fn new(
        relevance: Vec<f64>,
        log_p: Matrix,
        mut precedes: impl FnMut(usize, usize) -> bool,
        overlap: Matrix,
        covers: &[Option<u8>],
        n_covered: u32,
    ) -> Self {
        let n = relevance.len();
        assert!(log_p.size() == n && overlap.size() == n && covers.len() == n, "one row of each term per candidate");
        assert!(n_covered <= 64, "at most 64 phases are covered");
        let bit = |phase: &Option<u8>| match phase {
            Some(phase) if u32::from(*phase) < n_covered => 1u64 << phase,
            _ => 0,
        };
        Self {
            precedes: (0..n * n).map(|at| precedes(at / n, at % n)).collect(),
            overlap,
            covers: covers.iter().map(bit).collect(),
            n_covered,
            relevance,
            log_p,
        }
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.relevance.len()
    }

    /// Whether there is no candidate.
    pub fn is_empty(&self) -> bool {
        self.relevance.is_empty()
    }

    /// Rel of every candidate.
    pub fn relevance(&self) -> &[f64] {
        &self.relevance
    }

    /// log P, rows "from", columns "to".
    pub fn log_p(&self) -> &Matrix {
        &self.log_p
    }

    /// Jaccard similarity of entity sets.
    pub fn overlap(&self) -> &Matrix {
        &self.overlap
    }

    /// Whether one candidate precedes another.
    pub fn precedes(&self, before: usize, after: usize) -> bool {
        self.precedes[before * self.len() + after]
    }

    /// What a candidate precedes.
    pub(crate) fn precedes_row(&self, before: usize) -> &[bool] {
        &self.precedes[before * self.len()..(before + 1) * self.len()]
    }

    /// The covered phases of a candidate, as bits.
    pub(crate) fn covers(&self) -> &[u64] {
        &self.covers
    }

    /// Cov of a set of covered phases; 0 where S is empty.
    pub(crate) fn share_covered(&self, phases: u64) -> f64 {
        if self.n_covered == 0 { 0.0 } else { f64::from(phases.count_ones()) / f64::from(self.n_covered) }
    }
}

/// Weights of eq. 5; all zero gives plain top-k.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Weights {
    /// Of order coherence.
    pub lambda: f64,
    /// Of precedence consistency.
    pub mu: f64,
    /// Of entity continuity.
    pub nu: f64,
    /// Of phase coverage.
    pub rho: f64,
}

/// The terms of eq. 5, each before its weight, and their weighted sum.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Parts {
    /// Sum of Rel.
    pub relevance: f64,
    /// Trans: sum of log P.
    pub transition: f64,
    /// Prec (eq. 11).
    pub precedence: f64,
    /// Ovlp (eq. 12).
    pub overlap: f64,
    /// Cov (eq. 13).
    pub coverage: f64,
    /// The weighted sum.
    pub total: f64,
}

/// Trans (A.6): the sum of log P over consecutive steps, first to last.
pub fn order_coherence(log_p: &Matrix, trajectory: &[usize]) -> f64 {
    steps(trajectory).map(|(from, to)| log_p.get(from, to)).sum()
}

/// Prec (eq. 11): the share of ordered consecutive pairs that go with the order; 0 where no pair is ordered.
pub fn precedence_consistency(precedes: impl Fn(usize, usize) -> bool, trajectory: &[usize]) -> f64 {
    let (mut with, mut ordered) = (0u32, 0u32);
    for (from, to) in steps(trajectory) {
        let forward = precedes(from, to);
        with += u32::from(forward);
        ordered += u32::from(forward || precedes(to, from));
    }
    if ordered == 0 { 0.0 } else { f64::from(with) / f64::from(ordered) }
}

/// Ovlp (eq. 12): the mean Jaccard similarity of consecutive steps; 0 for a single step.
pub fn entity_continuity(overlap: impl Fn(usize, usize) -> f64, trajectory: &[usize]) -> f64 {
    let sum: f64 = steps(trajectory).map(|(from, to)| overlap(from, to)).sum();
    if trajectory.len() < 2 { 0.0 } else { sum / (trajectory.len() - 1) as f64 }
}

/// All terms of eq. 5 for a trajectory, each summed from its first step to its last.
pub fn objective(trellis: &Trellis, weights: Weights, trajectory: &[usize]) -> Parts {
    let relevance = trajectory.iter().map(|&at| trellis.relevance[at]).sum();
    let transition = order_coherence(&trellis.log_p, trajectory);
    let precedence = precedence_consistency(|from, to| trellis.precedes(from, to), trajectory);
    let overlap = entity_continuity(|from, to| trellis.overlap.get(from, to), trajectory);
    let phases = trajectory.iter().fold(0, |phases, &at| phases | trellis.covers[at]);
    let coverage = trellis.share_covered(phases);
    let total = relevance
        + weights.lambda * transition
        + weights.mu * precedence
        + weights.nu * overlap
        + weights.rho * coverage;
    Parts { relevance, transition, precedence, overlap, coverage, total }
}

/// Consecutive pairs.
fn steps(trajectory: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    trajectory.windows(2).map(|pair| (pair[0], pair[1]))
}
