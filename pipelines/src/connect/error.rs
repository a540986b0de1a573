//! What goes wrong at an edge. One question is answered in code, whether to try again; the rest is text for a person.

use std::{error, fmt};

/// An error of a connector.
#[derive(Debug)]
pub struct Error {
    message: String,
    is_transient: bool,
    source: Option<Box<dyn error::Error + Send + Sync>>,
}

impl Error {
    /// An error that stays until somebody changes something: a setting, a file, a right.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_transient: false, source: None }
    }

    /// An error that may be gone at the next try: a broker that restarts, a network that is down.
    pub fn transient(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_transient: true, source: None }
    }

    /// The same error with its cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Whether the same call may succeed later with nothing changed.
    pub fn is_transient(&self) -> bool {
        self.is_transient
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn error::Error + 'static))
    }
}
