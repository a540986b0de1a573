//! Waiting while the lake can't be written: a full disk, a read-only file system, a store that does not answer.

use std::{future::Future, time::Duration};

use super::{Error, Lake};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Lake {
    /// Tries to write until it works, and says so while it does not. Whoever waits for it reads nothing meanwhile, so the
    /// whole pipeline stops.
    ///
    /// # Errors
    /// It fails for a reason that does not pass.
    pub async fn patiently<T, F>(&self, mut write: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let mut pause = FIRST_PAUSE;
        loop {
            match write().await {
                Err(error) if error.is_transient() => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        retry_in = ?pause,
                        "the lake can't be written; reading stops until it can"
                    );
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Ok(written) => {
                    if pause > FIRST_PAUSE {
                        tracing::warn!(lake = self.storage.location, "the lake can be written again; reading goes on");
                    }
                    return Ok(written);
                }
                lasting => return lasting,
            }
        }
    }
}
