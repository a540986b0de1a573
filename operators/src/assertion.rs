//! An assertion: one fact as one document says it, in the pack's words, with its identity.

use hypercane_schemas::{Hyperedge, HyperedgeId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::extraction::Mention;

/// One fact as one document says it. Assertions of equal id merge into one hyperedge (see [`crate::dedupe`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Assertion {
    /// The identity of the fact.
    pub id: HyperedgeId,
    /// The hyperedge as this document alone would make it: its provenance has one entry, `horizon_hours` is what the
    /// document itself states.
    pub hyperedge: Hyperedge,
    /// The entities with their names, as mentioned.
    pub mentions: Vec<Mention>,
    /// The reference time that a derived fact gives its group.
    pub reference_at: Option<Timestamp>,
}
