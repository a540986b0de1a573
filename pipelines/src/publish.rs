//! Files to records for topics: read as the source of files reads them, keyed as the decoder wants them, and, for tests
//! of what may happen on the way, out of order and more than once.

use std::collections::BTreeMap;

use hypercane_schemas::{ContentHash, Reject};
use serde_json::Value;

use crate::connect::{
    self, files,
    transport::{Event, Limits, RawRecord},
};

/// What files hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// What can be sent.
    pub records: Vec<RawRecord>,
    /// What can't.
    pub rejects: Vec<Reject>,
}

/// Reads everything that the settings select.
///
/// # Errors
/// A folder can't be read.
pub fn read(settings: files::Settings) -> Result<Contents, connect::Error> {
    let feed = files::open(files::Settings { watch: false, ..settings }, Limits::default())?;
    let mut contents = Contents::default();
    for event in feed.iter() {
        match event {
            Event::Record(record) => contents.records.push(keyed(record)),
            Event::Rejected(reject) | Event::Skipped(reject, _) => contents.rejects.push(*reject),
            Event::CaughtUp => {}
            Event::Failed(error) => return Err(error),
        }
    }
    Ok(contents)
}

/// A bare line of JSON that is a question or a reference time goes under its own id or group, as its topic wants it.
fn keyed(record: RawRecord) -> RawRecord {
    let own = record.payload.as_deref().and_then(|payload| {
        let object: Value = serde_json::from_slice(payload).ok()?;
        let name = if object.get("question").is_some() {
            "id"
        } else if object.get("reference_event").is_some() {
            "group"
        } else {
            return None;
        };
        Some(object.get(name)?.as_str()?.as_bytes().to_vec())
    });
    match own {
        Some(key) => RawRecord { key: Some(key), ..record },
        None => record,
    }
}

/// Records in another order, some of them twice. What has one key keeps its order, as on a partition of a topic; the
/// second copy of a record comes before the next record under its key. Equal seeds give equal orders.
pub fn disorder(records: Vec<RawRecord>, seed: Option<u64>, duplicates: f64) -> Vec<RawRecord> {
    let mut all = Vec::with_capacity(records.len());
    for (idx, record) in records.into_iter().enumerate() {
        let again = dice("again", seed.unwrap_or_default(), idx) < duplicates;
        all.push(record.clone());
        if again {
            all.push(record);
        }
    }
    let Some(seed) = seed else { return all };
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by(|a, b| dice("place", seed, *a).total_cmp(&dice("place", seed, *b)));
    let mut by_key: BTreeMap<(String, Option<Vec<u8>>), Vec<usize>> = BTreeMap::new();
    for (record, place) in all.iter().zip(&places) {
        by_key.entry((record.topic.to_string(), record.key.clone())).or_default().push(*place);
    }
    for free in by_key.values_mut() {
        free.sort_unstable_by(|a, b| b.cmp(a));
    }
    let mut placed: Vec<(usize, RawRecord)> = Vec::with_capacity(all.len());
    for record in all {
        let free = by_key.get_mut(&(record.topic.to_string(), record.key.clone()));
        placed.push((free.and_then(Vec::pop).unwrap_or_default(), record));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, record)| record).collect()
}

/// A number in [0, 1) that only depends on what is given.
fn dice(what: &str, seed: u64, idx: usize) -> f64 {
    let hash = ContentHash::of_parts([what, &seed.to_string(), &idx.to_string()]).0;
    (hash >> 96) as f64 / 2_f64.powi(32)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{RawRecord, disorder, keyed};

    fn records(n: usize) -> Vec<RawRecord> {
        let topic = Arc::from("documents");
        (0..n).map(|n| RawRecord::new(&topic, format!("k{}", n % 40), Some(n.to_string().into_bytes()))).collect()
    }

    fn number(record: &RawRecord) -> usize {
        std::str::from_utf8(record.payload.as_deref().unwrap()).unwrap().parse().unwrap()
    }

    #[test]
    fn a_shuffle_loses_nothing_and_keeps_the_order_under_each_key() {
        let sent = disorder(records(200), Some(7), 0.1);
        assert_eq!(sent, disorder(records(200), Some(7), 0.1));
        assert_ne!(sent, disorder(records(200), Some(8), 0.1));
        assert!((205..=240).contains(&sent.len()), "{}", sent.len());
        let numbers: Vec<usize> = sent.iter().map(number).collect();
        assert!(!numbers.is_sorted());
        for key in 0..40 {
            let of_key: Vec<usize> = numbers.iter().copied().filter(|n| n % 40 == key).collect();
            assert!(of_key.is_sorted(), "{of_key:?}");
        }
        let mut once = numbers;
        once.sort_unstable();
        once.dedup();
        assert_eq!(once, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn without_a_seed_the_order_stays() {
        assert_eq!(disorder(records(50), None, 0.0), records(50));
        assert_eq!(disorder(records(3), None, 1.0).iter().map(number).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn questions_and_reference_times_go_under_their_own_names() {
        let topic = Arc::from("queries");
        for (payload, key) in [
            (r#"{"id":"q1","question":"Where?"}"#, "q1"),
            (r#"{"group":"AL092017","reference_event":"landfall"}"#, "AL092017"),
            (r#"{"key":"d","text":"words","group":"AL092017"}"#, "line"),
        ] {
            let record = keyed(RawRecord::new(&topic, "line", Some(payload.into())));
            assert_eq!(record.key.as_deref(), Some(key.as_bytes()));
        }
    }
}
