//! Topics in memory, for tests and for the demonstration: the same feed and sink as any other transport.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use hypercane_schemas::Epoch;
use jiff::Timestamp;

use super::{
    Error,
    transport::{Event, Feed, Limits, Outlet, RawRecord},
};

/// Topics of one partition each, to write into. The feed ends when it is dropped.
#[derive(Debug)]
pub struct Writer {
    outlet: Outlet,
    offsets: BTreeMap<Arc<str>, i64>,
}

/// Topics in memory: the end to write into and the feed of a pipeline.
pub fn topics(limits: Limits) -> (Writer, Feed) {
    let (outlet, feed) = Feed::pair(limits);
    (Writer { outlet, offsets: BTreeMap::new() }, feed)
}

impl Writer {
    /// Appends a record to a topic; waits while the feed is full. False when the pipeline has gone.
    pub fn send(&mut self, topic: &str, key: &str, payload: Option<&[u8]>) -> bool {
        let record = RawRecord::new(&Arc::from(topic), key, payload.map(<[u8]>::to_vec));
        self.send_raw(record)
    }

    /// Appends a record as it is, but for its partition and offset.
    pub fn send_raw(&mut self, record: RawRecord) -> bool {
        let next = self.offsets.entry(Arc::clone(&record.topic)).or_default();
        let offset = *next;
        *next += 1;
        let record = RawRecord { partition: Some(0), offset: Some(offset), ..record };
        self.outlet.send(Event::Record(record))
    }

    /// Says that everything so far is the stock, and that what follows is live.
    pub fn caught_up(&self) -> bool {
        self.outlet.send(Event::CaughtUp)
    }
}

/// A record that a pipeline sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The topic.
    pub topic: String,
    /// The key.
    pub key: Vec<u8>,
    /// The payload.
    pub payload: Option<Vec<u8>>,
    /// When it was handed over.
    pub at: Timestamp,
}

#[derive(Debug, Default)]
struct Kept {
    records: Vec<Sent>,
    flushed: Option<Epoch>,
}

/// A sink that keeps what it is given; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    kept: Arc<Mutex<Kept>>,
}

impl Sink {
    /// All records so far, which are taken out.
    pub fn take(&self) -> Vec<Sent> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).records)
    }

    /// The last epoch that was flushed.
    pub fn flushed(&self) -> Option<Epoch> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).flushed
    }
}

impl super::transport::Sink for Sink {
    fn send(&mut self, topic: &str, key: &[u8], payload: Option<&[u8]>) -> Result<(), Error> {
        let record = Sent {
            topic: topic.to_owned(),
            key: key.to_vec(),
            payload: payload.map(<[u8]>::to_vec),
            at: Timestamp::now(),
        };
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).records.push(record);
        Ok(())
    }

    fn flush(&mut self, epoch: Epoch) -> Result<(), Error> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).flushed = Some(epoch);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::transport::{Next, Sink as _};

    #[test]
    fn records_are_numbered_by_topic_and_the_feed_ends_with_the_writer() {
        let (mut writer, feed) = topics(Limits::default());
        assert!(writer.send("a", "k", Some(b"1")) && writer.send("b", "k", None) && writer.send("a", "k", None));
        assert!(writer.caught_up());
        drop(writer);
        let places: Vec<_> = feed
            .iter()
            .map(|event| match event {
                Event::Record(record) => Some((record.topic.to_string(), record.offset)),
                _ => None,
            })
            .collect();
        assert_eq!(
            places,
            [Some(("a".into(), Some(0))), Some(("b".into(), Some(0))), Some(("a".into(), Some(1))), None]
        );
        assert!(matches!(feed.try_next(), Next::Ended));
    }

    #[test]
    fn a_sink_shows_what_was_sent_and_flushed() {
        let sink = Sink::default();
        let mut end = sink.clone();
        end.send("results", b"q", Some(b"{}")).unwrap();
        assert_eq!(sink.flushed(), None);
        end.flush(7).unwrap();
        assert_eq!(sink.flushed(), Some(7));
        assert_eq!(sink.take().len(), 1);
        assert!(sink.take().is_empty());
    }
}
