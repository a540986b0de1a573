//! Which facts expansion comes to from the entry entities of a question (HyCE-RAG eq. 15, repeated).

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::{
    Asked,
    index::{Changed, FactIndex, HeldFact},
};

/// The entities from which expansion goes on, each with the hops that lead to it: none for an entry entity.
///
/// A fact that comes is followed from what it joins. One that goes matters where an entity was come to by it alone in so few
/// hops; then that entity, and what only it led to, is looked for anew.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expansion {
    hops: usize,
    /// By number; only entities that carry expansion and that less than all hops lead to.
    distances: HashMap<u32, usize>,
}

impl Expansion {
    /// The search from the entry entities. Cost: the incidences that it comes to.
    pub(super) fn new(index: &FactIndex, entry: &BTreeSet<u32>, asked: &Asked, hops: usize) -> Self {
        let mut expansion = Self { hops, distances: HashMap::new() };
        if hops > 0 {
            let from: VecDeque<u32> = entry.iter().copied().filter(|entity| index.carries(*entity)).collect();
            expansion.distances.extend(from.iter().map(|entity| (*entity, 0)));
            expansion.follow(index, asked, from);
        }
        expansion
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

    /// Mends the search after a change, with the same entry entities. Gives the entities to which other hops lead than before, or
    /// none any more. Cost: the facts of the entities that are concerned.
    pub(super) fn apply(
        &mut self,
        index: &FactIndex,
        changed: &Changed,
        entry: &BTreeSet<u32>,
        asked: &Asked,
    ) -> BTreeSet<u32> {
        let mut others = self.let_go(index, changed, asked);
        let mut from = VecDeque::new();
        let turned = changed.turned.iter().filter(|entity| index.carries(**entity)).copied();
        for entity in others.iter().copied().chain(turned).collect::<Vec<u32>>() {
            let hops = if entry.contains(&entity) { Some(0) } else { self.used(index, entity, asked).min() };
            hops.into_iter().for_each(|hops| self.arrive(index, entity, hops, &mut from));
        }
        let came = changed.came.iter().filter_map(|slot| index.fact(*slot)).filter(|held| asked.may_use(&held.fact));
        for held in came {
            if let Some(hop) = self.hop(held) {
                held.entities.iter().for_each(|entity| self.arrive(index, *entity, hop, &mut from));
            }
        }
        others.extend(self.follow(index, asked, from));
        others
    }

    /// Forgets the entities that are no more come to as before: that carry nothing any more, or have no fact left which leads to
    /// them in so few hops. What only these led to goes with them.
    fn let_go(&mut self, index: &FactIndex, changed: &Changed, asked: &Asked) -> BTreeSet<u32> {
        let mut doubtful: Vec<u32> = changed.turned.clone();
        for (_, gone) in changed.gone.iter().filter(|(_, gone)| asked.may_use(&gone.fact)) {
            if let Some(hop) = self.hop(gone) {
                doubtful.extend(gone.entities.iter().filter(|entity| self.distances.get(entity) == Some(&hop)));
            }
        }
        let mut forgotten = BTreeSet::new();
        while let Some(entity) = doubtful.pop() {
            let Some(distance) = self.distances.get(&entity).copied() else { continue };
            let is_led_to = distance == 0 || self.used(index, entity, asked).any(|hop| hop == distance);
            if is_led_to && index.carries(entity) {
                continue;
            }
            self.distances.remove(&entity);
            forgotten.insert(entity);
            for held in index.entity(entity).facts.iter().filter_map(|slot| index.fact(*slot)) {
                let further = held.entities.iter().filter(|next| self.distances.get(next) == Some(&(distance + 1)));
                doubtful.extend(further);
            }
        }
        forgotten
    }

    /// The hops in which those facts of an entity are met that the question may use.
    fn used<'a>(&'a self, index: &'a FactIndex, entity: u32, asked: &'a Asked) -> impl Iterator<Item = usize> + 'a {
        let facts = index.entity(entity).facts.iter().filter_map(|slot| index.fact(*slot));
        facts.filter(|held| asked.may_use(&held.fact)).filter_map(|held| self.hop(held))
    }

    fn arrive(&mut self, index: &FactIndex, entity: u32, hops: usize, from: &mut VecDeque<u32>) {
        let is_nearer = self.distances.get(&entity).is_none_or(|known| hops < *known);
        if hops < self.hops && is_nearer && index.carries(entity) {
            self.distances.insert(entity, hops);
            from.push_back(entity);
        }
    }

    /// Goes on from entities. Gives these and all others that were come to.
    fn follow(&mut self, index: &FactIndex, asked: &Asked, mut from: VecDeque<u32>) -> BTreeSet<u32> {
        let mut followed = BTreeSet::new();
        while let Some(entity) = from.pop_front() {
            followed.insert(entity);
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
        followed
    }
}
