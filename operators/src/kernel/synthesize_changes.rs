//! Change edges between neighbouring states of one entity family (OKH-RAG A.2 step 4).

use std::collections::{BTreeMap, BTreeSet};

use super::inject_horizons::{is_anchor, parse_label};

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

/// The family of a transient entity: its key without the last part, where that is a horizon (`:T-48`) or an issue time
/// (`:@2017-08-25T03:00Z`). `None` for anchors and for entities without such a part.
pub fn entity_family(key: &str) -> Option<&str> {
    if is_anchor(key) {
        return None;
    }
    if let Some((family, _)) = key.rsplit_once(":@") {
        return Some(family);
    }
    let (family, label) = key.rsplit_once(':')?;
    parse_label(label).map(|_| family)
}

/// Which relation a change edge has.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ChangeRelations {
    /// For families of their own.
    pub by_family: BTreeMap<u8, String>,
    /// For all others.
    pub otherwise: String,
}

impl ChangeRelations {
    /// The relation of a change in a family.
    pub fn of(&self, family: u8) -> &str {
        self.by_family.get(&family).unwrap_or(&self.otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::entity_family;

    #[test]
    fn the_family_is_the_key_without_its_time() {
        let cases = [
            ("wind_fcst:IRMA:port_arthur:T-48", Some("wind_fcst:IRMA:port_arthur")),
            ("fcst:AL092017:2017-08-26T00:00Z:@2017-08-25T03:00Z", Some("fcst:AL092017:2017-08-26T00:00Z")),
            ("op:IRMA:port_arthur:T+6", Some("op:IRMA:port_arthur")),
            ("horizon:T-48", None),
            ("port:port_arthur", None),
            ("time:2017-08-25T03:00Z", None),
            ("storm:AL092017", None),
        ];
        for (key, family) in cases {
            assert_eq!(entity_family(key), family, "{key}");
        }
    }
}
