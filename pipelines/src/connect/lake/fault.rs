//! Places where a test can make the process die, as if it had been killed at that instant.
//!
//! Nothing happens unless the command was told so at its start: [`arm`] takes what the environment variable
//! `HYPERCANE_FAULT` holds, `NAME` or `NAME:N` for the N-th time the place is reached. `slow:MS` kills nothing: every write
//! to a table takes so many milliseconds longer.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// All places, in the order in which one commit passes them.
pub const PLACES: [&str; 6] = [
    "before_table_writes",
    "after_table_file",
    "after_table_write",
    "after_table_writes",
    "after_commit_file",
    "after_commit",
];

/// The places that a rewrite of files passes, in their order.
pub const REWRITE_PLACES: [&str; 2] = ["after_rewritten_file", "after_rewrite"];
/// The fault that makes writes slow.
const SLOW: &str = "slow";

struct Armed {
    place: String,
    remaining: AtomicU64,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Chooses the place at which this process aborts. A name that is no place is an error that lists them.
pub fn arm(spec: &str) -> Result<(), String> {
    let (place, count) = spec.split_once(':').unwrap_or((spec, "1"));
    let count = count.parse::<u64>().ok().filter(|&count| count > 0);
    let places = [&PLACES[..], &REWRITE_PLACES, &[SLOW]].concat();
    let (true, Some(count)) = (places.contains(&place), count) else {
        return Err(format!(
            "`{spec}` is no fault: give one of {}, with `:N` for the N-th time, or `slow:MS`",
            places.join(", ")
        ));
    };
    ARMED
        .set(Armed { place: place.into(), remaining: AtomicU64::new(count) })
        .map_err(|_| "a fault has been chosen already".to_string())
}

/// Waits here if writes are to be slow.
pub(super) async fn delay() {
    if let Some(armed) = ARMED.get().filter(|armed| armed.place == SLOW) {
        tokio::time::sleep(Duration::from_millis(armed.remaining.load(Ordering::Relaxed))).await;
    }
}

/// Dies here if this place was chosen.
pub(super) fn reach(place: &str) {
    let Some(armed) = ARMED.get().filter(|armed| armed.place == place) else { return };
    if armed.remaining.fetch_sub(1, Ordering::SeqCst) == 1 {
        std::process::abort();
    }
}
