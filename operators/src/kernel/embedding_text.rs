//! The text under which a hyperedge is embedded (OKH-RAG A.4: relation, evidence, entity names and types).
//!
//! Numbers and times are folded away: they carry next to nothing in a cosine, links handle them, and without them the
//! near-identical facts of successive advisories share one vector, so that a corpus has thousands of texts and not
//! hundreds of thousands.

use std::collections::BTreeMap;

use crate::extraction::Mention;

/// A participating entity as the text names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub kind: &'a str,
}

impl<'a> From<&'a Mention> for Named<'a> {
    fn from(mention: &'a Mention) -> Self {
        Self { name: &mention.name, kind: &mention.kind }
    }
}

/// Types whose names are times, numbers or repeat what the evidence says.
const UNNAMED: &[&str] = &[
    "moment",
    "horizon_time",
    "advisory",
    "cyclone_state",
    "cyclone_forecast",
    "wind_radii",
    "wind_probability",
    "watch_warning",
    "hazard_forecast",
    "port_exposure",
    "operation_status",
    "disturbance",
];

/// Types whose names are told by links too and recur in all their facts: a name becomes the type's general word.
const GENERAL: &[(&str, &str)] = &[("cyclone", "storm")];

/// Words of the calendar and the clock.
const TIMES: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "morning",
    "afternoon",
    "evening",
    "night",
    "today",
    "tonight",
    "tomorrow",
    "overnight",
    "early",
    "late",
    "utc",
    "edt",
    "cdt",
    "ast",
    "est",
    "cst",
    "hst",
    "pdt",
    "am",
    "pm",
    "n",
    "s",
    "e",
    "w",
    "x",
];

/// The text, in lower case: relation words, evidence with numbers and times folded, names and types of lasting entities
/// (sorted, each once). The lead of an evidence line (product, number, issue time) ends at the first `: ` and is left out.
pub fn embedding_text<'a>(relation: &str, evidence: &str, members: impl IntoIterator<Item = Named<'a>>) -> String {
    let members: Vec<Named<'a>> = members.into_iter().collect();
    let mut general: BTreeMap<String, &str> = BTreeMap::new();
    for (kind, word) in GENERAL {
        let names = members.iter().filter(|m| m.kind == *kind).flat_map(|m| m.name.split_whitespace());
        general.extend(names.map(|name| (name.to_lowercase(), *word)));
    }
    let said = match evidence.split_once(": ") {
        Some((lead, rest)) if lead.len() < LONGEST_LEAD => rest,
        _ => evidence,
    };
    let mut text = relation.replace('_', " ");
    text.push('.');
    let mut last = String::new();
    for word in said.split_whitespace().filter_map(folded) {
        let word = general.get(word.trim_end_matches("'s")).map_or(word.as_str(), |word| word);
        // `kt, kt`: one is enough.
        if word != last {
            text.push(' ');
            text.push_str(word);
            last = word.to_owned();
        }
    }
    let is_named = |m: &&Named<'_>| !UNNAMED.contains(&m.kind) && GENERAL.iter().all(|(kind, _)| m.kind != *kind);
    let shown = |m: &Named<'_>| format!("{} ({})", m.name.trim().to_lowercase(), m.kind.replace('_', " "));
    let mut names: Vec<String> = members.iter().filter(is_named).map(shown).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        text.push_str(" | ");
        text.push_str(&names.join(", "));
    }
    text
}

/// Longest lead of an evidence line, in bytes.
const LONGEST_LEAD: usize = 160;

/// A word in lower case without its outer marks; nothing for a number, a time, a direction or a table's cell.
fn folded(word: &str) -> Option<String> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = bare.to_lowercase();
    let away = bare.is_empty()
        || bare.bytes().any(|b| b.is_ascii_digit() || b == b'(')
        || TIMES.contains(&lower.as_str())
        || is_direction(bare);
    (!away).then_some(lower)
}

/// Whether a word is a direction of the compass, such as `north-northwest` or `NNW`.
fn is_direction(word: &str) -> bool {
    let short = word.len() <= 3 && word.bytes().all(|b| b"NSEW".contains(&b));
    let mut rest = word.to_lowercase();
    for part in ["north", "south", "east", "west", "ward", "ern", "-"] {
        rest = rest.replace(part, "");
    }
    short || rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{Named, embedding_text};

    #[test]
    fn facts_that_differ_in_numbers_only_share_a_text() {
        let members = [Named { name: "Harvey", kind: "cyclone" }, Named { name: "25 August", kind: "moment" }];
        let text = |evidence: &str| embedding_text("has_cyclone_state", evidence, members);
        let a = text(
            "Hurricane Harvey advisory 19 issued 2017-08-25 03:00 UTC: maximum wind 75 kt, moving northwest at 8 kt",
        );
        let b = text(
            "Hurricane Harvey advisory 20 issued 2017-08-25 09:00 UTC: maximum wind 90 kt, moving north-northwest at 7 kt",
        );
        assert_eq!(a, b);
        assert_eq!(a, "has cyclone state. maximum wind kt moving at kt");
    }

    #[test]
    fn places_stay_and_storms_become_general() {
        let members = [Named { name: "Irma", kind: "cyclone" }, Named { name: "Key West, Florida", kind: "place" }];
        let evidence =
            "Hurricane Irma advisory 40 issued 2017-09-09 03:00 UTC: Irma's eye passes near Key West on Sunday";
        let text = embedding_text("forecasts_track", evidence, members);
        // A direction inside a name goes from the sentence; the name of the place keeps it.
        assert_eq!(text, "forecasts track. storm eye passes near key on | key west, florida (place)");
    }
}
