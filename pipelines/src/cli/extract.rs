//! `hypercane extract`: a language model's answers about documents, ahead of a run.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use hypercane_schemas::Document;

use super::{progress::Progress, run::lake_options, setup};
use crate::{
    config::Config,
    connect::{
        files,
        lake::{self, Lake},
        language_model::{Extractor, import},
        packs,
    },
    extract,
    texts::LakeTexts,
};

/// Ask a language model what documents say, and record its answers in the lake of a pipeline.
///
/// The documents are those of the lake and of the files given. What is on record is not asked again; after a change of the
/// prompt or the model the command says how many passages that concerns, before it asks. It ends when all is answered, or
/// the budget of [language_model] is used up. A pipeline that runs on the lake has to be stopped first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane extract --config hypercane.toml --dry-run corpus/
  hypercane extract --config hypercane.toml corpus/
  hypercane extract --config hypercane.toml --import extractions.jsonl --corpus corpus.jsonl")]
pub(super) struct Arguments {
    /// The configuration, with a section [language_model].
    #[arg(long)]
    config: PathBuf,
    /// Folders, files or globs with documents, beside those of the lake.
    paths: Vec<String>,
    /// Only say how many calls would be made, and how many tokens they would take.
    #[arg(long)]
    dry_run: bool,
    /// Record outputs that were made elsewhere: JSON Lines of id, entities, triples and nary.
    #[arg(long, value_name = "FILE", requires = "corpus", conflicts_with = "dry_run")]
    import: Option<PathBuf>,
    /// The passages of these outputs: JSON Lines of id, title and text.
    #[arg(long, value_name = "FILE", requires = "import")]
    corpus: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let config = Config::load(&arguments.config, std::env::vars())?;
    let settings = config.language_model.as_ref().context("the configuration has no [language_model]")?;
    let runtime = setup::runtime()?;
    let lake = runtime.block_on(open(&config, arguments.dry_run))?;
    let texts = Arc::new(runtime.block_on(LakeTexts::open(lake.clone(), &settings.model))?);
    if let (Some(outputs), Some(corpus)) = (&arguments.import, &arguments.corpus) {
        let imported = runtime.block_on(import(outputs, corpus, &settings.model, &*texts))?;
        eprintln!(
            "{} outputs of {} are on record; {} passages have none",
            imported.recorded, settings.model, imported.missing
        );
        if let Some(first) = imported.unknown.first() {
            eprintln!("{} outputs are of no passage of the corpus, the first being {first}", imported.unknown.len());
        }
    }
    let extractor = setup::extractor(settings, &config.pipeline.domain, texts)?;
    let domain = packs::load(&config.pipeline.domain)?;
    let chunks = extract::chunks(documents(&runtime, &lake, arguments)?, &domain);
    let plan = extract::plan(&extractor, &chunks);
    eprintln!("{plan}");
    if arguments.dry_run {
        return Ok(ExitCode::SUCCESS);
    }
    let report = work(&runtime, &extractor, &chunks);
    runtime.block_on(lake.close());
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        for reject in &report.rejects {
            eprintln!("{}, passage {}: {}", reject.document.0, reject.chunk, reject.reason);
        }
    }
    eprintln!(
        "{} passages give {} facts; {} answers were repaired; {} rejects; {} passages have no answer; spent: {}",
        report.passages,
        report.facts,
        report.repaired,
        report.rejects.len(),
        report.unanswered,
        extractor.spent()
    );
    match report.reason {
        Some(reason) => anyhow::bail!("{} passages have no answer: {reason}", report.unanswered),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// A dry run writes nothing, and so needs no lake of its own.
async fn open(config: &Config, dry_run: bool) -> anyhow::Result<Lake> {
    let (location, id, options) = (&config.lake.location, &config.pipeline.id, lake_options(&config.lake));
    if dry_run {
        return Ok(Lake::join(location, id, options)?);
    }
    match Lake::open(location, id, options).await {
        Err(error @ lake::Error::Held { .. }) => Err(error).context("stop the pipeline that runs on this lake first"),
        opened => Ok(opened?),
    }
}

fn documents(runtime: &tokio::runtime::Runtime, lake: &Lake, arguments: &Arguments) -> anyhow::Result<Vec<Document>> {
    let standing = runtime.block_on(lake.read::<Document>(None))?;
    let mut documents: Vec<Document> =
        standing.into_iter().filter(|(_, count)| *count > 0).map(|(document, _)| document).collect();
    for path in &arguments.paths {
        let (found, rejects) = files::documents(files::Selection::parse(path)?)?;
        for reject in rejects {
            eprintln!("not read: {}: {}", reject.key, reject.reason);
        }
        documents.extend(found);
    }
    Ok(documents)
}

fn work(
    runtime: &tokio::runtime::Runtime,
    extractor: &Extractor,
    chunks: &[hypercane_operators::kernel::Chunk],
) -> extract::Report {
    let progress = Progress::start(runtime);
    let told = |done| progress.say(format!("{done} of {} passages; {}", chunks.len(), extractor.spent()));
    runtime.block_on(extract::extract(extractor, chunks, told))
}
