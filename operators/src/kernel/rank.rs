//! The best of scored things: TopK and Top_L of HyCE-RAG (eq. 19 and 36), the top K of HyperProve; rankings made of others.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

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

/// The order of a ranking: by score, highest first, and by id where these are equal.
pub(super) fn in_ranking<I: Ord>((a, id): (f64, &I), (b, other): (f64, &I)) -> Ordering {
    higher_first(a, b).then_with(|| id.cmp(other))
}

/// Keeps the first `n` rows, in the order of a ranking. Gives the first of the rest. Cost:
/// linear in their count, and sorting what is kept.
pub(super) fn keep_first<T, I: Ord + Clone>(
    rows: &mut Vec<T>,
    n: usize,
    by: impl for<'a> Fn(&'a T) -> (f64, &'a I),
) -> Option<(f64, I)> {
    let order = |a: &T, b: &T| in_ranking(by(a), by(b));
    let mut rest = None;
    if n < rows.len() {
        rows.select_nth_unstable_by(n, order);
        let (score, id) = by(&rows[n]);
        rest = Some((score, id.clone()));
        rows.truncate(n);
    }
    rows.sort_unstable_by(order);
    rest
}

/// The constant of reciprocal rank fusion, as its authors have it (Cormack, Clarke and Buettcher, 2009).
const RECIPROCAL_RANK: f64 = 60.0;

/// Rankings fused by reciprocal rank: each gives 1 / (60 + rank) to what it holds, ranks from one. Best first, equal ones by
/// id. Cost: sorting all of them.
pub fn reciprocal_rank_fusion<T: Ord + Clone>(rankings: &[Vec<T>]) -> Vec<(T, f64)> {
    let mut scores: BTreeMap<&T, f64> = BTreeMap::new();
    for (rank, id) in rankings.iter().flat_map(|ranking| (1u32..).zip(ranking)) {
        *scores.entry(id).or_default() += 1.0 / (RECIPROCAL_RANK + f64::from(rank));
    }
    let mut fused: Vec<(T, f64)> = scores.into_iter().map(|(id, score)| (id.clone(), score)).collect();
    fused.sort_by(|(_, a), (_, b)| higher_first(*a, *b));
    fused
}

/// A ranking of wholes by their best part: `wholes` are those of ranked parts, best first. Cost: sorting them.
pub fn by_best_part<T: Ord + Copy>(wholes: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    wholes.into_iter().filter(|whole| seen.insert(*whole)).collect()
}

/// Higher numbers first. Both zeros are equal.
pub(super) fn higher_first(a: f64, b: f64) -> Ordering {
    (b + 0.0).total_cmp(&(a + 0.0))
}

#[cfg(test)]
mod tests {
    use super::{by_best_part, reciprocal_rank_fusion, top};

    #[test]
    fn what_two_rankings_hold_goes_before_what_one_holds() {
        let fused = reciprocal_rank_fusion(&[vec!["b", "c"], vec!["d", "c", "a"]]);
        let order: Vec<&str> = fused.iter().map(|(id, _)| *id).collect();
        assert_eq!(order, ["c", "b", "d", "a"]);
        assert_eq!(fused[0].1, 2.0 / 62.0);
        assert_eq!(by_best_part([3, 1, 3, 2, 1]), [3, 1, 2]);
    }

    #[test]
    fn equal_scores_go_by_index_also_at_the_cut() {
        let scores = [0.5, 0.75, 0.5, -0.0, 0.0, 0.5];
        assert_eq!(top(&scores, 3), [1, 0, 2]);
        assert_eq!(top(&scores, 9), [1, 0, 2, 5, 3, 4]);
        assert!(top(&scores, 0).is_empty());
        assert!(top(&[], 3).is_empty());
    }
}
