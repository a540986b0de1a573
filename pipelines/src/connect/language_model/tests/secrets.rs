//! The key is in one header, and nowhere else.

use std::{
    io,
    sync::{Arc, Mutex},
};

use tracing_subscriber::fmt::MakeWriter;

use super::{ANSWER, ApiKey, Reply, Server, Settings, client_with, passages, prompt};
use crate::connect::{
    self,
    language_model::{Extractor, FileTexts},
};

const KEY: &str = "sk-8f2e71c0-do-not-show";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_log_record_error_or_debug_form_shows_the_key() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    // An endpoint that sends the key back: in a text, in errors that pass and in one that does not.
    let echo = format!(r#"{{"error": {{"message": "Incorrect API key provided: {KEY}"}}}}"#);
    let server = Server::start(move |n, seen| match n {
        _ if !seen.head.contains(KEY) => Reply::status(400),
        0 => Reply::Status(500, String::new(), echo.clone()),
        1 => Reply::Says(format!("You are {KEY}")),
        2 => Reply::Says(ANSWER.replace("A writer.", KEY)),
        3 => Reply::Status(200, String::new(), echo.clone()),
        _ => Reply::Status(401, String::new(), echo.clone()),
    })
    .await;
    let key = ApiKey::from_variable("A_KEY", Some(KEY.into())).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("texts");
    let client = client_with(&Settings { concurrency: 1, ..server.settings() }, Some(key.clone()));
    let mut shown = format!("{key:?} {client:?}");
    let extractor = Extractor::new(client, prompt(), Arc::new(FileTexts::open(&path).unwrap()));
    let answers = extractor.extract(&passages(2)).await;
    assert!(answers[0].as_ref().unwrap().is_repaired);
    let error = answers[1].as_ref().unwrap_err().clone();
    assert!(error.to_string().contains("[key]"), "{error}");
    shown += &format!("{answers:?} {error} {error:?} {extractor:?} {:?}", connect::Error::from(error.clone()));
    let record = std::fs::read_to_string(&path).unwrap();
    assert!(record.contains("You are [key]"), "{record}");
    shown += &record;
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("asked again"), "{logged}");
    shown += &logged;
    assert!(!shown.contains(KEY) && !shown.contains("do-not-show"), "{shown}");
}

#[test]
fn a_variable_without_a_key_is_named_and_its_value_is_not() {
    let told = |value: Option<&str>| {
        let error = ApiKey::from_variable("MY_KEY", value.map(str::to_owned)).unwrap_err();
        assert!(error.is_for_all());
        error.to_string()
    };
    assert!(told(None).contains("MY_KEY") && told(Some("  ")).contains("MY_KEY"));
    let wrong = told(Some("sk-1 sk-2"));
    assert!(wrong.contains("MY_KEY") && !wrong.contains("sk-1"), "{wrong}");
}
