//! Rankings: the passages of a corpus that answer a question, best first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ContentHash, Fixed, Provenance, QueryId};

/// The parts of a passage's score. The first two are as they stand, the others between zero and one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct PassageScore {
    /// Cosine with the question.
    pub dense: Fixed,
    /// BM25.
    pub lexical: Fixed,
    /// Both, each over the best and weighed, with the titles that the question names.
    pub start: Fixed,
    /// What the names of the first passages lead to.
    pub step: Fixed,
    /// Where a walk from the first passages over what they name comes.
    pub walk: Fixed,
    /// The weighted sum of the last three.
    pub total: Fixed,
}

/// A passage in the ranking of a query: a row of table `rankings`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RankedPassage {
    /// The query.
    pub query: QueryId,
    /// Its rank, from 1.
    pub rank: u16,
    /// The passage: a hash of its title and text.
    pub passage: ContentHash,
    /// Its title; empty where it has none.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The fact of it that fits the question best; empty where it has none.
    pub evidence: String,
    /// Cosine of that fact with the question.
    pub relevance: Fixed,
    /// Its score and the parts of it.
    pub score: PassageScore,
    /// Every document that has it, with the bytes.
    pub provenance: Vec<Provenance>,
}
