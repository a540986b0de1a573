//! Waiting for brokers at the start: most often they are only restarting, or start later than we do.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::Error;

/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// Tries until it works, and says so while it does not. What brokers refuse, or what a person has to change, is an error
/// at once.
///
/// # Errors
/// An attempt failed for a reason that lasts.
pub fn patiently<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if error.is_transient() => {
                let waited_s = began.elapsed().as_secs();
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    waited_s,
                    "no broker can be used yet; trying again"
                );
                thread::sleep(PAUSE);
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, patiently};

    #[test]
    fn what_may_pass_is_waited_for_and_what_lasts_is_told() {
        let mut n_attempts = 0;
        let outcome = patiently(|| {
            n_attempts += 1;
            if n_attempts < 2 { Err(Error::transient("away")) } else { Ok(n_attempts) }
        });
        assert_eq!(outcome.unwrap(), 2);
        assert!(patiently(|| Err::<(), _>(Error::lasting("refused"))).unwrap_err().to_string().contains("refused"));
    }
}
