//! Scores of passages for a question.

use std::collections::BTreeMap;

use super::{PassageGraph, PassageSettings};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked<'a> {
    /// The question.
    pub question: &'a str,
    /// Its vector, of length one.
    pub vector: &'a [f32],
}

/// The scores of all passages, each part by itself. All but the first two are in the ranking as they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Cosine with the question.
    pub dense: Vec<f64>,
    /// BM25.
    pub lexical: Vec<f64>,
    /// Both, brought to \[0, 1\] and weighed.
    pub fused: Vec<f64>,
    /// With the titles that the question names, over the best.
    pub start: Vec<f64>,
    /// What the names of the first ones lead to, over the best.
    pub step: Vec<f64>,
    /// The logarithm of where the walk stands, brought to \[0, 1\].
    pub walk: Vec<f64>,
    /// All together.
    pub total: Vec<f64>,
}

/// The passages by a score, best first, at most `n`; equal scores by number.
pub fn best(scores: &[f64], n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let by_score = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
    if n < order.len() {
        order.select_nth_unstable_by(n, by_score);
        order.truncate(n);
    }
    order.sort_unstable_by(by_score);
    order
}

impl PassageGraph {
    /// Scores every passage for a question. It costs one product with all vectors of passages, the postings of the question's
    /// words, and a few passes over the edges between passages and names.
    ///
    /// # Panics
    /// The vector is of another length than those of the passages.
    pub fn scores(&self, asked: &Asked<'_>, settings: &PassageSettings) -> Scores {
        assert!(self.is_empty() || asked.vector.len() == self.n_dimensions, "vectors are of one model");
        let dense: Vec<f64> = match self.n_dimensions {
            0 => vec![0.0; self.n_passages],
            n => self.passages.chunks_exact(n).map(|vector| cosine(vector, asked.vector)).collect(),
        };
        let mut lexical = vec![0.0; self.n_passages];
        self.lexical.score(asked.question, |number, score| lexical[number as usize] += score);
        let (near, worded) = (to_unit(&dense), to_unit(&lexical));
        let share = settings.dense_share;
        let fused: Vec<f64> =
            near.iter().zip(&worded).map(|(near, worded)| share * near + (1.0 - share) * worded).collect();

        let mut asked_names: Vec<u32> = self.known.find(asked.question).into_iter().map(|(name, _)| name).collect();
        asked_names.sort_unstable();
        asked_names.dedup();
        let titled = over_best(self.titled(&asked_names, settings));
        let start = fused.iter().zip(&titled).map(|(fused, titled)| fused + settings.title_weight * titled).collect();
        let start = over_best(start);
        let step = over_best(self.step(&start, asked.vector, &asked_names, settings));
        let walk = self.walk(&start, &asked_names, settings);
        let walk = to_unit(&walk.iter().map(|stands| (stands + LEAST).ln()).collect::<Vec<_>>());
        let total = start.iter().zip(&step).zip(&walk);
        let total =
            total.map(|((start, step), walk)| start + settings.step_weight * step + settings.walk_weight * walk);
        let total = total.collect();
        Scores { dense, lexical, fused, start, step, walk, total }
    }

    /// How rare the names are that the question shares with each title.
    fn titled(&self, asked: &[u32], settings: &PassageSettings) -> Vec<f64> {
        let mut titled = vec![0.0; self.n_passages];
        for &name in asked {
            for &passage in &self.title_of[name as usize] {
                titled[passage as usize] += self.rarity[name as usize].powf(settings.title_rarity);
            }
        }
        titled
    }

    /// From the first passages over the names of the facts that fit the question to other passages. What the question
    /// itself names is left out: it led here.
    fn step(&self, start: &[f64], vector: &[f32], asked: &[u32], settings: &PassageSettings) -> Vec<f64> {
        let seeds = best(start, settings.seeds);
        let top = seeds.first().map_or(0.0, |seed| start[*seed as usize]);
        let weights: Vec<f64> =
            seeds.iter().map(|seed| ((start[*seed as usize] - top) / settings.temperature).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let mut followed: BTreeMap<u32, f64> = BTreeMap::new();
        for (seed, weight) in seeds.iter().zip(&weights) {
            for (name, fact) in &self.mentions[*seed as usize] {
                let fits = match fact {
                    Some(fact) => self.fact_cosine(*fact, vector).clamp(LEAST_FIT, 1.0),
                    None => FIT_OF_NO_FACT,
                };
                *followed.entry(*name).or_default() += weight / sum * fits.powf(settings.fact_relevance);
            }
        }
        let mut reached = vec![0.0; self.n_passages];
        for (name, weight) in followed.into_iter().filter(|(name, _)| asked.binary_search(name).is_err()) {
            let name = name as usize;
            let weight = weight * self.rarity[name].powf(settings.name_rarity);
            if self.n_with[name] as usize <= settings.hub_passages {
                self.mentioned_in[name].iter().for_each(|passage| reached[*passage as usize] += weight);
            }
            let titles = self.title_of[name].iter();
            titles.for_each(|passage| reached[*passage as usize] += weight * settings.title_edge);
        }
        reached
    }

    /// Where a walk stands that goes from a passage to one of its names, by rarity, and from a name to one of its passages,
    /// and restarts at the first passages and the names of the question (HyCE-RAG eq. 27 over passages and names). A step
    /// costs one addition an edge, without the edges of hubs.
    fn walk(&self, start: &[f64], asked: &[u32], settings: &PassageSettings) -> Vec<f64> {
        let top = start.iter().copied().fold(f64::MIN, f64::max);
        let mut restart: Vec<f64> = start.iter().map(|score| ((score - top) / settings.temperature).exp()).collect();
        restart.iter_mut().filter(|weight| **weight < LEAST_RESTART).for_each(|weight| *weight = 0.0);
        let at_names = if asked.is_empty() { 0.0 } else { settings.name_restarts };
        let sum: f64 = restart.iter().sum();
        restart.iter_mut().for_each(|weight| *weight *= (1.0 - at_names) / sum);
        let rarities: f64 = asked.iter().map(|name| self.rarity[*name as usize]).sum();
        let mut restart_names = vec![0.0; self.n_names()];
        asked.iter().for_each(|name| restart_names[*name as usize] = at_names * self.rarity[*name as usize] / rarities);

        let (mut passages, mut names) = (restart.clone(), restart_names.clone());
        let (mut next, mut next_names) = (vec![0.0; passages.len()], vec![0.0; names.len()]);
        for _ in 0..settings.walk_steps {
            for (name, mass) in names.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                let (mentions, titles) = (&self.mentioned_in[name], &self.title_of[name]);
                let share = mass / (mentions.len() as f64 + settings.title_edge * titles.len() as f64);
                // What would go along the mentions of a hub goes nowhere.
                if self.n_with[name] as usize <= settings.walk_hub_passages {
                    mentions.iter().for_each(|passage| next[*passage as usize] += share);
                }
                titles.iter().for_each(|passage| next[*passage as usize] += share * settings.title_edge);
            }
            for (passage, mass) in passages.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                let share = mass / self.rarity_sums[passage];
                for name in self.names[passage].iter().chain(&self.titles[passage]) {
                    next_names[*name as usize] += share * self.rarity[*name as usize];
                }
            }
            for (stands, restart, next) in
                [(&mut passages, &restart, &mut next), (&mut names, &restart_names, &mut next_names)]
            {
                for ((stands, restart), next) in stands.iter_mut().zip(restart).zip(next) {
                    *stands = (1.0 - settings.walk_on) * restart + settings.walk_on * *next;
                    *next = 0.0;
                }
            }
        }
        passages
    }

    fn fact_cosine(&self, fact: u32, vector: &[f32]) -> f64 {
        let at = fact as usize * self.n_dimensions;
        cosine(&self.facts[at..at + self.n_dimensions], vector)
    }
}

/// Passages where the walk does not come stand at this, so that the logarithm stays finite.
const LEAST: f64 = 1e-6;
/// Passages whose weight is a smaller share of the best one's are no start of the walk.
const LEAST_RESTART: f64 = 1e-3;
/// A fact that does not fit the question still leads a little.
const LEAST_FIT: f64 = 0.05;
/// What belongs to no fact leads as much as this.
const FIT_OF_NO_FACT: f64 = 0.1;

/// The cosine of vectors of length one, summed in eight lanes, so that it is the same bits everywhere.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let mut lanes = [0.0f32; 8];
    let (chunks, rest) = (a.chunks_exact(8), a.chunks_exact(8).remainder());
    for (x, y) in chunks.zip(b.chunks_exact(8)) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let tail: f32 = rest.iter().zip(b.chunks_exact(8).remainder()).map(|(x, y)| x * y).sum();
    f64::from(lanes.iter().sum::<f32>() + tail)
}

/// Scores brought to \[0, 1\]: the least 0, the best (nearly) 1.
fn to_unit(scores: &[f64]) -> Vec<f64> {
    let (least, best) = scores.iter().fold((f64::MAX, f64::MIN), |(least, best), s| (least.min(*s), best.max(*s)));
    scores.iter().map(|score| (score - least) / (best - least + 1e-9)).collect()
}

/// Scores over the best of them.
fn over_best(mut scores: Vec<f64>) -> Vec<f64> {
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    scores.iter_mut().for_each(|score| *score /= best + 1e-12);
    scores
}
