//! `hypercane publish`: files to topics.

use std::{path::PathBuf, process::ExitCode};

/// Send files to the topics of a pipeline.
///
/// Texts become documents under their paths; JSON Lines hold documents, reference times or questions, or records with
/// their own topic: {"topic": "documents", "key": "a", "value": {"text": "..."}}, where a null value deletes. A file that
/// is sent again replaces what it sent before. The command ends when the broker has taken everything.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane publish --brokers localhost:9092 advisories/
  hypercane publish --config deploy/hypercane.toml 'nhc/**/tcm_*.txt'
  hypercane publish --brokers localhost:9092 --topic queries data/demo/queries.jsonl
  hypercane publish --brokers localhost:9092 --delete advisories/tcm_027.txt
  hypercane publish --brokers localhost:9092 --shuffle 7 --duplicates 0.05 advisories/")]
pub(super) struct Arguments {
    /// Folders, files or globs.
    #[arg(required_unless_present = "delete")]
    paths: Vec<String>,
    /// The configuration that names the brokers and topics.
    #[arg(long, required_unless_present = "brokers")]
    config: Option<PathBuf>,
    /// The brokers, as host:port; with --config they replace those of the configuration.
    #[arg(long, value_name = "HOST:PORT")]
    brokers: Option<String>,
    /// The topic of whatever names none itself; that of documents if not given.
    #[arg(long, value_name = "NAME")]
    topic: Option<String>,
    /// Delete what is under this key; may be given several times.
    #[arg(long, value_name = "KEY")]
    delete: Vec<String>,
    /// Send in a random order that this number decides; what has one key keeps its order.
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Send this share of the records twice.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    duplicates: f64,
    /// Make missing topics, with so many partitions.
    #[arg(long, value_name = "PARTITIONS")]
    create: Option<i32>,
}

#[cfg(feature = "kafka")]
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    use std::sync::Arc;

    use anyhow::Context as _;

    use super::{progress::Progress, setup};
    use crate::{
        config::{Config, Topics},
        connect::{files, kafka, transport::RawRecord},
        publish::{Contents, disorder, read},
    };

    anyhow::ensure!((0.0..=1.0).contains(&arguments.duplicates), "--duplicates is a share from 0 to 1");
    let (mut properties, topics, max_bytes) = match &arguments.config {
        Some(path) => {
            let config = Config::load(path, std::env::vars())?;
            let max_bytes = config.pipeline.max_record_bytes;
            let kafka = config.source.kafka.context("the configuration has no [source.kafka]")?;
            (kafka.properties, kafka.topics, max_bytes)
        }
        None => (kafka::Properties::new(), Topics::default(), 8 << 20),
    };
    if let Some(brokers) = &arguments.brokers {
        properties.insert("bootstrap.servers".into(), brokers.clone());
    }
    let topic = arguments.topic.clone().unwrap_or_else(|| topics.documents.clone());
    let runtime = setup::runtime()?;
    let progress = Progress::start(&runtime);
    if let Some(n_partitions) = arguments.create {
        progress.say("making topics");
        let names = [&topics.documents, &topics.horizons, &topics.queries, &topics.results, &topics.rejects, &topic];
        let mut names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        runtime.block_on(kafka::create_topics(&properties, &names, n_partitions))?;
    }
    progress.say("reading");
    let mut contents = Contents::default();
    if !arguments.paths.is_empty() {
        let mut settings = files::Settings::once(&arguments.paths)?;
        (settings.documents, settings.horizons, settings.queries) = (topic.clone(), topics.horizons, topics.queries);
        settings.max_bytes = max_bytes;
        contents = read(settings)?;
    }
    let name: Arc<str> = Arc::from(topic);
    contents.records.extend(arguments.delete.iter().map(|key| RawRecord::new(&name, key.as_str(), None)));
    let records = disorder(contents.records, arguments.shuffle, arguments.duplicates);
    let n_all = records.len();
    let began = std::time::Instant::now();
    let told = |n_sent| progress.say(format!("{n_sent} of {n_all} records"));
    let n_sent = kafka::publish(&properties, records, told)?;
    drop(progress);
    for reject in &contents.rejects {
        eprintln!("not sent: {}: {}", reject.key, reject.reason);
    }
    eprintln!("{n_sent} records sent in {:.1} s; {} not sent", began.elapsed().as_secs_f64(), contents.rejects.len());
    Ok(if contents.rejects.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(not(feature = "kafka"))]
pub(super) fn run(_: &Arguments) -> anyhow::Result<ExitCode> {
    anyhow::bail!("this program was built without Kafka; build it with the feature `kafka`")
}
