//! What a grammar (or a recorded model output) gives for one document: facts in the pack's words, before they are merged.

use hypercane_schemas::{Attribute, DirectedRelation, EntityKey, Fixed, GroupKey, Origin, Span};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What one document says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Extraction {
    /// What the document is; `None` where it is no numbered product. Documents of equal product with a smaller
    /// `correction` are replaced by those with the largest.
    pub product: Option<Product>,
    /// When it was issued.
    pub issued_at: Option<Timestamp>,
    /// Its facts, in text order.
    pub facts: Vec<Fact>,
    /// Parts that could not be read; the rest of the document still counts.
    pub failures: Vec<Failure>,
}

/// The identity of a product, under which corrections replace what they correct.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Product {
    /// The kind: `tcm`, `tcp`, `pws`, `tcu`, `tce`, `tcv`, `tcd`, `two`, `msib`, `port_post`.
    pub kind: String,
    /// What names it within its kind, such as `AL092017:019`, `AL092017:019A`.
    pub name: String,
    /// Zero for the first issue; rises with each correction (`CCA` 1, `CCB` 2; the word `Corrected` alone 1).
    pub correction: u8,
}

/// One n-ary fact (OKH-RAG eq. 8: a hyperedge with its entity set), before canonicalisation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fact {
    /// Relation label, in the pack's vocabulary or an alias of it.
    pub relation: String,
    /// Participants, at least two.
    pub mentions: Vec<Mention>,
    /// Evidence text: one self-standing sentence or line.
    pub text: String,
    /// Where it stands in the document's text.
    pub span: Span,
    /// Attributes in canonical units.
    pub attributes: Vec<Attribute>,
    /// Directed relations among the participants.
    pub relations: Vec<DirectedRelation>,
    /// Its knowledge group.
    pub group: GroupKey,
    /// When it is true, for forecasts and observations.
    pub valid_at: Option<Timestamp>,
    /// In (0, 1].
    pub confidence: Fixed,
    /// Said by the document, or computed from it.
    pub origin: Origin,
    /// For derived exposure: the reference time that this fact gives its group.
    pub reference_at: Option<Timestamp>,
}

/// An entity as a fact mentions it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mention {
    /// Canonical key.
    pub entity: EntityKey,
    /// Name as shown.
    pub name: String,
    /// Type from the pack.
    pub kind: String,
    /// The part it plays in the fact.
    pub role: String,
    /// Other names under which people look for it.
    pub aliases: Vec<String>,
    /// What the document says of it in short; may be empty.
    pub description: String,
}

/// A text, or a part of one, that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Failure {
    /// Line of the text, from 1.
    pub line: u32,
    /// What is wrong there, and what was expected, for a person.
    pub reason: String,
}
