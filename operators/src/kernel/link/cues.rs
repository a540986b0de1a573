//! What a question asks for, by its words: products, families, thresholds, conditions, quadrants, and how it looks at order.
//!
//! Long, because most of it is tables of words, which are read beside the code that looks them up.

use hypercane_schemas::Fixed;
use serde::{Deserialize, Serialize};

use super::{
    thresholds,
    words::{Token, find_phrase, words},
};
use crate::domain::Domain;

/// Which way a threshold is crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Crossing {
    /// At or above.
    Up,
    /// At or below.
    Down,
}

/// A value that something reaches, in the canonical unit of its attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Threshold {
    /// The attribute: `max_wind`, `pressure`, `motion_speed`, `probability_cumulative`.
    pub attribute: String,
    /// The value.
    pub value: Fixed,
    /// The direction.
    pub crossing: Crossing,
}

/// How a question looks at order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Intent {
    /// When something first was so.
    pub first: bool,
    /// Several states, in order.
    pub sequence: bool,
    /// The newest state.
    pub latest: bool,
    /// The largest or smallest of all.
    pub extreme: bool,
    /// What changed.
    pub change: bool,
    /// A forecast, not the present.
    pub forecast: bool,
}

/// What a question's words ask for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Cues {
    /// Kinds of products that are named (`tcm`, `pws`, `port_post`); empty means any.
    pub kinds: Vec<String>,
    /// Relation families that are asked for.
    pub families: Vec<u8>,
    /// Attributes that are asked for, most specific first.
    pub attributes: Vec<String>,
    /// Classes of a storm that are named apart from a storm's own title, as in the pack.
    pub classes: Vec<String>,
    /// Values to be reached.
    pub thresholds: Vec<Threshold>,
    /// Wind speeds in kt for which radii and probabilities are given, as far as they are named.
    pub wind_levels: Vec<u16>,
    /// Port conditions, as documents call them.
    pub conditions: Vec<String>,
    /// Quadrants, such as `ne`.
    pub quadrants: Vec<String>,
    /// How it looks at order.
    pub intent: Intent,
}

/// Product kinds by the words that name them; a longer phrase that is found hides the shorter ones inside it.
const KINDS: &[(&str, &[&str])] = &[
    ("forecast/advisor*", &["tcm"]),
    ("forecast advisor*", &["tcm"]),
    ("marine advisor*", &["tcm"]),
    ("tcm*", &["tcm"]),
    ("public advisor*", &["tcp"]),
    ("public product*", &["tcp"]),
    ("intermediate advisor*", &["tcp"]),
    ("tcp*", &["tcp"]),
    ("wind speed probabilit*", &["pws"]),
    ("wind probabilit*", &["pws"]),
    ("probability product*", &["pws"]),
    ("probabilities product*", &["pws"]),
    ("wind probs", &["pws"]),
    ("pws*", &["pws"]),
    ("discussion*", &["tcd"]),
    ("tcd*", &["tcd"]),
    ("cyclone update*", &["tcu"]),
    ("tcu*", &["tcu"]),
    ("position estimate*", &["tce"]),
    ("tropical weather outlook*", &["two"]),
    ("msib*", &["msib"]),
    ("safety information bulletin*", &["msib"]),
    ("coast guard release*", &["msib"]),
    ("coast guard post*", &["port_post", "msib"]),
    ("uscg post*", &["port_post", "msib"]),
    ("changes section", &["tcp"]),
    ("watches and warnings", &["tcp", "tcm"]),
    ("watch warning", &["tcp", "tcm"]),
    ("port condition*", &["port_post", "msib"]),
    ("captain of the port", &["port_post", "msib"]),
];

/// Families by the words that ask for them.
const FAMILIES: &[(&str, &[u8])] = &[
    ("probabilit*", &[5]),
    ("chance*", &[5]),
    ("likelihood", &[5]),
    ("likely", &[5]),
    ("odds", &[5]),
    ("onset", &[5]),
    ("watch", &[4]),
    ("watches", &[4]),
    ("warning*", &[4]),
    ("radius", &[8]),
    ("radii", &[8]),
    ("quadrant*", &[8]),
    ("extend*", &[8]),
    ("extent", &[8]),
    ("wind field", &[8]),
    ("reach out", &[8]),
    ("stretch* out", &[8]),
    ("seas", &[8]),
    ("forecast", &[2]),
    ("expect*", &[2]),
    ("predict*", &[2]),
    ("projected", &[2]),
    ("will be", &[2]),
    ("outlook", &[2]),
    ("track", &[2]),
    ("landfall", &[2, 3]),
    ("surge", &[6]),
    ("rain*", &[6]),
    ("tornado*", &[9, 6]),
    ("surf", &[9, 6]),
    ("port condition*", &[10, 12]),
    ("coast guard", &[10, 12]),
    ("captain of the port", &[10, 12]),
    ("cotp", &[10, 12]),
    ("uscg", &[10, 12]),
    ("msib*", &[10, 12]),
    ("vessel*", &[10]),
    ("seaport*", &[10, 12]),
    ("reopen*", &[12, 10]),
    ("closed", &[10, 11]),
    ("lightering", &[10]),
    ("cargo", &[10, 12]),
    ("recover*", &[12]),
    ("impact", &[11]),
    ("posts", &[10, 12]),
    ("the post", &[10, 12]),
    ("post of", &[10, 12]),
    ("harbor master", &[10, 12]),
];

/// Port conditions by the words that name them.
const CONDITIONS: &[(&str, &str)] = &[
    ("whiskey", "WHISKEY"),
    ("x ray", "X-RAY"),
    ("xray", "X-RAY"),
    ("yankee", "YANKEE"),
    ("zulu", "ZULU"),
    ("condition four", "IV"),
    ("condition iv", "IV"),
    ("iv", "IV"),
    ("condition 4", "IV"),
    ("condition v", "V"),
    ("condition five", "V"),
    ("seasonal alert", "SEASONAL ALERT"),
    ("normal", "NORMAL"),
    ("reopened", "NORMAL"),
];

const QUADRANTS: &[(&str, &str)] = &[
    ("northeast", "ne"),
    ("southeast", "se"),
    ("southwest", "sw"),
    ("northwest", "nw"),
    ("north east", "ne"),
    ("south east", "se"),
    ("south west", "sw"),
    ("north west", "nw"),
    ("ne", "ne"),
    ("se", "se"),
    ("sw", "sw"),
    ("nw", "nw"),
];

const FIRST: &[&str] = &[
    "first",
    "earliest",
    "earlier",
    "at which",
    "which advisory",
    "which full advisory",
    "which numbered",
    "which public advisory",
    "which forecast/advisory",
    "in which",
    "what advisory",
    "which number",
    "what number",
    "when did",
    "when was",
    "came before",
    "before or after",
    "initially",
    "find the",
    "begin to",
    "began",
    "become",
    "became",
    "upgraded",
    "downgraded",
    "sooner",
    "brought",
    "announce*",
    "introduced",
    "which came",
    "what point",
    "started",
    "how soon",
    "reached",
];
const SEQUENCE: &[&str] = &[
    "trace",
    "list",
    "in order",
    "in turn",
    "run of",
    "step through",
    "sequence",
    "history",
    "over its life",
    "oldest first",
    "first to last",
    "one after another",
    "progression",
    "evolve*",
    "evolution",
    "develop",
    "how did",
    "timeline",
    "went through",
    "go through",
    "chronolog*",
    "each advisory",
    "advisory by advisory",
    "give the order",
    "walk me through",
    "lay out",
    "successive",
    "stages",
    "series",
    "steps",
];
const LATEST: &[&str] = &[
    "latest",
    "current",
    "currently",
    "most recent",
    "last",
    "now",
    "so far",
    "as of",
    "stood at",
    "still",
    "by the posts",
    "newest",
    "up to date",
    "today",
    "at present",
    "presently",
];
const EXTREME: &[&str] = &[
    "strongest",
    "highest",
    "lowest",
    "deepest",
    "peak",
    "peaked",
    "maximum intensity",
    "most intense",
    "weakest",
    "largest",
    "biggest",
    "sharpest",
    "record",
    "on top",
    "minimum pressure",
    "most powerful",
    "fiercest",
    "slowest",
    "fastest",
    "top wind",
    "greatest",
    "rank",
];
const CHANGE: &[&str] = &[
    "change*",
    "difference",
    "differ*",
    "rise",
    "rose",
    "fall",
    "fell",
    "up or down",
    "strengthen*",
    "weaken*",
    "increase*",
    "decrease*",
    "drop*",
    "upgrade*",
    "downgrade*",
    "compare*",
    "stronger or weaker",
    "went",
    "move",
    "replaced",
    "replacement",
    "extension",
    "extended",
    "discontinu*",
    "cancel*",
    "the end of",
];
/// Words for a storm's class.
const STATUS: &[&str] = &[
    "class",
    "classes",
    "classif*",
    "status change*",
    "status of",
    "statuses",
    "designat*",
    "what kind of system",
    "type of system",
    "titled",
    "calling",
];
const FORECAST: &[&str] = &[
    "forecast to",
    "forecast wind",
    "forecast point*",
    "forecast time*",
    "official forecast",
    "to forecast",
    "expect*",
    "predict*",
    "projected",
    "will be",
    "planning ahead",
    "valid",
    "forecast position",
    "outlook",
];

/// Reads the cues of a question.
pub(super) fn read(tokens: &[Token], question: &str, domain: &Domain) -> Cues {
    let words = words(tokens);
    let has = |phrase: &str| find_phrase(&words, phrase).is_some();
    let any = |phrases: &[&str]| phrases.iter().any(|p| has(p));
    let mut cues = Cues {
        attributes: domain.attributes_asked(question).into_iter().map(str::to_owned).collect(),
        intent: Intent {
            first: any(FIRST),
            sequence: any(SEQUENCE),
            latest: any(LATEST),
            extreme: any(EXTREME),
            change: any(CHANGE),
            forecast: any(FORECAST),
        },
        ..Cues::default()
    };
    for (phrase, kinds) in KINDS {
        if has(phrase) {
            cues.kinds.extend(kinds.iter().map(|k| (*k).to_owned()));
        }
    }
    for (phrase, families) in FAMILIES {
        if has(phrase) {
            cues.families.extend(*families);
        }
    }
    for (phrase, condition) in CONDITIONS {
        if has(phrase) {
            cues.conditions.push((*condition).to_owned());
        }
    }
    for (phrase, quadrant) in QUADRANTS {
        if has(phrase) {
            cues.quadrants.push((*quadrant).to_owned());
        }
    }
    if any(STATUS) && !cues.attributes.iter().any(|a| a == "status") {
        cues.attributes.insert(0, "status".into());
    }
    cues.classes = classes(tokens, domain);
    thresholds::read(tokens, &words, &mut cues);
    for list in [&mut cues.kinds, &mut cues.conditions, &mut cues.quadrants] {
        dedup(list);
    }
    cues.families.sort_unstable();
    cues.families.dedup();
    if !cues.conditions.is_empty() && !cues.families.contains(&10) {
        cues.families.extend([10, 12]);
    }
    cues
}

fn dedup(list: &mut Vec<String>) {
    let mut seen = Vec::new();
    list.retain(|item| {
        let new = !seen.contains(item);
        seen.push(item.clone());
        new
    });
}

/// Classes that are named for themselves: not as a title before a name, not as the kind of a watch or warning.
fn classes(tokens: &[Token], domain: &Domain) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    let is_word = |i: usize| tokens.get(i).is_some_and(|t| t.is_word);
    while at < tokens.len() {
        let longest = (1..=3).rev().find_map(|count| {
            let end = word_end(tokens, at, count)?;
            let text: Vec<&str> = tokens[at..end].iter().map(|t| t.lower.as_str()).collect();
            let (_, class) = domain.status_class(&text.join(" "))?;
            // Two-letter abbreviations only where they are written in capitals.
            let written = text.len() > 1 || text[0].len() > 3 || tokens[at].raw.chars().all(char::is_uppercase);
            written.then_some((end, class.name.clone()))
        });
        let Some((end, class)) = longest else {
            at += 1;
            continue;
        };
        let next = tokens.get(end).map(|t| t.lower.as_str()).unwrap_or("");
        let joined = next == "-";
        let of_warning = matches!(
            next,
            "watch" | "watches" | "warning" | "warnings" | "force" | "center" | "centre" | "strength" | "condition"
        );
        let title = is_word(end) && tokens[end].is_capitalised() && tokens[end].digits() == 0;
        if !of_warning && !title && !joined {
            found.push(class);
        }
        at = end;
    }
    dedup(&mut found);
    found
}

/// Where `count` words from `at` on end, with hyphens between them.
fn word_end(tokens: &[Token], at: usize, count: usize) -> Option<usize> {
    let mut end = at;
    for n in 0..count {
        if n > 0 && tokens.get(end)?.lower == "-" {
            end += 1;
        }
        if !tokens.get(end)?.is_word {
            return None;
        }
        end += 1;
    }
    Some(end)
}
