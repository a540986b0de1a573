//! Facts and entities by number, while they come and go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hypercane_schemas::{EntityKey, HyperedgeId};

use super::{Changes, Fact, NamedEntity};
use crate::{
    kernel::sorted::{insert, remove},
    shared::Shared,
};

/// The facts of a corpus with their entities. The facts themselves are shared.
#[derive(Clone, Debug)]
pub(super) struct FactIndex {
    hub: usize,
    facts: Vec<Option<HeldFact>>,
    slots: HashMap<HyperedgeId, u32>,
    free_facts: Vec<u32>,
    entities: Vec<HeldEntity>,
    numbers: HashMap<EntityKey, u32>,
    free_entities: Vec<u32>,
    /// Entities by the keys that their other names would have.
    by_alias: HashMap<EntityKey, BTreeSet<u32>>,
}

/// A fact in its slot.
#[derive(Clone, Debug)]
pub(super) struct HeldFact {
    pub(super) id: HyperedgeId,
    pub(super) fact: Shared<Fact>,
    /// Its entities by number.
    pub(super) entities: Vec<u32>,
}

/// An entity under its number.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldEntity {
    pub(super) key: Option<EntityKey>,
    pub(super) named: Option<Shared<NamedEntity>>,
    /// Its facts by slot, in order.
    pub(super) facts: Vec<u32>,
}

/// What a change did.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    /// Slots that were emptied, ascending, and what was there.
    pub(super) gone: Vec<(u32, HeldFact)>,
    /// Slots that were filled, perhaps after they were emptied, ascending.
    pub(super) came: Vec<u32>,
    /// Entities that carry no expansion any more, or carry it now.
    pub(super) turned: Vec<u32>,
    /// Entities that came, went, or are named otherwise, ascending.
    pub(super) entities: Vec<u32>,
}

impl FactIndex {
    /// No facts. Entities in more than `hub` facts carry no expansion, as anchors do not.
    pub(super) fn new(hub: usize) -> Self {
        Self {
            hub,
            facts: Vec::new(),
            slots: HashMap::new(),
            free_facts: Vec::new(),
            entities: Vec::new(),
            numbers: HashMap::new(),
            free_entities: Vec::new(),
            by_alias: HashMap::new(),
        }
    }

    /// All facts with their slots.
    pub(super) fn facts(&self) -> impl Iterator<Item = (u32, &HeldFact)> {
        (0..).zip(&self.facts).filter_map(|(slot, held)| Some((slot, held.as_ref()?)))
    }

    pub(super) fn fact(&self, slot: u32) -> Option<&HeldFact> {
        self.facts.get(slot as usize)?.as_ref()
    }

    /// All entities of facts, with their numbers and keys.
    pub(super) fn entities(&self) -> impl Iterator<Item = (u32, &EntityKey, &HeldEntity)> {
        let standing = (0..).zip(&self.entities).filter(|(_, held)| !held.facts.is_empty());
        standing.filter_map(|(number, held)| Some((number, held.key.as_ref()?, held)))
    }

    pub(super) fn entity(&self, number: u32) -> &HeldEntity {
        &self.entities[number as usize]
    }

    /// The number of an entity of facts.
    pub(super) fn number(&self, key: &EntityKey) -> Option<u32> {
        self.numbers.get(key).copied().filter(|number| !self.entity(*number).facts.is_empty())
    }

    /// The entities of facts that have another name of this key.
    pub(super) fn known_as(&self, alias: &EntityKey) -> impl Iterator<Item = u32> {
        let known = self.by_alias.get(alias).into_iter().flatten().copied();
        known.filter(|number| !self.entity(*number).facts.is_empty())
    }

    /// Whether expansion goes on from an entity.
    pub(super) fn carries(&self, number: u32) -> bool {
        let held = self.entity(number);
        held.facts.len() <= self.hub && held.key.as_ref().is_some_and(|key| !key.is_anchor())
    }

    /// Takes facts and names out, and others in. What is not there goes without effect, and what comes again replaces what it
    /// was. Questions are left to the caller.
    pub(super) fn apply(&mut self, changes: &Changes) -> Changed {
        let mut changed = Changed::default();
        let came: BTreeMap<HyperedgeId, &Shared<Fact>> =
            changes.facts_came.iter().map(|(id, fact)| (*id, fact)).collect();
        let gone: BTreeSet<HyperedgeId> = changes.facts_gone.iter().chain(came.keys()).copied().collect();
        // Whether an entity carried expansion before.
        let mut carried: BTreeMap<u32, bool> = BTreeMap::new();
        let mut touched: BTreeSet<u32> = BTreeSet::new();
        let gone: Vec<u32> = gone.iter().filter_map(|id| self.slots.remove(id)).collect();
        for slot in gone {
            let Some(held) = self.facts[slot as usize].take() else { continue };
            for entity in &held.entities {
                carried.entry(*entity).or_insert_with(|| self.carries(*entity));
                let facts = &mut self.entities[*entity as usize].facts;
                remove(facts, slot);
                touched.extend(facts.is_empty().then_some(*entity));
            }
            changed.gone.push((slot, held));
        }
        self.free_facts.extend(changed.gone.iter().rev().map(|(slot, _)| *slot));
        for (id, fact) in came {
            let slot = self.put(id, fact, &mut carried, &mut touched);
            insert(&mut changed.came, slot);
        }
        changed.gone.sort_unstable_by_key(|(slot, _)| *slot);
        let named: BTreeMap<&EntityKey, Option<&Shared<NamedEntity>>> =
            (changes.names_gone.iter().map(|key| (key, None)))
                .chain(changes.names_came.iter().map(|(key, named)| (key, Some(named))))
                .collect();
        touched.extend(named.into_iter().map(|(key, named)| self.name(key, named.cloned())));
        let turned = carried.into_iter().filter(|(entity, carried)| self.carries(*entity) != *carried);
        changed.turned = turned.map(|(entity, _)| entity).collect();
        // Numbers are given anew only after this change: until then each stands for one entity.
        for number in &touched {
            let held = &mut self.entities[*number as usize];
            if held.facts.is_empty()
                && held.named.is_none()
                && let Some(key) = held.key.take()
            {
                self.numbers.remove(&key);
                self.free_entities.push(*number);
            }
        }
        changed.entities = touched.into_iter().collect();
        changed
    }

    /// Puts a fact in a free slot. Notes its entities: whether they carried expansion, and those that had no fact.
    fn put(
        &mut self,
        id: HyperedgeId,
        fact: &Shared<Fact>,
        carried: &mut BTreeMap<u32, bool>,
        new: &mut BTreeSet<u32>,
    ) -> u32 {
        let slot = self.free_facts.pop().unwrap_or_else(|| {
            self.facts.push(None);
            self.facts.len() as u32 - 1
        });
        let entities: Vec<u32> = fact.entities.iter().map(|key| self.numbered(key)).collect();
        for entity in &entities {
            carried.entry(*entity).or_insert_with(|| self.carries(*entity));
            let facts = &mut self.entities[*entity as usize].facts;
            new.extend(facts.is_empty().then_some(*entity));
            insert(facts, slot);
        }
        self.slots.insert(id, slot);
        self.facts[slot as usize] = Some(HeldFact { id, fact: fact.clone(), entities });
        slot
    }

    /// The number of an entity, a new one where it has none.
    fn numbered(&mut self, key: &EntityKey) -> u32 {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let number = self.free_entities.pop().unwrap_or_else(|| {
            self.entities.push(HeldEntity::default());
            self.entities.len() as u32 - 1
        });
        self.entities[number as usize].key = Some(key.clone());
        self.numbers.insert(key.clone(), number);
        number
    }

    /// Sets how an entity is named. Gives its number.
    fn name(&mut self, key: &EntityKey, named: Option<Shared<NamedEntity>>) -> u32 {
        let number = self.numbered(key);
        let aliases = |named: &Option<Shared<NamedEntity>>| named.iter().flat_map(|n| n.aliases.clone()).collect();
        let after: Vec<EntityKey> = aliases(&named);
        let before: Vec<EntityKey> = aliases(&std::mem::replace(&mut self.entities[number as usize].named, named));
        for alias in before {
            if let Some(known) = self.by_alias.get_mut(&alias) {
                known.remove(&number);
                if known.is_empty() {
                    self.by_alias.remove(&alias);
                }
            }
        }
        for alias in after {
            self.by_alias.entry(alias).or_default().insert(number);
        }
        number
    }
}
