//! The state of a lake at an epoch, as plain files: what its changelogs add up to, without their history.
//!
//! The JSON Lines form is canonical: one compact object a line, lines sorted by their bytes, a row that is present twice
//! written twice. Equal states give equal files, byte for byte, whatever the history that led to them.

use std::{
    fs,
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    str::FromStr,
};

use hypercane_schemas::{
    AnswerStep, Conflict, Degree, Diff, Document, Entity, Epoch, EvidenceRow, HorizonUpdate, Hyperedge, Incidence,
    Precedence, Query, RankedPassage, Record, Reject, Synonym,
};
use jiff::Timestamp;

use crate::connect::lake::{self, Lake, write_state};

/// The tables that have a state.
pub const TABLES: [&str; 14] = [
    Document::TABLE,
    HorizonUpdate::TABLE,
    Query::TABLE,
    Entity::TABLE,
    Hyperedge::TABLE,
    Incidence::TABLE,
    Degree::TABLE,
    Synonym::TABLE,
    Precedence::TABLE,
    Conflict::TABLE,
    AnswerStep::TABLE,
    RankedPassage::TABLE,
    EvidenceRow::TABLE,
    Reject::TABLE,
];

/// Why a state could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The lake can't be read.
    #[error(transparent)]
    Lake(#[from] lake::Error),
    /// Nothing is committed.
    #[error("the lake holds no commit yet")]
    Empty,
    /// An epoch after the last commit.
    #[error("epoch {asked} is not committed; the last committed epoch is {last}")]
    NotYet {
        /// The epoch that was asked for.
        asked: Epoch,
        /// The last one.
        last: Epoch,
    },
    /// A moment before the first commit.
    #[error("nothing was committed at or before {0}")]
    Before(Timestamp),
    /// A table that there is none of.
    #[error("there is no table `{name}`; the tables are {}", TABLES.join(", "))]
    Table {
        /// The name.
        name: String,
    },
    /// Rows taken back more often than they were added.
    #[error("a row of table {0} is present less than zero times; the lake is damaged")]
    Negative(&'static str),
    /// A row has no JSON form.
    #[error("a row of table {0} can't be written as JSON")]
    Json(&'static str, #[source] serde_json::Error),
    /// A file can't be written.
    #[error("{path:?} can't be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
}

/// A point in the history of a lake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AsOf {
    /// The last commit.
    #[default]
    Latest,
    /// An epoch.
    Epoch(Epoch),
    /// The last epoch that was committed at or before a moment.
    Time(Timestamp),
}

impl FromStr for AsOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(epoch) = text.parse() {
            return Ok(Self::Epoch(epoch));
        }
        text.parse().map(Self::Time).map_err(|_| {
            format!("`{text}` is neither an epoch, such as 41, nor a moment, such as 2017-08-25T03:00Z or 2017-08-25T03:00-05:00")
        })
    }
}

impl AsOf {
    /// The epoch in a lake.
    ///
    /// # Errors
    /// The lake can't be read, or has nothing committed there.
    pub async fn epoch(self, lake: &Lake) -> Result<Epoch, Error> {
        let last = lake.commit_point().await?.ok_or(Error::Empty)?.epoch;
        match self {
            Self::Latest => Ok(last),
            Self::Epoch(asked) if asked > last => Err(Error::NotYet { asked, last }),
            Self::Epoch(asked) => Ok(asked),
            Self::Time(at) => lake.epoch_at(at).await?.ok_or(Error::Before(at)),
        }
    }
}

/// The form of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Sorted JSON Lines; equal states are equal files.
    #[default]
    Jsonl,
    /// Parquet, with the columns of the lake but `epoch` and `diff`.
    Parquet,
}

impl Format {
    /// The name of a table's file.
    pub fn file_name(self, table: &str) -> String {
        match self {
            Self::Jsonl => format!("{table}.jsonl"),
            Self::Parquet => format!("{table}.parquet"),
        }
    }
}

/// Rows of one record kind as canonical JSON Lines, in whatever order they come and however they are split up.
///
/// # Errors
/// A row is present less than zero times after adding up, or has no JSON form.
pub fn canonical<'a, R: Record>(rows: impl IntoIterator<Item = (&'a R, Diff)>) -> Result<Vec<u8>, Error> {
    let mut lines: Vec<(Vec<u8>, Diff)> = Vec::new();
    for (row, count) in rows {
        lines.push((serde_json::to_vec(row).map_err(|e| Error::Json(R::TABLE, e))?, count));
    }
    lines.sort_unstable();
    let mut bytes = Vec::with_capacity(lines.iter().map(|(line, _)| line.len() + 1).sum());
    for same in lines.chunk_by(|(a, _), (b, _)| a == b) {
        let count: Diff = same.iter().map(|(_, count)| count).sum();
        for _ in 0..usize::try_from(count).map_err(|_| Error::Negative(R::TABLE))? {
            bytes.extend_from_slice(&same[0].0);
            bytes.push(b'\n');
        }
    }
    Ok(bytes)
}

/// Writes tables as they stand at an epoch, one file each, into a folder; `told` hears each table with its rows.
///
/// # Errors
/// There is no such table, the lake can't be read, or a file can't be written.
pub async fn export(
    lake: &Lake,
    epoch: Epoch,
    tables: &[String],
    format: Format,
    out: &Path,
    mut told: impl FnMut(&str, usize),
) -> Result<(), Error> {
    if let Some(unknown) = tables.iter().find(|name| !TABLES.contains(&name.as_str())) {
        return Err(Error::Table { name: unknown.clone() });
    }
    fs::create_dir_all(out).map_err(|cause| Error::Write { path: out.into(), cause })?;
    macro_rules! export {
        ($($record:ty),*) => {$(
            let table = <$record>::TABLE;
            if tables.is_empty() || tables.iter().any(|name| name == table) {
                let rows = lake.read::<$record>(Some(epoch)).await?;
                let n_rows = write(&rows, format, &out.join(format.file_name(table)))?;
                told(table, n_rows);
            }
        )*};
    }
    export!(
        Document,
        HorizonUpdate,
        Query,
        Entity,
        Hyperedge,
        Incidence,
        Degree,
        Synonym,
        Precedence,
        Conflict,
        AnswerStep,
        RankedPassage,
        EvidenceRow,
        Reject
    );
    Ok(())
}

/// Writes one table; gives the number of rows.
fn write<R: Record>(rows: &[(R, Diff)], format: Format, path: &Path) -> Result<usize, Error> {
    let failed = |cause| Error::Write { path: path.into(), cause };
    match format {
        Format::Jsonl => fs::write(path, canonical(rows.iter().map(|(row, count)| (row, *count)))?).map_err(failed)?,
        Format::Parquet => {
            if rows.iter().any(|(_, count)| *count < 0) {
                return Err(Error::Negative(R::TABLE));
            }
            let mut file = BufWriter::new(fs::File::create(path).map_err(failed)?);
            write_state(rows, &path.to_string_lossy(), &mut file)?;
            file.flush().map_err(failed)?;
        }
    }
    Ok(rows.iter().map(|(_, count)| usize::try_from(*count).unwrap_or_default()).sum())
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Document;

    use super::{AsOf, Error, canonical};

    #[test]
    fn order_and_splitting_of_the_rows_do_not_count() {
        let (a, b) = (Document::plain("a", "one"), Document::plain("b", "two"));
        let bytes = canonical([(&a, 1), (&b, 2)]).unwrap();
        assert_eq!(bytes, canonical([(&b, 1), (&a, 2), (&b, 1), (&a, -1)]).unwrap());
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 3);
        assert!(matches!(canonical([(&a, -1)]), Err(Error::Negative("documents"))));
    }

    #[test]
    fn a_point_is_an_epoch_or_a_moment() {
        assert_eq!("41".parse(), Ok(AsOf::Epoch(41)));
        assert_eq!("2017-08-25T03:00Z".parse(), Ok(AsOf::Time("2017-08-25T03:00:00Z".parse().unwrap())));
        assert!("yesterday".parse::<AsOf>().unwrap_err().contains("2017-08-25T03:00Z"));
    }
}
