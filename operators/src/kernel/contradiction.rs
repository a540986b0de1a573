//! Contradictions between what hyperedges say.

use hypercane_schemas::{
    Conflict, ConflictKind, ConflictSide, EntityKey, Fixed, Hyperedge, HyperedgeId, Provenance, Value,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{domain::Domain, kernel};

/// One value that a hyperedge gives of a state; newer issues sort last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Claim {
    /// When it was said.
    pub issued_at: Option<Timestamp>,
    /// The hyperedge.
    pub hyperedge: HyperedgeId,
    /// What it says.
    pub value: Value,
    /// Where it stands.
    pub provenance: Vec<Provenance>,
}

/// How far two values of this attribute may lie apart, in its canonical unit; `None` where the pack compares none.
pub fn conflict_tolerance(domain: &Domain, attribute: &str) -> Option<f64> {
    domain.attribute(attribute)?.conflict_tolerance.map(Fixed::to_f64)
}

/// The values of a hyperedge that could contradict another's, keyed by relation, state and attribute. A hyperedge of several
/// states speaks of the narrowest, the one with the longest key: the radii of 34 kt and of 64 kt share a forecast point, and
/// differ.
pub fn claims(hyperedge: &Hyperedge, domain: &Domain) -> Vec<((String, EntityKey, String), Claim)> {
    let states = hyperedge.members.iter().filter(|member| kernel::is_state(&member.entity));
    let narrowest = states.max_by_key(|state| (state.entity.0.len(), &state.entity));
    let checked = hyperedge
        .attributes
        .iter()
        .filter(|attribute| attribute.value.number.is_some() && conflict_tolerance(domain, &attribute.name).is_some());
    let checked: Vec<_> = checked.collect();
    narrowest
        .into_iter()
        .flat_map(|state| {
            checked.iter().map(|attribute| {
                let key = (hyperedge.relation.clone(), state.entity.clone(), attribute.name.clone());
                let claim = Claim {
                    issued_at: hyperedge.issued_at,
                    hyperedge: hyperedge.id,
                    value: attribute.value.clone(),
                    provenance: hyperedge.provenance.clone(),
                };
                (key, claim)
            })
        })
        .collect()
}

/// A conflict of the leading claim (the newest issue; then the largest id) with every other that lies further from it than
/// the tolerance.
pub fn contradictions(
    relation: &str,
    entity: &EntityKey,
    attribute: &str,
    claims: &[&Claim],
    tolerance: f64,
) -> Vec<Conflict> {
    let Some((leading, others)) = claims.split_last() else { return Vec::new() };
    let apart = |claim: &&&Claim| match (leading.value.number, claim.value.number) {
        // A billionth more, so that a difference of exactly the tolerance is none.
        (Some(a), Some(b)) => (a.to_f64() - b.to_f64()).abs() > tolerance + 1e-9,
        _ => false,
    };
    let side = |claim: &Claim| ConflictSide {
        hyperedge: claim.hyperedge,
        value: claim.value.clone(),
        issued_at: claim.issued_at,
        provenance: claim.provenance.clone(),
    };
    others
        .iter()
        .filter(apart)
        .map(|other| Conflict {
            kind: ConflictKind::Value,
            relation: relation.into(),
            entity: entity.clone(),
            attribute: attribute.into(),
            leading: side(leading),
            other: side(other),
        })
        .collect()
}

/// Horizons are whole hours, often of a rounded schedule; a statement this near is no contradiction.
const HORIZON_TOLERANCE_HOURS: i32 = 6;

/// The conflict of a stated horizon with the one that follows from issue time and reference time. The counted one leads.
pub fn order_contradiction(hyperedge: &Hyperedge, reference_at: Timestamp) -> Option<Conflict> {
    let stated = hyperedge.horizon_hours?;
    let counted = kernel::hours_before(reference_at, hyperedge.issued_at?);
    if stated.abs_diff(counted) <= HORIZON_TOLERANCE_HOURS.unsigned_abs() {
        return None;
    }
    let side = |hours: i32| ConflictSide {
        hyperedge: hyperedge.id,
        value: Value {
            number: Some(Fixed::from(hours)),
            unit: "h".into(),
            time: None,
            given: kernel::horizon_label(hours),
        },
        issued_at: hyperedge.issued_at,
        provenance: hyperedge.provenance.clone(),
    };
    Some(Conflict {
        kind: ConflictKind::Order,
        relation: hyperedge.relation.clone(),
        entity: EntityKey(kernel::anchor(stated)),
        attribute: "horizon_hours".into(),
        leading: side(counted),
        other: side(stated),
    })
}
