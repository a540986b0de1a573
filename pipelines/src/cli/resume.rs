//! What a start shows while it loads what stands in a lake, and the check whether this very program wrote it.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    sync::Arc,
    time::Instant,
};

use anyhow::Context as _;
use hypercane_operators::domain::Domain;
use tokio::runtime::Runtime;
use xxhash_rust::xxh3::Xxh3;

use super::progress::Progress;
use crate::{
    connect::lake::Lake,
    enrich::Models,
    extract,
    pipeline::{Pipeline, read_inputs},
    reconcile::reconcile,
};

/// A start that is under way.
pub(super) struct Resume<'a> {
    began: Instant,
    runtime: &'a Runtime,
    progress: Progress,
}

impl<'a> Resume<'a> {
    /// Starts the clock.
    pub(super) fn start(runtime: &'a Runtime) -> Self {
        let progress = Progress::start(runtime);
        progress.say("loading what stands in the lake");
        Self { began: Instant::now(), runtime, progress }
    }

    /// Says what the language model that extracts is to be asked about the documents that stand, before it is.
    pub(super) fn plan(&self, lake: &Lake, domain: &Domain, models: &Models) -> anyhow::Result<()> {
        let Some(extractor) = &models.extractor else { return Ok(()) };
        let standing = self.runtime.block_on(read_inputs(lake, None))?.documents;
        let plan = extract::plan(extractor, &extract::chunks(standing, domain));
        if plan.calls > 0 {
            eprintln!("{} passages of documents that stand are without an answer of the language model", plan.calls);
            eprintln!("{plan}");
        }
        Ok(())
    }

    /// Brings a lake that another program wrote to what this one computes.
    pub(super) fn reconcile(
        &self,
        lake: &Lake,
        domain: &Arc<Domain>,
        models: &Models,
        n_workers: usize,
    ) -> anyhow::Result<()> {
        let program = program(domain, models)?;
        let told = |what| self.progress.say(what);
        let done = reconcile(lake, domain, models.clone(), n_workers, &program, told);
        if let Some(done) = self.runtime.block_on(done)? {
            let changed = match done.n_rows {
                0 => "nothing differs".to_owned(),
                n_rows => format!("{n_rows} rows were put right in epoch {}", done.epoch),
            };
            eprintln!(
                "another version of the program, the pack or the model wrote the lake: {} documents were read again, \
                 {changed} ({:.1} s)",
                done.n_documents,
                self.began.elapsed().as_secs_f64()
            );
        }
        self.progress.say("loading what stands in the lake");
        Ok(())
    }

    /// Says from where the pipeline goes on, if not from nothing.
    pub(super) fn done(self, pipeline: &Pipeline) {
        drop(self.progress);
        let epoch = pipeline.next_epoch() - 1;
        if epoch > 0 {
            let (n_documents, took) = (pipeline.resumed().len(), self.began.elapsed().as_secs_f64());
            eprintln!("resumed from epoch {epoch} of the lake: {n_documents} documents in {took:.1} s");
        }
    }
}

/// What computes the rows: a hash of this program's file, of the domain pack, and of the models.
fn program(domain: &Domain, models: &Models) -> anyhow::Result<String> {
    let path = std::env::current_exe().context("the program does not know its own file")?;
    let read = || format!("the program's own file {} can't be read", path.display());
    // Where the file was replaced since the start, the system still gives what runs.
    let running = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { path.clone() };
    let mut file = BufReader::with_capacity(1 << 20, File::open(running).with_context(read)?);
    let (mut hash, mut bytes) = (Xxh3::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut bytes).with_context(read)? {
            0 => break,
            n_bytes => hash.update(&bytes[..n_bytes]),
        }
    }
    hash.update(format!("{domain:?}").as_bytes());
    hash.update(models.vectors.id().as_bytes());
    if let Some(extractor) = &models.extractor {
        hash.update(format!("{:?}", extractor.id()).as_bytes());
    }
    Ok(format!("{:032x}", hash.digest128()))
}
