//! Numbers in words, as texts and questions write them.

/// Zero to nineteen.
pub const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
/// Twenty to ninety.
pub const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number below a hundred in words: `nine`, `twenty`, `twenty-one`.
pub fn in_words(number: usize) -> Option<String> {
    if let Some(word) = ONES.get(number) {
        return Some((*word).to_owned());
    }
    let tens = TENS.get((number / 10).checked_sub(2)?)?;
    Some(if number.is_multiple_of(10) { (*tens).to_owned() } else { format!("{tens}-{}", ONES[number % 10]) })
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn numbers_below_a_hundred_have_words() {
        for (number, words) in [(1, "one"), (18, "eighteen"), (20, "twenty"), (31, "thirty-one"), (99, "ninety-nine")] {
            assert_eq!(in_words(number).as_deref(), Some(words));
        }
        assert_eq!(in_words(100), None);
    }
}
