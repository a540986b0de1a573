//! Which names are no synonyms, whatever their vectors say.
//!
//! A sentence encoder puts `1998 World Cup` beside `2002 World Cup`, `12 March` beside `13 March` and `AL09` beside `AL10`:
//! such names are told apart by their numbers, which hardly move a vector. So what is nothing but a number, a date or an
//! identifier has no synonyms, and two names whose numbers differ are none.

use hypercane_schemas::{Category, Entity, EntityKey, text};
use serde::{Deserialize, Serialize};

use crate::kernel::{
    calendar::month,
    number_words::{ONES, TENS},
};

/// The name of an entity, and what decides beside its vector with which others it is linked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntityName {
    /// The entity.
    pub entity: EntityKey,
    /// Its name, as shown.
    pub name: String,
    /// Its category.
    pub category: Category,
}

impl From<&Entity> for EntityName {
    fn from(entity: &Entity) -> Self {
        Self { entity: entity.key.clone(), name: entity.name.clone(), category: entity.category }
    }
}

/// Why a name has no synonyms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// It is an anchor: a horizon or a moment.
    Anchor,
    /// It is a document, whose key is no name.
    Document,
    /// It is a state of a thing at one moment; states that differ in their moment only are not the same.
    State,
    /// It is an amount: a number, alone or with its unit.
    Number,
    /// It is a date, a time, or a span between two.
    Date,
    /// It is an identifier: one word of letters and digits, an address, a tag.
    Identifier,
}

/// Why a name has no synonyms; `None` where it may have some.
pub fn guard(name: &EntityName) -> Option<Guard> {
    match name.category {
        Category::Anchor => return Some(Guard::Anchor),
        Category::Transient => return Some(Guard::State),
        Category::Persistent | Category::Concept => {}
    }
    guard_of_name(&name.entity, &name.name)
}

/// Whether a name may have synonyms, as far as its entity's category lets it: [`guard()`] has nothing against it.
pub fn may_have_synonyms(entity: &EntityKey, name: &str) -> bool {
    guard_of_name(entity, name).is_none()
}

fn guard_of_name(entity: &EntityKey, name: &str) -> Option<Guard> {
    if entity.is_anchor() {
        return Some(Guard::Anchor);
    }
    if entity.is_document() {
        return Some(Guard::Document);
    }
    let text = text::canonical(name);
    let words: Vec<Word> = text.split(' ').map(Word::of).collect();
    let has = |wanted: Word| words.contains(&wanted);
    let are = |allowed: &[Word]| words.iter().all(|word| allowed.contains(word));
    if has(Word::Calendar) && are(&[Word::Calendar, Word::Number, Word::Ordinal, Word::Joint]) {
        return Some(Guard::Date);
    }
    if are(&[Word::Number, Word::Ordinal, Word::Joint]) && (has(Word::Number) || has(Word::Ordinal)) {
        return Some(Guard::Number);
    }
    // `about 250 miles`, `3.5 million dollars`; but not `50 Cent`.
    let amount = words.iter().position(|word| *word != Word::Joint);
    let is_amount = amount.is_some_and(|at| words[at] == Word::Number);
    if is_amount && are(&[Word::Number, Word::Joint, Word::Small]) {
        return Some(Guard::Number);
    }
    is_identifier(&text).then_some(Guard::Identifier)
}

/// Whether two names may be linked: both have no [`guard()`], they are of different entities of one category, and the same
/// numbers are in both.
pub fn may_link(a: &EntityName, b: &EntityName) -> bool {
    guard(a).is_none() && guard(b).is_none() && pair_may_link(a, b)
}

/// Whether two names without a guard may be linked.
pub(super) fn pair_may_link(a: &EntityName, b: &EntityName) -> bool {
    a.entity != b.entity && a.category == b.category && have_same_numbers(&a.name, &b.name)
}

/// Whether the same numbers are in both names, as digits, words or Roman numerals.
pub fn have_same_numbers(a: &str, b: &str) -> bool {
    numbers(a) == numbers(b)
}

/// What a word of a name is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Number,
    Ordinal,
    /// It names a part of the calendar or of the day.
    Calendar,
    /// It joins numbers and dates.
    Joint,
    /// Any other word in small letters, such as a unit.
    Small,
    Other,
}

const CALENDAR: [&str; 41] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "decade",
    "decades",
    "century",
    "centuries",
    "hour",
    "hours",
    "minute",
    "minutes",
    "morning",
    "noon",
    "afternoon",
    "evening",
    "night",
    "midnight",
    "today",
    "yesterday",
    "tomorrow",
    "spring",
    "summer",
    "autumn",
    "winter",
    "am",
    "pm",
    "utc",
    "bc",
    "ad",
];

const JOINTS: [&str; 37] = [
    "",
    "the",
    "a",
    "an",
    "of",
    "in",
    "on",
    "at",
    "to",
    "by",
    "from",
    "until",
    "between",
    "and",
    "or",
    "about",
    "around",
    "nearly",
    "almost",
    "approximately",
    "over",
    "than",
    "more",
    "less",
    "some",
    "early",
    "late",
    "mid",
    "last",
    "next",
    "this",
    "previous",
    "following",
    "past",
    "ago",
    "later",
    "during",
];

const ORDINALS: [&str; 13] = [
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
];

const SCALES: [&str; 4] = ["hundred", "thousand", "million", "billion"];

impl Word {
    fn of(word: &str) -> Self {
        let bare = word.trim_matches(|mark: char| !mark.is_alphanumeric());
        let small = bare.to_lowercase().replace('.', "");
        // A day, a decade, a time: `12th`, `1990s`, `8pm`.
        let letters = small.trim_start_matches(|mark: char| !mark.is_alphabetic());
        let has_digit = small.bytes().any(|byte| byte.is_ascii_digit());
        match small.as_str() {
            _ if has_digit && letters.is_empty() => Self::Number,
            _ if has_digit && matches!(letters, "st" | "nd" | "rd" | "th") => Self::Ordinal,
            _ if has_digit && matches!(letters, "s" | "'s" | "am" | "pm" | "bc" | "ad") => Self::Calendar,
            small if CALENDAR.contains(&small) || month(small).is_some() => Self::Calendar,
            small if small.split('-').all(|part| cardinal(part).is_some() || SCALES.contains(&part)) => Self::Number,
            small if ORDINALS.contains(&small) => Self::Ordinal,
            small if JOINTS.contains(&small) => Self::Joint,
            small if !has_digit && small == bare => Self::Small,
            _ => Self::Other,
        }
    }
}

/// A number below a hundred that one word spells.
fn cardinal(word: &str) -> Option<usize> {
    let tens = || TENS.iter().position(|known| *known == word).map(|at| 10 * (at + 2));
    ONES.iter().position(|known| *known == word).or_else(tens)
}

/// One word with letters and digits, an address, or a tag.
fn is_identifier(text: &str) -> bool {
    let is_one_word = !text.contains(' ');
    let (has_digit, has_letter) = (text.contains(char::is_numeric), text.contains(char::is_alphabetic));
    let is_sign = |mark: char| matches!(mark, '@' | '_' | '#' | '\\');
    is_one_word && (has_digit || !has_letter || text.contains(is_sign) || text.contains("://"))
}

/// The numbers in a name, sorted: digits, the words for them, Roman numerals after the first word, and a single capital
/// letter at the end (`Vitamin C`).
fn numbers(name: &str) -> Vec<String> {
    let text = text::canonical(name);
    let mut found: Vec<String> = Vec::new();
    let words: Vec<&str> =
        text.split(|mark: char| !(mark.is_alphanumeric() || matches!(mark, '.' | ',' | '\''))).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let mut tens: Option<usize> = None;
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|mark: char| !mark.is_alphanumeric());
        let small = bare.to_lowercase();
        if bare.bytes().any(|byte| byte.is_ascii_digit()) {
            found.extend(digits(bare));
        } else if let Some(number) = cardinal(&small) {
            // `twenty-one`
            match tens.take().filter(|_| (1..10).contains(&number)) {
                Some(tens) => found.push((tens + number).to_string()),
                None if number >= 20 && words.get(at + 1).is_some_and(|next| ones(next).is_some()) => {
                    tens = Some(number);
                }
                None => found.push(number.to_string()),
            }
        } else if let Some(number) = ORDINALS.iter().position(|known| *known == small) {
            found.push(number.to_string());
        } else if SCALES.contains(&small.as_str()) {
            found.push(small);
        } else if at > 0 {
            let is_designator = at + 1 == words.len() && bare == *word && bare.len() == 1;
            match roman(bare) {
                Some(number) => found.push(number.to_string()),
                None if is_designator && bare.bytes().all(|byte| byte.is_ascii_uppercase()) => found.push(small),
                None => {}
            }
        }
    }
    found.sort_unstable();
    found
}

/// A number from one to nine that a word spells.
fn ones(word: &str) -> Option<usize> {
    cardinal(&word.to_lowercase()).filter(|number| (1..10).contains(number))
}

/// The runs of digits in a word, without the commas of thousands, zeros ahead, and a point at the end.
fn digits(word: &str) -> impl Iterator<Item = String> {
    let word = word.replace(',', "");
    let runs: Vec<String> = word
        .split(|mark: char| !(mark.is_ascii_digit() || mark == '.'))
        .map(|run| run.trim_matches('.').trim_start_matches('0').to_owned())
        .filter(|run| run.bytes().any(|byte| byte.is_ascii_digit()))
        .collect();
    runs.into_iter()
}

/// The value of a Roman numeral below 90 in capitals. The letters above fifty stand for other things more often.
fn roman(word: &str) -> Option<usize> {
    let may_be = !word.is_empty() && word.bytes().all(|byte| b"IVXL".contains(&byte));
    (1..90).find(|number| may_be && in_roman(*number) == word)
}

fn in_roman(mut number: usize) -> String {
    let mut numeral = String::new();
    for (sign, value) in [("L", 50), ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)] {
        while number >= value {
            numeral.push_str(sign);
            number -= value;
        }
    }
    numeral
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> EntityName {
        EntityName { entity: EntityKey(format!("x:{name}")), name: name.into(), category: Category::Persistent }
    }

    #[test]
    fn numbers_dates_and_identifiers_have_no_synonyms() {
        for (guarded, names) in [
            (
                Guard::Number,
                &[
                    "42",
                    "3,400",
                    "3.5 million",
                    "two hundred",
                    "250 miles",
                    "about 250 miles",
                    "$3,400",
                    "12%",
                    "3.5 million dollars",
                    "twenty-one",
                    "the 12th",
                    "€1.5 billion",
                    "first",
                    "12-15",
                    "two brothers",
                ][..],
            ),
            (
                Guard::Date,
                &[
                    "March",
                    "12 March",
                    "March 12, 1995",
                    "Sunday, March 12th, 1995",
                    "the 1990s",
                    "Monday",
                    "last year",
                    "the 19th century",
                    "from March to May 1996",
                    "8 PM",
                    "8 p.m.",
                    "8pm",
                    "two years",
                    "Sept. 11",
                    "the summer of 1995",
                    "1990's",
                    "500 BC",
                    "noon",
                ],
            ),
            (
                Guard::Identifier,
                &[
                    "AL092017",
                    "B-52",
                    "A320",
                    "x@y.org",
                    "https://x.org/a",
                    "#rust",
                    "max_wind",
                    "R2-D2",
                    "MH370",
                    "COVID-19",
                    "...",
                    "C:\\x",
                ],
            ),
        ] {
            for name in names {
                assert_eq!(guard(&named(name)), Some(guarded), "{name}");
            }
        }
    }

    #[test]
    fn names_with_a_number_in_them_may_have_synonyms() {
        for name in [
            "Paris",
            "50 Cent",
            "101 Dalmatians",
            "Apollo 11",
            "NASA",
            "the U.S.",
            "Theresa May",
            "World War II",
            "One Direction",
            "Louis XIV",
            "Year of the Dragon",
            "mayor",
            "St. Louis",
            "Night Watch",
            "second wife",
            "AC/DC",
            "Jean-Luc Godard",
        ] {
            assert_eq!(guard(&named(name)), None, "{name}");
        }
    }

    #[test]
    fn anchors_and_states_have_no_synonyms_and_categories_do_not_mix() {
        let of = |key: &str, category| EntityName { entity: EntityKey(key.into()), name: "Alder".into(), category };
        assert_eq!(guard(&of("storm:x", Category::Anchor)), Some(Guard::Anchor));
        assert_eq!(guard(&of("horizon:T-48", Category::Concept)), Some(Guard::Anchor));
        assert_eq!(guard(&of("time:2017-08-25T03:00Z", Category::Persistent)), Some(Guard::Anchor));
        assert_eq!(guard(&of("state:x:@2017", Category::Transient)), Some(Guard::State));
        assert_eq!(guard(&of("document:a", Category::Concept)), Some(Guard::Document));
        let (a, b) = (of("a", Category::Persistent), of("b", Category::Persistent));
        assert!(may_link(&a, &b) && may_link(&b, &a));
        assert!(!may_link(&a, &a), "a name is no synonym of itself");
        assert!(!may_link(&a, &of("b", Category::Concept)));
        assert!(!may_link(&a, &of("b", Category::Transient)) && !may_link(&of("horizon:T-1", Category::Concept), &b));
    }

    #[test]
    fn names_are_told_apart_by_their_numbers() {
        for (a, b) in [
            ("1998 FIFA World Cup", "2002 FIFA World Cup"),
            ("FIFA World Cup", "2002 FIFA World Cup"),
            ("World War I", "World War II"),
            ("Apollo 11", "Apollo 13"),
            ("Vitamin C", "Vitamin D"),
            ("Henry VIII", "Henry VII"),
            ("First World War", "Second World War"),
            ("Boeing 737", "Boeing 747"),
            ("Air Force One", "Air Force Two"),
            ("Malcolm X", "Malcolm"),
            ("Super Bowl XLII", "Super Bowl XLI"),
            ("Windows 3.1", "Windows 3.11"),
        ] {
            assert!(!may_link(&named(a), &named(b)), "{a}, {b}");
        }
        for (a, b) in [
            ("World War II", "Second World War"),
            ("World War 2", "World War II"),
            ("Three Mile Island", "3 Mile Island"),
            ("Catch Twenty-Two", "Catch-22 by Heller"),
            ("Louis XIV", "King Louis XIV of France"),
            ("John F. Kennedy", "John Kennedy"),
            ("USA", "United States"),
            ("1,000 Islands", "Islands 1000"),
            ("Agent 007", "Agent 7"),
            ("The Beatles", "the Beatles (band)"),
            ("MIX FM", "Mix FM"),
        ] {
            assert!(may_link(&named(a), &named(b)), "{a}: {:?}, {b}: {:?}", numbers(a), numbers(b));
        }
    }

    #[test]
    fn roman_numerals_have_their_value() {
        for (word, number) in
            [("I", 1), ("IV", 4), ("VIII", 8), ("IX", 9), ("XIV", 14), ("XLII", 42), ("LXXXIX", 89), ("XXXIX", 39)]
        {
            assert_eq!(roman(word), Some(number), "{word}");
        }
        for word in ["", "IIII", "VV", "IXI", "DC", "MIX", "Iv", "XLX", "LL"] {
            assert_eq!(roman(word), None, "{word}");
        }
    }
}
