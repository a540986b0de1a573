//! Port conditions among words: the four letters of the alphabet, numbers behind `port condition`, seasonal and normal.

use std::ops::Range;

use super::words::Word;

/// A condition as a text names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// As in the pack: `WHISKEY`, `X-RAY`, `YANKEE`, `ZULU`, `IV`, `SEASONAL ALERT`, `NORMAL`.
    pub(super) code: String,
    /// Whether the text calls it modified.
    pub(super) modified: bool,
    /// Its words, from its lead-in (`port condition`, `modified`) to its end.
    pub(super) words: Range<usize>,
}

const LETTERS: [(&str, &str); 12] = [
    ("whiskey", "WHISKEY"),
    ("whisky", "WHISKEY"),
    ("x-ray", "X-RAY"),
    ("xray", "X-RAY"),
    ("x\u{2011}ray", "X-RAY"),
    ("yankee", "YANKEE"),
    ("zulu", "ZULU"),
    ("zulus", "ZULU"),
    // Posts that were cut off in the middle of the word.
    ("whisk", "WHISKEY"),
    ("whiske", "WHISKEY"),
    ("yank", "YANKEE"),
    ("yanke", "YANKEE"),
];

const NUMBERS: [(&str, &str); 15] = [
    ("one", "I"),
    ("two", "II"),
    ("three", "III"),
    ("four", "IV"),
    ("five", "V"),
    ("i", "I"),
    ("ii", "II"),
    ("iii", "III"),
    ("iv", "IV"),
    ("v", "V"),
    ("1", "I"),
    ("2", "II"),
    ("3", "III"),
    ("4", "IV"),
    ("5", "V"),
];

/// The conditions among words, in text order.
pub(super) fn conditions(words: &[Word]) -> Vec<Condition> {
    let mut found: Vec<Condition> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((length, code)) = code_at(words, at) else {
            at += 1;
            continue;
        };
        let earliest = found.last().map_or(0, |last| last.words.end);
        let (start, modified) = lead_in(words, at, earliest);
        found.push(Condition { code, modified, words: start..at + length });
        at += length;
    }
    found
}

fn code_at(words: &[Word], at: usize) -> Option<(usize, String)> {
    let form = |offset: usize| words.get(at + offset).map_or("", |word| word.form.as_str());
    let here = form(0);
    if let Some((_, code)) = LETTERS.iter().find(|(name, _)| *name == here) {
        return Some((1, (*code).to_owned()));
    }
    if here == "x" && form(1) == "ray" {
        return Some((2, "X-RAY".to_owned()));
    }
    if here == "seasonal" && form(1) == "alert" {
        return Some((2, "SEASONAL ALERT".to_owned()));
    }
    if here == "hurricane" && form(1) == "season" && form(2) == "preparedness" {
        return Some((3, "SEASONAL ALERT".to_owned()));
    }
    if here == "normal" && (form(1) == "port" || form(1) == "operating") && form(2).starts_with("condition") {
        return Some((3, "NORMAL".to_owned()));
    }
    let before = |offset: usize| at.checked_sub(offset).map_or("", |before| words[before].form.as_str());
    let behind_condition = matches!(before(1), "condition" | "conditions" | "cor" | "readiness" | "phwc");
    if here == "normal" && behind_condition {
        return Some((1, "NORMAL".to_owned()));
    }
    let number = NUMBERS.iter().find(|(name, _)| *name == here);
    let (_, code) = number.filter(|_| behind_condition)?;
    // The condition of readiness of Guam counts down to one and is another scale.
    let readiness = matches!(before(1), "cor" | "readiness");
    Some((1, if readiness { format!("COR {code}") } else { (*code).to_owned() }))
}

/// Where the words that lead to a condition start, and whether `modified` is among them.
fn lead_in(words: &[Word], at: usize, earliest: usize) -> (usize, bool) {
    let mut start = at;
    let mut modified = false;
    while start > earliest {
        match words[start - 1].form.as_str() {
            "port" | "ports" | "condition" | "conditions" | "readiness" | "heavy" | "weather" | "cor" | "status" => {}
            "hurricane" | "tropical" | "cyclone" if words[start].form == "condition" => {}
            "version" | "a" | "an" => {}
            "of" if matches!(
                words[start].form.as_str(),
                "readiness" | "whiskey" | "yankee" | "zulu" | "x-ray" | "xray"
            ) && start >= 2
                && matches!(words[start - 2].form.as_str(), "condition" | "version") => {}
            "modified" => modified = true,
            _ => break,
        }
        start -= 1;
    }
    // An article belongs to the sentence, not to the condition.
    while start < at && matches!(words[start].form.as_str(), "a" | "an") {
        start += 1;
    }
    (start, modified)
}

#[cfg(test)]
mod tests {
    use super::super::words::sentences;
    use super::conditions;

    #[test]
    fn all_spellings_are_known() {
        for (text, expected) in [
            ("set Port Condition #XRay", vec![("X-RAY", false)]),
            ("set a modified Port Condition Whiskey", vec![("WHISKEY", true)]),
            ("set a modified version of Whiskey", vec![("WHISKEY", true)]),
            ("Port Condition FOUR, then port condition IV", vec![("IV", false), ("IV", false)]),
            ("sets Port Condition Seasonal Alert", vec![("SEASONAL ALERT", false)]),
            ("set port condition normal", vec![("NORMAL", false)]),
            ("set Condition of Readiness 2", vec![("COR II", false)]),
            ("in four of the ports", vec![]),
        ] {
            let words = sentences(text).remove(0).words;
            let found: Vec<_> = conditions(&words).into_iter().map(|found| (found.code, found.modified)).collect();
            let found: Vec<_> = found.iter().map(|(code, modified)| (code.as_str(), *modified)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
