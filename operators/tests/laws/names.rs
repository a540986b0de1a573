//! The laws of the operators over names: synonyms, and the incidence that they expand.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_operators::{
    Shared,
    domain::Domain,
    expanded_degrees, expanded_incidence,
    kernel::{
        self, relevance,
        synonyms::{ETA, EntityName, may_link, name_embedded_as},
    },
    synonyms,
};
use hypercane_schemas::{Degree, EntityKey, Fixed, HyperedgeId, Synonym, Vector};

use crate::{
    facts::as_itself,
    hypergraph::{HUB_DEGREE, members_of, states},
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Linked, Named, Pointing, Spec},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "synonyms",
            pool: names_and_vectors,
            read: |spec, domain| match spec {
                Spec::Entity(named) => {
                    vec![Row::Entity((EntityKey(named.key.clone()), Shared::new(named.entity(domain))))]
                }
                Spec::Pointing(Pointing { name, at }) => {
                    let vector = Vector(at.iter().map(|x| f32::from(*x)).collect());
                    vec![Row::Vector((name_embedded_as(name), vector))]
                }
                _ => vec![],
            },
            // An entity may stand under two names, and each of them several times.
            stands: |spec| match spec {
                Spec::Pointing(pointing) => Stands::Once(pointing.name.clone()),
                other => as_itself(other),
            },
            build: |rows, _| synonyms(only!(rows, Entity), only!(rows, Vector), ETA).map(Row::Synonym),
            define: near_names,
            on_one_worker: true,
        },
        Law {
            operator: "expanded_incidence",
            pool: facts_and_links,
            read: |spec, domain| match spec {
                Spec::Fact(fact) => members_of(&fact.hyperedge(domain)).map(Row::Incidence).collect(),
                Spec::Link(linked) => vec![Row::Synonym(link(linked))],
                _ => vec![],
            },
            stands: as_itself,
            build: |rows, _| expanded_incidence(only!(rows, Incidence), only!(rows, Synonym)).map(Row::Expanded),
            define: with_neighbours,
            on_one_worker: true,
        },
        Law {
            operator: "expanded_degrees",
            pool: states,
            read: |spec, domain| match spec {
                Spec::Fact(fact) => {
                    let hyperedge = fact.hyperedge(domain);
                    members_of(&hyperedge).map(|row| Row::Expanded((row.hyperedge, row.entity))).collect()
                }
                _ => vec![],
            },
            stands: as_itself,
            build: |rows, _| expanded_degrees(only!(rows, Expanded), HUB_DEGREE).map(Row::Degree),
            define: counted,
            on_one_worker: true,
        },
    ]
}

/// Names that lie near each other or not by their vectors, some of which a guard keeps apart.
fn names_and_vectors() -> Vec<Spec> {
    let mut pool = Vec::new();
    for (key, name, kind) in [
        ("place:alder", "Port Alder", "place"),
        ("place:harbour", "Alder Harbour", "place"),
        ("place:port_alder", "Port Alder", "place"),
        ("place:alder", "Alder", "place"),
        ("idea:alder", "Alder", "concept"),
        ("place:pier", "Pier 7", "place"),
        ("place:wharf", "Pier 8", "place"),
        ("place:seventh", "The Seventh Pier", "place"),
        ("time:x", "Alder", "moment"),
        ("state:alder:@2020", "Alder", "cyclone_state"),
        ("idea:march", "12 March", "concept"),
    ] {
        let (key, name, kind) = (key.into(), name.into(), kind.into());
        // As many times as make a name as frequent as a vector.
        pool.extend(vec![Spec::Entity(Named { key, name, kind, aliases: vec![] }); 4]);
    }
    for name in ["Port Alder", "Alder Harbour", "Alder", "Pier 7", "Pier 8", "The Seventh Pier", "12 March"] {
        // The cosine of the first and the third is eta itself.
        for at in [&[5, 0, 0][..], &[4, 2, 0], &[4, 3, 0], &[0, 0, 5], &[0, 0, 0], &[5, 0]] {
            pool.push(Spec::Pointing(Pointing { name: name.into(), at: at.to_vec() }));
        }
    }
    pool
}

/// All pairs of names with a vector that no guard keeps apart and whose cosine is above eta.
fn near_names(input: &Input, _domain: &Domain) -> Rows {
    let mut names: BTreeSet<(EntityName, Vector)> = BTreeSet::new();
    for ((_, entity), _) in standing!(input, Entity) {
        let name = EntityName::from(&**entity);
        let of_text = |(text, _): &&(_, Vector)| *text == name_embedded_as(&name.name);
        if let Some((_, vector)) = standing!(input, Vector).map(|(row, _)| row).find(of_text) {
            names.insert((name, vector.clone()));
        }
    }
    let names: Vec<(EntityName, Vector)> = names.into_iter().collect();
    let mut rows = Rows::default();
    for (at, (a, v)) in names.iter().enumerate() {
        // The names are in the order of their entities.
        for (b, w) in &names[at + 1..] {
            if !may_link(a, b) || v.0.len() != w.0.len() {
                continue;
            }
            let cosine = relevance(&v.0, &w.0);
            if cosine > 0.8 {
                let cosine = Fixed::from_f64(cosine);
                let why = format!("the names \"{}\" and \"{}\" have cosine {cosine}, above 0.8", a.name, b.name);
                rows.add(Row::Synonym(Synonym { a: a.entity.clone(), b: b.entity.clone(), cosine, why }), 1);
            }
        }
    }
    rows
}

fn facts_and_links() -> Vec<Spec> {
    let mut pool = states();
    for (a, b) in [
        ("storm:AL012020", "storm:AL022020"),
        ("port:houston_tx", "storm:AL012020"),
        ("port:houston_tx", "place:unknown"),
        ("place:unknown", "storm:AL022020"),
    ] {
        // As many times as make a link as frequent as a fact.
        for _ in 0..4 {
            pool.push(Spec::Link(Linked { a: a.into(), b: b.into() }));
        }
    }
    pool
}

fn link(linked: &Linked) -> Synonym {
    let key = |key: &str| EntityKey(key.into());
    Synonym { a: key(&linked.a), b: key(&linked.b), cosine: Fixed::from_f64(0.9), why: "as said".into() }
}

/// A_i+ of each hyperedge.
fn with_neighbours(input: &Input, _domain: &Domain) -> Rows {
    let links = standing!(input, Synonym).map(|(link, _)| (link.a.clone(), link.b.clone(), link.cosine.to_f64()));
    let neighbours = kernel::synonyms(links, ETA);
    let mut participants: BTreeMap<HyperedgeId, Vec<EntityKey>> = BTreeMap::new();
    for (row, _) in standing!(input, Incidence) {
        participants.entry(row.hyperedge).or_default().push(row.entity.clone());
    }
    let mut rows = Rows::default();
    for (hyperedge, participants) in participants {
        let expanded = kernel::expanded(&participants, &neighbours);
        expanded.into_iter().for_each(|entity| rows.add(Row::Expanded((hyperedge, entity)), 1));
    }
    rows
}

/// How many rows each entity has; no expansion above the hub degree, nor through anchors.
fn counted(input: &Input, _domain: &Domain) -> Rows {
    let mut degrees: BTreeMap<&EntityKey, u32> = BTreeMap::new();
    for ((_, entity), count) in standing!(input, Expanded) {
        *degrees.entry(entity).or_default() += count as u32;
    }
    let mut rows = Rows::default();
    for (entity, degree) in degrees {
        let expands = degree <= HUB_DEGREE && !entity.0.starts_with("horizon:") && !entity.0.starts_with("time:");
        rows.add(Row::Degree(Degree { entity: entity.clone(), degree, expands }), 1);
    }
    rows
}
