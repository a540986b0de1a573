//! Search for settings: one or a few of them changed at a time, kept where the sets come out better.

use hypercane_operators::kernel::passages::PassageSettings;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{Index, Mode, measure};

/// Settings that were better than those before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The settings.
    pub settings: PassageSettings,
    /// What they reach: R@5 and half of all@5 and R@2, as a mean over the sets.
    pub score: f64,
}

/// Values that are tried, by setting.
type Choice = (fn(&mut PassageSettings, f64), &'static [f64]);

const CHOICES: [Choice; 14] = [
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

/// Tries so many settings, from a seed, and hands every better one to `heard`; gives the best.
pub fn tune(
    indexes: &[Index],
    start: PassageSettings,
    rounds: usize,
    seed: u64,
    mut heard: impl FnMut(&Trial),
) -> Trial {
    let mut random = StdRng::seed_from_u64(seed);
    let mut best = Trial { settings: start, score: score(indexes, &start) };
    heard(&best);
    for _ in 0..rounds {
        let mut settings = best.settings;
        for _ in 0..[1, 1, 2, 3][random.random_range(0..4)] {
            let (set, values) = CHOICES[random.random_range(0..CHOICES.len())];
            set(&mut settings, values[random.random_range(0..values.len())]);
        }
        let trial = Trial { settings, score: score(indexes, &settings) };
        if trial.score > best.score {
            best = trial;
            heard(&best);
        }
    }
    best
}

fn score(indexes: &[Index], settings: &PassageSettings) -> f64 {
    let of = |index: &Index| {
        let measured = measure(index, settings, &[Mode::Spread]);
        measured.iter().map(|(_, m, _)| m.recall_5 + 0.5 * m.all_5 + 0.5 * m.recall_2).sum::<f64>()
    };
    indexes.iter().map(of).sum::<f64>() / indexes.len().max(1) as f64
}
