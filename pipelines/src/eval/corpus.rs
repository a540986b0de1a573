//! The documents of a folder of the form of the cyclone data set.

use std::path::{Path, PathBuf};

use hypercane_schemas::Document;
use jiff::{Timestamp, civil::DateTime, tz::Offset};

use super::Error;

/// Tables whose rows are posts.
const POSTS: &str = "uscg_port_conditions_enriched.csv";

/// Reads every text as a document, keyed by its path below the folder; rows of the table of posts as `file#id=N`.
pub fn read_corpus(dir: &Path) -> Result<Vec<Document>, Error> {
    let mut documents = Vec::new();
    let mut files = Vec::new();
    for folder in ["nhc", "cyportqa", "nhc_odd", "wire", "other_basins", "feeds", "ports/msib"] {
        list(&dir.join(folder), &mut files)?;
    }
    files.sort();
    for path in files {
        let bytes = std::fs::read(&path).map_err(|source| Error::Read { path: path.clone(), source })?;
        let mut document = Document::plain(key(dir, &path), String::from_utf8_lossy(&bytes));
        document.horizon_hours = path.file_stem().and_then(|n| n.to_str()).and_then(horizon);
        if path.parent().is_some_and(|p| p.ends_with("ports/msib")) {
            document.source_kind = Some("msib".into());
            document.issued_at = path.file_stem().and_then(|n| n.to_str()).and_then(date_in_name);
        }
        documents.push(document);
    }
    posts(dir, &dir.join("ports").join(POSTS), &mut documents)?;
    if documents.is_empty() {
        return Err(Error::NoDocuments(dir.to_owned()));
    }
    Ok(documents)
}

fn key(dir: &Path, path: &Path) -> String {
    let below = path.strip_prefix(dir).unwrap_or(path);
    below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if !folder.is_dir() {
        return Ok(());
    }
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with("atcf") {
                list(&path, files)?;
            }
        } else if !name.to_uppercase().starts_with("README")
            && !name.starts_with("LICENSE")
            && ![".csv", ".dat", ".json", ".jsonl", ".fst"].iter().any(|end| name.ends_with(end))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// `tcp_T-048h` is 48.
fn horizon(name: &str) -> Option<u16> {
    name.split_once("_T-")?.1.strip_suffix('h')?.parse().ok()
}

/// `..._20121028_...` is the end of that day, for texts that do not say when they were issued.
fn date_in_name(name: &str) -> Option<Timestamp> {
    let digits = name.split('_').find(|part| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit()))?;
    let (year, month, day) = (digits[..4].parse().ok()?, digits[4..6].parse().ok()?, digits[6..].parse().ok()?);
    Offset::UTC.to_timestamp(DateTime::new(year, month, day, 0, 0, 0, 0).ok()?).ok()
}

fn posts(dir: &Path, path: &Path, documents: &mut Vec<Document>) -> Result<(), Error> {
    if !path.is_file() {
        return Ok(());
    }
    let failed = |source| Error::Table { path: path.to_owned(), source };
    let mut reader = csv::Reader::from_path(path).map_err(failed)?;
    let headers = reader.headers().map_err(failed)?.clone();
    let column = |name: &str| headers.iter().position(|h| h == name);
    let (id, time, text) = (column("id"), column("time_utc"), column("text"));
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default();
        let mut document = Document::plain(format!("{}#id={}", key(dir, path), cell(id)), cell(text));
        document.source_kind = Some("port_post".into());
        document.issued_at = post_time(cell(time));
        documents.push(document);
    }
    Ok(())
}

/// `10/8/2024 12:27`, or ISO form.
fn post_time(text: &str) -> Option<Timestamp> {
    if let Some(found) = text.trim().strip_suffix('Z').and_then(|t| t.replace(' ', "T").parse::<DateTime>().ok()) {
        return Offset::UTC.to_timestamp(found).ok();
    }
    let (date, clock) = text.trim().split_once(' ')?;
    let mut date = date.split('/').map(|part| part.parse::<i16>().ok());
    let (month, day, year) = (date.next()??, date.next()??, date.next()??);
    let (hour, minute) = clock.split_once(':')?;
    let time = DateTime::new(year, month as i8, day as i8, hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()?;
    Offset::UTC.to_timestamp(time).ok()
}

#[cfg(test)]
mod tests {
    use super::{date_in_name, horizon, post_time};

    #[test]
    fn names_and_cells_give_times() {
        assert_eq!(horizon("tcp_T-048h"), Some(48));
        assert_eq!(horizon("tcp_019A"), None);
        assert_eq!(post_time("7/7/2024 16:50").map(|t| t.to_string()).as_deref(), Some("2024-07-07T16:50:00Z"));
        assert_eq!(
            date_in_name("delaware_msib_17-12_20121028_x").map(|t| t.to_string()).as_deref(),
            Some("2012-10-28T00:00:00Z")
        );
    }
}
