//! Random choices that only depend on a seed.

use std::time::Duration;

use proptest::{
    prelude::Rng as _,
    test_runner::{RngAlgorithm, TestRng},
};

/// A source of random choices.
pub struct Dice(TestRng);

impl Dice {
    /// Equal seeds and names give equal choices.
    pub fn new(seed: u64, name: &str) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        for (idx, byte) in name.bytes().take(24).enumerate() {
            bytes[8 + idx] = byte;
        }
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// A whole number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end as u64) as usize
    }

    /// A number in [0, 1).
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.below(some.len())]
    }

    /// One of some, each with its weight.
    pub fn weighted<'a, T>(&mut self, some: &'a [(usize, T)]) -> &'a T {
        let mut left = self.below(some.iter().map(|(weight, _)| weight).sum());
        let chosen = some.iter().find(|(weight, _)| {
            let found = left < *weight;
            left = left.saturating_sub(*weight);
            found
        });
        &chosen.expect("the number is below the sum").1
    }

    /// A time up to `most`, of which each order of magnitude from 0.1 ms on is equally likely.
    pub fn delay(&mut self, most: Duration) -> Duration {
        let (least, most) = (1e-4_f64, most.as_secs_f64());
        Duration::from_secs_f64(least * (most / least).powf(self.share()))
    }
}
