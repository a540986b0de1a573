//! Files as a source: folders, single files and globs, read once or watched.
//!
//! | file | becomes |
//! | --- | --- |
//! | `.jsonl`, `.ndjson` | one record a line: `{"topic": …, "key": …, "value": …}`, or a bare document |
//! | `.csv` | one document a row, for tables of port posts (columns `id`, `time_utc`, `text`), key `PATH#id=ID` |
//! | `.md`, `.markdown` | one document: its text without marks, titled by its front matter or first heading |
//! | `.html`, `.htm`, `.xhtml` | one document: the main content of the page, with its title |
//! | anything else | one document, key `PATH` |
//!
//! A file without an ending is a page or JSON Lines where it starts like one, else a text. Texts are UTF-8. A bare line of
//! JSON with an `id` and no `key` has the key `PATH#id=ID`. A file that holds nothing is no document; what stood under its
//! name goes.
//!
//! PATH is relative to the folder (or to the part of a glob before its first wildcard), with `/`. A name that ends in
//! `T-048h` says that the document stands for the horizon 48 hours before its reference event. Files are read in the
//! order of their paths, each when nobody has written to it for a moment. A file has no offsets: after a restart all are
//! read again, and what is unchanged cancels out.

mod content;
mod html;
mod markdown;
mod posts;
mod selection;
mod snapshot;

pub use selection::Selection;

use std::{sync::Arc, time::Duration};

use notify::{RecursiveMode, Watcher};

use hypercane_schemas::{Document, Reject};

use self::snapshot::{Looked, QUIET, Snapshot};
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

/// Some file systems report no changes, so the files are looked at from time to time in any case.
const LOOK_AGAIN: Duration = Duration::from_secs(10);
const STOP_CHECK: Duration = Duration::from_millis(100);

fn run(settings: &Settings, outlet: &Outlet) -> Result<(), Error> {
    // Watching starts before the first reading, else a change in between would be missed.
    let watching = if settings.watch { Some(watch(settings)?) } else { None };
    let mut snapshot = Snapshot::default();
    let mut looked = first_look(&mut snapshot, settings, outlet)?;
    if looked == Looked::Unwanted {
        return Ok(());
    }
    let mut is_compared = compare(&snapshot, settings, outlet);
    let Some((_watcher, changes)) = watching else {
        if !is_compared {
            tracing::warn!("documents that no file holds any more are left to a run in which all files can be read");
        }
        if snapshot.give_up(settings, outlet) {
            let _ = outlet.send(Event::CaughtUp);
        }
        return Ok(());
    };
    if !outlet.send(Event::CaughtUp) {
        return Ok(());
    }
    while wait(&changes, outlet, looked == Looked::Changing) {
        looked = match snapshot.look(settings, outlet) {
            Ok(Looked::Unwanted) => return Ok(()),
            Ok(looked) => looked,
            Err(error) => {
                // A folder that can't be listed has not lost its files: nothing is deleted, and it is tried again.
                tracing::warn!(%error, cause = ?error, "could not look at the watched files");
                Looked::Done
            }
        };
        if !is_compared {
            is_compared = compare(&snapshot, settings, outlet);
        }
    }
    Ok(())
}

/// Looks until every file is read, or changes all the time.
fn first_look(snapshot: &mut Snapshot, settings: &Settings, outlet: &Outlet) -> Result<Looked, Error> {
    loop {
        match snapshot.look(settings, outlet)? {
            Looked::Changing => std::thread::sleep(QUIET),
            looked => return Ok(looked),
        }
        if outlet.is_stopped() {
            return Ok(Looked::Unwanted);
        }
    }
}

/// Deletes the documents of an earlier run that no file holds any more; false where some files could not be read that may
/// hold them.
fn compare(snapshot: &Snapshot, settings: &Settings, outlet: &Outlet) -> bool {
    if settings.known_keys.is_empty() {
        return true;
    }
    if snapshot.keys_are_missing() {
        return false;
    }
    let topic: Arc<str> = Arc::from(&*settings.documents);
    let lost = snapshot.lost(&topic, &settings.known_keys).into_iter();
    // A source that nobody wants any more is stopped soon.
    let _ = lost.map(|key| Event::Record(RawRecord::new(&topic, key, None))).all(|deletion| outlet.send(deletion));
    true
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

/// Waits for a change, or a short time where files are changing; false when the source should end.
fn wait(changes: &Changes, outlet: &Outlet, is_changing: bool) -> bool {
    let mut waited = Duration::ZERO;
    while !is_changing && changes.recv_timeout(STOP_CHECK).is_err() {
        if outlet.is_stopped() {
            return false;
        }
        waited += STOP_CHECK;
        if waited >= LOOK_AGAIN {
            return true;
        }
    }
    // What has changed is not quiet before this, so that looking earlier would be in vain.
    std::thread::sleep(QUIET);
    while changes.try_recv().is_ok() {}
    !outlet.is_stopped()
}

#[cfg(test)]
mod tests;
