//! What is wrong with the files of a language model.

/// A language model that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// A file is not there.
    #[error("the language model lacks its file {file}")]
    Missing {
        /// The file, by its path in the model's folder.
        file: &'static str,
    },
    /// A file can't be read in its format.
    #[error("{file} of the language model is damaged: {reason}")]
    Damaged {
        /// The file, by its path in the model's folder.
        file: &'static str,
        /// What is wrong, and where.
        reason: String,
    },
    /// A file is of another kind of model.
    #[error("{file} of the language model does not fit: {reason}")]
    Unfit {
        /// The file, by its path in the model's folder.
        file: &'static str,
        /// What was expected, and what is there.
        reason: String,
    },
}
