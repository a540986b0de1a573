//! `hypercane bench`: how fast it is here.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;

use super::{eval::vectors_file, progress::Progress, setup, soak};
use crate::{
    bench::{Bench, Load},
    eval::{Question, read_corpus, read_questions},
};

/// Measure how fast a pipeline is on this machine.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Documents a second into the lake, milliseconds from one record to changed answers, and what one more advisory
    /// costs against computing everything again.
    ///
    /// All texts are embedded before the clock starts, so that the model is not measured. Every 20th advisory is held back
    /// from loading; it then comes, is corrected, is deleted, one record an epoch, while the questions stand and commits go
    /// on beside.
    Live(Live),
    Soak(soak::Soak),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane bench live --data cyclone
  hypercane bench live --data cyclone --workers 4 --json
  hypercane bench live --data cyclone --hashed --documents 500
  hypercane bench live --data cyclone --brokers localhost:9092")]
struct Live {
    /// A folder of the form of the cyclone data set, with questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// The domain pack: a folder, or the name of one that ships.
    #[arg(long, default_value = "cyclone")]
    domain: String,
    /// Folder of the embedding model.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Take vectors of hashed words, which need no weights and no time; answers are poorer, the work is the same.
    #[arg(long)]
    hashed: bool,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// How many questions stand: the first ones of the file.
    #[arg(long, default_value_t = 200)]
    questions: usize,
    /// How many records arrive one by one.
    #[arg(long, default_value_t = 200)]
    records: usize,
    /// Take only so many documents, for a quick look.
    #[arg(long)]
    documents: Option<usize>,
    /// Load from Kafka as well, through a topic that is made for it and left behind.
    #[arg(long, value_name = "HOST:PORT")]
    brokers: Option<String>,
    /// Keep the lakes in this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.what {
        What::Live(arguments) => in_folder(arguments.keep.as_deref(), |folder| measure(arguments, folder)),
        What::Soak(arguments) => in_folder(arguments.keep.as_deref(), |folder| soak::run(arguments, folder)),
    }
}

/// Measures in the folder that is to be kept, or in one that is removed afterwards.
fn in_folder(
    kept: Option<&Path>,
    measure: impl FnOnce(PathBuf) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let passing = || std::env::temp_dir().join(format!("hypercane-bench-{}", std::process::id()));
    let folder = kept.map_or_else(passing, Path::to_owned);
    let is_new = std::fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
    anyhow::ensure!(is_new, "{} is not empty; name a new folder", folder.display());
    let outcome = measure(folder.clone());
    if kept.is_none() && folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    outcome
}

fn measure(arguments: &Live, lake: PathBuf) -> anyhow::Result<ExitCode> {
    let mut documents = read_corpus(&arguments.data)?;
    documents.truncate(arguments.documents.unwrap_or(usize::MAX));
    let mut questions = read_questions(&arguments.data.join("questions.jsonl"))?;
    questions.truncate(arguments.questions);
    let runtime = setup::runtime()?;
    let recorded = setup::hashed_or_recorded(arguments.hashed, arguments.model.as_deref(), &vectors_file())?;
    let progress = Progress::start(&runtime);
    let told = |what| progress.say(what);
    let bench = Bench {
        documents,
        queries: questions.iter().map(Question::query).collect(),
        domain: setup::domain(&arguments.domain)?,
        recorded,
        n_workers: arguments.workers,
        n_records: arguments.records,
        lake,
        told: &told,
    };
    let kafka_load = match &arguments.brokers {
        Some(brokers) => Some(from_kafka(&bench, brokers, &runtime)?),
        None => None,
    };
    let mut report = bench.run(&runtime)?;
    report.kafka_load = kafka_load;
    drop(progress);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "kafka")]
fn from_kafka(bench: &Bench<'_>, brokers: &str, runtime: &tokio::runtime::Runtime) -> anyhow::Result<Load> {
    let properties = crate::connect::kafka::Properties::from([("bootstrap.servers".to_owned(), brokers.to_owned())]);
    Ok(bench.load_from_kafka(runtime, &properties, 4)?)
}

#[cfg(not(feature = "kafka"))]
fn from_kafka(_: &Bench<'_>, _: &str, _: &tokio::runtime::Runtime) -> anyhow::Result<Load> {
    anyhow::bail!("this program was built without Kafka; leave --brokers out")
}
