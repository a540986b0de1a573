//! What several commands set up: the asynchronous runtime, the model, the record of its vectors.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use hypercane_operators::domain::Domain;

use crate::{
    config::Config,
    connect::{
        embed::{
            EmbedService, Embedder, FileStore, Hashed, MemoryStore, Model, Recorded, ServiceSettings, VectorStore,
        },
        lake::Lake,
        language_model::{self, ApiKey, Client, Extractor, Reasoner, TextStore},
        packs,
    },
    enrich::Watch,
    texts::LakeTexts,
    vectors::LakeVectors,
};

/// Threads for what blocks, such as files. A table's log is read on one of them that waits for others, so there are more
/// than tables; each keeps some memory of the allocator, so there are not the hundreds that the runtime would start.
const BLOCKING_THREADS: usize = 24;

/// A runtime for the edges.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.max_blocking_threads(BLOCKING_THREADS).enable_all().build().context("the runtime can't be started")
}

/// Loads a domain pack, with its language model where it has one.
pub(super) fn domain(name: &str) -> anyhow::Result<Arc<Domain>> {
    Ok(Arc::new(packs::load_with_models(name, &cache().join("models"))?))
}

/// Loads the embedding model.
pub(super) fn model(folder: &Path) -> anyhow::Result<Arc<dyn Model>> {
    let embedder = Embedder::load(folder).with_context(|| {
        format!("the embedding model can't be loaded from {}; `make models` fetches it", folder.display())
    })?;
    Ok(Arc::new(embedder))
}

/// The model before a record in a lake.
pub(super) async fn recorded_in_lake(
    model: Arc<dyn Model>,
    threads: usize,
    lake: &Lake,
) -> anyhow::Result<Arc<Recorded>> {
    let store = LakeVectors::open(lake.clone(), model.id()).await.context("recorded vectors can't be read")?;
    recorded(model, threads, Arc::new(store))
}

/// The model before a record in a file, for commands without a lake.
pub(super) fn recorded_in_file(model: Arc<dyn Model>, threads: usize, file: &Path) -> anyhow::Result<Arc<Recorded>> {
    let store = FileStore::open(file, model.id())?;
    recorded(model, threads, Arc::new(store))
}

/// Vectors of hashed words, or the model of a folder before a record in a file.
pub(super) fn hashed_or_recorded(is_hashed: bool, folder: Option<&Path>, file: &Path) -> anyhow::Result<Arc<Recorded>> {
    if is_hashed {
        return recorded(Arc::new(Hashed), 2, Arc::new(MemoryStore::default()));
    }
    recorded_in_file(model(&model_folder(folder))?, 2, file)
}

/// The model before a record.
pub(super) fn recorded(
    model: Arc<dyn Model>,
    threads: usize,
    store: Arc<dyn VectorStore>,
) -> anyhow::Result<Arc<Recorded>> {
    let settings = ServiceSettings { threads, ..ServiceSettings::default() };
    let service = EmbedService::start(model, &settings).context("the model's threads can't be started")?;
    Ok(Arc::new(Recorded::new(service, store)))
}

/// The language model behind a record, with the prompt of a domain pack. Without an endpoint imported outputs are taken.
pub(super) fn extractor(
    settings: &language_model::Settings,
    domain: &str,
    texts: Arc<dyn TextStore>,
) -> anyhow::Result<Extractor> {
    if settings.base_url.is_none() {
        return Ok(Extractor::imported(&settings.model, texts));
    }
    let prompt = packs::extraction_prompt(domain)?;
    Ok(Extractor::new(client(settings)?, prompt, texts))
}

/// The language model that splits questions and answers their hops, with the prompts of a domain pack.
pub(super) fn reasoner(
    settings: &language_model::Settings,
    domain: &str,
    texts: Arc<dyn TextStore>,
) -> anyhow::Result<Reasoner> {
    let prompts = packs::hop_prompts(domain)?;
    Ok(Reasoner::new(client(settings)?, prompts, texts))
}

fn client(settings: &language_model::Settings) -> anyhow::Result<Client> {
    let key = settings.key_env.as_deref().map(|name| ApiKey::from_variable(name, std::env::var(name).ok()));
    Ok(Client::new(settings, key.transpose()?)?)
}

/// The language model before its record in a lake, where the configuration says that it extracts. Two processes could get two
/// answers about one passage, so a process of a cluster asks nothing and takes what is on record.
pub(super) async fn extractor_in_lake(
    config: &Config,
    is_alone: bool,
    lake: &Lake,
) -> anyhow::Result<Option<Arc<Extractor>>> {
    let Some(settings) = config.language_model.as_ref().filter(|settings| settings.extracts) else { return Ok(None) };
    let texts = LakeTexts::open(lake.clone(), &settings.model).await.context("recorded answers can't be read")?;
    let (domain, texts) = (&config.pipeline.domain, Arc::new(texts));
    Ok(Some(Arc::new(match is_alone || settings.base_url.is_none() {
        true => extractor(settings, domain, texts)?,
        false => Extractor::record_only(&settings.model, packs::extraction_prompt(domain)?, texts),
    })))
}

/// Where the model's files are: as given, else `HYPERCANE_CACHE`, else `.cache` here.
pub(super) fn model_folder(given: Option<&Path>) -> PathBuf {
    given.map_or_else(|| cache().join("models/all-MiniLM-L6-v2"), Path::to_owned)
}

/// The folder for what is fetched or can be made again.
pub(super) fn cache() -> PathBuf {
    std::env::var_os("HYPERCANE_CACHE").map_or_else(|| ".cache".into(), PathBuf::from)
}

/// Shows on a terminal how many vectors of how many there are, while a model is asked for many.
pub(super) fn model_progress() -> Watch {
    // A few texts are done before anyone could read the line.
    progress_of("embedding texts", 512)
}

/// Shows on a terminal how many of how many are done, where there are as many as is worth a line.
pub(super) fn progress_of(what: &'static str, least: usize) -> Watch {
    let bar = std::sync::Mutex::new(None::<indicatif::ProgressBar>);
    Box::new(move |done, all| {
        let Ok(mut bar) = bar.lock() else { return };
        if all < least || !std::io::stderr().is_terminal() {
            return;
        }
        let shown = bar.get_or_insert_with(|| {
            let style = indicatif::ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}");
            let style = style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar());
            indicatif::ProgressBar::new(all as u64).with_style(style).with_message(what)
        });
        shown.set_length(all as u64);
        shown.set_position(done as u64);
        if done >= all {
            shown.finish_and_clear();
            *bar = None;
        }
    })
}
