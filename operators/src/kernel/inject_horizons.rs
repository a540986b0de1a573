//! Horizon anchors (OKH-RAG A.2 step 3): the label of a hyperedge's place before its group's reference event.
//!
//! A label is `T-48`, 48 whole hours before; `T-0`, the last hour before; `T+1`, the first hour after.

use jiff::Timestamp;

/// What every anchor's entity key begins with.
const ANCHOR: &str = "horizon:";

/// Whole hours from the issue to the reference event, rounded down, so that a label never claims more warning time than
/// there was; negative after the event.
pub fn hours_before(reference_at: Timestamp, issued_at: Timestamp) -> i32 {
    let seconds = reference_at.as_second() - issued_at.as_second();
    // Timestamps span 20,000 years, which is less than 2^31 hours.
    seconds.div_euclid(3600) as i32
}

/// The label of a horizon: `T-48`, `T-0`, `T+6`.
pub fn horizon_label(hours_before: i32) -> String {
    let sign = if hours_before < 0 { '+' } else { '-' };
    format!("T{sign}{}", hours_before.unsigned_abs())
}

/// Reads a label back.
pub fn parse_label(label: &str) -> Option<i32> {
    let digits = label.strip_prefix("T-").or_else(|| label.strip_prefix("T+"))?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours: i32 = digits.parse().ok()?;
    Some(if label.starts_with("T+") { -hours } else { hours })
}

/// The entity key of the anchor of a horizon: `horizon:T-48`.
pub fn anchor(hours_before: i32) -> String {
    format!("{ANCHOR}{}", horizon_label(hours_before))
}

/// Whether an entity key is that of a horizon anchor.
pub fn is_anchor(key: &str) -> bool {
    key.strip_prefix(ANCHOR).is_some_and(|label| parse_label(label).is_some())
}

/// The participants of a hyperedge with its anchor, sorted, each once. Another anchor goes, since a hyperedge has exactly
/// one (A.1). Without a horizon nothing comes or goes.
pub fn inject_horizons<M: Ord>(
    members: impl IntoIterator<Item = M>,
    own_anchor: Option<M>,
    is_anchor: impl Fn(&M) -> bool,
) -> Vec<M> {
    let mut members: Vec<M> = members.into_iter().collect();
    if let Some(own_anchor) = own_anchor {
        members.retain(|member| !is_anchor(member));
        members.push(own_anchor);
    }
    members.sort();
    members.dedup();
    members
}

#[cfg(test)]
mod tests {
    use super::{horizon_label, hours_before, is_anchor, parse_label};

    #[test]
    fn whole_hours_are_rounded_down() {
        let at = |text: &str| text.parse().unwrap();
        let landfall = at("2017-08-26T03:00:00Z");
        for (issued, hours, label) in [
            ("2017-08-24T03:00:00Z", 48, "T-48"),
            ("2017-08-24T03:30:00Z", 47, "T-47"),
            ("2017-08-26T02:30:00Z", 0, "T-0"),
            ("2017-08-26T03:00:00Z", 0, "T-0"),
            ("2017-08-26T03:30:00Z", -1, "T+1"),
            ("2017-08-26T09:00:00Z", -6, "T+6"),
        ] {
            assert_eq!(hours_before(landfall, at(issued)), hours);
            assert_eq!(horizon_label(hours), label);
            assert_eq!(parse_label(label), Some(hours));
        }
    }

    #[test]
    fn only_horizon_keys_are_anchors() {
        assert!(is_anchor("horizon:T-0") && is_anchor("horizon:T+12"));
        for key in ["horizon:", "horizon:T", "horizon:T--6", "horizon:48", "time:2017-08-25T03:00Z", "wind:T-48"] {
            assert!(!is_anchor(key), "{key}");
        }
    }
}
