//! Passages: what a model may write, what is recorded of it, and what follows.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use hypercane_operators::{
    extraction::{Extraction, Failure},
    kernel,
    language_model::{Passage, Prompt, extraction},
};
use hypercane_schemas::Document;

use super::{ANSWER, PROMPT, Reply, Server, Settings, client, passage, passages, prompt};
use crate::connect::language_model::{Error, Extractor, FileTexts, MemoryTexts, RecordedAnswer};

/// One who asks that server, with a record in memory.
fn extractor(server: &Server) -> Extractor {
    Extractor::new(client(&server.settings()), prompt(), Arc::new(MemoryTexts::default()))
}

fn with_file(settings: &Settings, prompt: Prompt, path: &Path) -> Extractor {
    Extractor::new(client(settings), prompt, Arc::new(FileTexts::open(path).unwrap()))
}

/// What follows from an answer.
fn facts(answer: &RecordedAnswer, passage: &Passage) -> Result<Extraction, Failure> {
    let document = Document { title: Some(passage.title.clone()), ..Document::plain("doc", &passage.text) };
    extraction(&answer.text, &kernel::chunk(&document, None).remove(0))
}

async fn only(extractor: &Extractor) -> (RecordedAnswer, Result<Extraction, Failure>) {
    let passage = passage(0);
    let answer = extractor.answer(&passage).await.unwrap();
    let facts = facts(&answer, &passage);
    (answer, facts)
}

#[tokio::test]
async fn a_malformed_answer_is_sent_back_once_with_its_reason() {
    let half = &ANSWER[..ANSWER.len() / 2];
    let wrong = ANSWER.replace("\"hyperedges\"", "\"facts\"");
    for (malformed, reason) in [
        ("Sure! Here is the JSON:", "no JSON"),
        (half, "ends in the middle"),
        (wrong.as_str(), "unknown field `facts`"),
        ("[]", "invalid"),
        ("", "empty"),
        (&ANSWER.replace("0.9", "9"), "from 0 to 1"),
    ] {
        let first = malformed.to_owned();
        let server = Server::start(move |n, _| Reply::Says(if n == 0 { first.clone() } else { ANSWER.into() })).await;
        let extractor = extractor(&server);
        let (answer, facts) = only(&extractor).await;
        assert!(answer.is_repaired && facts.unwrap().facts.len() == 1, "{malformed}");
        let seen = server.seen();
        assert_eq!(seen.len(), 2);
        assert!(seen[0].message(1).contains("Title: Page 0") && seen[0].message(1).contains("in year 0."));
        assert_eq!(seen[1].message(2), malformed);
        assert!(seen[1].message(3).contains(reason), "{}", seen[1].message(3));
        assert_eq!(extractor.recorded(&passage(0)), Some(answer));
    }
}

#[tokio::test]
async fn a_passage_whose_answer_stays_malformed_is_rejected_alone_and_not_asked_about_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("texts");
    let reply = |_, seen: &super::server::Seen| {
        Reply::Says(if seen.message(1).contains("year 1.") { "no".into() } else { ANSWER.into() })
    };
    let server = Server::start(reply).await;
    let passages = passages(3);
    let mut first = None;
    for n_calls in [4, 4] {
        let extractor = with_file(&server.settings(), prompt(), &path);
        let answers: Vec<RecordedAnswer> =
            extractor.extract(&passages).await.into_iter().collect::<Result<_, _>>().unwrap();
        let read: Vec<_> = answers.iter().zip(&passages).map(|(answer, passage)| facts(answer, passage)).collect();
        assert!(read[0].is_ok() && read[2].is_ok());
        let failure = read[1].as_ref().unwrap_err();
        assert!(failure.reason.contains("after it was asked to repair it: it is no JSON"), "{failure:?}");
        assert_eq!(server.n_calls(), n_calls, "what is on record is not asked again");
        assert_eq!(extractor.plan(&passages).calls, 0);
        assert_eq!(*first.get_or_insert(answers.clone()), answers);
    }
    // What follows needs the record alone.
    let store = Arc::new(FileTexts::open(&path).unwrap());
    let alone = Extractor::record_only("test-model", prompt(), store);
    assert_eq!(alone.extract(&passages).await.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), first.unwrap());
}

#[tokio::test]
async fn an_empty_list_is_an_answer_and_a_refusal_is_not_argued_with() {
    let empty = r#"{"entities": [], "hyperedges": [], "relations": []}"#;
    let server = Server::start(move |_, _| Reply::Says(empty.into())).await;
    let (answer, facts) = only(&extractor(&server)).await;
    assert_eq!((answer.is_repaired, facts.unwrap()), (false, Extraction::default()));
    assert_eq!(server.n_calls(), 1);

    let refused = r#"{"choices": [{"message": {"content": null, "refusal": "I will not."}}]}"#;
    let server = Server::start(move |_, _| Reply::Status(200, String::new(), refused.into())).await;
    let (_, facts) = only(&extractor(&server)).await;
    assert!(facts.unwrap_err().reason.contains("the model refused: I will not."));
    assert_eq!(server.n_calls(), 1);
}

#[tokio::test]
async fn a_hundred_fold_repetition_counts_once() {
    let record =
        r#"{"text": "Ada lived in London.", "entities": ["Ada", "London"], "relation": "lived in", "conf": 0.9}"#;
    let many = ANSWER.replace(record, &vec![record; 100].join(", "));
    assert!(many.len() > 50 * record.len());
    let server = Server::start(move |_, _| Reply::Says(many.clone())).await;
    let (answer, facts) = only(&extractor(&server)).await;
    let facts = facts.unwrap();
    assert_eq!((facts.facts.len(), facts.failures.len(), answer.is_repaired), (1, 0, false));
}

#[tokio::test]
async fn a_changed_prompt_or_model_says_what_it_asks_again_before_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("texts");
    let server = Server::start(|_, _| Reply::Says(ANSWER.into())).await;
    let settings = server.settings();
    let first = with_file(&settings, prompt(), &path);
    let plan = first.plan(&passages(4));
    assert_eq!((plan.passages, plan.calls, plan.changed), (4, 4, 0));
    assert!(first.extract(&passages(4)).await.iter().all(Result::is_ok));

    let other_prompt = || Prompt::parse(&PROMPT.replace("Write each thing once.", "Be brief.")).unwrap();
    let other_model = Settings { model: "another-model".into(), ..settings.clone() };
    for (settings, prompt, n_known, n_calls) in [(&settings, other_prompt(), 4, 4), (&other_model, prompt(), 5, 9)] {
        let changed = with_file(settings, prompt, &path);
        let plan = changed.plan(&passages(5));
        assert_eq!((plan.passages, plan.recorded, plan.calls, plan.changed), (5, 0, 5, n_known));
        assert!(plan.prompt_tokens > 5 * 300 && plan.answer_tokens >= 5 * 100, "{plan}");
        let told = plan.to_string();
        assert!(
            told.contains("5 calls") && told.contains(&format!("{n_known} passages are on record only from another")),
            "{told}"
        );
        assert!(told.contains("a token for every 4 bytes"), "{told}");
        assert_eq!(server.n_calls(), n_calls, "a plan asks nothing");
        assert!(changed.extract(&passages(5)).await.iter().all(Result::is_ok));
    }
    assert_eq!(server.n_calls(), 14);
    assert_eq!(with_file(&settings, prompt(), &path).plan(&passages(4)).calls, 0, "the first answers are still there");
}

#[tokio::test]
async fn only_a_passage_whose_text_changed_is_asked_about() {
    let server = Server::start(|_, _| Reply::Says(ANSWER.into())).await;
    let extractor = extractor(&server);
    let mut chunks = passages(5);
    extractor.extract(&chunks).await;
    chunks[2].text.push_str(" She left.");
    chunks[3].text = chunks[3].text.replace(' ', "\n ");
    assert_eq!(extractor.plan(&chunks).calls, 1);
    assert!(extractor.extract(&chunks).await.iter().all(Result::is_ok));
    assert_eq!(server.n_calls(), 6);
}

#[tokio::test]
async fn a_budget_that_is_used_up_leaves_the_rest_for_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("texts");
    let server = Server::start(|_, _| Reply::Says(ANSWER.into())).await;
    let settings = Settings { budget_calls: Some(3), ..server.settings() };
    for (n_done, n_calls) in [(3, 3), (6, 6), (7, 7)] {
        let extractor = with_file(&settings, prompt(), &path);
        let answers = extractor.extract(&passages(7)).await;
        let (done, left): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.is_ok());
        assert_eq!((done.len(), server.n_calls()), (n_done, n_calls));
        assert!(left.iter().all(|left| matches!(left, Err(Error::Budget { what: "calls", .. }))));
    }
}

#[tokio::test]
async fn what_every_passage_would_meet_is_met_once() {
    let server = Server::start(|_, _| Reply::status(401)).await;
    let extractor = extractor(&server);
    let answers = extractor.extract(&passages(50)).await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(Error::Refused { status: 401, .. }))));
    assert!(server.n_calls() <= server.settings().concurrency, "{} calls", server.n_calls());

    // A passage that is too long for the model concerns no other.
    let server = Server::start(|_, seen| {
        if seen.message(1).contains("year 3.") { Reply::status(400) } else { Reply::Says(ANSWER.into()) }
    })
    .await;
    let answers = self::extractor(&server).extract(&passages(6)).await;
    let failed: Vec<usize> = (0..6).filter(|idx| answers[*idx].is_err()).collect();
    assert_eq!(failed, [3]);
}

#[tokio::test]
async fn calls_at_once_for_the_same_passages_ask_once() {
    let server = Server::start(|_, _| Reply::Slowly(Duration::from_millis(20), ANSWER.into())).await;
    let extractor = Arc::new(extractor(&server));
    let calls: Vec<_> = (0..5)
        .map(|_| {
            let extractor = Arc::clone(&extractor);
            tokio::spawn(async move { extractor.extract(&passages(6)).await })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().iter().all(Result::is_ok));
    }
    let twice = [passage(9), passage(9)];
    assert!(extractor.extract(&twice).await.iter().all(Result::is_ok));
    assert_eq!(server.n_calls(), 7);
}

#[tokio::test]
async fn an_endpoint_that_fails_for_a_while_loses_no_passage() {
    // Each passage is answered at the second try; the first fails in one way or another.
    let asked = Mutex::new(HashSet::new());
    let server = Server::start(move |_, seen| {
        let mut asked = asked.lock().unwrap();
        let n = asked.len();
        if !asked.insert(seen.body.to_string()) {
            return Reply::Says(ANSWER.into());
        }
        match n % 4 {
            0 => Reply::status(500),
            1 => Reply::Status(429, "retry-after: 0".into(), String::new()),
            2 => Reply::Raw("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{".into()),
            _ => Reply::Raw(String::new()),
        }
    })
    .await;
    let extractor = extractor(&server);
    assert!(extractor.extract(&passages(30)).await.iter().all(Result::is_ok));
    assert_eq!(server.n_calls(), 60);
}

#[tokio::test]
async fn an_endpoint_that_is_down_is_left_alone_so_that_nobody_waits_for_it() {
    let server = Server::start(|_, _| Reply::status(503)).await;
    let settings = Settings { concurrency: 1, retries: 1, ..server.settings() };
    let extractor = Extractor::new(client(&settings), prompt(), Arc::new(MemoryTexts::default()));
    let answers = extractor.extract(&passages(50)).await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(Error::Unavailable { .. }))));
    assert_eq!(server.n_calls(), 4 * 2, "four passages, each at two tries");
}

#[tokio::test]
async fn a_real_model_answers_where_one_is_at_hand() {
    let Ok(url) = std::env::var("HYPERCANE_TEST_LANGUAGE_MODEL") else {
        return eprintln!("skipped: HYPERCANE_TEST_LANGUAGE_MODEL names no endpoint");
    };
    let parameters = toml::from_str("temperature = 0\nmax_tokens = 400").unwrap();
    let settings = Settings { base_url: Some(url), model: "smollm2-135m".into(), parameters, ..Settings::default() };
    let extractor = Extractor::new(client(&settings), prompt(), Arc::new(MemoryTexts::default()));
    let passage = Passage { title: "Ada Lovelace".into(), text: "Ada Lovelace was born in London in 1815.".into() };
    let answer = extractor.answer(&passage).await.unwrap();
    // What it says is not to be relied on; that it can be read, or is told why not, is.
    match facts(&answer, &passage) {
        Ok(extraction) => eprintln!("{} facts: {}", extraction.facts.len(), answer.text),
        Err(failure) => eprintln!("rejected: {}", failure.reason),
    }
    assert_eq!(extractor.recorded(&passage), Some(answer));
    assert!(extractor.spent().calls >= 1 && extractor.spent().tokens > 0);
}
