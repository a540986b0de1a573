//! Trajectory search over the most candidates that a query has, on seeded inputs.

mod seeded;

use divan::{Bencher, black_box};
use hypercane_operators::kernel::{
    BeamSettings, CausalRule, Heuristic, Matrix, PrecedenceRules, Reach, Standing, Standpoint, StepCosts, Trellis,
    Weights, beam_search, log_transition, overlaps, viterbi,
};
use hypercane_schemas::{Cell, GroupKey};
use seeded::Seeded;

const N_CANDIDATES: usize = 150;

fn main() {
    divan::main();
}

/// What a query knows of its candidates.
struct Candidates {
    relevance: Vec<f64>,
    standings: Vec<Standing>,
    entities: Vec<Vec<u32>>,
    covers: Vec<Option<u8>>,
}

impl Candidates {
    fn seeded() -> Self {
        let mut seeded = Seeded(7);
        let mut entities = || {
            let mut set: Vec<u32> = (0..3 + seeded.next() % 5).map(|_| (seeded.next() % 40) as u32).collect();
            set.sort_unstable();
            set.dedup();
            set
        };
        let entities: Vec<Vec<u32>> = (0..N_CANDIDATES).map(|_| entities()).collect();
        let standings: Vec<Standing> = (0..N_CANDIDATES)
            .map(|_| Standing {
                line: 0,
                position: Some((seeded.next() % 20) as u32),
                phase: 1 + (seeded.next() % 13) as u8,
            })
            .collect();
        Self {
            relevance: (0..N_CANDIDATES).map(|_| seeded.unit()).collect(),
            covers: standings.iter().map(|at| at.phase.checked_sub(4).filter(|&phase| phase < 6)).collect(),
            standings,
            entities,
        }
    }

    fn log_p(&self) -> Matrix {
        let model = Heuristic { standings: &self.standings, costs: StepCosts::default() };
        log_transition(&model, N_CANDIDATES)
    }

    fn trellis(&self) -> Trellis {
        let at = &self.standings;
        Trellis::new(
            self.relevance.clone(),
            self.log_p(),
            |a, b| (at[a].position, at[a].phase) < (at[b].position, at[b].phase),
            overlaps(&self.entities.iter().map(Vec::as_slice).collect::<Vec<_>>()),
            &self.covers,
            6,
        )
    }
}

fn settings(diversity_penalty: f64) -> BeamSettings {
    let weights = Weights { lambda: 1.2, mu: 0.3, nu: 0.2, rho: 0.5 };
    BeamSettings { width: 8, length: 8, trajectories: 3, weights, diversity_penalty }
}

/// All that is computed once per query: log P, precedence and overlap of every pair.
#[divan::bench]
fn prepare(bencher: Bencher<'_, '_>) {
    let candidates = Candidates::seeded();
    bencher.bench(|| black_box(&candidates).trellis());
}

#[divan::bench(args = [0.0, 0.5])]
fn beam(bencher: Bencher<'_, '_>, diversity_penalty: f64) {
    let trellis = Candidates::seeded().trellis();
    let settings = settings(diversity_penalty);
    bencher.bench(|| beam_search(black_box(&trellis), &settings));
}

#[divan::bench]
fn prepare_and_beam(bencher: Bencher<'_, '_>) {
    let candidates = Candidates::seeded();
    let settings = settings(0.5);
    bencher.bench(|| beam_search(&black_box(&candidates).trellis(), &settings));
}

#[divan::bench]
fn two_terms_exactly(bencher: Bencher<'_, '_>) {
    let candidates = Candidates::seeded();
    let log_p = candidates.log_p();
    bencher.bench(|| viterbi(black_box(&candidates.relevance), &log_p, 1.2, 8));
}

/// The cells of a long storm: every family at a hundred issue times, with its changes.
fn long_storm() -> (PrecedenceRules, Vec<Cell>) {
    let rules = PrecedenceRules {
        phases: (1..14).map(|family| (family, family)).collect(),
        change_family: Some(13),
        causal: vec![CausalRule { name: "hazard_to_operation".into(), before: vec![6, 7, 9], after: vec![10] }],
    };
    let group = GroupKey("AL092017".into());
    let mut cells = Vec::new();
    for advisory in 0..100 {
        for base_family in 1..13 {
            for family in [base_family, 13] {
                let issued_minutes = Some(advisory * 180);
                cells.extend(
                    rules.cell(&group, Standpoint { family, base_family, horizon_hours: None, issued_minutes }),
                );
            }
        }
    }
    (rules, cells)
}

#[divan::bench]
fn cover_a_long_storm(bencher: Bencher<'_, '_>) {
    let (rules, cells) = long_storm();
    bencher.bench(|| rules.covering(black_box(&cells)));
}

#[divan::bench]
fn close_a_long_storm(bencher: Bencher<'_, '_>) {
    let (rules, cells) = long_storm();
    let steps = rules.covering(&cells);
    bencher.bench(|| Reach::from_steps(black_box(&cells), &steps));
}
