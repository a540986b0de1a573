//! The language tools of the general extractor, for English text of any domain.
//!
//! All are plain functions of their input: the same bytes give the same result on any machine, under any load, and with any
//! number of workers.
//!
//! - [`sentences()`]: text -> the spans of its sentences
//! - [`Language`]: sentence -> tokens with tags, and named entities
//! - [`noun_phrases()`]: an analysed sentence -> what it speaks of without a name
//! - [`entity_key`], [`name_key`], [`date_key`], [`number_key`]: what counts as the same

mod entities;
mod error;
mod features;
mod hash;
mod model;
mod normalise;
mod noun_phrases;
mod products;
mod sentences;
mod tagger;
mod tok2vec;
mod tokens;
mod weights;

pub use error::LanguageError;
pub use model::{Analysis, Language, NamedEntity, Tagged};
pub use normalise::{date_key, entity_key, name_key, number_key};
pub use noun_phrases::noun_phrases;
pub use sentences::sentences;
pub use tokens::Token;
