//! Apache Kafka as a source and a sink, through librdkafka.
//!
//! Offsets and epochs: a record's offset becomes durable only in the lake, in the same commit as everything that follows
//! from the record. So the consumer joins no group. It reads all partitions that are its own, from the offsets that the
//! lake's last commit names, and where that names none from the beginning. A process that was killed reads again exactly
//! what its lake has not seen. [`Source::commit`] may tell the broker afterwards, for the sake of lag monitors only.
//!
//! An offset that the broker no longer has is an error and never skipped: the records between are lost to us, and a
//! person has to decide.

mod sink;
mod source;
mod topics;

pub use sink::{Sink, publish};
pub use source::{Share, Source, Start};
pub use topics::{create_topics, ends};

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rdkafka::{
    ClientConfig, ClientContext,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, ConsumerContext},
    error::{KafkaError, RDKafkaErrorCode},
};

use super::Error;

/// Properties of librdkafka by their own names; `bootstrap.servers` is needed, SASL and TLS go here as well.
pub type Properties = BTreeMap<String, String>;

/// The client's configuration: ours where the user is free to say otherwise, the user's, and what has to be as it is.
fn client_config(
    properties: &Properties,
    defaults: &[(&str, &str)],
    fixed: &[(&str, &str)],
) -> Result<ClientConfig, Error> {
    if properties.get("bootstrap.servers").or(properties.get("metadata.broker.list")).is_none_or(String::is_empty) {
        return Err(Error::lasting("the Kafka property `bootstrap.servers` is missing: give host:port of a broker"));
    }
    let mut config = ClientConfig::new();
    config.set("client.id", "hypercane").set("socket.keepalive.enable", "true");
    for (name, value) in defaults {
        config.set(*name, *value);
    }
    for (name, value) in properties {
        config.set(name, value);
    }
    for (name, value) in fixed {
        if properties.get(*name).is_some_and(|given| given != value) {
            return Err(Error::lasting(format!(
                "the Kafka property `{name}` has to be `{value}` for exactly-once: leave it out"
            )));
        }
        config.set(*name, *value);
    }
    Ok(config)
}

/// Hears what the client says on the side, and keeps the last complaint: an error often has its reason only there.
#[derive(Debug, Default)]
struct Listener {
    complaint: Mutex<Option<Complaint>>,
}

#[derive(Clone, Debug)]
struct Complaint {
    reason: String,
    /// Whether it stays until somebody changes something, such as a password.
    is_lasting: bool,
}

impl Listener {
    fn complaint(&self) -> Option<Complaint> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the brokers refuse us, so that waiting is of no use.
    fn is_refused(&self) -> bool {
        self.complaint().is_some_and(|complaint| complaint.is_lasting)
    }

    fn hear(&self, reason: &str, is_lasting: bool) {
        let mut last = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows a refusal, such as that all brokers are down, only says the same in other words.
        if is_lasting || !last.as_ref().is_some_and(|last| last.is_lasting) {
            *last = Some(Complaint { reason: reason.to_owned(), is_lasting });
        }
    }
}

impl ClientContext for Listener {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        if level as i32 <= RDKafkaLogLevel::Error as i32 {
            self.hear(message, false);
        }
        if level as i32 <= RDKafkaLogLevel::Warning as i32 {
            tracing::warn!(facility, message, "librdkafka");
        } else {
            tracing::debug!(facility, message, "librdkafka");
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        // The end of a partition is asked for, and no trouble.
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::PartitionEOF) {
            return;
        }
        self.hear(reason, is_lasting(&error));
        tracing::warn!(%error, reason, "librdkafka");
    }
}

/// Lets the listener of a consumer hear what waits to be told: why brokers refuse us, often. Only for a consumer to which
/// nothing is assigned, since a record that comes up is lost.
fn hear_complaints<C: ConsumerContext>(consumer: &BaseConsumer<C>) {
    // Some of what is told ends a poll early without a word, so that silence once is not the end.
    for _ in 0..5 {
        while consumer.poll(Duration::from_millis(20)).is_some() {}
    }
}

/// An error of ours for one of the client's.
fn failure(what: impl Into<String>, error: KafkaError, listener: Option<&Listener>) -> Error {
    let mut message: String = what.into();
    let refused = listener.is_some_and(Listener::is_refused);
    if let Some(complaint) = listener.and_then(Listener::complaint) {
        message = format!("{message} (last heard: {})", complaint.reason);
    }
    if refused || is_lasting(&error) {
        Error::lasting(message).because(error)
    } else {
        Error::transient(message).because(error)
    }
}

/// Whether an error stays until somebody changes something. A broker that can't be reached is not among them: it is
/// most often restarting.
fn is_lasting(error: &KafkaError) -> bool {
    use RDKafkaErrorCode as Code;
    let code = match error {
        KafkaError::ClientConfig(..)
        | KafkaError::ClientCreation(_)
        | KafkaError::Nul(_)
        | KafkaError::MessageConsumptionFatal(_) => return true,
        KafkaError::AdminOp(code) => Some(*code),
        other => other.rdkafka_error_code(),
    };
    matches!(
        code,
        Some(
            Code::Fatal
                | Code::Authentication
                | Code::SaslAuthenticationFailed
                | Code::UnsupportedSASLMechanism
                | Code::TopicAuthorizationFailed
                | Code::GroupAuthorizationFailed
                | Code::ClusterAuthorizationFailed
                | Code::UnknownTopic
                | Code::UnknownTopicOrPartition
                | Code::UnknownPartition
                | Code::InvalidTopic
                | Code::AutoOffsetReset
                | Code::OffsetOutOfRange
                | Code::MessageSizeTooLarge
                | Code::InvalidArgument
                | Code::InvalidReplicationFactor
                | Code::InvalidPartitions
                | Code::PolicyViolation
                | Code::UnsupportedVersion
        )
    )
}

#[cfg(test)]
mod tests;
