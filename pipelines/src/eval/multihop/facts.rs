//! The facts of a set as a hypergraph, for the modes that rank passages by their evidence.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hypercane_operators::{
    Shared,
    domain::Domain,
    grammar::statements,
    kernel::{
        ChainSettings, FactWalk, Grounds, Hypergraph, Mentioned, NamedBy, cosine_of_units, entry, expanded,
        passages::Lexical,
        synonyms,
        synonyms::{CosineJoin, ETA, EntityName, NameVector, guard, have_same_numbers},
    },
};
use hypercane_schemas::{Category, EntityKey, Vector};
use rayon::prelude::*;

use super::{
    Index, Watch,
    index::{cpu_seconds, vectors},
};
use crate::connect::{self, embed::Recorded};

/// The facts of a set. They are numbered in the order of passages, entities in the order of their keys.
pub struct Facts {
    /// The passage of each fact.
    pub passages: Vec<u32>,
    /// The text of each fact.
    pub texts: Vec<String>,
    /// The keys of entities.
    pub entities: Vec<String>,
    /// Facts and entities.
    pub graph: Hypergraph<u32, u32>,
    /// The walk between facts over what they share, synonyms with it: entities, and after them passages.
    pub walk: FactWalk<u32, u32>,
    /// The same without synonyms.
    pub walk_of_names: FactWalk<u32, u32>,
    /// BM25 over the facts.
    pub lexical: Lexical,
    /// The questions, in the set's order.
    pub questions: Vec<QuestionFacts>,
    /// CPU seconds that it took to make it, with those of the model.
    pub cpu_seconds: f64,
    /// How many pairs of names are synonyms.
    pub n_synonyms: usize,
    /// Entities in more facts carry no expansion.
    pub(super) hub: usize,
    pub(super) domain: Arc<Domain>,
    pub(super) n_dimensions: usize,
    vectors: Vec<f32>,
    /// Vectors of those entities that have a name, one behind the other; values and documents have none.
    name_vectors: Vec<f32>,
    /// Which entity each of them is.
    named: Vec<u32>,
    /// What each fact speaks of, for the reader: entity, name, type.
    pub(super) spoken: Vec<Vec<(u32, String, String)>>,
}

/// A question with what it names.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionFacts {
    /// Its text.
    pub text: String,
    /// Its vector.
    pub vector: Vector,
    /// Keys of what it names, with the vectors of those that have a name.
    pub mentions: Vec<(String, Option<Vector>)>,
}

impl Facts {
    /// The facts of a set that was read. Embeds the names that are not on record, and joins those that mean the same.
    ///
    /// # Errors
    /// The model, or the record of its outputs, fails.
    pub async fn new(
        index: &Index,
        domain: &Arc<Domain>,
        recorded: &Recorded,
        watch: &Watch,
    ) -> Result<Self, connect::Error> {
        let began = cpu_seconds();
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let facts = || index.read.iter().flat_map(|read| &read.facts);
        facts().flat_map(|fact| &fact.mentions).for_each(|mention| _ = numbers.insert(&mention.entity.0, 0));
        numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
        let entities: Vec<String> = numbers.keys().map(|key| (*key).to_owned()).collect();
        let spoken: Vec<Vec<(u32, String, String)>> = facts()
            .map(|fact| {
                let of = fact.mentions.iter();
                of.map(|m| (numbers[m.entity.0.as_str()], m.name.clone(), m.kind.clone())).collect()
            })
            .collect();
        let (named, names): (Vec<u32>, Vec<String>) =
            (0..).zip(&entities).filter_map(|(at, key)| Some((at, name_of(key)?.to_owned()))).unzip();
        let texts: Vec<String> = facts().map(|fact| fact.text.clone()).collect();
        let fact_vectors = vectors(recorded, &texts, watch).await?;
        let name_vectors = vectors(recorded, &names, watch).await?;
        let n_dimensions = fact_vectors.first().map_or(0, |vector| vector.0.len());

        let passages: Vec<u32> =
            (0..).zip(&index.read).flat_map(|(passage, read)| vec![passage; read.facts.len()]).collect();
        let incidences =
            || (0u32..).zip(&spoken).flat_map(|(fact, of)| of.iter().map(move |(entity, ..)| (fact, *entity)));
        let graph = Hypergraph::new(incidences());
        let synonyms = synonyms(near_names(&spoken, &entities, &named, &name_vectors, domain), ETA);
        let n_synonyms = synonyms.values().map(BTreeSet::len).sum::<usize>() / 2;
        let hub = domain.hub_degree() as usize;
        let n_entities = entities.len() as u32;
        let walk = |participants: Vec<Vec<u32>>| {
            let mut degrees = vec![0; entities.len()];
            participants.iter().flatten().for_each(|entity| degrees[*entity as usize] += 1);
            let of_entities =
                (0u32..).zip(&participants).flat_map(|(fact, of)| of.iter().map(move |entity| (fact, *entity)));
            let carrying = of_entities.filter(|(_, entity)| degrees[*entity as usize] <= hub);
            FactWalk::new(carrying.chain((0..).zip(passages.iter().map(|passage| n_entities + passage))))
        };
        let participants = || (0..texts.len() as u32).map(|fact| graph_row(&graph, fact));
        let walk_of_names = walk(participants().collect());
        let walk = walk(participants().map(|participants| expanded(&participants, &synonyms)).collect());
        let mut lexical = Lexical::default();
        texts.iter().zip(0..).for_each(|(text, number)| lexical.insert(number, text));
        let cpu_seconds = cpu_seconds() - began;

        let mut facts = Self {
            passages,
            texts,
            entities,
            graph,
            walk,
            walk_of_names,
            lexical,
            questions: Vec::new(),
            cpu_seconds,
            n_synonyms,
            hub,
            domain: domain.clone(),
            n_dimensions,
            vectors: fact_vectors.into_iter().flat_map(|vector| vector.0.to_vec()).collect(),
            name_vectors: name_vectors.iter().flat_map(|vector| vector.0.to_vec()).collect(),
            named,
            spoken,
        };
        let asked = index.set.questions.iter().map(|question| question.question.clone()).zip(index.questions.clone());
        facts.questions = facts.read_questions(asked.collect(), recorded, watch).await?;
        Ok(facts)
    }

    /// What questions name, read as facts are.
    ///
    /// # Errors
    /// The model, or the record of its outputs, fails.
    pub(super) async fn read_questions(
        &self,
        questions: Vec<(String, Vector)>,
        recorded: &Recorded,
        watch: &Watch,
    ) -> Result<Vec<QuestionFacts>, connect::Error> {
        let keys = |text: &String| -> Vec<String> {
            let analysis = self.domain.language().map(|language| language.analyse(text));
            let mentions = analysis.map(|analysis| statements::mentions(text, &analysis)).unwrap_or_default();
            let mut keys: Vec<String> = mentions.into_iter().map(|mention| mention.entity.0).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        let keys: Vec<Vec<String>> = questions.par_iter().map(|(text, _)| keys(text)).collect();
        let names: Vec<String> = keys.iter().flatten().filter_map(|key| Some(name_of(key)?.to_owned())).collect();
        let mut vectors = vectors(recorded, &names, watch).await?.into_iter();
        let mut mention = |key: String| {
            let vector = name_of(&key).and_then(|_| vectors.next());
            (key, vector)
        };
        let asked = questions.into_iter().zip(keys).map(|((text, vector), keys)| QuestionFacts {
            text,
            vector,
            mentions: keys.into_iter().map(&mut mention).collect(),
        });
        Ok(asked.collect())
    }

    /// The name of an entity, in small letters.
    pub(super) fn name(&self, entity: u32) -> &str {
        let key = &self.entities[entity as usize];
        name_of(key).unwrap_or(key)
    }

    /// Whether an entity carries expansion: one in many facts joins everything with everything.
    pub(super) fn is_carrying(&self, entity: u32) -> bool {
        self.graph.entity(&entity).is_none_or(|at| self.graph.hyperedges_of(at).len() <= self.hub)
    }

    /// The cosine of a fact with a vector.
    pub(super) fn fact_cosine(&self, fact: u32, vector: &[f32]) -> f64 {
        let at = fact as usize * self.n_dimensions;
        cosine_of_units(&self.vectors[at..at + self.n_dimensions], vector)
    }

    /// The cosines of all facts.
    pub(super) fn fact_cosines(&self, vector: &[f32]) -> Vec<f64> {
        (0..self.texts.len() as u32).map(|fact| self.fact_cosine(fact, vector)).collect()
    }

    /// The cosines of all entities with a vector; that of a value is 0.
    pub(super) fn entity_cosines(&self, vector: &[f32]) -> Vec<f64> {
        let mut cosines = vec![0.0; self.entities.len()];
        if self.n_dimensions > 0 {
            let of_names = self.name_vectors.chunks_exact(self.n_dimensions).map(|name| cosine_of_units(name, vector));
            self.named.iter().zip(of_names).for_each(|(entity, cosine)| cosines[*entity as usize] = cosine);
        }
        cosines
    }

    /// V_0 of a question with the grounds of each (HyCE-RAG eq. 8 to 13), from the cosines of all entities with it. The general
    /// extractor knows no aliases.
    pub(super) fn entry(
        &self,
        question: &QuestionFacts,
        cosines: &[f64],
        settings: &ChainSettings,
        with_synonyms: bool,
    ) -> BTreeMap<u32, Grounds> {
        let mut mentioned = Vec::new();
        for (mention, (key, vector)) in (0..).zip(&question.mentions) {
            if let Ok(at) = self.entities.binary_search(key) {
                mentioned.push(Mentioned { mention, by: NamedBy::Name, entity: at as u32 });
            } else if let Some(vector) = vector.as_ref().filter(|_| with_synonyms) {
                let cosines = self.entity_cosines(&vector.0);
                let near = (0..).zip(cosines).filter(|(_, cosine)| *cosine > settings.synonym_cosine);
                let near = near
                    .filter(|(entity, _)| name_of(key).is_some_and(|name| have_same_numbers(name, self.name(*entity))));
                mentioned.extend(near.map(|(entity, _)| Mentioned { mention, by: NamedBy::Synonym, entity }));
            }
        }
        entry(mentioned, self.named.iter().map(|&entity| (entity, cosines[entity as usize])), settings.nearest_entities)
    }
}

/// The pairs of entities whose names may be linked and have a cosine above eta. An entity is of the category that it has where
/// it is first spoken of.
fn near_names(
    spoken: &[Vec<(u32, String, String)>],
    entities: &[String],
    named: &[u32],
    vectors: &[Vector],
    domain: &Domain,
) -> Vec<(u32, u32, f64)> {
    let mut categories: BTreeMap<u32, Category> = BTreeMap::new();
    for (entity, _, kind) in spoken.iter().flatten() {
        categories.entry(*entity).or_insert_with(|| domain.category_of(kind));
    }
    let names = named.iter().zip(vectors).filter_map(|(entity, vector)| {
        let key = &entities[*entity as usize];
        let (name, category) = (name_of(key)?.to_owned(), *categories.get(entity)?);
        let name = EntityName { entity: EntityKey(key.clone()), name, category };
        guard(&name).is_none().then(|| Shared::new(NameVector { name: Shared::new(name), vector: vector.clone() }))
    });
    let number = |name: &NameVector| entities.binary_search(&name.name.entity.0).map_or(0, |at| at as u32);
    let mut pairs = Vec::new();
    CosineJoin::new(ETA).apply(
        names.map(|name| (name, 1)).collect(),
        |_| true,
        |a, b, cosine, _| pairs.push((number(a), number(b), cosine)),
    );
    pairs
}

fn graph_row(graph: &Hypergraph<u32, u32>, fact: u32) -> Vec<u32> {
    let row = graph.hyperedge(&fact).map_or(&[][..], |at| graph.entities_of(at));
    row.iter().map(|entity| graph.entities()[*entity as usize]).collect()
}

/// The name under which an entity is embedded; a value or a document has none.
fn name_of(key: &str) -> Option<&str> {
    key.strip_prefix("name:")
}
