//! The note in a lake of what computed its rows. It is no part of a commit: where it is missing or names another program,
//! whoever starts compares all rows and then writes it anew.

use super::{Error, Lake};

const NOTE: &str = ".hypercane.program";
/// The note of which language model extracts; no part of a commit either.
const EXTRACTOR: &str = ".hypercane.extractor";

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

    /// Which language model extracts, as [`Lake::note_extractor`] has it; none where the note is missing.
    ///
    /// # Errors
    /// The note can't be read.
    pub async fn extractor(&self) -> Result<Option<String>, Error> {
        self.storage.note(EXTRACTOR).await
    }

    /// Notes which language model extracts.
    ///
    /// # Errors
    /// The note can't be written.
    pub async fn note_extractor(&self, extractor: &str) -> Result<(), Error> {
        self.storage.write_note(EXTRACTOR, extractor).await
    }
}
