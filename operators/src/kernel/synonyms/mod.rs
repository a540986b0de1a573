//! Names that mean the same, and participants expanded by them (HyperProve 3.2).
//!
//! - [`CosineJoin`]: the pairs of names with a cosine above eta, kept while names come and go
//! - [`guard()`], [`may_link`]: which names are no synonyms whatever their vectors say
//! - [`synonyms`], [`expanded`]: neighbours of names, and A_i+ from them

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::ContentHash;

use crate::kernel::embedded_as;

mod directions;
mod guard;
mod join;
#[cfg(test)]
mod tests;

pub use guard::{EntityName, Guard, guard, have_same_numbers, may_have_synonyms, may_link};
pub use join::{CosineJoin, NameChange, NameVector};

/// The cosine above which names are synonyms, where nothing else is set (HyperProve's experiments).
pub const ETA: f64 = 0.8;

/// The identity of the text under which a name is embedded: the name as it is shown.
pub fn name_embedded_as(name: &str) -> ContentHash {
    embedded_as(name)
}

/// The neighbours of each name that has some: those with a cosine strictly above `eta`. Neighbours of neighbours are none.
/// Pairs may come in either order and more than once. Cost: sorting the pairs above `eta`.
pub fn synonyms<N: Ord + Clone>(pairs: impl IntoIterator<Item = (N, N, f64)>, eta: f64) -> BTreeMap<N, BTreeSet<N>> {
    let mut neighbours: BTreeMap<N, BTreeSet<N>> = BTreeMap::new();
    for (a, b, _) in pairs.into_iter().filter(|(a, b, cosine)| *cosine > eta && a != b) {
        neighbours.entry(a.clone()).or_default().insert(b.clone());
        neighbours.entry(b).or_default().insert(a);
    }
    neighbours
}

/// A_i+: the participants of a fact with the neighbours of each, ascending, without repeats. Cost: sorting them.
pub fn expanded<N: Ord + Clone>(participants: &[N], synonyms: &BTreeMap<N, BTreeSet<N>>) -> Vec<N> {
    let neighbours = participants.iter().filter_map(|name| synonyms.get(name)).flatten();
    let expanded: BTreeSet<&N> = participants.iter().chain(neighbours).collect();
    expanded.into_iter().cloned().collect()
}
