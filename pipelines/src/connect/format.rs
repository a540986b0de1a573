//! Reading records: JSON payloads of the three input topics to the records of `hypercane-schemas`, or to a reject.
//!
//! A payload that can't be used is never an error of the stream. It becomes a row that says where it came from, what is
//! wrong with it and what its sender can do, and holds the bytes, so that it can be sent again.

use std::str;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hypercane_schemas::{
    ContentHash, Document, DocumentKey, Fixed, GroupKey, HorizonUpdate, Query, QueryId, Reject, Stage,
};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::transport::RawRecord;

/// A change of the input: the new state under a key, or none where it was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Topic of documents.
    Document(DocumentKey, Option<Document>),
    /// Topic of reference times, keyed by the group.
    Horizon(GroupKey, Option<HorizonUpdate>),
    /// Topic of standing questions.
    Query(QueryId, Option<Query>),
}

impl Input {
    /// The document that comes under a key, or none where it goes; `None` for a change of anything else.
    pub fn document(&self) -> Option<(&DocumentKey, Option<&Document>)> {
        match self {
            Self::Document(key, document) => Some((key, document.as_ref())),
            _ => None,
        }
    }
}

/// What is read: the names of the topics, and the largest record that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoder {
    /// Topic of documents.
    pub documents: String,
    /// Topic of reference times.
    pub horizons: String,
    /// Topic of standing questions.
    pub queries: String,
    /// Largest payload, in bytes.
    pub max_bytes: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            documents: "documents".into(),
            horizons: "horizons".into(),
            queries: "queries".into(),
            max_bytes: 8 << 20,
        }
    }
}

impl Decoder {
    /// Reads a record.
    pub fn decode(&self, raw: &RawRecord) -> Result<Input, Box<Reject>> {
        self.read(raw).map_err(|reason| {
            let too_large = raw.payload.as_ref().is_some_and(|payload| payload.len() > self.max_bytes);
            Box::new(reject(raw, Stage::Decode, None, reason, !too_large))
        })
    }

    fn read(&self, raw: &RawRecord) -> Result<Input, String> {
        if let Some(payload) = &raw.payload {
            if payload.len() > self.max_bytes {
                return Err(format!(
                    "the payload has {} bytes and {} are taken: split the document or raise max_record_bytes; the bytes are not kept here, read them at their place in the topic",
                    payload.len(),
                    self.max_bytes
                ));
            }
            if payload.is_empty() {
                return Err("the payload is empty: send JSON, or a null payload to delete".into());
            }
        }
        let key = match &raw.key {
            None => None,
            Some(key) => Some(text_of(key).map_err(|e| format!("the key is {e}: send a key in UTF-8"))?),
        };
        let key = key.filter(|key| !key.is_empty());
        match &*raw.topic {
            topic if topic == self.documents => self.document(key, raw.payload.as_deref()),
            topic if topic == self.horizons => horizon(key, raw.payload.as_deref()),
            topic if topic == self.queries => query(key, raw.payload.as_deref()),
            topic => Err(format!(
                "topic {topic} is not read here: send to {}, {} or {}",
                self.documents, self.horizons, self.queries
            )),
        }
    }

    fn document(&self, key: Option<&str>, payload: Option<&[u8]>) -> Result<Input, String> {
        let Some(payload) = payload else {
            return Ok(Input::Document(DocumentKey(deleted(key)?), None));
        };
        let mut document: Document = json(payload, "document")?;
        document.key = DocumentKey(one_key(key, &document.key.0, "key")?);
        if document.text.trim().is_empty() {
            return Err("`text` holds no text: to delete the document, send a null payload under its key".into());
        }
        if document.text.contains('\0') {
            return Err("`text` holds NUL characters, so it is no text: send the text of the document".into());
        }
        if document.reliability <= Fixed(0) || document.reliability > Fixed::ONE {
            return Err(format!("`reliability` is {}: give a number above 0, at most 1", document.reliability));
        }
        if let Some(issued_at) = document.issued_at {
            plausible("issued_at", issued_at)?;
        }
        Ok(Input::Document(document.key.clone(), Some(document)))
    }
}

fn horizon(key: Option<&str>, payload: Option<&[u8]>) -> Result<Input, String> {
    let Some(payload) = payload else {
        return Ok(Input::Horizon(GroupKey(deleted(key)?), None));
    };
    let update: HorizonUpdate = json(payload, "horizon update")?;
    let group = GroupKey(one_key(key, &update.group.0, "group")?);
    plausible("reference_at", update.reference_at)?;
    plausible("issued_at", update.issued_at)?;
    Ok(Input::Horizon(group, Some(update)))
}

fn query(key: Option<&str>, payload: Option<&[u8]>) -> Result<Input, String> {
    let Some(payload) = payload else {
        return Ok(Input::Query(QueryId(deleted(key)?), None));
    };
    let mut query: Query = json(payload, "query")?;
    query.id = QueryId(one_key(key, &query.id.0, "id")?);
    if query.question.trim().is_empty() {
        return Err("`question` holds no question: to delete the query, send a null payload under its id".into());
    }
    let parameters = &query.parameters;
    for (name, value) in [
        ("beam_width", parameters.beam_width),
        ("length", parameters.length),
        ("trajectories", parameters.trajectories),
        ("seeds", parameters.seeds),
        ("candidates", parameters.candidates),
    ] {
        if value == 0 {
            return Err(format!("`parameters.{name}` is 0: give at least 1"));
        }
    }
    if parameters.own_group_share < Fixed(0) || parameters.own_group_share > Fixed::ONE {
        return Err(format!("`parameters.own_group_share` is {}: give 0 to 1", parameters.own_group_share));
    }
    if let Some(as_of) = query.as_of {
        plausible("as_of", as_of)?;
    }
    Ok(Input::Query(query.id.clone(), Some(query)))
}

/// A reject for a record. The payload is kept where `keep_payload`, else only the place says where it is.
pub fn reject(raw: &RawRecord, stage: Stage, line: Option<u32>, reason: String, keep_payload: bool) -> Reject {
    let key = raw.key.as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
    let place = |number: Option<i64>| number.map(|n| n.to_string()).unwrap_or_default();
    let (partition, offset) = (place(raw.partition.map(i64::from)), place(raw.offset));
    let line_name = place(line.map(i64::from));
    let id = ContentHash::of_parts([&raw.topic, &*partition, &*offset, &*key, stage.name(), &*line_name, &*reason]);
    let payload = raw.payload.as_deref().filter(|_| keep_payload).unwrap_or_default();
    Reject {
        id,
        topic: raw.topic.to_string(),
        partition: raw.partition,
        offset: raw.offset,
        key,
        stage,
        line,
        reason,
        payload_base64: STANDARD.encode(payload),
    }
}

/// A reject as the payload of a topic, in at most `max_bytes`: brokers refuse large records, so a large payload is left
/// out, and the reason says so.
pub fn encode_reject(reject: &Reject, max_bytes: usize) -> Vec<u8> {
    if reject.payload_base64.len() + reject.reason.len() + reject.key.len() + 1024 <= max_bytes {
        return to_json(reject);
    }
    let n_bytes = reject.payload_base64.len() / 4 * 3;
    to_json(&Reject {
        reason: format!("{} (payload of about {n_bytes} bytes left out here, the lake has it)", reject.reason),
        payload_base64: String::new(),
        ..reject.clone()
    })
}

/// A value as JSON.
pub(super) fn to_json(value: &impl serde::Serialize) -> Vec<u8> {
    // Our records have string keys and finite numbers only, so their JSON form always exists.
    serde_json::to_vec(value).expect("records are written as JSON")
}

fn deleted(key: Option<&str>) -> Result<String, String> {
    key.map(str::to_owned)
        .ok_or_else(|| "a null payload deletes what has the key, and there is none: send a key".into())
}

/// The key of a record, from the message and from the payload. A deletion has only the message's, so they must agree.
fn one_key(message: Option<&str>, payload: &str, field: &str) -> Result<String, String> {
    match (message, payload) {
        (None, "") => Err(format!("there is no key: send it as the message key or as `{field}`")),
        (None, key) => Ok(key.to_owned()),
        (Some(key), "") => Ok(key.to_owned()),
        (Some(key), same) if key == same => Ok(key.to_owned()),
        (Some(key), other) => {
            Err(format!("the message key is {key:?} but `{field}` is {other:?}: send the same, or leave one out"))
        }
    }
}

/// Times far from ours are slips of the sender's clock or parser, and tables can't hold all of them.
fn plausible(field: &str, at: Timestamp) -> Result<(), String> {
    let year = jiff::tz::Offset::UTC.to_datetime(at).year();
    if (1800..2200).contains(&year) {
        return Ok(());
    }
    Err(format!("`{field}` is in the year {year}: give a time from 1800 to 2199"))
}

fn text_of(bytes: &[u8]) -> Result<&str, String> {
    str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        format!("not UTF-8 (byte 0x{:02X} at position {at})", bytes[at])
    })
}

fn json<T: DeserializeOwned>(payload: &[u8], what: &str) -> Result<T, String> {
    let text = text_of(payload).map_err(|e| format!("the payload is {e}: send JSON in UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let not_json = |e: &serde_json::Error| {
        format!("the payload is not JSON ({e}): send one {what} as JSON; raw texts go through `hypercane publish`")
    };
    // A list would be read as the fields in their order, which no sender means.
    if !text.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => format!("the payload is JSON but no object: send one {what} as an object"),
            Err(e) => not_json(&e),
        });
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|e| {
        let path = e.path().to_string();
        let inner = e.into_inner();
        match inner.classify() {
            Category::Data if path == "." => format!("the payload is no {what}: {inner}"),
            Category::Data => format!("the payload is no {what}: field `{path}`: {inner}"),
            _ => not_json(&inner),
        }
    })?;
    deserializer.end().map_err(|e| not_json(&e))?;
    Ok(value)
}

#[cfg(test)]
mod tests;
