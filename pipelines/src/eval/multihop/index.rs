//! From a set to the index of its passages.

use std::sync::Arc;

use hypercane_operators::{
    Shared,
    domain::Domain,
    extract,
    extraction::Mention,
    kernel::{
        Chunk,
        passages::{Asked, Passage, PassageIndex, PassageSettings},
    },
};
use hypercane_schemas::{ContentHash, Vector};
use rayon::prelude::*;

use super::Set;
use crate::connect::{self, embed::Recorded};

/// Hears how many of how many texts have a vector.
pub type Watch = Box<dyn Fn(usize, usize) + Send>;

/// Texts that are asked for, and recorded, at a time.
const PART: usize = 512;

/// A set, ready to be asked.
pub struct Index {
    /// The set.
    pub set: Set,
    /// Its passages, each by its place in the set.
    pub passages: PassageIndex,
    /// The vectors of its questions, in the set's order.
    pub questions: Vec<Vector>,
    /// CPU seconds that it took to make it, with those of the model for texts that were not on record.
    pub cpu_seconds: f64,
    /// How many texts were embedded in all: passages and facts.
    pub n_texts: usize,
    /// What its passages say, in the set's order.
    pub(super) read: Vec<Read>,
}

/// What one passage says.
pub(super) struct Read {
    pub(super) facts: Vec<Fact>,
}

pub(super) struct Fact {
    pub(super) text: String,
    pub(super) mentions: Vec<Mention>,
}

impl Index {
    /// Reads the passages with the pack's extractor, embeds what is not on record, and joins all by what they name.
    ///
    /// # Errors
    /// The model, or the record of its outputs, fails.
    pub async fn new(
        set: Set,
        domain: &Arc<Domain>,
        recorded: &Recorded,
        watch: Watch,
    ) -> Result<Self, connect::Error> {
        let began = cpu_seconds();
        let both: Vec<(Passage, Read)> = set.passages.par_iter().map(|passage| read(passage, domain)).collect();
        let (mut whole, read): (Vec<Passage>, Vec<Read>) = both.into_iter().unzip();
        let texts: Vec<String> = whole.iter().flat_map(Passage::texts).collect();
        let mut vectors = vectors(recorded, &texts, &watch).await?.into_iter();
        for passage in &mut whole {
            passage.vector = vectors.next();
            passage.facts.iter_mut().for_each(|fact| fact.vector = vectors.next());
        }
        let mut passages = PassageIndex::new(domain.common_words().iter().cloned());
        passages.apply([], whole.into_iter().enumerate().map(|(at, passage)| (place(at), Shared::new(passage))));
        let (cpu_seconds, n_texts) = (cpu_seconds() - began, texts.len());
        let questions: Vec<String> = set.questions.iter().map(|question| question.question.clone()).collect();
        let questions = self::vectors(recorded, &questions, &watch).await?;
        Ok(Self { set, passages, questions, cpu_seconds, n_texts, read })
    }

    /// The fused score of every passage, in the set's order.
    pub(super) fn fused(&self, asked: &Asked, settings: &PassageSettings) -> Vec<f64> {
        let scan = self.passages.scan(asked);
        let mut fused = vec![0.0; self.set.passages.len()];
        scan.found.iter().for_each(|found| fused[at(found.id) as usize] = scan.best.fused(found, settings));
        fused
    }
}

/// The place in the set of a passage in the index.
pub(super) fn at(passage: ContentHash) -> u32 {
    passage.0 as u32
}

/// The identity of a passage in the index: its place in the set, since several may have one text.
fn place(at: usize) -> ContentHash {
    ContentHash(at as u128)
}

fn read(passage: &super::sets::Passage, domain: &Domain) -> (Passage, Read) {
    // A passage of a set is ranked as a whole, however long it is; its publisher is named beside it.
    let whole = Chunk { number: 0, document: passage.document(), start: 0, first_line: 1, overlap: 0 };
    let read = extract::read_chunk(&whole, domain).ok();
    let (read, facts) = read.map_or((None, Vec::new()), |read| (read.passage, read.extraction.facts));
    let read = read.map(|(read, _)| Passage::clone(&read));
    let facts = facts.into_iter().map(|fact| Fact { text: fact.text, mentions: fact.mentions }).collect();
    let unread = || Passage { title: passage.title.clone(), text: passage.text.clone(), ..Passage::default() };
    let names = passage.source.iter().cloned().collect();
    (Passage { names, ..read.unwrap_or_else(unread) }, Read { facts })
}

pub(super) async fn vectors(
    recorded: &Recorded,
    texts: &[String],
    watch: &Watch,
) -> Result<Vec<Vector>, connect::Error> {
    let mut vectors = Vec::with_capacity(texts.len());
    for part in texts.chunks(PART) {
        vectors.extend(recorded.vectors(part).await?);
        watch(vectors.len(), texts.len());
    }
    Ok(vectors)
}

/// CPU time of this process so far, in seconds.
pub(super) fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
