//! `hypercane demo`: a storm that ships with the program, replayed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use hypercane_schemas::{Change, Query, Reject, ResultEvent};
use serde::Deserialize;
use serde_json::Value;

use super::{setup, show};
use crate::{
    connect::{
        format::{Decoder, Input},
        lake::{self, Lake},
        transport::RawRecord,
    },
    pipeline::Pipeline,
};

/// Replay a storm that ships with the program, follow ten standing questions, and write a lake.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Folder of the storm: feed.jsonl, queries.jsonl and the texts.
    #[arg(long, default_value = "data/demo")]
    data: PathBuf,
    /// Where the lake is written; an existing lake of this demonstration is written anew.
    #[arg(long, default_value = "demo-lake")]
    lake: PathBuf,
    /// Folder of the embedding model.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Send everything through this Apache Kafka (`localhost:9092`) and not through memory.
    #[arg(long)]
    brokers: Option<String>,
    /// Show only what came or went among the best evidence of each question.
    #[arg(long)]
    brief: bool,
}

/// A line of the replay script.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// When it arrives.
    pub(super) at: jiff::Timestamp,
    /// The topic.
    pub(super) topic: String,
    /// The key.
    pub(super) key: String,
    /// The file with the text, for documents.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// The payload; with `file` the fields beside the text; null deletes.
    #[serde(default, deserialize_with = "present")]
    pub(super) value: Option<Value>,
}

/// Tells a value that is null from one that is left out.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Line {
    /// The payload that the line stands for; `None` deletes.
    pub(super) fn payload(&self, folder: &Path) -> anyhow::Result<Option<Vec<u8>>> {
        let mut value = match (&self.file, &self.value) {
            (None, None | Some(Value::Null)) => return Ok(None),
            (_, Some(value)) => value.clone(),
            (Some(_), None) => Value::Object(serde_json::Map::new()),
        };
        if let (Some(file), Value::Object(fields)) = (&self.file, &mut value) {
            let path = folder.join(file);
            let text = std::fs::read_to_string(&path).with_context(|| format!("{} can't be read", path.display()))?;
            fields.insert("text".into(), Value::String(text));
        }
        Ok(Some(serde_json::to_vec(&value)?))
    }
}

/// Reads a file of one JSON object a line.
pub(super) fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))?;
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{} line {} is wrong", path.display(), at + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(read).collect()
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let feed: Vec<Line> = read_lines(&arguments.data.join("feed.jsonl"))?;
    let queries: Vec<Query> = read_lines(&arguments.data.join("queries.jsonl"))?;
    let questions: BTreeMap<_, _> = queries.iter().map(|query| (query.id.clone(), query.question.clone())).collect();
    let runtime = setup::runtime()?;
    let model = setup::model(&setup::model_folder(arguments.model.as_deref()))?;
    remove_former(&arguments.lake)?;
    let location = arguments.lake.to_string_lossy().into_owned();
    let lake = runtime.block_on(Lake::open(&location, "demo", lake::Options::default()))?;
    let recorded = runtime.block_on(setup::recorded_in_lake(model, 2, &lake))?;
    let domain = setup::domain("cyclone")?;
    let mut pipeline = runtime.block_on(Pipeline::start(arguments.workers, domain, recorded, Some(lake)))?;
    pipeline.watch_models(setup::model_progress());
    let mut replay = match &arguments.brokers {
        None => Replay::Memory,
        Some(brokers) => Replay::kafka(brokers, &runtime)?,
    };

    println!("Ten standing questions:");
    for query in &queries {
        println!("  [{}] {}", query.id.0, query.question);
    }
    let mut inputs = Vec::new();
    for query in &queries {
        inputs.extend(replay.deliver("queries", &query.id.0, Some(serde_json::to_vec(query)?))?.ok());
    }
    runtime.block_on(pipeline.step(inputs))?;

    let mut n_changes = 0;
    for line in &feed {
        let what = if line.payload(&arguments.data)?.is_none() { "deleted" } else { line.topic.trim_end_matches('s') };
        println!("\n{}  {} {}", line.at.strftime("%d %b %Y %H:%MZ"), what, line.key);
        match replay.deliver(&line.topic, &line.key, line.payload(&arguments.data)?)? {
            Ok(input) => {
                let stepped = runtime.block_on(pipeline.step(vec![input]))?;
                for reject in &stepped.rejects {
                    println!("  {}", show::reject(reject));
                }
                n_changes += stepped.results.len();
                show_changes(&stepped.results, &questions, arguments.brief);
            }
            Err(reject) => {
                println!("  {}", show::reject(&reject));
                runtime.block_on(pipeline.reject(vec![(*reject, 1)]))?;
            }
        }
        runtime.block_on(pipeline.begin_commit())?;
    }
    runtime.block_on(pipeline.commit())?;
    let lake = pipeline.lake().cloned();
    drop(pipeline);
    if let Some(lake) = lake {
        runtime.block_on(lake.close());
    }
    println!("\n{} records replayed; {n_changes} changes of answers. The lake is in {location}.", feed.len());
    println!("Open it, for example, with Polars:\n");
    println!("    import polars as pl");
    println!("    changes = pl.read_delta(\"{location}/answers\").group_by(pl.exclude(\"epoch\", \"diff\"))");
    println!("    changes.agg(pl.sum(\"diff\")).filter(pl.col(\"diff\") > 0)");
    Ok(ExitCode::SUCCESS)
}

/// How the records of the storm reach the pipeline.
enum Replay {
    /// By hand.
    Memory,
    /// Through topics of a broker, made for this run.
    #[cfg(feature = "kafka")]
    Kafka(kafka::Topics),
}

impl Replay {
    #[cfg(feature = "kafka")]
    fn kafka(brokers: &str, runtime: &tokio::runtime::Runtime) -> anyhow::Result<Self> {
        Ok(Self::Kafka(kafka::Topics::create(brokers, runtime)?))
    }

    #[cfg(not(feature = "kafka"))]
    fn kafka(_: &str, _: &tokio::runtime::Runtime) -> anyhow::Result<Self> {
        anyhow::bail!("this program was built without Kafka")
    }

    /// Sends a record and receives it again.
    fn deliver(
        &mut self,
        topic: &str,
        key: &str,
        payload: Option<Vec<u8>>,
    ) -> anyhow::Result<Result<Input, Box<Reject>>> {
        match self {
            Self::Memory => Ok(Decoder::default().decode(&RawRecord::new(&topic.into(), key, payload))),
            #[cfg(feature = "kafka")]
            Self::Kafka(topics) => topics.deliver(topic, key, payload),
        }
    }
}

#[cfg(feature = "kafka")]
mod kafka {
    //! The storm through a broker.

    use std::time::Duration;

    use anyhow::Context as _;
    use hypercane_schemas::Reject;

    use crate::connect::{
        format::{Decoder, Input},
        kafka::{Properties, Share, Source, Start, create_topics, publish},
        transport::{Event, Feed, Limits, Next, RawRecord},
    };

    /// Longest time for which a record that was sent may stay away.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Topics made for one run, so that an earlier run's records are not read.
    pub(super) struct Topics {
        properties: Properties,
        decoder: Decoder,
        feed: Feed,
    }

    impl Topics {
        pub(super) fn create(brokers: &str, runtime: &tokio::runtime::Runtime) -> anyhow::Result<Self> {
            let properties: Properties = [("bootstrap.servers".to_owned(), brokers.to_owned())].into();
            let name = |topic: &str| format!("demo-{}-{topic}", std::process::id());
            let decoder = Decoder {
                documents: name("documents"),
                horizons: name("horizons"),
                queries: name("queries"),
                ..Decoder::default()
            };
            let names = [&*decoder.documents, &*decoder.horizons, &*decoder.queries];
            runtime.block_on(create_topics(&properties, &names, 2)).context("the topics can't be made")?;
            let start = Start { share: Share::ALL, ..Start::default() };
            let Source { feed, .. } = Source::open(&properties, &names.map(str::to_owned), start, Limits::default())?;
            Ok(Self { properties, decoder, feed })
        }

        pub(super) fn deliver(
            &mut self,
            topic: &str,
            key: &str,
            payload: Option<Vec<u8>>,
        ) -> anyhow::Result<Result<Input, Box<Reject>>> {
            let topic = match topic {
                "documents" => &self.decoder.documents,
                "horizons" => &self.decoder.horizons,
                _ => &self.decoder.queries,
            };
            publish(&self.properties, [RawRecord::new(&topic.as_str().into(), key, payload)], |_| ())?;
            loop {
                match self.feed.next_within(PATIENCE) {
                    Next::Event(Event::Record(record)) => return Ok(self.decoder.decode(&record)),
                    Next::Event(Event::Rejected(reject) | Event::Skipped(reject, _)) => return Ok(Err(reject)),
                    Next::Event(Event::CaughtUp) => {}
                    Next::Event(Event::Failed(error)) => return Err(error.into()),
                    Next::Nothing => anyhow::bail!("a record that was sent did not come back within {PATIENCE:?}"),
                    Next::Ended => anyhow::bail!("the topics ended"),
                }
            }
        }
    }
}

/// The changes of an epoch, question by question.
fn show_changes(results: &[ResultEvent], questions: &BTreeMap<hypercane_schemas::QueryId, String>, brief: bool) {
    let mut shown = None;
    for event in results.iter().filter(|event| !brief || (event.part.place().0 == 1 && event.change != Change::Moved)) {
        if shown != Some(event.part.query()) {
            let question = questions.get(event.part.query()).map_or("", String::as_str);
            println!("  [{}] {question}", event.part.query().0);
            println!("    cause: {}", show::cause(event));
            shown = Some(event.part.query());
        }
        println!("    {}", show::event(event));
    }
}

/// Removes the lake of an earlier demonstration, and nothing else: a folder without a lake in it is left alone.
fn remove_former(folder: &Path) -> anyhow::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let is_lake = folder.join("commits/_delta_log").is_dir();
    let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !is_lake && !is_empty {
        anyhow::bail!("{} exists and is no lake; name another folder with --lake", folder.display());
    }
    std::fs::remove_dir_all(folder).with_context(|| format!("{} can't be written anew", folder.display()))
}
