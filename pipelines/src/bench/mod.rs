//! How fast a pipeline is, on a folder of documents with questions: loading, answering to one more record, and what that
//! costs against computing everything again.

mod corpus;
mod figures;
mod records;
pub mod soak;
mod storm;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, Query};
use tokio::runtime::Runtime;

use crate::{
    connect::{
        self,
        embed::Recorded,
        format::{Decoder, Input},
        lake::{self, Lake},
        memory,
        transport::{Feed, Limits, RawRecord},
    },
    enrich::Enricher,
    pipeline::{Error, Pipeline},
    run::{self, Settings as RunSettings},
};

pub use corpus::{Corpus, CorpusReport};
use figures::quantile;
pub use figures::{Latency, Load, Rebuild, Report};
pub use records::{Change, hold_back};

/// What is measured.
pub struct Bench<'a> {
    /// The documents.
    pub documents: Vec<Document>,
    /// The standing questions.
    pub queries: Vec<Query>,
    /// The pack.
    pub domain: Arc<Domain>,
    /// The vectors; those of all documents are asked for before anything is measured.
    pub recorded: Arc<Recorded>,
    /// Worker threads.
    pub n_workers: usize,
    /// How many records arrive one by one.
    pub n_records: usize,
    /// Where the lake is written.
    pub lake: PathBuf,
    /// Hears what is being done.
    pub told: &'a dyn Fn(String),
}

/// As `hypercane run` has it.
const COMMIT_INTERVAL: Duration = Duration::from_millis(500);
const EPOCH_RECORDS: usize = 256;
/// How many records arrive before the questions stand.
const BEFORE_QUESTIONS: usize = 40;

impl Bench<'_> {
    /// Measures everything.
    ///
    /// # Errors
    /// The lake can't be written, a model or a worker fails.
    pub fn run(mut self, runtime: &Runtime) -> Result<Report, Error> {
        let recording = self.record(runtime)?;
        let (loaded, held) = hold_back(std::mem::take(&mut self.documents));
        (self.told)(format!("loading {} documents", loaded.len()));
        let mut pipeline = self.pipeline(runtime, &self.lake.join("memory"))?;
        let load = self.load(runtime, &mut pipeline, &loaded)?;

        let mut standing = records::Standing::of(&loaded);
        let changes = records::changes(&held, BEFORE_QUESTIONS);
        (self.told)(format!("{} records one by one, without questions", changes.len()));
        let without_questions = self.one_by_one(runtime, &mut pipeline, changes, &mut standing)?;

        (self.told)(format!("{} questions", self.queries.len()));
        let began = Instant::now();
        let asked = self.queries.iter().map(|query| Input::Query(query.id.clone(), Some(query.clone())));
        runtime.block_on(pipeline.step(asked.collect()))?;
        let questions_seconds = began.elapsed().as_secs_f64();

        let changes = records::changes(&held, self.n_records);
        (self.told)(format!("{} records one by one", changes.len()));
        let with_questions = self.one_by_one(runtime, &mut pipeline, changes, &mut standing)?;
        runtime.block_on(pipeline.commit())?;
        drop(pipeline);

        (self.told)("everything again from scratch".into());
        let rebuild = self.rebuild(runtime, standing, &with_questions)?;
        Ok(Report {
            n_workers: self.n_workers,
            n_vectors_recorded: recording.0,
            recording_seconds: recording.1,
            load,
            kafka_load: None,
            n_questions: self.queries.len(),
            questions_seconds,
            without_questions,
            with_questions,
            rebuild,
        })
    }

    /// Has every vector recorded, so that no model is measured; gives how many and how long it took.
    fn record(&self, runtime: &Runtime) -> Result<(usize, f64), Error> {
        (self.told)("recording the vectors of all texts".into());
        let began = Instant::now();
        let mut enricher = Enricher::new(Arc::clone(&self.domain), Arc::clone(&self.recorded));
        let n_vectors = runtime.block_on(enricher.enrich(&self.documents, &self.queries))?.vectors.len();
        Ok((n_vectors, began.elapsed().as_secs_f64()))
    }

    /// A pipeline with a new lake.
    fn pipeline(&self, runtime: &Runtime, folder: &std::path::Path) -> Result<Pipeline, Error> {
        let location = folder.to_string_lossy();
        let lake = runtime.block_on(Lake::open(&location, "bench", lake::Options::default()))?;
        let recorded = Arc::clone(&self.recorded);
        runtime.block_on(Pipeline::start(self.n_workers, Arc::clone(&self.domain), recorded, Some(lake)))
    }

    /// From topics in memory to committed tables.
    fn load(&self, runtime: &Runtime, pipeline: &mut Pipeline, documents: &[Document]) -> Result<Load, Error> {
        let topic: Arc<str> = "documents".into();
        let records = documents.iter().map(|document| records::raw(&topic, document)).collect::<Result<Vec<_>, _>>()?;
        let (mut writer, feed) = memory::topics(Limits::default());
        let n_bytes = records.iter().map(|record| record.payload.as_ref().map_or(0, Vec::len)).sum();
        let began = Instant::now();
        let sender = std::thread::spawn(move || records.into_iter().all(|record| writer.send_raw(record)));
        let n_epochs = consume(runtime, pipeline, &feed, &Decoder::default())?;
        let seconds = began.elapsed().as_secs_f64();
        // It has ended: the feed ends with its writer.
        let _ = sender.join();
        Ok(Load::new(documents.len(), n_bytes, n_epochs, seconds))
    }

    /// The same from Kafka, with topics and a lake of its own. The records are in the topic before the clock starts.
    ///
    /// # Errors
    /// The brokers can't be reached, or as in [`Bench::run`].
    #[cfg(feature = "kafka")]
    pub fn load_from_kafka(
        &self,
        runtime: &Runtime,
        properties: &connect::kafka::Properties,
        n_partitions: i32,
    ) -> Result<Load, Error> {
        use connect::kafka::{self, Source, Start};

        (self.told)("recording the vectors of all texts".into());
        self.record(runtime)?;
        let name = format!("hypercane-bench-{}", jiff::Timestamp::now().as_millisecond());
        let topic: Arc<str> = name.as_str().into();
        (self.told)(format!("filling topic {name}"));
        runtime.block_on(kafka::create_topics(properties, &[&name], n_partitions))?;
        let records =
            self.documents.iter().map(|document| records::raw(&topic, document)).collect::<Result<Vec<_>, _>>()?;
        let n_bytes = records.iter().map(|record| record.payload.as_ref().map_or(0, Vec::len)).sum();
        kafka::publish(properties, records, |_| ())?;
        (self.told)(format!("loading {} documents from Kafka", self.documents.len()));
        let mut pipeline = self.pipeline(runtime, &self.lake.join("kafka"))?;
        let began = Instant::now();
        let start = Start { until_end: true, ..Start::default() };
        let source = Source::open(properties, std::slice::from_ref(&name), start, Limits::default())?;
        let decoder = Decoder { documents: name, ..Decoder::default() };
        let n_epochs = consume(runtime, &mut pipeline, &source.feed, &decoder)?;
        Ok(Load::new(self.documents.len(), n_bytes, n_epochs, began.elapsed().as_secs_f64()))
    }

    /// Works records off one epoch each, from their bytes to the changes of answers, with commits beside.
    fn one_by_one(
        &self,
        runtime: &Runtime,
        pipeline: &mut Pipeline,
        changes: Vec<(Change, RawRecord)>,
        standing: &mut records::Standing,
    ) -> Result<Latency, Error> {
        let decoder = Decoder::default();
        let mut latency = Latency::default();
        for (change, record) in changes {
            let began = Instant::now();
            let Ok(input) = decoder.decode(&record) else { continue };
            standing.apply(&input);
            let stepped = runtime.block_on(pipeline.step(vec![input]))?;
            latency.add(change, began.elapsed(), &stepped);
            if pipeline.since_commit() >= COMMIT_INTERVAL {
                runtime.block_on(pipeline.begin_commit())?;
            }
        }
        latency.finish();
        Ok(latency)
    }

    /// The state that stands, from nothing, in one epoch.
    fn rebuild(&self, runtime: &Runtime, standing: records::Standing, latency: &Latency) -> Result<Rebuild, Error> {
        let mut inputs = standing.into_inputs();
        inputs.extend(self.queries.iter().map(|query| Input::Query(query.id.clone(), Some(query.clone()))));
        let began = Instant::now();
        let recorded = Arc::clone(&self.recorded);
        let mut pipeline =
            runtime.block_on(Pipeline::start(self.n_workers, Arc::clone(&self.domain), recorded, None))?;
        let stepped = runtime.block_on(pipeline.step(inputs))?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(Rebuild::new(seconds, stepped.n_updates, latency))
    }
}

/// Runs a pipeline until its feed ends and everything is committed; gives the number of epochs.
fn consume(runtime: &Runtime, pipeline: &mut Pipeline, feed: &Feed, decoder: &Decoder) -> Result<u64, Error> {
    let settings = RunSettings {
        decoder: decoder.clone(),
        max_epoch_records: EPOCH_RECORDS,
        commit_interval: COMMIT_INTERVAL,
        results: "results".into(),
        rejects: "rejects".into(),
    };
    let stop = AtomicBool::new(false);
    let mut sink = memory::Sink::default();
    let done = run::run(runtime, pipeline, feed, &mut sink, &settings, &stop, |_| ())?;
    Ok(done.n_epochs)
}
