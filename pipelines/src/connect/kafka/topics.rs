//! Making the topics that are missing, and asking where topics end.

use std::{collections::BTreeMap, time::Duration};

use rdkafka::{
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    consumer::{BaseConsumer, Consumer, ConsumerContext},
    error::{KafkaError, RDKafkaErrorCode},
};

use super::{ANSWER_TIMEOUT, Error, Listener, Properties, client_config, describe, failure};

/// Creates those of the topics that do not exist, with so many partitions each and the broker's own replication factor.
/// Returns the names of the new ones.
pub async fn create_topics(properties: &Properties, names: &[&str], n_partitions: i32) -> Result<Vec<String>, Error> {
    // The admin client never says why brokers refuse us; a consumer does.
    let consumer = consumer(properties)?;
    describe(&consumer, consumer.context(), None)
        .map_err(|e| failure("no broker answered", e, Some(consumer.context())))?;
    let config = client_config(properties, &[], &[])?;
    let admin: AdminClient<Listener> = config
        .create_with_context(Listener::default())
        .map_err(|e| failure("the Kafka client could not be set up", e, None))?;
    let topics: Vec<NewTopic<'_>> =
        names.iter().map(|name| NewTopic::new(name, n_partitions, TopicReplication::Fixed(-1))).collect();
    let timeout = Some(Duration::from_secs(20));
    let options = AdminOptions::new().request_timeout(timeout).operation_timeout(timeout);
    let results = admin
        .create_topics(&topics, &options)
        .await
        .map_err(|e| failure("the topics could not be created", e, Some(admin.inner().context())))?;
    let mut created = Vec::new();
    for result in results {
        match result {
            Ok(name) => created.push(name),
            Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
            Err((name, code)) => {
                return Err(failure(format!("the topic {name} could not be created"), KafkaError::AdminOp(code), None));
            }
        }
    }
    Ok(created)
}

impl ConsumerContext for Listener {}

/// A consumer that only asks.
fn consumer(properties: &Properties) -> Result<BaseConsumer<Listener>, Error> {
    let config = client_config(properties, &[], &[])?;
    let consumer = config.create_with_context(Listener::default());
    consumer.map_err(|e| failure("the Kafka consumer could not be set up", e, None))
}

/// The offsets at which the topics end now, by topic and partition: where to start reading what is yet to come.
pub fn ends(properties: &Properties, topics: &[String]) -> Result<BTreeMap<(String, i32), i64>, Error> {
    let consumer = consumer(properties)?;
    let mut ends = BTreeMap::new();
    for topic in topics {
        let failed = |e| failure(format!("topic {topic} can't be described"), e, Some(consumer.context()));
        let metadata = describe(&consumer, consumer.context(), Some(topic)).map_err(failed)?;
        for partition in metadata.topics().iter().flat_map(|topic| topic.partitions()) {
            let (_, end) = consumer.fetch_watermarks(topic, partition.id(), ANSWER_TIMEOUT).map_err(failed)?;
            ends.insert((topic.clone(), partition.id()), end);
        }
    }
    Ok(ends)
}
