//! The features of a token that the language model knows: its norm, first and last letters, shape, and what follows it.

use unicode_normalization::char::is_combining_mark;

use super::{hash::string_key, tokens::Token};

/// The features by spaCy's names, in the order of [`Features`].
pub(super) const COLUMNS: [&str; 6] = ["NORM", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"];

/// The keys of a token's features, in the order of [`COLUMNS`].
pub(super) type Features = [u64; 6];

/// The features of a token with its text.
pub(super) fn features(text: &str, token: &Token) -> Features {
    // White space is no token here, so none is marked as such.
    let is_space = 0;
    let (prefix, suffix) = (prefix(text), suffix(text));
    [key(&token.norm), key(prefix), key(suffix), key(&shape(text)), u64::from(token.space_after), is_space]
}

/// The first character.
pub(super) fn prefix(text: &str) -> &str {
    text.char_indices().nth(1).map_or(text, |(end, _)| &text[..end])
}

/// The last three characters.
pub(super) fn suffix(text: &str) -> &str {
    text.char_indices().nth_back(2).map_or(text, |(start, _)| &text[start..])
}

/// Longer texts have no shape of their own.
const LONGEST_SHAPE: usize = 100;
/// Of a run of letters of one kind, so many show.
const LONGEST_RUN: usize = 4;

/// The text with `X` for capital letters, `x` for others and `d` for digits, and runs of these cut to four.
pub(super) fn shape(text: &str) -> String {
    if text.chars().nth(LONGEST_SHAPE - 1).is_some() {
        return "LONG".into();
    }
    let mut shape = String::with_capacity(text.len());
    let mut run = (None, 0);
    for letter in text.chars() {
        let kind = match letter {
            // The vowel signs of Indian scripts count as marks, not letters.
            _ if is_combining_mark(letter) => letter,
            _ if letter.is_uppercase() => 'X',
            _ if letter.is_alphabetic() => 'x',
            _ if letter.is_numeric() && !is_fraction(letter) => 'd',
            _ => letter,
        };
        run = if run.0 == Some(kind) { (run.0, run.1 + 1) } else { (Some(kind), 1) };
        if run.1 <= LONGEST_RUN {
            shape.push(kind);
        }
    }
    shape
}

fn is_fraction(letter: char) -> bool {
    matches!(letter, '¼'..='¾' | '⅐'..='⅟' | '↉')
}

/// The key of a feature's value: a hash, but for the strings that spaCy numbers.
fn key(value: &str) -> u64 {
    match SYMBOLS.binary_search_by_key(&value, |symbol| symbol.0) {
        Ok(found) => SYMBOLS[found].1,
        Err(_) => string_key(value),
    }
}

/// The names of attributes and labels in spaCy's `symbols` that can be the value of a feature, and their numbers, by name.
/// Norms have no capitals but for names of months and places, and the other features have three letters at most, or are no
/// words; so the longer names in capitals don't matter.
const SYMBOLS: [(&str, u64); 73] = [
    ("ADJ", 84),
    ("ADP", 85),
    ("ADV", 86),
    ("AUX", 87),
    ("DEP", 76),
    ("DET", 90),
    ("EOL", 102),
    ("GPE", 384),
    ("ID", 64),
    ("IDX", 455),
    ("LAW", 390),
    ("LOC", 385),
    ("NUM", 93),
    ("ORG", 383),
    ("POS", 74),
    ("SYM", 99),
    ("TAG", 75),
    ("X", 101),
    ("_", 456),
    ("acl", 451),
    ("acomp", 398),
    ("advcl", 399),
    ("advmod", 400),
    ("agent", 401),
    ("amod", 402),
    ("appos", 403),
    ("attr", 404),
    ("aux", 405),
    ("auxpass", 406),
    ("cc", 407),
    ("ccomp", 408),
    ("complm", 409),
    ("conj", 410),
    ("cop", 411),
    ("csubj", 412),
    ("csubjpass", 413),
    ("dep", 414),
    ("det", 415),
    ("dobj", 416),
    ("expl", 417),
    ("hmod", 418),
    ("hyph", 419),
    ("infmod", 420),
    ("intj", 421),
    ("iobj", 422),
    ("mark", 423),
    ("meta", 424),
    ("neg", 425),
    ("nmod", 426),
    ("nn", 427),
    ("npadvmod", 428),
    ("nsubj", 429),
    ("nsubjpass", 430),
    ("num", 431),
    ("number", 432),
    ("obj", 434),
    ("obl", 435),
    ("oprd", 433),
    ("parataxis", 436),
    ("partmod", 437),
    ("pcomp", 438),
    ("pobj", 439),
    ("poss", 440),
    ("possessive", 441),
    ("preconj", 442),
    ("prep", 443),
    ("prt", 444),
    ("punct", 445),
    ("quantmod", 446),
    ("rcmod", 448),
    ("relcl", 447),
    ("root", 449),
    ("xcomp", 450),
];

#[cfg(test)]
mod tests {
    use super::{SYMBOLS, key, prefix, shape, suffix};

    #[test]
    fn shapes_show_kinds_of_letters_and_short_runs() {
        for (text, expected) in [
            ("Apple", "Xxxxx"),
            ("international", "xxxx"),
            ("U.S.", "X.X."),
            ("3,400", "d,ddd"),
            ("1234567", "dddd"),
            ("C-3PO", "X-dXX"),
            ("......", "...."),
            ("Élan½²", "Xxxx½d"),
            ("ఇంటి", "xంxి"),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
        assert_eq!(shape(&"a".repeat(99)), "xxxx");
        assert_eq!(shape(&"a".repeat(100)), "LONG");
    }

    #[test]
    fn first_and_last_letters_are_characters() {
        assert_eq!((prefix("étude"), suffix("Málaga"), suffix("né")), ("é", "aga", "né"));
    }

    #[test]
    fn symbols_have_their_numbers_and_other_strings_their_hash() {
        assert!(SYMBOLS.is_sorted());
        assert_eq!((key("X"), key("_"), key("number"), key("LAW")), (101, 456, 432, 390));
        assert_eq!(key("a"), 11_901_859_001_352_538_922);
    }
}
