//! Merging the assertions of one fact.

use crate::assertion::Assertion;

/// The merged assertion: what the least one says (they have equal relation, entities and text), the provenance and
/// mentions of all, the highest confidence, the smallest stated horizon, the earliest position, the latest reference time.
///
/// # Panics
/// Without an assertion: there is no fact that nobody says.
pub fn merge<'a>(assertions: impl IntoIterator<Item = &'a Assertion>) -> Assertion {
    let mut sorted: Vec<&Assertion> = assertions.into_iter().collect();
    sorted.sort_unstable();
    let (first, others) = sorted.split_first().expect("a fact has at least one assertion");
    let mut merged = (*first).clone();
    for other in others {
        let (into, from) = (&mut merged.hyperedge, &other.hyperedge);
        into.provenance.extend(from.provenance.iter().cloned());
        into.confidence = into.confidence.max(from.confidence);
        into.position = into.position.min(from.position);
        into.horizon_hours = match (into.horizon_hours, from.horizon_hours) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        merged.mentions.extend(other.mentions.iter().cloned());
        merged.reference_at = merged.reference_at.max(other.reference_at);
    }
    merged.hyperedge.provenance.sort();
    merged.hyperedge.provenance.dedup();
    merged.mentions.sort();
    merged.mentions.dedup();
    merged
}
