//! Everything that names an external system: topics, files, models, the lake. Transport and format are apart.

pub mod embed;
mod error;
pub mod files;
pub mod format;
#[cfg(feature = "kafka")]
pub mod kafka;
pub mod lake;
pub mod language_model;
pub mod memory;
pub mod models;
pub mod packs;
pub mod peers;
pub mod transport;

pub use error::Error;
