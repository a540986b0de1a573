//! Order coherence: log P(next | current) over the candidates of a query (OKH-RAG eq. 3, A.6).
//!
//! A model gives logits; [`log_transition`] turns them into the matrix that the searches read. Two models: the bilinear
//! one of the paper, for learned weights, and a heuristic over steps in phase and sequence until there are such weights.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Cell, GroupKey};

use super::Matrix;

/// A model of which hyperedge follows which.
pub trait Transition {
    /// The logit of going from one candidate to another, both by index.
    fn logit(&self, from: usize, to: usize) -> f64;
}

/// log P of every step: each row is the log-softmax over all candidates, the "from" itself included (eq. 3; the
/// partition is over the candidate set).
pub fn log_transition(model: &impl Transition, n_candidates: usize) -> Matrix {
    let mut matrix = Matrix::from_fn(n_candidates, |from, to| model.logit(from, to));
    for from in 0..n_candidates {
        let row = matrix.row_mut(from);
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The largest logit is taken out first, since the exponential of a large one overflows.
        let sum: f64 = row.iter().map(|logit| (logit - largest).exp()).sum();
        let log_sum = sum.ln();
        row.iter_mut().for_each(|logit| *logit = (*logit - largest) - log_sum);
    }
    matrix
}

/// The bilinear model of eq. 3 with W = UᵀV: the logit is (U h_i) · (V h_j).
#[derive(Clone, Debug)]
pub struct Bilinear {
    rank: usize,
    /// U h of every candidate, one after the other.
    from: Vec<f64>,
    /// V h of every candidate, one after the other.
    to: Vec<f64>,
}

impl Bilinear {
    /// Projects the candidates' embeddings. `u` and `v` hold one row per rank, each as long as an embedding.
    pub fn new<T: Copy + Into<f64>>(u: &[Vec<f64>], v: &[Vec<f64>], embeddings: &[&[T]]) -> Self {
        let project = |rows: &[Vec<f64>]| {
            let mut projected = Vec::with_capacity(rows.len() * embeddings.len());
            for embedding in embeddings {
                projected.extend(
                    rows.iter()
                        .map(|row| row.iter().zip(*embedding).map(|(weight, &x)| weight * x.into()).sum::<f64>()),
                );
            }
            projected
        };
        debug_assert_eq!(u.len(), v.len(), "both factors have one rank");
        Self { rank: u.len(), from: project(u), to: project(v) }
    }
}

impl Transition for Bilinear {
    fn logit(&self, from: usize, to: usize) -> f64 {
        let (from, to) = (from * self.rank, to * self.rank);
        self.from[from..from + self.rank].iter().zip(&self.to[to..to + self.rank]).map(|(a, b)| a * b).sum()
    }
}

/// Where a candidate stands, for the heuristic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Standing {
    /// Candidates in different lines (other group, or horizon against issue time) have no order in time.
    pub line: u32,
    /// Rank of its place among the distinct places of its line in the candidate set, earliest 0; `None` without a place.
    pub position: Option<u32>,
    /// Rank of its phase, from 1; 0 without a phase.
    pub phase: u8,
}

impl Standing {
    /// Where each of the candidates stands, given their cells and the ranks of their phases.
    pub fn of_all(candidates: &[(Option<&Cell>, u8)]) -> Vec<Self> {
        let mut lines: BTreeMap<(&GroupKey, bool), BTreeSet<i64>> = BTreeMap::new();
        for cell in candidates.iter().filter_map(|(cell, _)| *cell) {
            lines.entry((&cell.group, cell.by_horizon)).or_default().insert(cell.sequence);
        }
        let mut positions = BTreeMap::new();
        for (line, ((group, by_horizon), places)) in (0u32..).zip(&lines) {
            for (position, &sequence) in (0u32..).zip(places) {
                positions.insert((*group, *by_horizon, sequence), (line, position));
            }
        }
        let standing = |&(cell, phase): &(Option<&Cell>, u8)| {
            let place = cell.and_then(|cell| positions.get(&(&cell.group, cell.by_horizon, cell.sequence)));
            match place {
                Some(&(line, position)) => Self { line, position: Some(position), phase },
                None => Self { line: 0, position: None, phase },
            }
        };
        candidates.iter().map(standing).collect()
    }
}

/// What the heuristic takes off a logit. Zero everywhere makes all steps equally likely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepCosts {
    /// For each place of the sequence that a step skips forward beyond the next.
    pub skip: f64,
    /// For a step back in the sequence.
    pub back: f64,
    /// For each phase that a step within one place skips beyond the next.
    pub phase_skip: f64,
    /// For a step within one place that stays in its phase.
    pub phase_same: f64,
    /// For a step within one place to an earlier phase.
    pub phase_back: f64,
    /// For each phase between the two ends of a step to a later place.
    pub phase_across: f64,
    /// For a step to another line, or from or to a candidate without a place.
    pub elsewhere: f64,
    /// Most that skips may cost together.
    pub most_skips: f64,
}

impl Default for StepCosts {
    /// Small against relevance, since they add up over the steps of a trajectory.
    fn default() -> Self {
        Self {
            skip: 0.02,
            back: 0.4,
            phase_skip: 0.02,
            phase_same: 0.1,
            phase_back: 0.3,
            phase_across: 0.02,
            elsewhere: 0.3,
            most_skips: 0.2,
        }
    }
}

/// The stand-in for a learned model: a chain goes forward, through the phases of one place, then on to the next place.
///
/// Within a place the likeliest step is to the next phase; to a later place it is in the same phase at the next place;
/// back in time and across lines are least likely. It looks at nothing but the two ends of a step.
#[derive(Clone, Debug)]
pub struct Heuristic<'a> {
    /// Where each candidate stands.
    pub standings: &'a [Standing],
    /// What steps cost.
    pub costs: StepCosts,
}

impl Transition for Heuristic<'_> {
    fn logit(&self, from: usize, to: usize) -> f64 {
        let (a, b, costs) = (self.standings[from], self.standings[to], &self.costs);
        let phases = i32::from(b.phase) - i32::from(a.phase);
        let skips = |cost: f64, count: u32| (cost * f64::from(count)).min(costs.most_skips);
        let across = skips(costs.phase_across, phases.unsigned_abs());
        let cost = match (a.position, b.position) {
            (Some(before), Some(after)) if a.line == b.line && before == after => match phases {
                0 => costs.phase_same,
                1.. => skips(costs.phase_skip, phases.unsigned_abs() - 1),
                _ => costs.phase_back,
            },
            (Some(before), Some(after)) if a.line == b.line && before < after => {
                skips(costs.skip, after - before - 1) + across
            }
            (Some(_), Some(_)) if a.line == b.line => costs.back + across,
            _ => costs.elsewhere + across,
        };
        -cost
    }
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::{Cell, GroupKey};

    use super::{Heuristic, Standing, StepCosts, Transition, log_transition};

    #[test]
    fn the_heuristic_prefers_the_next_phase_and_the_next_place() {
        let at = |position, phase| Standing { line: 0, position: Some(position), phase };
        let standings = [at(0, 4), at(0, 6), at(0, 4), at(1, 4), at(3, 4), Standing { line: 1, ..at(1, 4) }];
        let model = Heuristic { standings: &standings, costs: StepCosts::default() };
        let better = |from, to, than| assert!(model.logit(from, to) > model.logit(from, than), "{from} {to} {than}");
        better(0, 1, 2);
        better(0, 3, 4);
        better(0, 3, 5);
        better(1, 3, 0);
        better(3, 4, 0);
        let log_p = log_transition(&model, standings.len());
        for from in 0..standings.len() {
            let sum: f64 = log_p.row(from).iter().map(|log_p| log_p.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn places_are_ranked_within_their_line() {
        let cell = |group: &str, by_horizon, sequence| {
            let group = GroupKey(group.into());
            Cell { group, sequence, by_horizon, phase: 1, family: 1 }
        };
        let cells = [
            cell("g", true, -60),
            cell("g", true, -2880),
            cell("g", false, 5),
            cell("h", true, -60),
            cell("g", true, -60),
        ];
        let candidates: Vec<_> = cells.iter().map(Some).chain([None]).map(|cell| (cell, 2)).collect();
        let standings = Standing::of_all(&candidates);
        let positions: Vec<_> = standings.iter().map(|standing| standing.position).collect();
        assert_eq!(positions, [Some(1), Some(0), Some(0), Some(0), Some(1), None]);
        assert_eq!(standings[0].line, standings[1].line);
        assert_ne!(standings[0].line, standings[2].line);
        assert_ne!(standings[0].line, standings[3].line);
        assert!(standings.iter().all(|standing| standing.phase == 2));
    }
}
