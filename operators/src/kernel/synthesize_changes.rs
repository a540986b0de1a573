//! Change edges between neighbouring states of one entity family (OKH-RAG A.2 step 4).

use std::collections::{BTreeMap, BTreeSet};

/// A step from one state of an entity family to its next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change<K, P> {
    /// What changes: group, entity family and semantic family, as the caller keys them.
    pub key: K,
    /// Position of the earlier state.
    pub from: P,
    /// Position of the later state.
    pub to: P,
}

/// The changes between neighbours: for every key, its distinct positions in ascending order, each with the next.
///
/// A position is anything that ascends with time: an issue time, or a horizon in [`std::cmp::Reverse`]. A state that is
/// stated twice counts once, so it stays as long as one statement of it stays.
pub fn synthesize_changes<K: Ord + Clone, P: Ord + Clone>(
    present: impl IntoIterator<Item = (K, P)>,
) -> Vec<Change<K, P>> {
    let mut positions: BTreeMap<K, BTreeSet<P>> = BTreeMap::new();
    for (key, position) in present {
        positions.entry(key).or_default().insert(position);
    }
    let mut changes = Vec::new();
    for (key, positions) in positions {
        let pairs = positions.iter().zip(positions.iter().skip(1));
        changes.extend(pairs.map(|(from, to)| Change { key: key.clone(), from: from.clone(), to: to.clone() }));
    }
    changes
}
