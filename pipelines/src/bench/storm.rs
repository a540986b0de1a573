//! The records of one storm after the other, as a soak replays them.
//!
//! Questions are asked, the storm passes, half of the questions are withdrawn on the way, documents are corrected, its
//! reference times move, and at the end everything is deleted. A few variants differ in which documents are corrected, in
//! how late the storm arrives and in the order of deletion; after the last one the first comes again.

use std::sync::Arc;

use hypercane_schemas::Query;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::records::corrected;
use crate::connect::{self, format::Decoder, transport::RawRecord};

const VARIANTS: usize = 4;
/// One document in so many is corrected.
const CORRECTED: usize = 3;

/// The records of all variants.
pub(super) fn cycles(storm: &[RawRecord], queries: &[Query]) -> Result<Vec<Vec<RawRecord>>, connect::Error> {
    (0..VARIANTS).map(|variant| cycle(storm, queries, variant)).collect()
}

fn cycle(storm: &[RawRecord], queries: &[Query], variant: usize) -> Result<Vec<RawRecord>, connect::Error> {
    let topics = Decoder::default();
    let topic: Arc<str> = topics.queries.as_str().into();
    let mut all = Vec::new();
    for query in queries {
        all.push(RawRecord::new(&topic, query.id.0.as_str(), Some(json(query)?)));
    }
    let withdraw = |query: &Query| RawRecord::new(&topic, query.id.0.as_str(), None);
    let mut withdrawn: Vec<RawRecord> = queries.iter().skip(variant % 2).step_by(2).map(withdraw).collect();
    let mut deletions: Vec<RawRecord> = Vec::new();
    for (at, record) in storm.iter().enumerate() {
        if at == storm.len() / 2 {
            all.append(&mut withdrawn);
        }
        deletions.retain(|deletion| deletion.key != record.key || deletion.topic != record.topic);
        let Some(payload) = &record.payload else {
            all.push(record.clone());
            continue;
        };
        deletions.push(RawRecord { payload: None, ..record.clone() });
        let fields: Value = serde_json::from_slice(payload)
            .map_err(|e| connect::Error::lasting("a record of the storm is no JSON".to_owned()).because(e))?;
        if *record.topic == *topics.horizons {
            all.push(with(record, fields, "reference_at", |at| later(at, variant))?);
            continue;
        }
        all.push(record.clone());
        if at % CORRECTED == variant % CORRECTED {
            all.push(with(record, fields, "text", |text| Some(corrected(text)))?);
        }
    }
    if variant % 2 == 1 {
        deletions.reverse();
    }
    all.append(&mut deletions);
    Ok(all)
}

/// The moment so many hours later.
fn later(moment: &str, hours: usize) -> Option<String> {
    let moment: Timestamp = moment.parse().ok()?;
    Some(moment.checked_add(SignedDuration::from_hours(hours as i64)).ok()?.to_string())
}

/// The record with one text changed; as it is where the change does not fit.
fn with(
    record: &RawRecord,
    mut fields: Value,
    name: &str,
    change: impl Fn(&str) -> Option<String>,
) -> Result<RawRecord, connect::Error> {
    if let Some(changed) = fields[name].as_str().and_then(change) {
        fields[name] = Value::String(changed);
    }
    Ok(RawRecord { payload: Some(json(&fields)?), ..record.clone() })
}

fn json(row: &impl serde::Serialize) -> Result<Vec<u8>, connect::Error> {
    serde_json::to_vec(row)
        .map_err(|e| connect::Error::lasting("a record can't be written as JSON".to_owned()).because(e))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use super::{RawRecord, cycles};

    #[test]
    fn each_storm_leaves_nothing_behind_and_the_variants_differ() {
        let record = |topic: &str, key: &str, payload: Option<&str>| {
            RawRecord::new(&Arc::from(topic), key, payload.map(|text| text.as_bytes().to_vec()))
        };
        let storm = [
            record("documents", "a", Some(r#"{"text": "85 KT"}"#)),
            record("horizons", "g", Some(r#"{"reference_at": "2020-08-27T04:00:00Z"}"#)),
            record("documents", "b", Some(r#"{"text": "90 KT"}"#)),
            record("documents", "a", None),
            record("documents", "a", Some(r#"{"text": "80 KT"}"#)),
        ];
        let queries = [serde_json::from_str(r#"{"id": "q", "question": "Is it open?"}"#).unwrap()];
        let cycles = cycles(&storm, &queries).unwrap();
        for cycle in &cycles {
            let mut standing = BTreeMap::new();
            for record in cycle {
                standing.insert((record.topic.clone(), record.key.clone()), record.payload.is_some());
            }
            standing.retain(|(topic, _), stands| *stands && &**topic != "queries");
            assert!(standing.is_empty(), "{standing:?}");
        }
        let text = |cycle: &[RawRecord]| {
            cycle.iter().filter_map(|r| r.payload.clone()).map(|p| String::from_utf8(p).unwrap()).collect::<Vec<_>>()
        };
        assert!(text(&cycles[0]).iter().any(|text| text.contains("90 KT")), "corrected");
        assert!(text(&cycles[3]).iter().any(|text| text.contains("2020-08-27T07:00:00Z")), "moved");
        assert!(cycles.iter().enumerate().all(|(n, cycle)| cycles[..n].iter().all(|other| other != cycle)));
    }
}
