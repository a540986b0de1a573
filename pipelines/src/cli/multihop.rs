//! `hypercane eval multihop`: retrieval over corpora of passages.

use std::{
    fs::File,
    io::{BufWriter, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context as _;
use hypercane_operators::kernel::passages::PassageSettings;

use super::{eval::vectors_file, setup};
use crate::eval::multihop::{Index, Mode, Report, measure, read_sets, tune};

/// Ask questions that need several passages, and measure which are found.
///
/// The passages are read by the domain pack's extractor, without a language model that writes. What is embedded is kept on
/// record in the cache, so a second run asks the embedding model nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane eval multihop --data sets
  hypercane eval multihop --data sets --sets hotpotqa,musique --json > figures.json
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
    /// Search for better settings on the sets, so many trials, and print them.
    #[arg(long, value_name = "TRIALS")]
    tune: Option<usize>,
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
    let mut indexes = Vec::new();
    let settings = PassageSettings::default();
    let mut rankings = match &arguments.ranking {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("{} can't be written", path.display()))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let mut report = Report::default();
    for set in sets {
        let (name, n_passages, n_questions) = (set.name.clone(), set.passages.len(), set.questions.len());
        let index = runtime.block_on(Index::new(set, &domain, &recorded, setup::model_progress()))?;
        eprintln!(
            "{name}: {n_passages} passages, {n_questions} questions, {} names, {} vectors",
            index.passages.n_names(),
            index.n_texts
        );
        if arguments.tune.is_some() {
            indexes.push(index);
            continue;
        }
        for (mode, measured, ranked) in measure(&index, &settings, &Mode::ALL) {
            report.sets.entry(name.clone()).or_default().insert(mode, measured);
            if let Some(file) = &mut rankings {
                for ranking in ranked {
                    writeln!(file, "{}", serde_json::to_string(&ranking)?)?;
                }
            }
        }
    }
    if let Some(rounds) = arguments.tune {
        let found = tune(&indexes, settings, rounds, arguments.seed, |trial| {
            eprintln!("{:.3} {:?}", trial.score, trial.settings);
        });
        println!("{}", serde_json::to_string_pretty(&found.settings)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(mut file) = rankings {
        file.flush()?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{report}");
    }
    Ok(ExitCode::SUCCESS)
}
