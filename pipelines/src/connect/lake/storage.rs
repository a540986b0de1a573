//! Where a lake lies: a local folder or a URL of an object store, with one sub-folder per table.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File, TryLockError},
    future::Future,
    io::{Seek, Write},
    path::{Path as FilePath, PathBuf},
    sync::Arc,
    time::Duration,
};

use deltalake_core::logstore::{
    LogStoreRef, StorageConfig, default_logstore,
    object_store::{self, DynObjectStore, ObjectStore, ObjectStoreExt, path::Path, prefix::PrefixStore},
};
use url::Url;

use super::Error;

const LOCK_FILE: &str = ".hypercane.lock";
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(25);
/// Locked together by the processes that write to the lake beside the one that holds it.
const MEMBERS_FILE: &str = ".hypercane.members.lock";
/// How long those of an earlier cluster may take to see that it has ended.
const MEMBERS_TRIES: u32 = 400;
const ATTEMPTS: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The lake's place, without any table opened.
#[derive(Clone)]
pub(super) struct Storage {
    /// As a person would write it.
    pub(super) location: String,
    /// The folder, for a lake on local disk.
    folder: Option<PathBuf>,
    url: Url,
    store: Arc<DynObjectStore>,
    prefix: Path,
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.location)
    }
}

impl Storage {
    /// Understands a location; touches nothing.
    pub(super) fn parse(location: &str, options: &BTreeMap<String, String>) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Location { location: location.into(), reason };
        if location.trim().is_empty() {
            return Err(wrong("it is empty".into()));
        }
        let url = if location.contains("://") {
            Url::parse(location).map_err(|e| wrong(e.to_string()))?
        } else {
            let absolute = std::path::absolute(location).map_err(|e| wrong(e.to_string()))?;
            Url::from_directory_path(absolute).map_err(|()| wrong("the path can't be written as a URL".into()))?
        };
        let folder = if url.scheme() == "file" {
            Some(url.to_file_path().map_err(|()| wrong("the URL names no path on this machine".into()))?)
        } else {
            None
        };
        let options = options.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let (store, prefix) = object_store::parse_url_opts(&url, options).map_err(|e| wrong(e.to_string()))?;
        Ok(Self { location: location.into(), folder, url, store: Arc::from(store), prefix })
    }

    /// Makes the folder where there is none and takes the lock, or finds out that neither is possible.
    pub(super) async fn claim(&self, pipeline: &str) -> Result<Option<Lock>, Error> {
        match &self.folder {
            Some(folder) => {
                let lock = Lock::take(folder, &self.location, pipeline).await?;
                // Members of an earlier cluster may still be on their way out; what they write must not be swept away
                // under their hands. New ones enter when this process has recovered the lake.
                let members = exclusive(&folder.join(MEMBERS_FILE), MEMBERS_TRIES, &self.location).await?;
                match members {
                    Some(_) => Ok(Some(lock)),
                    None => Err(Error::Held {
                        location: self.location.clone(),
                        holder: "a process of the cluster that wrote to it before, and that has not ended yet".into(),
                    }),
                }
            }
            None => {
                // An object store has no lock. The conditional put of each log entry still lets one writer win.
                let probe = self.prefix.clone().join(LOCK_FILE);
                let written = with_retries(|| async {
                    let put = self.store.put(&probe, format!("pipeline {pipeline}").into()).await;
                    put.map_err(|e| Error::storage("write to", &self.location, e))
                });
                written.await.map(|_| None)
            }
        }
    }

    /// The folder, for a lake on local disk.
    pub(super) fn folder(&self) -> Option<&FilePath> {
        self.folder.as_deref()
    }

    /// Counts this process among those that write to the lake beside the one that holds it.
    pub(super) async fn enter(&self) -> Result<Option<Lock>, Error> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let refused = |e| Error::storage("write to", &self.location, e);
        let file = File::options().write(true).create(true).truncate(false).open(folder.join(MEMBERS_FILE));
        let file = file.map_err(refused)?;
        file.lock_shared().map_err(refused)?;
        Ok(Some(Lock { _file: file }))
    }

    /// The folder of a table, as a person would write it.
    pub(super) fn place(&self, table: &str) -> String {
        format!("{}/{table}", self.location.trim_end_matches('/'))
    }

    /// The store of one table, with its log.
    pub(super) fn log_store(&self, table: &str) -> Result<LogStoreRef, Error> {
        let mut url = self.url.clone();
        let unusable = |()| Error::Location { location: self.location.clone(), reason: "the URL holds no path".into() };
        url.path_segments_mut().map_err(unusable)?.pop_if_empty().push(table);
        let table_store = PrefixStore::new(self.store.clone(), self.prefix.clone().join(table));
        Ok(default_logstore(Arc::new(table_store), self.store.clone(), &url, &StorageConfig::default()))
    }

    /// The names of the folders in the lake, sorted.
    pub(super) async fn tables(&self) -> Result<Vec<String>, Error> {
        let listed = with_retries(|| async {
            let list = self.store.list_with_delimiter(Some(&self.prefix)).await;
            list.map_err(|e| Error::storage("list", &self.location, e))
        });
        let folders = listed.await?.common_prefixes;
        let mut names: Vec<String> = folders.iter().filter_map(|path| Some(path.filename()?.to_string())).collect();
        names.sort();
        Ok(names)
    }
}

impl Storage {
    /// The text of a file beside the tables, if there is one.
    pub(super) async fn note(&self, name: &str) -> Result<Option<String>, Error> {
        let (path, place) = (self.prefix.clone().join(name), self.place(name));
        let read = with_retries(|| async {
            match self.store.get(&path).await {
                Ok(object) => Some(object.bytes().await).transpose(),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(e) => Err(e),
            }
            .map_err(|e| Error::storage("read", &place, e))
        });
        Ok(read.await?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Writes a file beside the tables, in place of the one of that name.
    pub(super) async fn write_note(&self, name: &str, text: &str) -> Result<(), Error> {
        let (path, place) = (self.prefix.clone().join(name), self.place(name));
        let written = with_retries(|| async {
            let put = self.store.put(&path, text.to_owned().into()).await;
            put.map(|_| ()).map_err(|e| Error::storage("write to", &place, e))
        });
        written.await
    }
}

/// Held while a process writes to a lake on local disk. The system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    async fn take(folder: &FilePath, location: &str, pipeline: &str) -> Result<Self, Error> {
        let refused = |e| Error::storage("write to", location, e);
        fs::create_dir_all(folder).map_err(refused)?;
        let path = folder.join(LOCK_FILE);
        // A holder that is on its way out still counts for a moment.
        let Some(mut file) = exclusive(&path, LOCK_TRIES, location).await? else {
            // The note is a help for people; the lock itself has answered already.
            let holder = fs::read_to_string(&path).unwrap_or_default();
            return Err(Error::Held { location: location.into(), holder: holder.trim().into() });
        };
        let note = format!("process {} of pipeline {pipeline}, since {}\n", std::process::id(), jiff::Timestamp::now());
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(note.as_bytes())).map_err(refused)?;
        Ok(Self { _file: file })
    }
}

/// Opens a file and locks it for this process alone; `None` when others hold it for longer than so many tries.
async fn exclusive(path: &FilePath, tries: u32, location: &str) -> Result<Option<File>, Error> {
    let refused = |e| Error::storage("write to", location, e);
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(refused)?;
    for _ in 0..tries {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
            Err(TryLockError::Error(e)) => return Err(refused(e)),
        }
    }
    Ok(None)
}

/// Repeats what may pass (a store that does not answer), with growing pauses; gives the last error.
pub(super) async fn with_retries<T, F, R>(mut attempt: F) -> Result<T, Error>
where
    F: FnMut() -> R,
    R: Future<Output = Result<T, Error>>,
{
    let mut pause = FIRST_PAUSE;
    for _ in 1..ATTEMPTS {
        match attempt().await {
            Err(error) if error.may_pass() => {
                tracing::warn!(%error, "storage failed, trying again");
                tokio::time::sleep(pause).await;
                pause *= 3;
            }
            outcome => return outcome,
        }
    }
    attempt().await
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{Error, with_retries};

    #[tokio::test]
    async fn what_may_pass_is_tried_again_and_what_may_not_is_told() {
        let mut n_calls = 0;
        let outcome = with_retries(|| {
            n_calls += 1;
            let answer = if n_calls < 3 { Err(failure(io::ErrorKind::TimedOut)) } else { Ok(n_calls) };
            async { answer }
        });
        assert_eq!(outcome.await.unwrap(), 3);

        let mut n_calls = 0;
        let outcome = with_retries(|| {
            n_calls += 1;
            async { Err::<(), _>(failure(io::ErrorKind::StorageFull)) }
        });
        let error = outcome.await.unwrap_err();
        assert_eq!(n_calls, 1);
        assert!(error.is_transient());
        assert!(error.to_string().contains("/lake") && error.to_string().contains("full"), "{error}");
    }

    fn failure(kind: io::ErrorKind) -> Error {
        Error::storage("write to", "/lake", io::Error::from(kind))
    }
}
