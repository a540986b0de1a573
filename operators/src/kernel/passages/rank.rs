//! The ranking of passages for a question, with every part of each score.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{ContentHash, Vector};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AskedWords, First, Found, Passage, PassageIndex, PassageSettings, Scratch, coarse, index::RARITY_UNIT,
    scratch::Sparse,
};
use crate::kernel::{cosine_of_units, rank::keep_first, said_by};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: String,
    /// Its words.
    pub words: AskedWords,
    /// Its vector, of length one; `None` until it is recorded.
    pub vector: Option<Vector>,
    /// Passages that were first said later are not found and lead nowhere. How rare words and names are is counted over all.
    pub as_of: Option<Timestamp>,
}

impl Asked {
    /// A question with its vector.
    pub fn new(question: &str, vector: Option<Vector>, as_of: Option<Timestamp>) -> Self {
        Self { question: question.to_owned(), words: AskedWords::of(question), vector, as_of }
    }

    pub(super) fn may_find(&self, passage: &Passage) -> bool {
        said_by(passage.issued_at, self.as_of)
    }
}

/// A passage in a ranking. All parts but the first two are in the score as they stand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The passage.
    pub id: ContentHash,
    /// Cosine with the question.
    pub dense: f64,
    /// BM25.
    pub lexical: f64,
    /// Both over the best of each and weighed, with the titles that the question names, over the best.
    pub start: f64,
    /// What the names of the first ones lead to, over the best.
    pub step: f64,
    /// The logarithm of where the walk stands, brought to \[0, 1\].
    pub walk: f64,
    /// All together.
    pub total: f64,
}

/// What a ranking was worked out from, beside the first passages: what does not stand here has no part in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// Slots of passages whose names were followed, in order.
    pub(super) passages: Vec<u32>,
    /// Names whose passages were looked up, in order.
    pub(super) places: Vec<u32>,
    /// Names whose rarity counted, in order.
    pub(super) rarities: Vec<u32>,
}

impl Read {
    /// Puts everything in order, each once.
    fn sort(&mut self) {
        for numbers in [&mut self.passages, &mut self.places, &mut self.rarities] {
            numbers.sort_unstable();
            numbers.dedup();
        }
    }
}

/// A ranking with what it rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The passages, best first; equal ones by id.
    pub ranked: Vec<Ranked>,
    /// What it rests on.
    pub read: Read,
}

/// A question in the words of the index.
struct InIndex<'a> {
    asked: &'a Asked,
    /// The names that it names, in order.
    names: Vec<u32>,
    settings: &'a PassageSettings,
}

/// A passage that the question finds by itself, or by its title.
struct Start {
    found: Found,
    /// Its score, over the best.
    start: f64,
}

impl PassageIndex {
    /// The first `n` passages for a question, from those that it finds by itself, of which there must be as many as
    /// [`PassageSettings::n_first`] says, or all.
    ///
    /// It costs a few look-ups for each edge between passages and names that the walk comes along, and a product for every passage
    /// that may still be among the first `n`. It does not grow with the corpus, but with how closely what is asked is joined.
    pub fn rank(
        &self,
        asked: &Asked,
        first: &First,
        settings: &PassageSettings,
        n: usize,
        scratch: &mut Scratch,
    ) -> Ranking {
        let mut read = Read::default();
        let mut names: Vec<u32> = self.names.find(&asked.question).into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        read.rarities.extend(&names);
        let question = InIndex { asked, names, settings };
        let ranked = first.ranked(settings);
        // A passage that is not among the first finds no better fused score.
        let bound = ranked.last().map_or(0.0, |(_, fused)| *fused);
        let (starts, best) = self.starts(&question, first, ranked, &mut read);

        scratch.fit(self.held.len(), self.places.len());
        self.step(&starts, &question, scratch, &mut read);
        self.walk(&starts, &question, scratch, &mut read);
        read.sort();
        let names = read.passages.iter().filter_map(|slot| self.slot(*slot)).flat_map(|held| held.names_and_title());
        read.rarities.extend(names);
        let parts = Parts::new(scratch, settings);
        let mut ranked: Vec<Ranked> = starts.iter().map(|Start { found, start }| parts.ranked(found, *start)).collect();
        let known: BTreeSet<u32> = starts.iter().map(|start| start.found.slot).collect();
        keep_first(&mut ranked, n, |ranked| (ranked.total, &ranked.id));
        let least = if ranked.len() < n { f64::MIN } else { ranked.last().map_or(f64::MIN, |ranked| ranked.total) };

        // Others are looked at where they could still come in.
        let stepped_to = scratch.step.iter().filter(|(slot, _)| scratch.passages.get(*slot) == 0);
        for (slot, _) in scratch.passages.iter().chain(stepped_to).filter(|(slot, _)| !known.contains(slot)) {
            if parts.led_to(slot) + bound / best < least {
                continue;
            }
            if let Some(found) = self.fit(slot, asked) {
                ranked.push(parts.ranked(&found, first.best().fused(&found, settings) / best));
            }
        }
        scratch.clear();
        keep_first(&mut ranked, n, |ranked| (ranked.total, &ranked.id));
        read.sort();
        Ranking { ranked, read }
    }

    /// The first ones and those whose title the question names, best first, with the score that all are taken over.
    fn starts(
        &self,
        question: &InIndex<'_>,
        first: &First,
        ranked: Vec<(Found, f64)>,
        read: &mut Read,
    ) -> (Vec<Start>, f64) {
        let InIndex { asked, names, settings } = question;
        let mut titled: BTreeMap<u32, u64> = BTreeMap::new();
        for name in names {
            let places = &self.places[*name as usize];
            read.places.push(*name);
            let rarity = (places.rarity as f64 / RARITY_UNIT).powf(settings.title_rarity) * RARITY_UNIT;
            places.title_of.iter().for_each(|slot| *titled.entry(*slot).or_default() += rarity as u64);
        }
        let mut found: BTreeMap<u32, (Found, f64)> =
            ranked.into_iter().map(|(found, fused)| (found.slot, (found, fused))).collect();
        for slot in titled.keys() {
            if !found.contains_key(slot)
                && let Some(fit) = self.fit(*slot, asked)
            {
                found.insert(*slot, (fit, first.best().fused(&fit, settings)));
            }
        }
        titled.retain(|slot, _| found.contains_key(slot));
        let most = titled.values().copied().max().unwrap_or(0).max(1) as f64;
        let start = |(found, fused): (Found, f64)| {
            let titled = titled.get(&found.slot).map_or(0.0, |rarity| *rarity as f64 / most);
            Start { found, start: fused + settings.title_weight * titled }
        };
        let mut starts: Vec<Start> = found.into_values().map(start).collect();
        let n_starts = starts.len();
        keep_first(&mut starts, n_starts, |start| (start.start, &start.found.id));
        let best = starts.first().map_or(1.0, |start| start.start).max(LEAST);
        starts.iter_mut().for_each(|start| start.start /= best);
        (starts, best)
    }

    /// From the first passages over the names of the facts that fit the question to other passages. What the question
    /// itself names is left out: it led here.
    fn step(&self, starts: &[Start], question: &InIndex<'_>, scratch: &mut Scratch, read: &mut Read) {
        let InIndex { asked, names, settings } = question;
        let seeds = &starts[..settings.seeds.min(starts.len())];
        let weights: Vec<f64> = seeds.iter().map(|seed| restart_weight(seed, starts, settings)).collect();
        let sum: f64 = weights.iter().sum();
        let mut followed: BTreeMap<u32, u64> = BTreeMap::new();
        for (seed, weight) in seeds.iter().zip(&weights) {
            let Some(held) = self.slot(seed.found.slot) else { continue };
            read.passages.push(seed.found.slot);
            let fits: Vec<f64> = held
                .passage
                .facts
                .iter()
                .map(|fact| match (&fact.vector, &asked.vector) {
                    (Some(fact), Some(asked)) => cosine_of_units(&fact.0, &asked.0).clamp(LEAST_FIT, 1.0),
                    _ => LEAST_FIT,
                })
                .collect();
            for (name, fact) in &held.mentions {
                let fits = fact.map_or(FIT_OF_NO_FACT, |fact| fits[fact as usize]);
                *followed.entry(*name).or_default() += mass(weight / sum * fits.powf(settings.fact_relevance));
            }
        }
        for (name, weight) in followed.into_iter().filter(|(name, _)| names.binary_search(name).is_err()) {
            let places = &self.places[name as usize];
            read.places.push(name);
            read.rarities.push(name);
            // As a share of the rarest name's, so that masses stay below one.
            let rarity = (places.rarity as f64 / RARITY_UNIT / MOST_RARITY).powf(settings.name_rarity);
            self.lead(name, weight as f64 * rarity, settings.hub_passages, question, &mut scratch.step);
        }
    }

    /// Where a walk stands that goes from a passage to one of its names, by rarity, and from a name to one of its passages,
    /// and restarts at the first passages and the names of the question (HyCE-RAG eq. 27 over passages and names). What is
    /// less than the least share goes no further.
    fn walk(&self, starts: &[Start], question: &InIndex<'_>, scratch: &mut Scratch, read: &mut Read) {
        let InIndex { names, settings, .. } = question;
        let weights: Vec<(u32, f64)> = starts
            .iter()
            .take(settings.restarts)
            .map(|start| (start.found.slot, restart_weight(start, starts, settings)))
            .filter(|(_, weight)| *weight >= LEAST_RESTART)
            .collect();
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let at_names = if names.is_empty() { 0.0 } else { settings.name_restarts };
        let at_passages = weights.into_iter().map(|(slot, weight)| (slot, (1.0 - at_names) * weight / sum));
        let restarts: Vec<(u32, f64)> = at_passages.collect();
        let rarity = |name: u32| self.places[name as usize].rarity;
        let rarities: u64 = names.iter().map(|name| rarity(*name)).sum();
        let of_name = |name: &u32| (*name, at_names * rarity(*name) as f64 / rarities.max(1) as f64);
        let name_restarts: Vec<(u32, f64)> = names.iter().map(of_name).collect();

        let least = mass(settings.walk_least).max(1);
        let Scratch { passages, next_passages, names, next_names, .. } = scratch;
        restarts.iter().for_each(|(slot, share)| passages.add(*slot, mass(*share)));
        name_restarts.iter().for_each(|(name, share)| names.add(*name, mass(*share)));
        for _ in 0..settings.walk_steps {
            for (name, mass) in names.iter().filter(|(_, mass)| *mass >= least) {
                read.places.push(name);
                let places = &self.places[name as usize];
                let n_mentions = coarse(places.mentioned_in.len() as u64) as f64;
                let share = mass as f64 / (n_mentions + settings.title_edge * places.title_of.len() as f64);
                self.lead(name, share, settings.walk_hub_passages, question, next_passages);
            }
            for (slot, mass) in passages.iter().filter(|(_, mass)| *mass >= least) {
                if let Some(held) = self.slot(slot) {
                    read.passages.push(slot);
                    let sum: u64 = held.names_and_title().map(rarity).sum();
                    let share = mass as f64 / sum.max(1) as f64;
                    held.names_and_title().for_each(|name| next_names.add(name, (share * rarity(name) as f64) as u64));
                }
            }
            for (stands, next, restarts) in
                [(&mut *passages, &mut *next_passages, &restarts), (&mut *names, &mut *next_names, &name_restarts)]
            {
                stands.clear();
                next.scale(settings.walk_on);
                restarts.iter().for_each(|(place, share)| next.add(*place, mass((1.0 - settings.walk_on) * share)));
                std::mem::swap(stands, next);
            }
        }
    }

    /// From a name to the passages that mention it, unless it is a hub, and to those that it is the title of.
    fn lead(&self, name: u32, weight: f64, hub: usize, question: &InIndex<'_>, into: &mut Sparse) {
        let InIndex { asked, settings, .. } = question;
        let places = &self.places[name as usize];
        let is_found =
            |slot: &&u32| asked.as_of.is_none() || self.slot(**slot).is_some_and(|held| asked.may_find(&held.passage));
        // What would go along the mentions of a hub goes nowhere.
        if places.n_with <= hub {
            places.mentioned_in.iter().filter(is_found).for_each(|slot| into.add(*slot, weight as u64));
        }
        let to_title = (weight * settings.title_edge) as u64;
        places.title_of.iter().filter(is_found).for_each(|slot| into.add(*slot, to_title));
    }
}

/// The parts of scores that are read where the step and the walk stand.
struct Parts<'a> {
    scratch: &'a Scratch,
    settings: &'a PassageSettings,
    most_step: f64,
    most_walk: f64,
}

impl<'a> Parts<'a> {
    fn new(scratch: &'a Scratch, settings: &'a PassageSettings) -> Self {
        let (most_step, most_walk) = (scratch.step.most() as f64, log_share(scratch.passages.most()));
        Self { scratch, settings, most_step, most_walk }
    }

    fn step(&self, slot: u32) -> f64 {
        self.scratch.step.get(slot) as f64 / self.most_step.max(1.0)
    }

    fn walk(&self, slot: u32) -> f64 {
        log_share(self.scratch.passages.get(slot)) / self.most_walk.max(LEAST)
    }

    /// What a passage has of its score without its start.
    fn led_to(&self, slot: u32) -> f64 {
        self.settings.step_weight * self.step(slot) + self.settings.walk_weight * self.walk(slot)
    }

    fn ranked(&self, found: &Found, start: f64) -> Ranked {
        let (step, walk) = (self.step(found.slot), self.walk(found.slot));
        let total = start + self.led_to(found.slot);
        Ranked { id: found.id, dense: found.dense, lexical: found.lexical, start, step, walk, total }
    }
}

/// Shares of one as whole numbers, whose sums do not depend on their order.
const MASS_UNIT: f64 = (1u64 << 40) as f64;
/// Passages where the walk does not come stand at this, so that the logarithm stays finite.
const LEAST: f64 = 1e-6;
/// Passages whose weight is a smaller share of the best one's are no start of the walk.
const LEAST_RESTART: f64 = 1e-3;
/// A fact that does not fit the question still leads a little.
const LEAST_FIT: f64 = 0.05;
/// What belongs to no fact leads as much as this.
const FIT_OF_NO_FACT: f64 = 0.1;
/// Above the rarity of any name: the logarithm of more passages than there are numbers for.
const MOST_RARITY: f64 = 32.0;

fn mass(share: f64) -> u64 {
    (share * MASS_UNIT) as u64
}

/// How far above the least a share is, by its logarithm.
fn log_share(mass: u64) -> f64 {
    (mass as f64 / MASS_UNIT / LEAST + 1.0).ln()
}

/// The weight of a start against the best one's.
fn restart_weight(start: &Start, starts: &[Start], settings: &PassageSettings) -> f64 {
    let top = starts.first().map_or(0.0, |start| start.start);
    ((start.start - top) / settings.temperature).exp()
}
