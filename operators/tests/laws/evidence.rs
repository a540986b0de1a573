//! The laws of the operators over evidence: what questions mention, and the paths that support them.

use std::collections::BTreeMap;

use hypercane_operators::{
    Embedded, LinkedQuery, Shared, asked,
    domain::Domain,
    evidence_rows, fact, find_evidence,
    kernel::{
        ChainSettings,
        facts::{self, Asked, AskedName, Fact},
        link::Links,
        synonyms::{ETA, may_have_synonyms, name_embedded_as},
    },
    named, question_embedded_as,
};
use hypercane_schemas::{ContentHash, EntityKey, Hyperedge, HyperedgeId, Vector};

use crate::{
    facts::as_itself,
    hypergraph::{HUB_DEGREE, states},
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Asked as AskedSpec, Named, Pointing, Spec, vector},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "asked",
            pool: questions_and_vectors,
            read: |spec, domain| match spec {
                Spec::Query(asked) => {
                    let (query, vector) = (Shared::new(asked.query()), Some(pointing(&[1, 0, 0, 0])));
                    let linked = LinkedQuery { query: query.clone(), links: Links::default(), vector };
                    vec![Row::Linked((query.id.clone(), Shared::new(linked)))]
                }
                other => read_name(other, domain),
            },
            stands,
            build: |rows, _| asked(only!(rows, Linked), only!(rows, Vector), mentioned).map(Row::Asked),
            define: with_mentions,
            on_one_worker: true,
        },
        Law {
            operator: "find_evidence",
            pool: questions_names_and_facts,
            read: |spec, domain| match spec {
                Spec::Query(asked) => {
                    let mentions = mentioned(&asked.asks).into_iter();
                    let asked = Asked {
                        vector: asked.vector.then(|| vector(question_embedded_as(&asked.asks))),
                        mentions: mentions.map(|(key, name)| asked_name(key, vector_of_name(&name), name)).collect(),
                        as_of: asked.query().as_of,
                    };
                    vec![Row::Asked((spec_id(spec), Shared::new(asked)))]
                }
                Spec::Fact(fact) => {
                    let hyperedge = fact.hyperedge(domain);
                    let vector = fact.vector.then(|| vector(hyperedge.embedded_as));
                    vec![Row::Embedded(Shared::new(Embedded::new(hyperedge, vector, domain)))]
                }
                other => read_name(other, domain),
            },
            stands,
            build: |rows, _| {
                let (facts, entities) = (only!(rows, Embedded), only!(rows, Entity));
                let (vectors, questions) = (only!(rows, Vector), only!(rows, Asked));
                let evidence = find_evidence(facts, entities, vectors, questions, HUB_DEGREE as usize, Some(ETA));
                evidence.map(|row| Row::Evidence(Box::new(row)))
            },
            define: evidence,
            on_one_worker: true,
        },
    ]
}

/// All stand once: questions, entities and vectors under their keys, facts as what is the same for equal ones.
fn stands(spec: &Spec) -> Stands {
    match spec {
        Spec::Query(asked) => Stands::Once(asked.id.clone()),
        Spec::Entity(named) => Stands::Once(named.key.clone()),
        Spec::Pointing(pointing) => Stands::Once(pointing.name.clone()),
        Spec::Fact(fact) => Stands::Once(format!("{:?}", fact.id())),
        other => as_itself(other),
    }
}

fn spec_id(spec: &Spec) -> hypercane_schemas::QueryId {
    match spec {
        Spec::Query(asked) => hypercane_schemas::QueryId(asked.id.clone()),
        other => panic!("{other:?} is no question"),
    }
}

fn read_name(spec: &Spec, domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Entity(named) => vec![Row::Entity((EntityKey(named.key.clone()), Shared::new(named.entity(domain))))],
        Spec::Pointing(Pointing { name, at }) => vec![Row::Vector((name_embedded_as(name), pointing(at)))],
        _ => vec![],
    }
}

fn pointing(at: &[i16]) -> Vector {
    let length = at.iter().map(|x| f32::from(*x).powi(2)).sum::<f32>().sqrt();
    Vector(at.iter().map(|x| f32::from(*x) / length).collect())
}

/// One of them is a date, which has no synonyms whatever its vector.
const NAMES: [&str; 4] = ["Alder", "Birch", "Houston", "March 2019"];

fn vector_of_name(name: &str) -> Option<Vector> {
    let number = NAMES.iter().position(|known| *known == name)? as i16;
    (number != 1).then(|| pointing(&[number, 1, 4 - number, 0]))
}

fn asked_name(entity: EntityKey, vector: Option<Vector>, name: String) -> AskedName {
    AskedName { entity, name, vector }
}

/// The keys that a question is made of.
fn mentioned(question: &str) -> BTreeMap<EntityKey, String> {
    let name = |key: &str| (EntityKey(key.into()), NAMES[key.len() % NAMES.len()].to_owned());
    question.split(' ').filter(|word| word.contains(':')).map(name).collect()
}

fn questions() -> Vec<Spec> {
    let asks = ["storm:AL012020", "storm:AL022020 port:houston_tx", "name:alder", "name:birch storm:AL032020", "what"];
    let mut pool = Vec::new();
    for (number, asks) in asks.into_iter().enumerate() {
        for (as_of, vector) in [(None, true), (Some(3), true), (None, false)] {
            let (id, asks) = (format!("q{}", number % 3), asks.to_owned());
            pool.push(Spec::Query(AskedSpec { id, asks, as_of, vector, ..AskedSpec::default() }));
        }
    }
    pool
}

fn vectors() -> Vec<Spec> {
    let at = [[4, 0, 0, 0], [4, 1, 0, 0], [0, 0, 3, 1]];
    let of = |name: &&str| at.map(|at| Spec::Pointing(Pointing { name: (*name).to_owned(), at: at.to_vec() }));
    NAMES.iter().flat_map(of).collect()
}

fn questions_and_vectors() -> Vec<Spec> {
    [questions(), vectors()].concat()
}

/// States of two storms, with and without the vectors of their texts, and the names of the storms and the port.
fn questions_names_and_facts() -> Vec<Spec> {
    let mut pool = [questions(), vectors()].concat();
    for (key, name, alias) in [
        ("storm:AL012020", "Alder", ""),
        ("storm:AL012020", "March 2019", "Alder"),
        ("storm:AL022020", "Birch", "Alder"),
        ("port:houston_tx", "Houston", "Birch"),
    ] {
        let aliases = if alias.is_empty() { vec![] } else { vec![alias.to_owned()] };
        let (key, name, kind) = (key.to_owned(), name.to_owned(), "cyclone".to_owned());
        pool.extend(vec![Spec::Entity(Named { key, name, kind, aliases }); 2]);
    }
    for (number, spec) in states().into_iter().enumerate() {
        pool.push(match spec {
            Spec::Fact(fact) => Spec::Fact(crate::spec::Fact { vector: number % 3 > 0, ..fact }),
            other => other,
        });
    }
    pool
}

/// The recorded vector of a text.
fn recorded(input: &Input, text: ContentHash) -> Option<Vector> {
    standing!(input, Vector).find(|((other, _), _)| *other == text).map(|((_, vector), _)| vector.clone())
}

fn with_mentions(input: &Input, _: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((id, linked), count) in standing!(input, Linked) {
        let mentions = mentioned(&linked.query.question).into_iter();
        let mention = |(key, name): (EntityKey, String)| {
            let vector = recorded(input, name_embedded_as(&name)).filter(|_| may_have_synonyms(&key, &name));
            asked_name(key, vector, name)
        };
        let asked = Asked {
            vector: linked.vector.clone(),
            mentions: mentions.map(mention).collect(),
            as_of: linked.query.as_of,
        };
        rows.add(Row::Asked((id.clone(), Shared::new(asked))), count);
    }
    rows
}

/// The evidence of each question over all facts at once.
fn evidence(input: &Input, _: &Domain) -> Rows {
    let embedded: Vec<&Shared<Embedded>> = standing!(input, Embedded).map(|(embedded, _)| embedded).collect();
    let by_id: BTreeMap<HyperedgeId, &Shared<Hyperedge>> =
        embedded.iter().map(|embedded| (embedded.hyperedge.id, &embedded.hyperedge)).collect();
    let facts: BTreeMap<HyperedgeId, Shared<Fact>> =
        embedded.iter().map(|embedded| (embedded.hyperedge.id, Shared::new(fact(embedded)))).collect();
    let name = |entity: &hypercane_schemas::Entity| named(entity, recorded(input, name_embedded_as(&entity.name)));
    let names = standing!(input, Entity).map(|((key, entity), _)| (key.clone(), Shared::new(name(entity)))).collect();
    let mut rows = Rows::default();
    for ((id, asked), count) in standing!(input, Asked) {
        let chain = facts::evidence(&facts, &names, asked, HUB_DEGREE as usize, &ChainSettings::lifted());
        for row in evidence_rows(id, &chain, |id| by_id.get(&id).map(|hyperedge| (*hyperedge).clone())) {
            rows.add(Row::Evidence(Box::new(row)), count);
        }
    }
    rows
}
