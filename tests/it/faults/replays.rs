//! Rejects that are sent again after a fix: once, however often it is asked for.

use hypercane::{
    connect::kafka::publish,
    replay::{Again, again},
};
use hypercane_schemas::{Reject, Stage};

use super::running::{Place, brokers, document, refused};
use crate::command::hypercane;

const SMALL: (&str, &str) = ("HYPERCANE__PIPELINE__MAX_RECORD_BYTES", "1000");

fn replay(place: &Place, more: &[&str]) -> String {
    let config = place.config();
    let output = hypercane(&[&["replay-rejects", "--config", config.as_str()], more].concat(), &[]);
    let told = String::from_utf8([&output.stdout[..], &output.stderr[..]].concat()).unwrap();
    println!("{told}");
    assert_eq!(output.status.code(), Some(0), "{told}");
    told
}

/// A good document of more than 1000 bytes.
fn large() -> Vec<u8> {
    let text = format!("Port Condition YANKEE is set for the Port of Houston.{}", " ".repeat(1000));
    serde_json::json!({ "text": text, "source_kind": "port_post", "issued_at": "2020-08-25T00:00:00Z" })
        .to_string()
        .into_bytes()
}

#[test]
fn a_reject_is_sent_again_once_and_goes_in_the_commit_of_what_follows_from_it() {
    let Some(brokers) = brokers() else { return };
    let place = Place::new(&brokers);
    place.create_topics();
    place.send_documents(1..=1);
    place.send([("large".into(), large()), ("bad".into(), b"no json".to_vec())]);
    place.send([("prose".into(), br#"{"text": "The meeting is moved."}"#.to_vec())]);
    assert_eq!(place.run_to_end(&[], &[SMALL]).0, Some(0));
    let rejected = |key: &str| place.rejects().into_iter().find(|reject| reject.key == key);
    let (too_large, no_json) = (rejected("large").unwrap(), rejected("bad").unwrap());
    assert!(too_large.reason.contains("max_record_bytes") && rejected("prose").unwrap().stage == Stage::Extract);

    println!("\nThe limit is raised. What would be sent again:");
    let told = replay(&place, &["--dry-run"]);
    assert!(told.contains("2 of 3 rejects would be sent again") && told.contains("next start"), "{told}");
    println!("\nIt is sent, twice:");
    let told = replay(&place, &["--json"]);
    let lines = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let sent: Vec<_> = lines.filter(|line| line["outcome"] == "sent").collect();
    assert!(sent.len() == 2 && sent.iter().all(|line| line["stage"] == "decode"), "{told}");
    let told = replay(&place, &["--stage", "decode"]);
    assert!(told.contains("0 of 2 rejects sent again") && told.contains("sent before"), "{told}");
    // Two commands at the same moment do not see each other's records: the pipeline leaves the second copies out.
    let Again::Record(copy) = again(&no_json) else { panic!("{no_json:?}") };
    publish(&place.properties(), [copy.clone(), copy], |_| ()).unwrap();

    println!("\nThe pipeline reads it:");
    let (code, told) = place.run_to_end(&[], &[]);
    assert!(code == Some(0) && told.contains("4 records"), "{told}");
    assert!(place.documents().contains("large") && rejected("large").is_none());
    let of_bad: Vec<Reject> = place.rejects().into_iter().filter(|reject| reject.key == "bad").collect();
    let [still] = &of_bad[..] else { panic!("{of_bad:?}") };
    assert!(still.offset > no_json.offset && still.payload_base64 == no_json.payload_base64, "{still:?}");
    place.verify();
    println!("\nWhat failed again can be sent again, by its new place:");
    assert!(replay(&place, &["--stage", "decode", "--dry-run"]).contains("1 of 1 rejects would be sent again"));
    assert!(replay(&place, &["--since", "1000"]).contains("0 of 0 rejects"));
}

#[test]
fn files_are_replayed_by_reading_them_again() {
    if brokers().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (inbox, lake) = (folder.path().join("inbox"), folder.path().join("lake"));
    std::fs::create_dir(&inbox).unwrap();
    std::fs::write(inbox.join("a.jsonl"), b"{\"topic\": \"documents\", \"key\": \"a\", \"value\": {\"txt\": 1}}\n")
        .unwrap();
    let config = folder.path().join("files.toml");
    let text = format!("[source.files]\npaths = [{:?}]\n[lake]\nlocation = {:?}\n", inbox.display(), lake.display());
    std::fs::write(&config, text).unwrap();
    let config = config.to_string_lossy().into_owned();
    let place = Place::with_lake("no broker", lake);
    let run = || super::running::Running::start(&["run", &config], &[]).ends();
    for _ in 0..2 {
        assert_eq!(run().0, Some(0));
        assert_eq!(place.rejects().len(), 1, "the same failure is one row, however often the file is read");
    }
    println!("\nWith files as source:");
    let told = super::running::Running::start(&["replay-rejects", "--config", &config], &[]).ends();
    refused(told, &["correct a file and run the pipeline again"]);
    let value: serde_json::Value = serde_json::from_slice(&document(1)).unwrap();
    let line = serde_json::json!({ "topic": "documents", "key": "a", "value": value }).to_string();
    std::fs::write(inbox.join("a.jsonl"), line).unwrap();
    assert_eq!(run().0, Some(0));
    assert!(place.rejects().is_empty() && place.documents().contains("a"), "{:?}", place.rejects());
}
