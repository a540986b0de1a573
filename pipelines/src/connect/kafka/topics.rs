//! Making the topics that are missing.

use std::time::Duration;

use rdkafka::{
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    error::{KafkaError, RDKafkaErrorCode},
};

use super::{Error, Listener, Properties, client_config, failure};

/// Creates those of the topics that do not exist, with so many partitions each and the broker's own replication factor.
/// Returns the names of the new ones.
pub async fn create_topics(properties: &Properties, names: &[&str], n_partitions: i32) -> Result<Vec<String>, Error> {
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
