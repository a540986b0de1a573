//! Merging the assertions of one fact.

use hypercane_schemas::{DirectedRelation, EntityKey};

use crate::assertion::Assertion;

/// The merged assertion: what the least one says (they have equal relation, entities and text), the provenance and
/// mentions of all, each directed relation once with its highest confidence, the highest confidence of the fact, the smallest stated horizon, the earliest position, the latest reference time.
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
        into.relations.extend(from.relations.iter().cloned());
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
    each_once(&mut merged.hyperedge.relations);
    merged.mentions.sort();
    merged.mentions.dedup();
    merged
}

/// Sorts directed relations and keeps each (from, to, label) once, with its highest confidence.
pub(super) fn each_once(relations: &mut Vec<DirectedRelation>) {
    fn said(relation: &DirectedRelation) -> (&EntityKey, &EntityKey, &str) {
        (&relation.from, &relation.to, &relation.label)
    }
    // The highest confidence comes first, and is the one that stays.
    relations.sort_by(|a, b| said(a).cmp(&said(b)).then(b.confidence.cmp(&a.confidence)));
    relations.dedup_by(|later, first| said(later) == said(first));
}

#[cfg(test)]
mod tests {
    use super::{DirectedRelation, EntityKey, each_once};
    use hypercane_schemas::Fixed;

    #[test]
    fn a_directed_relation_counts_once_with_its_highest_confidence() {
        let relation = |from: &str, label: &str, confidence: i64| DirectedRelation {
            from: EntityKey(from.into()),
            to: EntityKey("c".into()),
            label: label.into(),
            confidence: Fixed(confidence),
        };
        let mut all =
            vec![relation("b", "in", 5), relation("a", "in", 3), relation("b", "in", 7), relation("b", "by", 1)];
        each_once(&mut all);
        assert_eq!(all, [relation("a", "in", 3), relation("b", "by", 1), relation("b", "in", 7)]);
    }
}
