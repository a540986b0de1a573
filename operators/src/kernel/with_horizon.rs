//! The horizon of a hyperedge and its anchor among the members.

use hypercane_schemas::{EntityKey, Hyperedge, Member};

use super::inject_horizons::{anchor, inject_horizons, is_anchor};

/// The hyperedge with exactly the anchor of this horizon (OKH-RAG A.1), or with none.
pub fn with_horizon(hyperedge: &Hyperedge, horizon_hours: Option<i32>) -> Hyperedge {
    let mut labelled = hyperedge.clone();
    labelled.horizon_hours = horizon_hours;
    let own = horizon_hours.map(|hours| Member { entity: EntityKey(anchor(hours)), role: "horizon".into() });
    let is_anchor = |member: &Member| is_anchor(&member.entity.0);
    if own.is_none() {
        labelled.members.retain(|member| !is_anchor(member));
    }
    labelled.members = inject_horizons(labelled.members, own, is_anchor);
    labelled
}
