//! Names in a question, and the keys under which they meet the aliases of entities.
//!
//! Aliases arrive with documents, questions at any time, so both sides are turned into keys and matched by equality:
//! the exact form, and for longer names the forms with one letter left out, so that names one slip apart share a key.

use hypercane_schemas::EntityKey;
use serde::{Deserialize, Serialize};

use super::words::{Token, plain};

/// A key that an alias and a mention share when they may match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AliasKey(pub String);

/// A run of words of a question that may be a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mention {
    /// First token.
    pub first: u32,
    /// One past the last token.
    pub end: u32,
    /// Normal form.
    pub form: String,
}

/// How an alias matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Match {
    /// The entity's own name.
    Exact,
    /// One of its other names.
    Alias,
    /// One letter off.
    Fuzzy,
}

/// An entity whose alias matches a mention.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AliasMatch {
    /// Place of the mention in [`QuestionSlots::mentions`](super::QuestionSlots::mentions).
    pub mention: u32,
    /// The entity.
    pub entity: EntityKey,
    /// Its type.
    pub kind: String,
    /// How it matched.
    pub how: Match,
}

/// Longest name, in words.
const LONGEST: usize = 7;
/// Shortest name, in letters, that may be one letter off.
const FUZZY_FROM: usize = 6;

const STATES: [(&str, &str); 32] = [
    ("al", "alabama"),
    ("ca", "california"),
    ("ct", "connecticut"),
    ("dc", "district of columbia"),
    ("de", "delaware"),
    ("fl", "florida"),
    ("ga", "georgia"),
    ("hi", "hawaii"),
    ("la", "louisiana"),
    ("ma", "massachusetts"),
    ("md", "maryland"),
    ("me", "maine"),
    ("ms", "mississippi"),
    ("nc", "north carolina"),
    ("nh", "new hampshire"),
    ("nj", "new jersey"),
    ("ny", "new york"),
    ("or", "oregon"),
    ("pa", "pennsylvania"),
    ("pr", "puerto rico"),
    ("ri", "rhode island"),
    ("sc", "south carolina"),
    ("tn", "tennessee"),
    ("tx", "texas"),
    ("va", "virginia"),
    ("vi", "virgin islands"),
    ("usvi", "us virgin islands"),
    ("fla", "florida"),
    ("tex", "texas"),
    ("calif", "california"),
    ("miss", "mississippi"),
    ("ala", "alabama"),
];

/// The form under which two names are the same: plain lower-case words, `saint` and `fort` short, a state at the end in
/// full, without `the` or `port of` before it.
pub fn normal_form(name: &str) -> String {
    let lower = plain(name).replace(['\'', '\u{2019}'], "");
    let lower = lower.replace("u.s.", "us");
    let mut words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    loop {
        words = match words.as_slice() {
            ["the", rest @ ..] if !rest.is_empty() => rest.to_vec(),
            ["port" | "ports" | "harbor" | "harbour", "of" | "at", rest @ ..] if !rest.is_empty() => rest.to_vec(),
            _ => break,
        };
    }
    let last = words.len();
    let expanded = words.iter().enumerate().map(|(i, word)| match *word {
        "saint" | "sainte" => "st",
        "fort" => "ft",
        "mount" => "mt",
        "united" if words.get(i + 1) == Some(&"states") => "us",
        other if i + 1 == last && last > 1 => {
            STATES.iter().find(|(short, _)| *short == other).map_or(other, |(_, long)| long)
        }
        other => other,
    });
    expanded.filter(|w| *w != "states").collect::<Vec<_>>().join(" ")
}

/// The keys of an alias, for exact and for fuzzy match.
pub fn alias_keys(alias: &str) -> Vec<AliasKey> {
    keys_of(&normal_form(alias))
}

/// The keys of a mention's normal form.
pub fn keys_of(form: &str) -> Vec<AliasKey> {
    if form.is_empty() {
        return Vec::new();
    }
    let mut keys = vec![AliasKey(format!("={form}"))];
    if may_be_fuzzy(form) {
        keys.push(AliasKey(format!("~{form}")));
        for (at, c) in form.char_indices() {
            keys.push(AliasKey(format!("~{}{}", &form[..at], &form[at + c.len_utf8()..])));
        }
        keys.sort();
        keys.dedup();
    }
    keys
}

fn may_be_fuzzy(form: &str) -> bool {
    form.chars().count() >= FUZZY_FROM && !form.bytes().any(|b| b.is_ascii_digit())
}

/// How an alias matches a mention that shares a key with it, if it does. `is_name` says that the alias is the entity's own name.
pub fn verify(form: &str, alias: &str, is_name: bool) -> Option<Match> {
    let alias = normal_form(alias);
    if alias == form {
        return Some(if is_name { Match::Exact } else { Match::Alias });
    }
    let near = may_be_fuzzy(form) && may_be_fuzzy(&alias) && form.as_bytes()[0] == alias.as_bytes()[0];
    (near && strsim::osa_distance(form, &alias) <= 1).then_some(Match::Fuzzy)
}

/// All runs of words that may be names: they begin with a capital letter or a digit (any word in a question without
/// capitals), and cross no punctuation but one comma, slashes, dots and hyphens.
pub(super) fn read(tokens: &[Token]) -> Vec<Mention> {
    let without_capitals = !tokens.iter().skip(1).any(Token::is_capitalised);
    let mut found = Vec::new();
    for first in 0..tokens.len() {
        let opens =
            tokens[first].is_word && (without_capitals || tokens[first].is_capitalised() || tokens[first].digits() > 0);
        if !opens {
            continue;
        }
        let mut n_words = 0;
        let mut n_commas = 0;
        for end in first + 1..=tokens.len() {
            let token = &tokens[end - 1];
            if token.is_word {
                n_words += 1;
            } else if token.lower == "," {
                n_commas += 1;
            } else if !matches!(token.lower.as_str(), "." | "-" | "/" | "'") {
                break;
            }
            if n_words > LONGEST || n_commas > 1 {
                break;
            }
            if !token.is_word {
                continue;
            }
            let raw: Vec<&str> = tokens[first..end].iter().map(|t| t.raw.as_str()).collect();
            let form = normal_form(&raw.join(" "));
            if !form.is_empty() {
                found.push(Mention { first: first as u32, end: end as u32, form });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Match, alias_keys, keys_of, normal_form, verify};

    #[test]
    fn forms_fold_the_ways_a_place_is_written() {
        for (a, b) in [
            ("Fort Myers, Florida", "FT MYERS FL"),
            ("the Port of Houston", "Houston"),
            ("Saint Thomas", "St. Thomas"),
            ("U.S. Virgin Islands", "US Virgin Islands"),
            ("Charleston, SC", "Charleston, South Carolina"),
        ] {
            assert_eq!(normal_form(a), normal_form(b));
        }
        assert_ne!(normal_form("Port Arthur"), normal_form("Arthur"));
    }

    #[test]
    fn names_one_slip_apart_share_a_key_and_match() {
        let alias = alias_keys("Galveston");
        for (form, expected) in [
            ("galveston", Some(Match::Exact)),
            ("galvestn", Some(Match::Fuzzy)),
            ("galvesotn", Some(Match::Fuzzy)),
            ("houston", None),
        ] {
            let shares = keys_of(form).iter().any(|k| alias.contains(k));
            assert_eq!(shares.then(|| verify(form, "Galveston", true)).flatten(), expected, "{form}");
        }
    }
}
