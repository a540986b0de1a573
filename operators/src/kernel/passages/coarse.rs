//! Counts in steps, so that what is scored by a count stays the same while the count hardly moves.

/// Binary digits of a count that are kept.
const DIGITS: u32 = 5;

/// The count with its first five binary digits kept and the rest zero: exact below 32, and less than a sixteenth too small above.
///
/// A ranking that reads how many passages there are, or have a word, would change with every passage that comes or goes. With
/// counts in steps it changes when a count crosses one, which a growing corpus does ever more rarely.
pub(super) fn coarse(count: u64) -> u64 {
    let dropped = (u64::BITS - count.leading_zeros()).saturating_sub(DIGITS);
    count >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::coarse;

    #[test]
    fn small_counts_are_exact_and_large_ones_close() {
        for (count, step) in [(0, 0), (1, 1), (31, 31), (32, 32), (33, 32), (34, 34), (63, 62), (64, 64), (67, 64)] {
            assert_eq!(coarse(count), step, "{count}");
        }
        let mut last = 0;
        for count in (1..100_000).chain([u64::MAX]) {
            let step = coarse(count);
            assert!(step >= last && step <= count && (count - step) * 16 < count, "{count} {step}");
            last = step;
        }
    }
}
