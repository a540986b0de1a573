//! Find evidence: for each standing question the paths that support its answer, or diverge from it (HyCE-RAG 3.3).
//!
//! As if its input never changed: for each question the evidence paths of [`chain`](crate::kernel::chain()) over all facts, best
//! first, or, where no entity is confident enough, the facts that fit the question best. Each worker keeps the facts with their
//! entities (the facts themselves are shared) and the questions that hash to it; what a change costs is told at [`Standing`].

use std::collections::{BTreeMap, BTreeSet};

use differential_dataflow::{Hashable, consolidation::consolidate};
use hypercane_schemas::{
    ContentHash, Entity, EntityKey, EvidenceRow, EvidenceScore, Fixed, Hyperedge, HyperedgeId, QueryId, Vector,
};
use serde::{Deserialize, Serialize};
use timely::dataflow::operators::{Concat, Exchange, vec::Broadcast, vec::Map};

use crate::{
    candidates::Embedded,
    collection::{Collection, Told, Updates, by_epoch, left_join},
    domain::Domain,
    grammar::statements,
    kernel::{
        Chain, ChainSettings, EvidenceParts, EvidencePath,
        facts::{Asked, AskedName, Changes, Fact, NamedEntity, Standing},
        synonyms::{may_have_synonyms, name_embedded_as},
    },
    link::LinkedQuery,
    shared::Shared,
};

/// What comes in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Row {
    Fact(Shared<Hyperedge>, Shared<Fact>),
    Name(EntityKey, Shared<NamedEntity>),
    Question(QueryId, Shared<Asked>),
}

/// What a question is put together from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Part {
    Question(Shared<LinkedQuery>, Vec<(EntityKey, String)>),
    Vector(EntityKey, Vector),
}

/// The evidence of the questions. Entities in more than `hub` facts carry no expansion. Names with a cosine above `eta` are
/// synonyms of a mention, by their vectors where these are recorded ([`name_embedded_as`]); none are where it is `None`.
pub fn find_evidence<'scope>(
    facts: Collection<'scope, Shared<Embedded>>,
    entities: Collection<'scope, (EntityKey, Shared<Entity>)>,
    vectors: Collection<'scope, (ContentHash, Vector)>,
    questions: Collection<'scope, (QueryId, Shared<Asked>)>,
    hub: usize,
    eta: Option<f64>,
) -> Collection<'scope, EvidenceRow> {
    let facts = facts.map(|embedded| Row::Fact(embedded.hyperedge.clone(), Shared::new(fact(&embedded))));
    let by_name = entities.map(|(key, entity)| (name_embedded_as(&entity.name), (key, entity)));
    let vectors = vectors.filter(move |_| eta.is_some());
    let names = left_join(by_name, vectors)
        .map(|(_, (key, entity), vector)| Row::Name(key, Shared::new(named(&entity, vector))));
    let questions = questions.inner.exchange(|((id, _), ..)| id.hashed());
    let questions = questions.map(|((id, asked), at, diff)| (Row::Question(id, asked), at, diff));
    let mut found = Found::new(hub, eta);
    by_epoch(facts.concat(names).inner.broadcast().concat(questions), "FindEvidence", move |rows| found.apply(rows))
}

/// A fact as evidence is made of it.
pub fn fact(embedded: &Embedded) -> Fact {
    let hyperedge = &embedded.hyperedge;
    let entities: BTreeSet<EntityKey> = hyperedge.members.iter().map(|member| member.entity.clone()).collect();
    Fact {
        entities: entities.into_iter().collect(),
        vector: embedded.vector.clone(),
        confidence: hyperedge.confidence,
        relations: hyperedge.relations.iter().map(|relation| relation.confidence).collect(),
        issued_at: hyperedge.issued_at,
    }
}

/// An entity as questions find it beside its key. The vector of a name that has no synonyms does not count.
pub fn named(entity: &Entity, vector: Option<Vector>) -> NamedEntity {
    let aliases: BTreeSet<EntityKey> = entity.aliases.iter().map(|alias| statements::name_entity(alias)).collect();
    NamedEntity {
        name: entity.name.clone(),
        aliases: aliases.into_iter().filter(|alias| *alias != entity.key).collect(),
        vector: vector.filter(|_| may_have_synonyms(&entity.key, &entity.name)),
    }
}

/// What a question mentions, each once: its key, and the name that stands for it.
pub fn mentioned(question: &str, domain: &Domain) -> BTreeMap<EntityKey, String> {
    let Some(language) = domain.language() else { return BTreeMap::new() };
    let mut mentioned = BTreeMap::new();
    for mention in statements::mentions(question, &language.analyse(question)) {
        mentioned.entry(mention.entity).or_insert(mention.name);
    }
    mentioned
}

/// The questions with what `mentioned` finds in each, as [`mentioned()`] does, and the vectors of those names that may have synonyms
/// where they are recorded. It keeps the questions, and their names by text.
pub fn asked<'scope>(
    questions: Collection<'scope, (QueryId, Shared<LinkedQuery>)>,
    vectors: Collection<'scope, (ContentHash, Vector)>,
    mentioned: impl Fn(&str) -> BTreeMap<EntityKey, String> + 'static,
) -> Collection<'scope, (QueryId, Shared<Asked>)> {
    let read = questions.map(move |(id, query)| {
        let mentioned = mentioned(&query.query.question);
        (id, query, mentioned.into_iter().collect::<Vec<_>>())
    });
    let names = read.clone().flat_map(|(id, _, mentioned)| {
        let embedded = mentioned.into_iter().filter(|(key, name)| may_have_synonyms(key, name));
        embedded.map(move |(key, name)| (name_embedded_as(&name), (id.clone(), key)))
    });
    let vectors =
        names.join_map(vectors, |_, (id, key), vector| (id.clone(), Part::Vector(key.clone(), vector.clone())));
    let parts = read.map(|(id, query, mentioned)| (id, Part::Question(query, mentioned)));
    parts.concat(vectors).reduce_named("Asked", |_, parts, output| {
        let mut of_mentions: BTreeMap<&EntityKey, &Vector> = BTreeMap::new();
        let mut question = None;
        for (part, _) in parts {
            match part {
                Part::Question(query, mentioned) => question = Some((query, mentioned)),
                Part::Vector(key, vector) => _ = of_mentions.insert(key, vector),
            }
        }
        let asked = question.map(|(query, mentioned)| Asked {
            vector: query.vector.clone(),
            mentions: mentioned
                .iter()
                .map(|(entity, name)| AskedName {
                    entity: entity.clone(),
                    name: name.clone(),
                    vector: of_mentions.get(entity).map(|vector| (*vector).clone()),
                })
                .collect(),
            as_of: query.query.as_of,
        });
        output.extend(asked.map(|asked| (Shared::new(asked), 1)));
    })
}

/// The standing questions of a worker, and the rows that it has told.
struct Found {
    standing: Standing,
    facts: BTreeMap<HyperedgeId, Shared<Hyperedge>>,
    told: Told<EvidenceRow>,
}

impl Found {
    fn new(hub: usize, eta: Option<f64>) -> Self {
        let lifted = ChainSettings::lifted();
        let synonym_cosine = eta.unwrap_or(lifted.synonym_cosine);
        let standing = Standing::new(hub, ChainSettings { synonym_cosine, ..lifted });
        Self { standing, facts: BTreeMap::new(), told: Told::default() }
    }

    /// Takes in the rows of an epoch. Gives the rows of evidence that came and went.
    fn apply(&mut self, mut rows: Updates<Row>) -> Updates<EvidenceRow> {
        consolidate(&mut rows);
        // What goes first, so that what comes under the same key is what stands.
        rows.sort_by_key(|(_, diff)| *diff);
        let mut changes = Changes::default();
        for (row, diff) in rows {
            match (row, diff > 0) {
                (Row::Fact(hyperedge, fact), true) => {
                    changes.facts_came.push((hyperedge.id, fact));
                    self.facts.insert(hyperedge.id, hyperedge);
                }
                (Row::Fact(hyperedge, _), false) => {
                    changes.facts_gone.push(hyperedge.id);
                    self.facts.remove(&hyperedge.id);
                }
                (Row::Name(key, named), true) => changes.names_came.push((key, named)),
                (Row::Name(key, _), false) => changes.names_gone.push(key),
                (Row::Question(id, asked), true) => changes.questions_came.push((id, Asked::clone(&asked))),
                (Row::Question(id, _), false) => changes.questions_gone.push(id),
            }
        }
        let mut updates = Vec::new();
        for id in self.standing.apply(changes) {
            let now = self.standing.evidence(&id).map(|evidence| self.rows(&id, &evidence.chain)).unwrap_or_default();
            updates.extend(self.told.tell(id, now));
        }
        updates
    }

    fn rows(&self, query: &QueryId, chain: &Chain<HyperedgeId, EntityKey>) -> BTreeSet<EvidenceRow> {
        evidence_rows(query, chain, |id| self.facts.get(&id).cloned()).into_iter().collect()
    }
}

/// The rows of a question's evidence, best first: its paths, or what stands in for them.
pub fn evidence_rows(
    query: &QueryId,
    chain: &Chain<HyperedgeId, EntityKey>,
    hyperedge: impl Fn(HyperedgeId) -> Option<Shared<Hyperedge>>,
) -> Vec<EvidenceRow> {
    let row = |rank: u16, at: u32| {
        let hyperedge = hyperedge(chain.graph.hyperedges()[at as usize])?;
        let retrieval = Fixed::from_f64(chain.retrieval[at as usize]);
        Some(EvidenceRow {
            query: query.clone(),
            rank,
            hyperedge: hyperedge.id,
            text: hyperedge.text.clone(),
            retained: Vec::new(),
            represented_by: rank,
            supports: true,
            contradiction: Fixed::from_f64(chain.contradiction),
            score: EvidenceScore { retrieval, ..EvidenceScore::default() },
            provenance: hyperedge.provenance.clone(),
        })
    };
    if chain.paths().is_empty() {
        let fallback = (1..).zip(chain.ranking()).take(ChainSettings::lifted().paths);
        return fallback.filter_map(|(rank, at)| row(rank, at)).collect();
    }
    let group_of: BTreeMap<usize, usize> =
        chain.groups.iter().enumerate().flat_map(|(group, of)| of.iter().map(move |path| (*path, group))).collect();
    let path = |(at, path): (usize, &EvidencePath)| {
        let group = group_of.get(&at).copied()?;
        let row = row(at as u16 + 1, path.hyperedge)?;
        let EvidenceParts { coverage, propagation, extraction, entry, relations } = path.parts;
        let retained = path.retained.iter().map(|entity| chain.graph.entities()[*entity as usize].clone());
        Some(EvidenceRow {
            retained: retained.collect(),
            represented_by: chain.groups[group][0] as u16 + 1,
            supports: chain.split.supporting.contains(&group),
            score: EvidenceScore {
                coverage: Fixed::from_f64(coverage),
                propagation: Fixed::from_f64(propagation),
                extraction: Fixed::from_f64(extraction),
                entry: Fixed::from_f64(entry),
                relations: Fixed::from_f64(relations),
                total: Fixed::from_f64(path.score),
                ..row.score
            },
            ..row
        })
    };
    chain.paths().iter().enumerate().filter_map(path).collect()
}
