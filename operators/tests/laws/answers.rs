//! The law of the extraction by answers of a language model, over the pack `general`.

use std::{
    collections::BTreeMap,
    fs,
    sync::{Arc, OnceLock},
};

use hypercane_operators::{
    Shared,
    domain::{ChunkLength, DOMAIN_FILE, Domain},
    extract::{Extracted, UNANSWERED},
    extract_answered,
    extraction::{Extraction, Failure},
    grammar,
    kernel::{
        self, Chunk,
        passages::{Passage, PassageFact},
    },
    language_model,
};
use hypercane_schemas::{ContentHash, Document, Span, Stage};

use crate::{
    documents::{one_a_document, reject},
    folder,
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Answered, Spec, moment},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![Law {
        operator: "extract_answered",
        pool: texts_and_answers,
        read: |spec, _| match spec {
            Spec::Document(document) => {
                let chunks = kernel::chunk(document, LENGTH).into_iter();
                chunks.map(|chunk| Row::Chunk((document.key.clone(), Shared::new(chunk)))).collect()
            }
            Spec::Answered(answered) => {
                vec![Row::Recorded((input_of(answered), Shared::new(answered.says.as_str().into())))]
            }
            _ => vec![],
        },
        stands: |spec| match spec {
            Spec::Answered(answered) => Stands::Once(input_of(answered).to_string()),
            other => one_a_document(other),
        },
        build: |rows, _| {
            let (chunks, answers) = (only!(rows, Chunk), only!(rows, Recorded));
            let (extracted, rejects) = extract_answered(chunks, answers, domain().clone());
            extracted.map(Row::Extracted).concat(rejects.map(|reject| Row::Reject(Box::new(reject))))
        },
        define: what_answers_say,
        on_one_worker: true,
    }]
}

/// So short that a text has several chunks, which begin with the end of the one before.
const LENGTH: Option<ChunkLength> = Some(ChunkLength { length: 60, overlap: 25 });

/// The pack of any corpus, without the model that its grammar reads with: no text may be read by that.
fn domain() -> &'static Arc<Domain> {
    static DOMAIN: OnceLock<Arc<Domain>> = OnceLock::new();
    DOMAIN.get_or_init(|| {
        let text = fs::read_to_string(folder().join("../data/domains/general").join(DOMAIN_FILE)).unwrap();
        Arc::new(Domain::parse(&text, &BTreeMap::new()).unwrap())
    })
}

fn input_of(Answered { title, text, .. }: &Answered) -> ContentHash {
    language_model::Passage { title: title.clone(), text: text.clone() }.input()
}

const SENTENCES: [&str; 3] =
    ["Ada lived in London.", "Ada wrote to Charles in 1843.", "Charles never\nanswered her letter."];

fn documents() -> Vec<Document> {
    let mut documents = Vec::new();
    for text in [&SENTENCES[..1], &SENTENCES[..2], &SENTENCES, &SENTENCES[1..]] {
        for (key, title) in [("a", None), ("b", None), ("c", Some("Ada"))] {
            let mut document = Document::plain(key, text.join(" "));
            document.title = title.map(str::to_owned);
            document.issued_at = title.map(|_| moment(0));
            documents.push(document);
        }
    }
    // A product of a grammar, which no language model is asked about, and a text that says nothing.
    for (text, kind) in [("Port Condition ZULU is set for the Port of Houston.", Some("msib")), (" \n", None)] {
        documents.push(Document { source_kind: kind.map(str::to_owned), ..Document::plain("a", text) });
    }
    documents
}

/// What a model may answer: two things, one thing that the text does not say in these words, or nothing that can be used.
fn answers() -> [String; 3] {
    let entity = |name: &str, kind: &str| {
        format!(r#"{{"name":"{name}","type":"{kind}","role":"","alias":[],"desc":"","conf":0.9}}"#)
    };
    let fact = |text: &str, entities: &str| {
        format!(r#"{{"text":"{text}","entities":[{entities}],"relation":"is with","conf":0.5}}"#)
    };
    let answer = |entities: &[String], facts: &[String]| {
        let (entities, facts) = (entities.join(","), facts.join(","));
        format!(r#"{{"entities":[{entities}],"hyperedges":[{facts}],"relations":[]}}"#)
    };
    let (ada, year) = (entity("Ada", "person"), entity("1843", "date"));
    let two = [fact(SENTENCES[0], r#""Ada","London""#), fact(SENTENCES[1], r#""Ada","Charles","1843""#)];
    let alone = [fact("Charles is silent.", r#""Charles""#), fact("Ada knew Charles.", r#""Ada","Charles""#)];
    [answer(&[ada.clone(), year], &two), answer(&[ada], &alone), "I cannot say.".into()]
}

fn texts_and_answers() -> Vec<Spec> {
    let mut pool: Vec<Spec> = documents().into_iter().map(Spec::Document).collect();
    let chunks = documents().iter().flat_map(|document| kernel::chunk(document, LENGTH)).collect::<Vec<_>>();
    for says in answers() {
        let passages = chunks.iter().map(|chunk| {
            let title = chunk.document.title.clone().unwrap_or_default();
            Spec::Answered(Answered { title, text: chunk.document.text.clone(), says: says.clone() })
        });
        for passage in passages {
            if !pool.contains(&passage) {
                pool.push(passage);
            }
        }
    }
    pool
}

/// What the answer that stands for the words of a chunk says, which has its own tests, moved to its place in the document;
/// a reject where none stands. What no model is asked about is what the grammar says.
fn what_answers_say(input: &Input, _: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((key, chunk), count) in standing!(input, Chunk) {
        let Chunk { document, first_line, start, .. } = &**chunk;
        let is_asked = document.source_kind.is_none() && !document.text.trim().is_empty();
        let passage = language_model::Passage::of(chunk).input();
        let answer = standing!(input, Recorded).find(|((of, _), _)| *of == passage).map(|((_, answer), _)| answer);
        let read = match answer {
            _ if !is_asked => grammar::extract(document, domain()),
            Some(answer) => language_model::extraction(answer, chunk),
            None => Err(Failure { line: 1, reason: UNANSWERED.into() }),
        };
        let failures = read.as_ref().map_or_else(std::slice::from_ref, |read| &read.failures);
        for failure in failures {
            let line = failure.line + first_line - 1;
            rows.add(reject(key, Stage::Extract, Some(line), failure.reason.clone()), count);
        }
        let Ok(mut extraction) = read else { continue };
        extraction.failures.iter_mut().for_each(|failure| failure.line += first_line - 1);
        let passage = Shared::new(passage_of(document, &extraction, is_asked));
        let span = |span: Span| Span { start: span.start + start, end: span.end + start };
        extraction.facts.iter_mut().for_each(|fact| fact.span = span(fact.span));
        let extracted = Extracted {
            passage: Some((passage, span(Span::new(0, document.text.len())))),
            extraction,
            chunk: chunk.number,
            horizon_hours: None,
            reliability: document.reliability,
            supersedes: None,
        };
        rows.add(Row::Extracted((key.clone(), Shared::new(extracted))), count);
    }
    rows
}

/// The chunk as a passage. Each fact names all that takes part in it, but for the title that it was given.
fn passage_of(document: &Document, extraction: &Extraction, is_asked: bool) -> Passage {
    let facts = extraction.facts.iter().map(|fact| PassageFact {
        start: fact.span.start,
        end: fact.span.end,
        text: fact.text.clone(),
        vector: None,
        names: fact.mentions.iter().filter(|m| is_asked && m.role != "topic").map(|m| m.name.clone()).collect(),
    });
    Passage {
        title: document.title.clone().unwrap_or_default(),
        text: document.text.clone(),
        issued_at: extraction.issued_at.or(document.issued_at),
        facts: facts.collect(),
        ..Passage::default()
    }
}
