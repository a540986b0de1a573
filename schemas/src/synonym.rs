//! Links between names that mean the same.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EntityKey, Fixed};

/// Two entities whose names have nearly the same vector (HyperProve 3.2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Synonym {
    /// The entity whose key is the lesser.
    pub a: EntityKey,
    /// The other.
    pub b: EntityKey,
    /// Cosine of the names' vectors.
    pub cosine: Fixed,
    /// Why they are linked, with both names.
    pub why: String,
}
