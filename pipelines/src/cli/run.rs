//! `hypercane run`: a pipeline from a configuration.

use std::{
    io::{IsTerminal as _, Write as _},
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hypercane_schemas::{Epoch, Reject};
use indicatif::{ProgressBar, ProgressStyle};

use super::{resume, setup, show};
use crate::{
    config::{self, Config},
    connect::{
        self, files,
        format::Decoder,
        lake::{self, Lake},
        peers::Cluster,
        transport::{Feed, Limits, Sink},
    },
    enrich::Models,
    pipeline::Pipeline,
    run::{Settings, read_result, run as run_pipeline},
    sizes,
    worker::Layout,
};

/// Run a pipeline until it is stopped, or until its files are read.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The configuration, a TOML file; `deploy/hypercane.toml` is an example. `HYPERCANE__SECTION__KEY` overrides a value.
    config: PathBuf,
    /// Print results as JSON, one a line (with files as source).
    #[arg(long)]
    json: bool,
    /// Stop when all that is in the topics now has been read and committed.
    #[arg(long)]
    until_end: bool,
    /// Which process of a cluster this is, from 0; process 0 leads. All processes get the same configuration.
    #[arg(long, value_name = "I")]
    process: Option<usize>,
    /// Where each process of the cluster listens: a file with one host:port a line.
    #[arg(long, value_name = "FILE")]
    hostfile: Option<PathBuf>,
    /// Go on where a topic no longer has the records that come next. What is skipped becomes a row of table rejects.
    #[arg(long)]
    accept_gap: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let config = Config::load(&arguments.config, std::env::vars())?;
    let layout = layout(&config, arguments)?;
    let domain = setup::domain(&config.pipeline.domain)?;
    let runtime = setup::runtime()?;
    let stop = Stop::on_signal(&runtime);
    let lake = runtime.block_on(open_lake(&config, &layout))?;
    export_sizes(metrics_file(&config.metrics, &layout), config.metrics.interval_s, &runtime, &lake);
    let model = setup::model(&config.model.folder)?;
    let vectors = runtime.block_on(setup::recorded_in_lake(model, config.model.threads, &lake))?;
    let extractor = runtime.block_on(setup::extractor_in_lake(&config, layout.cluster.is_none(), &lake))?;
    let models = Models { vectors, extractor };
    let resume = resume::Resume::start(&runtime);
    let share = (layout.process(), layout.n_processes());
    // The first process alone writes to the lake before the pipeline has started.
    if layout.process() == 0 {
        resume.plan(&lake, &domain, &models)?;
        resume.reconcile(&lake, &domain, &models, config.pipeline.workers)?;
    }
    let started = Pipeline::start(layout, domain, models, Some(lake.clone()));
    let mut pipeline = runtime.block_on(started)?;
    resume.done(&pipeline);
    stop.finishes();
    pipeline.watch_models(setup::model_progress());
    let topics = config.source.kafka.as_ref().map(|kafka| kafka.topics.clone()).unwrap_or_default();
    let (feed, mut sink) = source(&config, share, &pipeline, &runtime, arguments)?;
    let decoder = Decoder {
        documents: topics.documents.clone(),
        horizons: topics.horizons.clone(),
        queries: topics.queries.clone(),
        max_bytes: config.pipeline.max_record_bytes,
    };
    let settings = Settings {
        decoder,
        max_epoch_records: config.pipeline.max_epoch_records,
        commit_interval: config.pipeline.commit_interval(),
        results: topics.results,
        rejects: topics.rejects,
    };
    let bar = progress_bar();
    let done = run_pipeline(&runtime, &mut pipeline, &feed, &mut *sink, &settings, &stop.asked, |progress| {
        bar.set_message(format!(
            "{} records, {} epochs, {} changes of answers, {} rejects",
            progress.n_records, progress.n_epochs, progress.n_results, progress.n_rejects
        ));
        bar.tick();
    })?;
    bar.finish_and_clear();
    let n_unanswered = pipeline.n_unanswered();
    drop(pipeline);
    runtime.block_on(lake.close());
    eprintln!(
        "{} records in {} epochs; {} changes of answers; {} rejects; the lake is in {}",
        done.n_records, done.n_epochs, done.n_results, done.n_rejects, config.lake.location
    );
    if n_unanswered > 0 {
        eprintln!("{n_unanswered} passages are without an answer of the language model; the next start asks again");
    }
    Ok(ExitCode::SUCCESS)
}

/// How many workers in how many processes, by the configuration and what was said beside it.
fn layout(config: &Config, arguments: &Arguments) -> anyhow::Result<Layout> {
    let mut layout = Layout::from(config.pipeline.workers);
    let Some(mut cluster) = config.cluster.clone().or_else(|| {
        let is_meant = arguments.hostfile.is_some() || arguments.process.is_some();
        is_meant.then(|| config::Cluster { hosts: Vec::new(), process: None })
    }) else {
        return Ok(layout);
    };
    if config.source.kafka.is_none() {
        anyhow::bail!("several processes need [source.kafka]: they share the partitions of topics, files they can't");
    }
    if let Some(file) = &arguments.hostfile {
        cluster.hosts = config::Cluster::read_hosts(file)?;
    }
    cluster.process = arguments.process.or(cluster.process);
    let process = cluster.place().map_err(anyhow::Error::msg)?;
    let name = format!("{} with {} workers a process", config.pipeline.id, config.pipeline.workers);
    layout.cluster = (cluster.hosts.len() > 1).then_some(Cluster { name, process, hosts: cluster.hosts });
    Ok(layout)
}

/// The first process holds the lake, the others join it.
async fn open_lake(config: &Config, layout: &Layout) -> Result<Lake, lake::Error> {
    let (location, id, options) = (&config.lake.location, &config.pipeline.id, lake_options(&config.lake));
    match layout.process() {
        0 => Lake::open(location, id, options).await,
        _ => Lake::join(location, id, options),
    }
}

pub(super) fn lake_options(lake: &config::Lake) -> lake::Options {
    let defaults = lake::Options::default();
    let seconds = |n: u64, unit: u64| Duration::from_secs(n.saturating_mul(unit));
    lake::Options {
        small_files: lake.small_files.unwrap_or(defaults.small_files),
        merge_after: lake.merge_after_minutes.map_or(defaults.merge_after, |minutes| seconds(minutes, 60)),
        retention: lake.retention_hours.map_or(defaults.retention, |hours| seconds(hours, 3600)),
        history: lake.history_hours.map(|hours| seconds(hours, 3600)),
        ..defaults
    }
}

/// Where the sizes are written; each process of a cluster has a file of its own, such as `hypercane-1.prom`.
fn metrics_file(settings: &config::Metrics, layout: &Layout) -> Option<PathBuf> {
    let file = settings.file.clone()?;
    if layout.cluster.is_none() {
        return Some(file);
    }
    let (stem, process) = (file.file_stem().unwrap_or_default().to_string_lossy(), layout.process());
    let extension = file.extension().map_or_else(String::new, |extension| format!(".{}", extension.to_string_lossy()));
    Some(file.with_file_name(format!("{stem}-{process}{extension}")))
}

/// Has the sizes of all things written at intervals, if there is a file for them.
fn export_sizes(file: Option<PathBuf>, interval_s: u64, runtime: &tokio::runtime::Runtime, lake: &Lake) {
    let Some(file) = file else { return };
    let (pause, lake) = (Duration::from_secs(interval_s), lake.clone());
    sizes::start();
    runtime.spawn(async move {
        loop {
            tokio::time::sleep(pause).await;
            // What can't be told now may be told the next time.
            match lake.sizes().await {
                Ok(tables) => {
                    if let Err(error) = sizes::write(&file, &tables) {
                        tracing::warn!(%error, file = %file.display(), "sizes can't be written");
                    }
                }
                Err(error) => tracing::warn!(%error, "the lake's sizes can't be read"),
            }
        }
    });
}

/// The source and the sink that the configuration names; of several processes each has its share.
fn source(
    config: &Config,
    share: (usize, usize),
    pipeline: &Pipeline,
    runtime: &tokio::runtime::Runtime,
    arguments: &Arguments,
) -> anyhow::Result<(Feed, Box<dyn Sink>)> {
    match (&config.source.files, &config.source.kafka) {
        (Some(settings), _) => {
            let mut read = files::Settings::once(&settings.paths)?;
            read.watch = settings.watch;
            read.max_bytes = config.pipeline.max_record_bytes;
            // Files that went while the pipeline was down are deleted.
            read.known_keys = pipeline.resumed().iter().map(|key| key.0.clone()).collect();
            let feed = files::open(read, Limits::default())?;
            Ok((feed, Box::new(Printer { json: arguments.json })))
        }
        (None, Some(kafka)) => kafka_source(kafka, share, pipeline, runtime, arguments),
        (None, None) => anyhow::bail!("the configuration names no source"),
    }
}

#[cfg(feature = "kafka")]
fn kafka_source(
    kafka: &config::Kafka,
    (index, of): (usize, usize),
    pipeline: &Pipeline,
    runtime: &tokio::runtime::Runtime,
    arguments: &Arguments,
) -> anyhow::Result<(Feed, Box<dyn Sink>)> {
    use connect::kafka::{Share, Sink, Source, Start, create_topics, patiently};

    let topics = &kafka.topics;
    let read = [topics.documents.clone(), topics.horizons.clone(), topics.queries.clone()];
    if let Some(n_partitions) = kafka.create_partitions {
        let names: Vec<&str> = read.iter().chain([&topics.results, &topics.rejects]).map(String::as_str).collect();
        patiently(|| runtime.block_on(create_topics(&kafka.properties, &names, n_partitions)))?;
    }
    let (until_end, accept_gap) = (arguments.until_end, arguments.accept_gap);
    let start = Start { offsets: pipeline.offsets(), share: Share { index, of }, until_end, accept_gap };
    let open = || Source::open(&kafka.properties, &read, start.clone(), Limits::default());
    let Source { feed, .. } = patiently(open)?;
    Ok((feed, Box::new(Sink::open(&kafka.properties)?)))
}

#[cfg(not(feature = "kafka"))]
fn kafka_source(
    _: &config::Kafka,
    _: (usize, usize),
    _: &Pipeline,
    _: &tokio::runtime::Runtime,
    _: &Arguments,
) -> anyhow::Result<(Feed, Box<dyn Sink>)> {
    anyhow::bail!("this program was built without Kafka; build it with the feature `kafka`, or use [source.files]")
}

/// What signals ask for. Before the pipeline runs there is nothing to finish, so the first SIGINT or SIGTERM ends the
/// process. Later the first one is heard by the pipeline, which finishes the epoch and commits it; the second ends the process
/// at once.
struct Stop {
    asked: Arc<AtomicBool>,
    finishes: Arc<AtomicBool>,
}

/// The exit code of a process that was interrupted.
const INTERRUPTED: i32 = 130;

impl Stop {
    fn on_signal(runtime: &tokio::runtime::Runtime) -> Self {
        let stop = Self { asked: Arc::default(), finishes: Arc::default() };
        let (asked, finishes) = (Arc::clone(&stop.asked), Arc::clone(&stop.finishes));
        runtime.spawn(async move {
            loop {
                if signalled().await.is_err() {
                    return;
                }
                if !finishes.load(Ordering::Relaxed) || asked.swap(true, Ordering::Relaxed) {
                    std::process::exit(INTERRUPTED);
                }
                eprintln!("stopping: the epoch is finished and committed; a second signal stops at once");
            }
        });
        stop
    }

    /// From now on the pipeline finishes what it has begun.
    fn finishes(&self) {
        self.finishes.store(true, Ordering::Relaxed);
    }
}

async fn signalled() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        outcome = tokio::signal::ctrl_c() => outcome,
        _ = terminate.recv() => Ok(()),
    }
}

/// A spinner on standard error; nothing where that is no terminal.
fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {elapsed} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}

/// Prints results to standard output and rejects to standard error.
struct Printer {
    json: bool,
}

impl Sink for Printer {
    fn send(&mut self, _topic: &str, _key: &[u8], payload: Option<&[u8]>) -> Result<(), connect::Error> {
        let payload = payload.unwrap_or_default();
        let failed =
            |e: std::io::Error| connect::Error::lasting("standard output can't be written".to_owned()).because(e);
        let mut out = std::io::stdout().lock();
        match read_result(payload) {
            Ok(event) if !self.json => {
                writeln!(out, "[{}] {}  <- {}", event.part.query().0, show::event(&event), show::cause(&event))
                    .map_err(failed)
            }
            Ok(_) => out.write_all(payload).and_then(|()| out.write_all(b"\n")).map_err(failed),
            Err(_) => {
                match serde_json::from_slice::<Reject>(payload) {
                    Ok(reject) if !self.json => eprintln!("{}", show::reject(&reject)),
                    _ => eprintln!("{}", String::from_utf8_lossy(payload)),
                }
                Ok(())
            }
        }
    }

    fn flush(&mut self, _epoch: Epoch) -> Result<(), connect::Error> {
        std::io::stdout()
            .flush()
            .map_err(|e| connect::Error::lasting("standard output can't be written".to_owned()).because(e))
    }
}
