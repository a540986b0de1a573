//! A hyperedge: one n-ary fact with its text, its numbers, its place in time and the documents that say it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ContentHash, DocumentKey, EntityKey, Fixed, Span, text};

/// A knowledge group: the facts that share one scenario, such as `AL092017` or `AL092017:houston_tx`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GroupKey(pub String);

/// Hash of relation, entity set and evidence text (OKH-RAG A.2 step 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct HyperedgeId(pub ContentHash);

impl HyperedgeId {
    /// The id of a fact. The order of the entities and repeats among them do not count, nor does white space in the text;
    /// letter case and the group's name: case counts, the group does not.
    pub fn of<'a>(relation: &str, entities: impl IntoIterator<Item = &'a str>, evidence: &str) -> Self {
        let mut keys: Vec<&str> = entities.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        let evidence = text::canonical(evidence);
        let count = keys.len().to_string();
        let parts = [relation, &count].into_iter().chain(keys).chain([evidence.as_str()]);
        Self(ContentHash::of_parts(parts))
    }
}

/// A participating entity and the part it plays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// The entity.
    pub entity: EntityKey,
    /// Its role, such as `storm`, `place`, `state`, `issued`, `valid`.
    pub role: String,
}

/// A typed attribute value, kept as given and in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Value {
    /// The number in the canonical unit (kt, hPa, nm, degree, percent, ft, inch), where it is one.
    #[serde(default)]
    pub number: Option<Fixed>,
    /// The canonical unit of `number`; empty (null in rows) where it has none.
    #[serde(default, with = "empty_as_null")]
    #[schemars(with = "Option<String>")]
    pub unit: String,
    /// The moment, where it is one.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub time: Option<Timestamp>,
    /// As the document gives it (`85 MPH`), or the category or text itself.
    pub given: String,
}

/// A key-value attribute of a hyperedge (OKH-RAG A.1, a_e).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Attribute {
    /// Name from the domain pack, such as `max_wind`.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// A text that is null in rows where it is empty.
mod empty_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        (!text.is_empty()).then_some(text).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
    }
}

impl Attribute {
    /// A number with its canonical unit and the words of the document.
    pub fn number(name: &str, number: f64, unit: &str, given: impl Into<String>) -> Self {
        let value = Value { number: Some(Fixed::from_f64(number)), unit: unit.into(), time: None, given: given.into() };
        Self { name: name.into(), value }
    }

    /// A category or free text.
    pub fn text(name: &str, given: impl Into<String>) -> Self {
        Self { name: name.into(), value: Value { number: None, unit: String::new(), time: None, given: given.into() } }
    }

    /// A moment.
    pub fn time(name: &str, time: Timestamp, given: impl Into<String>) -> Self {
        let value = Value { number: None, unit: String::new(), time: Some(time), given: given.into() };
        Self { name: name.into(), value }
    }
}

/// A relation that points from one participant to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct DirectedRelation {
    /// From.
    pub from: EntityKey,
    /// To.
    pub to: EntityKey,
    /// What it says.
    pub label: String,
    /// In (0, 1].
    pub confidence: Fixed,
}

/// Where a fact stands: document, chunk and bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The document.
    pub document: DocumentKey,
    /// The chunk's number in the document, from zero.
    pub chunk: u32,
    /// The bytes of the document's text.
    pub span: Span,
}

/// How a hyperedge came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Said by a document.
    Extracted,
    /// Computed from what a document says (port exposure).
    Derived,
    /// Made between two states of one entity family (OKH-RAG A.2 step 4).
    Synthesized,
}

/// A hyperedge e = (V, r, s, a, c) of OKH-RAG eq. 7, with its place in time and its provenance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Hyperedge {
    /// Its identifier.
    pub id: HyperedgeId,
    /// Relation from the controlled vocabulary.
    pub relation: String,
    /// Number of the relation's family, in the pack's order (OKH-RAG Table 3), from 1.
    pub family: u8,
    /// For a change edge the family that changes, else the same as `family`.
    pub base_family: u8,
    /// Evidence text s_e.
    pub text: String,
    /// Participants, sorted by key, each once. At most one is a `horizon:` anchor, that of `horizon_hours`.
    pub members: Vec<Member>,
    /// Attributes, sorted by name.
    pub attributes: Vec<Attribute>,
    /// Knowledge group.
    pub group: GroupKey,
    /// Whole hours before the group's reference event, where that is known.
    #[serde(default)]
    pub horizon_hours: Option<i32>,
    /// When it was said.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub issued_at: Option<Timestamp>,
    /// When it is true, for forecasts and observations.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub valid_at: Option<Timestamp>,
    /// Extraction confidence, in (0, 1], times the best reliability among the documents that say it.
    pub confidence: Fixed,
    /// Directed relations among the participants.
    pub relations: Vec<DirectedRelation>,
    /// Everywhere it stands, sorted, never empty.
    pub provenance: Vec<Provenance>,
    /// How it came to be.
    pub origin: Origin,
    /// Its place in the text (first byte of its first span), for the canonical order.
    pub position: u32,
    /// Hash of the text under which it is embedded; see `operators::kernel::embedding_text`.
    pub embedded_as: ContentHash,
}

#[cfg(test)]
mod tests {
    use super::HyperedgeId;

    #[test]
    fn identity_is_relation_entity_set_and_folded_text() {
        let id = HyperedgeId::of("r", ["b", "a", "b"], "The port  is closed.");
        assert_eq!(id, HyperedgeId::of("r", ["a", "b"], "The port is closed."));
        assert_ne!(id, HyperedgeId::of("r", ["a"], "The port is closed."));
        assert_ne!(id, HyperedgeId::of("r", ["a", "b"], "the port is closed."));
        assert_ne!(id, HyperedgeId::of("q", ["a", "b"], "The port is closed."));
    }
}
