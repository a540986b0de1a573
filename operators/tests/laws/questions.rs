//! The laws of the operators over questions: link, embed, candidates, trajectory.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use hypercane_operators::{
    Candidate, Embedded, LinkedQuery, Shared, answer, candidates,
    domain::Domain,
    embed,
    kernel::{self, link as reading},
    link, question_embedded_as, trajectory,
};
use hypercane_schemas::{Category, Cell, ContentHash, Entity, EntityKey, Fixed, GroupKey, Query, Vector};

use crate::{
    facts::as_itself,
    hypergraph::{read_cell, rules},
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Asked, Fact, Named, Offer, Place, Says, Spec, VectorOf, vector},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "link",
            pool: questions_names_and_vectors,
            read: |spec, domain| match spec {
                Spec::Query(asked) => vec![Row::Query((asked.query().id, Shared::new(asked.query())))],
                Spec::Entity(named) => {
                    vec![Row::Entity((EntityKey(named.key.clone()), Shared::new(named.entity(domain))))]
                }
                other => read_vector(other, domain),
            },
            stands: once,
            build: |rows, domain| {
                let (queries, entities) = (only!(rows, Query), only!(rows, Entity));
                link(queries, entities, only!(rows, Vector), domain.clone()).map(Row::Linked)
            },
            define: linked,
            on_one_worker: true,
        },
        Law {
            operator: "embed",
            pool: facts_and_vectors,
            read: |spec, domain| match spec {
                Spec::Fact(fact) => {
                    let hyperedge = fact.hyperedge(domain);
                    vec![Row::Hyperedge((hyperedge.id, hyperedge))]
                }
                other => read_vector(other, domain),
            },
            stands: once,
            build: |rows, domain| embed(only!(rows, Hyperedge), only!(rows, Vector), domain.clone()).map(Row::Embedded),
            define: with_vectors,
            on_one_worker: true,
        },
        Law {
            operator: "candidates",
            pool: questions_and_facts,
            read: |spec, domain| match spec {
                Spec::Query(asked) => vec![read_linked(asked, domain)],
                Spec::Fact(fact) => vec![Row::Embedded(embedded(fact, domain))],
                _ => vec![],
            },
            stands: once,
            build: |rows, domain| {
                candidates(only!(rows, Linked), only!(rows, Embedded), domain.clone()).map(Row::Candidate)
            },
            define: fitting,
            // Found by a scope key they come from the worker of that key, found by cosine from that of the text.
            on_one_worker: false,
        },
        Law {
            operator: "trajectory",
            pool: questions_offers_and_cells,
            read: |spec, domain| match spec {
                Spec::Query(asked) => vec![read_linked(asked, domain)],
                Spec::Candidate(offer) => {
                    let query = linked_query(&offer.query, domain);
                    let candidate = Candidate::of(&query, &embedded(&offer.fact, domain), domain);
                    let row = |candidate| Row::Candidate((query.query.id.clone(), candidate));
                    candidate.map(row).into_iter().collect()
                }
                other => read_cell(other, domain),
            },
            stands: once,
            build: |rows, domain| {
                let (queries, candidates) = (only!(rows, Linked), only!(rows, Candidate));
                let steps = trajectory(queries, candidates, only!(rows, Cell), domain.clone());
                steps.map(|step| Row::Answer(Box::new(step)))
            },
            define: answers,
            on_one_worker: true,
        },
    ]
}

/// Queries, entities and vectors stand once under their keys; facts may stand several times.
fn once(spec: &Spec) -> Stands {
    match spec {
        Spec::Query(asked) => Stands::Once(asked.id.clone()),
        Spec::Entity(named) => Stands::Once(named.key.clone()),
        // Facts of one kind differ in numbers only, and so share a text.
        Spec::Vector(VectorOf { question: None, fact: Some(fact) }) => Stands::Once(format!("{:?}", fact.says)),
        Spec::Cell(_) | Spec::Vector(_) | Spec::Candidate(_) => Stands::Once(format!("{spec:?}")),
        other => as_itself(other),
    }
}

fn read_vector(spec: &Spec, domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Vector(of) => {
            let text = of.text(domain);
            vec![Row::Vector((text, vector(text)))]
        }
        _ => vec![],
    }
}

fn read_linked(asked: &Asked, domain: &Domain) -> Row {
    Row::Linked((asked.query().id, Shared::new(linked_query(asked, domain))))
}

/// A query under the names of the two storms and of the port.
fn linked_query(asked: &Asked, domain: &Domain) -> LinkedQuery {
    let entities: Vec<Entity> = NAMES[..3].iter().map(|name| named(name).entity(domain)).collect();
    let query = asked.query();
    let links = links_of(&query, entities.iter(), domain);
    let vector = asked.vector.then(|| vector(question_embedded_as(&query.question)));
    LinkedQuery { query: Shared::new(query), links, vector }
}

fn embedded(fact: &Fact, domain: &Domain) -> Shared<Embedded> {
    let hyperedge = fact.hyperedge(domain);
    let vector = fact.vector.then(|| vector(hyperedge.embedded_as));
    Shared::new(Embedded::new(hyperedge, vector, domain))
}

/// Key, name, kind, another name.
const NAMES: [(&str, &str, &str, &str); 7] = [
    ("storm:AL012020", "Alder", "cyclone", ""),
    ("storm:AL022020", "Birch", "cyclone", ""),
    ("port:houston_tx", "Port of Houston", "port", "Houston"),
    ("storm:AL012020", "Alder", "cyclone", "Birch"),
    ("storm:AL022020", "Birche", "cyclone", ""),
    ("storm:AL022020", "Two", "cyclone", ""),
    // No lasting thing: no question means it.
    ("state:AL012020:@2020-08-10T00:00:00Z", "Alder", "cyclone_state", ""),
];

fn named(&(key, name, kind, alias): &(&str, &str, &str, &str)) -> Named {
    let aliases = if alias.is_empty() { vec![] } else { vec![alias.to_owned()] };
    Named { key: key.into(), name: name.into(), kind: kind.into(), aliases }
}

/// The last two name nothing, so that cosine alone finds their candidates.
const QUESTIONS: [&str; 5] = [
    "What is the maximum wind of Alder?",
    "How did the wind of Hurricane Birch change?",
    "Which is the condition of the Port of Houston under Alder?",
    "how far do gales reach",
    "how deep is the water",
];

fn questions() -> Vec<Asked> {
    let mut asked = Vec::new();
    for (idx, question) in QUESTIONS.into_iter().enumerate() {
        for as_of in [None, Some(3)] {
            for vector in [true, false] {
                let seeds = Some(1 + (idx % 2) as u16);
                asked.push(Asked { id: format!("q{}", idx % 3), asks: question.into(), as_of, seeds, vector });
            }
        }
    }
    asked
}

fn questions_names_and_vectors() -> Vec<Spec> {
    let mut pool: Vec<Spec> = NAMES.iter().map(|name| Spec::Entity(named(name))).collect();
    let asked = questions().into_iter().filter(|asked| !asked.vector);
    pool.extend(asked.map(Spec::Query));
    let of = |question: &str| VectorOf { question: Some(question.into()), fact: None };
    pool.extend(QUESTIONS.iter().map(|question| Spec::Vector(of(question))));
    pool
}

/// The links of a query, by looking at every name of every lasting entity.
fn links_of<'a>(query: &Query, entities: impl Iterator<Item = &'a Entity>, domain: &Domain) -> reading::Links {
    let slots = reading::read_question(&query.question, domain, query.as_of);
    let mut matches = BTreeSet::new();
    for entity in entities.filter(|entity| entity.category == Category::Persistent) {
        let names = std::iter::once((&entity.name, true)).chain(entity.aliases.iter().map(|alias| (alias, false)));
        for (name, is_name) in names {
            for (at, mention) in (0..).zip(&slots.mentions) {
                if let Some(how) = reading::verify(&mention.form, name, is_name) {
                    let (entity, kind) = (entity.key.clone(), entity.kind.clone());
                    matches.insert(reading::AliasMatch { mention: at, entity, kind, how });
                }
            }
        }
    }
    reading::resolve(&slots, &matches.into_iter().collect::<Vec<_>>(), domain)
}

/// Each query with its links, and its vector where that is recorded.
fn linked(input: &Input, domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((id, query), count) in standing!(input, Query) {
        let links = links_of(query, standing!(input, Entity).map(|((_, entity), _)| &**entity), domain);
        let vector = vector_of(input, question_embedded_as(&query.question));
        let linked = LinkedQuery { query: query.clone(), links, vector };
        rows.add(Row::Linked((id.clone(), Shared::new(linked))), count);
    }
    rows
}

/// The recorded vector of a text.
fn vector_of(input: &Input, text: ContentHash) -> Option<Vector> {
    standing!(input, Vector).find(|((other, _), _)| *other == text).map(|((_, vector), _)| vector.clone())
}

fn facts() -> Vec<Fact> {
    let mut pool = Vec::new();
    for (storm, says) in
        [("AL01", Says::State), ("AL01", Says::Port), ("AL02", Says::Probability), ("AL02", Says::State)]
    {
        for (issued, horizon) in [(Some(0), None), (Some(6), Some(48)), (None, None)] {
            for value in [Some(50), Some(60)] {
                let (doc, storm) = ("a".into(), storm.into());
                pool.push(Fact { doc, says, storm, issued, horizon, value, ..Fact::default() });
            }
        }
    }
    pool
}

fn facts_and_vectors() -> Vec<Spec> {
    let mut pool: Vec<Spec> = facts().into_iter().map(Spec::Fact).collect();
    // Facts that differ in numbers only share a text; one of each text is enough.
    let texts = facts().into_iter().step_by(6);
    let of = |fact| Spec::Vector(VectorOf { question: None, fact: Some(fact) });
    pool.extend(texts.map(of));
    pool
}

/// Each hyperedge, with the vector of its text where that is recorded.
fn with_vectors(input: &Input, domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((_, hyperedge), count) in standing!(input, Hyperedge) {
        let vector = vector_of(input, hyperedge.embedded_as);
        rows.add(Row::Embedded(Shared::new(Embedded::new(hyperedge.clone(), vector, domain))), count);
    }
    rows
}

fn questions_and_facts() -> Vec<Spec> {
    let mut pool: Vec<Spec> = facts().into_iter().map(|fact| Spec::Fact(Fact { vector: true, ..fact })).collect();
    pool.extend(facts().into_iter().step_by(4).map(Spec::Fact));
    pool.extend(questions().into_iter().map(Spec::Query));
    pool
}

/// For each query the hyperedges in its scope that no link excludes; without a scope, those of the texts nearest to it.
fn fitting(input: &Input, domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    let texts: BTreeMap<ContentHash, Vector> = standing!(input, Embedded)
        .filter_map(|(embedded, _)| Some((embedded.hyperedge.embedded_as, embedded.vector.clone()?)))
        .collect();
    for ((id, query), n_queries) in standing!(input, Linked) {
        let asked = &query.links.scope;
        let mut near: Vec<(Reverse<Fixed>, ContentHash)> = Vec::new();
        if let (Some(question), true) = (&query.vector, asked.is_empty()) {
            let cosine = |vector: &Vector| Fixed::from_f64(kernel::relevance(&question.0, &vector.0));
            near.extend(texts.iter().map(|(text, vector)| (Reverse(cosine(vector)), *text)));
            near.sort();
            near.truncate(usize::from(query.query.parameters.seeds));
        }
        for (embedded, n_embedded) in standing!(input, Embedded) {
            let in_scope = embedded.scope.iter().any(|key| asked.contains(key));
            let is_near = near.iter().any(|(_, text)| *text == embedded.hyperedge.embedded_as);
            if !in_scope && !is_near {
                continue;
            }
            if let Some(candidate) = Candidate::of(query, embedded, domain) {
                rows.add(Row::Candidate((id.clone(), candidate)), n_queries * n_embedded);
            }
        }
    }
    rows
}

fn questions_offers_and_cells() -> Vec<Spec> {
    let mut pool = Vec::new();
    let asked: Vec<Asked> = questions().into_iter().filter(|asked| asked.vector && asked.as_of.is_none()).collect();
    for (fact, query) in facts().into_iter().flat_map(|fact| asked.iter().map(move |asked| (fact.clone(), asked))) {
        let fact = Fact { vector: true, ..fact };
        pool.push(Spec::Candidate(Offer { query: query.clone(), fact }));
    }
    pool.extend(asked.into_iter().map(Spec::Query).cycle().take(20));
    // The places at which the facts stand.
    for (sequence, by_horizon) in [(issued_minutes(0), false), (issued_minutes(6), false), (-48 * 60, true)] {
        for (storm, family) in [("AL01", 1), ("AL01", 10), ("AL02", 5), ("AL02", 1)] {
            let place = Place { storm: storm.into(), sequence, by_horizon, family, change: false };
            pool.extend([Spec::Cell(place.clone()), Spec::Cell(place)]);
        }
    }
    pool
}

fn issued_minutes(hours: i64) -> i64 {
    crate::spec::moment(hours).as_second() / 60
}

/// The answer to each query from its candidates, with the closure made anew over the cells of each of their groups.
fn answers(input: &Input, domain: &Domain) -> Rows {
    let rules = rules(domain);
    let mut rows = Rows::default();
    for ((id, query), _) in standing!(input, Linked) {
        let of_query = standing!(input, Candidate).filter(|((other, _), _)| other == id);
        let mut candidates: Vec<&Candidate> = of_query.map(|((_, candidate), _)| candidate).collect();
        candidates.sort();
        let reach_of = |group: &GroupKey| {
            let of_group = standing!(input, Cell).filter(|(cell, _)| cell.group == *group);
            let cells: Vec<Cell> = of_group.map(|(cell, _)| cell.clone()).collect();
            (!cells.is_empty()).then(|| Rc::new(kernel::Reach::new(&rules, &cells)))
        };
        for step in answer(id, query, &candidates, &reach_of, domain) {
            rows.add(Row::Answer(Box::new(step)), 1);
        }
    }
    rows
}
