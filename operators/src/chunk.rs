//! Chunk: from documents to the parts in which they are read.
//!
//! As if its input never changed: the chunks of every document. It keeps nothing in memory.

use std::sync::Arc;

use hypercane_schemas::{Document, DocumentKey};

use crate::{
    collection::Collection,
    domain::Domain,
    kernel::{self, Chunk},
    shared::Shared,
};

/// The chunks of the documents.
pub fn chunk<'scope>(
    documents: Collection<'scope, (DocumentKey, Shared<Document>)>,
    domain: Arc<Domain>,
) -> Collection<'scope, (DocumentKey, Shared<Chunk>)> {
    documents.flat_map(move |(key, document)| {
        let chunks = kernel::chunk(&document, domain.chunks()).into_iter();
        chunks.map(move |chunk| (key.clone(), Shared::new(chunk)))
    })
}
