//! Enrich: what each document and query needs of the models, asked for and recorded before it is let in.
//!
//! A document enters the dataflow in one epoch with the answers of a language model about its chunks, where one extracts,
//! and with every vector that its facts will ask for, so that it is visible whole or not at all; while a vector is missing,
//! what stands under its key stays. A chunk for which the language model gives no answer does not keep its document: it is a
//! reject, and is asked about again by the next start.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    mem,
    sync::Arc,
};

use hypercane_operators::{
    domain::Domain,
    extract::{self, Extracted, RecordedAnswer},
    extraction::Failure,
    kernel::{self, Chunk, synonyms::may_have_synonyms},
    language_model::Passage,
    mentioned,
};
use hypercane_schemas::{ContentHash, Document, DocumentKey, Mode, Query, Vector};
use rayon::prelude::*;

use crate::{
    connect::{
        self,
        embed::Recorded,
        language_model::{Error, Extractor},
    },
    live::AnswerChange,
};

/// The models that a pipeline asks, each behind its record.
#[derive(Clone, Debug)]
pub struct Models {
    /// The embedding model.
    pub vectors: Arc<Recorded>,
    /// The language model, where one extracts.
    pub extractor: Option<Arc<Extractor>>,
}

impl From<Arc<Recorded>> for Models {
    /// Where the grammars of the domain pack extract.
    fn from(vectors: Arc<Recorded>) -> Self {
        Self { vectors, extractor: None }
    }
}

impl Models {
    /// The domain pack, read as these models have it.
    #[must_use]
    pub fn reading(&self, domain: Arc<Domain>) -> Arc<Domain> {
        if self.extractor.is_some() { Arc::new(Domain::clone(&domain).with_answers()) } else { domain }
    }
}

/// What the models give for an epoch, as far as no epoch before had it.
#[derive(Clone, Debug, Default)]
pub struct Enriched {
    /// Answers of the language model, by the hashes of passages.
    pub answers: Vec<AnswerChange>,
    /// Vectors, by the hashes of texts.
    pub vectors: Vec<(ContentHash, Vector)>,
}

/// Asks the models for what is missing.
pub struct Enricher {
    domain: Arc<Domain>,
    models: Models,
    /// Passages whose answers the dataflow has.
    answered: HashSet<ContentHash>,
    /// Chunks by the passages that have no answer, each once.
    unanswered: BTreeMap<ContentHash, HashMap<u128, Chunk>>,
    /// Whether they are to be asked about again.
    asks_again: bool,
    /// Rejects of chunks that count as unanswered, whatever is on record by now.
    withheld: HashSet<ContentHash>,
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
    pub fn new(domain: Arc<Domain>, models: impl Into<Models>) -> Self {
        Self {
            domain,
            models: models.into(),
            answered: HashSet::new(),
            unanswered: BTreeMap::new(),
            asks_again: false,
            withheld: HashSet::new(),
            given: HashSet::new(),
            read: HashSet::new(),
            watch: Box::new(|_, _| ()),
        }
    }

    /// Sets who hears of progress.
    pub fn watch(&mut self, watch: Watch) {
        self.watch = watch;
    }

    /// Takes chunks with these [rejects](extract::unanswered) for unanswered, so that what follows is what a lake holds which
    /// has these rejects.
    pub fn withhold(&mut self, rejects: HashSet<ContentHash>) {
        self.withheld = rejects;
    }

    /// From now on nothing is withheld, and what has no answer is asked about once more in the next epoch.
    pub fn ask_again(&mut self) {
        self.withheld.clear();
        self.asks_again = !self.unanswered.is_empty();
    }

    /// Forgets what has no answer in documents that go or are replaced.
    pub fn forget<'a>(&mut self, documents: impl IntoIterator<Item = &'a DocumentKey>) {
        if self.unanswered.is_empty() {
            return;
        }
        let gone: HashSet<&DocumentKey> = documents.into_iter().collect();
        self.unanswered.retain(|_, chunks| {
            chunks.retain(|_, chunk| !gone.contains(&chunk.document.key));
            !chunks.is_empty()
        });
    }

    /// Whether the next epoch asks about something again.
    pub fn asks_again(&self) -> bool {
        self.asks_again
    }

    /// How many passages are without an answer.
    pub fn n_unanswered(&self) -> usize {
        self.unanswered.len()
    }

    /// The answers and vectors that these documents and queries need and that were not given before.
    ///
    /// # Errors
    /// The embedding model fails, or the record of what the models gave.
    pub async fn enrich<'a>(
        &mut self,
        documents: impl IntoIterator<Item = &'a Document>,
        queries: impl IntoIterator<Item = &'a Query>,
    ) -> Result<Enriched, connect::Error> {
        let documents: Vec<&Document> = documents.into_iter().collect();
        let (domain, before) = (Arc::clone(&self.domain), &self.read);
        let mut chunks: Vec<(u128, Chunk)> = documents
            .par_iter()
            .flat_map(|document| kernel::chunk(document, domain.chunks()))
            .map(|chunk| (chunk.content(), chunk))
            .filter(|(content, _)| !before.contains(content))
            .collect();
        let (mut answers, mut answer_of) = (Vec::new(), HashMap::new());
        if let Some(extractor) = self.models.extractor.clone() {
            if mem::take(&mut self.asks_again) {
                chunks.extend(mem::take(&mut self.unanswered).into_values().flatten());
            }
            (answers, answer_of) = self.ask(&extractor, &mut chunks).await?;
        }
        let read: Vec<(u128, Vec<String>)> = chunks
            .par_iter()
            .map(|(content, chunk)| {
                let read = match self.models.extractor {
                    Some(_) => extract::read_answered(chunk, answer_of.get(content).map(|answer| &***answer), &domain),
                    None => extract::read_chunk(chunk, &domain),
                };
                (*content, texts(chunk, read, &domain))
            })
            .collect();
        let (contents, texts): (Vec<u128>, Vec<Vec<String>>) = read.into_iter().unzip();
        let queries: Vec<&Query> = queries.into_iter().collect();
        let asked = queries.par_iter().flat_map_iter(|query| texts_of_query(query, &domain));
        let asked: Vec<String> = asked.collect();
        let vectors = self.vectors(texts.into_iter().flatten().chain(asked)).await?;
        // What is not answered is read when it is.
        let unanswered: HashSet<u128> = self.unanswered.values().flat_map(HashMap::keys).copied().collect();
        self.read.extend(contents.into_iter().filter(|content| !unanswered.contains(content)));
        Ok(Enriched { answers, vectors })
    }

    /// Asks the language model about chunks. Those that waited for one of the answers join them. Gives what is new to the
    /// dataflow, and the answer of each chunk that has one.
    async fn ask(
        &mut self,
        extractor: &Extractor,
        chunks: &mut Vec<(u128, Chunk)>,
    ) -> Result<(Vec<AnswerChange>, HashMap<u128, RecordedAnswer>), connect::Error> {
        let none_is_withheld = self.withheld.is_empty();
        let is_withheld = |chunk: &Chunk| !none_is_withheld && self.withheld.contains(&extract::unanswered(chunk).id);
        let asked = chunks.iter().filter(|(_, chunk)| extract::is_asked_about(chunk, &self.domain));
        let (withheld, asked): (Vec<_>, Vec<_>) = asked.cloned().partition(|(_, chunk)| is_withheld(chunk));
        for (content, chunk) in withheld {
            self.unanswered.entry(Passage::of(&chunk).input()).or_default().insert(content, chunk);
        }
        let passages: Vec<Passage> = asked.iter().map(|(_, chunk)| Passage::of(chunk)).collect();
        let (mut new, mut answer_of) = (Vec::new(), HashMap::new());
        let mut failed: Option<(usize, Error)> = None;
        for ((content, chunk), answer) in asked.into_iter().zip(extractor.extract(&passages).await) {
            let answer = match answer {
                Ok(answer) => answer,
                Err(error @ (Error::Record(_) | Error::Settings(_))) => return Err(error.into()),
                Err(error) => {
                    self.unanswered.entry(Passage::of(&chunk).input()).or_default().insert(content, chunk);
                    failed = Some((failed.map_or(1, |(n, _)| n + 1), error));
                    continue;
                }
            };
            let text = RecordedAnswer::new(answer.text);
            if self.answered.insert(answer.input) {
                new.push((answer.input, 0, Some(text.clone())));
            }
            for (content, chunk) in self.unanswered.remove(&answer.input).into_iter().flatten() {
                answer_of.insert(content, text.clone());
                chunks.push((content, chunk));
            }
            answer_of.insert(content, text);
        }
        if let Some((n_chunks, error)) = failed {
            tracing::warn!(n_chunks, %error, "the language model gives no answer, these chunks are rejected");
        }
        Ok((new, answer_of))
    }

    /// The vectors of those texts of which none was given.
    async fn vectors(
        &mut self,
        texts: impl Iterator<Item = String>,
    ) -> Result<Vec<(ContentHash, Vector)>, connect::Error> {
        let mut missing: BTreeMap<ContentHash, String> = BTreeMap::new();
        for text in texts {
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
            vectors.extend(self.models.vectors.vectors(part).await?);
            (self.watch)(vectors.len(), texts.len());
        }
        self.given.extend(hashes.iter().copied());
        Ok(hashes.into_iter().zip(vectors).collect())
    }
}

/// The texts that a query is embedded under: its question and, where synonyms of what it names are looked for, these names.
pub fn texts_of_query(query: &Query, domain: &Domain) -> Vec<String> {
    let mut texts = vec![query.question.clone()];
    if query.mode == Mode::Evidence && domain.synonym_cosine().is_some() {
        let named = mentioned(&query.question, domain).into_iter();
        texts.extend(named.filter(|(key, name)| may_have_synonyms(key, name)).map(|(_, name)| name));
    }
    texts
}

/// The texts that a document's facts and passages, and the names in them, are embedded under, as the pack's extractor reads it.
pub fn texts_of_document(document: &Document, domain: &Domain) -> Vec<String> {
    let chunks = kernel::chunk(document, domain.chunks()).into_iter();
    chunks.flat_map(|chunk| texts(&chunk, extract::read_chunk(&chunk, domain), domain)).collect()
}

/// The texts that a chunk's facts, and the chunk as a passage, are embedded under. One that can't be read needs none; it
/// becomes a reject.
fn texts(chunk: &Chunk, read: Result<Extracted, Failure>, domain: &Domain) -> Vec<String> {
    let Ok(read) = read else { return Vec::new() };
    let facts = read.extraction.facts.iter();
    let assertions = facts.filter_map(|fact| kernel::canonicalize(&chunk.document.key, &read, fact, domain).ok());
    let passage = read.passage.iter().flat_map(|(passage, _)| passage.texts());
    assertions.flat_map(|assertion| kernel::texts_to_embed(&assertion, domain)).chain(passage).collect()
}
