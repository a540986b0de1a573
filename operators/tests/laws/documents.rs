//! The laws of the operators that read documents: upsert, chunk, extract, supersede, canonicalize.

use std::collections::BTreeMap;

use hypercane_operators::{
    Shared,
    assertion::Assertion,
    canonicalize, chunk,
    domain::Domain,
    extract::Extracted,
    extraction, grammar,
    kernel::{self, Chunk},
    supersede, upsert,
};
use hypercane_schemas::{
    ContentHash, Document, DocumentKey, Fixed, GroupKey, HorizonUpdate, Hyperedge, HyperedgeId, Member, Provenance,
    Reject, Span, Stage,
};
use timely::dataflow::operators::vec::Map as _;

use crate::{
    law::{Input, Law, Stands},
    only,
    row::{Row, Rows},
    spec::{Change, Fact, Horizon, Reading, Says, Spec, group, surest},
    standing,
};

pub fn laws() -> Vec<Law> {
    vec![
        Law {
            operator: "upsert",
            pool: changes,
            read: |spec, _| match spec {
                Spec::Change(change) => {
                    let update = |at| Horizon { storm: change.storm.clone(), at, issued: 0 }.update();
                    vec![Row::Change((group(&change.storm), change.sequence, change.at.map(update)))]
                }
                _ => vec![],
            },
            stands: |spec| match spec {
                Spec::Change(change) => Stands::Passing(change.storm.clone()),
                _ => Stands::Passing(String::new()),
            },
            build: |rows, _| {
                let changes = only!(rows, Change).inner.map(|(change, _, _)| change);
                upsert::<GroupKey, HorizonUpdate>(changes).map(Row::Horizon)
            },
            define: what_stands,
            on_one_worker: true,
        },
        Law {
            operator: "chunk",
            pool: texts,
            read: |spec, _| match spec {
                Spec::Document(document) => vec![Row::Document((document.key.clone(), Shared::new(document.clone())))],
                _ => vec![],
            },
            stands: one_a_document,
            build: |rows, domain| chunk(only!(rows, Document), domain.clone()).map(Row::Chunk),
            define: parts,
            on_one_worker: true,
        },
        Law {
            operator: "extract",
            pool: texts,
            read: |spec, _| match spec {
                Spec::Document(document) => {
                    let chunks = kernel::chunk(document, None).into_iter();
                    chunks.map(|chunk| Row::Chunk((document.key.clone(), Shared::new(chunk)))).collect()
                }
                _ => vec![],
            },
            stands: one_a_document,
            build: |rows, domain| {
                let (extracted, rejects) = hypercane_operators::extract(only!(rows, Chunk), domain.clone());
                extracted.map(Row::Extracted).concat(rejects.map(|reject| Row::Reject(Box::new(reject))))
            },
            define: what_chunks_say,
            on_one_worker: true,
        },
        Law {
            operator: "supersede",
            pool: revisions,
            read: read_reading,
            stands: often_a_document,
            build: |rows, _| supersede(only!(rows, Extracted)).map(Row::Extracted),
            define: what_counts,
            // What is let through comes from the worker of its product, what is taken back from that of its key.
            on_one_worker: false,
        },
        Law {
            operator: "canonicalize",
            pool: readings,
            read: read_reading,
            stands: often_a_document,
            build: |rows, domain| {
                let (assertions, rejects) = canonicalize(only!(rows, Extracted), domain.clone());
                assertions.map(Row::Assertion).concat(rejects.map(|reject| Row::Reject(Box::new(reject))))
            },
            define: what_is_asserted,
            on_one_worker: true,
        },
    ]
}

pub fn one_a_document(spec: &Spec) -> Stands {
    match spec {
        Spec::Document(document) => Stands::Once(document.key.0.clone()),
        _ => Stands::Once(String::new()),
    }
}

fn often_a_document(spec: &Spec) -> Stands {
    match spec {
        Spec::Reading(reading) => Stands::Often(reading.doc.clone()),
        _ => Stands::Often(String::new()),
    }
}

fn read_reading(spec: &Spec, _domain: &Domain) -> Vec<Row> {
    match spec {
        Spec::Reading(reading) => {
            vec![Row::Extracted((DocumentKey(reading.doc.clone()), Shared::new(reading.extracted())))]
        }
        _ => vec![],
    }
}

fn changes() -> Vec<Spec> {
    let mut pool = Vec::new();
    for at in [Some(0), None, Some(6)] {
        for sequence in 0..4 {
            for storm in ["AL01", "AL02"] {
                pool.push(Spec::Change(Change { storm: storm.into(), sequence, at }));
            }
        }
    }
    pool
}

/// In each epoch, under each key, the change with the largest sequence number counts; a later epoch's change replaces it.
fn what_stands(input: &Input, _domain: &Domain) -> Rows {
    let mut standing: BTreeMap<GroupKey, HorizonUpdate> = BTreeMap::new();
    for epoch in &input.epochs {
        let mut last: BTreeMap<GroupKey, (u64, Option<HorizonUpdate>)> = BTreeMap::new();
        for (row, _) in epoch {
            let Row::Change((key, sequence, value)) = row else { continue };
            let change = (*sequence, value.clone());
            let held = last.entry(key.clone()).or_insert_with(|| change.clone());
            *held = held.clone().max(change);
        }
        for (key, (_, value)) in last {
            match value {
                Some(value) => _ = standing.insert(key, value),
                None => _ = standing.remove(&key),
            }
        }
    }
    let mut rows = Rows::default();
    standing.into_iter().for_each(|row| rows.add(Row::Horizon(row), 1));
    rows
}

fn texts() -> Vec<Spec> {
    let zulu = "Port Condition ZULU is set for the Port of Houston.\n";
    let whiskey = "Port Condition WHISKEY is set for the Port of Houston.\n";
    let headed = |hours: u16, body: &str| format!("T-{hours} hours before landfall:\n{body}");
    let texts = [
        zulu.to_owned(),
        headed(48, whiskey),
        headed(48, whiskey) + &headed(24, zulu),
        format!("Notes of the harbour master\n{}", headed(24, zulu)),
        headed(24, zulu) + &headed(12, "Nothing that is known.\n"),
        "Nothing that is known.\n".into(),
        String::new(),
    ];
    let mut pool = Vec::new();
    for text in texts {
        for key in ["a", "b"] {
            for horizon_hours in [None, Some(36)] {
                let mut document = Document::plain(key, text.clone());
                document.horizon_hours = horizon_hours;
                document.issued_at = horizon_hours.map(|_| crate::spec::moment(0));
                document.source_kind = horizon_hours.map(|_| "Scenario".into());
                pool.push(Spec::Document(document));
            }
        }
    }
    pool
}

/// The chunks of texts whose headers are `T-N hours before landfall:`, each on a line of its own.
fn parts(input: &Input, _domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((key, document), count) in standing!(input, Document) {
        let source_kind = document.source_kind.clone().filter(|kind| kind != "Scenario");
        let whole = Document { source_kind, ..(**document).clone() };
        let mut chunks = vec![Chunk { number: 0, document: whole, start: 0, first_line: 1, overlap: 0 }];
        chunks[0].document.text.clear();
        let (mut at, mut n_lines) = (0, 0);
        for line in document.text.split_inclusive('\n') {
            let hours = line.strip_prefix("T-").and_then(|rest| rest.split(' ').next()?.parse().ok());
            match hours {
                Some(hours) => {
                    // What follows the colon belongs to the part: the end of its line.
                    let mut part = chunks[0].clone();
                    part.document.horizon_hours = Some(hours);
                    part.document.issued_at = None;
                    part.document.text = "\n".into();
                    (part.start, part.first_line) = (at + line.len() as u32 - 1, n_lines + 1);
                    chunks.push(part);
                }
                None => {
                    let part = chunks.last_mut().expect("there is the first");
                    part.document.text.push_str(line);
                }
            }
            at += line.len() as u32;
            n_lines += 1;
        }
        let headed = chunks.len() > 1;
        if headed && chunks[0].document.text.trim().is_empty() {
            chunks.remove(0);
        }
        for (number, chunk) in (0..).zip(chunks) {
            rows.add(Row::Chunk((key.clone(), Shared::new(Chunk { number, ..chunk }))), count);
        }
    }
    rows
}

pub fn reject(key: &DocumentKey, stage: Stage, line: Option<u32>, reason: String) -> Row {
    let place = line.map(|line| line.to_string()).unwrap_or_default();
    Row::Reject(Box::new(Reject {
        id: ContentHash::of_parts(["documents", &key.0, &place, &reason]),
        topic: "documents".into(),
        partition: None,
        offset: None,
        key: key.0.clone(),
        stage,
        line,
        reason,
        payload_base64: String::new(),
    }))
}

/// What the grammars read, which have their own tests, moved to its place in the document.
fn what_chunks_say(input: &Input, domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((key, chunk), count) in standing!(input, Chunk) {
        let document = &chunk.document;
        let mut add_reject = |failure: &extraction::Failure| {
            let line = failure.line + chunk.first_line - 1;
            rows.add(reject(key, Stage::Extract, Some(line), failure.reason.clone()), count);
        };
        let mut extraction = match grammar::extract(document, domain) {
            Ok(extraction) => extraction,
            Err(failure) => {
                add_reject(&failure);
                continue;
            }
        };
        extraction.failures.iter().for_each(&mut add_reject);
        extraction.failures.iter_mut().for_each(|failure| failure.line += chunk.first_line - 1);
        extraction.facts.extend(grammar::exposure::facts(&extraction, domain));
        for fact in &mut extraction.facts {
            fact.span = Span { start: fact.span.start + chunk.start, end: fact.span.end + chunk.start };
        }
        let extracted = Extracted {
            passage: None,
            extraction,
            chunk: chunk.number,
            horizon_hours: document.horizon_hours,
            reliability: document.reliability,
            supersedes: document.supersedes.clone(),
        };
        rows.add(Row::Extracted((key.clone(), Shared::new(extracted))), count);
    }
    rows
}

fn revisions() -> Vec<Spec> {
    let mut pool = Vec::new();
    for doc in ["a", "b", "c"] {
        for (advisory, correction) in [(Some(1), 0), (None, 0), (Some(1), 1), (Some(2), 0), (Some(1), 2)] {
            for supersedes in [None, Some("a"), Some("b")] {
                let supersedes = supersedes.map(str::to_owned);
                let reading = Reading { doc: doc.into(), advisory, correction, supersedes, ..Reading::default() };
                pool.push(Spec::Reading(reading));
            }
        }
    }
    pool
}

/// Those of the largest correction of their product, and those that are none, but for those that another document names.
fn what_counts(input: &Input, _domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((key, document), count) in standing!(input, Extracted) {
        let corrected = standing!(input, Extracted).any(|((_, other), _)| {
            match (&document.extraction.product, &other.extraction.product) {
                (Some(product), Some(other)) => {
                    (&product.kind, &product.name) == (&other.kind, &other.name)
                        && other.correction > product.correction
                }
                _ => false,
            }
        });
        let replaced = standing!(input, Extracted)
            .any(|((other_key, other), _)| other_key != key && other.supersedes.as_ref() == Some(key));
        if !corrected && !replaced {
            rows.add(Row::Extracted((key.clone(), document.clone())), count);
        }
    }
    rows
}

fn readings() -> Vec<Spec> {
    let mut pool = Vec::new();
    for says in [Says::State, Says::Unknown, Says::Probability, Says::Alone] {
        for doc in ["a", "b"] {
            for (issued, horizon) in [(Some(0), None), (None, Some(48)), (Some(0), Some(48)), (None, None)] {
                let fact = |value| Fact { says, storm: "AL01".into(), issued, value, ..Fact::default() };
                let facts = [vec![fact(None)], vec![fact(Some(50)), fact(None)]];
                for facts in facts {
                    let reading = Reading { doc: doc.into(), issued, horizon, facts, ..Reading::default() };
                    pool.push(Spec::Reading(reading));
                }
            }
        }
    }
    pool
}

/// An assertion for each fact whose relation the pack knows and that has two participants, else a reject.
fn what_is_asserted(input: &Input, domain: &Domain) -> Rows {
    let mut rows = Rows::default();
    for ((key, document), count) in standing!(input, Extracted) {
        for fact in &document.extraction.facts {
            let row = match asserted(key, document, fact, domain) {
                Some(assertion) => Row::Assertion(Shared::new(assertion)),
                None => {
                    // The definition says that it is one; how it is put is the kernel's own.
                    let reason = kernel::canonicalize(key, document, fact, domain).expect_err("it is none");
                    reject(key, Stage::Canonicalize, None, reason)
                }
            };
            rows.add(row, count);
        }
    }
    rows
}

fn asserted(key: &DocumentKey, document: &Extracted, fact: &extraction::Fact, domain: &Domain) -> Option<Assertion> {
    let found = domain.relation(&fact.relation)?;
    let mut mentions = fact.mentions.clone();
    mentions.sort();
    mentions.dedup();
    let mut members: Vec<Member> =
        mentions.iter().map(|m| Member { entity: m.entity.clone(), role: m.role.clone() }).collect();
    members.sort();
    members.dedup();
    let mut keys: Vec<String> = members.iter().map(|member| member.entity.0.clone()).collect();
    keys.dedup();
    if keys.len() < 2 {
        return None;
    }
    // Without a time, the horizon of the document tells two facts apart.
    if let (None, Some(hours)) = (document.extraction.issued_at, document.horizon_hours) {
        keys.push(format!("horizon:T-{hours}"));
    }
    let id = HyperedgeId::of(&found.relation, keys.iter().map(String::as_str), &fact.text);
    let trusted = fact.confidence.to_f64() * document.reliability.to_f64();
    let embedded = kernel::fact_embedding_text(&found.relation, &fact.text, &mentions, domain);
    let hyperedge = Hyperedge {
        id,
        relation: found.relation,
        family: found.family,
        base_family: found.family,
        text: fact.text.clone(),
        members,
        attributes: fact.attributes.clone(),
        group: fact.group.clone(),
        horizon_hours: document.horizon_hours.map(i32::from),
        issued_at: document.extraction.issued_at,
        valid_at: fact.valid_at,
        confidence: Fixed::from_f64(trusted),
        relations: surest(&fact.relations),
        provenance: vec![Provenance { document: key.clone(), chunk: document.chunk, span: fact.span }],
        origin: fact.origin,
        position: fact.span.start,
        embedded_as: kernel::embedded_as(&embedded),
    };
    Some(Assertion { id, hyperedge, mentions, reference_at: fact.reference_at })
}
