//! Search for settings: one or a few of them changed at a time, kept where the sets come out better.

use hypercane_operators::kernel::{ChainSettings, ProofSettings, passages::PassageSettings};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::Measured;

/// Settings that were better than those before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial<S> {
    /// The settings.
    pub settings: S,
    /// What they reach: R@5 and half of all@5 and R@2, as a mean over the sets.
    pub score: f64,
}

/// Settings that can be searched.
pub trait Tuned: Copy + 'static {
    /// Values that are tried, by setting.
    const CHOICES: &'static [Choice<Self>];
}

/// A setting, and its values that are tried.
pub type Choice<S> = (fn(&mut S, f64), &'static [f64]);

impl Tuned for PassageSettings {
    const CHOICES: &'static [Choice<Self>] = &[
        (|s, x| s.dense_share = x, &[0.3, 0.4, 0.5, 0.6, 0.7, 0.8]),
        (|s, x| s.title_weight = x, &[0.0, 0.1, 0.2, 0.3, 0.5, 0.8]),
        (|s, x| s.title_rarity = x, &[0.0, 0.5, 1.0]),
        (|s, x| s.seeds = x as usize, &[2.0, 3.0, 5.0, 8.0, 12.0]),
        (|s, x| s.temperature = x, &[0.03, 0.05, 0.1, 0.15, 0.25]),
        (|s, x| s.fact_relevance = x, &[0.0, 1.0, 2.0, 3.0]),
        (|s, x| s.name_rarity = x, &[0.0, 0.5, 1.0, 2.0]),
        (|s, x| s.title_edge = x, &[1.0, 2.0, 4.0, 8.0, 16.0]),
        (|s, x| s.hub_passages = x as usize, &[8.0, 16.0, 32.0, 64.0]),
        (|s, x| s.step_weight = x, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (|s, x| s.walk_weight = x, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2]),
        (|s, x| s.walk_on = x, &[0.3, 0.5, 0.6, 0.7, 0.8, 0.9]),
        (|s, x| s.name_restarts = x, &[0.1, 0.3, 0.5, 0.7, 0.9]),
        (|s, x| s.walk_steps = x as usize, &[4.0, 6.0, 8.0, 12.0]),
    ];
}

impl Tuned for ChainSettings {
    const CHOICES: &'static [Choice<Self>] = &[
        (|s, x| s.beta = x, &[0.0, 0.1, 0.2, 0.3, 0.5, 0.7]),
        (|s, x| s.hyperedges = x as usize, &[15.0, 25.0, 50.0, 100.0, 200.0]),
        (|s, x| s.alpha = x, &[0.1, 0.3, 0.5, 0.7, 0.9, 1.0]),
        (|s, x| s.lambda = x, &[0.1, 0.2, 0.3, 0.5, 0.7, 0.9]),
        (|s, x| s.retained = x, &[0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04]),
        (|s, x| s.weights.coverage = x, &[0.0, 0.05, 0.1, 0.2, 0.4]),
        (|s, x| s.weights.propagation = x, &[1.0, 4.0, 8.0, 16.0, 32.0]),
        (|s, x| s.weights.entry = x, &[0.0, 0.05, 0.1, 0.2, 0.4]),
    ];
}

impl Tuned for ProofSettings {
    const CHOICES: &'static [Choice<Self>] = &[
        (|s, x| s.seeds = x as usize, &[3.0, 5.0, 10.0, 20.0, 40.0]),
        (|s, x| s.local_steps = x as usize, &[1.0, 2.0, 3.0]),
        (|s, x| s.theta = x, &[0.0, 0.005, 0.01, 0.02, 0.05, 0.1]),
        (|s, x| s.steps = x as u32, &[0.0, 1.0, 2.0, 3.0]),
        (|s, x| s.alpha = x, &[0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]),
        (|s, x| s.facts = x as usize, &[2.0, 3.0, 5.0, 8.0, 12.0]),
        (|s, x| s.sub_queries = x as usize, &[1.0, 2.0, 3.0, 4.0, 5.0]),
    ];
}

/// Tries so many settings, from a seed, by what they are worth on the sets, and hands every better one to `heard`; gives the
/// best.
///
/// # Errors
/// What `worth` says.
pub fn tune<S: Tuned, E>(
    start: S,
    rounds: usize,
    seed: u64,
    mut worth: impl FnMut(&S) -> Result<f64, E>,
    mut heard: impl FnMut(&Trial<S>),
) -> Result<Trial<S>, E> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut best = Trial { settings: start, score: worth(&start)? };
    heard(&best);
    for _ in 0..rounds {
        let mut settings = best.settings;
        for _ in 0..[1, 1, 2, 3][random.random_range(0..4)] {
            let (set, values) = S::CHOICES[random.random_range(0..S::CHOICES.len())];
            set(&mut settings, values[random.random_range(0..values.len())]);
        }
        let trial = Trial { settings, score: worth(&settings)? };
        if trial.score > best.score {
            best = trial;
            heard(&best);
        }
    }
    Ok(best)
}

impl Measured {
    /// What settings are chosen by.
    pub fn worth(&self) -> f64 {
        self.recall_5 + 0.5 * self.all_5 + 0.5 * self.recall_2
    }
}
