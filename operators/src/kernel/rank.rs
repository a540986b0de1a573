//! The best of scored things: TopK and Top_L of HyCE-RAG (eq. 19 and 36), the top K of HyperProve.

use std::cmp::Ordering;

/// The indices of the at most `most` highest scores, highest first; equal scores in the order of indices, so of ids.
/// Scores are numbers. Cost: linear in their count, and sorting what is returned.
pub fn top(scores: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let better = |&a: &usize, &b: &usize| higher_first(scores[a], scores[b]).then(a.cmp(&b));
    if most < order.len() {
        order.select_nth_unstable_by(most, better);
        order.truncate(most);
    }
    order.sort_unstable_by(better);
    order
}

/// Higher numbers first. Both zeros are equal.
pub(super) fn higher_first(a: f64, b: f64) -> Ordering {
    (b + 0.0).total_cmp(&(a + 0.0))
}

#[cfg(test)]
mod tests {
    use super::top;

    #[test]
    fn equal_scores_go_by_index_also_at_the_cut() {
        let scores = [0.5, 0.75, 0.5, -0.0, 0.0, 0.5];
        assert_eq!(top(&scores, 3), [1, 0, 2]);
        assert_eq!(top(&scores, 9), [1, 0, 2, 5, 3, 4]);
        assert!(top(&scores, 0).is_empty());
        assert!(top(&[], 3).is_empty());
    }
}
