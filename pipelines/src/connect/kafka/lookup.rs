//! Looking records up in topics: single ones by their offsets, and which rejects have been sent again already.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use hypercane_schemas::ContentHash;
use rdkafka::{
    Message as _, Offset, TopicPartitionList,
    consumer::{BaseConsumer, Consumer as _},
    error::KafkaError,
};

use super::{
    ANSWER_TIMEOUT, Error, Listener, Properties, Share, Source, Start, client_config, failure, source::record,
};
use crate::connect::transport::{Event, Limits, RawRecord};

/// The record at an offset of a topic's partition, if it is still there.
///
/// # Errors
/// No broker answers.
pub fn fetch(properties: &Properties, topic: &str, partition: i32, offset: i64) -> Result<Option<RawRecord>, Error> {
    let mut properties = properties.clone();
    properties.entry("group.id".into()).or_insert_with(|| "hypercane".into());
    let fixed = [("enable.auto.commit", "false"), ("enable.partition.eof", "true"), ("auto.offset.reset", "error")];
    let config = client_config(&properties, &[], &fixed)?;
    let consumer: BaseConsumer<Listener> = config
        .create_with_context(Listener::default())
        .map_err(|e| failure("the Kafka consumer could not be set up", e, None))?;
    let failed = |e| failure(format!("offset {offset} of topic {topic} can't be read"), e, Some(consumer.context()));
    let (first, end) = consumer.fetch_watermarks(topic, partition, ANSWER_TIMEOUT).map_err(failed)?;
    if !(first..end).contains(&offset) {
        return Ok(None);
    }
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, Offset::Offset(offset)).map_err(failed)?;
    consumer.assign(&list).map_err(failed)?;
    let began = Instant::now();
    let name = Arc::from(topic);
    while began.elapsed() < ANSWER_TIMEOUT {
        match consumer.poll(Duration::from_millis(100)) {
            None => {}
            // Compaction may have taken it away; the next one is another record.
            Some(Ok(message)) => return Ok((message.offset() == offset).then(|| record(&name, &message))),
            Some(Err(KafkaError::PartitionEOF(_))) => return Ok(None),
            Some(Err(error)) => return Err(failed(error)),
        }
    }
    Err(Error::transient(format!(
        "offset {offset} of topic {topic} did not come within {} s",
        ANSWER_TIMEOUT.as_secs()
    )))
}

/// The rejects for which a record was sent again at or after these offsets.
///
/// # Errors
/// The topics can't be read.
pub fn replayed(
    properties: &Properties,
    topics: &[String],
    offsets: &BTreeMap<(String, i32), i64>,
) -> Result<BTreeSet<ContentHash>, Error> {
    let start = Start { offsets: offsets.clone(), share: Share::ALL, until_end: true, accept_gap: true };
    let source = Source::open(properties, topics, start, Limits::default())?;
    let mut found = BTreeSet::new();
    for event in source.feed.iter() {
        match event {
            Event::Record(record) => found.extend(record.replays),
            Event::Failed(error) => return Err(error),
            Event::Rejected(_) | Event::Skipped(..) | Event::CaughtUp => {}
        }
    }
    Ok(found)
}
