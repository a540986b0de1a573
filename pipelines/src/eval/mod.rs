//! Evaluation of retrieval on questions whose evidence is known.
//!
//! This is the plain form: documents through the grammars into hyperedges in memory, every question through links and
//! the plain definition of retrieval. The dataflow must give the same answers.

mod corpus;
mod hypergraph;
mod judge;
mod measure;
mod questions;
mod report;

use std::path::{Path, PathBuf};

use hypercane_operators::{domain::Domain, kernel};
use hypercane_schemas::{QueryParameters, Vector};

pub use corpus::read_corpus;
pub use hypergraph::{Hypergraph, build};
pub use judge::judge;
pub use measure::{Outcome, measure};
pub use questions::{Question, read_questions};
pub use report::{Report, Scores};

/// Why an evaluation could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A table can't be read.
    #[error("{} is no table: {source}", path.display())]
    Table {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: csv::Error,
    },
    /// A line of the questions can't be read.
    #[error("{} line {line} is no question: {source}", path.display())]
    Question {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// The domain pack can't be read.
    #[error("the domain pack in {} can't be used: {reason}", path.display())]
    Domain {
        /// Its folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The model failed.
    #[error("texts could not be embedded: {0}")]
    Embed(String),
    /// The folder has no document.
    #[error("{} holds no document", .0.display())]
    NoDocuments(PathBuf),
}

/// Turns texts into unit vectors, in order.
pub type Embed<'a> = &'a (dyn Fn(&[String]) -> Result<Vec<Vector>, String> + Sync);

/// Reads a domain pack from its folder.
pub fn read_domain(folder: &Path) -> Result<Domain, Error> {
    let wrong = |reason: String| Error::Domain { path: folder.to_owned(), reason };
    let mut tables = std::collections::BTreeMap::new();
    let mut main = None;
    for entry in std::fs::read_dir(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })? {
        let path = entry.map_err(|source| Error::Read { path: folder.to_owned(), source })?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if name == "domain.toml" || name.ends_with(".csv") {
            let text = std::fs::read_to_string(&path).map_err(|source| Error::Read { path, source })?;
            if name == "domain.toml" {
                main = Some(text);
            } else {
                tables.insert(name, text);
            }
        }
    }
    let main = main.ok_or_else(|| wrong("it has no domain.toml".into()))?;
    Domain::parse(&main, &tables).map_err(|e| wrong(e.to_string()))
}

/// Runs all questions against a hypergraph, on all cores.
pub fn evaluate(
    graph: &Hypergraph,
    questions: &[Question],
    domain: &Domain,
    embed: Embed<'_>,
) -> Result<Vec<Outcome>, Error> {
    let texts: Vec<String> = questions.iter().map(|q| q.question.clone()).collect();
    let vectors = embed(&texts).map_err(Error::Embed)?;
    let reach = kernel::Reach::new(&kernel::PrecedenceRules::from(domain), &graph.cells);
    let parameters = QueryParameters::default();
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut outcomes = Vec::with_capacity(questions.len());
    std::thread::scope(|scope| {
        let size = questions.len().div_ceil(n_threads).max(1);
        let workers: Vec<_> = questions
            .chunks(size)
            .zip(vectors.chunks(size))
            .map(|(questions, vectors)| {
                let (reach, parameters) = (&reach, &parameters);
                scope.spawn(move || {
                    let run = |(question, vector): (&Question, &Vector)| {
                        measure(graph, question, &vector.0, domain, reach, parameters)
                    };
                    questions.iter().zip(vectors).map(run).collect::<Vec<_>>()
                })
            })
            .collect();
        for worker in workers {
            match worker.join() {
                Ok(found) => outcomes.extend(found),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    Ok(outcomes)
}
