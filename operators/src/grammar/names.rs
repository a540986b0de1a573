//! Names of places in sentences of mixed case: capitalised words behind a preposition.
//!
//! A heuristic for linking only; what it misses is still in the sentence, and in texts of capitals it finds nothing.

use super::header::Header;

/// Words before a place.
const BEFORE: [&str; 14] =
    ["near", "in", "at", "over", "of", "along", "across", "from", "to", "into", "toward", "on", "for", "between"];
/// Small words inside a name.
const INSIDE: [&str; 6] = ["of", "the", "de", "and", "la", "del"];
/// Capitalised words that are no places.
const NO_PLACES: [&str; 34] = [
    "hurricane",
    "tropical",
    "storm",
    "depression",
    "cyclone",
    "air",
    "force",
    "reserve",
    "noaa",
    "utc",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "national",
    "doppler",
    "saffir-simpson",
    "category",
    "hunter",
    "the",
    "a",
    "atlantic",
    "pacific",
];
/// How many places of one sentence are linked.
const MOST: usize = 4;

/// The places that a sentence names.
pub(super) fn places(words: &str, header: &Header) -> Vec<String> {
    if !words.chars().any(char::is_lowercase) {
        return Vec::new();
    }
    let tokens: Vec<&str> = words.split(' ').collect();
    let mut found: Vec<String> = Vec::new();
    let mut idx = 0;
    while idx + 1 < tokens.len() && found.len() < MOST {
        let behind = BEFORE.contains(&tokens[idx].to_lowercase().as_str());
        idx += 1;
        if !behind {
            continue;
        }
        if tokens[idx] == "the" && idx + 1 < tokens.len() {
            idx += 1;
        }
        let (name, used) = name_at(&tokens[idx..]);
        idx += used;
        let Some(name) = name else {
            continue;
        };
        let first = name.split(' ').next().unwrap_or_default().to_lowercase();
        let own = name.eq_ignore_ascii_case(&header.title.name);
        if !own && !NO_PLACES.contains(&first.as_str()) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// A name at the start of some words, and how many words it takes. A state behind a comma belongs to it.
fn name_at(tokens: &[&str]) -> (Option<String>, usize) {
    let mut name: Vec<&str> = Vec::new();
    let mut used = 0;
    let mut commas = 0;
    for token in tokens {
        let bare = token.trim_end_matches([',', '.', ';', ')', ':']);
        let capital = bare.chars().next().is_some_and(char::is_uppercase) && bare.chars().any(char::is_lowercase);
        let inside = INSIDE.contains(token) && !name.is_empty() && *token != "and";
        if !(capital || inside) {
            break;
        }
        used += 1;
        name.push(bare);
        if token.len() != bare.len() {
            commas += 1;
            if !token.ends_with(',') || commas > 1 {
                break;
            }
        }
    }
    while name.last().is_some_and(|last| INSIDE.contains(last)) {
        name.pop();
    }
    let joined = name.join(" ");
    ((joined.len() > 2).then_some(joined), used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::header::header;

    #[test]
    fn names_behind_prepositions() {
        let head = header("Hurricane Opal Advisory Number 5\nNWS AL172020\n0300 UTC MON AUG 31 2020\n").unwrap();
        let words = "Opal made landfall near Alpha Beach, Florida, on Friday as a Category 2 hurricane.";
        assert_eq!(places(words, &head), ["Alpha Beach Florida"]);
        assert_eq!(places("Rain is expected over the Gulf of Beta and in Gamma.", &head), ["Gulf of Beta", "Gamma"]);
        assert!(places("OPAL NEAR ALPHA BEACH", &head).is_empty());
    }
}
