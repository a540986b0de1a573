//! Contradictions, kept as data.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EntityKey, HyperedgeId, Provenance, Value};

/// What disagrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    /// Same relation, state and valid time, different value.
    Value,
    /// A stated horizon against the one that follows from the issue time.
    Order,
}

/// One side of a conflict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ConflictSide {
    /// The hyperedge that says so.
    pub hyperedge: HyperedgeId,
    /// What it says.
    pub value: Value,
    /// When it was said.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub issued_at: Option<Timestamp>,
    /// Where it stands.
    pub provenance: Vec<Provenance>,
}

/// Two statements that can't both be true. Both keep their provenance; the newer issue leads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// What disagrees.
    pub kind: ConflictKind,
    /// The relation.
    pub relation: String,
    /// The state both speak of.
    pub entity: EntityKey,
    /// The attribute.
    pub attribute: String,
    /// The side that leads.
    pub leading: ConflictSide,
    /// The other.
    pub other: ConflictSide,
}
