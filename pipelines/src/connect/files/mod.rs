//! Files as a source: folders, single files and globs, read once or watched.
//!
//! | file | becomes |
//! | --- | --- |
//! | `.jsonl`, `.ndjson` | one record a line: `{"topic": …, "key": …, "value": …}`, or a bare document |
//! | `.csv` | one document a row, for tables of port posts (columns `id`, `time_utc`, `text`), key `PATH#id=ID` |
//! | anything else | one document, key `PATH` |
//!
//! PATH is relative to the folder (or to the part of a glob before its first wildcard), with `/`. A name that ends in
//! `T-048h` says that the document stands for the horizon 48 hours before its reference event. Files are read in the
//! order of their paths. A file has no offsets: after a restart all are read again, and what is unchanged cancels out.

mod content;
mod posts;
mod selection;
mod snapshot;

pub use selection::Selection;

use std::{sync::Arc, time::Duration};

use notify::{RecursiveMode, Watcher};

use hypercane_schemas::{Document, Reject};

use self::snapshot::Snapshot;
use super::{
    Error,
    format::{Decoder, Input},
    transport::{Event, Feed, Limits, Outlet, RawRecord},
};

/// What is read, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The files.
    pub selections: Vec<Selection>,
    /// Whether to go on when all is read: changes are sent as they happen, a file that goes is a null payload.
    pub watch: bool,
    /// The topic of documents.
    pub documents: String,
    /// The topic of reference times, for JSON Lines.
    pub horizons: String,
    /// The topic of standing questions, for JSON Lines.
    pub queries: String,
    /// Largest file that is read as one record; of a larger one just enough is read for the decoder to refuse it.
    pub max_bytes: usize,
    /// Keys of documents that an earlier run sent; those that no file has any more are deleted.
    pub known_keys: Vec<String>,
}

impl Settings {
    /// Reads the named folders, files and globs once, into the topics of the default names.
    pub fn once<P: AsRef<str>>(paths: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let selections = paths.into_iter().map(|path| Selection::parse(path.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self {
            selections,
            watch: false,
            documents: "documents".into(),
            horizons: "horizons".into(),
            queries: "queries".into(),
            max_bytes: 8 << 20,
            known_keys: Vec::new(),
        })
    }
}

/// Starts to read.
pub fn open(settings: Settings, limits: Limits) -> Result<Feed, Error> {
    // A path that is wrong is the caller's to hear at once, not a record's.
    for selection in &settings.selections {
        selection.check()?;
    }
    Feed::spawn("files", limits, move |outlet| run(&settings, outlet))
}

/// All documents that a selection holds now, and what in it can't be one. Other records than documents are left out.
///
/// # Errors
/// A folder or file can't be read.
pub fn documents(selection: Selection) -> Result<(Vec<Document>, Vec<Reject>), Error> {
    let settings = Settings { selections: vec![selection], ..Settings::once::<&str>([])? };
    let decoder = Decoder::default();
    let (mut documents, mut rejects) = (Vec::new(), Vec::new());
    for event in open(settings, Limits::default())?.iter() {
        match event {
            Event::Record(record) => match decoder.decode(&record) {
                Ok(Input::Document(_, document)) => documents.extend(document),
                Ok(_) => {}
                Err(reject) => rejects.push(*reject),
            },
            Event::Rejected(reject) | Event::Skipped(reject, _) => rejects.push(*reject),
            Event::CaughtUp => {}
            Event::Failed(error) => return Err(error),
        }
    }
    Ok((documents, rejects))
}

/// After a change the files are left alone until nothing has changed for this long, so that most are seen whole.
const SETTLE: Duration = Duration::from_millis(100);
/// Some file systems report no changes, so the files are looked at from time to time in any case.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
const STOP_CHECK: Duration = Duration::from_millis(100);

fn run(settings: &Settings, outlet: &Outlet) -> Result<(), Error> {
    // Watching starts before the first reading, else a change in between would be missed.
    let watching = if settings.watch { Some(watch(settings)?) } else { None };
    let mut snapshot = Snapshot::default();
    if !snapshot.send_changes(settings, outlet)? {
        return Ok(());
    }
    let topic: Arc<str> = Arc::from(&*settings.documents);
    for key in settings.known_keys.iter().filter(|key| !snapshot.has(&topic, key)) {
        if !outlet.send(Event::Record(RawRecord::new(&topic, key.as_str(), None))) {
            return Ok(());
        }
    }
    if !outlet.send(Event::CaughtUp) {
        return Ok(());
    }
    let Some((_watcher, changes)) = watching else { return Ok(()) };
    while wait(&changes, outlet) {
        match snapshot.send_changes(settings, outlet) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            // A folder that can't be listed has not lost its files: nothing is deleted, and it is tried again.
            Err(error) => tracing::warn!(%error, cause = ?error, "could not look at the watched files"),
        }
    }
    Ok(())
}

type Changes = crossbeam_channel::Receiver<()>;

fn watch(settings: &Settings) -> Result<(notify::RecommendedWatcher, Changes), Error> {
    let (sender, changes) = crossbeam_channel::bounded(1);
    let failed = |what: &str, e: notify::Error| Error::lasting(format!("can't watch {what}")).because(e);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Reading a file is an event too, on some systems; it must not set off the next reading.
        if event.is_err() || event.is_ok_and(|event| !event.kind.is_access()) {
            // Full means that the reader has yet to look, and then it will see this as well.
            let _ = sender.try_send(());
        }
    })
    .map_err(|e| failed("files on this system", e))?;
    for selection in &settings.selections {
        let folder = selection.root();
        watcher.watch(folder, RecursiveMode::Recursive).map_err(|e| failed(&folder.display().to_string(), e))?;
    }
    Ok((watcher, changes))
}

/// Waits for a change and then for quiet; false when the source should end.
fn wait(changes: &Changes, outlet: &Outlet) -> bool {
    let mut waited = Duration::ZERO;
    while changes.recv_timeout(STOP_CHECK).is_err() {
        if outlet.is_stopped() {
            return false;
        }
        waited += STOP_CHECK;
        if waited >= LOOK_AGAIN {
            return true;
        }
    }
    while changes.recv_timeout(SETTLE).is_ok() {}
    !outlet.is_stopped()
}

#[cfg(test)]
mod tests;
