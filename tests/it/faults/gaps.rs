//! Offsets that expired, and topics whose data are gone: nothing is skipped unless a person says so, and then it is written
//! down.

use hypercane_schemas::Stage;
use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions},
    client::DefaultClientContext,
};

use super::running::{Broker, Place, brokers, refused, runtime};

pub fn admin(address: &str) -> AdminClient<DefaultClientContext> {
    ClientConfig::new().set("bootstrap.servers", address).create().unwrap()
}

/// Deletes the records of the topic of documents below an offset, as retention does.
fn expire(place: &Place, address: &str, below: i64) {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(&place.topic("documents"), 0, Offset::Offset(below)).unwrap();
    runtime().block_on(admin(address).delete_records(&list, &AdminOptions::new())).unwrap();
}

#[test]
fn records_that_are_gone_stop_the_run_until_the_gap_is_accepted_and_written_down() {
    if brokers().is_none() {
        return;
    }
    let broker = Broker::start(&[]);
    let place = Place::new(&broker.address);
    place.create_topics();
    place.send_documents(1..=2);
    assert_eq!(place.run_to_end(&[], &[]).0, Some(0));

    println!("\nThree records expire below the first that is there, before they were read:");
    place.send_documents(3..=6);
    expire(&place, &broker.address, 5);
    let topic = place.topic("documents");
    let words = ["partition 0", &*topic, "offsets 2 to 4", "3 records", "Restore the topic", "--accept-gap"];
    refused(place.run_to_end(&[], &[]), &words);
    assert_eq!(place.documents().len(), 2, "nothing was read over the gap");
    println!("\nThe gap is accepted:");
    let (code, told) = place.run_to_end(&["--accept-gap"], &[]);
    assert!(code == Some(0) && told.contains("a gap is skipped"), "{told}");
    let [gap] = &place.rejects()[..] else { panic!("{:?}", place.rejects()) };
    assert_eq!((gap.stage, gap.partition, gap.offset), (Stage::Gap, Some(0), Some(2)));
    assert!(gap.topic == topic && gap.reason.contains("offsets 2 to 4"), "{gap:?}");
    assert!(place.documents().contains("d6") && place.documents().len() == 3);
    place.verify();
    let (code, told) = place.run_to_end(&[], &[]);
    assert!(code == Some(0) && told.contains("0 records"), "the gap is asked for again: {told}");

    println!("\nThe broker's data are wiped:");
    broker.stop();
    broker.wipe();
    broker.start_again(&[]);
    place.create_topics();
    place.send_documents(7..=7);
    refused(place.run_to_end(&[], &[]), &["partition 0", "ends at offset 1", "up to 6", "made anew", "--accept-gap"]);
    println!("\nThat is accepted:");
    assert_eq!(place.run_to_end(&["--accept-gap"], &[]).0, Some(0));
    assert_eq!(place.rejects().iter().filter(|reject| reject.stage == Stage::Gap).count(), 2);
    assert!(place.documents().contains("d7"));
    place.verify();

    println!("\nThe topic is deleted while the pipeline runs:");
    let mut run = place.run(&["--accept-gap"], &[("HYPERCANE_LOG", "hypercane=info")]);
    run.says("caught up");
    runtime().block_on(admin(&broker.address).delete_topics(&[&topic], &AdminOptions::new())).unwrap();
    refused(run.ends(), &[&topic, "can't be read"]);
}
