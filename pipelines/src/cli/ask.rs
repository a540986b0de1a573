//! `hypercane ask`: one question, of a lake or of a running pipeline.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use hypercane_operators::domain::Domain;
use hypercane_schemas::{ContentHash, Epoch, GroupKey, Query, QueryId, QueryParameters};
use jiff::Timestamp;
use tokio::runtime::Runtime;

use super::{progress::Progress, setup};
use crate::{
    ask::{Answer, ask_lake},
    config::Config,
    connect::lake::{self, Lake},
    enrich::Models,
    export::AsOf,
    texts::recorded_extractor,
    vectors::recorded_vectors,
};

/// Ask one question, of a lake or of a running pipeline.
///
/// The answer is ordered evidence: the best trajectories of facts, each fact with its document and bytes. Of a lake
/// (--lake) it is the answer that a standing question would have had at that epoch; nothing is written. Of a running
/// pipeline (--config, with Kafka as its source) it is a standing question that is taken back once it is answered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane ask --lake demo-lake 'Where did Laura make landfall?'
  hypercane ask --lake demo-lake 'Which ports did Laura close?' --as-of 2020-08-26T12:00Z
  hypercane ask --lake demo-lake 'Which ports did Laura close?' --as-of-epoch 12 --json
  hypercane ask --config deploy/hypercane.toml 'Which ports did Laura close?'")]
pub(super) struct Arguments {
    /// The question, in plain words.
    question: String,
    /// The lake: a folder, or a URL of an object store.
    #[arg(long, required_unless_present = "config", conflicts_with = "config")]
    lake: Option<String>,
    /// The configuration of a running pipeline.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Only evidence that was issued by this moment counts.
    #[arg(long, value_name = "TIME")]
    as_of: Option<Timestamp>,
    /// The lake as it stood at this epoch; the last commit if not given.
    #[arg(long, value_name = "EPOCH", conflicts_with = "config")]
    as_of_epoch: Option<Epoch>,
    /// How it is answered: by ordered evidence (trajectory), or by a ranking of passages (spread; for packs such as general).
    #[arg(long, value_enum, default_value_t = Mode::Trajectory)]
    mode: Mode,
    /// The knowledge group that the question belongs to, such as AL132020.
    #[arg(long)]
    group: Option<String>,
    /// Print the steps as JSON, one a line.
    #[arg(long)]
    json: bool,
    /// The domain pack: a folder, or the name of one that ships. With --config that of the configuration.
    #[arg(long, default_value = "cyclone")]
    domain: String,
    /// Folder of the embedding model.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// How long a running pipeline may take, in seconds.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    timeout: u64,
}

/// How a question is answered.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(super) enum Mode {
    /// Ordered evidence: which statements, in which order.
    Trajectory,
    /// Passages, by what they say and by what they name in common.
    Spread,
    /// Paths of evidence from what the question names.
    Evidence,
}

impl From<Mode> for hypercane_schemas::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Trajectory => Self::Trajectory,
            Mode::Spread => Self::Spread,
            Mode::Evidence => Self::Evidence,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let runtime = setup::runtime()?;
    let progress = Progress::start(&runtime);
    let (answer, domain) = match (&arguments.lake, &arguments.config) {
        (Some(location), _) => of_lake(arguments, location, &runtime, &progress)?,
        (None, Some(config)) => of_pipeline(arguments, config, &runtime, &progress)?,
        (None, None) => anyhow::bail!("name a lake with --lake, or a running pipeline with --config"),
    };
    drop(progress);
    if arguments.json {
        for step in &answer.steps {
            println!("{}", serde_json::to_string(step)?);
        }
        for passage in &answer.passages {
            println!("{}", serde_json::to_string(passage)?);
        }
        for path in &answer.evidence {
            println!("{}", serde_json::to_string(path)?);
        }
    } else if answer.is_empty() {
        println!("There is no evidence for this question.");
    } else {
        println!("{}", answer.text(&domain));
    }
    Ok(ExitCode::SUCCESS)
}

fn of_lake(
    arguments: &Arguments,
    location: &str,
    runtime: &Runtime,
    progress: &Progress,
) -> anyhow::Result<(Answer, Arc<Domain>)> {
    progress.say("opening the lake");
    let domain = setup::domain(&arguments.domain)?;
    let lake = runtime.block_on(Lake::view(location, lake::Options::default()))?;
    let as_of = arguments.as_of_epoch.map_or(AsOf::Latest, AsOf::Epoch);
    let epoch = runtime.block_on(as_of.epoch(&lake))?;
    let model = setup::model(&setup::model_folder(arguments.model.as_deref()))?;
    progress.say("reading the recorded vectors");
    let store = runtime.block_on(recorded_vectors(&lake, model.id()))?;
    let extractor = runtime.block_on(recorded_extractor(&lake))?;
    let models = Models { vectors: setup::recorded(model, 2, Arc::new(store))?, extractor };
    let query = query(arguments);
    let told = |what| progress.say(what);
    let asked = ask_lake(&lake, Some(epoch), query, &domain, models, arguments.workers, told);
    Ok((runtime.block_on(asked)?, domain))
}

#[cfg(feature = "kafka")]
fn of_pipeline(
    arguments: &Arguments,
    config: &Path,
    runtime: &Runtime,
    progress: &Progress,
) -> anyhow::Result<(Answer, Arc<Domain>)> {
    use crate::{
        ask::await_answer,
        connect::{
            kafka::{self, Source, Start},
            transport::{Limits, RawRecord},
        },
    };
    use anyhow::Context as _;

    let _ = runtime;
    let config = Config::load(config, std::env::vars())?;
    let domain = setup::domain(&config.pipeline.domain)?;
    let kafka = config
        .source
        .kafka
        .context("the configuration has no [source.kafka]; a pipeline of files is asked with --lake")?;
    let query = query(arguments);
    let send = |payload: Option<Vec<u8>>| {
        let record = RawRecord::new(&Arc::from(kafka.topics.queries.as_str()), query.id.0.as_str(), payload);
        kafka::publish(&kafka.properties, [record], |_| ())
    };
    progress.say("reaching the broker");
    // What was said before the question was asked is no answer to it.
    let results = [kafka.topics.results.clone()];
    let start = Start { offsets: kafka::ends(&kafka.properties, &results)?, ..Start::default() };
    let source = Source::open(&kafka.properties, &results, start, Limits::default())?;
    send(Some(serde_json::to_vec(&query)?))?;
    progress.say("waiting for the answer");
    let answer = await_answer(&source.feed, &query, Duration::from_secs(arguments.timeout));
    // Whatever came of it, the question does not stay behind.
    send(None).context("the question can't be taken back; delete it from the topic of queries")?;
    let answer = answer?.with_context(|| {
        format!(
            "no answer within {} s: the pipeline does not run, is still reading older records, or knows nothing of this",
            arguments.timeout
        )
    })?;
    Ok((answer, domain))
}

#[cfg(not(feature = "kafka"))]
fn of_pipeline(_: &Arguments, _: &Path, _: &Runtime, _: &Progress) -> anyhow::Result<(Answer, Arc<Domain>)> {
    anyhow::bail!("this program was built without Kafka; ask the lake with --lake")
}

/// The question under an id that no other question has.
fn query(arguments: &Arguments) -> Query {
    let asked = Timestamp::now().as_nanosecond().to_string();
    let id = ContentHash::of_parts([arguments.question.as_str(), &asked, &std::process::id().to_string()]);
    Query {
        id: QueryId(format!("ask-{id}")),
        question: arguments.question.clone(),
        mode: arguments.mode.into(),
        group: arguments.group.clone().map(GroupKey),
        as_of: arguments.as_of,
        parameters: QueryParameters::default(),
    }
}
