//! Standing questions over facts that come and go.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{EntityKey, HyperedgeId, QueryId};

use super::{
    Asked, AskedName, Fact, NamedEntity,
    expansion::Expansion,
    index::{Changed, FactIndex, HeldFact},
    pool::{Pool, Scored},
};
use crate::{
    kernel::{
        Chain, ChainSettings, Expanded, Extraction, Grounds, Hypergraph, Mentioned, NamedBy, chain::QueryHypergraph,
        cosine_of_units, entry, rank::keep_first,
    },
    shared::Shared,
};

/// What changes at a time. What comes replaces what it was.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Facts that go.
    pub facts_gone: Vec<HyperedgeId>,
    /// Facts that come.
    pub facts_came: Vec<(HyperedgeId, Shared<Fact>)>,
    /// Entities that are named no more.
    pub names_gone: Vec<EntityKey>,
    /// Entities that are named so from now on.
    pub names_came: Vec<(EntityKey, Shared<NamedEntity>)>,
    /// Questions that go.
    pub questions_gone: Vec<QueryId>,
    /// Questions that come.
    pub questions_came: Vec<(QueryId, Asked)>,
}

/// The evidence of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The entry entities with the grounds of each.
    pub entry: BTreeMap<EntityKey, Grounds>,
    /// The facts of each.
    pub degrees: Vec<usize>,
    /// What was found from them.
    pub chain: Chain<HyperedgeId, EntityKey>,
}

/// Facts with the evidence of standing questions, each as [`chain`](crate::kernel::chain()) gives it over all facts that the
/// question may use. How often an entity is named, and so whether it is a hub, is counted over all facts.
#[derive(Clone, Debug)]
pub struct Standing {
    index: FactIndex,
    settings: ChainSettings,
    questions: BTreeMap<QueryId, Question>,
}

#[derive(Clone, Debug)]
struct Question {
    asked: Asked,
    /// The entities nearest to the question.
    near_entities: Pool<EntityKey>,
    /// For each mention, the entities whose names are synonyms of it.
    synonyms: Vec<BTreeSet<u32>>,
    /// The facts nearest to the question.
    near_facts: Pool<HyperedgeId>,
    /// The entry entities by number.
    entry: BTreeSet<u32>,
    expansion: Expansion,
    /// E_q, best first, by slot.
    retrieved: Vec<Expanded>,
    /// Whether what expansion comes to is so little that all of it was looked at.
    is_enumerated: bool,
    evidence: Evidence,
}

impl Standing {
    /// No facts and no questions. Entities in more than `hub` facts carry no expansion.
    pub fn new(hub: usize, settings: ChainSettings) -> Self {
        Self { index: FactIndex::new(hub), settings, questions: BTreeMap::new() }
    }

    /// The evidence of a question that stands.
    pub fn evidence(&self, question: &QueryId) -> Option<&Evidence> {
        self.questions.get(question).map(|question| &question.evidence)
    }

    /// Takes in what changed. Gives the questions whose evidence was worked out anew, or that went.
    pub fn apply(&mut self, changes: Changes) -> BTreeSet<QueryId> {
        let changed = self.index.apply(&changes);
        let mut concerned = BTreeSet::new();
        for id in changes.questions_gone {
            self.questions.remove(&id);
            concerned.insert(id);
        }
        let (index, settings) = (&self.index, &self.settings);
        for (id, question) in &mut self.questions {
            if question.apply(index, &changed, settings) {
                concerned.insert(id.clone());
            }
        }
        for (id, asked) in changes.questions_came {
            self.questions.insert(id.clone(), Question::new(asked, index, settings));
            concerned.insert(id);
        }
        concerned
    }
}

impl Question {
    /// Cost: a product with every vector of a fact and, for the question and each of its mentions, of an entity; the incidences that
    /// expansion comes to; and the evidence itself.
    fn new(asked: Asked, index: &FactIndex, settings: &ChainSettings) -> Self {
        let near_entities = near_entities(index, &asked, settings.nearest_entities);
        let near_facts = near_facts(index, &asked, settings.hyperedges);
        let synonyms = asked.mentions.iter().map(|mention| {
            let entities = index.entities().map(|(number, ..)| number);
            entities.filter(|number| is_synonym(index, *number, mention, settings)).collect()
        });
        let synonyms = synonyms.collect();
        let entry = BTreeSet::new();
        let expansion = Expansion::new(index, &entry, &asked, settings.hops);
        let evidence = Evidence { entry: BTreeMap::new(), degrees: Vec::new(), chain: nothing(settings) };
        let (retrieved, is_enumerated) = (Vec::new(), false);
        let mut question =
            Self { asked, near_entities, synonyms, near_facts, entry, expansion, retrieved, is_enumerated, evidence };
        let grounds = question.grounds(index, settings);
        question.enter(index, &grounds, settings);
        question.retrieved = question.retrieve(index, settings);
        question.evidence = question.assemble(index, grounds, settings);
        question
    }

    /// Takes in what changed. Gives whether the evidence was worked out anew.
    fn apply(&mut self, index: &FactIndex, changed: &Changed, settings: &ChainSettings) -> bool {
        self.look_at_entities(index, &changed.entities, settings);
        let is_near_other = self.look_at_facts(index, changed);
        let grounds = self.grounds(index, settings);
        let is_other = if self.enter(index, &grounds, settings) {
            true
        } else {
            let entities = self.expansion.apply(index, changed, &self.entry, &self.asked);
            is_near_other || self.is_met_otherwise(index, changed, &entities, settings)
        };
        let mut is_retrieved_other = false;
        if is_other {
            let retrieved = self.retrieve(index, settings);
            is_retrieved_other = retrieved != self.retrieved;
            self.retrieved = retrieved;
        }
        let graph = &self.evidence.chain.graph;
        let mut renamed = changed.entities.iter().filter_map(|number| index.entity(*number).key.as_ref());
        let is_concerned = is_retrieved_other
            || self.evidence.entry != grounds
            || self.evidence.degrees != degrees(index, &grounds)
            || self.retrieved.iter().any(|expanded| changed.came.binary_search(&expanded.hyperedge).is_ok())
            || renamed.any(|key| graph.entity(key).is_some());
        if is_concerned {
            self.evidence = self.assemble(index, grounds, settings);
        }
        is_concerned
    }

    /// Brings what is near the question up to date.
    fn look_at_entities(&mut self, index: &FactIndex, entities: &[u32], settings: &ChainSettings) {
        let is_enough = self.near_entities.drop(entities);
        for number in entities {
            if let Some(scored) = scored_entity(index, *number, &self.asked) {
                _ = self.near_entities.add(scored);
            }
            for (mention, synonyms) in self.asked.mentions.iter().zip(&mut self.synonyms) {
                if is_synonym(index, *number, mention, settings) {
                    synonyms.insert(*number);
                } else {
                    synonyms.remove(number);
                }
            }
        }
        if !is_enough {
            self.near_entities = near_entities(index, &self.asked, self.near_entities.n());
        }
    }

    /// Gives whether other facts are near the question than before.
    fn look_at_facts(&mut self, index: &FactIndex, changed: &Changed) -> bool {
        let gone: Vec<u32> = changed.gone.iter().map(|(slot, _)| *slot).collect();
        let n_before = self.near_facts.held().len();
        let is_enough = self.near_facts.drop(&gone);
        let mut is_other = self.near_facts.held().len() < n_before;
        for slot in &changed.came {
            if let Some(scored) = index.fact(*slot).and_then(|held| scored_fact(*slot, held, &self.asked)) {
                is_other |= self.near_facts.add(scored);
            }
        }
        if !is_enough {
            self.near_facts = near_facts(index, &self.asked, self.near_facts.n());
        }
        is_other
    }

    /// Whether a fact that may be among the best is met in another hop than before, or an entry entity is in others: where other
    /// hops than before lead to these entities.
    fn is_met_otherwise(
        &self,
        index: &FactIndex,
        changed: &Changed,
        entities: &BTreeSet<u32>,
        settings: &ChainSettings,
    ) -> bool {
        let is_entry = |entity: &u32| settings.beta > 0.0 && self.entry.contains(entity);
        let came = changed.came.iter().filter_map(|slot| index.fact(*slot));
        let mut moved = changed.gone.iter().map(|(_, held)| held).chain(came);
        let is_candidate = |slot: &u32| {
            let is_near = self.near_facts.held().iter().any(|scored| scored.slot == *slot);
            is_near || index.fact(*slot).is_some_and(|held| held.entities.iter().any(is_entry))
        };
        let mut facts = entities.iter().flat_map(|entity| &index.entity(*entity).facts);
        moved.any(|held| held.entities.iter().any(is_entry))
            || self.is_enumerated && !(entities.is_empty() && changed.came.is_empty() && changed.gone.is_empty())
            || facts.any(is_candidate)
    }

    /// The entry entities with the grounds of each (eq. 8 to 13).
    fn grounds(&self, index: &FactIndex, settings: &ChainSettings) -> BTreeMap<EntityKey, Grounds> {
        let mut mentioned = Vec::new();
        for ((mention, asked), synonyms) in (0..).zip(&self.asked.mentions).zip(&self.synonyms) {
            let mut found = |by, number: u32| {
                let entity = index.entity(number).key.clone();
                mentioned.extend(entity.map(|entity| Mentioned { mention, by, entity }));
            };
            index.number(&asked.entity).into_iter().for_each(|number| found(NamedBy::Name, number));
            index.known_as(&asked.entity).for_each(|number| found(NamedBy::Alias, number));
            synonyms.iter().for_each(|number| found(NamedBy::Synonym, *number));
        }
        let nearest = self.near_entities.first().into_iter().map(|scored| (scored.id.clone(), scored.score));
        entry(mentioned, nearest, settings.nearest_entities)
    }

    /// Starts expansion from the entry entities where they are others. Gives whether it did.
    fn enter(&mut self, index: &FactIndex, grounds: &BTreeMap<EntityKey, Grounds>, settings: &ChainSettings) -> bool {
        let numbers = grounds.keys().filter_map(|key| index.number(key)).collect();
        let is_other = self.entry != numbers;
        if is_other {
            self.expansion = Expansion::new(index, &numbers, &self.asked, settings.hops);
            self.entry = numbers;
        }
        is_other
    }

    /// E_q: the hyperedges that expansion comes to with the highest s_hyp, best first, equal ones by id (eq. 15 to 19).
    fn retrieve(&mut self, index: &FactIndex, settings: &ChainSettings) -> Vec<Expanded> {
        // What an entry entity is in scores more than its text is worth.
        let of_entry: BTreeSet<u32> = match settings.beta > 0.0 {
            true => self.entry.iter().flat_map(|entity| &index.entity(*entity).facts).copied().collect(),
            false => BTreeSet::new(),
        };
        self.is_enumerated = false;
        loop {
            let near: BTreeSet<u32> = self.near_facts.held().iter().map(|scored| scored.slot).collect();
            let retrieved = self.best(index, near.union(&of_entry).copied(), settings);
            // What is outside scores no more than this.
            let bound = self.near_facts.bound().map(|score| (1.0 - settings.beta) * score.max(0.0));
            let is_full = retrieved.len() == settings.hyperedges;
            if bound.is_none_or(|bound| is_full && retrieved.last().is_none_or(|last| last.score > bound)) {
                return retrieved;
            }
            let n = 2 * self.near_facts.n().max(1);
            let reached = || self.expansion.entities().flat_map(|entity| &index.entity(entity).facts).copied();
            if reached().take(ENUMERATED * n).count() < ENUMERATED * n {
                self.is_enumerated = true;
                return self.best(index, reached().collect::<BTreeSet<u32>>(), settings);
            }
            self.near_facts = near_facts(index, &self.asked, n);
        }
    }

    /// The best of these facts among those that expansion comes to.
    fn best(&self, index: &FactIndex, slots: impl IntoIterator<Item = u32>, settings: &ChainSettings) -> Vec<Expanded> {
        let expanded = |slot: u32| {
            let held = index.fact(slot).filter(|held| self.asked.may_use(&held.fact))?;
            let hop = self.expansion.hop(held)?;
            let n_entry = held.entities.iter().filter(|entity| self.entry.contains(entity)).count();
            let entry = n_entry as f64 / (held.entities.len() as f64 + settings.epsilon);
            let relevance = relevance(held, &self.asked).max(0.0);
            let score = settings.beta * entry + (1.0 - settings.beta) * relevance;
            Some((held.id, Expanded { hyperedge: slot, hop, entry, relevance, score }))
        };
        let mut found: Vec<(HyperedgeId, Expanded)> = slots.into_iter().filter_map(expanded).collect();
        keep_first(&mut found, settings.hyperedges, |(id, expanded)| (expanded.score, id));
        found.into_iter().map(|(_, expanded)| expanded).collect()
    }

    /// The evidence in the query's hypergraph.
    fn assemble(&self, index: &FactIndex, grounds: BTreeMap<EntityKey, Grounds>, settings: &ChainSettings) -> Evidence {
        let held = self.retrieved.iter().filter_map(|expanded| Some((index.fact(expanded.hyperedge)?, expanded.score)));
        let mut held: Vec<(&HeldFact, f64)> = held.collect();
        held.sort_unstable_by_key(|(held, _)| held.id);
        let incidences =
            held.iter().flat_map(|(held, _)| held.fact.entities.iter().map(|entity| (held.id, entity.clone())));
        let graph = Hypergraph::new(incidences);
        // A fact without entities is met by no hop, so hyperedges are those of the graph.
        let similarity = |key: &EntityKey| {
            let number = index.number(key);
            number.and_then(|number| scored_entity(index, number, &self.asked)).map_or(0.0, |near| near.score.max(0.0))
        };
        let of_relations = |(held, _): &(&HeldFact, f64)| held.fact.relations.iter().map(|r| r.to_f64()).collect();
        let relations: Vec<Vec<f64>> = held.iter().map(of_relations).collect();
        let extractions = held.iter().zip(&relations).map(|((held, _), relations)| {
            let confidence = held.fact.confidence.to_f64();
            Extraction { confidence, relations }
        });
        let entry = graph.entities_among(grounds.keys()).into_iter();
        let entry = entry.map(|at| (at, degree(index, &graph.entities()[at as usize]))).collect();
        let query = QueryHypergraph {
            entry,
            retrieval: held.iter().map(|(_, score)| *score).collect(),
            similarity: graph.entities().iter().map(similarity).collect(),
            extractions: extractions.collect(),
            in_conflict: &|_| false,
            graph,
        };
        Evidence { degrees: degrees(index, &grounds), entry: grounds, chain: query.chain(settings) }
    }
}

/// Where expansion comes to less than so many times the facts that would be looked at next, it is looked at itself.
const ENUMERATED: usize = 4;

/// How many facts an entity has.
fn degree(index: &FactIndex, key: &EntityKey) -> usize {
    index.number(key).map_or(0, |number| index.entity(number).facts.len())
}

fn degrees(index: &FactIndex, entry: &BTreeMap<EntityKey, Grounds>) -> Vec<usize> {
    entry.keys().map(|key| degree(index, key)).collect()
}

fn near_entities(index: &FactIndex, asked: &Asked, n: usize) -> Pool<EntityKey> {
    Pool::new(n, index.entities().filter_map(|(number, ..)| scored_entity(index, number, asked)))
}

fn near_facts(index: &FactIndex, asked: &Asked, n: usize) -> Pool<HyperedgeId> {
    Pool::new(n, index.facts().filter_map(|(slot, held)| scored_fact(slot, held, asked)))
}

/// An entity of facts with its cosine; `None` where there is none.
fn scored_entity(index: &FactIndex, number: u32, asked: &Asked) -> Option<Scored<EntityKey>> {
    let (held, asked) = (index.entity(number), asked.vector.as_ref()?);
    let vector = held.named.as_ref()?.vector.as_ref().filter(|_| !held.facts.is_empty())?;
    Some(Scored { score: cosine_of_units(&vector.0, &asked.0), id: held.key.clone()?, slot: number })
}

/// A fact that the question may use, with its cosine.
fn scored_fact(slot: u32, held: &HeldFact, asked: &Asked) -> Option<Scored<HyperedgeId>> {
    asked.may_use(&held.fact).then(|| Scored { score: relevance(held, asked), id: held.id, slot })
}

fn relevance(held: &HeldFact, asked: &Asked) -> f64 {
    match (&held.fact.vector, &asked.vector) {
        (Some(fact), Some(asked)) => cosine_of_units(&fact.0, &asked.0),
        _ => 0.0,
    }
}

fn is_synonym(index: &FactIndex, number: u32, mention: &AskedName, settings: &ChainSettings) -> bool {
    let held = index.entity(number);
    let named = held.named.as_ref().filter(|_| !held.facts.is_empty());
    named.is_some_and(|named| mention.is_synonym(named, settings.synonym_cosine))
}

/// The evidence of nothing.
fn nothing(settings: &ChainSettings) -> Chain<HyperedgeId, EntityKey> {
    let (entry, retrieval, similarity, extractions) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let graph = Hypergraph::new([]);
    QueryHypergraph { graph, entry, retrieval, similarity, extractions, in_conflict: &|_| false }.chain(settings)
}
