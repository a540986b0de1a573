//! Everything that names an external system: topics, files, models, the lake. Transport and format are apart.

pub mod embed;
mod error;
pub mod lake;
pub mod packs;

pub use error::Error;
