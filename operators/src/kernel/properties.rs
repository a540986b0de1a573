//! Kernels against their definitions, on small random inputs.
//!
//! Numbers are dyadic fractions, so that equal scores are equal in every order of summation and ties are met often.

mod hypergraphs;

use std::collections::BTreeSet;

use hypercane_schemas::{Cell, Fixed, GroupKey, Precedence, Rule};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::beam_search::search;
use super::*;

/// A trellis with what it is made of.
#[derive(Clone, Debug)]
struct Numbers {
    relevance: Vec<f64>,
    log_p: Vec<Vec<f64>>,
    precedes: Vec<Vec<bool>>,
    overlap: Vec<Vec<f64>>,
    covers: Vec<Option<u8>>,
}

const WEIGHTS: Weights = Weights { lambda: 1.25, mu: 0.25, nu: 0.5, rho: 0.5 };

impl Numbers {
    fn trellis(&self) -> Trellis {
        let matrix = |rows: &Vec<Vec<f64>>| Matrix::from_fn(rows.len(), |i, j| rows[i][j]);
        let (log_p, overlap) = (matrix(&self.log_p), matrix(&self.overlap));
        Trellis::new(self.relevance.clone(), log_p, |i, j| self.precedes[i][j], overlap, &self.covers, 4)
    }

    /// The score of Algorithm 1, from its words.
    fn score(&self, steps: &[usize]) -> f64 {
        let covered = |steps: &[usize]| {
            let phases: BTreeSet<u8> = steps.iter().filter_map(|&at| self.covers[at]).collect();
            phases.len() as f64 / 4.0
        };
        let mut score = self.relevance[steps[0]];
        for k in 1..steps.len() {
            let (from, to) = (steps[k - 1], steps[k]);
            score += self.relevance[to] + WEIGHTS.lambda * self.log_p[from][to] + WEIGHTS.nu * self.overlap[from][to];
            score += if self.precedes[from][to] { WEIGHTS.mu } else { 0.0 };
            score += WEIGHTS.rho * (covered(&steps[..=k]) - covered(&steps[..k]));
        }
        score
    }
}

fn numbers(most: usize) -> impl Strategy<Value = Numbers> {
    let sixteenths = |range: std::ops::Range<i32>| range.prop_map(|count| f64::from(count) / 16.0);
    (1..=most).prop_flat_map(move |n| {
        (
            vec(sixteenths(-8..17), n),
            vec(vec(sixteenths(-32..1), n), n),
            vec(vec(any::<bool>(), n), n),
            vec(vec(sixteenths(0..17), n), n),
            vec(proptest::option::of(0u8..4), n),
        )
            .prop_map(|(relevance, log_p, precedes, overlap, covers)| Numbers {
                relevance,
                log_p,
                precedes,
                overlap,
                covers,
            })
    })
}

/// All sequences of the given length; with or without repeats.
fn sequences(n: usize, length: usize, repeats: bool) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..length {
        let longer = |steps: &Vec<usize>| {
            let next = (0..n).filter(|at| repeats || !steps.contains(at));
            next.map(|at| steps.iter().copied().chain([at]).collect()).collect::<Vec<Vec<usize>>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Algorithm 1 with the penalty, each sequence scored from its first step anew.
fn plain_beam(numbers: &Numbers, settings: &BeamSettings) -> Vec<Vec<Vec<usize>>> {
    let n = numbers.relevance.len();
    let jaccard = |a: &[usize], b: &[usize]| {
        let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
        a.intersection(&b).count() as f64 / a.union(&b).count() as f64
    };
    let mut singles = sequences(n, 1, false);
    singles.sort_by(|a, b| numbers.score(b).total_cmp(&numbers.score(a)).then(a.cmp(b)));
    singles.truncate(2 * settings.width);
    let mut levels = vec![singles];
    for length in 2..=settings.length.min(n) {
        let kept = &levels[length - 2];
        let mut open: Vec<Vec<usize>> = sequences(n, length, false)
            .into_iter()
            .filter(|steps| kept.contains(&steps[..length - 1].to_vec()))
            .collect();
        let mut chosen: Vec<Vec<usize>> = Vec::new();
        while chosen.len() < settings.width && !open.is_empty() {
            let penalised = |steps: &Vec<usize>| {
                let largest = chosen.iter().map(|other| jaccard(steps, other)).fold(0.0, f64::max);
                numbers.score(steps) - settings.diversity_penalty * largest
            };
            let best = (0..open.len()).min_by(|&a, &b| penalised(&open[b]).total_cmp(&penalised(&open[a])));
            chosen.push(open.remove(best.unwrap_or_default()));
        }
        levels.push(chosen);
    }
    levels
}

fn settings(width: usize, length: usize, diversity_penalty: f64) -> BeamSettings {
    BeamSettings { width, length, trajectories: 3, weights: WEIGHTS, diversity_penalty }
}

proptest! {
    #[test]
    fn kernel_a_wide_beam_finds_the_best_of_all(numbers in numbers(5), length in 1usize..5) {
        let n = numbers.relevance.len();
        let mut all = sequences(n, length.min(n), false);
        all.sort_by(|a, b| numbers.score(b).total_cmp(&numbers.score(a)).then(a.cmp(b)));
        all.truncate(3);
        let given = beam_search(&numbers.trellis(), &settings(1000, length, 0.0));
        let steps: Vec<Vec<usize>> = given.iter().map(|trajectory| trajectory.steps.clone()).collect();
        prop_assert_eq!(&steps, &all);
        for trajectory in &given {
            prop_assert_eq!(trajectory.score, numbers.score(&trajectory.steps));
        }
    }

    #[test]
    fn kernel_a_beam_keeps_what_the_algorithm_says(
        numbers in numbers(6), width in 1usize..4, length in 1usize..5, penalty in prop_oneof![Just(0.0), Just(0.5), Just(2.0)],
    ) {
        let settings = settings(width, length, penalty);
        let mut levels = Vec::new();
        search(&numbers.trellis(), &settings, |beams| {
            levels.push(beams.iter().map(|beam| beam.steps.clone()).collect::<Vec<_>>());
        });
        prop_assert_eq!(levels, plain_beam(&numbers, &settings));
    }

    #[test]
    fn kernel_viterbi_finds_the_best_of_all(numbers in numbers(4), length in 1usize..5) {
        let trellis = numbers.trellis();
        let given = viterbi(trellis.relevance(), trellis.log_p(), 1.25, length).expect("there are candidates");
        let score = |steps: &[usize]| {
            let relevance: f64 = steps.iter().map(|&at| numbers.relevance[at]).sum();
            relevance + 1.25 * order_coherence(trellis.log_p(), steps)
        };
        let best = sequences(numbers.relevance.len(), length, true).iter().map(|steps| score(steps)).fold(f64::MIN, f64::max);
        prop_assert_eq!(given.score, best);
        prop_assert_eq!(score(&given.path), best);
        // Of equal ways the one through the smaller index.
        let least = |values: Vec<f64>| (0..values.len()).rev().max_by(|&a, &b| values[a].total_cmp(&values[b]));
        prop_assert_eq!(given.path.last().copied(), least(given.dp[length - 1].clone()));
        for level in 1..length {
            let to = given.path[level];
            let ways = (0..numbers.relevance.len()).map(|from| given.dp[level - 1][from] + 1.25 * numbers.log_p[from][to]);
            prop_assert_eq!(Some(given.path[level - 1]), least(ways.collect()));
        }
    }

    #[test]
    fn kernel_scope_fills_as_the_definition_says(
        pool in vec((0i32..6, 0u32..4, btree_set(0u32..8, 1..4)), 0..14),
        own_group in proptest::option::of(0u32..5), seeds in 0usize..5, candidates in 0usize..12, share in 0i64..11,
    ) {
        let pool: Vec<(f64, u32, Vec<u32>)> =
            pool.into_iter().map(|(cosine, group, set)| (f64::from(cosine) / 8.0, group, set.into_iter().collect())).collect();
        let settings = ScopeSettings { seeds, candidates, own_group_share: Fixed(share * Fixed::SCALE / 10) };
        let scoped: Vec<Scoped<'_>> =
            pool.iter().map(|(relevance, group, entities)| Scoped { relevance: *relevance, group: *group, entities }).collect();
        let given = scope(&scoped, own_group, &settings);

        let mut best_first: Vec<usize> = (0..pool.len()).collect();
        best_first.sort_by(|&a, &b| pool[b].0.total_cmp(&pool[a].0));
        let seeds = &best_first[..settings.seeds.min(pool.len())];
        prop_assert_eq!(&given.seeds, seeds);
        let near = |at: usize| {
            Some(pool[at].1) == own_group
                || seeds.iter().any(|&seed| pool[seed].1 == pool[at].1 || jaccard(&pool[seed].2, &pool[at].2) > 0.0)
        };
        let mut expected: Vec<(usize, Via)> = Vec::new();
        let reserved = candidates * share as usize / 10;
        for via in [Via::Reserved, Via::Seed, Via::Expansion] {
            for &at in &best_first {
                let fits = match via {
                    Via::Reserved => Some(pool[at].1) == own_group && expected.len() < reserved,
                    Via::Seed => seeds.contains(&at),
                    Via::Expansion => near(at),
                };
                if fits && expected.len() < candidates && expected.iter().all(|&(other, _)| other != at) {
                    expected.push((at, via));
                }
            }
        }
        prop_assert_eq!(given.candidates, expected);
    }
}

/// Rules with shared phases and with a causal chain inside a phase.
fn rules() -> PrecedenceRules {
    let causal = |name: &str, before: &[u8], after: &[u8]| CausalRule {
        name: name.into(),
        before: before.to_vec(),
        after: after.to_vec(),
    };
    PrecedenceRules {
        phases: [(1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 4)].into(),
        change_family: Some(6),
        causal: vec![causal("first", &[2], &[1]), causal("skip", &[1], &[4, 5])],
    }
}

fn cells() -> impl Strategy<Value = Vec<Cell>> {
    let cell =
        (0u8..2, 0i64..4, any::<bool>(), 1u8..6, any::<bool>()).prop_map(|(group, at, by_horizon, family, change)| {
            let phase = if change { 4 } else { rules().phases[&family] };
            Cell { group: GroupKey(group.to_string()), sequence: at, by_horizon, phase, family }
        });
    btree_set(cell, 1..24).prop_map(|cells| cells.into_iter().collect())
}

/// Transitive closure by repeated squaring of a relation over indices.
fn closure(n: usize, mut related: Vec<Vec<bool>>) -> Vec<Vec<bool>> {
    for middle in 0..n {
        for from in 0..n {
            for to in 0..n {
                related[from][to] |= related[from][middle] && related[middle][to];
            }
        }
    }
    related
}

proptest! {
    #[test]
    fn kernel_precedes_is_the_closure_of_the_rules(cells in cells()) {
        let (rules, n) = (rules(), cells.len());
        prop_assert_eq!(rules.validate(), Ok(()));
        let relate = |holds: &dyn Fn(&Cell, &Cell) -> bool| -> Vec<Vec<bool>> {
            let row = |a: &Cell| cells.iter().map(|b| holds(a, b)).collect();
            closure(n, cells.iter().map(row).collect())
        };
        let by_definition = relate(&|a, b| rules.between(a, b).next().is_some());
        let steps = rules.covering(&cells);
        let by_covering = relate(&|a, b| steps.iter().any(|step| step.before == *a && step.after == *b));
        prop_assert_eq!(&by_covering, &by_definition);
        for step in &steps {
            prop_assert!(rules.between(&step.before, &step.after).any(|rule| rule == step.rule));
        }
        let reach = Reach::new(&rules, &cells);
        for (i, a) in cells.iter().enumerate() {
            prop_assert!(!by_definition[i][i]);
            for (j, b) in cells.iter().enumerate() {
                prop_assert_eq!(reach.cell_precedes(a, b), by_definition[i][j], "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn kernel_canonical_order_is_the_least_topological_order(
        cells in cells(), picks in vec((0usize..64, 0u32..3), 1..20),
    ) {
        let rules = rules();
        let item = |(id, &(at, position)): (usize, &(usize, u32))| {
            // Some hyperedges have no place in the sequence.
            let cell = cells.get(at % (cells.len() + 1)).cloned();
            let (phase, family) = cell.as_ref().map_or((1, 1), |cell| (cell.phase, cell.family));
            Orderable { cell, phase, family, position, id }
        };
        let items: Vec<Orderable<usize>> = picks.iter().enumerate().map(item).collect();
        let given = canonical_order(&rules, &items);
        let mut left: Vec<usize> = (0..items.len()).collect();
        let mut expected = Vec::new();
        while !left.is_empty() {
            let before = |a: usize, b: usize| match (&items[a].cell, &items[b].cell) {
                (Some(a), Some(b)) => rules.between(a, b).next().is_some(),
                _ => false,
            };
            let free = left.iter().copied().filter(|&at| left.iter().all(|&other| !before(other, at)));
            let least = free.min_by_key(|&at| items[at].canonical_key()).expect("the rules have no circle");
            expected.push(least);
            left.retain(|&at| at != least);
        }
        prop_assert_eq!(given, expected);
    }
}

#[test]
fn kernel_covering_is_linear_in_places() {
    let rules = rules();
    let cells = |n_places: i64| -> Vec<Cell> {
        let cell = |sequence, family: u8| Cell {
            group: GroupKey("g".into()),
            sequence,
            by_horizon: true,
            phase: rules.phases[&family],
            family,
        };
        (0..n_places)
            .flat_map(|at| (1..6).map(move |family| (at, family)))
            .map(|(at, family)| cell(at, family))
            .collect()
    };
    let size = |n_places| rules.covering(&cells(n_places)).len();
    assert_eq!(size(80) - size(40), 40 * (size(2) - size(1)));
}

#[test]
fn kernel_contradicting_rules_are_refused_and_never_panic() {
    let mut rules = rules();
    rules.causal.push(CausalRule { name: "against".into(), before: vec![4], after: vec![3] });
    assert!(rules.validate().is_err());
    let cell = |family: u8| Cell {
        group: GroupKey("g".into()),
        sequence: 0,
        by_horizon: true,
        phase: rules.phases[&family],
        family,
    };
    let cells = [cell(3), cell(4)];
    let circle: Vec<Precedence> = rules.covering(&cells);
    assert!(circle.iter().any(|step| step.rule == Rule::CausalChain));
    assert_eq!(Reach::new(&rules, &cells).index(&cells[1]), Some(1));
    let item = |family: u8| Orderable {
        cell: Some(cell(family)),
        phase: rules.phases[&family],
        family,
        position: 0,
        id: family,
    };
    assert_eq!(canonical_order(&rules, &[item(4), item(3)]), [1, 0]);
    rules.phases.insert(5, 4);
    assert!(rules.validate().is_err());
}

#[test]
fn kernel_empty_inputs_give_empty_answers() {
    let empty = Matrix::from_fn(0, |_, _| 0.0);
    let trellis = Trellis::new(Vec::new(), empty.clone(), |_, _| false, empty.clone(), &[], 0);
    assert!(beam_search(&trellis, &settings(8, 8, 0.5)).is_empty());
    assert_eq!(viterbi(&[], &empty, 1.0, 3), None);
    assert!(canonical_order::<u8>(&PrecedenceRules::default(), &[]).is_empty());
    assert_eq!(PrecedenceRules::default().validate(), Ok(()));
    let one = Matrix::from_fn(1, |_, _| 0.0);
    let trellis = Trellis::new(vec![0.5], one.clone(), |_, _| false, one, &[None], 0);
    assert!(beam_search(&trellis, &settings(0, 3, 0.5)).is_empty());
    assert!(beam_search(&trellis, &settings(8, 0, 0.0)).is_empty());
}
