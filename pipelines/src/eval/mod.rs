//! Evaluation of retrieval on questions whose evidence is known.
//!
//! The questions are asked of the dataflow, with everything that is on file; each answer is judged by the documents that
//! its trajectories cite.

mod corpus;
mod judge;
pub mod multihop;
mod questions;
mod report;

use std::path::PathBuf;

pub use corpus::read_corpus;
pub use judge::{Outcome, judge};
pub use questions::{Question, read_questions};
pub use report::{Report, Scores};

/// Why an evaluation could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder can't be read.
    #[error("can't read {}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The documents can't be read.
    #[error(transparent)]
    Documents(#[from] crate::connect::Error),
    /// A line of the questions can't be read.
    #[error("{} line {line} is no question", path.display())]
    Question {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A line of a corpus or of its questions can't be read.
    #[error("{} line {line} is none that a set holds", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// The folder has no set, or none of a name.
    #[error("{} has no set{}; a set is a folder with corpus.jsonl and questions.jsonl", folder.display(), name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default())]
    NoSet {
        /// The folder.
        folder: PathBuf,
        /// The name that was asked for.
        name: Option<String>,
    },
    /// A question needs a passage that its set does not hold.
    #[error("{}: the question {question:?} needs the passage {id:?}, which the corpus does not hold", path.display())]
    NoPassage {
        /// The file of the questions.
        path: PathBuf,
        /// The question.
        question: String,
        /// The passage.
        id: String,
    },
    /// The folder has no document.
    #[error("{} holds no document", .0.display())]
    NoDocuments(PathBuf),
}
