//! The text under which a hyperedge is embedded (OKH-RAG A.4: relation, evidence, entity names and types).
//!
//! Numbers and times are folded away: they carry next to nothing in a cosine, links handle them, and without them the
//! near-identical facts of successive advisories share one vector, so that a corpus has thousands of texts and not
//! hundreds of thousands.

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
const UNNAMED: [&str; 12] = [
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

/// The text: relation words, evidence with numbers and times folded, names and types of lasting entities (sorted, each
/// once). The lead of an evidence line (product, number, issue time) ends at the first `: ` and is left out.
pub fn embedding_text<'a>(relation: &str, evidence: &str, members: impl IntoIterator<Item = Named<'a>>) -> String {
    let said =
        evidence.split_once(": ").map_or(evidence, |(lead, rest)| if lead.len() < 160 { rest } else { evidence });
    let mut text = relation.replace('_', " ");
    text.push('.');
    let mut last = "";
    for word in said.split_whitespace().filter_map(folded) {
        // `# kt, # kt`: one is enough.
        if word != last {
            text.push(' ');
            text.push_str(word);
            last = word;
        }
    }
    let mut names: Vec<String> = members
        .into_iter()
        .filter(|m| !UNNAMED.contains(&m.kind))
        .map(|m| format!("{} ({})", m.name.trim(), m.kind.replace('_', " ")))
        .collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        text.push_str(" | ");
        text.push_str(&names.join(", "));
    }
    text
}

/// A word without its outer marks; nothing for a number, a time, a direction or a zone.
fn folded(word: &str) -> Option<&str> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let folded_away = bare.is_empty()
        || bare.bytes().any(|b| b.is_ascii_digit())
        || matches!(
            bare,
            "UTC" | "EDT" | "CDT" | "AST" | "EST" | "CST" | "HST" | "PDT" | "AM" | "PM" | "N" | "S" | "E" | "W"
        )
        || is_direction(bare);
    (!folded_away).then_some(bare)
}

/// Whether a word is a direction of the compass, such as `north-northwest` or `NNW`.
fn is_direction(word: &str) -> bool {
    let short = word.len() <= 3 && word.bytes().all(|b| b"NSEW".contains(&b));
    let mut rest = word.to_ascii_lowercase();
    for part in ["north", "south", "east", "west", "-"] {
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
        assert_eq!(a, "has cyclone state. maximum wind kt moving at kt | Harvey (cyclone)");
    }
}
