//! Counts in steps, so that what is scored by a count stays the same while the count hardly moves.

/// The count with its first `digits` binary digits kept and the rest zero: exact below two to that power, and less than one part
/// in half of that too small above.
///
/// A ranking that reads how many passages there are, or have a word, would change with every passage that comes or goes. With
/// counts in steps it changes when a count crosses one, which a growing corpus does ever more rarely.
pub(super) fn in_steps(count: u64, digits: u32) -> u64 {
    let dropped = (u64::BITS - count.leading_zeros()).saturating_sub(digits);
    count >> dropped << dropped
}

/// A count of passages, in steps of a quarter to an eighth of it: what is scored goes by its logarithm.
pub(super) fn coarse(count: u64) -> u64 {
    in_steps(count, 3)
}

#[cfg(test)]
mod tests {
    use super::{coarse, in_steps};

    #[test]
    fn small_counts_are_exact_and_large_ones_close() {
        for (count, step) in [(0, 0), (1, 1), (31, 31), (32, 32), (33, 32), (34, 34), (63, 62), (64, 64), (67, 64)] {
            assert_eq!(in_steps(count, 5), step, "{count}");
        }
        for (count, step) in [(7, 7), (8, 8), (9, 8), (10, 10), (15, 14), (6_119, 5_120)] {
            assert_eq!(coarse(count), step, "{count}");
        }
        let mut last = 0;
        for count in (1..100_000).chain([u64::MAX]) {
            let step = in_steps(count, 5);
            assert!(step >= last && step <= count && (count - step) * 16 < count, "{count} {step}");
            last = step;
        }
    }
}
