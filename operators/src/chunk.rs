//! Chunk: from documents to the parts in which they are read.
//!
//! As if its input never changed: the chunks of every document. It keeps nothing in memory.

use hypercane_schemas::{Document, DocumentKey};

use crate::{
    collection::Collection,
    kernel::{self, Chunk},
    shared::Shared,
};

/// The chunks of the documents.
pub fn chunk<'scope>(
    documents: Collection<'scope, (DocumentKey, Shared<Document>)>,
) -> Collection<'scope, (DocumentKey, Shared<Chunk>)> {
    documents.flat_map(|(key, document)| {
        let chunks = kernel::chunk(&document).into_iter();
        chunks.map(move |chunk| (key.clone(), Shared::new(chunk)))
    })
}
