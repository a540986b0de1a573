//! What the files held when they were last looked at, and the difference to what they hold now.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::Read,
    path::Path,
    sync::Arc,
    time::SystemTime,
};

use hypercane_schemas::{Reject, Stage};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    Error, Settings,
    content::{Entry, entries},
};
use crate::connect::{
    format::reject,
    transport::{Event, Outlet, RawRecord},
};

type Key = (Arc<str>, Vec<u8>);

/// The files by name.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<String, Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    stamp: Option<(SystemTime, u64)>,
    hash: u128,
    /// The last entry under each key, as a hash; a refused one keeps its key, so that an older good one is not deleted.
    entries: BTreeMap<Key, u128>,
}

impl Snapshot {
    /// Whether a file holds this key.
    pub(super) fn has(&self, topic: &Arc<str>, key: &str) -> bool {
        let key = (Arc::clone(topic), key.as_bytes().to_vec());
        self.files.values().any(|seen| seen.entries.contains_key(&key))
    }

    /// Looks at the files again and sends what differs; false when nobody wants more.
    pub(super) fn send_changes(&mut self, settings: &Settings, outlet: &Outlet) -> Result<bool, Error> {
        let mut present = BTreeMap::new();
        for selection in &settings.selections {
            for found in selection.files()? {
                if let Some(other) = present.insert(found.name.clone(), found.path.clone())
                    && other != found.path
                {
                    return Err(Error::lasting(format!(
                        "{} and {} would be the same document {}: choose one folder above both",
                        other.display(),
                        found.path.display(),
                        found.name
                    )));
                }
            }
        }
        for (name, path) in &present {
            if !self.send_file(name, path, settings, outlet) {
                return Ok(false);
            }
        }
        let gone: Vec<String> = self.files.keys().filter(|name| !present.contains_key(*name)).cloned().collect();
        for name in gone {
            let seen = self.files.remove(&name).unwrap_or_default();
            if !seen.entries.into_keys().all(|key| outlet.send(deletion(key))) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn send_file(&mut self, name: &str, path: &Path, settings: &Settings, outlet: &Outlet) -> bool {
        let seen = self.files.get(name);
        let stamp = fs::metadata(path).and_then(|data| Ok((data.modified()?, data.len()))).ok();
        if seen.is_some_and(|seen| seen.stamp.is_some() && seen.stamp == stamp) {
            return true;
        }
        let bytes = match read(path, name, settings) {
            Ok(bytes) => bytes,
            // It went between listing and reading; the next look will say so.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return true,
            Err(e) => {
                let reason = format!("the file can't be read: {e}");
                let rejected = unreadable(name, reason, settings);
                let is_new = seen.is_none_or(|seen| seen.hash != rejected.id.0);
                let mut now = self.files.remove(name).unwrap_or_default();
                (now.stamp, now.hash) = (None, rejected.id.0);
                self.files.insert(name.to_owned(), now);
                return !is_new || outlet.send(Event::Rejected(Box::new(rejected)));
            }
        };
        let hash = xxh3_128(&bytes);
        if let Some(seen) = self.files.get_mut(name).filter(|seen| seen.hash == hash) {
            seen.stamp = stamp;
            return true;
        }
        let before = self.files.remove(name);
        let now = entries(name, bytes, settings);
        let mut after = Seen { stamp, hash, entries: BTreeMap::new() };
        for entry in &now {
            let (key, hash) = identity(entry, settings);
            after.entries.insert(key, hash);
        }
        let sent = send_entries(now, before.as_ref(), &after, settings, outlet);
        self.files.insert(name.to_owned(), after);
        sent
    }
}

/// The first time all entries of a file are sent, as a log would be; later only those whose last state differs.
fn send_entries(now: Vec<Entry>, before: Option<&Seen>, after: &Seen, settings: &Settings, outlet: &Outlet) -> bool {
    for entry in now {
        let (key, hash) = identity(&entry, settings);
        let is_change = before
            .is_none_or(|before| before.entries.get(&key) != Some(&hash) && after.entries.get(&key) == Some(&hash));
        let event = match entry {
            Entry::Record(record) => Event::Record(record),
            Entry::Reject(reject) => Event::Rejected(reject),
        };
        if is_change && !outlet.send(event) {
            return false;
        }
    }
    let no_longer: BTreeSet<&Key> = before
        .map(|before| before.entries.keys().filter(|key| !after.entries.contains_key(*key)).collect())
        .unwrap_or_default();
    no_longer.into_iter().all(|key| outlet.send(deletion(key.clone())))
}

fn identity(entry: &Entry, settings: &Settings) -> (Key, u128) {
    match entry {
        Entry::Record(record) => {
            let key = (Arc::clone(&record.topic), record.key.clone().unwrap_or_default());
            (key, record.payload.as_deref().map_or(0, xxh3_128))
        }
        Entry::Reject(reject) => {
            let key = (Arc::from(&*settings.documents), reject.key.clone().into_bytes());
            (key, xxh3_128([reject.id.to_string(), reject.payload_base64.clone()].concat().as_bytes()))
        }
    }
}

fn deletion((topic, key): Key) -> Event {
    Event::Record(RawRecord::new(&topic, key, None))
}

/// Reads a file, but of a text that is too large for a record only what shows that it is.
fn read(path: &Path, name: &str, settings: &Settings) -> std::io::Result<Vec<u8>> {
    let is_table = [".jsonl", ".ndjson", ".csv"].iter().any(|ending| name.to_lowercase().ends_with(ending));
    let limit = if is_table { u64::MAX } else { settings.max_bytes as u64 + 1 };
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(name: &str, reason: String, settings: &Settings) -> Reject {
    let raw = RawRecord::new(&Arc::from(&*settings.documents), name, None);
    reject(&raw, Stage::Decode, None, reason, true)
}
