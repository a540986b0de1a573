//! Extraction, and the hops of questions, by a language model, over any endpoint that speaks OpenAI's chat completions, at the edge.
//!
//! A language model is recorded input, as the embedding model is: a passage is asked about once, every text that comes
//! back is kept under (model, prompt hash, input hash), also one that can't be used, and what follows from it is a pure
//! function ([`hypercane_operators::language_model`]). [`Client`] bounds how often, how fast and how much is asked;
//! [`RecordedTexts`] puts the record before it; [`Extractor`] asks about passages and [`Reasoner`] about questions,
//! and once more where an answer is malformed.

mod budget;
mod chat;
mod client;
mod error;
mod extractor;
mod import;
mod key;
mod pace;
mod plan;
mod reasoner;
mod recorded;
mod retry_after;
mod settings;
mod store;
mod tokens;
mod trouble;

pub use budget::Spent;
pub use client::{Client, Request};
pub use error::Error;
pub use extractor::{Extractor, ExtractorId, RecordedAnswer};
pub use import::{Imported, import};
pub use key::ApiKey;
pub use plan::Plan;
pub use reasoner::Reasoner;
pub use recorded::RecordedTexts;
pub use settings::{ResponseFormat, Settings};
pub use store::{FileTexts, MemoryTexts, TextStore};
pub use tokens::TokenCounter;

#[cfg(test)]
mod tests;
