//! The order of arrival does not matter: all whole storms and benchmark texts, published to Kafka in shuffled order and
//! with repeats, give the same hypergraph, byte for byte, as the files in order through memory, on 1, 2 and 4 workers.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use hypercane::{
    changes::{Changes, Updates},
    connect::{
        embed::{EmbedService, Hashed, MemoryStore, Recorded, ServiceSettings},
        format::{Decoder, Input},
        kafka::{Properties, Share, Source, Start, create_topics, publish},
        packs,
        transport::{Event, Limits, Next, RawRecord},
    },
    eval::read_corpus,
    pipeline::Pipeline,
};
use hypercane_schemas::Document;
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tokio::runtime::Runtime;

/// The folder of shared data: as named by the environment, else beside the checkout.
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("HYPERCANE_SHARED").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    folder.join("data/cyclone").is_dir().then_some(folder)
}

/// A pipeline without a lake, with a model that needs no weights.
fn pipeline(runtime: &Runtime, n_workers: usize) -> Pipeline {
    let service = EmbedService::start(Arc::new(Hashed), &ServiceSettings::default()).unwrap();
    let recorded = Arc::new(Recorded::new(service, Arc::new(MemoryStore::default())));
    let domain = Arc::new(packs::load("cyclone").unwrap());
    runtime.block_on(Pipeline::start(n_workers, domain, recorded, None)).unwrap()
}

/// Steps inputs in epochs of some size and adds up what came and went.
fn export(runtime: &Runtime, n_workers: usize, inputs: Vec<Input>) -> BTreeMap<String, isize> {
    let mut pipeline = pipeline(runtime, n_workers);
    let mut state = BTreeMap::new();
    let mut inputs = inputs.into_iter().peekable();
    while inputs.peek().is_some() {
        let epoch: Vec<Input> = inputs.by_ref().take(400).collect();
        let stepped = runtime.block_on(pipeline.step(epoch)).unwrap();
        add_all(&mut state, stepped.changes.unwrap());
    }
    state
}

fn add_all(state: &mut BTreeMap<String, isize>, changes: Changes) {
    fn add<R: serde::Serialize>(state: &mut BTreeMap<String, isize>, table: &str, updates: &Updates<R>) {
        for (row, _, diff) in updates {
            let line = format!("{table} {}", serde_json::to_string(row).unwrap());
            let count = state.entry(line).or_default();
            *count += diff;
        }
    }
    add(state, "documents", &changes.documents);
    add(state, "hyperedges", &changes.hyperedges);
    add(state, "incidence", &changes.incidence);
    add(state, "degrees", &changes.degrees);
    add(state, "entities", &changes.entities);
    add(state, "precedence", &changes.precedence);
    add(state, "conflicts", &changes.conflicts);
    add(state, "rejects", &changes.rejects);
    state.retain(|_, count| *count != 0);
}

/// Whole storms and benchmark texts.
fn corpus() -> Option<Vec<Document>> {
    let mut documents = read_corpus(&shared()?.join("data/cyclone")).unwrap();
    documents.retain(|document| document.key.0.starts_with("nhc/") || document.key.0.starts_with("cyportqa/"));
    Some(documents)
}

/// A seeded shuffle, with one record in twenty sent twice.
fn shuffled(documents: &[Document], topic: &Arc<str>) -> Vec<RawRecord> {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let record = |document: &Document| {
        let payload = serde_json::to_vec(document).unwrap();
        RawRecord::new(topic, document.key.0.as_bytes(), Some(payload))
    };
    let mut records: Vec<RawRecord> = documents.iter().map(record).collect();
    records.extend(documents.iter().step_by(20).map(record));
    for last in (1..records.len()).rev() {
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        records.swap(last, other);
    }
    records
}

#[test]
fn shuffled_and_repeated_records_give_the_hypergraph_of_the_files_in_order() {
    let Some(documents) = corpus() else {
        println!("skipped: no shared data beside the checkout");
        return;
    };
    let Ok(brokers) = std::env::var("KAFKA_BROKERS") else {
        println!("skipped: KAFKA_BROKERS names no broker");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let in_order =
        documents.iter().map(|document| Input::Document(document.key.clone(), Some(document.clone()))).collect();
    let wanted = export(&runtime, 1, in_order);
    assert!(wanted.len() > 100_000, "{} rows", wanted.len());

    let properties: Properties = [("bootstrap.servers".to_owned(), brokers)].into();
    let topic = format!("arrival-{}", std::process::id());
    runtime.block_on(create_topics(&properties, &[&topic], 4)).unwrap();
    let records = shuffled(&documents, &topic.as_str().into());
    let n_records = records.len();
    publish(&properties, records, |_| ()).unwrap();
    for n_workers in [1, 2, 4] {
        let inputs = read(&properties, &topic);
        assert_eq!(inputs.len(), n_records);
        let found = export(&runtime, n_workers, inputs);
        let missing: Vec<_> = wanted.iter().filter(|(row, count)| found.get(*row) != Some(count)).take(3).collect();
        let extra: Vec<_> = found.iter().filter(|(row, count)| wanted.get(*row) != Some(count)).take(3).collect();
        assert!(missing.is_empty() && extra.is_empty(), "{n_workers} workers\nmissing {missing:#?}\nextra {extra:#?}");
    }
}

/// All records of a topic, as inputs, in the order in which they arrive.
fn read(properties: &Properties, topic: &str) -> Vec<Input> {
    let decoder = Decoder { documents: topic.into(), ..Decoder::default() };
    let start = Start { share: Share::ALL, until_end: true, ..Start::default() };
    let source = Source::open(properties, &[topic.to_owned()], start, Limits::default()).unwrap();
    let mut inputs = Vec::new();
    loop {
        match source.feed.next_within(Duration::from_secs(60)) {
            Next::Event(Event::Record(record)) => inputs.push(decoder.decode(&record).unwrap()),
            Next::Event(Event::Rejected(reject) | Event::Skipped(reject, _)) => panic!("{reject:?}"),
            Next::Event(Event::Failed(error)) => panic!("{error}"),
            Next::Event(Event::CaughtUp) => {}
            Next::Nothing => panic!("no record within a minute"),
            Next::Ended => return inputs,
        }
    }
}
