//! Inject horizons: each hyperedge gets the anchor of its place before its group's reference event (OKH-RAG A.2 step 3).
//!
//! As if its input never changed: a hyperedge whose document states a horizon keeps it; else, where its group has a
//! reference time and it has an issue time, its horizon is the whole hours between the two; else it has none. It keeps the
//! hyperedges that wait for a reference time, by group. When a reference time moves, the labels of that group move with
//! it, and only those.

use hypercane_schemas::{GroupKey, Hyperedge, HyperedgeId};
use jiff::Timestamp;

use crate::{
    assertion::Assertion,
    collection::{Collection, left_join},
    kernel,
    shared::Shared,
};

/// The hyperedges with their horizons and anchors.
pub fn inject_horizons<'scope>(
    facts: Collection<'scope, (HyperedgeId, Shared<Assertion>)>,
    reference_times: Collection<'scope, (GroupKey, Timestamp)>,
) -> Collection<'scope, (HyperedgeId, Shared<Hyperedge>)> {
    let settled = |fact: &Assertion| fact.hyperedge.horizon_hours.is_some() || fact.hyperedge.issued_at.is_none();
    let stated = facts.clone().filter(move |(_, fact)| settled(fact)).map(|(id, fact)| {
        let horizon = fact.hyperedge.horizon_hours;
        (id, Shared::new(kernel::with_horizon(&fact.hyperedge, horizon)))
    });
    let waiting = facts.filter(move |(_, fact)| !settled(fact)).map(|(_, fact)| (fact.hyperedge.group.clone(), fact));
    let counted = left_join(waiting, reference_times).map(|(_, fact, reference_at)| {
        let horizon = reference_at
            .zip(fact.hyperedge.issued_at)
            .map(|(reference_at, issued_at)| kernel::hours_before(reference_at, issued_at));
        (fact.id, Shared::new(kernel::with_horizon(&fact.hyperedge, horizon)))
    });
    stated.concat(counted)
}
