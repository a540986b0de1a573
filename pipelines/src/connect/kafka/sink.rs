//! Records to topics: an idempotent producer, whose deliveries are awaited at the end of an epoch.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use hypercane_schemas::Epoch;
use rdkafka::{
    ClientContext, Message as _,
    config::RDKafkaLogLevel,
    error::{KafkaError, RDKafkaErrorCode},
    message::{Header, OwnedHeaders},
    producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer},
};

use super::{Error, Listener, Properties, REPLAYS, client_config, failure};
use crate::connect::transport::{self, RawRecord};

/// A producer. Between two flushes its records wait in a bounded queue of the client and are sent in the background.
pub struct Sink {
    producer: ThreadedProducer<Deliveries>,
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sink").field("in_flight", &self.producer.in_flight_count()).finish()
    }
}

impl Sink {
    /// Sets the producer up; brokers are reached when there is something to send. Brokers that are away are waited for
    /// without end: a pipeline that ended would have to be started again, and then wait all the same.
    pub fn open(properties: &Properties) -> Result<Self, Error> {
        Self::open_within(properties, "0")
    }

    /// The same, where a record that can't be delivered within so many milliseconds is an error; 0 is without end.
    fn open_within(properties: &Properties, message_timeout_ms: &str) -> Result<Self, Error> {
        let config = client_config(
            properties,
            &[
                ("linger.ms", "5"),
                ("compression.type", "lz4"),
                ("queue.buffering.max.kbytes", "65536"),
                ("message.max.bytes", "67108864"),
                ("message.timeout.ms", message_timeout_ms),
            ],
            &[("enable.idempotence", "true")],
        )?;
        let producer = config
            .create_with_context(Deliveries::default())
            .map_err(|e| failure("the Kafka producer could not be set up", e, None))?;
        Ok(Self { producer })
    }

    fn enqueue(&self, mut record: BaseRecord<'_, [u8], [u8]>) -> Result<(), Error> {
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), unsent)) => {
                    // The broker is slower than we are. Waiting here is what slows the dataflow down.
                    record = unsent;
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err((error, unsent)) => return Err(self.explain(unsent.topic, error)),
            }
        }
    }

    /// Waits until nothing is under way; each record arrives or fails within `message.timeout.ms`. Where the brokers refuse
    /// us, nothing will arrive, and nobody needs to wait.
    fn settle(&self) -> Result<(), Error> {
        let began = Instant::now();
        let mut mentioned = began;
        while let Err(error) = self.producer.flush(Duration::from_secs(1)) {
            if self.producer.context().listener.is_refused() {
                let n_records = self.producer.in_flight_count();
                let what = format!("{n_records} records were not delivered");
                return Err(failure(what, error, Some(&self.producer.context().listener)));
            }
            if mentioned.elapsed() > MENTION_AGAIN {
                let n_records = self.producer.in_flight_count();
                tracing::warn!(n_records, waited = ?began.elapsed(), "records wait for their delivery");
                mentioned = Instant::now();
            }
        }
        match self.producer.context().take_failure() {
            None => Ok(()),
            Some((topic, error)) => Err(self.explain(&topic, error)),
        }
    }

    fn explain(&self, topic: &str, error: KafkaError) -> Error {
        failure(format!("a record for topic {topic} was not delivered"), error, Some(&self.producer.context().listener))
    }
}

impl transport::Sink for Sink {
    fn send(&mut self, topic: &str, key: &[u8], payload: Option<&[u8]>) -> Result<(), Error> {
        let mut record = BaseRecord::to(topic).key(key);
        record.payload = payload;
        self.enqueue(record)
    }

    fn flush(&mut self, epoch: Epoch) -> Result<(), Error> {
        let began = Instant::now();
        self.settle()?;
        tracing::debug!(epoch, took = ?began.elapsed(), "delivered");
        Ok(())
    }
}

/// How often a wait that goes on is mentioned.
const MENTION_AGAIN: Duration = Duration::from_secs(10);

/// A record as the client takes it. One that has a partition goes there; else its key decides.
fn outgoing(record: &RawRecord) -> BaseRecord<'_, [u8], [u8]> {
    let mut out = BaseRecord::to(&record.topic);
    (out.key, out.payload, out.partition) = (record.key.as_deref(), record.payload.as_deref(), record.partition);
    if let Some(reject) = record.replays {
        let header = Header { key: REPLAYS, value: Some(&reject.to_string()) };
        out.headers = Some(OwnedHeaders::new().insert(header));
    }
    out
}

/// For so long a record may be under way when files are sent.
const PUBLISH_TIMEOUT_MS: &str = "60000";

/// Sends records to their topics and returns how many when all have arrived. `progress` hears the count now and then.
pub fn publish(
    properties: &Properties,
    records: impl IntoIterator<Item = RawRecord>,
    mut progress: impl FnMut(u64),
) -> Result<u64, Error> {
    let sink = Sink::open_within(properties, PUBLISH_TIMEOUT_MS)?;
    let mut n_records = 0;
    for record in records {
        sink.enqueue(outgoing(&record))?;
        n_records += 1;
        if n_records % 100 == 0 {
            progress(n_records);
        }
    }
    sink.settle()?;
    progress(n_records);
    Ok(n_records)
}

/// Hears of deliveries, and keeps the first that failed.
#[derive(Debug, Default)]
struct Deliveries {
    listener: Listener,
    failure: Mutex<Option<(String, KafkaError)>>,
}

impl Deliveries {
    fn take_failure(&self) -> Option<(String, KafkaError)> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.listener.log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.listener.error(error, reason);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        match result {
            Ok(_) => self.listener.forget(),
            Err((error, message)) => {
                let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| (message.topic().to_owned(), error.clone()));
            }
        }
    }
}
