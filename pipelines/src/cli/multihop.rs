//! `hypercane eval multihop`: retrieval over corpora of passages.

use std::{
    fmt::Debug,
    fs::File,
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, bail};
use hypercane_operators::{
    domain::Domain,
    kernel::{ChainSettings, ProofSettings, passages::PassageSettings},
};
use serde::Serialize;

use super::{eval::vectors_file, setup};
use crate::{
    connect::embed::Recorded,
    eval::multihop::{
        EvidenceRun, Facts, Index, Measured, Mode, ProofRun, Ranked, Report, Set, Trial, Tuned, Watch, ablations,
        explain, extra_questions, measure, rankings, read_sets, tune,
    },
};

/// Ask questions that need several passages, and measure which are found.
///
/// The passages are read by the domain pack's extractor, without a language model that writes. What is embedded is kept on
/// record in the cache, so a second run asks the embedding model nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane eval multihop --data sets
  hypercane eval multihop --data sets --sets hotpotqa,musique --json > figures.json
  hypercane eval multihop --data sets --sets hotpotqa --compare
  hypercane eval multihop --data sets --sets hotpotqa --explain \"Who wrote the opera that opened the house?\"
  hypercane eval multihop --data sets --sets hotpotqa_train,musique_openie --tune 400")]
pub(super) struct Arguments {
    /// A folder of sets: folders with corpus.jsonl and questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// Only these sets.
    #[arg(long, value_delimiter = ',')]
    sets: Vec<String>,
    /// The domain pack: a folder, or the name of one that ships.
    #[arg(long, default_value = "general")]
    domain: String,
    /// Folder of the embedding model.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Take vectors of hashed words, which need no weights and no time; less is found.
    #[arg(long, conflicts_with = "model")]
    hashed: bool,
    /// Write the first twenty passages of every question and mode, one JSON object a line.
    #[arg(long, conflicts_with = "tune")]
    ranking: Option<PathBuf>,
    /// Measure too what each part of a mode is worth: propagation, evidence assembly, hyperedges, synonyms, carried answers.
    #[arg(long, conflicts_with = "tune")]
    compare: bool,
    /// Show the evidence of one question with the parts of every score: the id of a question of the set, or any question.
    #[arg(long, value_name = "QUESTION", conflicts_with_all = ["tune", "compare", "ranking"])]
    explain: Option<String>,
    /// Search for better settings of a mode on the sets, so many trials, and print them.
    #[arg(long, value_name = "TRIALS")]
    tune: Option<usize>,
    /// Whose settings: spread, evidence or prove.
    #[arg(long, value_enum, default_value_t = Mode::Spread, requires = "tune")]
    mode: Mode,
    /// The seed of that search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let sets = read_sets(&arguments.data, &arguments.sets)?;
    let domain = setup::domain(&arguments.domain)?;
    let runtime = setup::runtime()?;
    let recorded = setup::hashed_or_recorded(arguments.hashed, arguments.model.as_deref(), &vectors_file())?;
    let mut written = match &arguments.ranking {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("{} can't be written", path.display()))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let asking = Asking { runtime, recorded, watch: setup::model_progress() };
    let mut report = Report::default();
    let mut read = Vec::new();
    for set in sets {
        let name = set.name.clone();
        let (index, facts) = asking.runtime.block_on(asking.read(set, &domain))?;
        if arguments.tune.is_some() {
            read.push((index, facts));
            continue;
        }
        if let Some(question) = &arguments.explain {
            let question = asked(&index.set, question, &arguments.data)?;
            let explained = explain(&question, &index, &facts, &asking.recorded, &asking.watch);
            let explained = asking.runtime.block_on(explained)?;
            if arguments.json {
                println!("{}", serde_json::to_string_pretty(&explained)?);
            } else {
                print!("{explained}");
            }
            continue;
        }
        let mut ranked = measure(&index, &PassageSettings::default(), &Mode::OF_PASSAGES);
        ranked.push((Mode::Evidence, EvidenceRun::default().ranked(&index, &facts)));
        ranked.push((Mode::Prove, asking.prove(&ProofRun::default(), &index, &facts)?));
        for (mode, ranked) in ranked {
            let of_facts = if Mode::OF_PASSAGES.contains(&mode) { 0.0 } else { facts.cpu_seconds };
            let measured = Measured::new(&index, &ranked, index.cpu_seconds + of_facts);
            report.sets.entry(name.clone()).or_default().insert(mode, measured);
            if let Some(file) = &mut written {
                for ranking in rankings(&index, mode, &ranked) {
                    writeln!(file, "{}", serde_json::to_string(&ranking)?)?;
                }
            }
        }
        if arguments.compare {
            let found = ablations(&index, &facts, &asking.recorded, &asking.watch);
            report.ablations.insert(name, asking.runtime.block_on(found)?);
        }
    }
    if let Some(rounds) = arguments.tune {
        println!("{}", asking.tune(arguments.mode, rounds, arguments.seed, &read)?);
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.explain.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(mut file) = written {
        file.flush()?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}

/// What asking takes: models, and where they run.
struct Asking {
    runtime: tokio::runtime::Runtime,
    recorded: Arc<Recorded>,
    watch: Watch,
}

impl Asking {
    /// Reads a set, for the modes that rank passages as they are and for those that rank them by their facts.
    async fn read(&self, set: Set, domain: &Arc<Domain>) -> anyhow::Result<(Index, Facts)> {
        let (name, n_passages, n_questions) = (set.name.clone(), set.passages.len(), set.questions.len());
        let index = Index::new(set, domain, &self.recorded, setup::model_progress()).await?;
        let facts = Facts::new(&index, domain, &self.recorded, &self.watch).await?;
        eprintln!(
            "{name}: {n_passages} passages, {n_questions} questions, {} names, {} vectors; {} facts, {} entities, {} \
             synonyms",
            index.passages.n_names(),
            index.n_texts,
            facts.texts.len(),
            facts.entities.len(),
            facts.n_synonyms
        );
        Ok((index, facts))
    }

    fn prove(&self, run: &ProofRun, index: &Index, facts: &Facts) -> anyhow::Result<Vec<Ranked>> {
        Ok(self.runtime.block_on(run.ranked(index, facts, &self.recorded, &self.watch))?)
    }

    /// The best settings of a mode on these sets, as JSON.
    fn tune(&self, mode: Mode, rounds: usize, seed: u64, read: &[(Index, Facts)]) -> anyhow::Result<String> {
        let mean = |ranked: &dyn Fn(&Index, &Facts) -> anyhow::Result<Vec<Ranked>>| {
            let worths =
                read.iter().map(|(index, facts)| Ok(Measured::new(index, &ranked(index, facts)?, 0.0).worth()));
            let worths: anyhow::Result<Vec<f64>> = worths.collect();
            worths.map(|worths| worths.iter().sum::<f64>() / read.len().max(1) as f64)
        };
        match mode {
            Mode::Spread => {
                let worth = |settings: &PassageSettings| {
                    mean(&|index, _| Ok(measure(index, settings, &[Mode::Spread]).remove(0).1))
                };
                found(tune(PassageSettings::default(), rounds, seed, worth, heard)?)
            }
            Mode::Evidence => {
                let worth = |settings: &ChainSettings| {
                    let run = EvidenceRun { settings: *settings, ..EvidenceRun::default() };
                    mean(&|index, facts| Ok(run.ranked(index, facts)))
                };
                found(tune(ChainSettings::default(), rounds, seed, worth, heard)?)
            }
            Mode::Prove => {
                let worth = |settings: &ProofSettings| {
                    let run = ProofRun { settings: *settings, ..ProofRun::default() };
                    mean(&|index, facts| self.prove(&run, index, facts))
                };
                found(tune(ProofSettings::default(), rounds, seed, worth, heard)?)
            }
            Mode::Dense | Mode::Lexical | Mode::Fused => {
                bail!("{} has no settings to search; spread, evidence and prove have", mode.name())
            }
        }
    }
}

fn heard<S: Tuned + Debug>(trial: &Trial<S>) {
    eprintln!("{:.3} {:?}", trial.score, trial.settings);
}

fn found<S: Tuned + Serialize>(trial: Trial<S>) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(&trial.settings)?)
}

/// The question that is meant: one of the set's by id, also of those beside it, or the text itself.
fn asked(set: &Set, question: &str, data: &Path) -> anyhow::Result<String> {
    let extra = extra_questions(data, &set.name)?;
    let found = set.questions.iter().chain(&extra).find(|known| known.id == question);
    Ok(found.map_or_else(|| question.to_owned(), |known| known.question.clone()))
}
