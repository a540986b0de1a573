//! What can go wrong with a language model.

use std::time::Duration;

use crate::connect;

/// An error of a language model. It is cloned to all who wait for the same answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The settings can't be used.
    #[error("{0}")]
    Settings(String),
    /// The endpoint refuses the request, and would refuse it again.
    #[error("the language model's endpoint {endpoint} refuses the request: HTTP {status}: {message}{}", advice(*status))]
    Refused {
        /// The host that was asked.
        endpoint: String,
        /// The HTTP status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// It could not be reached, was busy, failed, or did not answer in time, at every try.
    #[error("the language model's endpoint {endpoint} gave no answer in {tries} tries: {message}")]
    Unavailable {
        /// The host that was asked.
        endpoint: String,
        /// How often it was asked.
        tries: usize,
        /// What came of the last try.
        message: String,
    },
    /// What the run may use is used up.
    #[error(
        "the budget of this run is used up: {used} of {budget} {what} are spent; set language_model.budget_{what} higher, \
         or start another run, which goes on from what is on record"
    )]
    Budget {
        /// `calls` or `tokens`.
        what: &'static str,
        /// How many were spent, with what is under way.
        used: u64,
        /// How many there may be.
        budget: u64,
    },
    /// Nothing is on record and there is no endpoint to ask.
    #[error(
        "there is no recorded output of {model} for the passage {passage:?}, and no endpoint to ask: set \
         language_model.base_url, or import its outputs"
    )]
    NotRecorded {
        /// The model.
        model: String,
        /// How the passage begins.
        passage: String,
    },
    /// The record can't be read or written.
    #[error("{0}")]
    Record(String),
}

fn advice(status: u16) -> &'static str {
    match status {
        400 | 422 => "; if it knows no JSON schema, set language_model.response_format",
        401 | 403 => "; check the key in the variable that language_model.key_env names",
        404 => "; check language_model.base_url and language_model.model",
        _ => "",
    }
}

impl Error {
    /// Whether the same call may succeed later with nothing changed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// Whether every other passage would fail in the same way, so that there is no use in asking about it.
    pub fn is_for_all(&self) -> bool {
        match self {
            Self::Settings(_) | Self::Budget { .. } | Self::Record(_) => true,
            Self::Refused { status, .. } => [401, 402, 403, 404, 429].contains(status),
            Self::Unavailable { .. } | Self::NotRecorded { .. } => false,
        }
    }
}

impl From<Error> for connect::Error {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        if error.is_transient() { Self::transient(message) } else { Self::lasting(message) }
    }
}

impl From<connect::Error> for Error {
    /// An error of the record, with its causes.
    fn from(error: connect::Error) -> Self {
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Self::Record(message)
    }
}

/// What came of one try.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// It is of no use to try again.
    Lasting(Error),
    /// The endpoint turned the request away, or was not reached; the model did not work.
    TurnedAway {
        /// What happened.
        message: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The model may have worked, but what it wrote did not arrive.
    Lost(String),
}
