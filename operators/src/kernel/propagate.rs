//! Confidence over the query's hypergraph (HyCE-RAG 3.3.3): restart distribution, two-stage random walk with restart, its
//! fixed point, confidence of hyperedges.
//!
//! S = B D_e^-1 B^T D_v^-1 is not formed for a step: S c is two products with the incidence matrix, between two scalings.

use sprs::{CsMatI, prod::mul_acc_mat_vec_csr};

use super::Hypergraph;

/// r_hat (HyCE-RAG eq. 22): `alpha` times the similarity of each entity with the question, in 0 to 1, and the rest for
/// entry entities (by index, ascending; those outside the hypergraph have no index, so no share). Cost: entities.
pub fn query_relevance(similarity: &[f64], entry: &[u32], alpha: f64) -> Vec<f64> {
    let mut relevance: Vec<f64> = similarity.iter().map(|similarity| alpha * similarity).collect();
    entry.iter().for_each(|&entity| relevance[entity as usize] += 1.0 - alpha);
    relevance
}

/// r (HyCE-RAG eq. 23): it sums to a little less than one where `epsilon` is not 0, and is 0 where all relevance is. Cost:
/// entities.
pub fn restart(relevance: &[f64], epsilon: f64) -> Vec<f64> {
    let norm = relevance.iter().sum::<f64>() + epsilon;
    relevance.iter().map(|relevance| if norm > 0.0 { relevance / norm } else { 0.0 }).collect()
}

/// S (HyCE-RAG eq. 26), to look at: `S[to, from]`, columns sum to one. Cost: the sum over hyperedges of their degree
/// squared.
pub fn transition<E, V>(graph: &Hypergraph<E, V>) -> CsMatI<f64, u32> {
    let mut leave = graph.incidence_transposed().clone();
    let mut arrive = graph.incidence().clone();
    scale_columns(&mut leave, |entity| graph.hyperedges_of(entity).len());
    scale_columns(&mut arrive, |hyperedge| graph.entities_of(hyperedge).len());
    &arrive * &leave
}

fn scale_columns(matrix: &mut CsMatI<f64, u32>, degree: impl Fn(u32) -> usize) {
    for mut row in matrix.outer_iterator_mut() {
        for (column, value) in row.iter_mut() {
            *value /= degree(column as u32) as f64;
        }
    }
}

/// c after some steps (HyCE-RAG eq. 27), from c = r. `lambda` is the restart's strength, above 0 and at most 1. Cost: steps
/// times incidences.
pub fn propagate<E, V>(graph: &Hypergraph<E, V>, restart: &[f64], lambda: f64, steps: usize) -> Vec<f64> {
    propagate_by_weight(graph, &vec![1.0; graph.hyperedges().len()], restart, lambda, steps)
}

/// The same where an entity leaves by its hyperedges in proportion to their `weights`, all above 0, and not by each alike:
/// S = B D_e^-1 W B^T D_w^-1 with D_w the sums of weights. Columns of it sum to one; with equal weights it is eq. 26. Cost: steps
/// times incidences.
pub fn propagate_by_weight<E, V>(
    graph: &Hypergraph<E, V>,
    weights: &[f64],
    restart: &[f64],
    lambda: f64,
    steps: usize,
) -> Vec<f64> {
    let of_entity = |entity| graph.hyperedges_of(entity).iter().map(|hyperedge| weights[*hyperedge as usize]).sum();
    let sums: Vec<f64> = (0u32..).take(restart.len()).map(of_entity).collect();
    let mut confidence = restart.to_vec();
    for _ in 0..steps {
        confidence.iter_mut().zip(&sums).for_each(|(value, sum)| *value /= sum);
        let arrived = redistribute(graph, weights, &confidence);
        for ((value, arrived), restart) in confidence.iter_mut().zip(arrived).zip(restart) {
            *value = lambda * restart + (1.0 - lambda) * arrived;
        }
    }
    confidence
}

/// B D_e^-1 W B^T x: each hyperedge takes the mean of its entities, weighed, each entity the sum of its hyperedges.
fn redistribute<E, V>(graph: &Hypergraph<E, V>, weights: &[f64], values: &[f64]) -> Vec<f64> {
    let mut means = hyperedge_confidence(graph, values);
    means.iter_mut().zip(weights).for_each(|(mean, weight)| *mean *= weight);
    let mut arrived = vec![0.0; values.len()];
    mul_acc_mat_vec_csr(graph.incidence().view(), means.as_slice(), arrived.as_mut_slice());
    arrived
}

/// rho (HyCE-RAG eq. 29): the mean confidence of each hyperedge's entities. Cost: incidences.
pub fn hyperedge_confidence<E, V>(graph: &Hypergraph<E, V>, confidence: &[f64]) -> Vec<f64> {
    let mut rho = vec![0.0; graph.hyperedges().len()];
    mul_acc_mat_vec_csr(graph.incidence_transposed().view(), confidence, rho.as_mut_slice());
    for (hyperedge, rho) in (0u32..).zip(&mut rho) {
        *rho /= graph.entities_of(hyperedge).len() as f64;
    }
    rho
}

/// The residual, relative to the right side, at which the fixed point is taken as found.
const RESIDUAL: f64 = 1e-15;

/// The limit of c (HyCE-RAG eq. 28), for comparison with a finite number of steps.
///
/// With c = D_v^1/2 y, eq. 28 is a symmetric system for y whose eigenvalues lie between `lambda` and 1, so conjugate
/// gradients solve it. Cost: incidences times about 18 over the root of `lambda`.
pub fn fixed_point<E, V>(graph: &Hypergraph<E, V>, restart: &[f64], lambda: f64) -> Vec<f64> {
    let degrees = (0u32..).take(restart.len()).map(|entity| graph.hyperedges_of(entity).len() as f64);
    let roots: Vec<f64> = degrees.map(f64::sqrt).collect();
    let alike = vec![1.0; graph.hyperedges().len()];
    let system = |y: &[f64]| -> Vec<f64> {
        let scaled: Vec<f64> = y.iter().zip(&roots).map(|(y, root)| y / root).collect();
        let arrived =
            redistribute(graph, &alike, &scaled).into_iter().zip(&roots).map(|(arrived, root)| arrived / root);
        y.iter().zip(arrived).map(|(y, arrived)| y - (1.0 - lambda) * arrived).collect()
    };
    let mut residual: Vec<f64> = restart.iter().zip(&roots).map(|(restart, root)| lambda * restart / root).collect();
    let mut direction = residual.clone();
    let mut y = vec![0.0; restart.len()];
    let mut norm = dot(&residual, &residual);
    let enough = norm * RESIDUAL * RESIDUAL;
    // Three times what the condition number asks for, so that rounding cannot make this endless.
    let most = 60.0 / lambda.sqrt();
    let mut steps = 0.0;
    while norm > enough && steps < most {
        let image = system(&direction);
        let length = norm / dot(&direction, &image);
        add(&mut y, length, &direction);
        add(&mut residual, -length, &image);
        let before = std::mem::replace(&mut norm, dot(&residual, &residual));
        for (direction, residual) in direction.iter_mut().zip(&residual) {
            *direction = residual + norm / before * *direction;
        }
        steps += 1.0;
    }
    y.iter().zip(&roots).map(|(y, root)| y * root).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(sum: &mut [f64], factor: f64, values: &[f64]) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}
