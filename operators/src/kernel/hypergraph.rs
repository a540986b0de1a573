//! A hypergraph as its incidence matrix B over dense indices (HyCE-RAG eq. 21, 24 and 25).
//!
//! Indices follow the order of ids, so that a tie broken by index is broken by id and sums run in the order of ids. What
//! has no incidence is not part of it: isolated vertices and empty hyperedges need no removal.

use sprs::CsMatI;

/// A sparse 0-1 matrix by rows.
type Rows = CsMatI<f64, u32>;

/// Hyperedges, entities, and which entity is in which hyperedge. `E` and `V` are ids, or ranks of ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypergraph<E, V> {
    hyperedges: Vec<E>,
    entities: Vec<V>,
    /// B transposed: a row holds the entities of a hyperedge.
    members: Rows,
    /// B: a row holds the hyperedges of an entity.
    memberships: Rows,
}

impl<E: Ord + Clone, V: Ord + Clone> Hypergraph<E, V> {
    /// The hypergraph of these incidences; repeated ones count once. Cost: sorting the incidences.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` incidences.
    pub fn new(incidences: impl IntoIterator<Item = (E, V)>) -> Self {
        let mut incidences: Vec<(E, V)> = incidences.into_iter().collect();
        incidences.sort_unstable();
        incidences.dedup();
        let end = u32::try_from(incidences.len()).expect("a hypergraph has less than 2^32 incidences");
        let mut entities: Vec<V> = incidences.iter().map(|(_, entity)| entity.clone()).collect();
        entities.sort_unstable();
        entities.dedup();
        let mut hyperedges: Vec<E> = Vec::new();
        let mut starts: Vec<u32> = Vec::new();
        let mut columns: Vec<u32> = Vec::with_capacity(incidences.len());
        for (at, (hyperedge, entity)) in (0..end).zip(incidences) {
            if hyperedges.last() != Some(&hyperedge) {
                hyperedges.push(hyperedge);
                starts.push(at);
            }
            columns.push(entities.partition_point(|other| *other < entity) as u32);
        }
        starts.push(end);
        let shape = (hyperedges.len(), entities.len());
        let members = Rows::new(shape, starts, columns, vec![1.0; end as usize]);
        let memberships = members.transpose_view().to_csr();
        Self { hyperedges, entities, members, memberships }
    }

    /// H_q: the given hyperedges with all their entities (HyCE-RAG eq. 20 and 21), under indices of its own. Cost: sorting
    /// their incidences.
    pub fn restrict(&self, hyperedges: &[u32]) -> Self {
        Self::new(hyperedges.iter().flat_map(|&at| {
            let hyperedge = &self.hyperedges[at as usize];
            self.entities_of(at).iter().map(|&entity| (hyperedge.clone(), self.entities[entity as usize].clone()))
        }))
    }
}

impl<E: Ord, V> Hypergraph<E, V> {
    /// The index of a hyperedge, where it is part of this. Cost: a binary search.
    pub fn hyperedge(&self, id: &E) -> Option<u32> {
        index_of(&self.hyperedges, id)
    }

    /// The indices of those hyperedges that are part of this, ascending, without repeats.
    pub fn hyperedges_among<'a>(&self, ids: impl IntoIterator<Item = &'a E>) -> Vec<u32>
    where
        E: 'a,
    {
        sorted(ids.into_iter().filter_map(|id| self.hyperedge(id)))
    }
}

impl<E, V: Ord> Hypergraph<E, V> {
    /// The index of an entity, where it is part of this. Cost: a binary search.
    pub fn entity(&self, id: &V) -> Option<u32> {
        index_of(&self.entities, id)
    }

    /// The indices of those entities that are part of this, ascending, without repeats.
    pub fn entities_among<'a>(&self, ids: impl IntoIterator<Item = &'a V>) -> Vec<u32>
    where
        V: 'a,
    {
        sorted(ids.into_iter().filter_map(|id| self.entity(id)))
    }
}

impl<E, V> Hypergraph<E, V> {
    /// The ids of the hyperedges, by index, ascending.
    pub fn hyperedges(&self) -> &[E] {
        &self.hyperedges
    }

    /// The ids of the entities, by index, ascending.
    pub fn entities(&self) -> &[V] {
        &self.entities
    }

    /// V(e), ascending. Their count is D_e (HyCE-RAG eq. 25).
    pub fn entities_of(&self, hyperedge: u32) -> &[u32] {
        row(&self.members, hyperedge)
    }

    /// The hyperedges of an entity, ascending. Their count is D_v (HyCE-RAG eq. 25).
    pub fn hyperedges_of(&self, entity: u32) -> &[u32] {
        row(&self.memberships, entity)
    }

    /// B (HyCE-RAG eq. 24): rows are entities.
    pub(super) fn incidence(&self) -> &Rows {
        &self.memberships
    }

    /// B transposed: rows are hyperedges.
    pub(super) fn incidence_transposed(&self) -> &Rows {
        &self.members
    }
}

fn row(matrix: &Rows, at: u32) -> &[u32] {
    &matrix.indices()[matrix.indptr().outer_inds_sz(at as usize)]
}

fn index_of<T: Ord>(ids: &[T], id: &T) -> Option<u32> {
    ids.binary_search(id).ok().map(|at| at as u32)
}

fn sorted(indices: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut indices: Vec<u32> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

#[cfg(test)]
mod tests {
    use super::Hypergraph;

    #[test]
    fn indices_follow_ids_and_repeats_count_once() {
        let graph = Hypergraph::new([("f", "c"), ("e", "b"), ("f", "a"), ("f", "c")]);
        assert_eq!((graph.hyperedges(), graph.entities()), (["e", "f"].as_slice(), ["a", "b", "c"].as_slice()));
        assert_eq!((graph.entities_of(0), graph.entities_of(1)), ([1].as_slice(), [0, 2].as_slice()));
        assert_eq!(graph.hyperedges_of(2), [1]);
        assert_eq!((graph.entity(&"b"), graph.entity(&"d"), graph.hyperedge(&"f")), (Some(1), None, Some(1)));
        assert_eq!(graph.entities_among(&["c", "d", "a", "c"]), [0, 2]);
    }

    #[test]
    fn a_restriction_has_no_entity_that_nothing_holds() {
        let graph = Hypergraph::new([(1, 'a'), (1, 'b'), (2, 'b'), (2, 'c')]);
        let part = graph.restrict(&[1, 1]);
        assert_eq!(part, Hypergraph::new([(2, 'b'), (2, 'c')]));
        let nothing = graph.restrict(&[]);
        assert!(nothing.hyperedges().is_empty() && nothing.entities().is_empty());
    }
}
