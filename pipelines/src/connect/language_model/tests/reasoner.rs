//! Questions split and answered, over a real endpoint.

use std::{path::Path, sync::Arc};

use hypercane_operators::language_model::HopPrompts;

use super::{Reply, Server, Settings, client};
use crate::connect::language_model::{Error, FileTexts, MemoryTexts, Reasoner, TextStore};

const SPLIT: &str = r#"{"sub_queries": ["where is the station", "which sea is at #1?"]}"#;

fn prompts() -> HopPrompts {
    HopPrompts {
        split: HopPrompts::parse_split(include_str!("../../../../../data/domains/general/prompts/split.md")).unwrap(),
        answer: HopPrompts::parse_answer(include_str!("../../../../../data/domains/general/prompts/hop.md")).unwrap(),
    }
}

fn reasoner(settings: &Settings, store: Arc<dyn TextStore>) -> Reasoner {
    Reasoner::new(client(settings), prompts(), store)
}

fn in_memory(server: &Server) -> Reasoner {
    reasoner(&server.settings(), Arc::new(MemoryTexts::default()))
}

fn in_file(server: &Server, path: &Path) -> Reasoner {
    reasoner(&server.settings(), Arc::new(FileTexts::open(path).unwrap()))
}

#[tokio::test]
async fn what_was_asked_once_is_on_record() {
    let server =
        Server::start(|n, _| Reply::Says(if n == 0 { SPLIT.into() } else { r#"{"answer": "Richmond"}"#.into() })).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    for _ in 0..2 {
        let reasoner = in_file(&server, &path);
        let split = reasoner.sub_queries("Which sea is at the state of the station?", 4).await.unwrap();
        assert_eq!(split.unwrap(), ["where is the station", "which sea is at #1?"]);
        let evidence = ["The station is in Richmond.", " Richmond is a city. "];
        let answer = reasoner.answer("where is the station", &evidence).await.unwrap();
        assert_eq!((answer, reasoner.n_left()), (Some(Some("Richmond".to_owned())), 0));
    }
    let seen = server.seen();
    assert_eq!(seen.len(), 2, "the second time nothing is asked");
    assert!(seen[0].message(1).contains("at most 4") && seen[0].message(1).contains("the state of the station?"));
    assert!(seen[1].message(1).contains("- The station is in Richmond.\n- Richmond is a city.\n"));
    let schema = &seen[1].body["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["required"], serde_json::json!(["answer"]));
}

#[tokio::test]
async fn a_malformed_answer_is_sent_back_once_and_then_left_to_the_rules() {
    let wrong = r#"{"sub_queries": ["which sea is at #1?"]}"#;
    let server = Server::start(move |n, _| Reply::Says(if n == 0 { wrong.into() } else { SPLIT.into() })).await;
    assert!(in_memory(&server).sub_queries("which sea?", 4).await.unwrap().is_some());
    assert!(server.seen()[1].message(3).contains("#1 is the answer of no question before this one"));

    for wrong in
        [wrong, "", "{\"sub_queries\": [\"a", "[]", &format!("{{\"sub_queries\": [{}\"\"]}}", "\"a\",".repeat(200))]
    {
        let wrong = wrong.to_owned();
        let server = Server::start(move |_, _| Reply::Says(wrong.clone())).await;
        let reasoner = in_memory(&server);
        assert_eq!(reasoner.sub_queries("which sea?", 4).await.unwrap(), None);
        assert_eq!((server.n_calls(), reasoner.n_left()), (2, 1));
    }
}

#[tokio::test]
async fn an_endpoint_that_fails_leaves_a_question_to_the_rules_and_one_that_refuses_all_is_told() {
    for status in [500, 429] {
        let server = Server::start(move |_, _| Reply::status(status)).await;
        let answer = in_memory(&server).answer("where", &["Here."]).await;
        assert!(matches!(answer, Ok(None)) || matches!(answer, Err(Error::Refused { status: 429, .. })), "{answer:?}");
    }
    let server = Server::start(|_, _| Reply::status(401)).await;
    assert!(matches!(in_memory(&server).answer("where", &["Here."]).await, Err(Error::Refused { status: 401, .. })));
    let budget = Settings { budget_calls: Some(0), ..server.settings() };
    let reasoner = reasoner(&budget, Arc::new(MemoryTexts::default()));
    assert!(matches!(reasoner.answer("where", &["Here."]).await, Err(Error::Budget { .. })));
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_left_alone_by_questions_too() {
    let server = Server::start(|_, _| Reply::status(503)).await;
    let settings = Settings { concurrency: 1, retries: 1, ..server.settings() };
    let reasoner = reasoner(&settings, Arc::new(MemoryTexts::default()));
    for n in 0..50 {
        assert_eq!(reasoner.sub_queries(&format!("which sea is at {n}?"), 4).await.unwrap(), None);
    }
    assert_eq!((server.n_calls(), reasoner.n_left()), (4 * 2, 50), "four questions, each at two tries");
}

#[tokio::test]
async fn a_real_model_splits_a_question_where_one_is_at_hand() {
    let Ok(url) = std::env::var("HYPERCANE_TEST_LANGUAGE_MODEL") else {
        return eprintln!("skipped: HYPERCANE_TEST_LANGUAGE_MODEL names no endpoint");
    };
    let settings = Settings { base_url: Some(url), model: "smollm2-135m".into(), ..Settings::default() };
    let reasoner = reasoner(&settings, Arc::new(MemoryTexts::default()));
    let split = reasoner.sub_queries("Which sea is at the city where Main Street Station is?", 3).await.unwrap();
    let answer =
        reasoner.answer("Where is Main Street Station?", &["Main Street Station is in Richmond."]).await.unwrap();
    // What it says is not to be relied on; that it can be read, or is left to the rules, is.
    eprintln!("{split:?} {answer:?} {}", reasoner.spent());
    assert!(reasoner.spent().calls >= 2);
}
