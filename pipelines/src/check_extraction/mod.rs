//! Compares what the grammars extract with independent tables, text by text and field by field.
//!
//! A folder of the form of the cyclone data set has whole storms with tables of their advisories beside the texts, pairs of
//! probability texts and tables, and other texts that only have to parse or be rejected with a reason. Facts are
//! compared, not parser states: what is checked here is what the dataflow gets.

mod numbers;
mod probabilities;
mod report;
mod rest;
mod storms;
mod table;

use std::path::{Path, PathBuf};

use hypercane_operators::domain::Domain;

pub use report::{Field, Folder, Rejected, Report, Wrong};

/// Why a folder could not be checked.
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
    /// A table can't be read.
    #[error("{} is no table of the expected form: {reason}", path.display())]
    Table {
        /// Which one.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The posts can't be read.
    #[error(transparent)]
    Posts(#[from] crate::connect::Error),
    /// There is nothing to check.
    #[error("{} holds none of the folders nhc, cyportqa, nhc_odd, wire, other_basins, feeds, ports", .0.display())]
    NothingThere(PathBuf),
}

/// Checks a folder of the form of the cyclone data set.
pub fn check(dir: &Path, domain: &Domain) -> Result<Report, Error> {
    let mut report = Report::default();
    for storm in table::folders(&dir.join("nhc"))? {
        storms::check(dir, &storm, domain, &mut report)?;
    }
    probabilities::check(dir, domain, &mut report)?;
    rest::count(dir, domain, &mut report)?;
    if report.folders.is_empty() && report.fields.is_empty() {
        return Err(Error::NothingThere(dir.to_owned()));
    }
    Ok(report)
}

#[cfg(test)]
mod tests;
