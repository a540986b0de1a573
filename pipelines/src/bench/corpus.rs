//! What one passage that is edited, deleted or added costs a corpus under standing questions, against computing everything again.

use std::{
    collections::BTreeSet,
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, DocumentKey, Query};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::quantile;
use crate::{
    connect::{
        embed::{Recorded, VectorStore as _},
        format::Input,
        lake::{self, Lake},
    },
    enrich::{Enricher, texts_of_document},
    pipeline::{self, Error, Pipeline, Stepped},
    vectors::LakeVectors,
    verify,
};

/// What is measured.
pub struct Corpus<'a> {
    /// The passages, each a document.
    pub documents: Vec<Document>,
    /// The standing questions.
    pub queries: Vec<Query>,
    /// The pack.
    pub domain: Arc<Domain>,
    /// The vectors; those of all texts are asked for before anything is measured.
    pub recorded: Arc<Recorded>,
    /// Worker threads.
    pub n_workers: usize,
    /// How many passages are edited, how many deleted and how many added.
    pub n_edits: usize,
    /// Where the lake is written.
    pub lake: PathBuf,
    /// Hears what is being done.
    pub told: &'a dyn Fn(String),
}

/// All figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct CorpusReport {
    /// Worker threads.
    pub n_workers: usize,
    /// Passages that stand before the first edit.
    pub n_passages: usize,
    /// Standing questions.
    pub n_questions: usize,
    /// Everything again: the state with its answers from nothing, without a lake and with all vectors on record.
    pub rebuild_seconds: f64,
    /// Texts that a rebuild without a record would have to embed.
    pub rebuild_texts: usize,
    /// Milliseconds that the model takes for one of these texts, on all its threads; measured on those of a few passages.
    pub model_ms_a_text: f64,
    /// A sentence of a passage is another.
    pub edited: Cost,
    /// A passage goes.
    pub deleted: Cost,
    /// A passage comes.
    pub added: Cost,
    /// Rows of the lake that are not those of a rebuild; none where all is well.
    pub n_different_rows: usize,
    /// Rows that were compared.
    pub n_rows: usize,
}

/// What one kind of change costs.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// How many were measured.
    pub n: usize,
    /// The median from a document to the changed answers, with vectors on record.
    pub p50_ms: f64,
    /// The slowest.
    pub max_ms: f64,
    /// Texts that had to be embedded, as a mean.
    pub texts: f64,
    /// Changes of answers, as a mean.
    pub results: f64,
    /// How many times as long a rebuild takes as the median change.
    pub ratio: f64,
    /// The same with what the model takes for the texts of each.
    pub ratio_with_model: f64,
}

/// Passages on whose texts the model is measured.
const MODEL_DOCUMENTS: usize = 24;
/// As `hypercane run` has it.
const COMMIT_INTERVAL: Duration = Duration::from_millis(500);
/// What an edited passage says at its end.
const EDIT: &str = " This was found to be so in a later survey.";

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The pipeline.
    #[error(transparent)]
    Pipeline(#[from] pipeline::Error),
    /// The comparison with a rebuild.
    #[error(transparent)]
    Verify(#[from] verify::Error),
}

impl Corpus<'_> {
    /// Measures everything.
    ///
    /// # Errors
    /// The lake can't be written, a model or a worker fails.
    pub fn run(self, runtime: &Runtime) -> Result<CorpusReport, CorpusError> {
        let n_edits = self.n_edits.min(self.documents.len() / 4);
        // Every so many passages one is edited, the next deleted, and the one after comes late.
        let stride = (self.documents.len() / n_edits.max(1)).max(3);
        let place = |at: usize| (at < n_edits * stride).then_some(at % stride);
        let of = |wanted: usize| {
            let chosen = self.documents.iter().enumerate().filter(move |(at, _)| place(*at) == Some(wanted));
            chosen.map(|(_, document)| document.clone()).collect::<Vec<Document>>()
        };
        let late = of(2);
        let edited: Vec<Document> = of(0).into_iter().map(|d| Document { text: d.text.clone() + EDIT, ..d }).collect();
        let loaded = self.documents.iter().enumerate().filter(|(at, _)| place(*at) != Some(2));
        let loaded: Vec<Document> = loaded.map(|(_, document)| document.clone()).collect();

        (self.told)("recording the vectors of all texts".into());
        let mut enricher = Enricher::new(Arc::clone(&self.domain), Arc::clone(&self.recorded));
        let documents = self.documents.iter().chain(&edited);
        let vectors = runtime.block_on(enricher.enrich(documents, &self.queries)).map_err(Error::from)?.vectors;
        (self.told)(format!("loading {} passages", loaded.len()));
        let location = self.lake.to_string_lossy();
        let lake = runtime.block_on(Lake::open(&location, "bench", lake::Options::default())).map_err(Error::from)?;
        let store = runtime.block_on(LakeVectors::open(lake.clone(), self.recorded.id()))?;
        let enter = runtime.enter();
        store.put(&vectors).map_err(Error::from)?;
        drop(enter);
        let mut pipeline = self.pipeline(runtime, Some(lake.clone()))?;
        let documents = || loaded.iter().map(|document| come(document.clone()));
        runtime.block_on(pipeline.step(documents().collect()))?;
        (self.told)(format!("{} questions", self.queries.len()));
        let queries = || self.queries.iter().map(|query| Input::Query(query.id.clone(), Some(query.clone())));
        runtime.block_on(pipeline.step(queries().collect()))?;
        runtime.block_on(pipeline.commit())?;

        (self.told)("one passage at a time".into());
        let mut one_by_one = |inputs: Vec<Input>| self.one_by_one(runtime, &mut pipeline, inputs);
        let edited = one_by_one(edited.into_iter().map(come).collect())?;
        let deleted = one_by_one(of(1).into_iter().map(|document| go(document.key)).collect())?;
        let added = one_by_one(late.into_iter().map(come).collect())?;
        runtime.block_on(pipeline.commit())?;
        drop(pipeline);

        (self.told)("everything again from scratch".into());
        let began = Instant::now();
        let mut pipeline = self.pipeline(runtime, None)?;
        let stepped = runtime.block_on(pipeline.step(documents().chain(queries()).collect()))?;
        let rebuild_seconds = began.elapsed().as_secs_f64();
        let rebuild_texts = stepped.n_vectors;
        drop(pipeline);

        (self.told)("comparing the lake with a rebuild".into());
        let settings = verify::Settings { n_workers: self.n_workers, ..verify::Settings::default() };
        let verified = runtime.block_on(verify::verify(&lake, &self.domain, &settings, |_| ()))?;
        runtime.block_on(lake.close());
        let model_ms_a_text = self.model_ms(runtime)?;
        let rebuild = Rebuild { ms: rebuild_seconds * 1e3, texts: rebuild_texts as f64, model_ms_a_text };
        Ok(CorpusReport {
            n_workers: self.n_workers,
            n_passages: loaded.len(),
            n_questions: self.queries.len(),
            rebuild_seconds,
            rebuild_texts,
            model_ms_a_text,
            edited: rebuild.against(&edited),
            deleted: rebuild.against(&deleted),
            added: rebuild.against(&added),
            n_different_rows: verified.tables.iter().map(|table| table.n_missing + table.n_extra).sum(),
            n_rows: verified.tables.iter().map(|table| table.n_rows).sum(),
        })
    }

    fn pipeline(&self, runtime: &Runtime, lake: Option<Lake>) -> Result<Pipeline, Error> {
        let recorded = Arc::clone(&self.recorded);
        runtime.block_on(Pipeline::start(self.n_workers, Arc::clone(&self.domain), recorded, lake))
    }

    /// Works inputs off one epoch each, with commits beside.
    fn one_by_one(&self, runtime: &Runtime, pipeline: &mut Pipeline, inputs: Vec<Input>) -> Result<Vec<Sample>, Error> {
        let mut samples = Vec::with_capacity(inputs.len());
        for input in inputs {
            let began = Instant::now();
            let stepped: Stepped = runtime.block_on(pipeline.step(vec![input]))?;
            let ms = began.elapsed().as_secs_f64() * 1e3;
            samples.push(Sample { ms, texts: stepped.n_vectors, results: stepped.results.len() });
            if pipeline.since_commit() >= COMMIT_INTERVAL {
                runtime.block_on(pipeline.begin_commit())?;
            }
        }
        Ok(samples)
    }

    /// What the model takes for a text that is not on record, as a mean over the texts of some passages, names as well as
    /// sentences. Each has a word more, so that it is about as long and not known.
    fn model_ms(&self, runtime: &Runtime) -> Result<f64, Error> {
        let stride = (self.documents.len() / MODEL_DOCUMENTS).max(1);
        let now = jiff::Timestamp::now().as_nanosecond() % 1_000_000;
        let documents = self.documents.iter().step_by(stride).take(MODEL_DOCUMENTS);
        let texts = documents.flat_map(|document| texts_of_document(document, &self.domain));
        let texts: BTreeSet<String> = texts.map(|text| format!("{text} {now}")).collect();
        let texts: Vec<String> = texts.into_iter().collect();
        let began = Instant::now();
        runtime.block_on(self.recorded.vectors(&texts))?;
        Ok(began.elapsed().as_secs_f64() * 1e3 / texts.len().max(1) as f64)
    }
}

fn come(document: Document) -> Input {
    Input::Document(document.key.clone(), Some(document))
}

fn go(key: DocumentKey) -> Input {
    Input::Document(key, None)
}

struct Sample {
    ms: f64,
    texts: usize,
    results: usize,
}

struct Rebuild {
    ms: f64,
    texts: f64,
    model_ms_a_text: f64,
}

impl Rebuild {
    fn against(&self, samples: &[Sample]) -> Cost {
        let n = samples.len().max(1) as f64;
        let times = || samples.iter().map(|sample| sample.ms).collect::<Vec<f64>>();
        let p50_ms = quantile(times(), 0.5);
        let texts = samples.iter().map(|sample| sample.texts).sum::<usize>() as f64 / n;
        let with_model = |ms: f64, texts: f64| ms + texts * self.model_ms_a_text;
        Cost {
            n: samples.len(),
            p50_ms,
            max_ms: quantile(times(), 1.0),
            texts,
            results: samples.iter().map(|sample| sample.results).sum::<usize>() as f64 / n,
            ratio: self.ms / p50_ms.max(1e-6),
            ratio_with_model: with_model(self.ms, self.texts) / with_model(p50_ms, texts).max(1e-6),
        }
    }
}

impl fmt::Display for CorpusReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passages, questions, workers) = (self.n_passages, self.n_questions, self.n_workers);
        writeln!(f, "{passages} passages, {questions} standing questions, {workers} workers")?;
        writeln!(
            f,
            "rebuild from scratch: {:.1} s with all vectors on record; without a record {} texts more, at {:.1} ms each",
            self.rebuild_seconds, self.rebuild_texts, self.model_ms_a_text
        )?;
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::ASCII_MARKDOWN);
        table.set_header([
            "one passage",
            "n",
            "p50 ms",
            "max ms",
            "texts embedded",
            "changes told",
            "rebuild / this",
            "with the model",
        ]);
        for (what, cost) in [("edited", self.edited), ("deleted", self.deleted), ("added", self.added)] {
            table.add_row([
                what.to_owned(),
                cost.n.to_string(),
                format!("{:.1}", cost.p50_ms),
                format!("{:.1}", cost.max_ms),
                format!("{:.1}", cost.texts),
                format!("{:.1}", cost.results),
                format!("{:.0}", cost.ratio),
                format!("{:.0}", cost.ratio_with_model),
            ]);
        }
        writeln!(f, "{table}")?;
        let verdict = if self.n_different_rows == 0 { "the same" } else { "DIFFERENT" };
        write!(f, "lake against a rebuild: {} rows, {} differ: {verdict}", self.n_rows, self.n_different_rows)
    }
}
