//! What is known of workers and processes that ended before their time. The others would wait for them for ever, and so would
//! whoever waits for the others.

use std::{
    panic,
    sync::{
        Arc, Mutex, Once, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::Error;

/// Whether a worker of this process has panicked, or another process is gone. Clones share it; one that is dropped by a panic
/// sets it.
#[derive(Clone, Debug, Default)]
pub(super) struct Failed(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    worker: AtomicBool,
    peer: AtomicBool,
}

/// Who hears that a connection broke.
static WATCHERS: Mutex<Vec<Weak<Flags>>> = Mutex::new(Vec::new());
static HOOK: Once = Once::new();

impl Failed {
    pub(super) fn check(&self) -> Result<(), Error> {
        // A process that is gone takes workers with it; it is the reason then.
        match (self.0.peer.load(Ordering::Relaxed), self.0.worker.load(Ordering::Relaxed)) {
            (true, _) => Err(Error::PeerGone),
            (_, true) => Err(Error::WorkerGone),
            _ => Ok(()),
        }
    }

    /// Hears when the connection to another process breaks. Timely tells of it by a panic in a thread of its own, then in the
    /// workers that would send there, and by nothing else.
    pub(super) fn watch_connections(&self) {
        let mut watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.retain(|watcher| watcher.strong_count() > 0);
        watchers.push(Arc::downgrade(&self.0));
        drop(watchers);
        HOOK.call_once(|| {
            let former = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                let thread = thread::current();
                let name = thread.name().unwrap_or_default();
                let is_connection = name.starts_with("timely:send") || name.starts_with("timely:recv");
                let is_queue = info.payload_as_str().is_some_and(|message| message.contains("MergeQueue poisoned"));
                if is_connection || is_queue {
                    tracing::debug!(thread = name, %info, "a connection of the cluster broke");
                    let watchers = WATCHERS.lock().unwrap_or_else(PoisonError::into_inner);
                    watchers
                        .iter()
                        .filter_map(Weak::upgrade)
                        .for_each(|flags| flags.peer.store(true, Ordering::Relaxed));
                } else {
                    former(info);
                }
            }));
        });
    }
}

impl Drop for Failed {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.worker.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{Error, Failed};

    #[test]
    fn a_worker_that_panics_is_told_and_one_that_ends_is_not() {
        let failed = Failed::default();
        let watch = failed.clone();
        thread::spawn(move || drop(watch)).join().unwrap();
        assert!(failed.check().is_ok());
        let watch = failed.clone();
        let ended = thread::spawn(move || {
            let _watch = watch;
            panic!("as a worker would");
        });
        assert!(ended.join().is_err() && matches!(failed.check(), Err(Error::WorkerGone)));
    }

    #[test]
    fn a_connection_that_breaks_is_told() {
        let failed = Failed::default();
        failed.watch_connections();
        let broken = thread::Builder::new().name("timely:recv-1".into()).spawn(|| panic!("as timely does"));
        assert!(broken.unwrap().join().is_err() && matches!(failed.check(), Err(Error::PeerGone)));
    }
}
