//! Asking the questions of a set.

use std::{collections::BTreeSet, time::Instant};

use hypercane_operators::kernel::passages::{Asked, PassageSettings, best};
use rayon::prelude::*;
use serde::Serialize;

use super::{Index, Mode};

/// Passages of a ranking that are kept.
const KEPT: usize = 20;

/// The figures of one mode on one set, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct Measured {
    /// Mean share of the needed passages among the first two.
    #[serde(rename = "R@2")]
    pub recall_2: f64,
    /// Among the first five.
    #[serde(rename = "R@5")]
    pub recall_5: f64,
    /// Share of questions with every needed passage among the first five.
    #[serde(rename = "all@5")]
    pub all_5: f64,
    /// Mean share of the needed passages among the first ten.
    #[serde(rename = "R@10")]
    pub recall_10: f64,
    /// Milliseconds a question on one thread, without embedding it; all modes are scored at once, so it is that of all.
    pub query_ms: f64,
    /// CPU seconds of making the index, with those of the model for texts that were not on record.
    pub index_cpu_s: f64,
}

/// The passages that a mode ranks first for a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ranking {
    /// The set.
    pub set: String,
    /// The mode.
    pub mode: Mode,
    /// The question.
    pub id: String,
    /// Ids of passages, best first.
    pub ranking: Vec<String>,
}

/// Asks every question in these modes.
pub fn measure(index: &Index, settings: &PassageSettings, modes: &[Mode]) -> Vec<(Mode, Measured, Vec<Ranking>)> {
    let questions = &index.set.questions;
    let ranked: Vec<(Vec<Vec<u32>>, f64)> = (0..questions.len())
        .into_par_iter()
        .map(|at| {
            let began = Instant::now();
            let asked = Asked { question: &questions[at].question, vector: &index.questions[at].0 };
            let scores = index.graph.scores(&asked, settings);
            let of = |mode: &Mode| match mode {
                Mode::Dense => &scores.dense,
                Mode::Lexical => &scores.lexical,
                Mode::Fused => &scores.fused,
                Mode::Spread => &scores.total,
            };
            let ranked = modes.iter().map(|mode| best(of(mode), KEPT)).collect();
            (ranked, began.elapsed().as_secs_f64() * 1e3)
        })
        .collect();
    let n = questions.len().max(1) as f64;
    let query_ms = ranked.iter().map(|(_, ms)| ms).sum::<f64>() / n;
    let id = |passage: &u32| index.set.passages[*passage as usize].id.as_str();
    let mut measured = Vec::new();
    for (position, mode) in modes.iter().enumerate() {
        let mut figures = Measured { query_ms, index_cpu_s: index.cpu_seconds, ..Measured::default() };
        let mut rankings = Vec::new();
        for (question, (ranked, _)) in questions.iter().zip(&ranked) {
            let ranked: Vec<&str> = ranked[position].iter().map(id).collect();
            let needed: BTreeSet<&str> = question.supporting.iter().map(String::as_str).collect();
            let share = |k: usize| {
                let found = ranked.iter().take(k).filter(|id| needed.contains(*id)).count();
                100.0 * found as f64 / needed.len().max(1) as f64 / n
            };
            figures.recall_2 += share(2);
            figures.recall_5 += share(5);
            figures.recall_10 += share(10);
            let all = needed.iter().all(|id| ranked.iter().take(5).any(|found| found == id));
            figures.all_5 += if all { 100.0 / n } else { 0.0 };
            let ranking = ranked.into_iter().map(str::to_owned).collect();
            rankings.push(Ranking { set: index.set.name.clone(), mode: *mode, id: question.id.clone(), ranking });
        }
        measured.push((*mode, figures, rankings));
    }
    measured
}
