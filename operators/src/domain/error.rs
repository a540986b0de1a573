//! What is wrong with a pack, and where.

use std::fmt;

/// The first thing that is wrong with a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainError {
    /// The file within the pack.
    pub file: String,
    /// The place in it: `line 12`, or a key such as `families.6.relations`.
    pub place: String,
    /// What is wrong there, and what was expected.
    pub reason: String,
}

impl DomainError {
    pub(crate) fn at_key(file: &str, key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), place: key.into(), reason: reason.into() }
    }

    pub(crate) fn at_line(file: &str, line: u64, reason: impl Into<String>) -> Self {
        Self::at_key(file, format!("line {line}"), reason)
    }

    pub(crate) fn from_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
        Self::at_line(file, line as u64, error.message())
    }

    pub(crate) fn from_csv(file: &str, error: &csv::Error) -> Self {
        let line = error.position().map_or(1, csv::Position::line);
        Self::at_line(file, line, error.to_string())
    }
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.file, self.place, self.reason)
    }
}

impl std::error::Error for DomainError {}
