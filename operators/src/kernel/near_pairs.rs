//! Pairs of names whose vectors are near each other, by blocked matrix products (HyperProve 3.2).

use std::ops::Range;

use crate::language::products::Dense;

/// Vectors that are compared with each other at a time.
const BLOCK: usize = 256;
/// Vectors that a block is compared with at a time.
const ROWS: usize = 1024;

/// The pairs with a cosine strictly above `least`, the first of `of` and the second before it: `(first, second, cosine)`.
/// So ranges that join to all vectors give each pair once. `vectors` are of length one, one behind the other, `length`
/// numbers each. Cost: the products of every two.
pub fn near_pairs(vectors: &[f32], length: usize, of: Range<usize>, least: f32) -> Vec<(u32, u32, f64)> {
    let mut pairs = Vec::new();
    for start in of.clone().step_by(BLOCK) {
        let end = of.end.min(start + BLOCK);
        let block = Dense::new(&vectors[start * length..end * length], &vec![0.0; end - start]);
        for from in (0..end).step_by(ROWS) {
            let n_rows = ROWS.min(end - from);
            let cosines = block.apply(&vectors[from * length..(from + n_rows) * length], length, n_rows);
            for (row, cosines) in cosines.chunks_exact(end - start).enumerate() {
                let second = from + row;
                let near =
                    cosines.iter().enumerate().filter(|(first, cosine)| start + first > second && **cosine > least);
                pairs.extend(near.map(|(first, cosine)| ((start + first) as u32, second as u32, f64::from(*cosine))));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::near_pairs;

    #[test]
    fn each_near_pair_comes_once_and_least_is_no_part() {
        let angles: Vec<f32> = (0..700u16).map(|at| f32::from(at) * 0.01).collect();
        let vectors: Vec<f32> = angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        let mut found = near_pairs(&vectors, 2, 0..300, 0.9997);
        found.extend(near_pairs(&vectors, 2, 300..700, 0.9997));
        let mut pairs: Vec<(u32, u32)> = found.iter().map(|&(first, second, _)| (first, second)).collect();
        pairs.sort_unstable();
        let is_near = |a: u32, b: u32| (f64::from(a - b) * 0.01).cos() > 0.9997;
        let wanted: Vec<(u32, u32)> =
            (0..700).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|&(a, b)| is_near(a, b)).collect();
        assert_eq!(pairs, wanted);
        assert!(near_pairs(&[1.0, 0.0, 1.0, 0.0], 2, 0..2, 1.0).is_empty());
        assert_eq!(near_pairs(&[1.0, 0.0, 1.0, 0.0], 2, 0..2, 0.5), [(1, 0, 1.0)]);
    }
}
