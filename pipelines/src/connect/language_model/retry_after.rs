//! The header `Retry-After`: seconds, or an HTTP date (RFC 9110, 10.2.3).

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};

/// How long to wait, where the header says so. A moment that has passed is no wait.
pub(super) fn parse(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = rfc2822::DateTimeParser::new().parse_timestamp(header).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Duration, parse};

    #[test]
    fn seconds_and_dates_are_read() {
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        let parsed = |header| parse(header, now);
        assert_eq!(parsed("7"), Some(Duration::from_secs(7)));
        assert_eq!(parsed(" Mon, 30 Nov 2026 12:00:20 GMT"), Some(Duration::from_secs(20)));
        assert_eq!(parsed("Mon, 30 Nov 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(parsed("soon"), None);
        assert_eq!(parsed("-1"), None);
    }
}
