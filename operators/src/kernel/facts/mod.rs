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

use super::{cosine_of_units, said_by, synonyms::have_same_numbers};

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
    /// Its name.
    pub name: String,
    /// The keys that its other names would have.
    pub aliases: Vec<EntityKey>,
    /// The vector of its name, of length one; `None` where it has no synonyms, or until it is recorded.
    pub vector: Option<Vector>,
}

/// What a question names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskedName {
    /// The key that an entity of this name has.
    pub entity: EntityKey,
    /// The name.
    pub name: String,
    /// Its vector, of length one; `None` where it has no synonyms, or until it is recorded.
    pub vector: Option<Vector>,
}

impl AskedName {
    /// Whether the name of an entity is a synonym: a cosine above `eta`, and the same numbers in both.
    fn is_synonym(&self, named: &NamedEntity, eta: f64) -> bool {
        let cosine = self.vector.as_ref().zip(named.vector.as_ref()).map(|(a, b)| cosine_of_units(&a.0, &b.0));
        cosine.is_some_and(|cosine| cosine > eta) && have_same_numbers(&self.name, &named.name)
    }
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// Its vector, of length one; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// What it names.
    pub mentions: Vec<AskedName>,
    /// Facts that were said later are no evidence.
    pub as_of: Option<Timestamp>,
}

impl Asked {
    fn may_use(&self, fact: &Fact) -> bool {
        said_by(fact.issued_at, self.as_of)
    }
}
