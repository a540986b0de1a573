//! Reference times: when the reference event of each group is expected.
//!
//! As if its input never changed: for each group the newest `horizons` record (by `issued_at`); where there is none, the
//! newest time that a derived fact (port exposure) gives. It keeps one entry for each of these.

use hypercane_schemas::{GroupKey, HorizonUpdate};
use jiff::Timestamp;

use crate::{assertion::Assertion, collection::Collection, shared::Shared};

/// The reference time of each group that has one.
pub fn reference_times<'scope>(
    horizons: Collection<'scope, (GroupKey, HorizonUpdate)>,
    facts: Collection<'scope, Shared<Assertion>>,
) -> Collection<'scope, (GroupKey, Timestamp)> {
    // A stated time outranks a derived one, then the newer statement counts; the time itself breaks ties.
    let stated = horizons.map(|(group, update)| (group, (true, Some(update.issued_at), update.reference_at)));
    let derived = facts.flat_map(|fact| {
        let reference_at = fact.reference_at?;
        Some((fact.hyperedge.group.clone(), (false, fact.hyperedge.issued_at, reference_at)))
    });
    stated.concat(derived).reduce_named("ReferenceTimes", |_group, statements, output| {
        if let Some(((_, _, reference_at), _)) = statements.last() {
            output.push((*reference_at, 1));
        }
    })
}
