//! Enrich: what each document and query needs of the models, asked for and recorded before it is let in.
//!
//! A document enters the dataflow in one epoch with every vector that its facts will ask for, so that it is visible whole
//! or not at all; while a vector is missing, what stands under its key stays.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use hypercane_operators::{
    domain::Domain,
    extract,
    kernel::{self, Chunk},
};
use hypercane_schemas::{ContentHash, Document, Vector};
use rayon::prelude::*;

use crate::connect::{self, embed::Recorded};

/// Asks the models for what is missing.
pub struct Enricher {
    domain: Arc<Domain>,
    recorded: Arc<Recorded>,
    /// Texts whose vectors the dataflow has.
    given: HashSet<ContentHash>,
    /// Chunks whose texts are among them; they need not be read again.
    read: HashSet<u128>,
    /// Hears how many of how many vectors there are.
    watch: Watch,
}

/// Hears how many of how many texts have a vector.
pub type Watch = Box<dyn Fn(usize, usize) + Send>;

/// Texts that are asked for, and recorded, at a time.
const PART: usize = 256;

impl Enricher {
    /// An enricher that has given nothing yet.
    pub fn new(domain: Arc<Domain>, recorded: Arc<Recorded>) -> Self {
        Self { domain, recorded, given: HashSet::new(), read: HashSet::new(), watch: Box::new(|_, _| ()) }
    }

    /// Sets who hears of progress.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = watch;
    }

    /// The vectors that these documents and questions need and that were not given before.
    ///
    /// # Errors
    /// The model, or the record of its outputs, fails.
    pub async fn vectors<'a>(
        &mut self,
        documents: impl IntoIterator<Item = &'a Document>,
        questions: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<(ContentHash, Vector)>, connect::Error> {
        let documents: Vec<&Document> = documents.into_iter().collect();
        let (domain, before) = (&*self.domain, &self.read);
        let read: Vec<(u128, Vec<String>)> = documents
            .par_iter()
            .flat_map(|document| kernel::chunk(document, domain.chunks()))
            .map(|chunk| (chunk.content(), chunk))
            .filter(|(content, _)| !before.contains(content))
            .map(|(content, chunk)| (content, texts(&chunk, domain)))
            .collect();
        let (contents, texts): (Vec<u128>, Vec<Vec<String>>) = read.into_iter().unzip();
        let questions = questions.into_iter().map(str::to_owned);
        let mut missing: BTreeMap<ContentHash, String> = BTreeMap::new();
        for text in texts.into_iter().flatten().chain(questions) {
            let hash = kernel::embedded_as(&text);
            if !self.given.contains(&hash) {
                missing.entry(hash).or_insert(text);
            }
        }
        let (hashes, texts): (Vec<ContentHash>, Vec<String>) = missing.into_iter().unzip();
        if !texts.is_empty() {
            tracing::info!(texts = texts.len(), "asking for vectors");
        }
        let mut vectors = Vec::with_capacity(texts.len());
        // In parts, so that what is embedded is on record also when the process ends in the middle.
        for part in texts.chunks(PART) {
            vectors.extend(self.recorded.vectors(part).await?);
            (self.watch)(vectors.len(), texts.len());
        }
        self.given.extend(hashes.iter().copied());
        self.read.extend(contents);
        Ok(hashes.into_iter().zip(vectors).collect())
    }
}

/// The texts that a chunk's facts, and the chunk as a passage, are embedded under. One that can't be read needs none; it
/// becomes a reject.
fn texts(chunk: &Chunk, domain: &Domain) -> Vec<String> {
    let Ok(read) = extract::read_chunk(chunk, domain) else { return Vec::new() };
    let facts = read.extraction.facts.iter();
    let assertions = facts.filter_map(|fact| kernel::canonicalize(&chunk.document.key, &read, fact, domain).ok());
    let passage = read.passage.iter().flat_map(|(passage, _)| passage.texts());
    assertions.flat_map(|assertion| kernel::texts_to_embed(&assertion, domain)).chain(passage).collect()
}
