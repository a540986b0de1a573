//! Search for settings: one or a few of them changed at a time, kept where the sets come out better.

use hypercane_operators::kernel::{Lift, passages::PassageSettings};
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{EvidenceRun, Measured, ProofRun};

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

    /// Values of settings beyond the papers; they are tried where the search starts beyond them.
    const BEYOND: &'static [Choice<Self>] = &[];

    /// Whether a paper's mode has something that is not in the paper.
    fn is_beyond(&self) -> bool {
        false
    }
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

impl Tuned for EvidenceRun {
    const CHOICES: &'static [Choice<Self>] = &[
        (|run, x| run.settings.nearest_entities = x as usize, &[0.0, 1.0, 2.0, 5.0, 10.0]),
        (|run, x| run.settings.beta = x, &[0.0, 0.1, 0.2, 0.3, 0.5, 0.7]),
        (|run, x| run.settings.hyperedges = x as usize, &[15.0, 25.0, 50.0, 100.0, 200.0, 400.0]),
        (|run, x| run.settings.alpha = x, &[0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]),
        (|run, x| run.settings.lambda = x, &[0.1, 0.2, 0.3, 0.5, 0.7, 0.9]),
        (|run, x| run.settings.retained = x, &[0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04]),
        (|run, x| run.settings.weights.coverage = x, &[0.0, 0.05, 0.1, 0.2, 0.4]),
        (|run, x| run.settings.weights.propagation = x, &[0.0, 1.0, 4.0, 8.0, 16.0, 32.0, 64.0]),
        (|run, x| run.settings.weights.entry = x, &[0.0, 0.05, 0.1, 0.2, 0.4]),
    ];
    const BEYOND: &'static [Choice<Self>] = &[
        (|run, x| run.settings.lift.entry_rarity = x, &[0.0, 0.25, 0.5, 0.75, 1.0, 1.5]),
        (|run, x| run.settings.lift.relevance_power = x, &[0.0, 1.0, 2.0, 3.0, 4.0, 6.0]),
        (|run, x| run.settings.lift.retrieval_weight = x, &[0.0, 0.5, 1.0, 2.0, 4.0]),
        (|run, x| run.fused_weight = x, &[0.0, 0.5, 1.0, 2.0, 4.0]),
    ];

    fn is_beyond(&self) -> bool {
        self.fused_weight > 0.0 || self.settings.lift != Lift::default()
    }
}

impl Tuned for ProofRun {
    const CHOICES: &'static [Choice<Self>] = &[
        (|run, x| run.settings.seeds = x as usize, &[3.0, 5.0, 10.0, 20.0, 40.0]),
        (|run, x| run.settings.local_steps = x as usize, &[1.0, 2.0, 3.0]),
        (|run, x| run.settings.theta = x, &[0.0, 0.005, 0.01, 0.02, 0.05, 0.1]),
        (|run, x| run.settings.steps = x as u32, &[0.0, 1.0, 2.0, 3.0]),
        (|run, x| run.settings.alpha = x, &[0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]),
        (|run, x| run.settings.facts = x as usize, &[2.0, 3.0, 5.0, 8.0, 12.0]),
        (|run, x| run.settings.sub_queries = x as usize, &[1.0, 2.0, 3.0, 4.0, 5.0]),
    ];
    const BEYOND: &'static [Choice<Self>] = &[(|run, x| run.fused_weight = x, &[0.0, 0.5, 1.0, 2.0, 4.0])];

    fn is_beyond(&self) -> bool {
        self.fused_weight > 0.0
    }
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
    let beyond = if start.is_beyond() { S::BEYOND } else { &[] };
    let choices: Vec<&Choice<S>> = S::CHOICES.iter().chain(beyond).collect();
    let mut best = Trial { settings: start, score: worth(&start)? };
    heard(&best);
    for _ in 0..rounds {
        let mut settings = best.settings;
        for _ in 0..[1, 1, 2, 3][random.random_range(0..4)] {
            let (set, values) = choices[random.random_range(0..choices.len())];
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
