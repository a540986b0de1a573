//! Leaders that move from one broker of a cluster to another.

use super::running::{Broker, Place, brokers};

#[test]
fn a_leader_that_moves_stops_nobody() {
    if brokers().is_none() {
        return;
    }
    let replicated = [("KAFKA_PROPERTIES", "default.replication.factor=2")];
    let first = Broker::start(&replicated);
    let join = first.folder().to_string_lossy().into_owned();
    let joined = [("KAFKA_JOIN", join.as_str()), replicated[0]];
    let second = Broker::start(&joined);
    let place = Place::new(&format!("{},{}", first.address, second.address));
    // Of the partitions of five topics, each broker leads some.
    let run = place.run(&[], &[("HYPERCANE__SOURCE__KAFKA__CREATE_PARTITIONS", "4")]);
    place.create_topics();
    place.send_documents(1..=8);
    place.wait_for_documents(8);
    println!("\nA broker goes, and the leaders with it:");
    second.stop();
    place.send_documents(9..=16);
    place.wait_for_documents(16);
    println!("\nIt comes back:");
    second.start_again(&joined);
    place.send_documents(17..=24);
    place.wait_for_documents(24);
    run.stops();
    place.verify();
}
