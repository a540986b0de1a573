//! Apache Kafka as a source and a sink, through librdkafka.
//!
//! Offsets and epochs: a record's offset becomes durable only in the lake, in the same commit as everything that follows
//! from the record. So the consumer joins no group. It reads all partitions that are its own, from the offsets that the
//! lake's last commit names, and where that names none from the beginning. A process that was killed reads again exactly
//! what its lake has not seen. [`Source::commit`] may tell the broker afterwards, for the sake of lag monitors only.
//!
//! An offset that the broker no longer has is an error and never skipped: the records between are lost to us, and a
//! person has to decide ([`Start::accept_gap`]).

mod gap;
mod lookup;
mod patience;
mod sink;
mod source;
mod topics;

pub use lookup::{fetch, replayed};
pub use patience::patiently;
pub use sink::{Sink, publish};
pub use source::{Share, Source, Start};
pub use topics::{create_topics, ends};

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rdkafka::{
    ClientConfig, ClientContext,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, Consumer as _, ConsumerContext},
    error::{KafkaError, RDKafkaErrorCode},
    metadata::Metadata,
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
    is_refusal: bool,
}

impl Listener {
    fn complaint(&self) -> Option<Complaint> {
        self.complaint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the brokers have refused us since something last went well, so that waiting is of no use.
    fn is_refused(&self) -> bool {
        self.complaint().is_some_and(|complaint| complaint.is_refusal)
    }

    fn hear(&self, reason: &str, is_refusal: bool) {
        let mut last = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        // What follows a refusal, such as that all brokers are down, only says the same in other words.
        if is_refusal || !last.as_ref().is_some_and(|last| last.is_refusal) {
            *last = Some(Complaint { reason: reason.to_owned(), is_refusal });
        }
    }

    /// Something went well: what was complained of before is no reason any more.
    fn forget(&self) {
        *self.complaint.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
        match error.rdkafka_error_code() {
            // The end of a partition is asked for, and no trouble.
            Some(RDKafkaErrorCode::PartitionEOF) => return,
            // Said many times a second, after each broker has given its own reason.
            Some(RDKafkaErrorCode::AllBrokersDown) => return tracing::debug!(%error, reason, "librdkafka"),
            _ => {}
        }
        self.hear(reason, error.rdkafka_error_code().is_some_and(is_refusal));
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::BrokerTransportFailure) {
            // The log has just said the same.
            return tracing::debug!(%error, reason, "librdkafka");
        }
        tracing::warn!(%error, reason, "librdkafka");
    }
}

/// How long brokers may take to answer a question.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long one attempt at it takes; between two of them it is heard whether brokers refuse us.
const ATTEMPT: Duration = Duration::from_secs(1);

/// What the brokers say of a topic, or of all. The consumer must have nothing assigned: its listener hears by polling, and a
/// record that came up would be lost. A refusal ends the wait at once.
fn describe<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    listener: &Listener,
    topic: Option<&str>,
) -> Result<Metadata, KafkaError> {
    let began = Instant::now();
    let mut is_told = false;
    loop {
        let error = match consumer.fetch_metadata(topic, ATTEMPT) {
            Ok(described) => {
                listener.forget();
                if is_told {
                    tracing::warn!("the brokers answer now");
                }
                return Ok(described);
            }
            Err(error) => error,
        };
        // Some of what is told ends a poll early without a word, so that silence once is not the end.
        for _ in 0..5 {
            while consumer.poll(Duration::from_millis(20)).is_some() {}
        }
        if listener.is_refused() || began.elapsed() > ANSWER_TIMEOUT {
            return Err(error);
        }
        if !is_told {
            is_told = true;
            let reason = listener.complaint().map(|complaint| complaint.reason);
            tracing::warn!(reason, "no broker answers yet; waiting for one");
        }
    }
}

/// The header of a record that is sent again for a reject: its value is the reject's id.
const REPLAYS: &str = "hypercane-replays";

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
    code.is_some_and(is_refusal)
        || matches!(
            code,
            Some(
                Code::Fatal
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

/// Whether brokers do not take who we say we are, or do not let us do what we ask for.
fn is_refusal(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::Authentication
            | Code::SaslAuthenticationFailed
            | Code::UnsupportedSASLMechanism
            | Code::TopicAuthorizationFailed
            | Code::GroupAuthorizationFailed
            | Code::ClusterAuthorizationFailed
    )
}

#[cfg(test)]
mod tests;
