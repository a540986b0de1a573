//! The reference time from which a group's horizons are counted.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::GroupKey;

/// Says when a group's reference event is expected; the newest (by `issued_at`) counts. Topic `horizons`, keyed by the
/// group; a null payload takes the group's reference time away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HorizonUpdate {
    /// The group whose labels are counted from it.
    pub group: GroupKey,
    /// What happens then: `landfall`, `closest_approach`, `closing`.
    pub reference_event: String,
    /// When it is expected.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub reference_at: Timestamp,
    /// When that was said.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub issued_at: Timestamp,
}
