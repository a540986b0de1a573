//! How many random histories are run and from which seed, by the environment. The tests of whole pipelines share it.

use std::{
    env,
    fmt::Debug,
    hash::{BuildHasher, RandomState},
    io::{self, Write as _},
    str::FromStr,
};

use proptest::test_runner::{Config, RngSeed};

/// A number from the environment, or what counts where there is none.
pub fn number<N: FromStr<Err: Debug>>(name: &str, default: N) -> N {
    match env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not `{value}`")),
        Err(_) => default,
    }
}

/// The seed of `LAWS_SEED`, by which a failure is run again; without it, another in each run.
pub fn seed() -> u32 {
    number("LAWS_SEED", RandomState::new().hash_one(0) as u32)
}

/// So many cases from a seed. A failure is kept as a session, not as a seed.
pub fn runner(n_cases: u32, seed: u64) -> Config {
    Config {
        cases: n_cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        max_shrink_iters: 1000,
        ..Config::default()
    }
}

/// Writes past the capture of the test harness, so that counts are seen when all is well too.
pub fn show(text: &str) {
    io::stderr().write_all(text.as_bytes()).unwrap();
}
