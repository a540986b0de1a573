//! Cases of sections A.2, A.3 and A.8: from a text to an ordered hypergraph, and its steps as text.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Cell, EntityKey, GroupKey, HyperedgeId, Rule};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{Case, family, horizon, list, string, strings, whole};
use crate::kernel;
use crate::kernel::{EvidenceStep, Match, Orderable, PrecedenceRules, Reach, Relations, Standpoint};

pub(crate) fn split_horizons(case: &Case<'_>) {
    let text = string(&case.input["text"]);
    let blocks = kernel::split_horizons(text);
    let given: Vec<_> = blocks.iter().map(|block| (block.span, block.horizon)).collect();
    let expected: Vec<_> = list(&case.expected["blocks"])
        .iter()
        .map(|block| {
            let span = hypercane_schemas::Span::new(whole(&block["start"]), whole(&block["end"]));
            (span, block["horizon"].as_u64().map(|hours| hours as u16))
        })
        .collect();
    assert_eq!(given, expected, "{}", case.name);
}

pub(crate) fn normalise_relation(case: &Case<'_>) {
    let vocabulary: BTreeMap<&str, u8> =
        list(&case.input["vocabulary"]).iter().map(|row| (string(&row["relation"]), family(&row["family"]))).collect();
    let aliases = list(&case.input["aliases"]).iter().map(|row| (string(&row["alias"]), string(&row["relation"])));
    let relations = Relations::new(vocabulary.keys().copied(), aliases, None).expect("a sound vocabulary");
    let labels = strings(&case.input["labels"]);
    let expected = list(&case.expected["results"]);
    assert_eq!(labels.len(), expected.len(), "{}", case.name);
    for (label, expected) in labels.into_iter().zip(expected) {
        let given = relations.normalise(label);
        assert_eq!(given.map(|(relation, _)| relation), expected["relation"].as_str(), "{}: {label}", case.name);
        let by = match given {
            Some((_, Match::Exact)) => "exact",
            Some((_, Match::Alias)) => "alias",
            Some((_, Match::Fuzzy)) => "fuzzy",
            None => "none",
        };
        assert_eq!(by, string(&expected["by"]), "{}: {label}", case.name);
        let its_family = given.map(|(relation, _)| u64::from(vocabulary[relation]));
        assert_eq!(its_family, expected["family"].as_u64(), "{}: {label}", case.name);
    }
}

pub(crate) fn inject_horizons(case: &Case<'_>) {
    if !case.expected["steps"].is_null() {
        return move_reference_times(case);
    }
    let mut anchors = BTreeSet::new();
    let expected = list(&case.expected["hyperedges"]);
    let hyperedges = list(&case.input["hyperedges"]);
    assert_eq!(hyperedges.len(), expected.len(), "{}", case.name);
    for (hyperedge, expected) in hyperedges.iter().zip(expected) {
        let own = horizon(&hyperedge["horizon"]).map(kernel::anchor);
        if let Some(anchor) = &own {
            anchors.insert((string(&hyperedge["group"]), anchor.clone()));
        }
        let entities = strings(&hyperedge["entities"]);
        let given = kernel::inject_horizons(entities, own.as_deref(), |key| kernel::is_anchor(key));
        assert_eq!(given, strings(&expected["entities"]), "{}: {}", case.name, hyperedge["id"]);
    }
    let expected: BTreeSet<(&str, String)> = list(&case.expected["anchors"])
        .iter()
        .map(|anchor| (string(&anchor["group"]), string(&anchor["anchor"]).into()))
        .collect();
    assert_eq!(anchors, expected, "{}", case.name);
}

fn move_reference_times(case: &Case<'_>) {
    let at = |hours: &Value| {
        let hours = hours.as_i64().expect("whole hours");
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    };
    for (references, expected) in list(&case.input["reference_hours"]).iter().zip(list(&case.expected["steps"])) {
        for (hyperedge, expected) in list(&case.input["hyperedges"]).iter().zip(list(expected)) {
            let reference_at = at(&references[string(&hyperedge["group"])]);
            let hours = kernel::hours_before(reference_at, at(&hyperedge["issued_hours"]));
            assert_eq!(kernel::anchor(hours), string(&expected["anchor"]), "{}", case.name);
        }
    }
}

/// A change edge as the cases show it.
type ShownChange<'a> = (&'a str, String, u8, i32, i32, String, Vec<String>);

pub(crate) fn synthesize_changes(case: &Case<'_>) {
    // The pack's relations of changes are the ones that the case names.
    let domain = crate::domain::cyclone();
    for (key, relation) in case.params["relations"].as_object().expect("a table") {
        let family = key.parse().unwrap_or(1);
        assert_eq!(domain.change_relation(family), relation.as_str(), "{}: family {key}", case.name);
    }
    let mut alive: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut before: BTreeSet<ShownChange<'_>> = BTreeSet::new();
    for (step, expected) in list(&case.input["steps"]).iter().zip(list(&case.expected["steps"])) {
        for id in strings(&step["delete"]) {
            alive.remove(id);
        }
        alive.extend(list(&step["insert"]).iter().map(|hyperedge| (string(&hyperedge["id"]), hyperedge)));
        let states = alive.values().flat_map(|hyperedge| {
            let key = |entity: &str| {
                let entity = EntityKey(entity.into());
                let is_state = kernel::is_state(&entity);
                is_state.then(|| (string(&hyperedge["group"]), entity.family().to_owned()))
            };
            let at = horizon(&hyperedge["horizon"]).map(Reverse);
            let families = strings(&hyperedge["entities"]).into_iter().filter_map(key).collect::<Vec<_>>();
            families.into_iter().filter_map(move |(group, entity_family)| {
                Some(((group, entity_family, family(&hyperedge["family"])), at?))
            })
        });
        let now: BTreeSet<ShownChange<'_>> = kernel::synthesize_changes(states)
            .into_iter()
            .map(|change| {
                let (group, entity_family, family) = change.key;
                let (Reverse(from), Reverse(to)) = (change.from, change.to);
                let state = |hours| format!("{entity_family}:{}", kernel::horizon_label(hours));
                let relation = domain.change_relation(family).expect("a relation");
                let states = vec![state(from), state(to)];
                (group, entity_family.clone(), family, from, to, relation.to_owned(), states)
            })
            .collect();
        let shown = |changes: &BTreeSet<ShownChange<'_>>| {
            changes.iter().map(|change| format!("{change:?}")).collect::<BTreeSet<_>>()
        };
        let read = |value| shown(&list(value).iter().map(read_change).collect());
        assert_eq!(shown(&now), read(&expected["changes"]), "{}: changes", case.name);
        let added = now.difference(&before).cloned().collect();
        assert_eq!(shown(&added), read(&expected["added"]), "{}: added", case.name);
        let removed = before.difference(&now).cloned().collect();
        assert_eq!(shown(&removed), read(&expected["removed"]), "{}: removed", case.name);
        before = now;
    }
}

fn read_change(change: &Value) -> ShownChange<'_> {
    let hours = |value| horizon(value).expect("a horizon");
    (
        string(&change["group"]),
        string(&change["entity_family"]).into(),
        family(&change["family"]),
        hours(&change["from"]),
        hours(&change["to"]),
        string(&change["relation"]).into(),
        strings(&change["entities"]).into_iter().map(String::from).collect(),
    )
}

pub(crate) fn dedupe(case: &Case<'_>) {
    let mut classes: BTreeMap<HyperedgeId, usize> = BTreeMap::new();
    let mut given = Vec::new();
    for hyperedge in list(&case.input["hyperedges"]) {
        let entities = strings(&hyperedge["entities"]);
        let id = HyperedgeId::of(string(&hyperedge["relation"]), entities, string(&hyperedge["text"]));
        let next = classes.len();
        given.push(*classes.entry(id).or_insert(next));
    }
    let expected: Vec<usize> = list(&case.expected["class_of"]).iter().map(whole).collect();
    assert_eq!(given, expected, "{}", case.name);
    assert_eq!(classes.len(), whole(&case.expected["distinct"]), "{}", case.name);
}

/// A hyperedge of a precedence case and its cell.
struct Placed<'a> {
    id: &'a str,
    hyperedge: &'a Value,
    cell: Option<Cell>,
    family: u8,
    base_family: u8,
}

fn place<'a>(rules: &PrecedenceRules, hyperedges: &'a Value) -> Vec<Placed<'a>> {
    let place = |hyperedge: &'a Value| {
        let own_family = family(&hyperedge["family"]);
        let change = &hyperedge["change"];
        let base_family = if change.is_null() { own_family } else { family(&change["family"]) };
        let horizon_hours = horizon(&hyperedge["horizon"]);
        let at = Standpoint { family: own_family, base_family, horizon_hours, issued_minutes: None };
        let cell = rules.cell(&GroupKey(string(&hyperedge["group"]).into()), at);
        Placed { id: string(&hyperedge["id"]), hyperedge, cell, family: own_family, base_family }
    };
    list(hyperedges).iter().map(place).collect()
}

/// The whole relation among the hyperedges of a case.
pub(crate) fn precedes_among<'a>(rules: &PrecedenceRules, hyperedges: &'a Value) -> BTreeSet<(&'a str, &'a str)> {
    let placed = place(rules, hyperedges);
    let cells: Vec<Cell> = placed.iter().filter_map(|placed| placed.cell.clone()).collect();
    let reach = Reach::new(rules, &cells);
    let mut pairs = BTreeSet::new();
    for a in &placed {
        for b in &placed {
            if let (Some(before), Some(after)) = (&a.cell, &b.cell)
                && reach.cell_precedes(before, after)
            {
                pairs.insert((a.id, b.id));
            }
        }
    }
    pairs
}

pub(crate) fn precedence(case: &Case<'_>) {
    let rules = case.rules();
    let placed = place(&rules, &case.input["hyperedges"]);
    let mut direct = BTreeSet::new();
    for a in &placed {
        for b in &placed {
            let (Some(before), Some(after)) = (&a.cell, &b.cell) else { continue };
            direct.extend(rules.between(before, after).map(|rule| (a.id, b.id, rule_name(rule))));
        }
    }
    let expected = list(&case.expected["direct"]);
    let expected = expected.iter().map(|pair| (string(&pair["before"]), string(&pair["after"]), string(&pair["rule"])));
    assert_eq!(direct, expected.collect(), "{}: direct pairs", case.name);

    // Cells in the form of the cases, where a hyperedge without a place has one too.
    let phases = case.phase_names();
    let shown = |Placed { hyperedge, family, base_family, .. }: &Placed<'_>| {
        (string(&hyperedge["group"]).to_string(), horizon(&hyperedge["horizon"]), phases[family], *base_family)
    };
    let cells: Vec<_> = list(&case.expected["cells"])
        .iter()
        .map(|cell| {
            (
                string(&cell["group"]).to_string(),
                horizon(&cell["horizon"]),
                string(&cell["phase"]),
                family(&cell["family"]),
            )
        })
        .collect();
    assert_eq!(placed.iter().map(shown).collect::<BTreeSet<_>>(), cells.iter().cloned().collect(), "{}", case.name);
    let cell_of: BTreeMap<&str, usize> =
        list(&case.expected["cell_of"]).iter().map(|row| (string(&row["id"]), whole(&row["cell"]))).collect();
    for placed in &placed {
        assert_eq!(shown(placed), cells[cell_of[placed.id]], "{}: {}", case.name, placed.id);
    }

    let reachable: BTreeSet<(usize, usize)> = precedes_among(&rules, &case.input["hyperedges"])
        .into_iter()
        .map(|(before, after)| (cell_of[before], cell_of[after]))
        .collect();
    let pair = |pair: &Value| (whole(&pair[0]), whole(&pair[1]));
    assert_eq!(reachable, list(&case.expected["reachable"]).iter().map(pair).collect(), "{}: closure", case.name);
}

fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::PhaseOrder => "phase_order",
        Rule::FamilyEvolution => "family_evolution",
        Rule::CausalChain => "causal_chain",
        Rule::FamilyToChange => "family_to_change",
    }
}

pub(crate) fn canonical_order(case: &Case<'_>) {
    let rules = case.rules();
    let mut groups: BTreeMap<&str, Vec<Orderable<&str>>> = BTreeMap::new();
    for placed in place(&rules, &case.input["hyperedges"]) {
        let item = Orderable {
            cell: placed.cell,
            phase: rules.phases[&placed.family],
            family: placed.base_family,
            position: whole(&placed.hyperedge["position"]) as u32,
            id: placed.id,
        };
        groups.entry(string(&placed.hyperedge["group"])).or_default().push(item);
    }
    let given: Vec<(&str, Vec<&str>)> = groups
        .iter()
        .map(|(&group, items)| {
            let order = kernel::canonical_order(&rules, items);
            (group, order.into_iter().map(|at| items[at].id).collect())
        })
        .collect();
    let mut expected: Vec<(&str, Vec<&str>)> =
        list(&case.expected["order"]).iter().map(|row| (string(&row["group"]), strings(&row["ids"]))).collect();
    expected.sort();
    assert_eq!(given, expected, "{}", case.name);
}

pub(crate) fn evidence(case: &Case<'_>) {
    let steps = list(&case.input["steps"]);
    let reasoning: Vec<Vec<&str>> = steps.iter().map(|step| strings(&step["reasoning"])).collect();
    let entities: Vec<Vec<(&str, &str)>> = steps
        .iter()
        .map(|step| list(&step["entities"]).iter().map(|it| (string(&it["name"]), string(&it["type"]))).collect())
        .collect();
    let steps: Vec<EvidenceStep<'_>> = steps
        .iter()
        .zip(reasoning.iter().zip(&entities))
        .map(|(step, (reasoning, entities))| EvidenceStep {
            horizon: horizon(&step["horizon"]),
            phase: string(&step["phase"]),
            family: string(&step["family"]),
            relation: string(&step["relation"]),
            text: string(&step["text"]),
            reasoning,
            entities,
        })
        .collect();
    assert_eq!(kernel::evidence(&steps), string(&case.expected["text"]), "{}", case.name);
}
