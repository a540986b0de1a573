//! `hypercane bench`: how fast it is here.

use std::{
    collections::BTreeSet,
    fmt::Display,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context as _;
use hypercane_schemas::{Query, QueryId, QueryParameters};
use serde::Serialize;

use super::{ask::Mode, eval::vectors_file, progress::Progress, setup, soak};
use crate::{
    bench::{self, Bench, Load},
    connect::embed::Recorded,
    eval::{
        Question,
        multihop::{Passage, read_sets},
        read_corpus, read_questions,
    },
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
    /// What one passage that is edited, deleted or added costs a corpus under standing questions, against computing everything
    /// again, and whether the lake is then what a rebuild gives.
    ///
    /// All texts are embedded before the clock starts; what the model would take is measured by itself and told beside.
    Corpus(Corpus),
    Soak(soak::Soak),
}

/// What a measurement of a corpus runs with, and what becomes of it.
#[derive(Debug, clap::Args)]
struct How {
    /// Folder of the embedding model.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Take vectors of hashed words, which need no weights and no time; less is found, the work is the same.
    #[arg(long)]
    hashed: bool,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Keep what was written in this folder.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

impl How {
    fn recorded(&self) -> anyhow::Result<Arc<Recorded>> {
        setup::hashed_or_recorded(self.hashed, self.model.as_deref(), &vectors_file())
    }

    /// Prints what was measured.
    fn print(&self, report: &(impl Serialize + Display)) -> anyhow::Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(report)?);
        } else {
            println!("{report}");
        }
        Ok(())
    }
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
    #[command(flatten)]
    how: How,
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
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane bench corpus --data multihop --set 2wikimultihopqa_full
  hypercane bench corpus --data multihop --set musique --questions 500 --edits 50 --json")]
struct Corpus {
    /// A folder of sets: folders with corpus.jsonl and questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// The set whose passages are taken.
    #[arg(long)]
    set: String,
    /// The domain pack: a folder, or the name of one that ships.
    #[arg(long, default_value = "general")]
    domain: String,
    #[command(flatten)]
    how: How,
    /// How many questions stand: those of the set, then of the other sets.
    #[arg(long, default_value_t = 200)]
    questions: usize,
    /// How they are answered.
    #[arg(long, value_enum, default_value_t = Mode::Spread)]
    mode: Mode,
    /// How many passages are edited, how many deleted, how many added.
    #[arg(long, default_value_t = 40)]
    edits: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    match &arguments.what {
        What::Corpus(arguments) => in_folder(arguments.how.keep.as_deref(), |folder| corpus(arguments, folder)),
        What::Live(arguments) => in_folder(arguments.how.keep.as_deref(), |folder| measure(arguments, folder)),
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

fn corpus(arguments: &Corpus, lake: PathBuf) -> anyhow::Result<ExitCode> {
    let sets = read_sets(&arguments.data, &[])?;
    let set = sets.iter().find(|set| set.name == arguments.set);
    let set = set.with_context(|| format!("{} has no set {}", arguments.data.display(), arguments.set))?;
    let others = sets.iter().filter(|other| other.name != set.name);
    let questions = set.questions.iter().chain(others.flat_map(|other| &other.questions));
    // Sets that are parts of others share questions.
    let mut seen = BTreeSet::new();
    let questions = questions.map(|it| it.question.as_str()).filter(|question| seen.insert(*question));
    let queries = questions.take(arguments.questions).enumerate().map(|(number, question)| Query {
        id: QueryId(format!("question-{number}")),
        question: question.to_owned(),
        mode: arguments.mode.into(),
        group: None,
        as_of: None,
        parameters: QueryParameters::default(),
    });
    let queries = queries.collect();
    let runtime = setup::runtime()?;
    let recorded = arguments.how.recorded()?;
    let progress = Progress::start(&runtime);
    let told = |what| progress.say(what);
    let bench = bench::Corpus {
        documents: set.passages.iter().map(Passage::document).collect(),
        queries,
        domain: setup::domain(&arguments.domain)?,
        recorded,
        n_workers: arguments.how.workers,
        n_edits: arguments.edits,
        lake,
        told: &told,
    };
    let report = bench.run(&runtime)?;
    drop(progress);
    arguments.how.print(&report)?;
    Ok(if report.n_different_rows == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(arguments: &Live, lake: PathBuf) -> anyhow::Result<ExitCode> {
    let mut documents = read_corpus(&arguments.data)?;
    documents.truncate(arguments.documents.unwrap_or(usize::MAX));
    let mut questions = read_questions(&arguments.data.join("questions.jsonl"))?;
    questions.truncate(arguments.questions);
    let runtime = setup::runtime()?;
    let recorded = arguments.how.recorded()?;
    let progress = Progress::start(&runtime);
    let told = |what| progress.say(what);
    let bench = Bench {
        documents,
        queries: questions.iter().map(Question::query).collect(),
        domain: setup::domain(&arguments.domain)?,
        recorded,
        n_workers: arguments.how.workers,
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
    arguments.how.print(&report)?;
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
