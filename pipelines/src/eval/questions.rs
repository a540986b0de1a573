//! Questions with the documents that hold their evidence.

use std::path::Path;

use hypercane_schemas::{Mode, Query, QueryId, QueryParameters};
use jiff::Timestamp;
use serde::Deserialize;

use super::Error;

/// A question, as a line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The question.
    pub question: String,
    /// Only documents issued by then count.
    #[serde(default)]
    pub as_of: Option<Timestamp>,
    /// Documents that hold the evidence.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The same, in the order in which the reasoning runs.
    #[serde(default)]
    pub ordered_evidence: Vec<String>,
    /// What it tries.
    #[serde(default)]
    pub skill: String,
    /// The template it was made with.
    #[serde(default)]
    pub template: String,
}

impl Question {
    /// The question as a standing query.
    pub fn query(&self) -> Query {
        Query {
            id: QueryId(self.id.clone()),
            question: self.question.clone(),
            mode: Mode::default(),
            group: None,
            as_of: self.as_of,
            parameters: QueryParameters::default(),
        }
    }
}

/// Reads a file with one question a line.
pub fn read_questions(path: &Path) -> Result<Vec<Question>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| Error::Question { path: path.to_owned(), line: at + 1, source })
    };
    lines.map(read).collect()
}
