//! Supersede: a correction replaces what it corrects.
//!
//! As if its input never changed: of the documents that are the same product, those with the largest correction number;
//! documents that are no product; minus every document that another one names as superseded. It keeps one entry a document.
//!
//! Two documents with the same product and the same correction number both stay: they support the same facts.

use hypercane_schemas::DocumentKey;

use crate::{collection::Collection, extract::Extracted, shared::Shared};

/// The extractions that count.
pub fn supersede<'scope>(
    extracted: Collection<'scope, (DocumentKey, Shared<Extracted>)>,
) -> Collection<'scope, (DocumentKey, Shared<Extracted>)> {
    let no_product = extracted.clone().filter(|(_, document)| document.extraction.product.is_none());
    // A document that names itself replaces its own last revision, which upsert has taken away.
    let named = extracted
        .clone()
        .flat_map(|(key, document)| document.supersedes.clone().filter(|named| *named != key))
        .distinct();
    let newest = extracted
        .flat_map(|(key, document)| {
            let product = document.extraction.product.as_ref()?;
            let identity = (product.kind.clone(), product.name.clone());
            Some((identity, (product.correction, key, document.clone())))
        })
        .reduce_named("Supersede", |_product, documents, output| {
            let last = documents.iter().map(|((correction, ..), _)| *correction).max();
            for ((correction, key, document), count) in documents {
                if Some(*correction) == last {
                    output.push(((key.clone(), document.clone()), *count));
                }
            }
        })
        .map(|(_product, document)| document);
    no_product.concat(newest).antijoin(named)
}
