//! How fast may be asked: token buckets for calls and for tokens, and the wish of an endpoint to be left alone.

use std::{
    num::NonZeroU32,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::time::Instant;

/// The buckets. Each holds what a second brings, so that no minute takes more than its share and that of one second.
#[derive(Debug)]
pub(super) struct Pace {
    calls: Option<Bucket>,
    tokens: Option<Bucket>,
    /// Tokens that were used and not waited for.
    owed: AtomicU64,
    /// No call before this.
    quiet_until: Mutex<Option<Instant>>,
}

impl Pace {
    pub(super) fn new(calls_per_minute: Option<u32>, tokens_per_minute: Option<u32>) -> Self {
        Self {
            calls: calls_per_minute.and_then(Bucket::new),
            tokens: tokens_per_minute.and_then(Bucket::new),
            owed: AtomicU64::new(0),
            quiet_until: Mutex::new(None),
        }
    }

    /// Waits until a call of so many tokens may start.
    pub(super) async fn wait(&self, tokens: u64) {
        if let Some(bucket) = &self.calls {
            bucket.take(1).await;
        }
        if let Some(bucket) = &self.tokens {
            bucket.take(tokens + self.owed.swap(0, Ordering::Relaxed)).await;
        }
        loop {
            let until = *self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                _ => return,
            }
        }
    }

    /// Counts what an answer had beyond its estimate; the next call waits for it.
    pub(super) fn owe(&self, tokens: u64) {
        self.owed.fetch_add(tokens, Ordering::Relaxed);
    }

    /// Starts no call for a while: the endpoint asked for that, and it holds for all.
    pub(super) fn be_quiet(&self, wait: Duration) {
        let Some(until) = Instant::now().checked_add(wait) else { return };
        let mut quiet = self.quiet_until.lock().unwrap_or_else(PoisonError::into_inner);
        *quiet = Some(quiet.map_or(until, |known| known.max(until)));
    }
}

#[derive(Debug)]
struct Bucket {
    limiter: DefaultDirectRateLimiter,
    size: NonZeroU32,
    /// Who waits, in turn: else one that wants little would overtake one that wants much, for ever.
    turn: tokio::sync::Mutex<()>,
}

impl Bucket {
    fn new(per_minute: u32) -> Option<Self> {
        let quota = Quota::per_minute(NonZeroU32::new(per_minute)?);
        let size = NonZeroU32::new(per_minute.div_ceil(60))?;
        let limiter = RateLimiter::direct(quota.allow_burst(size));
        Some(Self { limiter, size, turn: tokio::sync::Mutex::new(()) })
    }

    /// Takes any number, in pieces that the bucket can hold.
    async fn take(&self, count: u64) {
        let _turn = self.turn.lock().await;
        let mut left = count;
        while let Some(piece) = NonZeroU32::new(u32::try_from(left).unwrap_or(u32::MAX).min(self.size.get())) {
            // A piece is never larger than the bucket, which is the only error there is.
            let _ = self.limiter.until_n_ready(piece).await;
            left -= u64::from(piece.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, Pace};

    #[tokio::test]
    async fn calls_and_tokens_wait_for_their_buckets() {
        // 20 calls a second; 2,000 tokens a second.
        for (calls, tokens, each, n) in [(Some(1_200), None, 0, 28), (None, Some(120_000), 500, 8)] {
            let pace = Pace::new(calls, tokens);
            let start = Instant::now();
            for _ in 0..n {
                pace.wait(each).await;
            }
            // The first second's worth is there: 20 calls, 2,000 tokens; the rest takes 0.4 and 1 s.
            let least = if calls.is_some() { 350 } else { 900 };
            assert!(start.elapsed() >= Duration::from_millis(least), "{:?}", start.elapsed());
            assert!(start.elapsed() < Duration::from_secs(10));
        }
    }

    #[tokio::test]
    async fn a_wish_for_quiet_holds_for_all() {
        let pace = Pace::new(None, None);
        pace.be_quiet(Duration::from_millis(300));
        pace.be_quiet(Duration::from_millis(50));
        let start = Instant::now();
        futures::future::join(pace.wait(1), pace.wait(1)).await;
        assert!(start.elapsed() >= Duration::from_millis(300) && start.elapsed() < Duration::from_secs(5));
    }
}
