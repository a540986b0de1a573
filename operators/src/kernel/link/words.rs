//! Words of a question: tokens with their place, number words, phrases.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::kernel::number_words::{ONES, TENS};

/// A word, a number or one punctuation mark, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// As written.
    pub(super) raw: String,
    /// Lower case, without accents.
    pub(super) lower: String,
    /// Whether it is a word or a number.
    pub(super) is_word: bool,
}

impl Token {
    /// The number and what follows its digits: `0300Z` is (300, "z"), `12A` is (12, "a").
    pub(super) fn number(&self) -> Option<(u32, &str)> {
        let digits = self.lower.bytes().take_while(u8::is_ascii_digit).count();
        let value = self.lower.get(..digits)?.parse().ok()?;
        Some((value, &self.lower[digits..]))
    }

    /// How many digits it starts with.
    pub(super) fn digits(&self) -> usize {
        self.lower.bytes().take_while(u8::is_ascii_digit).count()
    }

    /// Whether it starts with a capital letter.
    pub(super) fn is_capitalised(&self) -> bool {
        self.raw.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Lower case without accents.
pub(super) fn plain(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

/// Cuts a text into tokens. A possessive `'s` is dropped; an ISO `T` between digits separates.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    let push = |word: &mut String, found: &mut Vec<Token>| {
        if !word.is_empty() {
            let raw = std::mem::take(word);
            found.push(Token { lower: plain(&raw), raw, is_word: true });
        }
    };
    while at < characters.len() {
        let c = characters[at];
        let next = characters.get(at + 1).copied().unwrap_or(' ');
        let iso_t = c == 'T' && word.len() == 2 && word.bytes().all(|b| b.is_ascii_digit()) && next.is_ascii_digit();
        if iso_t {
            push(&mut word, &mut found);
        } else if c.is_alphanumeric() {
            word.push(c);
        } else if matches!(c, '\'' | '\u{2019}') && next == 's' && !word.is_empty() && ends_word(&characters, at + 2) {
            push(&mut word, &mut found);
            at += 1;
        } else {
            push(&mut word, &mut found);
            if !c.is_whitespace() {
                let mark = match c {
                    '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
                    other => other,
                };
                found.push(Token { raw: mark.to_string(), lower: mark.to_string(), is_word: false });
            }
        }
        at += 1;
    }
    push(&mut word, &mut found);
    found
}

fn ends_word(characters: &[char], at: usize) -> bool {
    characters.get(at).is_none_or(|c| !c.is_alphanumeric())
}

const ORDINALS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];

/// The value of a number word at `at` (`nineteen`, `twenty one`, `twenty-one`, `a hundred and five`), and how many tokens it takes.
pub(super) fn number_word(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let word = tokens.get(at)?.lower.as_str();
    if let Some(value) = ONES.iter().position(|w| *w == word) {
        return Some((value as u32, 1));
    }
    let tens = (TENS.iter().position(|w| *w == word)? as u32 + 2) * 10;
    let after = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|t| t.lower == "-"));
    let ones = tokens.get(after).and_then(|t| ONES.iter().position(|w| *w == t.lower));
    match ones {
        Some(ones @ 1..=9) => Some((tens + ones as u32, after + 1 - at)),
        _ => Some((tens, 1)),
    }
}

/// The value of an ordinal (`12th`, `twelfth`) and how many tokens it takes.
pub(super) fn ordinal(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let token = tokens.get(at)?;
    if let Some((value, "st" | "nd" | "rd" | "th")) = token.number() {
        return Some((value, 1));
    }
    if let Some(value) = ORDINALS.iter().position(|w| *w == token.lower) {
        return Some((value as u32, 1));
    }
    if token.lower == "twentieth" {
        return Some((20, 1));
    }
    let tens = (TENS.iter().position(|w| *w == token.lower)? as u32 + 2) * 10;
    let after = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|t| t.lower == "-"));
    let ones = ORDINALS.iter().position(|w| tokens.get(after).is_some_and(|t| t.lower == *w))?;
    (1..=9).contains(&ones).then_some((tens + ones as u32, after + 1 - at))
}

/// The words alone, in lower case, without punctuation.
pub(super) fn words(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().filter(|t| t.is_word).map(|t| t.lower.as_str()).collect()
}

/// Where a phrase stands among words, as the position of its first word. A word of the phrase that ends in `*` matches any word that begins so.
pub(super) fn find_phrase(words: &[&str], phrase: &str) -> Option<usize> {
    let pattern: Vec<&str> =
        phrase.split(|c: char| !(c.is_alphanumeric() || c == '*')).filter(|w| !w.is_empty()).collect();
    if pattern.is_empty() || pattern.len() > words.len() {
        return None;
    }
    (0..=words.len() - pattern.len()).find(|&start| {
        pattern.iter().zip(&words[start..]).all(|(p, w)| match p.strip_suffix('*') {
            Some(stem) => w.starts_with(stem),
            None => p == w,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{find_phrase, number_word, ordinal, tokens, words};

    #[test]
    fn tokens_keep_numbers_and_drop_possessives() {
        let found = tokens("Irma's 34-kt field at 2017-08-26T00:00Z, adv. 12A");
        let raw: Vec<&str> = found.iter().map(|t| t.raw.as_str()).collect();
        assert_eq!(
            raw,
            [
                "Irma", "34", "-", "kt", "field", "at", "2017", "-", "08", "-", "26", "00", ":", "00Z", ",", "adv",
                ".", "12A"
            ]
        );
    }

    #[test]
    fn number_words_are_read() {
        assert_eq!(number_word(&tokens("twenty-one kt"), 0), Some((21, 3)));
        assert_eq!(number_word(&tokens("nineteen"), 0), Some((19, 1)));
        assert_eq!(number_word(&tokens("sixty knots"), 0), Some((60, 1)));
        assert_eq!(ordinal(&tokens("twenty-third advisory"), 0), Some((23, 3)));
        assert_eq!(ordinal(&tokens("12th"), 0), Some((12, 1)));
    }

    #[test]
    fn phrases_ignore_punctuation() {
        let found = tokens("the wind-speed probabilities for");
        assert_eq!(find_phrase(&words(&found), "wind speed probabilit*"), Some(1));
        assert_eq!(find_phrase(&words(&found), "wind probabilit*"), None);
    }
}
