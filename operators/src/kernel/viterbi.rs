//! Exact optimum of relevance plus transition (OKH-RAG eq. 14 and 15).

use super::Matrix;

/// The best path under the two-term objective, with the table that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Viterbi {
    /// `dp[l][j]`: the best score of a path of `l + 1` steps that ends at `j`.
    pub dp: Vec<Vec<f64>>,
    /// The path, by candidate index.
    pub path: Vec<usize>,
    /// Its score.
    pub score: f64,
}

/// Maximises the sum of Rel and lambda log P over all paths of `length` steps. As the printed recurrence has it, a path
/// may come back to a hyperedge or stay on it. Equal values: the smaller index. `None` without candidates or steps.
pub fn viterbi(relevance: &[f64], log_p: &Matrix, lambda: f64, length: usize) -> Option<Viterbi> {
    let n = relevance.len();
    if n == 0 || length == 0 {
        return None;
    }
    let mut dp = vec![relevance.to_vec()];
    let mut back: Vec<Vec<u32>> = Vec::new();
    for level in 1..length {
        let before = &dp[level - 1];
        let mut best = vec![f64::NEG_INFINITY; n];
        let mut from = vec![0u32; n];
        // Row by row, so that the inner loop walks memory in order; strictly greater keeps the smaller index.
        for (i, &start) in before.iter().enumerate() {
            for (j, &log_p) in log_p.row(i).iter().enumerate() {
                let score = start + relevance[j] + lambda * log_p;
                if score > best[j] {
                    best[j] = score;
                    from[j] = i as u32;
                }
            }
        }
        dp.push(best);
        back.push(from);
    }
    let last = &dp[length - 1];
    let mut end = 0;
    for (j, &score) in last.iter().enumerate() {
        if score > last[end] {
            end = j;
        }
    }
    let score = last[end];
    let mut path = vec![end; length];
    for level in (1..length).rev() {
        path[level - 1] = back[level - 1][path[level]] as usize;
    }
    Some(Viterbi { dp, path, score })
}
