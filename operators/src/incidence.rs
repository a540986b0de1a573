//! Incidence and degrees: B and D_v of the hypergraph, with the hub rule.
//!
//! As if its input never changed: a row for each hyperedge and each of its entities; for each entity how many rows it has,
//! and whether a query may expand through it. It keeps a counter an entity.

use hypercane_schemas::{Degree, EntityKey, Hyperedge, HyperedgeId, Incidence};

use crate::{collection::Collection, shared::Shared};

/// The incidence matrix, one row a non-zero.
pub fn incidence<'scope>(
    hyperedges: Collection<'scope, (HyperedgeId, Shared<Hyperedge>)>,
) -> Collection<'scope, Incidence> {
    hyperedges.flat_map(|(hyperedge, row)| {
        let members = row.members.clone();
        members.into_iter().map(move |member| Incidence { hyperedge, entity: member.entity, role: member.role })
    })
}

/// The degree of each entity. Anchors, and hubs above `hub_degree`, carry no expansion: a change to a hub would touch every
/// query, so its edges reach a query only through links, cosine or the group.
pub fn degrees<'scope>(incidence: Collection<'scope, Incidence>, hub_degree: u32) -> Collection<'scope, Degree> {
    degrees_of(incidence.map(|row| row.entity), hub_degree)
}

/// The degrees of the entities that the rows of an incidence name.
pub(crate) fn degrees_of<'scope>(
    entities: Collection<'scope, EntityKey>,
    hub_degree: u32,
) -> Collection<'scope, Degree> {
    entities.count().map(move |(entity, degree): (EntityKey, isize)| {
        let degree = u32::try_from(degree).unwrap_or(u32::MAX);
        let expands = degree <= hub_degree && !entity.is_anchor();
        Degree { entity, degree, expands }
    })
}
