//! Asking the questions of a set.

use std::{collections::BTreeSet, time::Instant};

use hypercane_operators::kernel::passages::{Asked, First, PassageSettings, Scratch};
use hypercane_schemas::ContentHash;
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
    /// Milliseconds a question on one thread, without embedding it.
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
    modes.iter().map(|mode| measure_one(index, settings, *mode)).collect()
}

fn measure_one(index: &Index, settings: &PassageSettings, mode: Mode) -> (Mode, Measured, Vec<Ranking>) {
    let questions = &index.set.questions;
    let ranked: Vec<(Vec<ContentHash>, f64)> = (0..questions.len())
        .into_par_iter()
        .map_init(Scratch::default, |scratch, at| {
            let began = Instant::now();
            let asked = Asked::new(&questions[at].question, Some(index.questions[at].clone()), None);
            let ranked = rank(index, &asked, settings, mode, scratch);
            (ranked, began.elapsed().as_secs_f64() * 1e3)
        })
        .collect();
    let n = questions.len().max(1) as f64;
    let query_ms = ranked.iter().map(|(_, ms)| ms).sum::<f64>() / n;
    let mut figures = Measured { query_ms, index_cpu_s: index.cpu_seconds, ..Measured::default() };
    let mut rankings = Vec::new();
    for (question, (ranked, _)) in questions.iter().zip(&ranked) {
        let ranked: Vec<&str> = ranked.iter().map(|passage| index.id(*passage)).collect();
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
        rankings.push(Ranking { set: index.set.name.clone(), mode, id: question.id.clone(), ranking });
    }
    (mode, figures, rankings)
}

/// The first passages of one mode.
fn rank(
    index: &Index,
    asked: &Asked,
    settings: &PassageSettings,
    mode: Mode,
    scratch: &mut Scratch,
) -> Vec<ContentHash> {
    let passages = &index.passages;
    let scan = passages.scan(asked);
    match mode {
        Mode::Dense => scan.first(KEPT, |found| found.dense),
        Mode::Lexical => scan.first(KEPT, |found| found.lexical),
        Mode::Fused => scan.first(KEPT, |found| scan.best.fused(found, settings)),
        Mode::Spread => {
            let first = First::of(scan, settings, settings.n_first(KEPT));
            let ranking = passages.rank(asked, &first, settings, KEPT, scratch);
            ranking.ranked.iter().map(|ranked| ranked.id).collect()
        }
    }
}
