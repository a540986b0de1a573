//! Extract: from documents to what they say.
//!
//! As if its input never changed: the extraction of every document that a grammar can read, and a reject for every
//! document, or part of one, that none can. It keeps nothing in memory: a document that goes is read once more to take
//! its rows back.

use std::sync::Arc;

use hypercane_schemas::{ContentHash, Document, DocumentKey, Fixed, Reject, Stage};
use serde::{Deserialize, Serialize};

use crate::{
    collection::{Collection, split_results},
    domain::Domain,
    extraction::{Extraction, Failure},
    grammar,
    shared::Shared,
};

/// What a document says, with what its facts inherit from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Extracted {
    /// The facts.
    pub extraction: Extraction,
    /// The horizon that the document states.
    pub horizon_hours: Option<u16>,
    /// How far it is trusted.
    pub reliability: Fixed,
    /// The document that it replaces.
    pub supersedes: Option<DocumentKey>,
}

/// Reads one document: what it says, and what follows from it alone.
///
/// # Errors
/// A text that is no product that is known, or breaks its form.
pub fn read(document: &Document, domain: &Domain) -> Result<Extracted, Failure> {
    let mut extraction = grammar::extract(document, domain)?;
    let derived = grammar::exposure::facts(&extraction, domain);
    extraction.facts.extend(derived);
    Ok(Extracted {
        extraction,
        horizon_hours: document.horizon_hours,
        reliability: document.reliability,
        supersedes: document.supersedes.clone(),
    })
}

/// What the documents say, and what could not be read.
pub fn extract<'scope>(
    documents: Collection<'scope, (DocumentKey, Shared<Document>)>,
    domain: Arc<Domain>,
) -> (Collection<'scope, (DocumentKey, Shared<Extracted>)>, Collection<'scope, Reject>) {
    let read = documents.map(move |(key, document)| match read(&document, &domain) {
        Ok(extracted) => Ok((key, Shared::new(extracted))),
        Err(failure) => Err(Box::new(reject(&key, &failure))),
    });
    let (extracted, rejects) = split_results(read);
    let parts = extracted.clone().flat_map(|(key, document)| {
        document.extraction.failures.iter().map(|failure| reject(&key, failure)).collect::<Vec<_>>()
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
