//! Advisory numbers of a question: single, lists, ranges, in figures or words.

use super::words::{Token, number_word, ordinal};
use crate::{domain::Numbers, kernel::calendar::month};
use serde::{Deserialize, Serialize};

/// A product's number with its letter, such as 12A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Number {
    /// The number.
    pub number: u16,
    /// The letter of an intermediate product, in upper case.
    pub letter: Option<char>,
}

/// The numbers of a question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct NumberSlots {
    /// Numbers that are named.
    pub named: Vec<Number>,
    /// Numbers that lie between the ends of a range and are not named themselves.
    pub between: Vec<Number>,
    /// Numbers of bulletins of a year, such as `17-12`.
    pub bulletins: Vec<String>,
    /// The number from which on products count (`from advisory 12 on`).
    pub since: Option<u16>,
    /// The number up to which products count (`everything up to advisory 21`).
    pub until: Option<u16>,
}

const FILLERS: &[&str] =
    &["number", "numbers", "no", "nos", "#", ".", ":", "between", "from", "the", "numbered", "nr", "(", "full"];
/// What stands between the members of a list, and whether it makes a range.
const JOINS: &[(&str, bool)] = &[
    (",", false),
    ("and", false),
    ("&", false),
    ("or", false),
    ("then", false),
    ("versus", false),
    ("vs", false),
    ("against", false),
    ("/", false),
    ("minus", false),
    ("to", true),
    ("through", true),
    ("thru", true),
    ("until", true),
    ("-", true),
    ("till", true),
];
const UNITS: &[&str] = &[
    "kt",
    "kts",
    "knot",
    "knots",
    "mph",
    "mb",
    "mbar",
    "millibars",
    "hpa",
    "nm",
    "nmi",
    "miles",
    "mile",
    "nautical",
    "%",
    "percent",
    "per",
    "hour",
    "hours",
    "h",
    "hr",
    "hrs",
    "degrees",
    "degree",
    "points",
    "point",
    "feet",
    "ft",
    "utc",
    "z",
    "days",
    "day",
    "am",
    "pm",
];

/// Reads the advisory numbers of a question.
pub(super) fn read(tokens: &[Token], numbers: &Numbers) -> NumberSlots {
    let mut slots = NumberSlots::default();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = bulletins(tokens, at, numbers, &mut slots.bulletins) {
            at = end;
            continue;
        }
        if let Some((number, taken)) = counted(tokens, at, numbers) {
            push(&mut slots.named, number);
            at += taken;
            continue;
        }
        if numbers.heads.contains(&tokens[at].lower)
            && let Some(end) = list(tokens, at + 1, numbers, &mut slots)
        {
            at = end;
            continue;
        }
        at += 1;
    }
    slots.between.retain(|n| !slots.named.contains(n));
    slots
}

fn push(numbers: &mut Vec<Number>, number: Number) {
    if !numbers.contains(&number) {
        numbers.push(number);
    }
}

/// `the 12th advisory`, `the twelfth full advisory`. `First` and `last` say more about order than about a number, so
/// they count only without a question about when something came first.
fn counted(tokens: &[Token], at: usize, numbers: &Numbers) -> Option<(Number, usize)> {
    let (value, taken) = ordinal(tokens, at)?;
    if value < 2 {
        return None;
    }
    let mut noun = at + taken;
    while tokens.get(noun).is_some_and(|t| numbers.between.contains(&t.lower)) {
        noun += 1;
    }
    let is_advisory = tokens.get(noun).is_some_and(|t| numbers.counted.contains(&t.lower));
    is_advisory.then_some((Number { number: value as u16, letter: None }, noun + 1 - at))
}

/// `17-12` after MSIB or bulletin, and further ones in the list.
fn bulletins(tokens: &[Token], at: usize, numbers: &Numbers, found: &mut Vec<String>) -> Option<usize> {
    let pair = |i: usize| {
        let (number, "") = tokens.get(i)?.number()? else { return None };
        let (year, "") = tokens.get(i + 2)?.number()? else { return None };
        let joined = tokens.get(i + 1)?.lower == "-" && tokens[i + 2].digits() == 2 && tokens[i].digits() <= 3;
        joined.then(|| format!("{number}-{year:02}"))
    };
    if !numbers.bulletins.contains(&tokens[at].lower) {
        return None;
    }
    let mut end = at + 1;
    let mut any = false;
    let mut gap = 0;
    while end < tokens.len() && gap < 4 {
        match pair(end) {
            Some(name) => {
                if !found.contains(&name) {
                    found.push(name);
                }
                any = true;
                gap = 0;
                end += 3;
            }
            None => {
                gap += 1;
                end += 1;
            }
        }
    }
    any.then_some(end - gap)
}

/// A list of numbers from `at` on; where it ends.
fn list(tokens: &[Token], at: usize, numbers: &Numbers, slots: &mut NumberSlots) -> Option<usize> {
    let mut next = skip(tokens, at, 3);
    let word = |i: usize| tokens.get(i).map(|t| t.lower.as_str()).unwrap_or("");
    let is_between = (at.saturating_sub(3)..next).any(|i| word(i) == "between");
    let mut named: Vec<Number> = Vec::new();
    let mut between: Vec<Number> = Vec::new();
    let mut range_from: Option<u16> = None;
    let mut end = None;
    while let Some((number, taken)) = item(tokens, next) {
        if let Some(from) = range_from.take() {
            let (low, high) = (from.min(number.number), from.max(number.number));
            if high - low <= 60 {
                between.extend((low + 1..high).map(|n| Number { number: n, letter: None }));
            }
        }
        push(&mut named, number);
        next += taken;
        end = Some(next);
        // Joins: `, and`, `to`, `and then advisory`.
        let mut joined = false;
        let mut look = next;
        for _ in 0..3 {
            let Some((_, range)) = tokens.get(look).and_then(|t| JOINS.iter().find(|(w, _)| *w == t.lower)) else {
                break;
            };
            joined = true;
            if *range || is_between {
                range_from = Some(number.number);
            }
            look += 1;
        }
        if !joined {
            break;
        }
        next = skip_heads(tokens, look, numbers);
    }
    let end = end?;
    let unit_follows = |at: usize| {
        let at = at + usize::from(tokens.get(at).is_some_and(|t| t.lower == "-"));
        tokens.get(at).is_some_and(|t| UNITS.contains(&t.lower.as_str()))
    };
    if unit_follows(end) {
        return None;
    }
    if let [only] = named.as_slice() {
        // Words before the head, back over a storm's name and the kind of product.
        let before = (at.saturating_sub(6)..at).map(word).collect::<Vec<_>>();
        let follows = |pair: [&str; 2]| before.windows(2).any(|w| *w == pair);
        let goes_on = matches!(word(end), "on" | "onward" | "onwards") && word(end + 1).parse::<u16>().is_err();
        if goes_on && before.iter().any(|w| matches!(*w, "from" | "since" | "after" | "starting" | "counting")) {
            slots.since = Some(only.number);
            return Some(end);
        }
        if follows(["up", "to"]) {
            slots.until = Some(only.number);
            return Some(end);
        }
    }
    for number in named {
        push(&mut slots.named, number);
    }
    for number in between {
        push(&mut slots.between, number);
    }
    Some(end)
}

fn skip(tokens: &[Token], at: usize, most: usize) -> usize {
    let fillers = tokens.iter().skip(at).take(most).take_while(|t| FILLERS.contains(&t.lower.as_str())).count();
    at + fillers
}

fn skip_heads(tokens: &[Token], at: usize, numbers: &Numbers) -> usize {
    let is_head = |t: &&Token| {
        numbers.heads.contains(&t.lower)
            || numbers.between.contains(&t.lower)
            || matches!(t.lower.as_str(), "." | "the" | "with" | "from")
    };
    at + tokens.iter().skip(at).take(5).take_while(is_head).count()
}

/// One number of a list and how many tokens it takes.
fn item(tokens: &[Token], at: usize) -> Option<(Number, usize)> {
    let token = tokens.get(at)?;
    let next = tokens.get(at + 1).map(|t| t.lower.as_str()).unwrap_or("");
    if let Some((value, suffix)) = token.number() {
        let letter = match suffix.as_bytes() {
            [] => None,
            [b @ b'a'..=b'd'] => Some(b.to_ascii_uppercase() as char),
            _ => return None,
        };
        let plain = (1..=199).contains(&value) && token.digits() <= 3;
        // A clock, a day of a month, a date, an example in brackets.
        let other = matches!(next, ":" | "/" | "z") && tokens.get(at + 2).is_some_and(|t| t.number().is_some())
            || month(next).is_some()
            || next == "." && tokens.get(at + 2).is_some_and(|t| t.number().is_some());
        return (plain && !other).then_some((Number { number: value as u16, letter }, 1));
    }
    let (value, taken) = number_word(tokens, at)?;
    (value > 0).then_some((Number { number: value as u16, letter: None }, taken))
}

#[cfg(test)]
mod tests {
    use super::{super::words::tokens, Number, NumberSlots};
    use crate::domain;

    fn read(text: &str) -> NumberSlots {
        super::read(&tokens(text), &domain::cyclone().questions().numbers)
    }

    fn named(text: &str) -> Vec<u16> {
        read(text).named.iter().map(|n| n.number).collect()
    }

    #[test]
    fn numbers_in_many_forms() {
        for (text, expected) in [
            ("Irma forecast/advisory number 36 (2017)", vec![36]),
            ("forecast/advisories 29, 33, 37 and 41", vec![29, 33, 37, 41]),
            ("from advisory 20 to advisory 26 (2017)", vec![20, 26]),
            ("the twelfth advisory", vec![12]),
            ("advisory nineteen", vec![19]),
            ("(number 13, 21:00Z 23 Aug 2017)", vec![13]),
            ("no. 3 first, then no. 5", vec![3, 5]),
            ("wind speed probabilities for 34, 50 and 64 kt", vec![]),
            ("first advisory with 64 kt", vec![]),
            ("advisory of 10 PM CDT", vec![]),
            ("intermediate ones such as 12A do not count", vec![]),
            ("number 11, 2018", vec![11]),
            ("from Gordon no. 1 to no. 2 (2018)", vec![1, 2]),
            ("advisories from 19 to 23", vec![19, 23]),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_know_what_lies_between() {
        let slots = read("full advisories 2 through 6");
        assert_eq!(slots.between.iter().map(|n| n.number).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(read("which advisory between 25 and 33").between.len(), 7);
        assert_eq!(read("counting from advisory 12 on (after)").since, Some(12));
        assert_eq!(read("everything up to Matthew forecast/advisory 21 in hand").until, Some(21));
        assert_eq!(read("advisory 12A").named, [Number { number: 12, letter: Some('A') }]);
    }

    #[test]
    fn bulletins_of_a_year() {
        assert_eq!(read("After MSIBs 17-12, 18-12 and 19-12").bulletins, ["17-12", "18-12", "19-12"]);
        assert_eq!(read("was MSIB 18-12, not 19-12, that").bulletins, ["18-12", "19-12"]);
    }
}
