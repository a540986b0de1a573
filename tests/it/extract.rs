//! `hypercane extract`: a plan before any call, answers into the lake, and no call for what is on record.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use crate::command::hypercane;

const KEY: &str = "sk-of-the-test";

/// An endpoint that says one fact of every passage, and counts how often it was asked. It ends with the process.
fn endpoint() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let n_calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_calls);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            answer(stream);
        }
    });
    (address, n_calls)
}

fn answer(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut n_body, mut has_key) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim().to_lowercase();
        has_key |= line == format!("authorization: bearer {KEY}");
        if let Some(length) = line.strip_prefix("content-length:") {
            n_body = length.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; n_body];
    reader.read_exact(&mut body).unwrap();
    let fact =
        json!({"text": "Ada lived in London.", "entities": ["Ada", "London"], "relation": "lived in", "conf": 0.9});
    let said = json!({"entities": [], "hyperedges": [fact], "relations": []}).to_string();
    let (status, reply) = if has_key {
        ("200 OK", json!({"choices": [{"message": {"content": said}}], "usage": {"total_tokens": 50}}))
    } else {
        ("401 Unauthorized", json!({"error": {"message": "no key"}}))
    };
    let reply = reply.to_string();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", reply.len());
    stream.write_all((head + &reply).as_bytes()).unwrap();
}

#[test]
fn documents_are_asked_about_once_and_a_dry_run_asks_nothing() {
    let (address, n_calls) = endpoint();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let corpus = dir.path().join("in");
    fs::create_dir(&corpus).unwrap();
    fs::write(corpus.join("a.txt"), "Ada lived in London.").unwrap();
    fs::write(corpus.join("b.txt"), "Ada left London.").unwrap();
    let config = dir.path().join("config.toml");
    let text = format!(
        "[pipeline]\ndomain = \"general\"\n[source.files]\npaths = [\"{folder}/in\"]\n[lake]\nlocation = \"{folder}/lake\"\n\
         [language_model]\nbase_url = \"{address}\"\nmodel = \"m\"\nkey_env = \"M_KEY\"\n"
    );
    fs::write(&config, text).unwrap();
    let run = |more: &[&str], key: &str| {
        let config = config.to_str().unwrap();
        let arguments = [&["extract", "--config", config], more, &[corpus.to_str().unwrap()]].concat();
        let output = hypercane(&arguments, &[("M_KEY", key)]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains(KEY), "{told}");
        (output.status.success(), String::from_utf8(output.stdout).unwrap(), told)
    };

    let (ok, _, told) = run(&["--dry-run"], KEY);
    assert!(ok && told.contains("0 of 2 passages are on record for m") && told.contains("2 calls"), "{told}");
    assert_eq!(n_calls.load(Ordering::SeqCst), 0);

    let (ok, _, told) = run(&[], "another");
    assert!(!ok && told.contains("HTTP 401: no key") && told.contains("key_env"), "{told}");
    let n_refused = n_calls.load(Ordering::SeqCst);

    for n_asked in [2, 2] {
        let (ok, report, told) = run(&["--json"], KEY);
        let report: Value = serde_json::from_str(&report).unwrap_or_else(|e| panic!("{e}: {report} {told}"));
        assert!(ok && report["facts"] == 2 && report["unanswered"] == 0, "{report} {told}");
        assert_eq!(n_calls.load(Ordering::SeqCst), n_refused + n_asked);
    }
    assert!(dir.path().join("lake/model_texts/_delta_log").is_dir());
}
