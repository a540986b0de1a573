//! The documents of a folder of the form of the cyclone data set.

use std::path::Path;

use hypercane_schemas::Document;
use jiff::{Timestamp, civil::DateTime, tz::Offset};

use super::Error;
use crate::connect::files::{Selection, documents};

/// Texts of all kinds, and the table of posts that holds every row.
const GLOBS: [&str; 8] = [
    "nhc/**/*.txt",
    "cyportqa/**/*.txt",
    "nhc_odd/*",
    "wire/*",
    "other_basins/*",
    "feeds/*",
    "ports/msib/*",
    "ports/uscg_port_conditions_enriched.csv",
];

/// Reads every text as a document, keyed by its path below the folder; rows of the table of posts as `file#id=N`. What
/// can't be read is logged and left out.
///
/// # Errors
/// The folder can't be read, or holds no document.
pub fn read_corpus(dir: &Path) -> Result<Vec<Document>, Error> {
    let (mut documents, rejects) = documents(Selection::new(dir, GLOBS)?)?;
    for reject in rejects {
        tracing::warn!(key = reject.key, reason = reject.reason, "left out");
    }
    for document in documents.iter_mut().filter(|document| document.key.0.starts_with("ports/msib/")) {
        document.source_kind = Some("msib".into());
        document.issued_at = date_in_name(&document.key.0);
    }
    if documents.is_empty() {
        return Err(Error::NoDocuments(dir.to_owned()));
    }
    Ok(documents)
}

/// `..._20121028_...` is the end of that day, for texts that do not say when they were issued.
fn date_in_name(name: &str) -> Option<Timestamp> {
    let digits = name.split('_').find(|part| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit()))?;
    let (year, month, day) = (digits[..4].parse().ok()?, digits[4..6].parse().ok()?, digits[6..].parse().ok()?);
    Offset::UTC.to_timestamp(DateTime::new(year, month, day, 0, 0, 0, 0).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::date_in_name;

    #[test]
    fn names_of_bulletins_give_their_day() {
        let day = date_in_name("ports/msib/delaware_msib_17-12_20121028_x.txt").map(|at| at.to_string());
        assert_eq!(day.as_deref(), Some("2012-10-28T00:00:00Z"));
        assert_eq!(date_in_name("ports/msib/x.txt"), None);
    }
}
