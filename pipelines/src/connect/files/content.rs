//! The records that a file holds.

use std::{path::Path, str, sync::Arc};

use hypercane_schemas::{Document, Reject, Stage};
use serde_json::Value;

use super::{Settings, html, markdown, posts};
use crate::connect::{
    format::{reject, to_json},
    transport::RawRecord,
};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// JSON Lines.
    Lines,
    /// A table of port posts.
    Posts,
    Markdown,
    Html,
    Text,
}

impl Kind {
    /// The kind that a file's ending names; none where it has no ending.
    pub(super) fn by_ending(name: &str) -> Option<Self> {
        let ending = Path::new(name).extension()?.to_string_lossy().to_lowercase();
        Some(match ending.as_str() {
            "jsonl" | "ndjson" => Self::Lines,
            "csv" => Self::Posts,
            "md" | "markdown" => Self::Markdown,
            "html" | "htm" | "xhtml" => Self::Html,
            _ => Self::Text,
        })
    }

    /// The kind of a file without an ending, by what it holds.
    fn by_content(bytes: &[u8]) -> Self {
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let starts_with =
            |word: &str| start.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
        if starts_with("<!doctype html") || starts_with("<html") {
            return Self::Html;
        }
        let first_line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
        match serde_json::from_slice::<Value>(first_line) {
            Ok(Value::Object(_)) => Self::Lines,
            _ => Self::Text,
        }
    }

    /// Whether it holds records of its own, which are bounded one by one and not together.
    pub(super) fn holds_records(self) -> bool {
        matches!(self, Self::Lines | Self::Posts)
    }
}

/// What a document of a file is read as.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Readable {
    pub(super) title: Option<String>,
    pub(super) text: String,
}

/// A record of a file: to be sent, or one that the file shows but that can't be made.
#[derive(Debug)]
pub(super) enum Entry {
    Record(RawRecord),
    Reject(Box<Reject>),
    /// There is nothing in it: what stood under its key goes, and it is told.
    Blank(Box<Reject>),
}

/// Reads a file's bytes. What can't be understood is told with its place.
pub(super) fn entries(name: &str, bytes: Vec<u8>, settings: &Settings) -> Vec<Entry> {
    match Kind::by_ending(name).unwrap_or_else(|| Kind::by_content(&bytes)) {
        Kind::Lines => lines(name, &bytes, settings),
        Kind::Posts => posts::entries(name, &bytes, settings),
        kind => vec![document(kind, name, bytes, settings)],
    }
}

fn document(kind: Kind, name: &str, bytes: Vec<u8>, settings: &Settings) -> Entry {
    let topic = Arc::from(&*settings.documents);
    // A text that was cut off at the limit must not look like a whole one; the decoder says how long it may be.
    if bytes.len() > settings.max_bytes {
        return Entry::Record(RawRecord::new(&topic, name, Some(bytes)));
    }
    let n_bytes = bytes.len();
    let refused = |line: Option<u32>, reason: String, bytes: Vec<u8>| {
        Box::new(reject(&RawRecord::new(&topic, name, Some(bytes)), Stage::Decode, line, reason, true))
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let (line, reason) = not_utf8(error.as_bytes(), error.utf8_error().valid_up_to());
            return Entry::Reject(refused(Some(line), reason, error.into_bytes()));
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let Readable { title, text } = match kind {
        Kind::Markdown => markdown::read(text),
        Kind::Html => match html::read(text) {
            Ok(page) => page,
            Err(reason) => return Entry::Reject(refused(None, reason, text.as_bytes().to_vec())),
        },
        Kind::Text | Kind::Lines | Kind::Posts => Readable { title: None, text: text.to_owned() },
    };
    if text.trim().is_empty() {
        let reason = match n_bytes {
            0 => "the file is empty: there is no document in it, and none stands under its name".to_owned(),
            _ => format!(
                "the file has no text in its {n_bytes} bytes: there is no document in it, and none stands under its name"
            ),
        };
        return Entry::Blank(refused(None, reason, Vec::new()));
    }
    let document = Document { title, horizon_hours: horizon_hours(name), ..Document::plain(name, text) };
    Entry::Record(RawRecord::new(&topic, name, Some(to_json(&document))))
}

/// Where a file stops being UTF-8, for a person.
fn not_utf8(bytes: &[u8], at: usize) -> (u32, String) {
    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let guess = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "; it looks like UTF-16",
        // The last letter has fewer bytes than its first one says.
        _ if str::from_utf8(&bytes[at..]).is_err_and(|e| e.error_len().is_none()) => "; its last letter is cut",
        _ => "",
    };
    let byte = bytes[at];
    let reason =
        format!("the file is not UTF-8 (byte 0x{byte:02X} at position {at}, in line {line}){guess}: save it in UTF-8");
    (u32::try_from(line).unwrap_or(u32::MAX), reason)
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
        // Many corpora have a text under an id of their own, which is unique within them only.
        let id = object.get("id").filter(|_| object.contains_key("text") && !object.contains_key("key"));
        let id = id.and_then(|id| id.as_str().map(str::to_owned).or_else(|| id.as_u64().map(|id| id.to_string())));
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            object.shift_remove("id");
            return Entry::Record(RawRecord::new(&documents, format!("{name}#id={id}"), Some(to_json(&object))));
        }
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
    fn an_ending_decides_and_only_where_there_is_none_the_content() {
        let kind = |name: &str, bytes: &[u8]| Kind::by_ending(name).unwrap_or_else(|| Kind::by_content(bytes));
        let page = b"\xef\xbb\xbf\n <!DOCTYPE HTML><p>x";
        assert_eq!(kind("a/notes", page), Kind::Html);
        assert_eq!(kind("a/notes.txt", page), Kind::Text);
        assert_eq!(kind("a/notes.MD", page), Kind::Markdown);
        assert_eq!(kind("a.b/notes", b"{\"text\": \"x\"}\n{"), Kind::Lines);
        assert_eq!(kind("notes", b"{ x"), Kind::Text);
        assert_eq!(kind("notes", b"<htm"), Kind::Text);
        assert_eq!(kind("notes", b""), Kind::Text);
    }

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
