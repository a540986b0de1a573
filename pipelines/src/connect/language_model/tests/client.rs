//! One call: its form, its tries, its bounds.

use std::time::Duration;

use futures::future::join_all;
use hypercane_operators::language_model::{Message, Role, json_schema};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822};
use serde_json::json;
use tokio::time::Instant;

use super::{ApiKey, Client, Reply, Server, Settings, client, client_with};
use crate::connect::language_model::{Error, Request, ResponseFormat, Spent};

fn request() -> Request {
    let messages = vec![Message { role: Role::User, content: "What does it say?".into() }];
    Request { messages, schema: json_schema(), answer_tokens: 10 }
}

async fn ask(client: &Client) -> Result<String, Error> {
    client.complete(&request()).await
}

#[tokio::test]
async fn a_request_has_the_form_that_endpoints_expect() {
    let server = Server::start(|_, _| Reply::Says("words".into())).await;
    let key = ApiKey::from_variable("KEY", Some(" sk-1234 ".into())).unwrap();
    let mut settings = server.settings();
    settings.response_format = ResponseFormat::JsonObject;
    assert_eq!(ask(&client(&settings)).await.unwrap(), "words");
    settings.response_format = ResponseFormat::JsonSchema;
    settings.parameters = toml::from_str("max_completion_tokens = 99").unwrap();
    assert_eq!(ask(&client_with(&settings, Some(key))).await.unwrap(), "words");
    let [simple, seen] = &server.seen()[..] else { panic!() };
    assert_eq!(simple.body["response_format"], serde_json::json!({"type": "json_object"}));
    assert_eq!((&simple.body["temperature"], &simple.body["max_tokens"]), (&0.into(), &4096.into()));
    assert!(!simple.head.to_lowercase().contains("authorization"));
    assert!(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", seen.head);
    assert!(seen.head.to_lowercase().contains("authorization: bearer sk-1234"), "{}", seen.head);
    assert_eq!(seen.body["model"], "test-model");
    assert_eq!(seen.body["messages"][0]["role"], "user");
    assert_eq!(seen.body["response_format"]["json_schema"]["strict"], true);
    assert_eq!(seen.body["response_format"]["json_schema"]["schema"], json_schema());
    assert_eq!((&seen.body["max_completion_tokens"], seen.body.get("max_tokens")), (&99.into(), None));
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"choices\": [{";
    for failure in [
        || Reply::status(500),
        || Reply::status(502),
        || Reply::status(408),
        || Reply::Raw("HTTP/1.1 200 OK\r\ncontent-le".into()),
        || Reply::Status(200, String::new(), "{\"choices\": [{\"mess".into()),
        || Reply::Status(200, String::new(), r#"{"error": {"message": "overloaded"}}"#.into()),
        || Reply::Raw(String::new()),
    ] {
        let server = Server::start(move |n, _| if n < 2 { failure() } else { Reply::Says("words".into()) }).await;
        assert_eq!(ask(&client(&server.settings())).await.unwrap(), "words");
        assert_eq!(server.n_calls(), 3);
    }
    let server =
        Server::start(move |n, _| if n < 1 { Reply::Raw(half.into()) } else { Reply::Says("words".into()) }).await;
    assert_eq!(ask(&client(&server.settings())).await.unwrap(), "words");
}

#[tokio::test]
async fn an_endpoint_that_stays_broken_is_given_up_after_the_tries() {
    let server = Server::start(|_, _| Reply::Status(500, String::new(), r#"{"error": "out of memory"}"#.into())).await;
    let client = client(&server.settings());
    let error = ask(&client).await.unwrap_err();
    assert!(error.is_transient() && !error.is_for_all());
    let told = error.to_string();
    assert!(
        told.contains("127.0.0.1") && told.contains("3 tries") && told.contains("HTTP 500: out of memory"),
        "{told}"
    );
    assert_eq!(server.n_calls(), 3);
    assert_eq!(client.spent(), Spent::default(), "the model did not work");
}

#[tokio::test]
async fn a_hang_ends_with_the_time_for_one_call() {
    let server = Server::start(|_, _| Reply::Hangs).await;
    let client = client(&Settings { timeout_seconds: 1, retries: 1, ..server.settings() });
    let start = Instant::now();
    let told = ask(&client).await.unwrap_err().to_string();
    assert!(told.contains("timeout_seconds") && told.contains("2 tries"), "{told}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(client.spent().calls, 2, "the model may have worked");
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_told_by_its_host() {
    let settings = {
        let server = Server::start(|_, _| Reply::Hangs).await;
        server.settings()
    };
    // The task that listened is gone when its port refuses.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let client = client(&settings);
    let error = ask(&client).await.unwrap_err();
    let told = error.to_string();
    assert!(error.is_transient() && told.contains("127.0.0.1") && told.contains("refused"), "{told}");
    assert_eq!(client.spent(), Spent::default());
}

#[tokio::test]
async fn what_will_not_pass_fails_at_once() {
    for (status, header, body, words) in [
        (400, "", r#"{"error": {"message": "context length exceeded"}}"#, "context length exceeded"),
        (401, "", "{}", "key_env"),
        (404, "", r#"{"error": "no such model"}"#, "language_model.model"),
        (429, "", r#"{"error": {"message": "Pay.", "code": "insufficient_quota"}}"#, "Pay."),
        (301, "location: http://127.0.0.1:1/", "", "HTTP 301"),
    ] {
        let server = Server::start(move |_, _| Reply::Status(status, header.into(), body.into())).await;
        let error = ask(&client(&server.settings())).await.unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains(words), "{error}");
        assert_eq!(server.n_calls(), 1, "{error}");
        assert_eq!(error.is_for_all(), ![400, 301].contains(&status));
    }
}

#[tokio::test]
async fn an_endpoint_that_wants_to_be_left_alone_is_left_alone_by_all() {
    let seconds = || "1".to_owned();
    // A date has whole seconds, so that this is one second or more.
    let date = || {
        let at = Timestamp::now() + SignedDuration::from_secs(2);
        rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&at).unwrap()
    };
    let all: [(u16, fn() -> String); 2] = [(429, seconds), (503, date)];
    for (status, value) in all {
        let server = Server::start(move |n, _| match n {
            0 => Reply::Status(status, format!("retry-after: {}", value()), String::new()),
            _ => Reply::Says("words".into()),
        })
        .await;
        let client = client(&server.settings());
        let start = Instant::now();
        let second = async {
            // It starts when the first was sent away.
            while server.n_calls() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            ask(&client).await
        };
        let (first, second) = futures::future::join(ask(&client), second).await;
        assert_eq!((first.unwrap(), second.unwrap()), ("words".into(), "words".into()));
        let seen = server.seen();
        assert_eq!(seen.len(), 3);
        for later in &seen[1..] {
            let waited = later.at - seen[0].at;
            assert!(waited >= Duration::from_millis(900), "{waited:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(6));
    }
}

#[tokio::test]
async fn an_endpoint_that_wants_to_be_left_alone_for_long_is_not_waited_for() {
    let server = Server::start(|_, _| Reply::Status(429, "retry-after: 86400".into(), String::new())).await;
    let start = Instant::now();
    let error = ask(&client(&server.settings())).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("86400 s"), "{error}");
    assert_eq!(server.n_calls(), 1);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn no_more_calls_than_allowed_run_at_once() {
    let server = Server::start(|_, _| Reply::Slowly(Duration::from_millis(50), "words".into())).await;
    let client = client(&Settings { concurrency: 3, ..server.settings() });
    let answers = join_all((0..12).map(|_| ask(&client))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!((server.n_calls(), server.most_at_once()), (12, 3));
}

#[tokio::test]
async fn calls_are_spread_over_the_minute() {
    let server = Server::start(|_, _| Reply::Says("words".into())).await;
    let client = client(&Settings { concurrency: 8, requests_per_minute: Some(300), ..server.settings() });
    let start = Instant::now();
    let answers = join_all((0..8).map(|_| ask(&client))).await;
    assert!(answers.iter().all(Result::is_ok));
    // Five are there from the start; three more come at five a second.
    assert!(start.elapsed() >= Duration::from_millis(550), "{:?}", start.elapsed());
}

#[tokio::test]
async fn the_budget_ends_the_run() {
    let server = Server::start(|_, _| Reply::Says("words".into())).await;
    let calls = client(&Settings { budget_calls: Some(2), ..server.settings() });
    assert!(ask(&calls).await.is_ok() && ask(&calls).await.is_ok());
    let error = ask(&calls).await.unwrap_err();
    assert!(!error.is_transient() && error.is_for_all() && error.to_string().contains("2 of 2 calls"), "{error}");
    assert_eq!((server.n_calls(), calls.spent()), (2, Spent { calls: 2, tokens: 60 }));

    // A call is taken to need 19 tokens, and takes 30.
    let tokens = client(&Settings { budget_tokens: Some(65), ..server.settings() });
    assert!(ask(&tokens).await.is_ok() && ask(&tokens).await.is_ok());
    assert!(ask(&tokens).await.unwrap_err().to_string().contains("60 of 65 tokens"));
}

#[tokio::test]
async fn a_count_of_tokens_that_can_be_none_stops_nothing() {
    let body = json!({"choices": [{"message": {"content": "words"}}], "usage": {"total_tokens": u64::MAX}});
    let server = Server::start(move |_, _| Reply::Status(200, String::new(), body.to_string())).await;
    let client = client(&Settings { tokens_per_minute: Some(u32::MAX), ..server.settings() });
    assert_eq!((ask(&client).await.unwrap(), ask(&client).await.unwrap()), ("words".into(), "words".into()));
    assert!(client.spent().tokens < 1 << 25, "{}", client.spent());
}
