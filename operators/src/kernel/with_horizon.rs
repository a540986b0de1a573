//! The horizon of a hyperedge and its anchor among the members.

use hypercane_schemas::{EntityKey, Hyperedge, Member};
use jiff::Timestamp;

/// Whole hours from the issue time to the reference time, rounded down; negative after the event.
pub fn horizon_hours(reference_at: Timestamp, issued_at: Timestamp) -> i32 {
    let seconds = reference_at.as_second() - issued_at.as_second();
    i32::try_from(seconds.div_euclid(3600)).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX })
}

/// The anchor's key: `horizon:T-48`, and `horizon:T+6` for six hours after the event.
pub fn horizon_anchor(horizon_hours: i32) -> EntityKey {
    let sign = if horizon_hours < 0 { '+' } else { '-' };
    EntityKey(format!("horizon:T{sign}{}", horizon_hours.unsigned_abs()))
}

/// The hyperedge with exactly the anchor of this horizon (OKH-RAG A.1), or with none.
pub fn with_horizon(hyperedge: &Hyperedge, horizon_hours: Option<i32>) -> Hyperedge {
    let mut labelled = hyperedge.clone();
    labelled.horizon_hours = horizon_hours;
    labelled.members.retain(|member| !member.entity.0.starts_with("horizon:"));
    if let Some(hours) = horizon_hours {
        labelled.members.push(Member { entity: horizon_anchor(hours), role: "horizon".into() });
        labelled.members.sort();
    }
    labelled
}

#[cfg(test)]
mod tests {
    use super::{horizon_anchor, horizon_hours};

    #[test]
    fn horizons_round_down_and_go_on_after_the_event() {
        let at = |text: &str| text.parse().unwrap();
        let landfall = at("2017-08-26T03:00Z");
        for (issued_at, hours, anchor) in [
            ("2017-08-24T03:00Z", 48, "horizon:T-48"),
            ("2017-08-26T03:00Z", 0, "horizon:T-0"),
            ("2017-08-25T15:01Z", 11, "horizon:T-11"),
            ("2017-08-26T03:01Z", -1, "horizon:T+1"),
        ] {
            assert_eq!(horizon_hours(landfall, at(issued_at)), hours, "{issued_at}");
            assert_eq!(horizon_anchor(hours).0, anchor);
        }
    }
}
