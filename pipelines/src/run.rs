//! The loop of a running pipeline: from a feed of records to epochs, results and commits.
//!
//! While an epoch is worked on, the feed fills; the next epoch takes all that is there, up to a bound. So a quiet pipeline
//! answers each record at once, and a busy one works in larger batches. Offsets are noted with the epoch that read them
//! and become final with the commit of that epoch. Results are sent before their commit: after a crash some are sent
//! again, none is lost; the lake holds everything exactly once.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use hypercane_schemas::{ContentHash, Reject, ResultEvent};
use tokio::runtime::Runtime;

use crate::{
    connect::{
        self,
        format::{Decoder, Input, encode_reject},
        transport::{Event, Feed, Next, Sink},
    },
    pipeline::{Error, Gathered, Offsets, Pipeline, Stepped},
    replay::{self, Standing},
};

/// How a pipeline runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How records are read.
    pub decoder: Decoder,
    /// Most records in an epoch.
    pub max_epoch_records: usize,
    /// Longest wait of a result for its commit.
    pub commit_interval: Duration,
    /// Topic of results.
    pub results: String,
    /// Topic of rejects.
    pub rejects: String,
}

/// What a run has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records read.
    pub n_records: u64,
    /// Epochs.
    pub n_epochs: u64,
    /// Steps of answers that came, went or moved.
    pub n_results: u64,
    /// Records, documents or parts that could not be used.
    pub n_rejects: u64,
}

/// Brokers refuse more than 1 MiB unless told otherwise; a longer reject goes out without its payload.
const MAX_REJECT_BYTES: usize = 900_000;

/// How long to wait for a record before looking whether to stop or to commit.
const WAIT: Duration = Duration::from_millis(20);
/// The same in a cluster, where another process may wait for this one's share of an epoch.
const WAIT_IN_CLUSTER: Duration = Duration::from_millis(2);
/// How long to wait for a commit before looking again whether it is done.
const PAUSE: Duration = Duration::from_millis(2);

/// Runs until the feed ends or `stop` is set; then commits everything. In a cluster, until the feeds of all processes have
/// ended or any of them is stopped.
///
/// # Errors
/// The source, a model, the dataflow, a sink or the lake fails. What was committed stays; a restart goes on from there.
pub fn run(
    runtime: &Runtime,
    pipeline: &mut Pipeline,
    feed: &Feed,
    sink: &mut dyn Sink,
    settings: &Settings,
    stop: &AtomicBool,
    mut watch: impl FnMut(Progress),
) -> Result<Progress, Error> {
    let mut progress = Progress::default();
    let mut has_ended = false;
    let mut standing = runtime.block_on(Standing::load(pipeline.lake()))?;
    let wait = if pipeline.is_alone() { WAIT } else { WAIT_IN_CLUSTER };
    while !pipeline.has_ended() {
        let stops = stop.load(Ordering::Relaxed);
        let reads = !(stops || has_ended || pipeline.is_ending() || pipeline.holds());
        let read = match reads {
            true => gather(feed, settings, wait, &mut standing)?,
            false => {
                std::thread::sleep(PAUSE);
                Read::default()
            }
        };
        progress.n_records += read.n_records;
        progress.n_rejects += read.rejects.len() as u64;
        has_ended |= read.has_ended;
        if !read.rejects.is_empty() {
            for reject in &read.rejects {
                send_reject(reject, sink, settings)?;
            }
            sink.flush(pipeline.next_epoch() - 1)?;
        }
        let rejects = runtime.block_on(replay::changes(pipeline, read.rejects, &read.answered))?;
        let gathered =
            Gathered { inputs: read.inputs, rejects, offsets: read.offsets, n_bytes: read.n_bytes, has_ended };
        let turn = pipeline.turn(gathered, stops, settings.commit_interval);
        if let Some(stepped) = runtime.block_on(turn)? {
            progress.n_epochs += 1;
            progress.n_results += stepped.results.len() as u64;
            progress.n_rejects += stepped.rejects.len() as u64;
            send(&stepped, sink, settings)?;
        }
        watch(progress);
    }
    Ok(progress)
}

/// What was read for one epoch.
#[derive(Default)]
struct Read {
    inputs: Vec<Input>,
    rejects: Vec<Reject>,
    /// Rejects that stood before, and that a record of these answers.
    answered: BTreeSet<ContentHash>,
    offsets: Offsets,
    n_records: u64,
    n_bytes: usize,
    has_ended: bool,
}

impl Read {
    /// Takes a reject, unless it stands already, as that of a file that was read again.
    fn reject(&mut self, reject: Reject, standing: &mut Standing) {
        if standing.add(&reject) {
            self.rejects.push(reject);
        }
    }
}

/// Waits for a record, then takes all that is there, up to the bound.
fn gather(feed: &Feed, settings: &Settings, wait: Duration, standing: &mut Standing) -> Result<Read, connect::Error> {
    let mut read = Read::default();
    let mut next = feed.next_within(wait);
    loop {
        match next {
            Next::Event(Event::Record(record)) => {
                read.n_records += 1;
                read.n_bytes += record.n_bytes();
                if let (Some(partition), Some(offset)) = (record.partition, record.offset) {
                    read.offsets.insert((record.topic.to_string(), partition), offset + 1);
                }
                if standing.wants(&record) {
                    let decoded = settings.decoder.decode(&record);
                    let outcome = decoded.as_ref().err().map(|reject| &**reject);
                    read.answered.extend(standing.answered(&record, outcome));
                    match decoded {
                        Ok(input) => read.inputs.push(input),
                        Err(reject) => read.reject(*reject, standing),
                    }
                }
            }
            Next::Event(Event::Rejected(reject)) => read.reject(*reject, standing),
            Next::Event(Event::Skipped(reject, goes_on_at)) => {
                tracing::warn!(reason = reject.reason, "a gap is skipped");
                let partition = reject.partition.unwrap_or_default();
                read.offsets.insert((reject.topic.clone(), partition), goes_on_at);
                read.rejects.push(*reject);
            }
            Next::Event(Event::CaughtUp) => tracing::info!("caught up"),
            Next::Event(Event::Failed(error)) => return Err(error),
            Next::Nothing => return Ok(read),
            Next::Ended => {
                read.has_ended = true;
                return Ok(read);
            }
        }
        if read.inputs.len() + read.rejects.len() >= settings.max_epoch_records {
            return Ok(read);
        }
        next = feed.try_next();
    }
}

fn send(stepped: &Stepped, sink: &mut dyn Sink, settings: &Settings) -> Result<(), connect::Error> {
    for event in &stepped.results {
        sink.send(&settings.results, event.part.query().0.as_bytes(), Some(&json(event)?))?;
    }
    for reject in &stepped.rejects {
        send_reject(reject, sink, settings)?;
    }
    sink.flush(stepped.epoch)
}

fn send_reject(reject: &Reject, sink: &mut dyn Sink, settings: &Settings) -> Result<(), connect::Error> {
    sink.send(&settings.rejects, reject.key.as_bytes(), Some(&encode_reject(reject, MAX_REJECT_BYTES)))
}

fn json(row: &impl serde::Serialize) -> Result<Vec<u8>, connect::Error> {
    serde_json::to_vec(row)
        .map_err(|e| connect::Error::lasting("a result can't be written as JSON".to_owned()).because(e))
}

/// Reads a result back, for those who print it.
///
/// # Errors
/// It is none.
pub fn read_result(payload: &[u8]) -> Result<ResultEvent, serde_json::Error> {
    serde_json::from_slice(payload)
}
