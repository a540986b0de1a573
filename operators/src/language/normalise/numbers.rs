//! Numbers in digits.

use crate::kernel::number_words::{ONES, TENS};

/// The key of a number in digits or words: plain decimal digits, such as `3400`, `0.5`, `3500000`. `None` where the text is
/// no number.
pub fn number_key(text: &str) -> Option<String> {
    let folded = super::fold(text);
    let words: Vec<&str> = folded.split(' ').collect();
    number(&words)
}

/// Numbers of more words are not read.
const MOST_WORDS: usize = 16;

/// A folded text with each number in it, the longest first, in digits.
pub(super) fn with_digits(folded: &str) -> String {
    let words: Vec<&str> = folded.split(' ').collect();
    let mut written: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let word = words[at];
        // `$3,400` and `12,500km`
        let (sign, amount) = word.split_at(word.find(|letter: char| letter.is_ascii_digit()).unwrap_or(0));
        let most = MOST_WORDS.min(words.len() - at);
        let found = (1..=most).rev().find_map(|length| {
            let parts = [&[amount], &words[at + 1..at + length]].concat();
            Some((length, number(&parts)?))
        });
        let (length, digits) = found.unwrap_or_else(|| {
            let is_part = |letter: char| matches!(letter, '0'..='9' | ',' | '.');
            let (amount, unit) = amount.split_at(amount.find(|letter| !is_part(letter)).unwrap_or(amount.len()));
            (1, number(&[amount]).unwrap_or_else(|| amount.to_owned()) + unit)
        });
        written.push(format!("{sign}{digits}"));
        at += length;
    }
    written.join(" ")
}

/// The number that words in small letters make up, in digits.
fn number(words: &[&str]) -> Option<String> {
    let (first, others) = words.split_first()?;
    if let Some(digits) = Decimal::parse(first) {
        let scaled = others.iter().try_fold(digits, |number, word| number.times(hundred_or_scale(word)?))?;
        return Some(scaled.to_string());
    }
    let parts: Vec<&str> = words.iter().flat_map(|word| word.split('-')).collect();
    spelled(&parts).map(|number| number.to_string())
}

fn hundred_or_scale(word: &str) -> Option<u128> {
    if word == "hundred" { Some(100) } else { scale(word) }
}

fn scale(word: &str) -> Option<u128> {
    Some(match word {
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        "trillion" => 1_000_000_000_000,
        _ => return None,
    })
}

/// The number that words spell: `two hundred and five thousand`.
fn spelled(words: &[&str]) -> Option<u128> {
    let (mut total, mut group) = (0_u128, 0_u128);
    // What may still be added to the group is less than `room`, and what may follow it less than `last_scale`.
    let (mut room, mut last_scale) = (1000, u128::MAX);
    let mut has_digits = false;
    for (at, word) in words.iter().enumerate() {
        let is_last = at + 1 == words.len();
        if let Some(value) = ONES.iter().position(|known| known == word).map(|value| value as u128) {
            // `twenty zero` is no number, and `zero` none that goes on.
            if value >= room || (value == 0 && words.len() > 1) {
                return None;
            }
            (group, room, has_digits) = (group + value, 1, true);
        } else if let Some(tens) = TENS.iter().position(|known| known == word) {
            if room < 100 {
                return None;
            }
            (group, room, has_digits) = (group + (tens as u128 + 2) * 10, 10, true);
        } else if *word == "hundred" {
            if group >= 100 || !has_digits {
                return None;
            }
            (group, room) = (group * 100, 100);
        } else if let Some(scale) = scale(word) {
            if scale >= last_scale || !has_digits {
                return None;
            }
            total = total.checked_add(group.checked_mul(scale)?)?;
            (group, room, last_scale, has_digits) = (0, 1000, scale, false);
        } else if *word == "a" && at == 0 && !is_last && hundred_or_scale(words[1]).is_some() {
            (group, has_digits) = (1, true);
        } else if *word != "and" || at == 0 || is_last || hundred_or_scale(words[at - 1]).is_none() {
            return None;
        }
    }
    (has_digits || total > 0).then_some(total + group)
}

/// A number with a decimal point.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u128,
    /// How many of the digits stand behind the point.
    n_decimals: usize,
}

impl Decimal {
    /// `3400`, `3,400`, `3.5`.
    fn parse(word: &str) -> Option<Self> {
        let (whole, decimals) = word.split_once('.').unwrap_or((word, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let mut groups = whole.split(',');
        let first = groups.next().filter(|group| !group.is_empty() && are_digits(group))?;
        let has_groups = whole.contains(',');
        let is_whole = groups.all(|group| group.len() == 3 && are_digits(group)) && (!has_groups || first.len() <= 3);
        if !is_whole || !are_digits(decimals) || word.ends_with('.') {
            return None;
        }
        let decimals = decimals.trim_end_matches('0');
        let digits = format!("{}{decimals}", whole.replace(',', "")).parse().ok()?;
        Some(Self { digits, n_decimals: decimals.len() })
    }

    fn times(self, factor: u128) -> Option<Self> {
        let (mut digits, mut n_decimals) = (self.digits.checked_mul(factor)?, self.n_decimals);
        while n_decimals > 0 && digits.is_multiple_of(10) {
            (digits, n_decimals) = (digits / 10, n_decimals - 1);
        }
        Some(Self { digits, n_decimals })
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = format!("{:0>width$}", self.digits, width = self.n_decimals + 1);
        let (whole, decimals) = digits.split_at(digits.len() - self.n_decimals);
        if decimals.is_empty() { f.write_str(whole) } else { write!(f, "{whole}.{decimals}") }
    }
}

#[cfg(test)]
mod tests {
    use super::{number_key, with_digits};

    #[test]
    fn numbers_have_their_digits() {
        for (text, key) in [
            ("3,400", "3400"),
            ("3400", "3400"),
            ("0.50", "0.5"),
            ("12.0", "12"),
            ("3.5 million", "3500000"),
            ("1,000.25", "1000.25"),
            ("two hundred", "200"),
            ("two hundred and five", "205"),
            ("Twenty-one", "21"),
            ("a hundred thousand", "100000"),
            ("one million two hundred thirty thousand and four", "1230004"),
            ("twelve hundred", "1200"),
            ("zero", "0"),
            ("5 hundred thousand", "500000"),
        ] {
            assert_eq!(number_key(text).as_deref(), Some(key), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_has_no_digits() {
        for text in [
            "",
            "a",
            "and",
            "hundred",
            "two three",
            "twenty ten",
            "3,40",
            "1,2345",
            "4.5.6",
            "5.",
            "two and three",
            "thousand million",
            "ten million five billion",
            "hundred two",
            "million",
            "999999999999999999999999999999999999999999",
        ] {
            assert_eq!(number_key(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_within_a_text_are_found() {
        assert_eq!(with_digits("about two hundred and fifty miles or 3,400 km"), "about 250 miles or 3400 km");
        assert_eq!(with_digits("$3,400 to €12,500km2"), "$3400 to €12500km2");
        assert_eq!(with_digits("half an hour"), "half an hour");
    }
}
