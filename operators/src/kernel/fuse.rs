//! Evidence paths that say the same are fused, then split into what supports and what diverges (HyCE-RAG eq. 39 and 40).

use super::{jaccard, rank::top};

/// Groups of paths (HyCE-RAG 3.3.4, greedy clustering), in the order of their seeds. The first of a group is its seed and
/// its representative; the others follow by score. `retained` is F(e) of each path, ascending; equal scores go by index.
///
/// Only the overlap with the seed counts (eq. 39, at least `tau`), and a path joins the first seed that takes it. Cost: paths
/// times groups times the entities of two paths.
pub fn fuse<V: Ord>(retained: &[&[V]], scores: &[f64], tau: f64) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for path in top(scores, scores.len()) {
        match groups.iter_mut().find(|group| jaccard(retained[group[0]], retained[path]) >= tau) {
            Some(group) => group.push(path),
            None => groups.push(vec![path]),
        }
    }
    groups
}

/// Which representatives support the answer and which diverge, best first (HyCE-RAG eq. 40).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Split {
    /// S_max: the highest score; 0 without a path.
    pub highest: f64,
    /// theta_s times S_max.
    pub threshold: f64,
    /// P+: paths that score at least the threshold.
    pub supporting: Vec<usize>,
    /// P-: the others.
    pub divergent: Vec<usize>,
}

/// Splits paths, by index, at `theta` times the highest score (HyCE-RAG eq. 40). Equal scores go by index. Cost: sorting
/// them.
pub fn split(scores: &[f64], theta: f64) -> Split {
    let order = top(scores, scores.len());
    let highest = order.first().map_or(0.0, |&best| scores[best]);
    let threshold = theta * highest;
    let (supporting, divergent) = order.into_iter().partition(|&path| scores[path] >= threshold);
    Split { highest, threshold, supporting, divergent }
}

/// The contradiction score of an answer, 0 to 1: the share of the paths' score that lies in paths that diverge, or that an
/// explicit conflict touches (`in_conflict`). HyCE-RAG names it delta_q in eq. 1 and leaves it open; this is our reading.
pub fn contradiction_score(split: &Split, scores: &[f64], in_conflict: impl Fn(usize) -> bool) -> f64 {
    let doubtful = |path: usize| split.divergent.contains(&path) || in_conflict(path);
    let total: f64 = scores.iter().sum();
    // From a positive zero: the sum of no numbers is a negative one.
    let doubted = (0..scores.len()).filter(|&path| doubtful(path)).fold(0.0, |sum, path| sum + scores[path]);
    if total > 0.0 { doubted / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{contradiction_score, split};

    #[test]
    fn doubt_is_the_share_that_diverges_or_is_contradicted() {
        let scores = [1.0, 0.5, 0.25, 0.25];
        let split = split(&scores, 0.5);
        assert_eq!((split.supporting.as_slice(), split.divergent.as_slice()), ([0, 1].as_slice(), [2, 3].as_slice()));
        assert_eq!(contradiction_score(&split, &scores, |_| false), 0.25);
        assert_eq!(contradiction_score(&split, &scores, |path| path == 1 || path == 2), 0.5);
        assert_eq!(contradiction_score(&split, &[0.0; 4], |_| true), 0.0);
    }
}
