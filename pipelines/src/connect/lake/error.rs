//! What can go wrong with a lake. Every error names the folder, table or file, and says what can be done.

use std::{error::Error as StdError, io};

use deltalake_core::logstore::object_store;

type Source = Box<dyn StdError + Send + Sync>;

/// Why a lake can't be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The location is no path and no URL of a known object store.
    #[error("`{location}` is no place for a lake: {reason}; give a folder, or a URL such as s3://bucket/folder")]
    Location {
        /// The location, as it was given.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The storage refuses, or fails.
    #[error("can't {action} {place}{}", hint(.source.as_ref()))]
    Storage {
        /// What was tried: `write to`, `read`.
        action: &'static str,
        /// The folder or file.
        place: String,
        /// Why it failed.
        source: Source,
    },
    /// The lake belongs to another pipeline.
    #[error(
        "{place} was written by {}, not by pipeline `{expected}`; give this pipeline its own lake, or its former id",
        owner(.found)
    )]
    Owner {
        /// The folder of the table that says so.
        place: String,
        /// The pipeline that wrote it, if it says.
        found: Option<String>,
        /// The pipeline that wants it.
        expected: String,
    },
    /// Another live process writes to the lake.
    #[error("{location} is in use by another process ({holder}); stop it, or give this pipeline another lake")]
    Held {
        /// The lake.
        location: String,
        /// What is known of the other process.
        holder: String,
    },
    /// A file of the lake can't be read as what it should be, or is not there.
    #[error("{file} is damaged: {reason}; restore it from a copy, or start with an empty lake and replay the topics")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another program changed rows of a table after the last commit.
    #[error(
        "{place}: version {version} was not written by this pipeline and {what}; restore version {committed} of it"
    )]
    Foreign {
        /// The table's folder.
        place: String,
        /// The version that does it.
        version: u64,
        /// What it does.
        what: &'static str,
        /// The version of the last commit.
        committed: u64,
    },
    /// A state that was folded away.
    #[error(
        "{place}: epoch {epoch} can't be read any more, since history before epoch {bound} was folded; give an epoch \
         from {bound} on"
    )]
    Folded {
        /// The table's folder.
        place: String,
        /// The epoch that was asked for.
        epoch: u64,
        /// The first epoch that can be read.
        bound: u64,
    },
    /// A row does not fit its table.
    #[error("table {table}: {reason}")]
    Row {
        /// The table.
        table: String,
        /// What does not fit.
        reason: String,
    },
    /// A commit that does not follow from the last one.
    #[error("epoch {epoch} can't be committed: {reason}")]
    Epoch {
        /// The epoch.
        epoch: u64,
        /// Why not.
        reason: String,
    },
}

impl Error {
    /// Whether the same call may succeed later, with or without help (a full disk, a read-only folder, a store that
    /// does not answer). Nothing of it is visible until then.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Storage { source, .. } => !is_refused(source.as_ref()),
            _ => false,
        }
    }

    /// Whether it is worth to try again at once, without anyone's help.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Storage { source, .. } => !is_refused(source.as_ref()) && lasting(source.as_ref()).is_none(),
            _ => false,
        }
    }

    pub(super) fn storage(action: &'static str, place: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Storage { action, place: place.into(), source: source.into() }
    }

    pub(super) fn damaged(file: impl Into<String>, reason: impl ToString) -> Self {
        Self::Damaged { file: file.into(), reason: reason.to_string() }
    }

    pub(super) fn row(table: &str, reason: impl ToString) -> Self {
        Self::Row { table: table.into(), reason: reason.to_string() }
    }
}

fn owner(found: &Option<String>) -> String {
    match found {
        Some(pipeline) => format!("pipeline `{pipeline}`"),
        None => "another program".into(),
    }
}

/// The cause that does not go away by itself, if there is one.
fn lasting(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    use io::ErrorKind::{
        InvalidFilename, IsADirectory, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull,
    };
    // The outermost may be a mere wrapper, so all of them are asked.
    let mut kinds = chain(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.find(|kind| {
        matches!(
            kind,
            StorageFull
                | QuotaExceeded
                | ReadOnlyFilesystem
                | PermissionDenied
                | NotADirectory
                | IsADirectory
                | InvalidFilename
        )
    })
}

/// What a person can do about it.
fn hint(source: &(dyn StdError + 'static)) -> &'static str {
    use io::ErrorKind::{NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match lasting(source) {
        Some(StorageFull | QuotaExceeded) => " (the disk is full: free some space, then it goes on)",
        Some(ReadOnlyFilesystem) => " (the file system is read-only: mount it writable, or choose another folder)",
        Some(PermissionDenied) => " (no permission: change the folder's owner or mode, or choose another folder)",
        Some(NotADirectory) => " (a part of the path is a file: choose another folder)",
        _ => "",
    }
}

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

/// Whether an object store says no for good.
fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    use object_store::Error::{InvalidPath, NotFound, NotImplemented, NotSupported, UnknownConfigurationKey};
    chain(error).filter_map(|cause| cause.downcast_ref::<object_store::Error>()).any(|cause| {
        matches!(
            cause,
            NotFound { .. }
                | InvalidPath { .. }
                | NotSupported { .. }
                | NotImplemented { .. }
                | UnknownConfigurationKey { .. }
        )
    })
}
