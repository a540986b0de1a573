//! The names of the months, as texts and questions write them.

/// The months, in small letters.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Number of the month, from 1, that a word in small letters names in full or by three letters (September also by four).
pub fn month(word: &str) -> Option<i8> {
    let named = |month: &str| month == word || (word.len() == 3 && month.starts_with(word));
    let found = MONTHS.iter().position(|month| named(month) || (word == "sept" && month.starts_with(word)));
    found.map(|at| at as i8 + 1)
}

#[cfg(test)]
mod tests {
    use super::month;

    #[test]
    fn months_are_known_in_full_and_short() {
        for (word, number) in
            [("january", Some(1)), ("sep", Some(9)), ("sept", Some(9)), ("dec", Some(12)), ("ma", None)]
        {
            assert_eq!(month(word), number, "{word}");
        }
    }
}
