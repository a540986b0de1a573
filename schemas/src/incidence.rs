//! The incidence of the hypergraph and the degrees of its entities.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EntityKey, HyperedgeId};

/// One non-zero of the incidence matrix B: an entity takes part in a hyperedge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Incidence {
    /// The hyperedge.
    pub hyperedge: HyperedgeId,
    /// The entity.
    pub entity: EntityKey,
    /// The part it plays.
    pub role: String,
}

/// How many hyperedges an entity takes part in, and whether a query may expand through it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Degree {
    /// The entity.
    pub entity: EntityKey,
    /// Its degree D_v.
    pub degree: u32,
    /// False for anchors and hubs: their edges reach a query through links, cosine or the group only.
    pub expands: bool,
}
