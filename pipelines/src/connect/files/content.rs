//! The records that a file holds.

use std::{path::Path, str, sync::Arc};

use hypercane_schemas::{Document, Reject, Stage};
use serde_json::Value;

use super::{Settings, posts};
use crate::connect::{
    format::{reject, to_json},
    transport::RawRecord,
};

/// A record of a file: to be sent, or one that the file shows but that can't be made.
#[derive(Debug)]
pub(super) enum Entry {
    Record(RawRecord),
    Reject(Box<Reject>),
}

/// Reads a file's bytes. What can't be understood is passed on as it is, for the decoder to refuse with its place.
pub(super) fn entries(name: &str, bytes: Vec<u8>, settings: &Settings) -> Vec<Entry> {
    let ending = Path::new(name).extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("jsonl" | "ndjson") => lines(name, &bytes, settings),
        Some("csv") => posts::entries(name, &bytes, settings),
        _ => vec![Entry::Record(text(name, bytes, settings))],
    }
}

fn text(name: &str, bytes: Vec<u8>, settings: &Settings) -> RawRecord {
    let topic = Arc::from(&*settings.documents);
    let payload = match str::from_utf8(&bytes) {
        // A text that was cut off at the limit must not look like a whole one.
        Ok(text) if bytes.len() <= settings.max_bytes => {
            let mut document = Document::plain(name, text.strip_prefix('\u{feff}').unwrap_or(text));
            document.horizon_hours = horizon_hours(name);
            to_json(&document)
        }
        _ => bytes,
    };
    RawRecord::new(&topic, name, Some(payload))
}

/// The horizon that a file's name states: `…T-048h.txt` is 48.
fn horizon_hours(name: &str) -> Option<u16> {
    let stem = Path::new(name).file_stem()?.to_str()?;
    let (before, digits) = stem.strip_suffix('h')?.rsplit_once("T-")?;
    let starts_a_word = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| starts_a_word && is_number)
}

fn lines(name: &str, bytes: &[u8], settings: &Settings) -> Vec<Entry> {
    bytes
        .split(|&b| b == b'\n')
        .enumerate()
        .filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace))
        .map(|(idx, line)| one_line(name, idx + 1, line, settings))
        .collect()
}

/// One line. The place of the line is the key of what has none, so that a bad line can be found.
fn one_line(name: &str, line_no: usize, line: &[u8], settings: &Settings) -> Entry {
    let documents: Arc<str> = Arc::from(&*settings.documents);
    let place = format!("{name}#line={line_no}");
    let as_it_is = |key: String| Entry::Record(RawRecord::new(&documents, key, Some(line.to_vec())));
    let Ok(Value::Object(mut object)) = serde_json::from_slice::<Value>(line) else {
        return as_it_is(place);
    };
    if !object.contains_key("value") {
        let key = object.get("key").and_then(Value::as_str).filter(|key| !key.is_empty());
        return as_it_is(key.map_or(place, str::to_owned));
    }
    let refuse = |reason: String| {
        let raw = RawRecord::new(&documents, place.as_str(), Some(line.to_vec()));
        Entry::Reject(Box::new(reject(&raw, Stage::Decode, u32::try_from(line_no).ok(), reason, true)))
    };
    let value = object.remove("value");
    let topic = match object.remove("topic") {
        None => Arc::clone(&documents),
        Some(Value::String(topic)) => Arc::from(match topic.as_str() {
            "documents" => settings.documents.as_str(),
            "horizons" => settings.horizons.as_str(),
            "queries" => settings.queries.as_str(),
            other => other,
        }),
        Some(other) => return refuse(format!("`topic` is {other}: give the name of a topic")),
    };
    let key = match object.remove("key") {
        None | Some(Value::Null) => None,
        Some(Value::String(key)) => Some(key.into_bytes()),
        Some(other) => return refuse(format!("`key` is {other}: give a text")),
    };
    if let Some((field, _)) = object.iter().next() {
        return refuse(format!("field `{field}` is unknown beside `value`: a line has `topic`, `key` and `value`"));
    }
    let payload = value.filter(|value| !value.is_null()).map(|value| to_json(&value));
    Entry::Record(RawRecord { key, ..RawRecord::new(&topic, Vec::new(), payload) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_state_the_horizon() {
        assert_eq!(horizon_hours("HARVEY_2017/tcp_T-048h.txt"), Some(48));
        assert_eq!(horizon_hours("T-0h.txt"), Some(0));
        for other in ["tcp_012.txt", "tcp_T-h.txt", "tcp_T-x4h.txt", "xT-48h.txt", "tcp_T-+48h.txt", "tcp_T-99999h.txt"]
        {
            assert_eq!(horizon_hours(other), None, "{other}");
        }
    }
}
