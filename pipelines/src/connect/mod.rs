//! Everything that names an external system: topics, files, models, the lake. Transport and format are apart.

pub mod packs;
pub mod lake;
pub mod embed;
mod error;

pub use error::Error;
