//! Extract: from chunks of documents to what they say.
//!
//! As if its input never changed: the extraction of every chunk that a grammar can read, and a reject for every chunk, or
//! part of one, that none can. It keeps nothing in memory: a chunk that goes is read once more to take its rows back.

use std::sync::Arc;

use hypercane_schemas::{ContentHash, Document, DocumentKey, Fixed, Reject, Span, Stage};
use serde::{Deserialize, Serialize};

use crate::{
    collection::{Collection, split_results},
    domain::Domain,
    extraction::{Extraction, Failure},
    grammar::{self, statements},
    kernel::{
        self, Chunk,
        passages::{Passage, PassageFact},
    },
    shared::Shared,
};

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
    kernel::chunk(document).iter().map(|chunk| read_chunk(chunk, domain)).collect()
}

/// Reads one chunk: what it says, and what follows from it alone. Places are those in the document.
///
/// # Errors
/// A text that is no product that is known, or breaks its form.
fn read_chunk(chunk: &Chunk, domain: &Domain) -> Result<Extracted, Failure> {
    let document = &chunk.document;
    let in_document = |failure: Failure| Failure { line: failure.line + chunk.first_line - 1, ..failure };
    let mut extraction = grammar::extract(document, domain).map_err(in_document)?;
    let derived = grammar::exposure::facts(&extraction, domain);
    extraction.facts.extend(derived);
    for fact in &mut extraction.facts {
        fact.span = Span::new((chunk.start + fact.span.start) as usize, (chunk.start + fact.span.end) as usize);
    }
    extraction.failures = extraction.failures.into_iter().map(in_document).collect();
    let passage = domain.ranks_passages().then(|| passage(chunk, &extraction));
    Ok(Extracted {
        extraction,
        chunk: chunk.number,
        horizon_hours: document.horizon_hours,
        reliability: document.reliability,
        supersedes: document.supersedes.clone(),
        passage,
    })
}

/// The chunk as a passage, and its place in the document.
fn passage(chunk: &Chunk, extraction: &Extraction) -> (Shared<Passage>, Span) {
    let document = &chunk.document;
    let facts = extraction.facts.iter().map(|fact| PassageFact {
        start: fact.span.start - chunk.start,
        end: fact.span.end - chunk.start,
        text: fact.text.clone(),
        vector: None,
        names: fact.mentions.iter().filter(|m| statements::is_name(m)).map(|mention| mention.name.clone()).collect(),
    });
    let passage = Passage {
        title: document.title.clone().unwrap_or_default(),
        text: document.text.clone(),
        issued_at: extraction.issued_at.or(document.issued_at),
        facts: facts.collect(),
        ..Passage::default()
    };
    let start = chunk.start as usize;
    (Shared::new(passage), Span::new(start, start + document.text.len()))
}

/// What the chunks say, and what could not be read.
pub fn extract<'scope>(
    chunks: Collection<'scope, (DocumentKey, Shared<Chunk>)>,
    domain: Arc<Domain>,
) -> (Collection<'scope, (DocumentKey, Shared<Extracted>)>, Collection<'scope, Reject>) {
    let read = chunks.map(move |(key, chunk)| match read_chunk(&chunk, &domain) {
        Ok(extracted) => Ok((key, Shared::new(extracted))),
        Err(failure) => Err(Box::new(reject(&key, &failure))),
    });
    let (extracted, rejects) = split_results(read);
    let parts = extracted.clone().flat_map(|(key, chunk)| {
        chunk.extraction.failures.iter().map(|failure| reject(&key, failure)).collect::<Vec<_>>()
    });
    (extracted, rejects.concat(parts))
}

fn reject(key: &DocumentKey, failure: &Failure) -> Reject {
    rejected(key, Stage::Extract, Some(failure.line), failure.reason.clone())
}

/// A reject for (a part of) a document that is itself kept.
pub(crate) fn rejected(key: &DocumentKey, stage: Stage, line: Option<u32>, reason: String) -> Reject {
    let place = line.map(|line| line.to_string()).unwrap_or_default();
    Reject {
        id: ContentHash::of_parts(["documents", &key.0, &place, &reason]),
        topic: "documents".into(),
        partition: None,
        offset: None,
        key: key.0.clone(),
        stage,
        line,
        reason,
        payload_base64: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hypercane_schemas::Document;

    use super::read;
    use crate::{domain, kernel};

    #[test]
    fn a_scenario_is_read_part_by_part_under_the_horizons_of_its_headers() {
        let domain = domain::cyclone();
        let text = "Notes of the harbour master\n\
                    T-48 hours before landfall:\nPort Condition WHISKEY is set for the Port of Houston.\n\
                    T-24 hours before landfall:\nPort Condition ZULU is set for the Port of Houston.\n\
                    T-12 hours before landfall:\nPort Condition ZULU is set for the Port of Houston.\n";
        let document = Document::plain("scenario", text);
        let mut ids = BTreeSet::new();
        let (mut read_as, mut unread) = (Vec::new(), Vec::new());
        for chunk in read(&document, &domain) {
            match chunk {
                Ok(chunk) => {
                    for fact in &chunk.extraction.facts {
                        let assertion = kernel::canonicalize(&document.key, &chunk, fact, &domain).unwrap();
                        let place = &assertion.hyperedge.provenance[0];
                        assert!(text[place.span.start as usize..place.span.end as usize].contains("Port Condition"));
                        ids.insert(assertion.id);
                        read_as.push((place.chunk, assertion.hyperedge.horizon_hours));
                    }
                }
                Err(failure) => unread.push(failure.line),
            }
        }
        assert_eq!(unread, [1], "the words before the first header are no product");
        assert_eq!(read_as, [(1, Some(48)), (2, Some(24)), (3, Some(12))]);
        assert_eq!(ids.len(), 3, "what holds under two horizons is two facts");
    }

    #[test]
    fn a_part_that_is_no_product_is_told_with_its_line() {
        let text = "T-48 hours before landfall:\n\nPort Condition WHISKEY is set for the Port of Houston.\n\
                    T-24 hours before landfall:\nNothing that is known.\n";
        let chunks = read(&Document::plain("scenario", text), &domain::cyclone());
        let failure = chunks[1].as_ref().unwrap_err();
        assert!(chunks[0].is_ok() && failure.line == 5, "{failure:?}");
    }
}
