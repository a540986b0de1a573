//! Text to vectors, at the edge: a model, its own threads, and a record of every vector it gave.
//!
//! A model is not a function the dataflow may call: another machine rounds differently, and it costs. So a vector is
//! asked for once, kept under the hash of its text ([`Recorded`]), and enters the dataflow as input.

mod hashed;
mod minilm;
mod record_only;
mod recorded;
mod service;
mod store;

pub use hashed::Hashed;
pub use minilm::Embedder;
pub use record_only::RecordOnly;
pub use recorded::Recorded;
pub use service::{EmbedService, ServiceSettings};
pub use store::{FileStore, MemoryStore, VectorStore};

use hypercane_schemas::{ContentHash, Vector, text};

use super::Error;

/// Something that turns texts into unit vectors. Equal texts must get equal bits, whatever they are sent with.
pub trait Model: Send + Sync + 'static {
    /// The model with its version; vectors of different ids are never compared.
    fn id(&self) -> &str;

    /// One vector for each text, in the order of the texts.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Error>;
}

/// Under which hash the vector of a text is recorded. Texts that count as the same (NFKC, white space folded) share one.
pub fn input_hash(input: &str) -> ContentHash {
    ContentHash::of_parts([text::canonical(input).as_str()])
}

/// Hash of the way a text is prepared for the model; it changes when the preparation does.
pub fn template_hash() -> ContentHash {
    ContentHash::of_parts(["canonical text, nothing added"])
}
