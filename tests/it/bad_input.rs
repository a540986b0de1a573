//! Bad input is data: what is wrong, where, and what to do is said; the stream goes on; nothing is lost.
//!
//! Records go through the real loop: decoder, dataflow with a model of hashed words, a lake in a temporary folder. What
//! concerns the command is tried with the command.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    process::Output,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use hypercane::{
    connect::{
        embed::{EmbedService, Hashed, MemoryStore, Recorded, ServiceSettings},
        format::Decoder,
        lake::{self, Lake},
        memory, packs,
        transport::{Limits, RawRecord},
    },
    pipeline::Pipeline,
    run::{Progress, Settings, run},
};
use hypercane_operators::extract;
use hypercane_schemas::{Document, HorizonUpdate, Hyperedge, Query, Record, Reject, Stage};

use crate::{
    command::{hypercane, root, unread},
    hypergraph::forecast_advisory,
};

/// A message: topic, key, payload.
type Message = (&'static str, String, Option<Vec<u8>>);

/// What stands in the lake after a run, and what was sent to the topic of rejects.
struct Outcome {
    progress: Progress,
    documents: BTreeSet<String>,
    horizons: BTreeSet<String>,
    queries: BTreeSet<String>,
    /// Documents that support a fact.
    supporters: BTreeSet<String>,
    /// Texts of the facts.
    texts: Vec<String>,
    rejects: Vec<Reject>,
    sent: Vec<Reject>,
}

impl Outcome {
    fn rejects_of(&self, key: &str) -> Vec<&Reject> {
        self.rejects.iter().filter(|reject| reject.key == key).collect()
    }
}

/// Runs messages through a whole pipeline to the end.
fn outcome(messages: Vec<Message>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let location = folder.path().join("lake").to_string_lossy().into_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let lake = runtime.block_on(Lake::open(&location, "bad-input", lake::Options::default())).unwrap();
    let service = EmbedService::start(Arc::new(Hashed), &ServiceSettings::default()).unwrap();
    let recorded = Arc::new(Recorded::new(service, Arc::new(MemoryStore::default())));
    let domain = Arc::new(packs::load("cyclone").unwrap());
    let mut pipeline = runtime.block_on(Pipeline::start(2, domain, recorded, Some(lake.clone()))).unwrap();
    let (mut writer, feed) = memory::topics(Limits::default());
    let writing = std::thread::spawn(move || {
        for (topic, key, payload) in messages {
            let key = (!key.is_empty()).then(|| key.into_bytes());
            assert!(
                writer.send_raw(RawRecord { key, ..RawRecord::new(&topic.into(), "", payload) }),
                "the feed has gone"
            );
        }
    });
    let mut sink = memory::Sink::default();
    let settings = Settings {
        decoder: Decoder::default(),
        max_epoch_records: 16,
        commit_interval: Duration::from_millis(100),
        results: "results".into(),
        rejects: "rejects".into(),
    };
    let stop = AtomicBool::new(false);
    let progress = run(&runtime, &mut pipeline, &feed, &mut sink, &settings, &stop, |_| {}).unwrap();
    writing.join().unwrap();
    let sent = sink.take().into_iter().filter(|record| record.topic == "rejects");
    let sent = sent.map(|record| serde_json::from_slice(&record.payload.unwrap()).unwrap()).collect();
    let hyperedges: Vec<Hyperedge> = standing(&runtime, &lake);
    let supporters =
        hyperedges.iter().flat_map(|hyperedge| &hyperedge.provenance).map(|place| place.document.0.clone()).collect();
    Outcome {
        progress,
        documents: standing::<Document>(&runtime, &lake).into_iter().map(|row| row.key.0).collect(),
        horizons: standing::<HorizonUpdate>(&runtime, &lake).into_iter().map(|row| row.group.0).collect(),
        queries: standing::<Query>(&runtime, &lake).into_iter().map(|row| row.id.0).collect(),
        supporters,
        texts: hyperedges.into_iter().map(|hyperedge| hyperedge.text).collect(),
        rejects: standing(&runtime, &lake),
        sent,
    }
}

fn standing<R: Record>(runtime: &tokio::runtime::Runtime, lake: &Lake) -> Vec<R> {
    let rows = runtime.block_on(lake.read::<R>(None)).unwrap();
    rows.into_iter().filter(|(_, count)| *count > 0).map(|(row, _)| row).collect()
}

fn document(text: &str) -> Vec<u8> {
    serde_json::to_vec(&serde_json::json!({ "text": text })).unwrap()
}

fn post(text: &str) -> Vec<u8> {
    serde_json::to_vec(&serde_json::json!({ "text": text, "source_kind": "port_post" })).unwrap()
}

/// A text that ships with the demonstration.
fn demo_text(name: &str) -> String {
    fs::read_to_string(root().join("data/demo").join(name)).unwrap()
}

#[test]
fn a_record_that_cannot_be_used_is_kept_with_its_reason_and_the_stream_goes_on() {
    let good = |number| document(&forecast_advisory(1, number, 0, 2, 0));
    // Topic, payload, and words of the reason: what is wrong, where, what to do.
    let decoded: [(&'static str, &[u8], &[&str]); 17] = [
        ("documents", b"BULLETIN HURRICANE NONE", &["not JSON", "line 1", "hypercane publish"]),
        ("documents", b"{\"text\": \"cut in the mid", &["not JSON", "EOF", "line 1"]),
        ("documents", b"{\"titel\": \"x\", \"text\": \"y\"}", &["unknown field `titel`", "`title`"]),
        ("documents", b"{\"title\": \"no text\"}", &["missing field `text`"]),
        ("documents", b"[1, 2, 3]", &["no object"]),
        ("documents", b"{\"text\": 17}", &["field `text`", "expected a string"]),
        ("documents", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &["not UTF-8", "0x89", "send JSON"]),
        ("documents", b"", &["empty", "null payload"]),
        ("documents", b"   \n\t ", &["not JSON", "EOF"]),
        ("documents", b"{\"text\": \" \\n\\t\\u00a0 \"}", &["holds no text", "null payload"]),
        ("documents", b"{\"text\": \"a\\u0000b\"}", &["NUL"]),
        ("documents", b"{\"text\": \"a\", \"issued_at\": \"0000-01-01T00:00:00Z\"}", &["issued_at", "year 0", "1800"]),
        ("documents", b"{\"text\": \"a\", \"reliability\": 3}", &["reliability", "3", "at most 1"]),
        (
            "horizons",
            b"{\"group\": \"bad/13\", \"reference_event\": \"landfall\", \"reference_at\": \"0000-06-01T00:00:00Z\", \"issued_at\": \"2020-08-12T00:00:00Z\"}",
            &["reference_at", "year 0"],
        ),
        ("queries", b"{\"question\": \"Which ports?\", \"mode\": \"guess\"}", &["field `mode`", "`guess`", "`trajectory`"]),
        ("queries", b"{\"question\": \"  \"}", &["no question"]),
        ("weather", b"{}", &["weather", "documents, horizons or queries"]),
    ];
    let mut messages: Vec<Message> = vec![("documents", "good/first".into(), Some(good(1)))];
    for (idx, (topic, payload, _)) in decoded.iter().enumerate() {
        messages.push((topic, format!("bad/{idx}"), Some(payload.to_vec())));
    }
    messages.push(("documents", "bad/huge".into(), Some(vec![b' '; 50 << 20])));
    messages.push(("documents", String::new(), None));
    messages.push(("queries", "good/query".into(), Some(b"{\"question\": \"Where is Alder?\"}".to_vec())));
    messages.push(("documents", "good/last".into(), Some(good(2))));
    let n_messages = messages.len();
    let found = outcome(messages);

    for (idx, (topic, payload, words)) in decoded.iter().enumerate() {
        let key = format!("bad/{idx}");
        let rejects = found.rejects_of(&key);
        let [reject] = rejects[..] else { panic!("{key}: {} rejects", rejects.len()) };
        for word in *words {
            assert!(reject.reason.contains(word), "{key}: {word:?} is not in {:?}", reject.reason);
        }
        assert_eq!((reject.topic.as_str(), reject.stage, reject.partition), (*topic, Stage::Decode, Some(0)), "{key}");
        assert!(reject.offset.is_some(), "{key} has no place");
        assert_eq!(reject.payload_base64, base64_of(payload), "{key}: the bytes are not kept");
    }
    let [huge] = found.rejects_of("bad/huge")[..] else { panic!("the record of 50 MB is not a reject") };
    for word in ["52428800 bytes", "8388608 are taken", "max_record_bytes"] {
        assert!(huge.reason.contains(word), "{word:?} is not in {:?}", huge.reason);
    }
    assert!(huge.payload_base64.is_empty() && huge.offset.is_some(), "the place stands for the bytes");
    assert!(found.rejects_of("")[0].reason.contains("send a key"));

    assert_eq!(found.progress.n_records, n_messages as u64);
    assert_eq!(found.documents, ["good/first", "good/last"].map(String::from).into());
    assert_eq!(found.supporters, found.documents, "every good document supports a fact");
    assert_eq!(found.queries, ["good/query".to_owned()].into());
    assert!(found.horizons.is_empty());
    assert_eq!(found.rejects.len(), decoded.len() + 2);
    let ids = |rejects: &[Reject]| rejects.iter().map(|reject| reject.id).collect::<BTreeSet<_>>();
    assert_eq!(ids(&found.rejects), ids(&found.sent), "table and topic hold the same rejects");
}

/// Base64 by its definition; the decoder's own encoder is not asked.
fn base64_of(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| -> String {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let digit = |idx| if idx <= group.len() { DIGITS[(bits >> (18 - 6 * idx) & 63) as usize] as char } else { '=' };
        (0..4).map(digit).collect()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn a_text_that_cannot_be_read_is_kept_and_says_its_line() {
    let of_year = |year: &str| forecast_advisory(1, 1, 0, 2, 0).replace("AUG 10 2020", &format!("AUG 10 {year}"));
    let bad: BTreeMap<&str, (Vec<u8>, &[&str])> = [
        ("prose", (document("Dear all, the meeting is moved to Thursday."), &["product"] as &[&str])),
        ("year-0", (document(&of_year("0000")), &["0000"])),
        ("letters", (document(&"A ".repeat(3 << 20)), &["product"])),
        ("symbols", (document(&"\u{1f300}\u{202e}\u{fffd}\u{7f}\u{1b}[31m".repeat(1000)), &["product"])),
        ("letters-as-post", (post(&"A ".repeat(3 << 20)), &[])),
        ("symbols-as-post", (post(&"\u{1f300}\u{202e}\u{fffd}\u{7f}\u{1b}[31m".repeat(1000)), &[])),
    ]
    .into();
    let mut messages: Vec<Message> =
        bad.iter().map(|(key, (payload, _))| ("documents", (*key).to_owned(), Some(payload.clone()))).collect();
    messages.push(("documents", "good".into(), Some(document(&forecast_advisory(1, 1, 0, 2, 0)))));
    let found = outcome(messages);
    for (key, (_, words)) in &bad {
        let rejects = found.rejects_of(key);
        let Some(reject) = rejects.first() else { panic!("{key} is no reject") };
        assert!(reject.line.is_some() && reject.reason.len() > 20, "{key}: {:?}", reject.reason);
        for word in *words {
            assert!(reject.reason.contains(word), "{key}: {word:?} is not in {:?}", reject.reason);
        }
        assert!(found.documents.contains(*key), "{key}: the text itself is not kept");
    }
    assert_eq!(found.supporters, ["good".to_owned()].into());
}

#[test]
fn a_port_that_no_table_holds_keeps_its_name_and_is_told() {
    let found = outcome(vec![("documents", "port".into(), Some(post(&demo_text("post_unknown_port.txt"))))]);
    let is_told = found.rejects_of("port").iter().any(|reject| reject.reason.contains("Larkspur Landing"));
    let is_kept = found.texts.iter().any(|text| text.contains("Larkspur Landing"));
    assert!(is_told && is_kept, "told {is_told}, kept {is_kept}: {:?}", found.texts);
}

#[test]
fn a_text_cut_anywhere_gives_facts_or_a_reason() {
    let domain = packs::load("cyclone").unwrap();
    let mut names: Vec<PathBuf> = fs::read_dir(root().join("data/demo")).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    names.sort();
    let mut n_cuts = 0;
    for path in names {
        let text = fs::read_to_string(&path).unwrap();
        let n_lines = text.lines().count() as u32;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let source_kind = ["post", "msib"].into_iter().find(|kind| name.starts_with(kind));
        // A prime, so that cuts fall on every part of a line.
        for at in (1..text.len()).step_by(13).filter(|at| text.is_char_boundary(*at)) {
            n_cuts += 1;
            let mut cut = Document::plain("cut", &text[..at]);
            cut.source_kind = source_kind.map(|kind| if kind == "post" { "port_post" } else { kind }.to_owned());
            let place = || format!("{}, cut at byte {at}", path.display());
            match extract::read(&cut, &domain).remove(0) {
                Ok(read) => {
                    let (facts, failures) = (&read.extraction.facts, &read.extraction.failures);
                    assert!(!facts.is_empty() || !failures.is_empty(), "{}: nothing is said", place());
                    let numbered = ["tcm", "tcp", "tcu", "pws"].iter().any(|kind| name.starts_with(kind));
                    let closed = text[..at].lines().any(|line| line.trim() == "$$");
                    assert!(!numbered || closed || !failures.is_empty(), "{}: the cut is not told", place());
                    for failure in failures {
                        assert!(failure.line <= n_lines && !failure.reason.is_empty(), "{}: {failure:?}", place());
                    }
                }
                Err(failure) => {
                    assert!(failure.line <= n_lines && !failure.reason.is_empty(), "{}: {failure:?}", place());
                }
            }
        }
    }
    assert!(n_cuts > 1000, "{n_cuts} cuts");
}

#[test]
fn a_cut_text_is_replaced_by_the_whole_one_under_its_key() {
    let text = demo_text("tcm_027.txt");
    let cuts = (1..8).map(|part| text.len() * part / 8).filter(|at| text.is_char_boundary(*at));
    let mut messages: Vec<Message> =
        cuts.map(|at| ("documents", format!("cut/{at}"), Some(document(&text[..at])))).collect();
    let keys: Vec<String> = messages.iter().map(|(_, key, _)| key.clone()).collect();
    let found = outcome(messages.clone());
    for key in &keys {
        let is_seen = found.supporters.contains(key) || !found.rejects_of(key).is_empty();
        assert!(found.documents.contains(key) && is_seen, "{key} is lost");
    }
    messages.extend(keys.iter().map(|key| ("documents", key.clone(), Some(document(&text)))));
    let healed = outcome(messages);
    let left: Vec<_> = healed.rejects.iter().map(|reject| (&reject.key, reject.line, &reject.reason)).collect();
    let whole = outcome(vec![("documents", "cut/whole".into(), Some(document(&text)))]);
    assert_eq!(left.len(), whole.rejects.len() * keys.len(), "rejects of the cut texts are left: {left:?}");
}

/// Fails unless the command refused, with all words in its message and no word of a panic.
#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it went through: {message}");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in the message:\n{message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

const SOURCE: &str = "[source.files]\npaths = [\"data/demo/tcm_019.txt\"]\n";

/// Runs a pipeline with a configuration.
fn run_config(text: &str, variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pipeline.toml");
    fs::write(&file, text).unwrap();
    hypercane(&["run", &file.to_string_lossy()], variables)
}

#[test]
fn a_misspelt_key_of_the_configuration_is_named_with_its_file_and_line() {
    let misspelt = format!("{SOURCE}[lake]\nlocation = \"lake\"\n[pipeline]\nworkes = 4\n");
    refused(&run_config(&misspelt, &[]), &["pipeline.toml", "line 6", "workes", "workers"]);
    let of_wrong_type = format!("{SOURCE}[lake]\nlocation = \"lake\"\n[pipeline]\nworkers = \"four\"\n");
    refused(&run_config(&of_wrong_type, &[]), &["pipeline.toml", "line 6", "workers", "string"]);
    let without_lake = SOURCE.to_owned();
    refused(&run_config(&without_lake, &[]), &["pipeline.toml", "lake"]);
    let good = format!("{SOURCE}[lake]\nlocation = \"lake\"\n");
    refused(&run_config(&good, &[("HYPERCANE__LAKE__LOCATON", "x")]), &["HYPERCANE__LAKE__LOCATON", "location"]);
    refused(&hypercane(&["run", "no/such/file.toml"], &[]), &["no/such/file.toml", "No such file"]);
}

#[test]
fn a_lake_that_cannot_be_written_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a_file");
    fs::write(&file, "no folder").unwrap();
    let inside_a_file = file.join("lake").to_string_lossy().into_owned();
    let config = format!("{SOURCE}[lake]\nlocation = {inside_a_file:?}\n");
    refused(&run_config(&config, &[]), &["a_file/lake", "choose another folder"]);
    let nowhere = format!("{SOURCE}[lake]\nlocation = \"carrier-pigeon://coop/lake\"\n");
    refused(&run_config(&nowhere, &[]), &["carrier-pigeon://coop/lake", "give a folder"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "no folder", "what was there is left alone");
}

#[test]
fn a_reader_that_goes_is_no_error_and_a_full_disk_is_one() {
    let output = unread(&["schema"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut command = std::process::Command::new(crate::command::path());
    command.arg("schema").stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("standard output can't be written"), "{told}");
}
