//! When an endpoint is left alone, so that nobody waits for what will not come.

use std::time::{Duration, Instant};

use super::Error;

/// After so many questions in a row for which the endpoint gave no answer at any try, it is left alone for a while: what is
/// asked meanwhile does not wait.
const MOST_UNAVAILABLE: usize = 4;
const LEFT_ALONE: Duration = Duration::from_mins(1);

/// What keeps from asking.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// What no further question can escape; until some moment, or for good.
    stopped: Option<(Error, Option<Instant>)>,
    /// Questions in a row for which the endpoint gave no answer.
    n_unavailable: usize,
}

impl Trouble {
    /// Why nothing is asked now, if so.
    pub(super) fn keeps_from_asking(&mut self) -> Option<Error> {
        if self.stopped.as_ref().is_some_and(|(_, until)| until.is_some_and(|until| until <= Instant::now())) {
            // The next question tries whether the endpoint is there again.
            self.stopped = None;
            self.n_unavailable = MOST_UNAVAILABLE - 1;
        }
        self.stopped.as_ref().map(|(error, _)| error.clone())
    }

    /// Notes what came of a question; gives the error where no further one is asked from now on.
    pub(super) fn note(&mut self, error: Option<&Error>) -> Option<Error> {
        self.n_unavailable = if error.is_some_and(Error::is_transient) { self.n_unavailable + 1 } else { 0 };
        let error = error?;
        let until = (self.n_unavailable >= MOST_UNAVAILABLE).then(|| Instant::now() + LEFT_ALONE);
        if self.stopped.is_some() || !error.is_for_all() && until.is_none() {
            return None;
        }
        self.stopped = Some((error.clone(), until));
        Some(error.clone())
    }
}
