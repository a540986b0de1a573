//! What was known at a moment.

use jiff::Timestamp;

/// Whether something was said by a moment. What has no time always was, and where no moment is given all was.
pub(super) fn said_by(issued_at: Option<Timestamp>, as_of: Option<Timestamp>) -> bool {
    issued_at.zip(as_of).is_none_or(|(issued_at, as_of)| issued_at <= as_of)
}
