//! From the words of a question to what it is about: storms, products, numbers, times, places, and what it wants to know.
//!
//! Thousands of near-identical facts (one wind-probability row per place and advisory) can't be told apart by cosine; links
//! scope the candidates and cosine ranks within. Reading has two steps, since names arrive with documents:
//! [`read_question`] needs the question alone, and [`resolve`] joins its mentions to the aliases that are known so far.

mod cues;
mod mentions;
mod numbers;
mod plan;
mod resolve;
mod scope;
mod score;
mod series;
mod storms;
mod thresholds;
mod times;
mod words;

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use hypercane_schemas::EntityKey;
use jiff::Timestamp;

use crate::domain::{Domain, Questions};

pub use cues::{Cues, Intent, Threshold};
pub use mentions::{AliasKey, AliasMatch, Match, Mention, alias_keys, keys_of, normal_form, verify};
pub use numbers::{Number, NumberSlots};
pub use plan::{Plan, Shelf};
pub use resolve::{Links, PlaceLink, StormLink, resolve};
pub use scope::{ScopeKey, edge_scope_keys};
pub use score::shelf_of;
pub use times::TimeSlots;

/// What a question says, before its names are known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct QuestionSlots {
    /// Runs of words that may be names.
    pub mentions: Vec<Mention>,
    /// For each mention, the year that stands beside it (`Harvey (2017)`).
    pub years_beside: Vec<Option<i16>>,
    /// For each mention, whether a storm's class stands before it (`Tropical Depression Nine`).
    pub class_before: Vec<bool>,
    /// Names that the pack itself knows: ports and sectors.
    pub known: Vec<AliasMatch>,
    /// Times.
    pub times: TimeSlots,
    /// Advisory numbers.
    pub numbers: NumberSlots,
    /// What is asked for.
    pub cues: Cues,
    /// Its words without the small ones, for what no slot holds.
    pub words: BTreeSet<String>,
    /// Only what had been issued by then counts.
    pub as_of: Option<Timestamp>,
}

/// Words of plain English that carry nothing by themselves; the pack adds those of its trade.
const SMALL: &str = "the a an of in on at to for from by with and or is was were are be been did do does what which when \
    where who how it its that this these as per had has have will would should there than then true false give not no into \
    over after before between utc edt cdt est ast pm am according going please answer many much most more any all each we our \
    your you they he s t";

/// Whether a word carries nothing by itself.
pub(super) fn is_small(word: &str, questions: &Questions) -> bool {
    questions.stop_words.contains(word) || SMALL.split(' ').any(|small| small == word)
}

/// Reads a question: everything that needs no entity.
pub fn read_question(question: &str, domain: &Domain, as_of: Option<Timestamp>) -> QuestionSlots {
    let tokens = words::tokens(question);
    let mentions = mentions::read(&tokens);
    let years_beside = mentions.iter().map(|m| resolve::year_beside(&tokens, m)).collect();
    let questions = domain.questions();
    let class_before = mentions.iter().map(|m| resolve::class_before(&tokens, m, questions)).collect();
    let known = resolve::known_places(&mentions, domain);
    let words = words::words(&tokens).into_iter().filter(|w| !is_small(w, questions) && w.len() > 1);
    let words = words.map(str::to_owned).collect();
    QuestionSlots {
        years_beside,
        class_before,
        known,
        times: times::read(&tokens, as_of),
        numbers: numbers::read(&tokens, &questions.numbers),
        cues: cues::read(&tokens, question, domain),
        words,
        as_of,
        mentions,
    }
}

/// The kind and the rest of an entity key, such as `tcm` and `AL092017:019`.
pub(crate) fn key_parts(key: &EntityKey) -> (&str, &str) {
    key.0.split_once(':').unwrap_or((key.0.as_str(), ""))
}

#[cfg(test)]
mod tests;
