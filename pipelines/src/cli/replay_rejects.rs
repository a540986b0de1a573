//! `hypercane replay-rejects`: rejects back to their topics.

use std::path::PathBuf;

use hypercane_schemas::{Epoch, Stage};

/// Send rejected records to their topics again, each once, after what was wrong with them was put right.
///
/// For records that could not be decoded: too large for the limit that was set, or of a form that a newer version of
/// Hypercane reads. The bytes come from the lake, or from the topic where the lake does not keep them. They go to their
/// topic and partition under their key, with the id of their reject. The pipeline takes the reject back in the commit that
/// holds what follows from the record, and leaves out every further copy; what was sent before and is not read yet is not
/// sent a second time. The pipeline may be running meanwhile.
///
/// Parts of documents that could not be extracted need no replay: after an update the next start of the pipeline reads the
/// documents of the lake again, and a corrected document replaces its rejects.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane replay-rejects --config deploy/hypercane.toml --dry-run
  hypercane replay-rejects --config deploy/hypercane.toml
  hypercane replay-rejects --lake lake --brokers localhost:9092 --since 120")]
pub(super) struct Arguments {
    /// The lake: a folder, or a URL of an object store; that of the configuration if not given.
    #[arg(long, required_unless_present = "config")]
    lake: Option<String>,
    /// The configuration that names the brokers and the lake.
    #[arg(long, required_unless_present = "brokers")]
    config: Option<PathBuf>,
    /// The brokers, as host:port; with --config they replace those of the configuration.
    #[arg(long, value_name = "HOST:PORT")]
    brokers: Option<String>,
    /// Only rejects of this stage: decode, extract, canonicalize or gap.
    #[arg(long, value_parser = stage)]
    stage: Option<Stage>,
    /// Only rejects that came in this epoch or later.
    #[arg(long, value_name = "EPOCH", default_value_t = 0)]
    since: Epoch,
    /// Say what would be sent, and send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object a reject.
    #[arg(long)]
    json: bool,
}

fn stage(name: &str) -> Result<Stage, String> {
    serde_json::from_value(name.into()).map_err(|_| "give decode, extract, canonicalize or gap".to_owned())
}

#[cfg(feature = "kafka")]
pub(super) use with_kafka::run;

#[cfg(feature = "kafka")]
mod with_kafka {
    use std::{collections::BTreeSet, process::ExitCode};

    use anyhow::Context as _;
    use hypercane_schemas::{Epoch, Reject};
    use serde::Serialize;

    use super::Arguments;
    use crate::{
        cli::{progress::Progress, setup},
        config::Config,
        connect::{
            kafka,
            lake::{self, Lake},
            transport::RawRecord,
        },
        replay::{Again, again, standing},
    };

    /// What becomes of one reject.
    #[derive(Serialize)]
    struct Line<'a> {
        id: String,
        topic: &'a str,
        partition: Option<i32>,
        offset: Option<i64>,
        key: &'a str,
        stage: &'static str,
        epoch: Epoch,
        reason: &'a str,
        /// `sent`, `would be sent`, `sent before`, `not sent`.
        outcome: &'static str,
        /// Why it is not sent.
        because: Option<&'static str>,
    }

    pub(in crate::cli) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
        let (properties, location) = places(arguments)?;
        let runtime = setup::runtime()?;
        let progress = Progress::start(&runtime);
        progress.say("reading the rejects");
        let (point, mut rejects) = runtime.block_on(async {
            let lake = Lake::view(&location, lake::Options::default()).await?;
            let point = lake.commit_point().await?.with_context(|| format!("nothing is committed in {location}"))?;
            let rejects = standing(&lake, point.epoch).await?;
            anyhow::Ok((point, rejects))
        })?;
        rejects.retain(|(reject, epoch)| {
            *epoch >= arguments.since && arguments.stage.is_none_or(|stage| reject.stage == stage)
        });
        rejects.sort_by_key(|(reject, epoch)| (*epoch, reject.topic.clone(), reject.partition, reject.offset));

        progress.say("looking what was sent before");
        let topics: BTreeSet<String> = rejects
            .iter()
            .filter(|(reject, _)| !matches!(again(reject), Again::Never(_)))
            .map(|(reject, _)| reject.topic.clone())
            .collect();
        let topics: Vec<String> = topics.into_iter().collect();
        let before = match topics.is_empty() {
            true => BTreeSet::new(),
            false => kafka::replayed(&properties, &topics, &point.offsets)?,
        };

        progress.say("sending");
        let mut records = Vec::new();
        let mut lines = Vec::new();
        for (reject, epoch) in &rejects {
            let found = match before.contains(&reject.id) {
                true => Err(("sent before", "the pipeline has not read it yet")),
                false => record(reject, &properties)?.map_err(|because| ("not sent", because)),
            };
            let (outcome, because) = match found {
                Ok(record) => {
                    records.push(record);
                    (if arguments.dry_run { "would be sent" } else { "sent" }, None)
                }
                Err((outcome, because)) => (outcome, Some(because)),
            };
            lines.push(line(reject, *epoch, outcome, because));
        }
        let n_records = records.len();
        if !arguments.dry_run && n_records > 0 {
            kafka::publish(&properties, records, |_| ())?;
        }
        drop(progress);
        for line in &lines {
            if arguments.json { println!("{}", serde_json::to_string(line)?) } else { println!("{}", shown(line)) }
        }
        let verb = if arguments.dry_run { "would be sent" } else { "sent" };
        eprintln!("{n_records} of {} rejects {verb} again", lines.len());
        Ok(ExitCode::SUCCESS)
    }

    /// The brokers and the lake.
    fn places(arguments: &Arguments) -> anyhow::Result<(kafka::Properties, String)> {
        let (mut properties, mut location) = (kafka::Properties::new(), arguments.lake.clone());
        if let Some(path) = &arguments.config {
            let config = Config::load(path, std::env::vars())?;
            let kafka = config.source.kafka.context(
                "the configuration has no [source.kafka]: with files as source, correct a file and run the pipeline again",
            )?;
            properties = kafka.properties;
            location = location.or(Some(config.lake.location));
        }
        if let Some(brokers) = &arguments.brokers {
            properties.insert("bootstrap.servers".into(), brokers.clone());
        }
        Ok((properties, location.context("no lake is named: give --lake or --config")?))
    }

    /// The record to send, or why there is none.
    fn record(reject: &Reject, properties: &kafka::Properties) -> anyhow::Result<Result<RawRecord, &'static str>> {
        Ok(match again(reject) {
            Again::Record(record) => Ok(record),
            Again::InTopic(partition, offset) => {
                let found = kafka::fetch(properties, &reject.topic, partition, offset)?;
                let record = found.map(|record| RawRecord { offset: None, replays: Some(reject.id), ..record });
                record.ok_or(
                    "the lake does not keep its bytes, and the topic no longer has it: its sender has to send it",
                )
            }
            Again::Never(because) => Err(because),
        })
    }

    fn line<'a>(reject: &'a Reject, epoch: Epoch, outcome: &'static str, because: Option<&'static str>) -> Line<'a> {
        Line {
            id: reject.id.to_string(),
            topic: &reject.topic,
            partition: reject.partition,
            offset: reject.offset,
            key: &reject.key,
            stage: reject.stage.name(),
            epoch,
            reason: &reject.reason,
            outcome,
            because,
        }
    }

    fn shown(line: &Line<'_>) -> String {
        let number = |number: Option<i64>| number.map_or_else(String::new, |number| format!("/{number}"));
        let place = format!("{}{}{}", line.topic, number(line.partition.map(i64::from)), number(line.offset));
        let because = line.because.map_or_else(String::new, |because| format!(" ({because})"));
        format!("{}{because}: {place} {} [{}] {}", line.outcome, line.key, line.stage, line.reason)
    }
}

#[cfg(not(feature = "kafka"))]
pub(super) fn run(_: &Arguments) -> anyhow::Result<std::process::ExitCode> {
    anyhow::bail!("this program was built without Kafka; build it with the feature `kafka`")
}
