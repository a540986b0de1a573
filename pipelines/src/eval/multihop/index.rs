//! From a set to the index of its passages.

use std::sync::Arc;

use hypercane_operators::{
    Shared,
    domain::Domain,
    extract,
    kernel::passages::{Passage, PassageIndex},
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
        let mut read: Vec<Passage> = set.passages.par_iter().map(|passage| read(passage, domain)).collect();
        let texts: Vec<String> = read.iter().flat_map(Passage::texts).collect();
        let mut vectors = vectors(recorded, &texts, &watch).await?.into_iter();
        for passage in &mut read {
            passage.vector = vectors.next();
            passage.facts.iter_mut().for_each(|fact| fact.vector = vectors.next());
        }
        let mut passages = PassageIndex::new(domain.common_words().iter().cloned());
        passages.apply([], read.into_iter().enumerate().map(|(at, passage)| (place(at), Shared::new(passage))));
        let (cpu_seconds, n_texts) = (cpu_seconds() - began, texts.len());
        let questions: Vec<String> = set.questions.iter().map(|question| question.question.clone()).collect();
        let questions = self::vectors(recorded, &questions, &watch).await?;
        Ok(Self { set, passages, questions, cpu_seconds, n_texts })
    }

    /// The id that the set gives a passage.
    pub fn id(&self, passage: ContentHash) -> &str {
        &self.set.passages[passage.0 as usize].id
    }
}

/// The identity of a passage in the index: its place in the set, since several may have one text.
fn place(at: usize) -> ContentHash {
    ContentHash(at as u128)
}

fn read(passage: &super::sets::Passage, domain: &Domain) -> Passage {
    // A passage of a set is one document of one chunk; its publisher is named beside it.
    let chunks = extract::read(&passage.document(), domain).into_iter().flatten();
    let read = chunks.filter_map(|chunk| chunk.passage).next().map(|(read, _)| Passage::clone(&read));
    let unread = || Passage { title: passage.title.clone(), text: passage.text.clone(), ..Passage::default() };
    Passage { names: passage.source.iter().cloned().collect(), ..read.unwrap_or_else(unread) }
}

async fn vectors(recorded: &Recorded, texts: &[String], watch: &Watch) -> Result<Vec<Vector>, connect::Error> {
    let mut vectors = Vec::with_capacity(texts.len());
    for part in texts.chunks(PART) {
        vectors.extend(recorded.vectors(part).await?);
        watch(vectors.len(), texts.len());
    }
    Ok(vectors)
}

/// CPU time of this process so far, in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
