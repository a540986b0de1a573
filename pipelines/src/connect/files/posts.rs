//! Tables of port posts: one document a row.
//!
//! Needed are the columns `id`, `time_utc` (`M/D/YYYY H:MM`) and `text`. Other columns are left alone: in the tables we
//! know they are guesses about the text, not part of what was posted.

use std::{str, sync::Arc};

use csv::{ByteRecord, ReaderBuilder};
use hypercane_schemas::{Document, Stage};
use jiff::{Timestamp, civil::DateTime, tz::Offset};

use super::{Settings, content::Entry};
use crate::connect::{
    format::{reject, to_json},
    transport::RawRecord,
};

struct Columns {
    id: usize,
    time: usize,
    text: usize,
}

pub(super) fn entries(name: &str, bytes: &[u8], settings: &Settings) -> Vec<Entry> {
    let topic: Arc<str> = Arc::from(&*settings.documents);
    let refuse = |key: &str, line: Option<u64>, payload: Vec<u8>, reason: String| {
        let raw = RawRecord::new(&topic, key, Some(payload));
        let line = line.and_then(|line| u32::try_from(line).ok());
        Entry::Reject(Box::new(reject(&raw, Stage::Decode, line, reason, true)))
    };
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(bytes);
    let columns = match reader.byte_headers().map(columns) {
        Ok(Ok(columns)) => columns,
        Ok(Err(missing)) => {
            let reason = format!("the table has no column `{missing}`, so it is no table of posts: leave it out");
            return vec![refuse(name, Some(1), Vec::new(), reason)];
        }
        Err(e) => return vec![refuse(name, Some(1), Vec::new(), format!("the table can't be read: {e}"))],
    };
    let mut entries = Vec::new();
    for row in reader.byte_records() {
        let row = match row {
            Ok(row) => row,
            Err(e) => {
                // Where one row ends is not known any more, so the rest of the table can't be trusted.
                let line = e.position().map(csv::Position::line);
                entries.push(refuse(name, line, Vec::new(), format!("the table can't be read from here on: {e}")));
                break;
            }
        };
        let line = row.position().map(csv::Position::line);
        let id = row.get(columns.id).and_then(|id| str::from_utf8(id).ok()).map(str::trim).unwrap_or_default();
        let key = match (id, line) {
            ("", Some(line)) => format!("{name}#line={line}"),
            (id, _) => format!("{name}#id={id}"),
        };
        entries.push(match document(&key, id, &row, &columns) {
            Ok(document) => Entry::Record(RawRecord::new(&topic, key, Some(to_json(&document)))),
            Err(reason) => refuse(&key, line, row_bytes(&row), reason),
        });
    }
    entries
}

fn columns(header: &ByteRecord) -> Result<Columns, &'static str> {
    let find = |name: &'static str| {
        let is_it = |cell: &[u8]| cell.strip_prefix(b"\xef\xbb\xbf").unwrap_or(cell).trim_ascii() == name.as_bytes();
        header.iter().position(is_it).ok_or(name)
    };
    Ok(Columns { id: find("id")?, time: find("time_utc")?, text: find("text")? })
}

fn document(key: &str, id: &str, row: &ByteRecord, columns: &Columns) -> Result<Document, String> {
    let cell = |idx: usize, name: &str| {
        let bytes = row.get(idx).ok_or_else(|| format!("the row ends before column `{name}`: complete it"))?;
        str::from_utf8(bytes).map_err(|_| format!("column `{name}` is not UTF-8: save the table in UTF-8"))
    };
    let (time, text) = (cell(columns.time, "time_utc")?, cell(columns.text, "text")?);
    if id.is_empty() {
        return Err("the row has no `id`: give it one, it is part of the document's key".into());
    }
    let issued_at = posted_at(time)
        .ok_or_else(|| format!("`time_utc` is {time:?}: give a date and a time such as 8/25/2017 3:00"))?;
    Ok(Document { source_kind: Some("port_post".into()), issued_at: Some(issued_at), ..Document::plain(key, text) })
}

fn posted_at(time: &str) -> Option<Timestamp> {
    let at = DateTime::strptime("%m/%d/%Y %H:%M", time.trim()).ok()?;
    Offset::UTC.to_timestamp(at).ok()
}

fn row_bytes(row: &ByteRecord) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    // Writing to memory can't fail; should it, the reject still has its place and reason.
    let _ = writer.write_byte_record(row);
    writer.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_month_first_and_utc() {
        let at = |text| posted_at(text).map(|at| at.to_string());
        assert_eq!(at("8/25/2017 3:05").as_deref(), Some("2017-08-25T03:05:00Z"));
        assert_eq!(at(" 11/04/2024 23:34 ").as_deref(), Some("2024-11-04T23:34:00Z"));
        for other in ["25/8/2017 3:00", "8/25/2017", "", "8/25/2017 25:00", "2017-08-25 03:00"] {
            assert_eq!(at(other), None, "{other}");
        }
    }
}
