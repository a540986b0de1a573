//! The first ranking: what a question finds by itself, by meaning and by words.

use hypercane_schemas::ContentHash;

use super::{Asked, PassageIndex, PassageSettings, index::Held};
use crate::kernel::{
    cosine_of_units,
    rank::{in_ranking, keep_first},
};

/// Cosines are brought to \[0, 1\] from here: a text that has nothing to do with a question stands at about zero.
const LEAST_COSINE: f64 = 0.0;
/// What is divided by when nothing fits.
const LEAST_BEST: f64 = 1e-9;

/// How well a passage fits a question by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The passage.
    pub id: ContentHash,
    /// Its slot in the index.
    pub(super) slot: u32,
    /// Cosine with the question.
    pub dense: f64,
    /// BM25.
    pub lexical: f64,
}

/// The fit of every passage that a question may find.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// All of them.
    pub found: Vec<Found>,
    /// What scores are taken over.
    pub best: Best,
}

/// The best cosine and the best BM25 score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    dense: f64,
    lexical: f64,
}

impl Best {
    const NONE: Self = Self { dense: f64::MIN, lexical: 0.0 };

    fn with(self, found: &Found) -> Self {
        Self { dense: self.dense.max(found.dense), lexical: self.lexical.max(found.lexical) }
    }

    /// Cosine and BM25 over the best of each, weighed.
    pub fn fused(&self, found: &Found, settings: &PassageSettings) -> f64 {
        let near = (found.dense - LEAST_COSINE).max(0.0) / (self.dense - LEAST_COSINE).max(LEAST_BEST);
        let worded = found.lexical / self.lexical.max(LEAST_BEST);
        settings.dense_share * near + (1.0 - settings.dense_share) * worded
    }
}

impl Scan {
    /// The first passages by a score, best first; equal ones by id.
    pub fn first(&self, n: usize, score: impl Fn(&Found) -> f64) -> Vec<ContentHash> {
        let mut scored: Vec<(f64, ContentHash)> = self.found.iter().map(|found| (score(found), found.id)).collect();
        keep_first(&mut scored, n, |(score, id)| (*score, id));
        scored.into_iter().map(|(_, id)| id).collect()
    }
}

/// A score, and whose it is.
type Scored = (f64, ContentHash);

/// The first passages of a question, kept while others come and go.
///
/// It holds up to twice as many as are wanted, so that passages may go before all have to be looked at again.
#[derive(Clone, Debug, PartialEq)]
pub struct First {
    best: Best,
    /// A passage that has the best cosine, and one that has the best BM25 score; they need not be in the pool.
    holders: [Option<u32>; 2],
    /// Every passage that comes before `rest` by its fused score.
    pool: Vec<Found>,
    /// No passage outside comes before this; `None` where none is outside.
    rest: Option<Scored>,
    n_wanted: usize,
}

impl First {
    /// The first ones of all. Costs a product with every vector of a passage, and the postings of the question's words.
    pub fn new(index: &PassageIndex, asked: &Asked, settings: &PassageSettings, n_wanted: usize) -> Self {
        Self::of(index.scan(asked), settings, n_wanted)
    }

    /// The first ones of a scan.
    pub fn of(scan: Scan, settings: &PassageSettings, n_wanted: usize) -> Self {
        let Scan { found: mut pool, best } = scan;
        let holder = |has: &dyn Fn(&Found) -> bool| pool.iter().find(|found| has(found)).map(|found| found.slot);
        let holders = [holder(&|found| found.dense == best.dense), holder(&|found| found.lexical == best.lexical)];
        let rest = keep_first(&mut pool, 2 * n_wanted, |found| (best.fused(found, settings), &found.id));
        Self { best, holders, pool, rest, n_wanted }
    }

    /// What scores are taken over.
    pub fn best(&self) -> Best {
        self.best
    }

    /// The first ones, with their fused scores, best first.
    pub fn ranked(&self, settings: &PassageSettings) -> Vec<(Found, f64)> {
        let mut ranked: Vec<_> = self.pool.iter().map(|found| (*found, self.best.fused(found, settings))).collect();
        keep_first(&mut ranked, self.n_wanted, |(found, fused)| (*fused, &found.id));
        ranked
    }

    /// Takes passages out. Gives `None` where all have to be looked at again, else whether anything changed.
    pub(super) fn drop(&mut self, slots: &[u32]) -> Option<bool> {
        let before = self.pool.len();
        self.pool.retain(|found| !slots.contains(&found.slot));
        let lost_best = self.holders.iter().flatten().any(|holder| slots.contains(holder));
        let is_short = self.rest.is_some() && self.pool.len() < self.n_wanted;
        (!lost_best && !is_short).then_some(self.pool.len() < before)
    }

    /// Takes a passage in. Gives `None` where all have to be looked at again, else whether anything changed.
    pub(super) fn add(&mut self, found: Found, settings: &PassageSettings) -> Option<bool> {
        if self.best.with(&found) != self.best {
            return None;
        }
        let best = self.best;
        let fused = best.fused(&found, settings);
        if self.rest.is_some_and(|(score, id)| in_ranking((score, &id), (fused, &found.id)).is_lt()) {
            return Some(false);
        }
        self.pool.push(found);
        // What falls out of the pool comes before all that was outside.
        self.rest = keep_first(&mut self.pool, 2 * self.n_wanted, |found| (best.fused(found, settings), &found.id))
            .or(self.rest);
        Some(true)
    }
}

impl PassageIndex {
    /// How well every passage that the question may find fits it.
    pub fn scan(&self, asked: &Asked) -> Scan {
        let mut lexical = vec![0.0; self.held.len()];
        self.lexical.score(&asked.words, |slot, score| lexical[slot as usize] += score);
        let held = self.held.iter().zip(0..).filter_map(|(held, slot)| Some((held.as_ref()?, slot)));
        let visible = held.filter(|(held, _)| asked.may_find(&held.passage));
        let found: Vec<Found> = visible
            .map(|(held, slot)| Found { id: held.id, slot, dense: dense(held, asked), lexical: lexical[slot as usize] })
            .collect();
        let best = found.iter().fold(Best::NONE, |best, found| best.with(found));
        Scan { found, best }
    }

    /// How well one passage fits the question; `None` where the question may not find it.
    pub(super) fn fit(&self, slot: u32, asked: &Asked) -> Option<Found> {
        let held = self.slot(slot).filter(|held| asked.may_find(&held.passage))?;
        let lexical = self.lexical.score_of(&asked.words, slot);
        Some(Found { id: held.id, slot, dense: dense(held, asked), lexical })
    }
}

fn dense(held: &Held, asked: &Asked) -> f64 {
    match (&held.passage.vector, &asked.vector) {
        (Some(vector), Some(asked)) => cosine_of_units(&vector.0, &asked.0),
        _ => 0.0,
    }
}
