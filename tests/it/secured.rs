//! A broker that takes TLS and SASL only: every property goes through to librdkafka, and a wrong password is told.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use hypercane::connect::{
    format::{Decoder, Input},
    kafka::{Properties, Share, Source, Start, create_topics, publish},
    transport::{Event, Limits, Next, RawRecord},
};

use crate::command::root;

fn script(name: &str) -> PathBuf {
    root().join("deploy/kafka").join(name)
}

/// A broker of this test's own, stopped when it goes.
struct Broker {
    folder: tempfile::TempDir,
    address: String,
}

impl Broker {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let started = Command::new(script("start.sh"))
            .arg(folder.path())
            .env("KAFKA_SECURE", "1")
            .env("KAFKA_HEAP", "256m")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let address = String::from_utf8(started.stdout).unwrap().trim().to_owned();
        Self { folder, address }
    }

    fn properties(&self, password: &str) -> Properties {
        let ca = self.folder.path().join("ca.pem");
        let all = [
            ("bootstrap.servers", self.address.as_str()),
            ("security.protocol", "SASL_SSL"),
            ("ssl.ca.location", ca.to_str().unwrap()),
            ("sasl.mechanism", "PLAIN"),
            ("sasl.username", "hypercane"),
            ("sasl.password", password),
        ];
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = Command::new(script("stop.sh")).arg(self.folder.path()).status();
    }
}

#[test]
fn a_secured_broker_is_written_and_read_and_a_wrong_password_is_told() {
    if std::env::var_os("KAFKA_BROKERS").is_none() {
        println!("skipped: KAFKA_BROKERS names no broker, so Kafka may not be here");
        return;
    }
    let broker = Broker::start();
    let password = std::fs::read_to_string(broker.folder.path().join("password")).unwrap();
    let properties = broker.properties(password.trim());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(create_topics(&properties, &["documents"], 2)).unwrap();
    let record = RawRecord::new(&"documents".into(), "a", Some(br#"{"text": "hello"}"#.to_vec()));
    publish(&properties, [record], |_| ()).unwrap();

    let start = Start { share: Share::ALL, until_end: true, ..Start::default() };
    let source = Source::open(&properties, &["documents".to_owned()], start.clone(), Limits::default()).unwrap();
    let mut texts = Vec::new();
    loop {
        match source.feed.next_within(Duration::from_secs(30)) {
            Next::Event(Event::Record(record)) => match Decoder::default().decode(&record).unwrap() {
                Input::Document(_, Some(document)) => texts.push(document.text),
                other => panic!("{other:?}"),
            },
            Next::Event(Event::CaughtUp) => {}
            Next::Event(other) => panic!("{other:?}"),
            Next::Nothing => panic!("nothing within 30 seconds"),
            Next::Ended => break,
        }
    }
    assert_eq!(texts, ["hello"]);

    let wrong = broker.properties("not the password");
    let record = RawRecord::new(&"documents".into(), "b", Some(b"{}".to_vec()));
    let refusals = [
        runtime.block_on(create_topics(&wrong, &["more"], 1)).unwrap_err(),
        publish(&wrong, [record], |_| ()).unwrap_err(),
        Source::open(&wrong, &["documents".to_owned()], start, Limits::default()).unwrap_err(),
    ];
    for error in refusals {
        let told = error.to_string();
        assert!(told.contains("uthentication"), "{error:?}");
        assert!(!error.is_transient(), "{error:?}");
        assert!(!told.contains("not the password"), "{told}");
    }
}
