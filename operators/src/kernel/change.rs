//! Change hyperedges: what became different between two neighbouring states of one thing (OKH-RAG A.2 step 4).

use std::collections::BTreeMap;

use hypercane_schemas::{Attribute, EntityKey, Fixed, Hyperedge, HyperedgeId, Member, Origin, Provenance, Value};
use serde::{Deserialize, Serialize};

use super::synthesize_changes::synthesize_changes;
use crate::{domain::Domain, kernel, shared::Shared};

/// One hyperedge that mentions a state of the thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct State {
    /// The state.
    pub entity: EntityKey,
    /// The hyperedge.
    pub hyperedge: Shared<Hyperedge>,
}

/// The states of a thing, given with their places in the sequence, at each two neighbouring places: earlier place first, and
/// at a place by entity and hyperedge.
pub fn neighbouring_states(states: impl IntoIterator<Item = (i64, State)>) -> Vec<[Vec<State>; 2]> {
    let mut places: BTreeMap<i64, Vec<State>> = BTreeMap::new();
    for (sequence, state) in states {
        places.entry(sequence).or_default().push(state);
    }
    for place in places.values_mut() {
        place.sort_unstable_by(|a, b| (&a.entity, a.hyperedge.id).cmp(&(&b.entity, b.hyperedge.id)));
    }
    let neighbours = synthesize_changes(places.keys().map(|place| ((), *place)));
    neighbours.iter().map(|step| [&step.from, &step.to].map(|place| places[place].clone())).collect()
}

/// The change hyperedge between the states at two neighbouring places; `None` where either has none, or where the pack
/// has no word for changes of this family.
///
/// Its members are the two states, the persistent members that both sides share and the anchor of the 'before' horizon is
/// left out, as injection comes first. Its attributes give, for each value that differs, `NAME_from` and `NAME_to`, and for
/// numbers `NAME_by`. It is issued when the later state is; it stands at the earlier state's horizon.
pub fn change_hyperedge(
    entity_family: &str,
    family: u8,
    [before, after]: [&[State]; 2],
    domain: &Domain,
) -> Option<Hyperedge> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let (relation, change_family) = (domain.change_relation(family)?, domain.change_family()?);
    let family_name = domain.family(family).map_or("", |family| &family.name);
    let kind = Kind { relation, change_family, entity_family, family, family_name };
    Some(change(&kind, before, after))
}

/// What changes, and how that is said.
struct Kind<'a> {
    relation: &'a str,
    change_family: u8,
    entity_family: &'a str,
    family: u8,
    family_name: &'a str,
}

fn change(kind: &Kind<'_>, before: &[State], after: &[State]) -> Hyperedge {
    let Kind { relation, change_family, entity_family, family, .. } = *kind;
    let (from, to) = (&*before[0].hyperedge, &*after[0].hyperedge);
    let attributes = differences(&values(before), &values(after));
    let mut members: Vec<Member> = vec![
        Member { entity: before[0].entity.clone(), role: "before".into() },
        Member { entity: after[0].entity.clone(), role: "after".into() },
    ];
    let shared = from.members.iter().filter(|member| {
        !member.entity.is_anchor() && !kernel::is_state(&member.entity) && to.members.contains(member)
    });
    members.extend(shared.cloned());
    members.sort();
    let text = sentence(kind, from, to, &attributes);
    let mut provenance: Vec<Provenance> =
        before.iter().chain(after).flat_map(|state| state.hyperedge.provenance.iter().cloned()).collect();
    provenance.sort();
    provenance.dedup();
    let id = HyperedgeId::of(relation, members.iter().map(|member| member.entity.0.as_str()), &text);
    let confidence = before.iter().chain(after).map(|state| state.hyperedge.confidence).min().unwrap_or(Fixed::ONE);
    let embedded_as = kernel::embedded_as(&kernel::change_embedding_text(relation, entity_family));
    Hyperedge {
        id,
        family: change_family,
        base_family: family,
        relation: relation.into(),
        text,
        members,
        attributes,
        group: from.group.clone(),
        horizon_hours: from.horizon_hours,
        // Of all that it rests on, so that an answer as of some time cites nothing later.
        issued_at: before.iter().chain(after).filter_map(|state| state.hyperedge.issued_at).max(),
        valid_at: to.valid_at,
        confidence,
        relations: Vec::new(),
        provenance,
        origin: Origin::Synthesized,
        position: from.position,
        embedded_as,
    }
}

/// The attributes at one place; where several hyperedges give one, the first by state and id.
fn values(place: &[State]) -> BTreeMap<&str, &Value> {
    let mut values = BTreeMap::new();
    for state in place {
        for attribute in &state.hyperedge.attributes {
            values.entry(attribute.name.as_str()).or_insert(&attribute.value);
        }
    }
    values
}

fn differences(before: &BTreeMap<&str, &Value>, after: &BTreeMap<&str, &Value>) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    for (name, &to) in after {
        let Some(&from) = before.get(name) else { continue };
        let equal = match (from.number, to.number) {
            (Some(a), Some(b)) => a == b,
            _ => from == to,
        };
        if equal {
            continue;
        }
        attributes.push(Attribute { name: format!("{name}_from"), value: from.clone() });
        attributes.push(Attribute { name: format!("{name}_to"), value: to.clone() });
        if let (Some(a), Some(b)) = (from.number, to.number) {
            let by = Fixed(b.0.saturating_sub(a.0));
            let value = Value { number: Some(by), unit: to.unit.clone(), time: None, given: rounded(by).to_string() };
            attributes.push(Attribute { name: format!("{name}_by"), value });
        }
    }
    attributes.sort();
    attributes
}

/// To a tenth, half away from zero: a converted distance is shown as people write one; the attribute keeps what it is.
fn rounded(number: Fixed) -> Fixed {
    const TENTH: i64 = Fixed::SCALE / 10;
    let half = if number.0 < 0 { -TENTH / 2 } else { TENTH / 2 };
    Fixed(number.0.saturating_add(half) / TENTH * TENTH)
}

/// Longest text that is shown in the line, in bytes.
const LONGEST_SHOWN: usize = 60;

/// One self-standing line: what, from when to when, and each difference. It names the family and whether the states are
/// compared by horizon, since one thing may have states in several families and sequences, and each has its own changes.
fn sentence(kind: &Kind<'_>, from: &Hyperedge, to: &Hyperedge, attributes: &[Attribute]) -> String {
    let place = |hyperedge: &Hyperedge| match (hyperedge.horizon_hours, hyperedge.issued_at) {
        (_, Some(at)) => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        (Some(hours), None) => kernel::horizon_label(hours),
        (None, None) => "an unknown time".into(),
    };
    let shown = |value: &Value| match value.number {
        Some(number) if value.unit.is_empty() => rounded(number).to_string(),
        Some(number) => format!("{} {}", rounded(number), value.unit),
        None => value.given.clone(),
    };
    let by_horizon = if from.horizon_hours.is_some() { ", by horizon" } else { "" };
    let Kind { entity_family, family_name, .. } = kind;
    let mut text = format!("{family_name} of {entity_family} from {} to {}{by_horizon}:", place(from), place(to));
    let mut any = false;
    for pair in attributes.iter().filter(|attribute| attribute.name.ends_with("_to")) {
        let stem = pair.name.trim_end_matches("_to");
        let before = attributes.iter().find(|attribute| attribute.name.strip_suffix("_from") == Some(stem));
        if let Some(before) = before {
            // A long text would bury the rest; it stands in the attributes.
            if before.value.given.len().max(pair.value.given.len()) > LONGEST_SHOWN && pair.value.number.is_none() {
                any = true;
                text.push_str(&format!(" {} differs", stem.replace('_', " ")));
                continue;
            }
            let separator = if any { ";" } else { "" };
            text.push_str(&format!(
                "{separator} {} {} to {}",
                stem.replace('_', " "),
                shown(&before.value),
                shown(&pair.value)
            ));
            any = true;
        }
    }
    if !any {
        text.push_str(" unchanged");
    }
    text
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Fixed;

    use super::rounded;

    #[test]
    fn numbers_are_shown_to_a_tenth() {
        for (number, shown) in [(464.902_066, "464.9"), (-94.65, "-94.7"), (75.0, "75"), (0.04, "0"), (-0.05, "-0.1")] {
            assert_eq!(rounded(Fixed::from_f64(number)).to_string(), shown);
        }
    }
}
