//! The evidence of standing questions over facts that come and go (HyCE-RAG 3.3.1 to 3.3.4).
//!
//! A question's evidence is that of [`chain`](super::chain()) over the whole hypergraph. What is kept for it are the steps that look
//! at more than the query's hypergraph: which entities are near the question, which facts expansion comes to (a breadth-first
//! search that is mended where facts come and go), and which of these fit best. So a change costs each question
//! a product for each fact that it brings and a look at the search; only a question whose query hypergraph, entry entities or
//! their vectors change is worked out again.

mod expansion;
mod index;
mod plain;
mod pool;
mod standing;
#[cfg(test)]
mod tests;

use hypercane_schemas::{EntityKey, Fixed, Vector};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::said_by;

pub use plain::evidence;
pub use standing::{Changes, Evidence, Standing};

/// A fact, as evidence is made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fact {
    /// Its entities, ascending, without repeats.
    pub entities: Vec<EntityKey>,
    /// The vector of its text, of length one; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// gamma: the confidence of its extraction, 0 to 1.
    pub confidence: Fixed,
    /// The confidence of each of its directed relations.
    pub relations: Vec<Fixed>,
    /// When it was said, where that is known.
    pub issued_at: Option<Timestamp>,
}

/// How questions find an entity beside its key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NamedEntity {
    /// The keys that its other names would have.
    pub aliases: Vec<EntityKey>,
    /// The vector of its name, of length one; `None` where names are not embedded, or until it is recorded.
    pub vector: Option<Vector>,
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// Its vector, of length one; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// The keys of what it names, each with the vector of that name.
    pub mentions: Vec<(EntityKey, Option<Vector>)>,
    /// Facts that were said later are no evidence.
    pub as_of: Option<Timestamp>,
}

impl Asked {
    fn may_use(&self, fact: &Fact) -> bool {
        said_by(fact.issued_at, self.as_of)
    }
}
