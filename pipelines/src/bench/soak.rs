//! Whether a pipeline stays as large as it is: the same storm over and over, with corrections, deletions, insertions anew,
//! moved reference times, and queries that come and go, while memory and files are watched.
//!
//! The records go through a topic in memory to the loop of `hypercane run`, and from there into a real lake.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use hypercane_operators::domain::Domain;
use hypercane_schemas::{Epoch, Query};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::{COMMIT_INTERVAL, EPOCH_RECORDS, storm};
use crate::{
    connect::{
        self,
        embed::{EmbedService, Model, Recorded, ServiceSettings},
        format::Decoder,
        lake::{self, Lake, TableSize},
        memory,
        transport::{Limits, RawRecord, Sink},
    },
    pipeline::{Error, Pipeline},
    run::{self, Progress, Settings},
    sizes,
    vectors::LakeVectors,
};

/// What is replayed, for how long.
pub struct Soak {
    /// The storm's records, each with its topic, in their order.
    pub storm: Vec<RawRecord>,
    /// The questions.
    pub queries: Vec<Query>,
    /// The pack.
    pub domain: Arc<Domain>,
    /// The model; each text is embedded once.
    pub model: Arc<dyn Model>,
    /// Worker threads.
    pub n_workers: usize,
    /// Records a second.
    pub rate: f64,
    /// How long.
    pub length: Duration,
    /// The folder of the lake.
    pub folder: PathBuf,
}

/// The state of things at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    /// Seconds since the start.
    pub seconds: f64,
    /// Resident memory in bytes.
    pub memory: u64,
    /// Records so far.
    pub n_records: u64,
    /// Epochs so far.
    pub n_epochs: u64,
    /// Rows in arrangements, with those that have not cancelled each other yet.
    pub arranged_rows: i64,
    /// The tables.
    pub tables: Vec<TableSize>,
}

impl Sample {
    /// The most files that the newest version of a table refers to.
    pub fn most_live_files(&self) -> u64 {
        self.tables.iter().map(|table| table.n_files).max().unwrap_or_default()
    }

    /// All files of the lake, with removed ones and those of logs.
    pub fn n_files(&self) -> u64 {
        self.tables.iter().map(|table| table.n_stored_files + table.n_log_files).sum()
    }

    /// The bytes that the tables refer to.
    pub fn n_bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.n_bytes).sum()
    }
}

/// Memory may grow by this much in the second half.
const MOST_GROWTH: f64 = 0.05;
/// Memory is averaged over this part of the time.
const PART: usize = 10;
/// The lake's files, with removed ones and logs, may be more by this much: logs are cleared every hundred versions only.
const MOST_MORE_FILES: f64 = 0.25;
/// A table may have this many files for one of the threshold, since commits go on while files are merged.
const MOST_LIVE: usize = 2;
const PAUSE: Duration = Duration::from_secs(1);
/// Samples between two looks at the tables.
const LOOK_AT_TABLES: usize = 10;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Seconds that it took.
    pub seconds: f64,
    /// Records.
    pub n_records: u64,
    /// Times that the storm was replayed.
    pub n_storms: u64,
    /// Epochs.
    pub n_epochs: u64,
    /// Mean resident memory at the end of the first half, in bytes: of a tenth of the time.
    pub memory_before: u64,
    /// The greatest mean of a tenth of the time in the second half.
    pub memory_after: u64,
    /// The greatest single value in the second half.
    pub memory_peak: u64,
    /// The most live files of a table.
    pub live_files: u64,
    /// How many are allowed.
    pub live_files_bound: u64,
    /// The most files of the lake in the first half, and in the second.
    pub files: (u64, u64),
    /// Whether memory and files stayed as they were.
    pub is_flat: bool,
}

impl Soak {
    /// Replays the storm until the time is up; `told` hears each sample.
    ///
    /// # Errors
    /// The lake can't be written, a model or a worker fails.
    pub fn run(self, runtime: &Runtime, told: impl FnMut(&Sample) + Send) -> Result<Verdict, Error> {
        sizes::start();
        let options = lake::Options {
            // Short, so that what is kept for a time is in balance long before the first half ends.
            retention: (self.length / 10).max(Duration::from_secs(10)),
            history: Some(self.length / 5),
            ..lake::Options::default()
        };
        let small_files = options.small_files;
        let location = self.folder.to_string_lossy();
        let lake = runtime.block_on(Lake::open(&location, "soak", options))?;
        let vectors = runtime.block_on(LakeVectors::open(lake.clone(), self.model.id()))?;
        let service = EmbedService::start(self.model, &ServiceSettings::default())?;
        let recorded = Arc::new(Recorded::new(service, Arc::new(vectors)));
        let started = Pipeline::start(self.n_workers, Arc::clone(&self.domain), recorded, Some(lake.clone()));
        let mut pipeline = runtime.block_on(started)?;

        let cycles: Vec<Vec<RawRecord>> = storm::cycles(&self.storm, &self.queries).map_err(Error::Connect)?;
        let n_cycle = cycles[0].len() as u64;
        let (mut writer, feed) = memory::topics(Limits { records: EPOCH_RECORDS, ..Limits::default() });
        let (length, rate, began) = (self.length, self.rate, Instant::now());
        let sender = thread::spawn(move || {
            for (count, record) in cycles.into_iter().cycle().flatten().enumerate() {
                let due = Duration::from_secs_f64(count as f64 / rate);
                thread::sleep(due.saturating_sub(began.elapsed()));
                if began.elapsed() >= length || !writer.send_raw(record) {
                    return;
                }
            }
        });

        let (progress, done) = (Mutex::new(Progress::default()), AtomicBool::new(false));
        let settings = Settings {
            decoder: Decoder::default(),
            max_epoch_records: EPOCH_RECORDS,
            commit_interval: COMMIT_INTERVAL,
            results: "results".into(),
            rejects: "rejects".into(),
        };
        let (outcome, samples) = thread::scope(|scope| {
            let watching = scope.spawn(|| watch(runtime, &lake, began, &progress, &done, told));
            let stop = AtomicBool::new(false);
            let outcome = run::run(runtime, &mut pipeline, &feed, &mut Nowhere, &settings, &stop, |now| {
                *progress.lock().unwrap_or_else(PoisonError::into_inner) = now;
            });
            done.store(true, Ordering::Relaxed);
            (outcome, watching.join())
        });
        let ended = outcome?;
        // They have ended: the feed is closed, and the watch has seen that all is done.
        let _ = sender.join();
        let samples = samples.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        drop(pipeline);
        runtime.block_on(lake.close());
        Ok(judge(&samples, ended, n_cycle, (small_files * MOST_LIVE) as u64))
    }
}

/// Takes a sample each second, until all is done.
fn watch(
    runtime: &Runtime,
    lake: &Lake,
    began: Instant,
    progress: &Mutex<Progress>,
    done: &AtomicBool,
    mut told: impl FnMut(&Sample),
) -> Result<Vec<Sample>, lake::Error> {
    let mut samples: Vec<Sample> = Vec::new();
    while !done.load(Ordering::Relaxed) {
        thread::sleep(PAUSE);
        let now = *progress.lock().unwrap_or_else(PoisonError::into_inner);
        let sample = Sample {
            seconds: began.elapsed().as_secs_f64(),
            memory: sizes::resident_memory().unwrap_or_default(),
            n_records: now.n_records,
            n_epochs: now.n_epochs,
            arranged_rows: sizes::arrangements().values().map(|kept| kept.n_rows).sum(),
            // Looking at all logs is work, so it is done now and then.
            tables: match samples.last() {
                Some(last) if !samples.len().is_multiple_of(LOOK_AT_TABLES) => last.tables.clone(),
                _ => runtime.block_on(lake.sizes())?,
            },
        };
        told(&sample);
        samples.push(sample);
    }
    Ok(samples)
}

/// What the samples say.
fn judge(samples: &[Sample], ended: Progress, n_cycle: u64, live_files_bound: u64) -> Verdict {
    let part = (samples.len() / PART).max(1);
    let mean =
        |samples: &[Sample]| samples.iter().map(|sample| sample.memory).sum::<u64>() / samples.len().max(1) as u64;
    let (first, second) = samples.split_at(samples.len() / 2);
    let memory_before = mean(&first[first.len().saturating_sub(part)..]);
    let memory_after = second.windows(part.min(second.len().max(1))).map(mean).max().unwrap_or_default();
    let most = |samples: &[Sample], number: fn(&Sample) -> u64| samples.iter().map(number).max().unwrap_or_default();
    let live_files = most(samples, Sample::most_live_files);
    let files = (most(first, Sample::n_files), most(second, Sample::n_files));
    let has_grown = |before: u64, after: u64, by: f64| after as f64 > before as f64 * (1.0 + by);
    Verdict {
        seconds: samples.last().map_or(0.0, |sample| sample.seconds),
        n_records: ended.n_records,
        n_storms: ended.n_records / n_cycle.max(1),
        n_epochs: ended.n_epochs,
        memory_before,
        memory_after,
        memory_peak: most(second, |sample| sample.memory),
        live_files,
        live_files_bound,
        files,
        is_flat: memory_before > 0
            && !has_grown(memory_before, memory_after, MOST_GROWTH)
            && !has_grown(files.0, files.1, MOST_MORE_FILES)
            && live_files <= live_files_bound,
    }
}

/// A sink for those who only want the lake.
struct Nowhere;

impl Sink for Nowhere {
    fn send(&mut self, _topic: &str, _key: &[u8], _payload: Option<&[u8]>) -> Result<(), connect::Error> {
        Ok(())
    }

    fn flush(&mut self, _epoch: Epoch) -> Result<(), connect::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Progress, Sample, TableSize, judge};

    fn samples(memory: impl Fn(u64) -> u64, n_files: impl Fn(u64) -> u64) -> Vec<Sample> {
        let table = |n_files| TableSize { n_files, n_stored_files: 2 * n_files, ..TableSize::default() };
        (0..100)
            .map(|at| Sample { memory: memory(at), tables: vec![table(n_files(at))], ..Sample::default() })
            .collect()
    }

    #[test]
    fn growth_of_memory_or_files_is_noticed() {
        let is_flat = |samples: &[Sample]| judge(samples, Progress::default(), 10, 64).is_flat;
        assert!(is_flat(&samples(|at| 1000 + 500 * u64::from(at < 30) + at % 7, |at| 20 + at % 5)));
        assert!(!is_flat(&samples(|at| 1000 + at * 2, |_| 20)));
        // One value may stand out, a tenth of the time may not.
        assert!(is_flat(&samples(|at| 1000 + 300 * u64::from(at == 80), |_| 20)));
        assert!(!is_flat(&samples(|at| 1000 + 300 * u64::from(at >= 85), |_| 20)));
        assert!(!is_flat(&samples(|_| 1000, |_| 65)));
        assert!(!is_flat(&samples(|_| 1000, |at| 20 + at / 3)));
        assert!(!is_flat(&[]));
    }
}
