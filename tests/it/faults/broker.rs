//! Brokers that are down at the start, go away and come back; partitions that are added; topics that are not there.

use std::time::Duration;

use hypercane::connect::{kafka::publish, transport::RawRecord};
use rdkafka::admin::{AdminOptions, NewPartitions};

use super::running::{Broker, Place, brokers, document, refused, runtime};
use crate::faults::gaps::admin;

#[test]
fn a_broker_may_come_late_go_away_and_come_back_and_partitions_may_be_added() {
    if brokers().is_none() {
        return;
    }
    let broker = Broker::start(&[]);
    let place = Place::new(&broker.address);
    broker.stop();

    println!("\nThe broker is down at the start; then it comes:");
    let mut run = place.run(&[], &[]);
    run.says("no broker answers yet");
    run.says("Connection refused");
    broker.start_again(&[]);
    run.says("the brokers answer now");
    place.send_documents(1..=2);
    place.wait_for_documents(2);

    println!("\nThe broker goes away and comes back, with a record that can't be delivered meanwhile:");
    let n_told = run.told().matches("Connection refused").count();
    broker.stop();
    run.says_times("Connection refused", n_told + 1);
    std::thread::sleep(Duration::from_secs(2));
    broker.start_again(&[]);
    place.send_documents(3..=3);
    place.send([("bad".to_owned(), b"no json".to_vec())]);
    place.wait_for_documents(3);

    println!("\nPartitions are added to the topic of documents:");
    let name = place.topic("documents");
    let more = [NewPartitions::new(&name, 3)];
    let added = runtime().block_on(admin(&broker.address).create_partitions(&more, &AdminOptions::new())).unwrap();
    assert!(added.iter().all(Result::is_ok), "{added:?}");
    let topic = name.as_str().into();
    let to_partition = |partition: i32, number: usize| RawRecord {
        partition: Some(partition),
        ..RawRecord::new(&topic, format!("d{number}"), Some(document(number)))
    };
    publish(&place.properties(), [to_partition(1, 4), to_partition(2, 5)], |_| ()).unwrap();
    place.wait_for_documents(5);
    run.stops();
    assert_eq!(place.rejects().len(), 1);
    place.verify();

    let (code, told) = place.run_to_end(&[], &[]);
    assert!(code == Some(0) && told.contains("resumed from epoch") && told.contains("0 records"), "{told}");
}

#[test]
fn a_topic_that_is_missing_is_named() {
    let Some(brokers) = brokers() else { return };
    let place = Place::new(&brokers);
    let config = place.config();
    let text = std::fs::read_to_string(&config).unwrap().replace("create_partitions = 1\n", "");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    println!("\nA topic is missing:");
    let run = super::running::Running::start(&["run", &file.path().to_string_lossy()], &[]);
    refused(run.ends(), &[&place.topic("documents"), "create it", "create_partitions"]);
}
