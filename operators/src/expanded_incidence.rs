//! Expanded incidence: participants with their synonyms, A_i+, and the degrees over it (HyperProve 3.2).
//!
//! As if its input never changed: a row for each hyperedge and each entity that takes part in it or is a synonym of one that
//! does, once; for each entity how many rows it has, and whether a query may expand through it. It keeps the incidence by
//! entity, the links from both sides, the rows, and a counter an entity. A link that comes or goes touches the hyperedges of
//! its two entities.

use hypercane_schemas::{Degree, EntityKey, HyperedgeId, Incidence, Synonym};

use crate::{collection::Collection, incidence::degrees_of};

/// The expanded incidence. The neighbours of a neighbour are none of the participant's.
pub fn expanded_incidence<'scope>(
    incidence: Collection<'scope, Incidence>,
    synonyms: Collection<'scope, Synonym>,
) -> Collection<'scope, (HyperedgeId, EntityKey)> {
    let participants = incidence.map(|row| (row.entity, row.hyperedge));
    let neighbours = synonyms.flat_map(|link| [(link.a.clone(), link.b.clone()), (link.b, link.a)]);
    let by_synonym =
        participants.clone().join_map(neighbours, |_, hyperedge, neighbour| (*hyperedge, neighbour.clone()));
    participants.map(|(entity, hyperedge)| (hyperedge, entity)).concat(by_synonym).distinct()
}

/// The degree of each entity over the expanded incidence, with the hub rule of [`degrees`](crate::degrees).
pub fn expanded_degrees<'scope>(
    expanded: Collection<'scope, (HyperedgeId, EntityKey)>,
    hub_degree: u32,
) -> Collection<'scope, Degree> {
    degrees_of(expanded.map(|(_, entity)| entity), hub_degree)
}
