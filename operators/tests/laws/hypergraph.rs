//! The laws of the operators over hyperedges: changes, incidence, degrees, cells, precedence, conflicts of values.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_operators::{
    Shared, cells, degrees,
    domain::Domain,
    incidence,
    kernel::{self, PrecedenceRules, State},
    precedence, synthesize_changes, value_conflicts,
};
use hypercane_schemas::{
    Cell, Conflict, ConflictKind, ConflictSide, Degree, EntityKey, GroupKey, Hyperedge, Incidence, Value,
};

use crate::{
    facts::as_itself,
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Fact, Place, Says, Spec},
    standing,
};

/// So that three hyperedges make a hub.
pub const HUB_DEGREE: u32 = 2;

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "synthesize_changes",
            pool: states,
            read: read_hyperedge,
            stands: as_itself,
            build: |rows, domain| synthesize_changes(only!(rows, Hyperedge), domain.clone()).map(Row::Hyperedge),
            define: changes_between_neighbours,
            on_one_worker: true,
        },
        Law {
            operator: "incidence",
            pool: states,
            read: read_hyperedge,
            stands: by_id,
            build: |rows, _| incidence(only!(rows, Hyperedge)).map(Row::Incidence),
            define: members,
            on_one_worker: true,
        },
        Law {
            operator: "degrees",
            pool: states,
            read: |spec, domain| match spec {
                Spec::Fact(fact) => members_of(&fact.hyperedge(domain)).map(Row::Incidence).collect(),
                _ => vec![],
            },
            stands: as_itself,
            build: |rows, _| degrees(only!(rows, Incidence), HUB_DEGREE).map(Row::Degree),
            define: counted,
            on_one_worker: true,
        },
        Law {
            operator: "cells",
            pool: states,
            read: read_hyperedge,
            stands: as_itself,
            build: |rows, domain| cells(only!(rows, Hyperedge), rules(domain).into()).map(Row::Cell),
            define: places_taken,
            on_one_worker: true,
        },
        Law {
            operator: "precedence",
            pool: places,
            read: read_cell,
            stands: |spec| Stands::Once(format!("{spec:?}")),
            build: |rows, domain| {
                let steps = precedence(only!(rows, Cell), rules(domain).into());
                steps.map(|step| Row::Precedence(Box::new(step)))
            },
            define: covering_steps,
            on_one_worker: true,
        },
        Law {
            operator: "value_conflicts",
            pool: claims,
            read: read_hyperedge,
            stands: as_itself,
            build: |rows, domain| {
                let conflicts = value_conflicts(only!(rows, Hyperedge), domain.clone());
                conflicts.map(|conflict| Row::Conflict(Box::new(conflict)))
            },
            define: contradicted_values,
            on_one_worker: true,
        },
    ]
}

pub fn rules(domain: &Domain) -> PrecedenceRules {
    PrecedenceRules::from(domain)
}

pub fn read_cell(spec: &Spec, domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Cell(place) => vec![Row::Cell(place.cell(domain))],
        _ => vec![],
    }
}

fn read_hyperedge(spec: &Spec, domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Fact(fact) => {
            let hyperedge = fact.hyperedge(domain);
            vec![Row::Hyperedge((hyperedge.id, hyperedge))]
        }
        _ => vec![],
    }
}

/// A hyperedge may stand several times, and comes in on the worker of its id.
fn by_id(spec: &Spec) -> Stands {
    match spec {
        Spec::Fact(fact) => Stands::Often(format!("{:?}", fact.id())),
        other => as_itself(other),
    }
}

/// States of two storms at several places, told apart by issue time or by horizon.
pub fn states() -> Vec<Spec> {
    let mut pool = Vec::new();
    for (issued, horizon) in [
        (Some(0), None),
        (Some(6), None),
        (Some(12), None),
        (Some(0), Some(48)),
        (Some(6), Some(24)),
        (None, Some(24)),
        (None, None),
    ] {
        for (says, valid) in [(Says::State, None), (Says::Forecast, Some(48)), (Says::Probability, Some(48))] {
            for value in [Some(50), Some(60)] {
                for (doc, storm) in [("a", "AL01"), ("b", "AL01"), ("a", "AL02")] {
                    let (doc, storm) = (doc.into(), storm.into());
                    pool.push(Spec::Fact(Fact { doc, says, storm, issued, valid, horizon, value, ..Fact::default() }));
                }
            }
        }
    }
    pool
}

/// A change between each two neighbouring places of the states of one thing. What a change says of two given places is the
/// kernel's own, which has the paper's cases.
fn changes_between_neighbours(input: &Input, domain: &Domain) -> Rows {
    /// Group, entity family, relation family, and whether its places are horizons.
    type Thing = (GroupKey, String, u8, bool);
    let mut things: BTreeMap<Thing, BTreeMap<i64, Vec<State>>> = BTreeMap::new();
    for ((_, hyperedge), _) in standing!(input, Hyperedge) {
        let place = match (hyperedge.horizon_hours, hyperedge.issued_at) {
            (Some(hours), _) => (true, -60 * i64::from(hours)),
            (None, Some(issued)) => (false, issued.as_second() / 60),
            (None, None) => continue,
        };
        for member in &hyperedge.members {
            let key = &member.entity.0;
            let states_place = key.contains(":@") || key.contains(":T-") && !key.starts_with("horizon:");
            if states_place {
                let family = member.entity.family().to_owned();
                let thing = (hyperedge.group.clone(), family, hyperedge.family, place.0);
                let state = State { entity: member.entity.clone(), hyperedge: hyperedge.clone() };
                things.entry(thing).or_default().entry(place.1).or_default().push(state);
            }
        }
    }
    let mut rows = Rows::default();
    for ((_, entity_family, family, _), mut places) in things {
        for here in places.values_mut() {
            here.sort_by(|a, b| (&a.entity, a.hyperedge.id).cmp(&(&b.entity, b.hyperedge.id)));
        }
        let places: Vec<Vec<State>> = places.into_values().collect();
        for pair in places.windows(2) {
            let change = kernel::change_hyperedge(&entity_family, family, [&pair[0], &pair[1]], domain);
            if let Some(change) = change {
                rows.add(Row::Hyperedge((change.id, Shared::new(change))), 1);
            }
        }
    }
    rows
}

pub fn members_of(hyperedge: &Hyperedge) -> impl Iterator<Item = Incidence> {
    let row = |member: &hypercane_schemas::Member| Incidence {
        hyperedge: hyperedge.id,
        entity: member.entity.clone(),
        role: member.role.clone(),
    };
    hyperedge.members.iter().map(row).collect::<Vec<_>>().into_iter()
}

fn members(input: &Input, _domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((_, hyperedge), count) in standing!(input, Hyperedge) {
        members_of(hyperedge).for_each(|row| rows.add(Row::Incidence(row), count));
    }
    rows
}

/// How many rows each entity has; no expansion above the hub degree, nor through anchors.
fn counted(input: &Input, _domain: &Domain) -> Rows {
    let mut degrees: BTreeMap<&EntityKey, u32> = BTreeMap::new();
    for (row, count) in standing!(input, Incidence) {
        *degrees.entry(&row.entity).or_default() += count as u32;
    }
    let mut rows = Rows::default();
    for (entity, degree) in degrees {
        let anchor = entity.0.starts_with("horizon:") || entity.0.starts_with("time:");
        let expands = degree <= HUB_DEGREE && !anchor;
        rows.add(Row::Degree(Degree { entity: entity.clone(), degree, expands }), 1);
    }
    rows
}

/// The place, phase and family of each hyperedge that has a place, each once.
fn places_taken(input: &Input, domain: &Domain) -> Rows {
    let mut found: BTreeSet<Cell> = BTreeSet::new();
    for ((_, hyperedge), _) in standing!(input, Hyperedge) {
        let (by_horizon, sequence) = match (hyperedge.horizon_hours, hyperedge.issued_at) {
            (Some(hours), _) => (true, -60 * i64::from(hours)),
            (None, Some(issued)) => (false, issued.as_second() / 60),
            (None, None) => continue,
        };
        let Some(phase) = domain.phase_rank(hyperedge.family) else { continue };
        let group = hyperedge.group.clone();
        found.insert(Cell { group, sequence, by_horizon, phase, family: hyperedge.base_family });
    }
    let mut rows = Rows::default();
    found.into_iter().for_each(|cell| rows.add(Row::Cell(cell), 1));
    rows
}

/// Cells of families that the causal rules name, with their changes.
pub fn places() -> Vec<Spec> {
    let mut pool = Vec::new();
    for sequence in [0, 60, 120] {
        for family in [1, 4, 6, 10, 11] {
            for change in [false, true] {
                for (storm, by_horizon) in [("AL01", true), ("AL01", false), ("AL02", true)] {
                    pool.push(Spec::Cell(Place { storm: storm.into(), sequence, by_horizon, family, change }));
                }
            }
        }
    }
    pool
}

/// The covering steps of all cells at once. That their closure is the one of the rules is checked against the definition of
/// these by `kernel/properties.rs`.
fn covering_steps(input: &Input, domain: &Domain) -> Rows {
    let cells: Vec<Cell> = standing!(input, Cell).map(|(cell, _)| cell.clone()).collect();
    let mut rows = Rows::default();
    rules(domain).covering(&cells).into_iter().for_each(|step| rows.add(Row::Precedence(Box::new(step)), 1));
    rows
}

/// Facts about one state with values nearer to each other than the tolerance, and further.
fn claims() -> Vec<Spec> {
    let mut pool = Vec::new();
    for value in [Some(50), Some(60), Some(52), None] {
        for (says, valid) in [(Says::State, None), (Says::Forecast, Some(48)), (Says::Probability, Some(48))] {
            for (doc, horizon) in [("a", None), ("b", None), ("a", Some(24))] {
                for issued in [Some(0), Some(6)] {
                    let (doc, storm) = (doc.into(), "AL01".into());
                    pool.push(Spec::Fact(Fact { doc, says, storm, issued, valid, horizon, value, ..Fact::default() }));
                }
            }
        }
    }
    pool
}

/// For each relation, state and attribute with a tolerance: the newest claim against every other that is further from it.
fn contradicted_values(input: &Input, domain: &Domain) -> Rows {
    type Claim = (Option<jiff::Timestamp>, hypercane_schemas::HyperedgeId, Value, Vec<hypercane_schemas::Provenance>);
    let mut claims: BTreeMap<(String, EntityKey, String), BTreeSet<Claim>> = BTreeMap::new();
    for ((_, hyperedge), _) in standing!(input, Hyperedge) {
        let Some(state) = hyperedge.members.iter().find(|member| member.entity.0.contains(":@")) else { continue };
        for attribute in &hyperedge.attributes {
            let key = (hyperedge.relation.clone(), state.entity.clone(), attribute.name.clone());
            let value = attribute.value.clone();
            let claim = (hyperedge.issued_at, hyperedge.id, value, hyperedge.provenance.clone());
            claims.entry(key).or_default().insert(claim);
        }
    }
    let mut rows = Rows::default();
    for ((relation, entity, attribute), claims) in claims {
        let tolerance = domain.attributes().get(&attribute).and_then(|attribute| attribute.conflict_tolerance);
        let (Some(tolerance), Some(newest)) = (tolerance, claims.last()) else { continue };
        let number = |claim: &Claim| claim.2.number.expect("these facts give numbers").0;
        let side = |claim: &Claim| ConflictSide {
            hyperedge: claim.1,
            value: claim.2.clone(),
            issued_at: claim.0,
            provenance: claim.3.clone(),
        };
        for other in claims.iter().filter(|other| (number(newest) - number(other)).abs() > tolerance.0) {
            let conflict = Conflict {
                kind: ConflictKind::Value,
                relation: relation.clone(),
                entity: entity.clone(),
                attribute: attribute.clone(),
                leading: side(newest),
                other: side(other),
            };
            rows.add(Row::Conflict(Box::new(conflict)), 1);
        }
    }
    rows
}
