//! Walks on hypergraphs, expansion and fusion against their definitions, the matrices dense.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::kernel::{
    FactWalk, Hypergraph, LocalSettings, Tie, expand, fixed_point, fuse, jaccard, propagate, prove, rank::top,
};

type Dense = Vec<Vec<f64>>;

fn dense(n_rows: usize, n_columns: usize, value: impl Fn(usize, usize) -> f64) -> Dense {
    (0..n_rows).map(|row| (0..n_columns).map(|column| value(row, column)).collect()).collect()
}

fn product(a: &Dense, b: &Dense) -> Dense {
    dense(a.len(), b.first().map_or(0, Vec::len), |row, column| {
        a[row].iter().zip(b).map(|(value, other)| value * other[column]).sum()
    })
}

/// Solves a system by Gaussian elimination; the pivots on the diagonal are the largest of their column.
fn solve(mut system: Dense, mut right: Vec<f64>) -> Vec<f64> {
    for pivot in 0..right.len() {
        let pivots = system[pivot].clone();
        for row in (0..right.len()).filter(|&row| row != pivot) {
            let factor = system[row][pivot] / pivots[pivot];
            system[row].iter_mut().zip(&pivots).for_each(|(value, pivot)| *value -= factor * pivot);
            right[row] -= factor * right[pivot];
        }
    }
    (0..right.len()).map(|at| right[at] / system[at][at]).collect()
}

fn hypergraphs() -> impl Strategy<Value = Hypergraph<u8, u8>> {
    vec((0u8..8, 0u8..12), 1..40).prop_map(Hypergraph::new)
}

/// S as eq. 26 has it.
fn dense_transition(graph: &Hypergraph<u8, u8>) -> Dense {
    let (n_entities, n_hyperedges) = (graph.entities().len(), graph.hyperedges().len());
    let b = |entity: usize, hyperedge: usize| {
        if graph.entities_of(hyperedge as u32).contains(&(entity as u32)) { 1.0 } else { 0.0 }
    };
    let d_v = |entity: usize| (0..n_hyperedges).map(|hyperedge| b(entity, hyperedge)).sum::<f64>();
    let d_e = |hyperedge: usize| (0..n_entities).map(|entity| b(entity, hyperedge)).sum::<f64>();
    product(
        &dense(n_entities, n_hyperedges, |entity, hyperedge| b(entity, hyperedge) / d_e(hyperedge)),
        &dense(n_hyperedges, n_entities, |hyperedge, entity| b(entity, hyperedge) / d_v(entity)),
    )
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum()
}

proptest! {
    #[test]
    fn kernel_columns_of_the_transition_sum_to_one(graph in hypergraphs()) {
        let given = propagate::transition(&graph).to_dense();
        for (row, expected) in given.rows().into_iter().zip(dense_transition(&graph)) {
            prop_assert!(distance(row.as_slice().unwrap(), &expected) < 1e-12);
        }
        for column in given.columns() {
            prop_assert!((column.sum() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn kernel_propagation_goes_to_the_closed_form(
        graph in hypergraphs(), weights in vec(0u32..8, 12), lambda in 0.02..=1.0f64,
    ) {
        let n = graph.entities().len();
        let weights: Vec<f64> = weights.into_iter().take(n).map(f64::from).collect();
        let restart = propagate::restart(&weights, 1e-9);
        let s = dense_transition(&graph);
        let identity = |row, column| if row == column { 1.0 } else { 0.0 };
        let system = dense(n, n, |row, column| identity(row, column) - (1.0 - lambda) * s[row][column]);
        let limit = solve(system, restart.iter().map(|restart| lambda * restart).collect());

        // Appendix B: what is left after K steps is at most (1 - lambda)^K, here against a limit of the same norm.
        for steps in [0, 1, 2, 5, 10, 50] {
            let error = distance(&propagate::propagate(&graph, &restart, lambda, steps), &limit);
            prop_assert!(error <= 2.0 * (1.0 - lambda).powi(steps as i32) + 1e-12, "{} steps: {}", steps, error);
        }
        prop_assert!(distance(&propagate::propagate(&graph, &restart, lambda, 1200), &limit) < 1e-9);
        prop_assert!(distance(&fixed_point(&graph, &restart, lambda), &limit) < 1e-9);
        prop_assert!((limit.iter().sum::<f64>() - restart.iter().sum::<f64>()).abs() < 1e-9);
    }

    #[test]
    fn kernel_propagation_by_weight_is_the_dense_walk(
        graph in hypergraphs(), drawn in vec(1u32..8, 24), lambda in 0.02..=1.0f64, steps in 0usize..6,
    ) {
        let (n, m) = (graph.entities().len(), graph.hyperedges().len());
        let weights: Vec<f64> = (0..m).map(|at| f64::from(drawn[at % drawn.len()])).collect();
        let restart = propagate::restart(&vec![1.0; n], 0.0);
        let is_in = |entity: usize, hyperedge: usize| graph.entities_of(hyperedge as u32).contains(&(entity as u32));
        let sum = |from: usize| (0..m).filter(|at| is_in(from, *at)).map(|at| weights[at]).sum::<f64>();
        let s = dense(n, n, |to, from| {
            let shared = (0..m).filter(|at| is_in(from, *at) && is_in(to, *at));
            shared.map(|at| weights[at] / sum(from) / graph.entities_of(at as u32).len() as f64).sum()
        });
        let mut expected = restart.clone();
        for _ in 0..steps {
            let arrived = |to: usize| (0..n).map(|from| s[to][from] * expected[from]).sum::<f64>();
            expected = (0..n).map(|to| lambda * restart[to] + (1.0 - lambda) * arrived(to)).collect();
        }
        let given = propagate::propagate_by_weight(&graph, &weights, &restart, lambda, steps);
        prop_assert!(distance(&given, &expected) < 1e-12);
        prop_assert!((given.iter().sum::<f64>() - restart.iter().sum::<f64>()).abs() < 1e-12);
    }

    #[test]
    fn kernel_expansion_repeats_what_one_hop_says(
        graph in hypergraphs(), entry in btree_set(0u8..12, 0..4), hubs in btree_set(0u8..12, 0..4), hops in 0usize..4,
    ) {
        let entry = graph.entities_among(&entry);
        let hubs = graph.entities_among(&hubs);
        let given = expand::candidates(&graph, &entry, |entity| !hubs.contains(&entity), hops);
        let mut reached: BTreeSet<u32> = entry.iter().copied().collect();
        let mut expected: Vec<(u32, usize)> = Vec::new();
        for hop in 1..=hops {
            let carrying: BTreeSet<u32> = reached.iter().copied().filter(|entity| !hubs.contains(entity)).collect();
            for hyperedge in 0..graph.hyperedges().len() as u32 {
                let touches = graph.entities_of(hyperedge).iter().any(|entity| carrying.contains(entity));
                if touches {
                    reached.extend(graph.entities_of(hyperedge));
                    if !expected.iter().any(|&(met, _)| met == hyperedge) {
                        expected.push((hyperedge, hop));
                    }
                }
            }
        }
        expected.sort_unstable();
        prop_assert_eq!(given, expected);
    }

    #[test]
    fn kernel_top_is_the_start_of_a_full_sort(scores in vec(0u32..6, 0..20), most in 0usize..24) {
        let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
        let mut expected: Vec<usize> = (0..scores.len()).collect();
        expected.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        expected.truncate(most);
        prop_assert_eq!(top(&scores, most), expected);
    }

    #[test]
    fn kernel_fusion_takes_the_best_open_path_and_all_that_overlap_with_it(
        paths in vec((0u32..4, btree_set(0u8..6, 1..4)), 0..12), tau in prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0f64],
    ) {
        let sets: Vec<Vec<u8>> = paths.iter().map(|(_, set)| set.iter().copied().collect()).collect();
        let retained: Vec<&[u8]> = sets.iter().map(Vec::as_slice).collect();
        let scores: Vec<f64> = paths.iter().map(|(score, _)| f64::from(*score) / 4.0).collect();
        let given = fuse(&retained, &scores, tau);

        let mut open = top(&scores, scores.len());
        let mut expected: Vec<Vec<usize>> = Vec::new();
        while let Some(&seed) = open.first() {
            let joins = |&path: &usize| path == seed || jaccard(retained[seed], retained[path]) >= tau;
            let (group, rest) = open.into_iter().partition(joins);
            expected.push(group);
            open = rest;
        }
        prop_assert_eq!(given, expected);
    }
}

/// Participants and document of each fact.
type Facts = Vec<(BTreeSet<u8>, u8)>;

fn facts() -> impl Strategy<Value = Facts> {
    vec((btree_set(0u8..7, 0..4), 0u8..6), 1..12)
}

fn walk(facts: &Facts) -> FactWalk<usize, Tie<u8, u8>> {
    FactWalk::new(facts.iter().enumerate().flat_map(|(fact, (names, document))| {
        let names = names.iter().map(|&name| Tie::Entity(name));
        names.chain([Tie::Document(*document)]).map(move |tie| (fact, tie))
    }))
}

/// T_s as section 3.2 has it, or T* on some facts: W_s over all, cut, its diagonal taken away, rows scaled to one.
fn dense_walk(facts: &Facts, kept: &[usize]) -> Dense {
    let b_he = dense(facts.len(), 7, |fact, name| f64::from(u8::from(facts[fact].0.contains(&(name as u8)))));
    let b_hd = dense(facts.len(), 6, |fact, document| f64::from(u8::from(usize::from(facts[fact].1) == document)));
    let side = |b: &Dense| {
        let n = b[0].len();
        let degree = |column: usize| b.iter().map(|row| row[column]).sum::<f64>();
        let inverse = |column: usize| if degree(column) > 0.0 { 1.0 / degree(column) } else { 0.0 };
        product(&dense(b.len(), n, |fact, at| b[fact][at] * inverse(at)), &dense(n, b.len(), |at, fact| b[fact][at]))
    };
    let (entities, documents) = (side(&b_he), side(&b_hd));
    let w =
        |row: usize, column: usize| if row == column { 0.0 } else { entities[row][column] + documents[row][column] };
    let row_sum = |row: usize| kept.iter().map(|&column| w(row, column)).sum::<f64>();
    let scaled = |row: usize, column: usize| if row_sum(row) > 0.0 { w(row, column) / row_sum(row) } else { 0.0 };
    dense(kept.len(), kept.len(), |row, column| scaled(kept[row], kept[column]))
}

fn full(row: &[(u32, f64)], size: usize) -> Vec<f64> {
    let mut full = vec![0.0; size];
    row.iter().for_each(|&(at, share)| full[at as usize] = share);
    full
}

proptest! {
    #[test]
    fn kernel_the_walk_by_factors_is_the_dense_walk(
        facts in facts(), keep in vec(any::<bool>(), 12), mass in vec(0u32..4, 12),
    ) {
        let all: Vec<usize> = (0..facts.len()).collect();
        let some: Vec<usize> = all.iter().copied().filter(|&fact| keep[fact]).collect();
        let whole = walk(&facts);
        let indices: Vec<u32> = some.iter().map(|&fact| fact as u32).collect();
        for (walk, kept) in [(whole.clone(), &all), (whole.restrict(&indices), &some)] {
            prop_assert_eq!(walk.graph().hyperedges(), kept.as_slice());
            let expected = dense_walk(&facts, kept);
            for ((at, row), expected) in walk.rows().enumerate().zip(&expected) {
                prop_assert!(distance(&full(&row, kept.len()), expected) < 1e-12);
                prop_assert_eq!(&row, &walk.row(at as u32));
                prop_assert!(row.is_empty() || (row.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
            }
            let mass: Vec<(u32, f64)> =
                (0..kept.len()).filter(|&at| mass[at] > 0).map(|at| (at as u32, f64::from(mass[at]) / 8.0)).collect();
            let moved = product(&vec![full(&mass, kept.len())], &expected);
            let given = full(&walk.step(&mass), kept.len());
            prop_assert!(moved.first().is_none_or(|moved| distance(&given, moved) < 1e-12));
        }
        // A part with the degrees of the whole is the restriction.
        let ties = |&fact: &u32| whole.graph().entities_of(fact).iter().map(move |&tie| (fact, tie));
        let of_part = indices.iter().flat_map(ties).map(|(fact, tie)| {
            (whole.graph().hyperedges()[fact as usize], whole.graph().entities()[tie as usize].clone())
        });
        let degree = |tie: &Tie<u8, u8>| whole.degrees()[whole.graph().entity(tie).unwrap() as usize] as u32;
        prop_assert_eq!(FactWalk::with_degrees(of_part, degree), whole.restrict(&indices));
    }

    #[test]
    fn kernel_local_facts_are_those_within_reach(
        facts in facts(), seeds in btree_set(0u32..12, 1..4), steps in 0usize..4, most in 1usize..13,
    ) {
        let walk = walk(&facts);
        let seeds: Vec<u32> = seeds.into_iter().filter(|&seed| (seed as usize) < facts.len()).collect();
        let mass: Vec<(u32, f64)> = seeds.iter().map(|&seed| (seed, 1.0)).collect();
        let reach = prove::distances(&prove::neighbours(&walk, 0.0), &seeds, steps as u32);
        let within: Vec<u32> = (0u32..).zip(reach).filter_map(|(fact, steps)| steps.map(|_| fact)).collect();
        let settings = |facts| LocalSettings { steps, damping: 0.5, facts };
        prop_assert_eq!(&walk.local(&mass, &settings(12)), &within);
        let fewer = walk.local(&mass, &settings(most));
        prop_assert!(fewer.len() <= most && fewer.iter().all(|fact| within.contains(fact)));
        prop_assert!(seeds.iter().take(most).all(|seed| fewer.contains(seed)));
    }

    #[test]
    fn kernel_distances_are_the_shortest(
        edges in btree_set((0u32..8, 0u32..8), 0..20), starts in btree_set(0u32..8, 0..3), most in 0u32..9,
    ) {
        let to = |from: u32| edges.range((from, 0)..(from + 1, 0)).map(|&(_, to)| to).collect();
        let neighbours: Vec<Vec<u32>> = (0..8).map(to).collect();
        let mut expected: Vec<Option<u32>> = (0..8).map(|at| starts.contains(&at).then_some(0)).collect();
        for steps in 1..=most {
            let before = expected.clone();
            for &(from, to) in &edges {
                if before[from as usize].is_some() && expected[to as usize].is_none() {
                    expected[to as usize] = Some(steps);
                }
            }
        }
        let starts: Vec<u32> = starts.into_iter().collect();
        prop_assert_eq!(prove::distances(&neighbours, &starts, most), expected);
    }
}
