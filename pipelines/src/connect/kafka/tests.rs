//! Properties and errors without a broker; the rest against a real one, where `KAFKA_BROKERS` names it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::*;
use crate::connect::transport::{Event, Limits, Next, RawRecord, Sink as _};

fn properties(pairs: &[(&str, &str)]) -> Properties {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn wrong_properties_are_named() {
    let open = |pairs: &[(&str, &str)]| {
        Source::open(&properties(pairs), &["documents".into()], Start::default(), Limits::default()).unwrap_err()
    };
    assert!(open(&[]).to_string().contains("bootstrap.servers"));
    let error = open(&[("bootstrap.servers", "127.0.0.1:1"), ("enable.auto.commit", "true")]);
    assert!(error.to_string().contains("enable.auto.commit") && !error.is_transient());
    let error = open(&[("bootstrap.servers", "127.0.0.1:1"), ("securty.protocol", "SSL")]);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("securty.protocol") && !error.is_transient(), "{cause}");
}

#[test]
fn partitions_are_shared_without_gap_or_overlap() {
    for of in 1..5 {
        for partition in 0..20 {
            let n_readers = (0..of).filter(|&index| Share { index, of }.holds(partition)).count();
            assert_eq!(n_readers, 1);
        }
    }
}

fn broker() -> Option<Properties> {
    let Ok(brokers) = std::env::var("KAFKA_BROKERS") else {
        println!("skipped: KAFKA_BROKERS names no broker; deploy/kafka/start.sh starts one");
        return None;
    };
    Some(properties(&[("bootstrap.servers", &brokers)]))
}

/// A topic that no other run has used.
fn topic(name: &str) -> String {
    format!("{name}-{}-{}", std::process::id(), jiff::Timestamp::now().as_nanosecond())
}

async fn created(properties: &Properties, name: &str, n_partitions: i32) -> String {
    let topic = topic(name);
    assert_eq!(create_topics(properties, &[&topic], n_partitions).await.unwrap(), [topic.as_str()]);
    assert_eq!(create_topics(properties, &[&topic], n_partitions).await.unwrap(), [] as [&str; 0]);
    topic
}

fn numbered(topic: &str, numbers: std::ops::Range<usize>, n_bytes: usize) -> impl Iterator<Item = RawRecord> {
    let topic: Arc<str> = Arc::from(topic);
    numbers.map(move |n| {
        let payload = (n % 10 != 3).then(|| format!("{n} {}", "x".repeat(n_bytes)).into_bytes());
        RawRecord::new(&topic, format!("k{n}"), payload)
    })
}

fn read(properties: &Properties, topics: &[String], start: Start) -> Vec<RawRecord> {
    let start = Start { until_end: true, ..start };
    let source = Source::open(properties, topics, start, Limits { records: 16, bytes: 1 << 20 }).unwrap();
    let mut records = Vec::new();
    let mut caught_up = 0;
    for event in source.feed.iter() {
        match event {
            Event::Record(record) => records.push(record),
            Event::CaughtUp => caught_up += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(caught_up, 1);
    records
}

#[tokio::test(flavor = "multi_thread")]
async fn records_go_round_and_reading_resumes_at_the_offsets_given() {
    let Some(properties) = broker() else { return };
    let topics = [created(&properties, "documents", 3).await, created(&properties, "queries", 1).await];
    let sent: Vec<RawRecord> = numbered(&topics[0], 0..500, 10).chain(numbered(&topics[1], 0..50, 10)).collect();
    assert_eq!(publish(&properties, sent.clone(), |_| {}).unwrap(), 550);

    let bare = |records: &[RawRecord]| {
        let mut bare: Vec<_> =
            records.iter().map(|r| (r.topic.to_string(), r.key.clone(), r.payload.clone())).collect();
        bare.sort();
        bare
    };
    let all = read(&properties, &topics, Start::default());
    assert_eq!(bare(&all), bare(&sent));

    // Each partition half read: the rest comes, and only that.
    let mut start = Start::default();
    let mut rest = Vec::new();
    for (topic, partition) in [(&topics[0], 0), (&topics[0], 1), (&topics[0], 2), (&topics[1], 0)] {
        let of: Vec<_> =
            all.iter().filter(|r| &*r.topic == topic.as_str() && r.partition == Some(partition)).cloned().collect();
        assert!(of.is_sorted_by_key(|record| record.offset) && of.len() > 10);
        start.offsets.insert((topic.clone(), partition), of[of.len() / 2].offset.unwrap());
        rest.extend_from_slice(&of[of.len() / 2..]);
    }
    assert_eq!(bare(&read(&properties, &topics, start)), bare(&rest));

    let shares = (0..2)
        .flat_map(|index| read(&properties, &topics, Start { share: Share { index, of: 2 }, ..Start::default() }));
    assert_eq!(bare(&shares.collect::<Vec<_>>()), bare(&sent));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_source_goes_on_after_it_caught_up_and_commits_for_monitors() {
    let Some(properties) = broker() else { return };
    let topic = created(&properties, "results", 1).await;
    let source = Source::open(&properties, std::slice::from_ref(&topic), Start::default(), Limits::default()).unwrap();
    let next = || source.feed.next_within(Duration::from_secs(20));
    assert!(matches!(next(), Next::Event(Event::CaughtUp)));
    let mut sink = Sink::open(&properties).unwrap();
    sink.send(&topic, b"k", Some(b"late")).unwrap();
    sink.flush(1).unwrap();
    assert!(matches!(next(), Next::Event(Event::Record(record)) if record.payload.as_deref() == Some(b"late")));
    source.commit(&BTreeMap::from([((topic, 0), 1)])).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_topics_and_lost_offsets_are_errors_that_last() {
    let Some(properties) = broker() else { return };
    let missing = Source::open(&properties, &["no-such-topic".into()], Start::default(), Limits::default());
    assert!(missing.unwrap_err().to_string().contains("no-such-topic"));

    let topic = created(&properties, "documents", 1).await;
    let start = Start { offsets: BTreeMap::from([((topic.clone(), 0), 1000)]), ..Start::default() };
    let error = Source::open(&properties, &[topic], start, Limits::default()).unwrap_err();
    assert!(error.to_string().contains("up to 1000") && !error.is_transient(), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_holds_little_and_gets_all() {
    let Some(properties) = broker() else { return };
    let topic = created(&properties, "bulk", 4).await;
    let n_records = 100_000;
    let began = Instant::now();
    publish(&properties, numbered(&topic, 0..n_records, 1024), |_| {}).unwrap();
    println!("published {:.0} records of 1 KiB a second", n_records as f64 / began.elapsed().as_secs_f64());

    let limits = Limits { records: 1000, bytes: 1 << 20 };
    let start = Start { until_end: true, ..Start::default() };
    let source = Source::open(&properties, &[topic], start, limits).unwrap();
    let before = resident_kib();
    std::thread::sleep(Duration::from_secs(2));
    println!("held while the reader sleeps: {} KiB", resident_kib().saturating_sub(before));
    let began = Instant::now();
    let n_read = source.feed.iter().filter(|event| matches!(event, Event::Record(_))).count();
    println!("read {:.0} records of 1 KiB a second", n_read as f64 / began.elapsed().as_secs_f64());
    assert_eq!(n_read, n_records);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_restarts_loses_nothing_and_stops_nobody() {
    if broker().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = |name: &str, port: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/kafka").join(name);
        let mut command = std::process::Command::new(path);
        command.arg(dir.path()).args((!port.is_empty()).then_some(port));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let address = script("start.sh", "");
    let properties = properties(&[("bootstrap.servers", &address)]);
    let topic = created(&properties, "documents", 2).await;
    let source = Source::open(&properties, std::slice::from_ref(&topic), Start::default(), Limits::default()).unwrap();
    publish(&properties, numbered(&topic, 0..1000, 100), |_| {}).unwrap();

    script("stop.sh", "");
    let sender = std::thread::spawn({
        let (properties, topic) = (properties.clone(), topic.clone());
        move || publish(&properties, numbered(&topic, 1000..2000, 100), |_| {})
    });
    std::thread::sleep(Duration::from_secs(2));
    script("start.sh", address.rsplit(':').next().unwrap());
    assert_eq!(sender.join().unwrap().unwrap(), 1000);

    let mut keys = std::collections::BTreeSet::new();
    let until = Instant::now() + Duration::from_secs(60);
    while keys.len() < 2000 && Instant::now() < until {
        match source.feed.next_within(Duration::from_millis(100)) {
            Next::Event(Event::Record(record)) => assert!(keys.insert(record.key), "a record came twice"),
            Next::Event(Event::CaughtUp) | Next::Nothing => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(keys.len(), 2000);
    drop(source);
    script("stop.sh", "");
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn brokers_that_are_away_are_a_transient_error() {
    let away = properties(&[("bootstrap.servers", "127.0.0.1:1"), ("message.timeout.ms", "300")]);
    let mut sink = Sink::open(&away).unwrap();
    sink.send("results", b"k", None).unwrap();
    let error = sink.flush(1).unwrap_err();
    assert!(error.is_transient(), "{error}");
}
