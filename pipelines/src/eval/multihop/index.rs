//! From a set to the graph of its passages.

use std::{ops::Range, sync::Arc};

use hypercane_operators::{
    domain::Domain,
    extract,
    grammar::statements,
    kernel::passages::{self, PassageFact, PassageGraph},
};
use hypercane_schemas::{Document, DocumentKey, Vector};
use rayon::prelude::*;

use super::Set;
use crate::connect::{self, embed::Recorded};

/// Hears how many of how many texts have a vector.
pub type Watch = Box<dyn Fn(usize, usize) + Send>;

/// Texts that are asked for, and recorded, at a time.
const PART: usize = 512;

/// A set, ready to be asked.
pub struct Index {
    /// The set.
    pub set: Set,
    /// Its passages, in the set's order.
    pub graph: PassageGraph,
    /// The vectors of its questions, in the set's order.
    pub questions: Vec<Vector>,
    /// CPU seconds that it took to make it, with those of the model for texts that were not on record.
    pub cpu_seconds: f64,
    /// How many texts were embedded in all: passages and facts.
    pub n_texts: usize,
}

/// What one passage says.
struct Read {
    text: String,
    facts: Vec<Fact>,
}

struct Fact {
    bytes: Range<usize>,
    text: String,
    names: Vec<String>,
}

impl Index {
    /// Reads the passages with the pack's extractor, embeds what is not on record, and joins all by what they name.
    ///
    /// # Errors
    /// The model, or the record of its outputs, fails.
    pub async fn new(
        set: Set,
        domain: &Arc<Domain>,
        recorded: &Recorded,
        watch: Watch,
    ) -> Result<Self, connect::Error> {
        let began = cpu_seconds();
        let read: Vec<Read> = set.passages.par_iter().map(|passage| read(passage, domain)).collect();
        let texts: Vec<String> = read
            .iter()
            .flat_map(|read| [&read.text].into_iter().chain(read.facts.iter().map(|f| &f.text)))
            .cloned()
            .collect();
        let vectors = vectors(recorded, &texts, &watch).await?;
        let mut next = vectors.iter();
        let mut passages = Vec::with_capacity(set.passages.len());
        for (passage, read) in set.passages.iter().zip(&read) {
            let mut vector = || next.next().map_or(&[][..], |vector| &vector.0[..]);
            let whole = vector();
            let facts = read.facts.iter().map(|fact| PassageFact {
                bytes: fact.bytes.clone(),
                vector: vector(),
                names: fact.names.clone(),
            });
            passages.push(passages::Passage {
                title: &passage.title,
                text: &passage.text,
                vector: whole,
                facts: facts.collect(),
                names: passage.source.iter().cloned().collect(),
            });
        }
        let graph = PassageGraph::new(&passages, domain.common_words());
        let (cpu_seconds, n_texts) = (cpu_seconds() - began, texts.len());
        let questions: Vec<String> = set.questions.iter().map(|question| question.question.clone()).collect();
        let questions = self::vectors(recorded, &questions, &watch).await?;
        drop(passages);
        Ok(Self { set, graph, questions, cpu_seconds, n_texts })
    }
}

fn read(passage: &super::sets::Passage, domain: &Domain) -> Read {
    let document = Document {
        title: Some(passage.title.clone()),
        ..Document::plain(DocumentKey(passage.id.clone()).0, passage.text.clone())
    };
    let chunks = extract::read(&document, domain).into_iter().flatten();
    let facts = chunks.flat_map(|chunk| chunk.extraction.facts).map(|fact| Fact {
        bytes: fact.span.start as usize..fact.span.end as usize,
        names: fact.mentions.iter().filter(|m| statements::is_name(m)).map(|mention| mention.name.clone()).collect(),
        text: fact.text,
    });
    Read { text: format!("{}\n{}", passage.title, passage.text), facts: facts.collect() }
}

async fn vectors(recorded: &Recorded, texts: &[String], watch: &Watch) -> Result<Vec<Vector>, connect::Error> {
    let mut vectors = Vec::with_capacity(texts.len());
    for part in texts.chunks(PART) {
        vectors.extend(recorded.vectors(part).await?);
        watch(vectors.len(), texts.len());
    }
    Ok(vectors)
}

/// CPU time of this process so far, in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
