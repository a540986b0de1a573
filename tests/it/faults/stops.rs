//! Signals, and a second process on the same lake.

use std::time::{Duration, Instant};

use super::running::{Place, brokers, refused};

#[test]
fn the_first_signal_commits_and_the_second_ends_at_once_and_a_lake_has_one_process() {
    let Some(brokers) = brokers() else { return };
    let place = Place::new(&brokers);
    place.create_topics();
    let run = place.run(&[], &[]);
    place.send_documents(1..=2);
    place.wait_for_documents(2);

    println!("\nA second process is started on the lake:");
    let holder = format!("process {}", run.id());
    refused(place.run_to_end(&[], &[]), &["in use by another process", &holder, "give this pipeline another lake"]);

    println!("\nOne signal:");
    place.send_documents(3..=3);
    let told = run.stops();
    assert!(told.contains("stopping: the epoch is finished and committed"), "{told}");
    let n_after_one = place.documents().len();
    assert_eq!(place.run_to_end(&[], &[]).0, Some(0));
    assert!(n_after_one >= 2 && place.documents().len() == 3);

    println!("\nTwo signals, while the lake takes long:");
    let mut run = place.run(&[], &[("HYPERCANE_FAULT", "slow:20000"), ("HYPERCANE_LOG", "hypercane=info")]);
    run.says("caught up");
    place.send_documents(4..=4);
    std::thread::sleep(Duration::from_secs(2));
    run.signal("TERM");
    run.says("a second signal stops at once");
    let began = Instant::now();
    run.signal("TERM");
    let (code, _) = run.ends();
    assert_eq!(code, Some(130));
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(place.run_to_end(&[], &[]).0, Some(0));
    place.wait_for_documents(4);
    place.verify();
}
