//! Moving records, without reading them: what a source hands over, how it is slowed down, what a sink takes.
//!
//! A source runs on its own thread and fills a [`Feed`]. The feed is bounded twice, in records and in bytes: when the
//! dataflow is slow the feed is full, the source waits, and so the broker keeps what this process could not hold.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, TryRecvError, bounded};
use hypercane_schemas::{ContentHash, Epoch, Reject};
use jiff::Timestamp;

use super::Error;

/// A record as bytes, with the place it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition, where the transport has one.
    pub partition: Option<i32>,
    /// The offset in the partition, where the transport has one.
    pub offset: Option<i64>,
    /// The key.
    pub key: Option<Vec<u8>>,
    /// The payload; none deletes what has the key.
    pub payload: Option<Vec<u8>>,
    /// When the transport took it.
    pub timestamp: Option<Timestamp>,
    /// The reject that it is sent for again, where it is.
    pub replays: Option<ContentHash>,
}

impl RawRecord {
    /// A record that no transport has placed yet.
    pub fn new(topic: &Arc<str>, key: impl Into<Vec<u8>>, payload: Option<Vec<u8>>) -> Self {
        Self {
            topic: Arc::clone(topic),
            partition: None,
            offset: None,
            key: Some(key.into()),
            payload,
            timestamp: None,
            replays: None,
        }
    }

    /// How many bytes its key and payload are.
    pub fn n_bytes(&self) -> usize {
        self.key.as_ref().map_or(0, Vec::len) + self.payload.as_ref().map_or(0, Vec::len)
    }
}

/// What a source has to say.
#[derive(Debug)]
pub enum Event {
    /// A record.
    Record(RawRecord),
    /// Input that the source itself could not turn into a record: a file without read permission, a row that is cut.
    Rejected(Box<Reject>),
    /// Records that are lost to us, and the offset at which their partition goes on.
    Skipped(Box<Reject>, i64),
    /// All that was there when the source started has been handed over. Said once.
    CaughtUp,
    /// The source gave up; nothing follows.
    Failed(Error),
}

/// The answer to asking a feed.
#[derive(Debug)]
pub enum Next {
    /// An event.
    Event(Event),
    /// Nothing now.
    Nothing,
    /// Nothing ever again.
    Ended,
}

/// How much a feed may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most events.
    pub records: usize,
    /// Most bytes of keys and payloads. One record larger than this passes when the feed is empty.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { records: 4096, bytes: 32 << 20 }
    }
}

/// How long a blocked source sleeps before it looks again whether it should stop.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    bytes_held: Mutex<usize>,
    released: Condvar,
}

impl Shared {
    fn release(&self, n_bytes: usize) {
        if n_bytes > 0 {
            *self.bytes_held.lock().unwrap_or_else(PoisonError::into_inner) -= n_bytes;
            self.released.notify_all();
        }
    }

    /// Waits for room; false when it was stopped meanwhile.
    fn hold(&self, n_bytes: usize, limit: usize) -> bool {
        let mut held = self.bytes_held.lock().unwrap_or_else(PoisonError::into_inner);
        while *held > 0 && *held + n_bytes > limit {
            if self.stopped.load(Ordering::Relaxed) {
                return false;
            }
            held = self.released.wait_timeout(held, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
        *held += n_bytes;
        true
    }
}

/// The end of a feed that a source fills; may be cloned for several threads.
#[derive(Clone, Debug)]
pub struct Outlet {
    events: Sender<(Event, usize)>,
    shared: Arc<Shared>,
    limits: Limits,
}

impl Outlet {
    /// Hands an event over, and waits while the feed is full. False when nobody wants more, then the source should end.
    #[must_use = "a source that is not wanted any more has to end"]
    pub fn send(&self, event: Event) -> bool {
        let n_bytes = match &event {
            Event::Record(record) => record.n_bytes(),
            Event::Rejected(reject) => reject.payload_base64.len(),
            Event::Skipped(..) | Event::CaughtUp | Event::Failed(_) => 0,
        };
        if !self.shared.hold(n_bytes, self.limits.bytes) {
            return false;
        }
        let mut pending = (event, n_bytes);
        loop {
            match self.events.send_timeout(pending, LOOK_AGAIN) {
                Ok(()) => return true,
                Err(SendTimeoutError::Timeout(unsent)) if !self.is_stopped() => pending = unsent,
                Err(_) => {
                    self.shared.release(n_bytes);
                    return false;
                }
            }
        }
    }

    /// Asks the other threads of the source to end.
    pub(super) fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.released.notify_all();
    }

    /// Whether the source should end.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }
}

/// The end of a feed that the pipeline reads. Dropping it stops the source and waits for its thread.
#[derive(Debug)]
pub struct Feed {
    events: Receiver<(Event, usize)>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Feed {
    /// Both ends of a feed without a thread.
    pub fn pair(limits: Limits) -> (Outlet, Self) {
        let (sender, events) = bounded(limits.records.max(1));
        let shared = Arc::new(Shared::default());
        let outlet = Outlet { events: sender, shared: Arc::clone(&shared), limits };
        (outlet, Self { events, shared, thread: None })
    }

    /// Runs a source on its own thread. An error it returns becomes the last event.
    pub fn spawn<F>(name: &str, limits: Limits, run: F) -> Result<Self, Error>
    where
        F: FnOnce(&Outlet) -> Result<(), Error> + Send + 'static,
    {
        let (outlet, mut feed) = Self::pair(limits);
        let body = move || {
            if let Err(error) = run(&outlet) {
                let _ = outlet.send(Event::Failed(error));
            }
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(body)
            .map_err(|e| Error::lasting(format!("can't start the thread {name}")).because(e))?;
        feed.thread = Some(thread);
        Ok(feed)
    }

    /// The next event, if there is one now.
    pub fn try_next(&self) -> Next {
        match self.events.try_recv() {
            Ok(event) => self.taken(event),
            Err(TryRecvError::Empty) => Next::Nothing,
            Err(TryRecvError::Disconnected) => Next::Ended,
        }
    }

    /// The next event, if there is one within a time.
    pub fn next_within(&self, timeout: Duration) -> Next {
        match self.events.recv_timeout(timeout) {
            Ok(event) => self.taken(event),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    /// All events until the source ends; waits for each.
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        self.events.iter().map(|(event, n_bytes)| {
            self.shared.release(n_bytes);
            event
        })
    }

    /// Asks the source to end; what it has handed over can still be read.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.released.notify_all();
    }

    fn taken(&self, (event, n_bytes): (Event, usize)) -> Next {
        self.shared.release(n_bytes);
        Next::Event(event)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // A source that panicked has printed its message; the feed has ended for the reader either way.
            let _ = thread.join();
        }
    }
}

/// Where results and rejects go.
pub trait Sink: Send {
    /// Hands one record over; it may wait in memory until [`Sink::flush`].
    fn send(&mut self, topic: &str, key: &[u8], payload: Option<&[u8]>) -> Result<(), Error>;

    /// Returns when everything sent up to the end of this epoch has arrived, or with the first reason why not.
    fn flush(&mut self, epoch: Epoch) -> Result<(), Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(n_bytes: usize) -> Event {
        Event::Record(RawRecord::new(&Arc::from("t"), vec![], Some(vec![0; n_bytes])))
    }

    #[test]
    fn a_full_feed_holds_the_source_back_in_records_and_in_bytes() {
        for (limits, n_bytes, n_most) in
            [(Limits { records: 3, bytes: 1000 }, 1, 3), (Limits { records: 100, bytes: 1000 }, 400, 2)]
        {
            let (sent, seen) = crossbeam_channel::unbounded();
            let feed = Feed::spawn("test", limits, move |outlet| {
                for n in 0..10 {
                    if outlet.send(record(n_bytes)) {
                        let _ = sent.send(n);
                    }
                }
                Ok(())
            })
            .unwrap();
            thread::sleep(Duration::from_millis(150));
            assert_eq!(seen.len(), n_most, "{limits:?}");
            assert_eq!(feed.iter().count(), 10);
        }
    }

    #[test]
    fn one_record_above_the_limit_passes_alone() {
        let feed = Feed::spawn("test", Limits { records: 9, bytes: 10 }, |outlet| {
            assert!(outlet.send(record(50)) && outlet.send(record(50)));
            Ok(())
        })
        .unwrap();
        assert_eq!(feed.iter().count(), 2);
    }

    #[test]
    fn dropping_the_feed_ends_a_blocked_source() {
        for limits in [Limits { records: 1, bytes: 1000 }, Limits { records: 1000, bytes: 1 }] {
            let feed = Feed::spawn("test", limits, |outlet| {
                while outlet.send(record(5)) {}
                Ok(())
            })
            .unwrap();
            assert!(matches!(feed.next_within(Duration::from_secs(5)), Next::Event(Event::Record(_))));
            drop(feed);
        }
    }

    #[test]
    fn a_failure_is_the_last_event() {
        let feed = Feed::spawn("test", Limits::default(), |_| Err(Error::transient("gone"))).unwrap();
        let events: Vec<Event> = feed.iter().collect();
        assert!(matches!(&events[..], [Event::Failed(e)] if e.is_transient()));
        assert!(matches!(feed.try_next(), Next::Ended));
    }
}
