//! The laws of the operators over passages: those of a corpus, and their rankings.

use std::collections::BTreeMap;

use hypercane_operators::{
    LinkedQuery, PlacedPassage, Shared,
    domain::Domain,
    kernel::{
        embedded_as,
        link::Links,
        passages::{Asked, First, Passage, PassageFact, PassageIndex, PassageSettings, Scratch},
    },
    passages, rank_passages, ranked_passage, unranked,
};
use hypercane_schemas::{
    ContentHash, DocumentKey, Mode, Provenance, Query, QueryId, QueryParameters, Reject, Span, Stage, Vector,
};

use crate::{
    facts::as_itself,
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Asked as AskedSpec, Pointing, Reading, Said, Spec, moment},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "passages",
            pool: texts_and_vectors,
            read: |spec, _| match spec {
                Spec::Said(said) => vec![Row::Extracted((DocumentKey(said.doc.clone()), extracted(said)))],
                Spec::Pointing(Pointing { name, at }) => vec![Row::Vector((embedded_as(name), vector(at)))],
                _ => vec![],
            },
            stands: |spec| match spec {
                Spec::Said(said) => Stands::Once(said.doc.clone()),
                Spec::Pointing(pointing) => Stands::Once(pointing.name.clone()),
                other => as_itself(other),
            },
            build: |rows, _| passages(only!(rows, Extracted), only!(rows, Vector)).map(Row::Placed),
            define: placed,
            on_one_worker: true,
        },
        Law {
            operator: "rank_passages",
            pool: texts_and_questions,
            read: |spec, _| match spec {
                Spec::Said(said) => vec![Row::Placed(said_at(said))],
                Spec::Query(asked) => {
                    let (query, vector) = (Shared::new(query(asked)), Some(vector(&[1, 2])));
                    let linked = LinkedQuery { query: query.clone(), links: Links::default(), vector };
                    vec![Row::Linked((query.id.clone(), Shared::new(linked)))]
                }
                _ => vec![],
            },
            stands: |spec| match spec {
                Spec::Said(said) => Stands::Once(format!("{} {}", said.title, said.text)),
                Spec::Query(asked) => Stands::Once(asked.id.clone()),
                other => as_itself(other),
            },
            build: |rows, domain| {
                let rankings = rank_passages(only!(rows, Placed), only!(rows, Linked), domain.clone());
                rankings.map(|row| Row::Ranked(Box::new(row)))
            },
            define: rankings,
            on_one_worker: true,
        },
        Law {
            operator: "unranked",
            pool: texts_and_questions,
            read: |spec, _| match spec {
                Spec::Query(asked) => vec![Row::Query((QueryId(asked.id.clone()), Shared::new(query(asked))))],
                _ => vec![],
            },
            stands: |spec| match spec {
                Spec::Query(asked) => Stands::Once(asked.id.clone()),
                other => as_itself(other),
            },
            build: |rows, _| unranked(only!(rows, Query)).map(|reject| Row::Reject(Box::new(reject))),
            define: told,
            on_one_worker: true,
        },
    ]
}

const TITLES: [&str; 3] = ["", "Port Alder", "Birch Bay"];
const TEXTS: [&str; 4] = [
    "Port Alder was closed.",
    "Birch Bay lies by Port Alder.",
    "The fog over Birch Bay was dense.",
    "Cedar River was closed by fog.",
];

fn texts() -> Vec<Said> {
    let mut pool = Vec::new();
    for (at, text) in TEXTS.iter().enumerate() {
        for title in TITLES {
            let names = ["Port Alder", "Birch Bay", "Cedar River"].iter().filter(|name| text.contains(**name));
            let names = names.map(|name| (*name).to_owned()).collect();
            let (title, text) = (title.to_owned(), (*text).to_owned());
            for (doc, issued) in [("a", None), ("b", Some(4)), ("c", Some(9))] {
                let (title, text, names) = (title.clone(), text.clone(), Vec::clone(&names));
                pool.push(Said { doc: format!("{doc}{}", at % 2), title, text, names, issued });
            }
        }
    }
    pool
}

fn texts_and_vectors() -> Vec<Spec> {
    let mut pool: Vec<Spec> = texts().into_iter().map(Spec::Said).collect();
    for text in TEXTS {
        for name in [text.to_owned(), format!("Port Alder\n{text}")] {
            pool.extend(
                [&[1, 0][..], &[3, 4]].map(|at| Spec::Pointing(Pointing { name: name.clone(), at: at.to_vec() })),
            );
        }
    }
    pool
}

fn texts_and_questions() -> Vec<Spec> {
    let mut pool: Vec<Spec> = texts().into_iter().map(Spec::Said).collect();
    for (number, question) in
        ["What was closed by fog?", "Where is Port Alder?", "Is Birch Bay closed?"].iter().enumerate()
    {
        for as_of in [None, Some(5)] {
            let (id, asks) = (format!("q{number}"), (*question).to_owned());
            pool.extend(vec![Spec::Query(AskedSpec { id, asks, as_of, ..AskedSpec::default() }); 4]);
        }
    }
    pool
}

fn vector(at: &[i16]) -> Vector {
    let length = at.iter().map(|x| f32::from(*x).powi(2)).sum::<f32>().sqrt();
    Vector(at.iter().map(|x| f32::from(*x) / length).collect())
}

/// Questions of all modes.
fn query(asked: &AskedSpec) -> Query {
    let mode = [Mode::Spread, Mode::Evidence, Mode::Trajectory][asked.asks.len() % 3];
    Query { mode, parameters: QueryParameters { passages: 2, ..QueryParameters::default() }, ..asked.query() }
}

fn passage(said: &Said) -> Passage {
    let end = said.text.len() as u32;
    Passage {
        title: said.title.clone(),
        text: said.text.clone(),
        issued_at: said.issued.map(moment),
        facts: vec![PassageFact { end, text: said.text.clone(), names: said.names.clone(), ..PassageFact::default() }],
        ..Passage::default()
    }
}

fn id_of(passage: &Passage) -> ContentHash {
    ContentHash::of_parts([&*passage.title, &*passage.text])
}

fn extracted(said: &Said) -> Shared<hypercane_operators::extract::Extracted> {
    let mut extracted = Reading::default().extracted();
    extracted.passage = Some((Shared::new(passage(said)), Span::new(0, said.text.len())));
    Shared::new(extracted)
}

/// A passage as `passages` gives it, with vectors that follow from its text.
fn said_at(said: &Said) -> (ContentHash, Shared<PlacedPassage>) {
    let mut passage = passage(said);
    let direction = |text: &str| Some(vector(&[text.len() as i16, 20]));
    passage.vector = direction(&passage.text);
    passage.facts.iter_mut().for_each(|fact| fact.vector = direction(&fact.text));
    let place = Provenance { document: DocumentKey(said.doc.clone()), chunk: 0, span: Span::new(0, said.text.len()) };
    (id_of(&passage), Shared::new(PlacedPassage { passage: Shared::new(passage), provenance: vec![place] }))
}

/// Every passage that a document has, with all that have it and the vectors that stand.
fn placed(input: &Input, _: &Domain) -> Rows {
    let mut all: BTreeMap<ContentHash, (Passage, Vec<Provenance>)> = BTreeMap::new();
    for ((document, chunk), _) in standing!(input, Extracted) {
        let Some((passage, span)) = &chunk.passage else { continue };
        let place = Provenance { document: document.clone(), chunk: chunk.chunk, span: *span };
        let (kept, places) = all.entry(id_of(passage)).or_insert_with(|| (Passage::clone(passage), Vec::new()));
        kept.issued_at = kept.issued_at.min(passage.issued_at);
        places.push(place);
    }
    let of = |text: &str| {
        let found = standing!(input, Vector).find(|((hash, _), _)| *hash == embedded_as(text));
        found.map(|((_, vector), _)| vector.clone())
    };
    let mut rows = Rows::default();
    for (id, (mut passage, mut provenance)) in all {
        passage.vector = of(&passage.whole());
        passage.facts.iter_mut().for_each(|fact| fact.vector = of(&fact.text));
        provenance.sort();
        rows.add(Row::Placed((id, Shared::new(PlacedPassage { passage: Shared::new(passage), provenance }))), 1);
    }
    rows
}

/// The ranking of each question in an index that is made for it.
fn rankings(input: &Input, domain: &Domain) -> Rows {
    let placed: BTreeMap<ContentHash, &PlacedPassage> =
        standing!(input, Placed).map(|((id, placed), _)| (*id, &**placed)).collect();
    let mut rows = Rows::default();
    for ((_, linked), count) in standing!(input, Linked) {
        let mut index = PassageIndex::new(domain.common_words().iter().cloned());
        index.apply([], placed.iter().rev().map(|(id, placed)| (*id, placed.passage.clone())));
        let asked = Asked::new(&linked.query.question, linked.vector.clone(), linked.query.as_of);
        let (settings, n) = (PassageSettings::default(), usize::from(linked.query.parameters.passages));
        let first = First::new(&index, &asked, &settings, settings.n_first(n));
        let ranking = index.rank(&asked, &first, &settings, n, &mut Scratch::default());
        for (ranked, rank) in ranking.ranked.iter().zip(1..) {
            rows.add(Row::Ranked(Box::new(ranked_passage(linked, rank, ranked, placed[&ranked.id]))), count);
        }
    }
    rows
}

/// A reject for every query of a mode that reads running text.
fn told(input: &Input, _: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((id, query), count) in standing!(input, Query) {
        let mode = match query.mode {
            Mode::Trajectory => continue,
            Mode::Spread => "spread",
            Mode::Evidence => "evidence",
        };
        let reason = format!(
            "mode {mode} reads running text, and this domain pack keeps none; take mode trajectory, or a pack with a \
             language model, such as general"
        );
        let told = Reject {
            id: ContentHash::of_parts(["queries", &id.0, "", &reason]),
            topic: "queries".into(),
            partition: None,
            offset: None,
            key: id.0.clone(),
            stage: Stage::Answer,
            line: None,
            reason,
            payload_base64: String::new(),
        };
        rows.add(Row::Reject(Box::new(told)), count);
    }
    rows
}
