//! `hypercane eval`: questions whose evidence is known, asked of the dataflow.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use hypercane_operators::extract;
use hypercane_schemas::{AnswerStep, Document, QueryId};
use jiff::Timestamp;

use super::{multihop, setup};
use crate::{
    connect::format::Input,
    eval::{Report, judge, read_corpus, read_questions},
    pipeline::Pipeline,
};

/// Ask questions whose evidence is known, and measure what is found.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    set: Set,
}

#[derive(Debug, clap::Subcommand)]
enum Set {
    /// Advisories, ports and their questions: for each skill the share of the needed documents cited by the best three
    /// trajectories, the share in right order, and documents cited that were issued after the question's time.
    Cyclone(Cyclone),
    /// Corpora of passages with questions that need several of them: for each set and way of ranking the share of the needed
    /// passages among the first two, five and ten.
    Multihop(multihop::Arguments),
}

#[derive(Debug, clap::Args)]
struct Cyclone {
    /// A folder of the form of the cyclone data set.
    #[arg(long)]
    data: PathBuf,
    /// The questions, one JSON object a line; `questions.jsonl` in the folder if not given.
    #[arg(long)]
    questions: Option<PathBuf>,
    /// The domain pack: a folder, or the name of one that ships.
    #[arg(long, default_value = "cyclone")]
    domain: String,
    /// Folder of the embedding model.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Print each question whose evidence is not all found, or that cites a document issued after its time.
    #[arg(long)]
    misses: bool,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let arguments = match &arguments.set {
        Set::Cyclone(arguments) => arguments,
        Set::Multihop(arguments) => return multihop::run(arguments),
    };
    let questions = arguments.questions.clone().unwrap_or_else(|| arguments.data.join("questions.jsonl"));
    let questions = read_questions(&questions)?;
    let documents = read_corpus(&arguments.data)?;
    let domain = setup::domain(&arguments.domain)?;
    let issued = issue_times(&documents, &domain);
    let runtime = setup::runtime()?;
    let model = setup::model(&setup::model_folder(arguments.model.as_deref()))?;
    let recorded = setup::recorded_in_file(model, 2, &vectors_file())?;

    let started = Instant::now();
    let mut pipeline = runtime.block_on(Pipeline::start(arguments.workers, Arc::clone(&domain), recorded, None))?;
    pipeline.watch_models(setup::model_progress());
    let n_documents = documents.len();
    let inputs = documents.into_iter().map(|document| Input::Document(document.key.clone(), Some(document))).collect();
    runtime.block_on(pipeline.step(inputs))?;
    eprintln!("{n_documents} documents in {:.1} s", started.elapsed().as_secs_f64());
    let started = Instant::now();
    let asked =
        questions.iter().map(|question| Input::Query(QueryId(question.id.clone()), Some(question.query()))).collect();
    let stepped = runtime.block_on(pipeline.step(asked))?;
    eprintln!("{} questions in {:.1} s", questions.len(), started.elapsed().as_secs_f64());

    let mut answers: BTreeMap<QueryId, Vec<AnswerStep>> = BTreeMap::new();
    for (step, _, diff) in stepped.changes.unwrap_or_default().answers {
        if diff > 0 {
            answers.entry(step.query.clone()).or_default().push(step);
        }
    }
    let none = Vec::new();
    let outcomes: Vec<_> = questions
        .iter()
        .map(|question| judge(question, answers.get(&QueryId(question.id.clone())).unwrap_or(&none), &issued))
        .collect();
    if arguments.misses {
        for outcome in outcomes.iter().filter(|outcome| outcome.evidence < 1.0 || !outcome.late.is_empty()) {
            let question = &outcome.question;
            eprintln!(
                "{} [{}] {}\n  needs {:?}\n  cites {:?}\n  late {:?}",
                question.id, question.template, question.question, question.needs, outcome.cited, outcome.late
            );
        }
    }
    let report = Report::of(&outcomes);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Vectors that commands without a lake have asked for.
pub(super) fn vectors_file() -> PathBuf {
    Path::new(&setup::cache()).join("vectors.bin")
}

fn issue_times(documents: &[Document], domain: &hypercane_operators::domain::Domain) -> BTreeMap<String, Timestamp> {
    let issued = |document: &Document| {
        let chunks = extract::read(document, domain).into_iter().flatten();
        let read = chunks.filter_map(|chunk| chunk.extraction.issued_at).max();
        Some((document.key.0.clone(), read.or(document.issued_at)?))
    };
    documents.iter().filter_map(issued).collect()
}
