//! The language tools of the general extractor, for English text of any domain.
//!
//! All are plain functions of their input: the same bytes give the same result on any machine load and with any number of
//! workers.
//!
//! - [`sentences()`]: text -> the spans of its sentences

mod sentences;

pub use sentences::sentences;
