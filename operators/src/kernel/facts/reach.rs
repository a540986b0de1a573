//! Which facts expansion comes to from the entry entities of a question (HyCE-RAG eq. 15, repeated).

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::{
    Asked,
    index::{Changed, FactIndex, HeldFact},
};

/// The entities from which expansion goes on, each with the hops that lead to it: none for an entry entity.
///
/// A fact that comes is followed from what it joins. One that goes matters where an entity was come to by it alone in so few
/// hops; then everything is searched again.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    hops: usize,
    /// By number; only entities that carry expansion and that less than all hops lead to.
    distances: HashMap<u32, usize>,
}

impl Reach {
    /// The search from the entry entities. Cost: the incidences that it comes to.
    pub(super) fn new(index: &FactIndex, entry: &BTreeSet<u32>, asked: &Asked, hops: usize) -> Self {
        let mut reach = Self { hops, distances: HashMap::new() };
        if hops > 0 {
            let from: VecDeque<u32> = entry.iter().copied().filter(|entity| index.carries(*entity)).collect();
            reach.distances.extend(from.iter().map(|entity| (*entity, 0)));
            reach.follow(index, asked, from);
        }
        reach
    }

    /// The hop in which a fact is met, from one; `None` where it is not.
    pub(super) fn hop(&self, fact: &HeldFact) -> Option<usize> {
        let nearest = fact.entities.iter().filter_map(|entity| self.distances.get(entity)).min()?;
        Some(nearest + 1)
    }

    /// The entities from which expansion goes on.
    pub(super) fn entities(&self) -> impl Iterator<Item = u32> {
        self.distances.keys().copied()
    }

    /// Mends the search after a change, with the same entry entities. Cost: the facts of the entities that are concerned; of
    /// all that it comes to where it has to start again.
    pub(super) fn apply(&mut self, index: &FactIndex, changed: &Changed, entry: &BTreeSet<u32>, asked: &Asked) {
        let is_lost = |entity: &u32| self.distances.contains_key(entity) && !index.carries(*entity);
        if changed.turned.iter().any(is_lost) || changed.gone.iter().any(|(_, gone)| self.needs(index, gone, asked)) {
            *self = Self::new(index, entry, asked, self.hops);
            return;
        }
        let mut from = VecDeque::new();
        let turned = changed.turned.iter().filter(|entity| index.carries(**entity));
        let came = changed.came.iter().filter_map(|slot| index.fact(*slot)).filter(|held| asked.may_use(&held.fact));
        for entity in turned {
            let facts = index.entity(*entity).facts.iter().filter_map(|slot| index.fact(*slot));
            let hops = facts.filter(|held| asked.may_use(&held.fact)).filter_map(|held| self.hop(held)).min();
            let hops = if entry.contains(entity) { Some(0) } else { hops };
            hops.into_iter().for_each(|hops| self.arrive(index, *entity, hops, &mut from));
        }
        for held in came {
            if let Some(hop) = self.hop(held) {
                held.entities.iter().for_each(|entity| self.arrive(index, *entity, hop, &mut from));
            }
        }
        self.follow(index, asked, from);
    }

    /// Whether an entity was come to in so few hops by a fact that went, and by no other.
    fn needs(&self, index: &FactIndex, gone: &HeldFact, asked: &Asked) -> bool {
        let Some(hop) = self.hop(gone).filter(|_| asked.may_use(&gone.fact)) else { return false };
        gone.entities.iter().filter(|entity| self.distances.get(entity) == Some(&hop)).any(|entity| {
            let others = index.entity(*entity).facts.iter().filter_map(|slot| index.fact(*slot));
            !others.filter(|other| asked.may_use(&other.fact)).any(|other| self.hop(other) == Some(hop))
        })
    }

    fn arrive(&mut self, index: &FactIndex, entity: u32, hops: usize, from: &mut VecDeque<u32>) {
        let is_nearer = self.distances.get(&entity).is_none_or(|known| hops < *known);
        if hops < self.hops && is_nearer && index.carries(entity) {
            self.distances.insert(entity, hops);
            from.push_back(entity);
        }
    }

    fn follow(&mut self, index: &FactIndex, asked: &Asked, mut from: VecDeque<u32>) {
        while let Some(entity) = from.pop_front() {
            let hop = self.distances[&entity] + 1;
            if hop == self.hops {
                continue;
            }
            for held in index.entity(entity).facts.iter().filter_map(|slot| index.fact(*slot)) {
                if asked.may_use(&held.fact) {
                    held.entities.iter().for_each(|next| self.arrive(index, *next, hop, &mut from));
                }
            }
        }
    }
}
