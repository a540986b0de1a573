//! Ranking the passages of a corpus for a question: by meaning, by words, and by what they name in common.
//!
//! The hypergraph's facts join names (HyperProve 3.1); a passage is the set of its facts. Retrieval starts from the passages
//! that the question finds by itself, and goes on to those that these lead to: by one step along the names of their
//! facts, each weighted by how well its fact fits the question, and by a random walk with restart over passages and names,
//! as HyCE-RAG eq. 27 walks over entities and hyperedges. A name that many passages share leads nowhere (the hub rule), except
//! to the passage that has it as its title.
//!
//! No parameter depends on the corpus. The defaults were chosen by random search on two sets of training questions
//! (hotpotqa_train, musique_openie), but for the hubs of the walk, which are those of the packs; `hypercane eval multihop --tune`
//! searches on.

mod graph;
mod lexical;
mod names;
mod rank;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use graph::PassageGraph;
pub use lexical::Lexical;
pub use rank::{Asked, Scores, best};

/// A passage, as it is taken in.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage<'a> {
    /// Its title; empty where it has none.
    pub title: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The vector of title and text, of length one.
    pub vector: &'a [f32],
    /// Its facts.
    pub facts: Vec<PassageFact<'a>>,
    /// Names that belong to the whole of it and stand in no fact, such as its publisher's.
    pub names: Vec<String>,
}

/// A fact of a passage.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageFact<'a> {
    /// Its bytes in the text.
    pub bytes: std::ops::Range<usize>,
    /// Its vector, of length one.
    pub vector: &'a [f32],
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
        }
    }
}
