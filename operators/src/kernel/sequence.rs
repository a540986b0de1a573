//! The place of a hyperedge in its group's sequence (OKH-RAG 3.1, the index l).

use hypercane_schemas::{Hyperedge, Origin};
use jiff::Timestamp;

/// Whether the place counts back from the reference event, and the place itself: minus the horizon in minutes where there
/// is a horizon, else the issue time in minutes since 1970; smaller is earlier. `None` where there is neither. A change
/// stands where the state before it does.
pub fn sequence(hyperedge: &Hyperedge) -> Option<(bool, i64)> {
    if let Some(hours) = hyperedge.horizon_hours {
        return Some((true, -i64::from(hours) * 60));
    }
    let stands_at = match hyperedge.origin {
        Origin::Synthesized => issued_before(hyperedge).or(hyperedge.issued_at),
        Origin::Extracted | Origin::Derived => hyperedge.issued_at,
    };
    stands_at.map(|at| (false, at.as_second().div_euclid(60)))
}

/// The issue time at the end of the key of the state before a change.
fn issued_before(change: &Hyperedge) -> Option<Timestamp> {
    let before = change.members.iter().find(|member| member.role == "before")?;
    let (_, issued_at) = before.entity.0.rsplit_once(":@")?;
    issued_at.parse().ok()
}
