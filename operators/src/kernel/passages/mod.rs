//! Ranking the passages of a corpus for a question: by meaning, by words, and by what they name in common.
//!
//! The hypergraph's facts join names (HyperProve 3.1); a passage is the set of its facts. Retrieval starts from the passages
//! that the question finds by itself, and goes on to those that these lead to: by one step along the names of their
//! facts, each weighted by how well its fact fits the question, and by a random walk with restart over passages and names,
//! as HyCE-RAG eq. 27 walks over entities and hyperedges. A name that many passages share leads nowhere (the hub rule), except
//! to the passage that has it as its title.
//!
//! All of it is kept while passages come and go, and for each standing question what it rests on, so that a passage that changes
//! costs what the questions are worth that it concerns ([`Standing`]). To this end a ranking is local: counts are read in steps
//! (`coarse`), small shares of the walk go nowhere, and sums are of integers, so that neither the order of arrival nor the
//! history shows.
//!
//! No parameter depends on the corpus. The defaults were chosen by random search on two sets of training questions
//! (hotpotqa_train, musique_openie), but for the hubs of the walk, which are those of the packs, and for what keeps the walk near:
//! the least share is the largest of a few that left these sets as they were, the restarts are bounded by hand. `hypercane eval
//! multihop --tune` searches on.

mod coarse;
mod first;
mod index;
mod lexical;
mod names;
mod rank;
mod scratch;
mod standing;
#[cfg(test)]
mod tests;

use hypercane_schemas::Vector;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use coarse::coarse;
pub use first::{Best, First, Found, Scan};
pub use index::{Changed, PassageIndex};
pub use lexical::{AskedWords, Lexical};
pub use rank::{Asked, Ranked, Ranking, Read};
pub use scratch::Scratch;
pub use standing::{Changes, Standing};

/// A passage, as it is taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Passage {
    /// Its title; empty where it has none.
    pub title: String,
    /// Its text.
    pub text: String,
    /// When it was first said, where that is known.
    pub issued_at: Option<Timestamp>,
    /// The vector of title and text, of length one; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// Its facts, in text order.
    pub facts: Vec<PassageFact>,
    /// Names that belong to the whole of it and stand in no fact, such as its publisher's.
    pub names: Vec<String>,
}

impl Passage {
    /// The text under which it is embedded and its words are looked for: the title, a line feed, the text.
    pub fn whole(&self) -> String {
        format!("{}\n{}", self.title, self.text)
    }

    /// The texts that have a vector: the whole, then each fact.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        std::iter::once(self.whole()).chain(self.facts.iter().map(|fact| fact.text.clone()))
    }
}

/// A fact of a passage.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PassageFact {
    /// The byte of the passage's text at which it begins.
    pub start: u32,
    /// The byte behind it.
    pub end: u32,
    /// Its own words, under which it is embedded.
    pub text: String,
    /// Its vector, of length one; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// What it names.
    pub names: Vec<String>,
}

/// How passages are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PassageSettings {
    /// The share of cosine in the first ranking; the rest is BM25. Both are brought to \[0, 1\].
    pub dense_share: f64,
    /// Weight of a title that the question names.
    pub title_weight: f64,
    /// Power of a name's rarity (the logarithm of one over its share of the passages) there.
    pub title_rarity: f64,
    /// Passages from which names are followed.
    pub seeds: usize,
    /// Temperature of the weights of seeds: a softmax over their scores.
    pub temperature: f64,
    /// Power of a fact's cosine with the question, as the weight of what it names.
    pub fact_relevance: f64,
    /// Power of a name's rarity in following it.
    pub name_rarity: f64,
    /// An edge from a name to the passage that it is the title of, against one to a passage that mentions it.
    pub title_edge: f64,
    /// Names in more passages than this lead to titles only, in the step from the seeds.
    pub hub_passages: usize,
    /// Names in more passages than this lead to titles only, in the walk.
    pub walk_hub_passages: usize,
    /// Weight of the passages that the seeds' names lead to.
    pub step_weight: f64,
    /// Weight of the walk: of the logarithm of where it stands, brought to \[0, 1\].
    pub walk_weight: f64,
    /// The probability that the walk goes on, where it might restart.
    pub walk_on: f64,
    /// The share of the restarts at names of the question; the rest is at passages.
    pub name_restarts: f64,
    /// Steps of the walk.
    pub walk_steps: usize,
    /// Less than this share of the walk goes no further, so that a question reads a neighbourhood and not the corpus.
    pub walk_least: f64,
    /// At most so many passages are restarts of the walk.
    pub restarts: usize,
}

impl PassageSettings {
    /// How many of the passages that a question finds by itself must be known for the first `n` of its ranking.
    pub fn n_first(&self, n: usize) -> usize {
        self.restarts.max(self.seeds).max(n)
    }
}

impl Default for PassageSettings {
    fn default() -> Self {
        Self {
            dense_share: 0.6,
            title_weight: 0.5,
            title_rarity: 1.0,
            seeds: 3,
            temperature: 0.05,
            fact_relevance: 1.0,
            name_rarity: 1.0,
            title_edge: 8.0,
            hub_passages: 8,
            walk_hub_passages: 64,
            step_weight: 0.4,
            walk_weight: 0.8,
            walk_on: 0.7,
            name_restarts: 0.7,
            walk_steps: 8,
            walk_least: 3e-4,
            restarts: 64,
        }
    }
}
