//! The note in a lake of what computed its rows. It is no part of a commit: where it is missing or names another program,
//! whoever starts compares all rows and then writes it anew.

use super::{Error, Lake};

const NOTE: &str = ".hypercane.program";

impl Lake {
    /// What computed the rows of the lake, by its own word.
    ///
    /// # Errors
    /// The note can't be read.
    pub async fn program(&self) -> Result<Option<String>, Error> {
        self.storage.note(NOTE).await
    }

    /// Notes what computes the rows of the lake from now on.
    ///
    /// # Errors
    /// The note can't be written.
    pub async fn note_program(&self, program: &str) -> Result<(), Error> {
        self.storage.write_note(NOTE, program).await
    }
}
