//! The laws of the operators over facts: unify, dedupe, reference times, horizons, entities, conflicts of order.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_operators::{
    Shared, assertion::Assertion, dedupe, domain::Domain, entities, inject_horizons, kernel, order_conflicts,
    reference_times, unify,
};
use hypercane_schemas::{Entity, EntityKey, Fixed, GroupKey, Hyperedge, HyperedgeId, Member};
use jiff::Timestamp;

use crate::{
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Fact, Horizon, Reference, Says, Spec, group, surest},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "unify",
            pool: named_and_identified,
            read: read_assertion,
            stands: as_itself,
            build: |rows, _| unify(only!(rows, Assertion)).map(Row::Assertion),
            define: under_identifiers,
            on_one_worker: true,
        },
        Law {
            operator: "dedupe",
            pool: supporters,
            read: read_assertion,
            stands: as_itself,
            build: |rows, _| dedupe(only!(rows, Assertion)).map(Row::Fact),
            define: merged,
            on_one_worker: true,
        },
        Law {
            operator: "reference_times",
            pool: statements,
            read: |spec, domain| match spec {
                Spec::Horizon(horizon) => vec![Row::Horizon((group(&horizon.storm), horizon.update()))],
                other => read_assertion(other, domain),
            },
            stands: as_itself,
            build: |rows, _| reference_times(only!(rows, Horizon), only!(rows, Assertion)).map(Row::Reference),
            define: newest_statements,
            on_one_worker: true,
        },
        Law {
            operator: "inject_horizons",
            pool: || with_references(labelled_facts()),
            read: read_fact,
            stands: once,
            build: |rows, _| inject_horizons(only!(rows, Fact), only!(rows, Reference)).map(Row::Hyperedge),
            define: labelled,
            // A fact whose horizon is stated comes from the worker of its id, one that waits for it from that of its group.
            on_one_worker: false,
        },
        Law {
            operator: "entities",
            pool: mentions,
            read: read_fact,
            stands: once,
            build: |rows, domain| entities(only!(rows, Fact), domain.clone()).map(Row::Entity),
            define: merged_mentions,
            on_one_worker: true,
        },
        Law {
            operator: "order_conflicts",
            pool: || with_references(labelled_facts()),
            read: read_fact,
            stands: once,
            build: |rows, _| {
                let conflicts = order_conflicts(only!(rows, Fact), only!(rows, Reference));
                conflicts.map(|conflict| Row::Conflict(Box::new(conflict)))
            },
            define: contradicted_horizons,
            on_one_worker: true,
        },
    ]
}

fn read_assertion(spec: &Spec, domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Fact(fact) => vec![Row::Assertion(Shared::new(fact.assertion(domain)))],
        _ => vec![],
    }
}

fn read_fact(spec: &Spec, domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Fact(fact) => {
            let assertion = fact.assertion(domain);
            vec![Row::Fact((assertion.id, Shared::new(assertion)))]
        }
        Spec::Reference(reference) => {
            vec![Row::Reference((group(&reference.storm), crate::spec::moment(reference.at)))]
        }
        _ => vec![],
    }
}

/// A row may stand several times, and comes in on the worker of its own.
pub fn as_itself(spec: &Spec) -> Stands {
    Stands::Often(format!("{spec:?}"))
}

/// A fact stands once under its id, a reference time once under its group.
fn once(spec: &Spec) -> Stands {
    match spec {
        Spec::Fact(fact) => Stands::Once(format!("{:?}", fact.id())),
        Spec::Reference(reference) => Stands::Once(reference.storm.clone()),
        other => as_itself(other),
    }
}

fn fact(says: Says, storm: &str) -> Fact {
    Fact { doc: "a".into(), says, storm: storm.into(), ..Fact::default() }
}

fn named_and_identified() -> Vec<Spec> {
    let mut pool = Vec::new();
    for doc in ["a", "b"] {
        for value in [None, Some(50)] {
            for (storm, called) in
                [("ALDER", None), ("AL01", None), ("AL02", None), ("AL02", Some("Alder")), ("BIRCH", None)]
            {
                for says in [Says::State, Says::Port] {
                    let called = called.map(str::to_owned);
                    pool.push(Spec::Fact(Fact {
                        doc: doc.into(),
                        value,
                        called,
                        issued: Some(0),
                        ..fact(says, storm)
                    }));
                }
            }
        }
    }
    pool
}

/// Every assertion, a provisional name replaced where one identified thing alone bears it.
fn under_identifiers(input: &Input, _domain: &Domain) -> Rows {
    let mut bearers: BTreeMap<EntityKey, BTreeSet<EntityKey>> = BTreeMap::new();
    for (assertion, _) in standing!(input, Assertion) {
        for mention in &assertion.mentions {
            if let Some(name) = kernel::unify::answers_to(mention) {
                bearers.entry(name).or_default().insert(mention.entity.clone());
            }
        }
    }
    let mut rows = Rows::default();
    for (assertion, count) in standing!(input, Assertion) {
        let name = kernel::unify::provisional(assertion);
        let known = name.and_then(|name| match bearers.get(&name)?.iter().collect::<Vec<_>>()[..] {
            [only] => Some(Shared::new(kernel::unify::renamed(assertion, &name, only))),
            _ => None,
        });
        rows.add(Row::Assertion(known.unwrap_or_else(|| assertion.clone())), count);
    }
    rows
}

fn supporters() -> Vec<Spec> {
    let mut pool = Vec::new();
    for value in [None, Some(50)] {
        for doc in ["a", "b", "c"] {
            for (horizon, trust) in [(None, None), (Some(24), None), (None, Some(50)), (Some(48), Some(20))] {
                for (called, reference) in
                    [(None, None), (Some("Alder".to_owned()), Some(6)), (Some("Al".into()), None)]
                {
                    let said = fact(Says::State, "AL01");
                    let doc = doc.into();
                    pool.push(Spec::Fact(Fact {
                        doc,
                        value,
                        issued: Some(0),
                        horizon,
                        trust,
                        called,
                        reference,
                        ..said
                    }));
                }
            }
        }
    }
    pool
}

/// One fact an id: the least assertion, with the supporters, mentions and relations of all, the best confidence, the nearest stated
/// horizon, the first position, the last reference time.
fn merged(input: &Input, _domain: &Domain) -> Rows {
    let mut by_id: BTreeMap<HyperedgeId, Vec<&Assertion>> = BTreeMap::new();
    for (assertion, _) in standing!(input, Assertion) {
        by_id.entry(assertion.id).or_default().push(assertion);
    }
    let mut rows = Rows::default();
    for (id, all) in by_id {
        let mut fact = (**all.iter().min().expect("there is one")).clone();
        let edges = || all.iter().map(|assertion| &assertion.hyperedge);
        let provenance: BTreeSet<_> = edges().flat_map(|edge| edge.provenance.clone()).collect();
        let mentions: BTreeSet<_> = all.iter().flat_map(|assertion| assertion.mentions.clone()).collect();
        fact.hyperedge.relations = surest(all.iter().flat_map(|assertion| &assertion.hyperedge.relations));
        fact.hyperedge.provenance = provenance.into_iter().collect();
        fact.hyperedge.confidence = edges().map(|edge| edge.confidence).max().expect("there is one");
        fact.hyperedge.horizon_hours = edges().filter_map(|edge| edge.horizon_hours).min();
        fact.hyperedge.position = edges().map(|edge| edge.position).min().expect("there is one");
        fact.mentions = mentions.into_iter().collect();
        fact.reference_at = all.iter().filter_map(|assertion| assertion.reference_at).max();
        rows.add(Row::Fact((id, Shared::new(fact))), 1);
    }
    rows
}

fn statements() -> Vec<Spec> {
    let mut pool = Vec::new();
    for storm in ["AL01", "AL02"] {
        for at in [48, 72] {
            for issued in [0, 6] {
                pool.push(Spec::Horizon(Horizon { storm: storm.into(), at, issued }));
                for doc in ["a", "b"] {
                    for reference in [None, Some(at + 1)] {
                        let said = fact(Says::Port, storm);
                        let doc = doc.into();
                        pool.push(Spec::Fact(Fact { doc, issued: (issued > 0).then_some(issued), reference, ..said }));
                    }
                }
            }
        }
    }
    pool
}

/// For each group what its newest `horizons` record states; without one, the newest derived time.
fn newest_statements(input: &Input, _domain: &Domain) -> Rows {
    let mut stated: BTreeMap<&GroupKey, (Option<Timestamp>, Timestamp)> = BTreeMap::new();
    for ((group, update), _) in standing!(input, Horizon) {
        let statement = (Some(update.issued_at), update.reference_at);
        let held = stated.entry(group).or_insert(statement);
        *held = (*held).max(statement);
    }
    let mut derived: BTreeMap<&GroupKey, (Option<Timestamp>, Timestamp)> = BTreeMap::new();
    for (assertion, _) in standing!(input, Assertion) {
        let Some(reference_at) = assertion.reference_at else { continue };
        let statement = (assertion.hyperedge.issued_at, reference_at);
        let held = derived.entry(&assertion.hyperedge.group).or_insert(statement);
        *held = (*held).max(statement);
    }
    derived.extend(stated);
    let mut rows = Rows::default();
    derived.into_iter().for_each(|(group, (_, at))| rows.add(Row::Reference((group.clone(), at)), 1));
    rows
}

fn labelled_facts() -> Vec<Spec> {
    let mut pool = Vec::new();
    for storm in ["AL01", "AL02"] {
        for issued in [Some(0), None, Some(6)] {
            for horizon in [None, Some(48), Some(12)] {
                for doc in ["a", "b"] {
                    pool.push(Spec::Fact(Fact { doc: doc.into(), issued, horizon, ..fact(Says::Port, storm) }));
                }
            }
        }
    }
    pool
}

/// With reference times before and after the issue times of the facts, one of them at a broken hour.
fn with_references(mut pool: Vec<Spec>) -> Vec<Spec> {
    for storm in ["AL01", "AL02"] {
        for at in [48, 54, -3, 6] {
            // As many times as make a moved reference time as frequent as a changed fact.
            for _ in 0..2 {
                pool.push(Spec::Reference(Reference { storm: storm.into(), at }));
            }
        }
    }
    pool
}

/// The reference time of a fact's group.
fn reference_of(input: &Input, fact: &Assertion) -> Option<Timestamp> {
    let of_group = |((group, _), _): &(&(GroupKey, Timestamp), isize)| *group == fact.hyperedge.group;
    standing!(input, Reference).find(of_group).map(|((_, at), _)| *at)
}

/// Whole hours from one moment to another, rounded down.
fn hours_between(from: Timestamp, to: Timestamp) -> i32 {
    let seconds = to.as_second() - from.as_second();
    let hours = seconds / 3600 - i64::from(seconds % 3600 < 0);
    hours as i32
}

/// Each fact with the horizon that its document states, else the one that its group's reference time gives, and its anchor.
fn labelled(input: &Input, _domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((id, fact), count) in standing!(input, Fact) {
        let edge = &fact.hyperedge;
        let counted = edge.issued_at.zip(reference_of(input, fact)).map(|(issued, at)| hours_between(issued, at));
        let horizon_hours = edge.horizon_hours.or(counted);
        let mut members: Vec<Member> =
            edge.members.iter().filter(|member| !member.entity.0.starts_with("horizon:")).cloned().collect();
        members.extend(horizon_hours.map(|hours| Member {
            entity: EntityKey(match hours {
                0.. => format!("horizon:T-{hours}"),
                _ => format!("horizon:T+{}", -hours),
            }),
            role: "horizon".into(),
        }));
        members.sort();
        let hyperedge = Hyperedge { horizon_hours, members, ..edge.clone() };
        rows.add(Row::Hyperedge((*id, Shared::new(hyperedge))), count);
    }
    rows
}

/// The conflict of each fact whose stated horizon is more than six hours from what its group's reference time gives.
fn contradicted_horizons(input: &Input, _domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((_, fact), count) in standing!(input, Fact) {
        let edge = &fact.hyperedge;
        let (Some(stated), Some(issued), Some(at)) = (edge.horizon_hours, edge.issued_at, reference_of(input, fact))
        else {
            continue;
        };
        if (stated - hours_between(issued, at)).abs() > 6 {
            let conflict = kernel::order_contradiction(edge, at).expect("they are more than six hours apart");
            rows.add(Row::Conflict(Box::new(conflict)), count);
        }
    }
    rows
}

fn mentions() -> Vec<Spec> {
    let mut pool = Vec::new();
    for value in [None, Some(40), Some(50)] {
        for called in [None, Some("Alder"), Some("Aldor"), Some("Al")] {
            for trust in [None, Some(50)] {
                for says in [Says::State, Says::Port] {
                    let called = called.map(str::to_owned);
                    pool.push(Spec::Fact(Fact { value, called, trust, ..fact(says, "AL01") }));
                }
            }
        }
    }
    pool
}

/// One entity a key: the name, type and description that most hyperedges give (ties: the least), all other names, the confidence that
/// at least one mention is right.
fn merged_mentions(input: &Input, domain: &Domain) -> Rows {
    let mut keys: BTreeSet<&EntityKey> = BTreeSet::new();
    standing!(input, Fact).for_each(|((_, fact), _)| keys.extend(fact.mentions.iter().map(|mention| &mention.entity)));
    let mut rows = Rows::default();
    for key in keys {
        let mut names: BTreeMap<&str, isize> = BTreeMap::new();
        let mut kinds: BTreeMap<&str, isize> = BTreeMap::new();
        let mut descriptions: BTreeMap<&str, isize> = BTreeMap::new();
        let mut aliases: BTreeSet<&str> = BTreeSet::new();
        let (mut doubt, mut support) = (1.0, 0);
        for ((_, fact), count) in standing!(input, Fact) {
            for mention in fact.mentions.iter().filter(|mention| mention.entity == *key) {
                for _ in 0..count {
                    *names.entry(&mention.name).or_default() += 1;
                    *kinds.entry(&mention.kind).or_default() += 1;
                    if !mention.description.is_empty() {
                        *descriptions.entry(&mention.description).or_default() += 1;
                    }
                    aliases.extend(mention.aliases.iter().map(String::as_str));
                    doubt *= 1.0 - fact.hyperedge.confidence.to_f64();
                    support += 1;
                }
            }
        }
        let most = |counts: &BTreeMap<&str, isize>| {
            let best = counts.values().max().copied();
            let first = counts.iter().find(|(_, count)| Some(**count) == best);
            first.map(|(name, _)| (*name).to_owned()).unwrap_or_default()
        };
        let (name, kind) = (most(&names), most(&kinds));
        aliases.extend(names.keys());
        aliases.remove(name.as_str());
        let entity = Entity {
            key: key.clone(),
            category: domain.category_of(&kind),
            aliases: aliases.into_iter().map(str::to_owned).collect(),
            name,
            kind,
            description: most(&descriptions),
            confidence: Fixed::from_f64(1.0 - doubt),
            support,
        };
        rows.add(Row::Entity((key.clone(), Shared::new(entity))), 1);
    }
    rows
}
