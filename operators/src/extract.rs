//! Extract: from chunks of documents to what they say.
//!
//! As if its input never changed: the extraction of every chunk that can be read, and a reject for every chunk, or part of
//! one, that can't. [`extract()`] reads by the grammars of the domain pack; [`extract_answered`] by what a language model
//! answered about a chunk, where one is [asked](is_asked_about). It keeps, for each text of a standing chunk, a reference to
//! what it says, which the next operator keeps too; `extract_answered` also the chunks and the answers. So a chunk is read
//! once: one that goes, or that an edit before it has moved in its document, is not read again.

use std::{collections::HashMap, sync::Arc};

use differential_dataflow::{AsCollection, Hashable};
use hypercane_schemas::{ContentHash, Diff, Document, DocumentKey, Epoch, Fixed, Reject, Span, Stage};
use serde::{Deserialize, Serialize};
use timely::{
    container::CapacityContainerBuilder,
    dataflow::{channels::pact::Exchange, operators::generic::operator::Operator},
};

use crate::{
    collection::{Collection, left_join, split_results},
    domain::Domain,
    extraction::{Extraction, Failure, Mention},
    grammar::{self, statements},
    kernel::{
        self, Chunk,
        passages::{Passage, PassageFact},
    },
    language_model,
    shared::Shared,
};

/// What a language model answered about a passage, as it was recorded.
pub type RecordedAnswer = Shared<Arc<str>>;

/// What a chunk of a document says, with what its facts inherit from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Extracted {
    /// The facts.
    pub extraction: Extraction,
    /// The chunk's number in the document.
    pub chunk: u32,
    /// The horizon that the chunk states.
    pub horizon_hours: Option<u16>,
    /// How far it is trusted.
    pub reliability: Fixed,
    /// The document that it replaces.
    pub supersedes: Option<DocumentKey>,
    /// The chunk as a passage, without vectors, and its place in the document; where the pack ranks passages.
    pub passage: Option<(Shared<Passage>, Span)>,
}

/// Reads one document: what each of its chunks says, or why it could not be read.
pub fn read(document: &Document, domain: &Domain) -> Vec<Result<Extracted, Failure>> {
    kernel::chunk(document, domain.chunks()).iter().map(|chunk| read_chunk(chunk, domain)).collect()
}

/// Reads one chunk by its grammar: what it says, and what follows from it alone. Places are those in the document. What
/// stands in the overlap alone is left to the chunk before.
///
/// # Errors
/// A text that is no product that is known, or breaks its form.
pub fn read_chunk(chunk: &Chunk, domain: &Domain) -> Result<Extracted, Failure> {
    let mut extraction =
        grammar::extract(&chunk.document, domain).map_err(|failure| Place::of(chunk).failure(failure))?;
    let derived = grammar::exposure::facts(&extraction, domain);
    extraction.facts.extend(derived);
    Ok(extracted(chunk, extraction, statements::is_name, domain))
}

/// Whether a language model that extracts is asked about a chunk: about any text but products of a grammar.
pub fn is_asked_about(chunk: &Chunk, domain: &Domain) -> bool {
    !chunk.document.text.trim().is_empty() && !grammar::is_product(&chunk.document, domain)
}

/// Reads one chunk by the answer of a language model, where one [is asked about it](is_asked_about); else as [`read_chunk`].
///
/// # Errors
/// There is no answer, or it is malformed; or as [`read_chunk`].
pub fn read_answered(chunk: &Chunk, answer: Option<&str>, domain: &Domain) -> Result<Extracted, Failure> {
    if !is_asked_about(chunk, domain) {
        return read_chunk(chunk, domain);
    }
    let extraction = match answer {
        Some(answer) => language_model::extraction(answer, chunk),
        None => Err(Failure { line: 1, reason: UNANSWERED.into() }),
    };
    let extraction = extraction.map_err(|failure| Place::of(chunk).failure(failure))?;
    Ok(extracted(chunk, extraction, language_model::is_name, domain))
}

/// What is told of a chunk without an answer. It follows from the record alone, so it does not say why there is none.
pub const UNANSWERED: &str = "the language model has not answered about this passage: its budget was used up, its endpoint \
     did not answer, or its outputs were not imported; the next start asks again, and so does `hypercane extract`";

/// The reject of a chunk without an answer.
pub fn unanswered(chunk: &Chunk) -> Reject {
    let failure = Failure { line: 1, reason: UNANSWERED.into() };
    reject(&chunk.document.key, &Place::of(chunk).failure(failure))
}

/// What was read in a chunk, with what it inherits, at its place in the document. `is_name` tells which mentions join the
/// chunk, as a passage, with others.
fn extracted(chunk: &Chunk, mut extraction: Extraction, is_name: fn(&Mention) -> bool, domain: &Domain) -> Extracted {
    let document = &chunk.document;
    extraction.facts.retain(|fact| fact.span.end > chunk.overlap);
    let passage = domain.ranks_passages().then(|| passage(document, &extraction, is_name));
    let mut read = Extracted {
        extraction,
        chunk: chunk.number,
        horizon_hours: document.horizon_hours,
        reliability: document.reliability,
        supersedes: document.supersedes.clone(),
        passage,
    };
    Place::of(chunk).put(&mut read);
    read
}

/// Where a chunk stands in its document, or how far it is from where it stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Place {
    number: u32,
    byte: i64,
    line: i64,
}

impl Place {
    fn of(chunk: &Chunk) -> Self {
        Self { number: chunk.number, byte: chunk.start.into(), line: i64::from(chunk.first_line) - 1 }
    }

    /// How what was read at another place gets to this one.
    fn from(self, other: Self) -> Self {
        Self { number: self.number, byte: self.byte - other.byte, line: self.line - other.line }
    }

    fn put(self, read: &mut Extracted) {
        let at = |byte: u32| (i64::from(byte) + self.byte) as usize;
        read.chunk = self.number;
        for fact in &mut read.extraction.facts {
            fact.span = Span::new(at(fact.span.start), at(fact.span.end));
        }
        if let Some((_, span)) = &mut read.passage {
            *span = Span::new(at(span.start), at(span.end));
        }
        for failure in &mut read.extraction.failures {
            *failure = self.failure(failure.clone());
        }
    }

    fn failure(self, failure: Failure) -> Failure {
        Failure { line: (i64::from(failure.line) + self.line) as u32, ..failure }
    }
}

/// The text of a chunk as a passage, and its place in it: the whole.
fn passage(document: &Document, extraction: &Extraction, is_name: fn(&Mention) -> bool) -> (Shared<Passage>, Span) {
    let facts = extraction.facts.iter().map(|fact| PassageFact {
        start: fact.span.start,
        end: fact.span.end,
        text: fact.text.clone(),
        vector: None,
        names: fact.mentions.iter().filter(|m| is_name(m)).map(|mention| mention.name.clone()).collect(),
    });
    let passage = Passage {
        title: document.title.clone().unwrap_or_default(),
        text: document.text.clone(),
        issued_at: extraction.issued_at.or(document.issued_at),
        facts: facts.collect(),
        ..Passage::default()
    };
    (Shared::new(passage), Span::new(0, document.text.len()))
}

/// What the chunks say, and what could not be read.
pub fn extract<'scope>(
    chunks: Collection<'scope, (DocumentKey, Shared<Chunk>)>,
    domain: Arc<Domain>,
) -> (Collection<'scope, (DocumentKey, Shared<Extracted>)>, Collection<'scope, Reject>) {
    let chunks = chunks.map(|(key, chunk)| (key, chunk, None));
    with_rejects(read_once(chunks, move |chunk, _| read_chunk(chunk, &domain)))
}

/// What the chunks say by the answers of a language model, and what could not be read. Answers stand under the hashes of
/// [passages](language_model::Passage::input), one under each.
pub fn extract_answered<'scope>(
    chunks: Collection<'scope, (DocumentKey, Shared<Chunk>)>,
    answers: Collection<'scope, (ContentHash, RecordedAnswer)>,
    domain: Arc<Domain>,
) -> (Collection<'scope, (DocumentKey, Shared<Extracted>)>, Collection<'scope, Reject>) {
    let asked = chunks.map(|(key, chunk)| (language_model::Passage::of(&chunk).input(), (key, chunk)));
    let answered = left_join(asked, answers).map(|(_, (key, chunk), answer)| (key, chunk, answer));
    // An answer that comes with its chunk, as most do, leaves no trace of the chunk without it.
    let answered = answered.consolidate();
    with_rejects(read_once(answered, move |chunk, answer| read_answered(chunk, answer, &domain)))
}

/// What a chunk of a document says, or why it could not be read.
type Read = Result<(DocumentKey, Shared<Extracted>), Box<(DocumentKey, Failure)>>;

fn with_rejects(
    read: Collection<'_, Read>,
) -> (Collection<'_, (DocumentKey, Shared<Extracted>)>, Collection<'_, Reject>) {
    let (extracted, failures) = split_results(read);
    let rejects = failures.map(|(key, failure)| reject(&key, &failure));
    let parts = extracted.clone().flat_map(|(key, chunk)| {
        chunk.extraction.failures.iter().map(|failure| reject(&key, failure)).collect::<Vec<_>>()
    });
    (extracted, rejects.concat(parts))
}

/// What a text says, or why it could not be read.
type Said = Result<Shared<Extracted>, Failure>;

/// A text that stands in chunks, and what it says where it stood last.
struct Known {
    said: Said,
    at: Place,
    count: Diff,
}

impl Known {
    /// What it says at a place.
    fn at(&mut self, place: Place) -> Said {
        if self.at != place {
            let moved = place.from(self.at);
            self.said = match &self.said {
                Ok(read) => {
                    let mut read = (**read).clone();
                    moved.put(&mut read);
                    Ok(Shared::new(read))
                }
                Err(failure) => Err(moved.failure(failure.clone())),
            };
            self.at = place;
        }
        self.said.clone()
    }
}

/// A chunk, and what was answered about it.
type Answered = (DocumentKey, Shared<Chunk>, Option<RecordedAnswer>);

/// What `read` gives for every chunk and its answer; it is called once for each text, as answered, as long as that stands.
fn read_once<'scope>(
    chunks: Collection<'scope, Answered>,
    mut read: impl FnMut(&Chunk, Option<&str>) -> Result<Extracted, Failure> + 'static,
) -> Collection<'scope, Read> {
    // What is known of a text is known where its document is.
    let by_key = Exchange::new(|((key, ..), ..): &(Answered, Epoch, Diff)| key.hashed());
    chunks
        .inner
        .unary_frontier::<CapacityContainerBuilder<Vec<_>>, _, _, _>(by_key, "Extract", |_capability, _info| {
            let mut known: HashMap<(u128, Option<RecordedAnswer>), Known> = HashMap::new();
            // Texts that no chunk has any more, unless one comes in the same epoch: an edit takes away and puts in.
            let mut left: Vec<(Epoch, (u128, Option<RecordedAnswer>))> = Vec::new();
            move |(input, frontier), output| {
                input.for_each(|capability, chunks| {
                    let mut session = output.session(&capability);
                    for ((key, chunk, answer), epoch, diff) in chunks.drain(..) {
                        let place = Place::of(&chunk);
                        let text = (chunk.content(), answer);
                        let known = known.entry(text.clone()).or_insert_with(|| Known {
                            said: read(&chunk, text.1.as_ref().map(|answer| &***answer)).map(Shared::new),
                            at: place,
                            count: 0,
                        });
                        known.count += diff;
                        if known.count == 0 {
                            left.push((epoch, text));
                        }
                        let said = match known.at(place) {
                            Ok(read) => Ok((key, read)),
                            Err(failure) => Err(Box::new((key, failure))),
                        };
                        session.give((said, epoch, diff));
                    }
                });
                left.retain(|(epoch, text)| {
                    let may_come_back = frontier.less_equal(epoch);
                    if !may_come_back && known.get(text).is_some_and(|known| known.count == 0) {
                        known.remove(text);
                    }
                    may_come_back
                });
            }
        })
        .as_collection()
}

fn reject(key: &DocumentKey, failure: &Failure) -> Reject {
    rejected("documents", &key.0, Stage::Extract, Some(failure.line), failure.reason.clone())
}

/// A reject for (a part of) a document, or for a query, that is itself kept.
pub(crate) fn rejected(topic: &str, key: &str, stage: Stage, line: Option<u32>, reason: String) -> Reject {
    let place = line.map(|line| line.to_string()).unwrap_or_default();
    Reject {
        id: ContentHash::of_parts([topic, key, &place, &reason]),
        topic: topic.into(),
        partition: None,
        offset: None,
        key: key.into(),
        stage,
        line,
        reason,
        payload_base64: String::new(),
    }
}

#[cfg(test)]
mod tests;
