//! The place of a hyperedge in its group's sequence (OKH-RAG 3.1, the index l).

use hypercane_schemas::Hyperedge;

/// Whether the place counts back from the reference event, and the place itself: minus the horizon in minutes where there
/// is a horizon, else the issue time in minutes since 1970; smaller is earlier. `None` where there is neither.
pub fn sequence(hyperedge: &Hyperedge) -> Option<(bool, i64)> {
    if let Some(hours) = hyperedge.horizon_hours {
        return Some((true, -i64::from(hours) * 60));
    }
    hyperedge.issued_at.map(|at| (false, at.as_second().div_euclid(60)))
}
