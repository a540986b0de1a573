//! What the files held when they were last looked at, and the difference to what they hold now.
//!
//! A file that was written to a moment ago may be half of what it will be, so it is left alone until it is quiet. One that
//! does not get quiet is a log: of JSON Lines the lines that are complete are read, anything else has to wait.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs::{self, File},
    io::Read,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use hypercane_schemas::{Reject, Stage};
use xxhash_rust::xxh3::xxh3_128;

use super::{
    Error, Settings,
    content::{Entry, Kind, entries},
};
use crate::connect::{
    format::reject,
    transport::{Event, Outlet, RawRecord},
};

type Key = (Arc<str>, Vec<u8>);
type Stamp = (SystemTime, u64);

/// A file that was not written to for this long is taken for whole.
pub(super) const QUIET: Duration = Duration::from_millis(250);
/// A file that goes on changing for this long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of looking at the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// Nobody wants more.
    Unwanted,
    /// Some files were changing a moment ago; they have to be looked at again soon.
    Changing,
    /// Everything was read that can be.
    Done,
}

/// The files by name.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<String, Seen>,
    changing: BTreeMap<String, Change>,
}

#[derive(Debug, Default)]
struct Seen {
    stamp: Option<Stamp>,
    hash: u128,
    /// The last entry under each key, as a hash; a refused one keeps its key, so that an older good one is not deleted.
    entries: BTreeMap<Key, u128>,
    /// Whether it could not be read when it was last looked at.
    is_unread: bool,
}

/// A file that changes.
#[derive(Debug)]
struct Change {
    stamp: Stamp,
    /// Since when it has this stamp, and since when it changes.
    since: Instant,
    began: Instant,
    /// Whether it has changed for so long that it is not waited for.
    is_overdue: bool,
}

impl Snapshot {
    /// Those of some keys of a topic that no file holds, nor may hold though it could not be read.
    pub(super) fn lost<'a>(&self, topic: &str, keys: &'a [String]) -> Vec<&'a str> {
        let of_topic = self.files.values().flat_map(|seen| seen.entries.keys()).filter(|(of, _)| **of == *topic);
        let held: HashSet<&[u8]> = of_topic.map(|(_, key)| key.as_slice()).collect();
        let unread: HashSet<&str> = self.unread().collect();
        let is_held = |key: &&str| {
            let file = key.split_once('#').map_or(*key, |(file, _)| file);
            held.contains(key.as_bytes()) || unread.contains(file) || unread.contains(key)
        };
        keys.iter().map(String::as_str).filter(|key| !is_held(key)).collect()
    }

    /// Whether a file could not be read whose keys are known only when it is.
    pub(super) fn keys_are_missing(&self) -> bool {
        self.unread().any(|name| Kind::by_ending(name).is_none_or(Kind::holds_records))
    }

    fn unread(&self) -> impl Iterator<Item = &str> {
        let unread = self.files.iter().filter(|(_, seen)| seen.is_unread).map(|(name, _)| name.as_str());
        unread.chain(self.changing.keys().map(String::as_str))
    }

    /// Looks at the files again and sends what differs.
    pub(super) fn look(&mut self, settings: &Settings, outlet: &Outlet) -> Result<Looked, Error> {
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
        self.changing.retain(|name, _| present.contains_key(name));
        for (name, path) in &present {
            if !self.look_at(name, path, settings, outlet) {
                return Ok(Looked::Unwanted);
            }
        }
        let gone: Vec<String> = self.files.keys().filter(|name| !present.contains_key(*name)).cloned().collect();
        for name in gone {
            let seen = self.files.remove(&name).unwrap_or_default();
            if !seen.entries.into_keys().all(|key| outlet.send(deletion(key))) {
                return Ok(Looked::Unwanted);
            }
        }
        let waits = self.changing.values().any(|change| !change.is_overdue);
        Ok(if waits { Looked::Changing } else { Looked::Done })
    }

    /// Tells of the files that did not get quiet, for a source that looks no more.
    pub(super) fn give_up(&self, settings: &Settings, outlet: &Outlet) -> bool {
        self.changing.keys().all(|name| {
            let reason = format!(
                "the file is still being written after {} s: read it again when it is complete",
                PATIENCE.as_secs()
            );
            outlet.send(Event::Rejected(Box::new(unread(name, reason, settings))))
        })
    }

    /// Notes the stamp of a file, and whether the file is quiet.
    fn is_quiet(&mut self, name: &str, stamp: Stamp) -> bool {
        // A clock that goes ahead of ours leaves stamps in the future, so these have to stand still for a while.
        let is_old = SystemTime::now().duration_since(stamp.0).is_ok_and(|age| age >= QUIET);
        let now = Instant::now();
        let change =
            self.changing.entry(name.to_owned()).or_insert(Change { stamp, since: now, began: now, is_overdue: false });
        if change.stamp != stamp {
            (change.stamp, change.since) = (stamp, now);
        }
        let is_quiet = is_old || change.since.elapsed() >= QUIET;
        if is_quiet {
            self.changing.remove(name);
        } else if !change.is_overdue && change.began.elapsed() >= PATIENCE {
            change.is_overdue = true;
            tracing::warn!(file = name, "a file does not stop changing; it is read as a whole when it does");
        }
        is_quiet
    }

    /// Looks at one file; false when nobody wants more.
    fn look_at(&mut self, name: &str, path: &Path, settings: &Settings, outlet: &Outlet) -> bool {
        let stamp = stamp(path);
        if self.files.get(name).is_some_and(|seen| seen.stamp.is_some() && seen.stamp == stamp) {
            self.changing.remove(name);
            return true;
        }
        let is_quiet = stamp.is_none_or(|stamp| self.is_quiet(name, stamp));
        // A log has whole lines at any time.
        let is_log = Kind::by_ending(name) == Some(Kind::Lines);
        let is_overdue = self.changing.get(name).is_some_and(|change| change.is_overdue);
        if !(is_quiet || is_log && is_overdue) {
            return true;
        }
        let mut bytes = match read(path, name, settings) {
            Ok(bytes) => bytes,
            // It went between listing and reading; the next look will say so.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return true,
            Err(e) => {
                let rejected = unread(name, format!("the file can't be read: {e}"), settings);
                let seen = self.files.entry(name.to_owned()).or_default();
                let is_new = seen.hash != rejected.id.0;
                (seen.stamp, seen.hash, seen.is_unread) = (None, rejected.id.0, true);
                if !Kind::by_ending(name).is_none_or(Kind::holds_records) {
                    // Its document may stand since an earlier run; it goes when the file does.
                    seen.entries.entry((Arc::from(&*settings.documents), name.into())).or_insert(0);
                }
                return !is_new || outlet.send(Event::Rejected(Box::new(rejected)));
            }
        };
        if is_quiet {
            let now = self::stamp(path);
            if let Some(now) = now.filter(|_| now != stamp) {
                // It was written to while it was read.
                self.is_quiet(name, now);
                return true;
            }
        } else {
            bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
        }
        let stamp = stamp.filter(|_| is_quiet);
        let hash = xxh3_128(&bytes);
        if let Some(seen) = self.files.get_mut(name).filter(|seen| seen.hash == hash) {
            (seen.stamp, seen.is_unread) = (stamp, false);
            return true;
        }
        let before = self.files.remove(name);
        let now = entries(name, bytes, settings);
        let mut after = Seen { stamp, hash, ..Seen::default() };
        for entry in &now {
            let (key, hash) = identity(entry, settings);
            after.entries.insert(key, hash);
        }
        let sent = send_entries(now, before.as_ref(), &after, settings, outlet);
        self.files.insert(name.to_owned(), after);
        sent
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).and_then(|data| Ok((data.modified()?, data.len()))).ok()
}

/// The first time all entries of a file are sent, as a log would be; later only those whose last state differs.
fn send_entries(now: Vec<Entry>, before: Option<&Seen>, after: &Seen, settings: &Settings, outlet: &Outlet) -> bool {
    for entry in now {
        let (key, hash) = identity(&entry, settings);
        let is_change = before
            .is_none_or(|before| before.entries.get(&key) != Some(&hash) && after.entries.get(&key) == Some(&hash));
        if !is_change {
            continue;
        }
        let event = match entry {
            Entry::Record(record) => Event::Record(record),
            Entry::Reject(reject) => Event::Rejected(reject),
            Entry::Blank(reject) => {
                let stood = before.is_some() || settings.known_keys.contains(&reject.key);
                if stood && !outlet.send(deletion(key)) {
                    return false;
                }
                Event::Rejected(reject)
            }
        };
        if !outlet.send(event) {
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
        Entry::Reject(reject) | Entry::Blank(reject) => {
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
    let holds_records = Kind::by_ending(name).is_none_or(Kind::holds_records);
    let limit = if holds_records { u64::MAX } else { settings.max_bytes as u64 + 1 };
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unread(name: &str, reason: String, settings: &Settings) -> Reject {
    let raw = RawRecord::new(&Arc::from(&*settings.documents), name, None);
    reject(&raw, Stage::Decode, None, reason, true)
}
