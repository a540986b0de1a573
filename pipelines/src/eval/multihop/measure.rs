//! Asking the questions of a set.

use std::{collections::BTreeSet, time::Instant};

use hypercane_operators::kernel::{
    passages::{Asked, First, PassageSettings, Scratch},
    rank::top,
};
use rayon::prelude::*;
use serde::Serialize;

use super::{Index, Mode, QuestionFacts, index::at, sets::Question};

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
    /// CPU seconds of making the mode's index, with those of the model for texts that were not on record.
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

/// The passages that one way of ranking puts first for a question, and what that took.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ranked {
    /// Passages by their place in the set, best first.
    pub passages: Vec<u32>,
    /// Milliseconds on one thread, without the embedding model.
    pub query_ms: f64,
}

/// Asks every question in these modes, of those that rank passages as they are ([`Mode::OF_PASSAGES`]).
pub fn measure(index: &Index, settings: &PassageSettings, modes: &[Mode]) -> Vec<(Mode, Vec<Ranked>)> {
    modes.iter().map(|mode| (*mode, measure_one(index, settings, *mode))).collect()
}

fn measure_one(index: &Index, settings: &PassageSettings, mode: Mode) -> Vec<Ranked> {
    let questions = &index.set.questions;
    (0..questions.len())
        .into_par_iter()
        .map_init(Scratch::default, |scratch, at| {
            let began = Instant::now();
            let asked = Asked::new(&questions[at].question, Some(index.questions[at].clone()), None);
            let passages = rank(index, &asked, settings, mode, scratch);
            Ranked { passages, query_ms: milliseconds(began) }
        })
        .collect()
}

/// The first passages of one mode, by their place in the set.
fn rank(index: &Index, asked: &Asked, settings: &PassageSettings, mode: Mode, scratch: &mut Scratch) -> Vec<u32> {
    let passages = &index.passages;
    let scan = passages.scan(asked);
    let first = match mode {
        Mode::Dense => scan.first(KEPT, |found| found.dense),
        Mode::Lexical => scan.first(KEPT, |found| found.lexical),
        Mode::Fused => scan.first(KEPT, |found| scan.best.fused(found, settings)),
        _ => {
            let first = First::of(scan, settings, settings.n_first(KEPT));
            let ranking = passages.rank(asked, &first, settings, KEPT, scratch);
            ranking.ranked.iter().map(|ranked| ranked.id).collect()
        }
    };
    first.into_iter().map(at).collect()
}

/// Milliseconds since then.
pub(super) fn milliseconds(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}

/// A ranking by evidence with the fused scores of passages, where these have a weight: the reciprocal of a passage's rank, 0
/// where it has none, and its fused score, weighed.
pub(super) fn with_fused(by_evidence: Vec<u32>, index: &Index, question: &QuestionFacts, weight: f64) -> Vec<u32> {
    if weight == 0.0 {
        return by_evidence;
    }
    let asked = Asked::new(&question.text, Some(question.vector.clone()), None);
    let mut scores = index.fused(&asked, &PassageSettings::default());
    scores.iter_mut().for_each(|fused| *fused *= weight);
    by_evidence.iter().zip(1u32..).for_each(|(passage, rank)| scores[*passage as usize] += 1.0 / f64::from(rank));
    top(&scores, KEPT).into_iter().map(|at| at as u32).collect()
}

impl Measured {
    /// The figures of rankings, one for each question of the set.
    pub fn new(index: &Index, ranked: &[Ranked], index_cpu_s: f64) -> Self {
        let questions = &index.set.questions;
        let n = questions.len().max(1) as f64;
        let query_ms = ranked.iter().map(|ranked| ranked.query_ms).sum::<f64>() / n;
        let mut figures = Self { query_ms, index_cpu_s, ..Self::default() };
        for (question, ranked) in questions.iter().zip(ranked) {
            let ranked = ids(index, ranked);
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
        }
        figures
    }
}

/// The rankings by ids, to be written.
pub fn rankings(index: &Index, mode: Mode, ranked: &[Ranked]) -> Vec<Ranking> {
    let of = |(question, ranked): (&Question, &Ranked)| {
        let ranking = ids(index, ranked).into_iter().take(KEPT).map(str::to_owned).collect();
        Ranking { set: index.set.name.clone(), mode, id: question.id.clone(), ranking }
    };
    index.set.questions.iter().zip(ranked).map(of).collect()
}

fn ids<'a>(index: &'a Index, ranked: &Ranked) -> Vec<&'a str> {
    ranked.passages.iter().map(|passage| index.set.passages[*passage as usize].id.as_str()).collect()
}
