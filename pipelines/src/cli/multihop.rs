//! `hypercane eval multihop`: retrieval over corpora of passages.

use std::{
    fmt::Debug,
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, bail};
use hypercane_operators::{domain::Domain, kernel::passages::PassageSettings};

use super::{eval::vectors_file, setup};
use crate::{
    config::Config,
    connect::{
        embed::Recorded,
        language_model::{FileTexts, Reasoner},
    },
    eval::multihop::{
        EvidenceRun, Facts, Index, Measured, Mode, Models, ProofRun, Ranked, Report, Set, Settings, Trial, Tuned,
        Watch, ablations, explain, extra_questions, measure, rankings, read_sets, tune,
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
  hypercane eval multihop --data sets --sets hotpotqa --config hypercane.toml
  hypercane eval multihop --data sets --sets hotpotqa_train,musique_openie --tune 400")]
pub(super) struct Arguments {
    /// A folder of sets: folders with corpus.jsonl and questions.jsonl.
    #[arg(long)]
    data: PathBuf,
    /// Only these sets.
    #[arg(long, value_delimiter = ',')]
    sets: Vec<String>,
    /// Only these modes. Those of facts (evidence, lifted, prove) embed the names of a set as well.
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with_all = ["tune", "compare", "explain"])]
    modes: Vec<Mode>,
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
    /// Whose settings: spread, evidence, lifted or prove.
    #[arg(long, value_enum, default_value_t = Mode::Spread, requires = "tune")]
    mode: Mode,
    /// The seed of that search.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Settings of the modes, a JSON file such as --tune prints.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// A configuration with a section [language_model]: mode prove has questions split and their hops answered by it. What it
    /// gives is kept on record in the cache; where it gives nothing that can be used the rules do. Else no model that writes
    /// is asked.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let sets = read_sets(&arguments.data, &arguments.sets)?;
    let domain = setup::domain(&arguments.domain)?;
    let runtime = setup::runtime()?;
    let recorded = setup::hashed_or_recorded(arguments.hashed, arguments.model.as_deref(), &vectors_file())?;
    let mut figures = Figures::new(arguments.ranking.as_deref())?;
    let reasoner = arguments.config.as_deref().map(|config| reasoner(config, &arguments.domain)).transpose()?;
    let asking = Asking {
        runtime,
        recorded,
        reasoner,
        watch: setup::model_progress(),
        asked: setup::progress_of("asking the language model", 1),
    };
    let settings = match &arguments.settings {
        Some(path) => read_settings(path)?,
        None => Settings::default(),
    };
    let wanted = |modes: &[Mode]| -> Vec<Mode> {
        let is_wanted = |mode: &&Mode| arguments.modes.is_empty() || arguments.modes.contains(mode);
        modes.iter().filter(is_wanted).copied().collect()
    };
    let is_measured = arguments.tune.is_none() && arguments.explain.is_none();
    let mut read = Vec::new();
    for set in sets {
        let index = asking.runtime.block_on(asking.index(set, &domain))?;
        if is_measured {
            for (mode, ranked) in measure(&index, &settings.spread, &wanted(&Mode::OF_PASSAGES)) {
                figures.add(&index, mode, &ranked, index.cpu_seconds)?;
            }
        }
        let of_facts = wanted(&Mode::OF_FACTS);
        if of_facts.is_empty() {
            continue;
        }
        let facts = asking.runtime.block_on(asking.facts(&index, &domain))?;
        if arguments.tune.is_some() {
            read.push((index, facts));
            continue;
        }
        if let Some(question) = &arguments.explain {
            let question = asked(&index.set, question, &arguments.data)?;
            let explained = explain(&question, &index, &facts, &settings, asking.models());
            let explained = asking.runtime.block_on(explained)?;
            if arguments.json {
                println!("{}", serde_json::to_string_pretty(&explained)?);
            } else {
                print!("{explained}");
            }
            continue;
        }
        for mode in of_facts {
            let ranked = match mode {
                Mode::Prove => asking.prove(&settings.prove, &index, &facts)?,
                Mode::Lifted => settings.lifted.ranked(&index, &facts),
                _ => settings.evidence.ranked(&index, &facts),
            };
            figures.add(&index, mode, &ranked, index.cpu_seconds + facts.cpu_seconds)?;
        }
        if arguments.compare {
            let found = ablations(&index, &facts, &settings, asking.models());
            figures.report.ablations.insert(index.set.name.clone(), asking.runtime.block_on(found)?);
        }
    }
    asking.tell_spent();
    if let Some(rounds) = arguments.tune {
        println!(
            "{}",
            serde_json::to_string_pretty(&asking.tune(arguments.mode, settings, rounds, arguments.seed, &read)?)?
        );
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.explain.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    let report = figures.finish()?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The language model of a configuration, before its record in the cache.
fn reasoner(config: &Path, domain: &str) -> anyhow::Result<Reasoner> {
    let config = Config::load(config, std::env::vars())?;
    let settings = config.language_model.as_ref().context("the configuration has no [language_model]")?;
    let texts = FileTexts::open(&setup::cache().join("model_texts.jsonl"))?;
    setup::reasoner(settings, domain, Arc::new(texts))
}

/// What asking takes: models, and where they run.
struct Asking {
    runtime: tokio::runtime::Runtime,
    recorded: Arc<Recorded>,
    reasoner: Option<Reasoner>,
    watch: Watch,
    asked: Watch,
}

impl Asking {
    fn models(&self) -> Models<'_> {
        Models { recorded: &self.recorded, reasoner: self.reasoner.as_ref(), watch: &self.watch, asked: &self.asked }
    }

    /// Says what a language model was asked, where one was.
    fn tell_spent(&self) {
        if let Some(reasoner) = &self.reasoner {
            let (model, spent, n_left) = (reasoner.model(), reasoner.spent(), reasoner.n_left());
            let why = if n_left > 0 { " (--log debug says why)" } else { "" };
            eprintln!("{model}: {spent}; {n_left} times it gave nothing that can be used, and the rules did{why}");
        }
    }

    /// Reads a set, for the modes that rank passages as they are.
    async fn index(&self, set: Set, domain: &Arc<Domain>) -> anyhow::Result<Index> {
        let index = Index::new(set, domain, &self.recorded, setup::model_progress()).await?;
        eprintln!(
            "{}: {} passages, {} questions, {} names, {} vectors",
            index.set.name,
            index.set.passages.len(),
            index.set.questions.len(),
            index.passages.n_names(),
            index.n_texts
        );
        Ok(index)
    }

    /// The facts of a set, for the modes that rank passages by these.
    async fn facts(&self, index: &Index, domain: &Arc<Domain>) -> anyhow::Result<Facts> {
        let facts = Facts::new(index, domain, &self.recorded, &self.watch).await?;
        let (n_facts, n_entities, n_synonyms) = (facts.texts.len(), facts.entities.len(), facts.n_synonyms);
        eprintln!("{}: {n_facts} facts, {n_entities} entities, {n_synonyms} synonyms", index.set.name);
        Ok(facts)
    }

    fn prove(&self, run: &ProofRun, index: &Index, facts: &Facts) -> anyhow::Result<Vec<Ranked>> {
        Ok(self.runtime.block_on(run.ranked(index, facts, self.models()))?)
    }

    /// The settings with the best ones of a mode on these sets.
    fn tune(
        &self,
        mode: Mode,
        start: Settings,
        rounds: usize,
        seed: u64,
        read: &[(Index, Facts)],
    ) -> anyhow::Result<Settings> {
        let mean = |ranked: &dyn Fn(&Index, &Facts) -> anyhow::Result<Vec<Ranked>>| -> anyhow::Result<f64> {
            let mut sum = 0.0;
            for (index, facts) in read {
                sum += Measured::new(index, &ranked(index, facts)?, 0.0).worth();
            }
            Ok(sum / read.len().max(1) as f64)
        };
        let mut best = start;
        match mode {
            Mode::Spread => {
                let worth = |settings: &PassageSettings| {
                    mean(&|index, _| Ok(measure(index, settings, &[Mode::Spread]).remove(0).1))
                };
                best.spread = tune(start.spread, rounds, seed, worth, heard)?.settings;
            }
            Mode::Evidence | Mode::Lifted => {
                let run = if mode == Mode::Lifted { &mut best.lifted } else { &mut best.evidence };
                let worth = |run: &EvidenceRun| mean(&|index, facts| Ok(run.ranked(index, facts)));
                *run = tune(*run, rounds, seed, worth, heard)?.settings;
            }
            Mode::Prove => {
                let worth = |run: &ProofRun| mean(&|index, facts| self.prove(run, index, facts));
                best.prove = tune(start.prove, rounds, seed, worth, heard)?.settings;
            }
            Mode::Dense | Mode::Lexical | Mode::Fused => {
                bail!("{} has no settings to search; spread, evidence, lifted and prove have", mode.name())
            }
        }
        Ok(best)
    }
}

/// What was measured, and the file of rankings, where one is wanted.
struct Figures {
    report: Report,
    written: Option<BufWriter<File>>,
}

impl Figures {
    fn new(rankings: Option<&Path>) -> anyhow::Result<Self> {
        let create = |path: &Path| File::create(path).with_context(|| format!("{} can't be written", path.display()));
        let written = rankings.map(create).transpose()?.map(BufWriter::new);
        Ok(Self { report: Report::default(), written })
    }

    fn add(&mut self, index: &Index, mode: Mode, ranked: &[Ranked], index_cpu_s: f64) -> anyhow::Result<()> {
        let measured = Measured::new(index, ranked, index_cpu_s);
        self.report.sets.entry(index.set.name.clone()).or_default().insert(mode, measured);
        if let Some(file) = &mut self.written {
            for ranking in rankings(index, mode, ranked) {
                writeln!(file, "{}", serde_json::to_string(&ranking)?)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<Report> {
        if let Some(file) = &mut self.written {
            file.flush()?;
        }
        Ok(self.report)
    }
}

fn heard<S: Tuned + Debug>(trial: &Trial<S>) {
    eprintln!("{:.3} {:?}", trial.score, trial.settings);
}

fn read_settings(path: &Path) -> anyhow::Result<Settings> {
    let text = fs::read_to_string(path).with_context(|| format!("{} can't be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds no settings of the modes", path.display()))
}

/// The question that is meant: one of the set's by id, also of those beside it, or the text itself.
fn asked(set: &Set, question: &str, data: &Path) -> anyhow::Result<String> {
    let extra = extra_questions(data, &set.name)?;
    let found = set.questions.iter().chain(&extra).find(|known| known.id == question);
    Ok(found.map_or_else(|| question.to_owned(), |known| known.question.clone()))
}
