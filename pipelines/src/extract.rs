//! Passages of documents to recorded answers of a language model, ahead of a run: what would be asked, and asking it.

use std::collections::BTreeMap;

use hypercane_operators::{
    domain::Domain,
    extract::is_asked_about,
    kernel::{self, Chunk},
    language_model::{Passage, extraction},
};
use hypercane_schemas::{Document, DocumentKey};
use serde::Serialize;

use crate::connect::language_model::{Error, Extractor, Plan};

/// Passages that are asked about before progress is told.
const PART: usize = 256;

/// What came of an extraction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Passages of the documents.
    pub passages: usize,
    /// Facts that the recorded answers give.
    pub facts: usize,
    /// Passages whose answer was malformed and could be repaired.
    pub repaired: usize,
    /// Passages whose answer can't be used, or not as a whole.
    pub rejects: Vec<Reject>,
    /// Passages without an answer; another run asks about them again.
    pub unanswered: usize,
    /// Why, for the first of them.
    pub reason: Option<String>,
}

/// A passage, or a part of what is said of it, that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reject {
    /// The document.
    pub document: DocumentKey,
    /// The passage's number in it.
    pub chunk: u32,
    /// What is wrong.
    pub reason: String,
}

/// The chunks of documents about which a language model is asked; of several documents with one key the last one counts.
pub fn chunks(documents: impl IntoIterator<Item = Document>, domain: &Domain) -> Vec<Chunk> {
    let standing: BTreeMap<DocumentKey, Document> =
        documents.into_iter().map(|document| (document.key.clone(), document)).collect();
    let chunks = standing.values().flat_map(|document| kernel::chunk(document, domain.chunks()));
    chunks.filter(|chunk| is_asked_about(chunk, domain)).collect()
}

/// What would be asked.
pub fn plan(extractor: &Extractor, chunks: &[Chunk]) -> Plan {
    let passages: Vec<Passage> = chunks.iter().map(Passage::of).collect();
    extractor.plan(&passages)
}

/// Asks about all chunks that are not on record. `told` hears how many of them are done.
pub async fn extract(extractor: &Extractor, chunks: &[Chunk], mut told: impl FnMut(usize)) -> Report {
    let mut report = Report { passages: chunks.len(), ..Report::default() };
    for (number, part) in chunks.chunks(PART).enumerate() {
        let passages: Vec<Passage> = part.iter().map(Passage::of).collect();
        let answers = extractor.extract(&passages).await;
        for (chunk, answer) in part.iter().zip(answers) {
            report.add(chunk, answer.map(|answer| (extraction(&answer.text, chunk), answer.is_repaired)));
        }
        told(number * PART + part.len());
    }
    report
}

type Read = Result<hypercane_operators::extraction::Extraction, hypercane_operators::extraction::Failure>;

impl Report {
    fn add(&mut self, chunk: &Chunk, answer: Result<(Read, bool), Error>) {
        let failures = match answer {
            Ok((Ok(extraction), is_repaired)) => {
                self.facts += extraction.facts.len();
                self.repaired += usize::from(is_repaired);
                extraction.failures
            }
            Ok((Err(failure), _)) => vec![failure],
            Err(error) => {
                self.unanswered += 1;
                self.reason.get_or_insert_with(|| error.to_string());
                Vec::new()
            }
        };
        let (document, number) = (&chunk.document.key, chunk.number);
        let reject = |reason| Reject { document: document.clone(), chunk: number, reason };
        self.rejects.extend(failures.into_iter().map(|failure| reject(failure.reason)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hypercane_operators::language_model::{Prompt, refusal};
    use hypercane_schemas::{Document, ModelText};

    use super::{Passage, chunks, extract, plan};
    use crate::connect::{
        language_model::{Extractor, MemoryTexts, TextStore},
        packs,
    };

    #[tokio::test]
    async fn a_report_counts_what_is_on_record_and_names_what_is_not_usable() {
        let prompt: Prompt = packs::extraction_prompt("general").unwrap();
        let domain = packs::load("general").unwrap();
        let documents = ["a", "b", "c", " "].map(|text| Document::plain(format!("doc {text}"), text));
        let chunks = chunks(documents.into_iter().chain([Document::plain("doc a", "a again")]), &domain);
        let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.document.text.as_str()).collect();
        assert_eq!(texts, ["a again", "b", "c"], "the last of a key counts, and nothing says nothing");

        let fact = r#"{"entities": [], "hyperedges": [{"text": "X is Y.", "entities": ["X", "Y"], "relation": "is",
            "conf": 1}], "relations": []}"#;
        let store = Arc::new(MemoryTexts::default());
        for (chunk, text) in chunks.iter().zip([fact.to_owned(), refusal("No.")]) {
            let input = Passage::of(chunk).input();
            let row = ModelText { model: "m".into(), template: prompt.hash(), input, text };
            store.put(vec![row]).await.unwrap();
        }
        let extractor = Extractor::record_only("m", prompt, store);
        assert_eq!(plan(&extractor, &chunks).calls, 1);
        let mut done = 0;
        let report = extract(&extractor, &chunks, |n| done = n).await;
        assert_eq!((done, report.passages, report.facts, report.unanswered), (3, 3, 1, 1));
        assert!(report.reason.as_ref().unwrap().contains("no recorded output"), "{report:?}");
        let [reject] = &report.rejects[..] else { panic!("{report:?}") };
        assert!(reject.document.0 == "doc b" && reject.reason.contains("refused"), "{reject:?}");
    }
}
