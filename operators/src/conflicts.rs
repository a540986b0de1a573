//! Conflicts: contradictions as data.
//!
//! As if its input never changed: for each relation, state and attribute for which the pack states a tolerance, the values
//! that lie further apart than it; and each hyperedge whose stated horizon is not the one that follows from its issue time.
//! The newer issue leads. It keeps the compared values, by state.

use std::sync::Arc;

use hypercane_schemas::{Conflict, EntityKey, GroupKey, Hyperedge, HyperedgeId};
use jiff::Timestamp;

use crate::{
    assertion::Assertion,
    collection::Collection,
    domain::Domain,
    kernel::{self, Claim},
    shared::Shared,
};

/// Contradicting values of one state.
pub fn value_conflicts<'scope>(
    hyperedges: Collection<'scope, (HyperedgeId, Shared<Hyperedge>)>,
    domain: Arc<Domain>,
) -> Collection<'scope, Conflict> {
    let tolerances = Arc::clone(&domain);
    hyperedges
        .flat_map(move |(_, hyperedge)| kernel::claims(&hyperedge, &tolerances))
        .reduce_named(
            "ValueConflicts",
            move |(relation, entity, attribute): &(String, EntityKey, String), claims, output| {
                if claims.len() < 2 {
                    return;
                }
                let tolerance = kernel::conflict_tolerance(&domain, attribute).unwrap_or(0.0);
                let claims: Vec<&Claim> = claims.iter().map(|(claim, _)| *claim).collect();
                for conflict in kernel::contradictions(relation, entity, attribute, &claims, tolerance) {
                    output.push((conflict, 1));
                }
            },
        )
        .map(|(_, conflict)| conflict)
}

/// Stated horizons that do not follow from the issue time.
pub fn order_conflicts<'scope>(
    facts: Collection<'scope, (HyperedgeId, Shared<Assertion>)>,
    reference_times: Collection<'scope, (GroupKey, Timestamp)>,
) -> Collection<'scope, Conflict> {
    facts
        .filter(|(_, fact)| fact.hyperedge.horizon_hours.is_some() && fact.hyperedge.issued_at.is_some())
        .map(|(_, fact)| (fact.hyperedge.group.clone(), fact))
        .join_map(reference_times, |_, fact, reference_at| kernel::order_contradiction(&fact.hyperedge, *reference_at))
        .flat_map(|conflict| conflict)
}
