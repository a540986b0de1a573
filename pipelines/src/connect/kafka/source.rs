//! Topics to a feed: one consumer and one thread for each topic.
//!
//! A consumer of its own for each topic makes the end of a partition unambiguous (the client names the partition then,
//! not the topic). When the feed is full the thread waits in `send` and does not poll; the client's own queue is bounded
//! too, so it stops fetching, and memory stays flat however far behind the pipeline is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use rdkafka::{
    Message as _, Offset, TopicPartitionList,
    client::ClientContext,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext},
    error::KafkaError,
    message::{BorrowedMessage, Headers as _},
};

use super::{
    ANSWER_TIMEOUT, Error, Listener, Properties, REPLAYS, client_config, describe, failure,
    gap::{self, Gap},
    is_lasting,
};
use crate::connect::transport::{Event, Feed, Limits, Outlet, RawRecord};

/// Which of the partitions one process reads, where several share the topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which process this is, from 0.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Share {
    /// All partitions.
    pub const ALL: Self = Self { index: 0, of: 1 };

    pub(super) fn holds(self, partition: i32) -> bool {
        usize::try_from(partition).is_ok_and(|partition| partition % self.of.max(1) == self.index)
    }
}

/// Where reading starts and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The first offset to read, by topic and partition, as the lake's last commit names it; others from the beginning.
    pub offsets: BTreeMap<(String, i32), i64>,
    /// Which partitions are read.
    pub share: Share,
    /// Whether the feed ends when all that was there has been read.
    pub until_end: bool,
    /// Whether reading goes on over records that are not there any more. The feed then says what was skipped.
    pub accept_gap: bool,
}

impl Default for Start {
    fn default() -> Self {
        Self { offsets: BTreeMap::new(), share: Share::ALL, until_end: false, accept_gap: false }
    }
}

/// Topics that are being read.
#[derive(Debug)]
pub struct Source {
    /// What they bring. The feed's fields go first, so that its threads end before the consumers do.
    pub feed: Feed,
    consumers: BTreeMap<String, Handle>,
}

type Client = BaseConsumer<ConsumerListener>;

struct Handle(Arc<Client>);

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("consumer")
    }
}

/// How often new partitions are looked for, unless the property of the client that says so does.
const LOOK_FOR_PARTITIONS: Duration = Duration::from_secs(30);
const LOOK_PROPERTY: &str = "topic.metadata.refresh.interval.ms";
/// How often a trouble that goes on is mentioned.
const MENTION_AGAIN: Duration = Duration::from_secs(10);

impl Source {
    /// Starts to read topics. The group id, if one is among the properties, is only used by [`Source::commit`].
    pub fn open(properties: &Properties, topics: &[String], start: Start, limits: Limits) -> Result<Self, Error> {
        let mut properties = properties.clone();
        // The client asks for a group even where it joins none.
        properties.entry("group.id".into()).or_insert_with(|| "hypercane".into());
        let config = client_config(
            &properties,
            &[
                ("queued.max.messages.kbytes", "16384"),
                ("fetch.queue.backoff.ms", "100"),
                ("fetch.wait.max.ms", "100"),
                ("isolation.level", "read_committed"),
            ],
            &[
                ("enable.auto.commit", "false"),
                ("enable.auto.offset.store", "false"),
                ("enable.partition.eof", "true"),
                ("auto.offset.reset", "error"),
            ],
        )?;
        let look_for_partitions = properties.get(LOOK_PROPERTY).and_then(|millis| millis.parse().ok());
        let look_for_partitions = look_for_partitions.map_or(LOOK_FOR_PARTITIONS, Duration::from_millis);
        let mut consumers = BTreeMap::new();
        let mut readers = Vec::new();
        let n_behind = Arc::new(AtomicUsize::new(0));
        for topic in topics {
            let consumer: Client = config
                .create_with_context(ConsumerListener::default())
                .map_err(|e| failure("the Kafka consumer could not be set up", e, None))?;
            let consumer = Arc::new(consumer);
            consumers.insert(topic.clone(), Handle(Arc::clone(&consumer)));
            let mut reader = Reader {
                consumer,
                topic: Arc::from(topic.as_str()),
                assigned: BTreeSet::new(),
                behind: BTreeSet::new(),
                n_behind: Arc::clone(&n_behind),
                skipped: Vec::new(),
                look_for_partitions,
            };
            reader.assign_new(&start)?;
            reader.behind = reader.assigned.clone();
            n_behind.fetch_add(reader.behind.len(), Ordering::SeqCst);
            readers.push(reader);
        }
        let feed = Feed::spawn("kafka", limits, move |outlet| run(readers, &start, outlet))?;
        Ok(Self { feed, consumers })
    }

    /// Tells the broker how far the lake has come (the next offset to read, by topic and partition). Only monitors read
    /// it; a failure is no harm to the pipeline.
    pub fn commit(&self, offsets: &BTreeMap<(String, i32), i64>) -> Result<(), Error> {
        for (topic, Handle(consumer)) in &self.consumers {
            let mut list = TopicPartitionList::new();
            for ((_, partition), offset) in offsets.iter().filter(|((of, _), _)| of == topic) {
                list.add_partition_offset(topic, *partition, Offset::Offset(*offset))
                    .map_err(|e| failure(format!("the offset {offset} of topic {topic} is none"), e, None))?;
            }
            if list.count() > 0 {
                consumer
                    .commit(&list, CommitMode::Async)
                    .map_err(|e| failure(format!("the offsets of topic {topic} were not committed"), e, None))?;
            }
        }
        Ok(())
    }
}

fn run(readers: Vec<Reader>, start: &Start, outlet: &Outlet) -> Result<(), Error> {
    if readers.iter().all(|reader| reader.behind.is_empty()) && !outlet.send(Event::CaughtUp) {
        return Ok(());
    }
    thread::scope(|scope| {
        let threads: Vec<_> =
            readers.into_iter().map(|mut reader| scope.spawn(move || reader.run(start, outlet))).collect();
        let mut first_error = Ok(());
        for thread in threads {
            let ended = thread.join().unwrap_or_else(|_| Err(Error::lasting("a thread that reads a topic panicked")));
            if first_error.is_ok() {
                first_error = ended;
            }
        }
        first_error
    })
}

struct Reader {
    consumer: Arc<Client>,
    topic: Arc<str>,
    assigned: BTreeSet<i32>,
    /// Partitions whose end, as it was when reading began, has not been reached.
    behind: BTreeSet<i32>,
    /// The same, counted over all topics.
    n_behind: Arc<AtomicUsize>,
    /// Gaps that were accepted and are yet to be told.
    skipped: Vec<Gap>,
    /// How often new partitions are looked for.
    look_for_partitions: Duration,
}

impl Reader {
    fn run(&mut self, start: &Start, outlet: &Outlet) -> Result<(), Error> {
        for gap in self.skipped.drain(..) {
            if !outlet.send(Event::Skipped(Box::new(gap.reject()), gap.goes_on_at())) {
                return Ok(());
            }
        }
        let mut looked = Instant::now();
        let mut mentioned: Option<Instant> = None;
        while !(outlet.is_stopped() || start.until_end && self.behind.is_empty()) {
            // The message borrows from the consumer, so it is turned into our own before anything else happens.
            let polled = match self.consumer.poll(Duration::from_millis(100)) {
                None => Ok(None),
                Some(Ok(message)) => Ok(Some(record(&self.topic, &message))),
                Some(Err(error)) => Err(error),
            };
            match polled {
                Ok(None) => {}
                Ok(Some(record)) => {
                    mentioned = None;
                    if !outlet.send(Event::Record(record)) {
                        return Ok(());
                    }
                }
                Err(KafkaError::PartitionEOF(partition)) => {
                    mentioned = None;
                    if !self.reached_end(partition, outlet) {
                        return Ok(());
                    }
                }
                Err(error) if is_lasting(&error) => {
                    // The other topics are of no use without this one.
                    let error = self.explain(error);
                    let _ = outlet.send(Event::Failed(error));
                    outlet.stop();
                    return Ok(());
                }
                Err(error) => {
                    if mentioned.is_none_or(|at| at.elapsed() > MENTION_AGAIN) {
                        tracing::warn!(topic = &*self.topic, %error, "reading is interrupted, the client tries again");
                        mentioned = Some(Instant::now());
                    }
                }
            }
            if looked.elapsed() > self.look_for_partitions {
                looked = Instant::now();
                if let Err(error) = self.assign_new(start) {
                    tracing::warn!(topic = &*self.topic, %error, "could not look for new partitions");
                }
            }
        }
        Ok(())
    }

    /// Assigns those partitions of ours that are not yet read.
    fn assign_new(&mut self, start: &Start) -> Result<(), Error> {
        let listener = self.consumer.context();
        let described = match self.assigned.is_empty() {
            true => describe(&self.consumer, &listener.0, Some(&self.topic)),
            false => self.consumer.fetch_metadata(Some(&self.topic), ANSWER_TIMEOUT),
        };
        let metadata = described
            .map_err(|e| failure(format!("no broker described topic {}", self.topic), e, Some(&listener.0)))?;
        let described = metadata.topics().iter().find(|topic| topic.name() == &*self.topic);
        let partitions = described.map(|topic| topic.partitions()).unwrap_or_default();
        if partitions.is_empty() {
            return Err(Error::lasting(format!(
                "there is no topic {}: create it, or set create_partitions so that it is created",
                self.topic
            )));
        }
        let mut list = TopicPartitionList::new();
        let (mut fresh, mut gaps) = (Vec::new(), Vec::new());
        for partition in partitions.iter().map(|partition| partition.id()) {
            if self.assigned.contains(&partition) || !start.share.holds(partition) {
                continue;
            }
            let known = start.offsets.get(&(self.topic.to_string(), partition));
            let mut offset = known.map_or(Offset::Beginning, |offset| Offset::Offset(*offset));
            if let Some(&committed) = known
                && let Some(gap) = Gap::find(&self.consumer, &listener.0, &self.topic, partition, committed)?
            {
                offset = Offset::Offset(gap.goes_on_at());
                gaps.push(gap);
            }
            let of = || format!("partition {partition} of topic {} can't be read", self.topic);
            list.add_partition_offset(&self.topic, partition, offset).map_err(|e| failure(of(), e, None))?;
            fresh.push(partition);
        }
        if !gaps.is_empty() && !start.accept_gap {
            return Err(gap::error(&gaps));
        }
        self.skipped.append(&mut gaps);
        if !fresh.is_empty() {
            tracing::info!(topic = &*self.topic, partitions = ?fresh, "reading");
            self.consumer
                .incremental_assign(&list)
                .map_err(|e| failure(format!("topic {} can't be read", self.topic), e, Some(&listener.0)))?;
            self.assigned.extend(fresh);
        }
        Ok(())
    }

    fn reached_end(&mut self, partition: i32, outlet: &Outlet) -> bool {
        let was_last = self.behind.remove(&partition) && self.n_behind.fetch_sub(1, Ordering::SeqCst) == 1;
        !was_last || outlet.send(Event::CaughtUp)
    }

    fn explain(&self, error: KafkaError) -> Error {
        use rdkafka::error::RDKafkaErrorCode::{AutoOffsetReset, OffsetOutOfRange};
        if let Some(AutoOffsetReset | OffsetOutOfRange) = error.rdkafka_error_code()
            && let Ok(gaps) = self.gaps()
            && !gaps.is_empty()
        {
            return gap::error(&gaps);
        }
        let what = format!("topic {} can't be read", self.topic);
        failure(what, error, Some(&self.consumer.context().0))
    }

    /// The partitions that do not have the offset that comes next.
    fn gaps(&self) -> Result<Vec<Gap>, Error> {
        let listener = self.consumer.context();
        let positions = self.consumer.position();
        let positions = positions.map_err(|e| failure("the consumer has no position", e, Some(&listener.0)))?;
        let mut gaps = Vec::new();
        for place in positions.elements() {
            if let Offset::Offset(next) = place.offset() {
                gaps.extend(Gap::find(&self.consumer, &listener.0, &self.topic, place.partition(), next)?);
            }
        }
        Ok(gaps)
    }
}

/// A message as a record.
pub(super) fn record(topic: &Arc<str>, message: &BorrowedMessage<'_>) -> RawRecord {
    let replays = message.headers().and_then(|headers| headers.iter().find(|header| header.key == REPLAYS));
    let replays = replays.and_then(|header| std::str::from_utf8(header.value?).ok()?.parse().ok());
    RawRecord {
        topic: Arc::clone(topic),
        partition: Some(message.partition()),
        offset: Some(message.offset()),
        key: message.key().map(<[u8]>::to_vec),
        payload: message.payload().map(<[u8]>::to_vec),
        timestamp: message.timestamp().to_millis().and_then(|millis| Timestamp::from_millisecond(millis).ok()),
        replays,
    }
}

/// The listener of a consumer; it needs no say in groups, since none is joined.
#[derive(Debug, Default)]
struct ConsumerListener(Listener);

impl ClientContext for ConsumerListener {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.0.log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.0.error(error, reason);
    }
}

impl ConsumerContext for ConsumerListener {}
