//! Good records come through, bad ones say what is wrong.

use std::sync::Arc;

use super::*;

fn raw(topic: &str, key: Option<&str>, payload: Option<&[u8]>) -> RawRecord {
    RawRecord {
        topic: Arc::from(topic),
        partition: Some(3),
        offset: Some(41),
        key: key.map(|key| key.as_bytes().to_vec()),
        payload: payload.map(<[u8]>::to_vec),
        timestamp: None,
        replays: None,
    }
}

fn decode(topic: &str, key: Option<&str>, payload: &str) -> Result<Input, Box<Reject>> {
    Decoder::default().decode(&raw(topic, key, Some(payload.as_bytes())))
}

#[track_caller]
fn refused(topic: &str, key: Option<&str>, payload: &[u8], words: &[&str]) {
    let reject = Decoder::default().decode(&raw(topic, key, Some(payload))).unwrap_err();
    for word in words {
        assert!(reject.reason.contains(word), "{word:?} is not in {:?}", reject.reason);
    }
    assert_eq!((reject.partition, reject.offset, reject.stage), (Some(3), Some(41), Stage::Decode));
    assert_eq!(STANDARD.decode(&reject.payload_base64).unwrap(), payload);
}

#[test]
fn documents_take_the_key_of_the_message() {
    let expected = Document::plain("a/b.txt", "Port closed");
    let Ok(Input::Document(key, Some(document))) = decode("documents", Some("a/b.txt"), r#"{"text": "Port closed"}"#)
    else {
        panic!("refused")
    };
    assert_eq!((key, document), (expected.key.clone(), expected.clone()));
    let own = decode("documents", None, r#"{"key": "a/b.txt", "text": "Port closed"}"#);
    assert_eq!(own, Ok(Input::Document(expected.key.clone(), Some(expected))));
}

#[test]
fn a_null_payload_deletes_on_every_topic() {
    let decoder = Decoder::default();
    let of = |topic| decoder.decode(&raw(topic, Some("k"), None));
    assert_eq!(of("documents"), Ok(Input::Document(DocumentKey("k".into()), None)));
    assert_eq!(of("horizons"), Ok(Input::Horizon(GroupKey("k".into()), None)));
    assert_eq!(of("queries"), Ok(Input::Query(QueryId("k".into()), None)));
    let reject = decoder.decode(&raw("documents", None, None)).unwrap_err();
    assert!(reject.reason.contains("send a key"));
}

#[test]
fn horizons_and_queries_are_read() {
    let update = r#"{"group": "AL092017", "reference_event": "landfall", "reference_at": "2017-08-26T03:00:00Z",
        "issued_at": "2017-08-25T03:00:00Z"}"#;
    assert!(matches!(decode("horizons", Some("AL092017"), update), Ok(Input::Horizon(_, Some(_)))));
    refused("horizons", Some("AL102017"), update.as_bytes(), &["AL102017", "AL092017", "group"]);
    let query = r#"{"question": "Is Houston closed?", "as_of": "2017-08-25T03:00:00Z"}"#;
    assert!(matches!(decode("queries", Some("q1"), query), Ok(Input::Query(QueryId(id), Some(_))) if id == "q1"));
}

#[test]
fn bad_payloads_say_what_is_wrong() {
    let key = Some("k");
    refused("documents", key, b"", &["empty", "null payload"]);
    refused("documents", key, b"BULLETIN", &["not JSON", "line 1 column 1"]);
    refused("documents", key, br#"{"text": "a"} x"#, &["not JSON"]);
    refused("documents", key, br#"{"text": "cut in the mid"#, &["not JSON", "EOF"]);
    refused("documents", key, b"\xff\xfe\x00\x01", &["not UTF-8", "0xFF", "position 0"]);
    refused("documents", key, br#"{"title": "a"}"#, &["missing field `text`"]);
    refused("documents", key, br#"{"text": 5}"#, &["field `text`", "expected a string"]);
    refused("documents", key, br#"{"text": "a", "horizon_hours": "x"}"#, &["field `horizon_hours`"]);
    refused("documents", key, br#"{"text": "a", "txt": "b"}"#, &["unknown field `txt`"]);
    refused("documents", key, br#"{"text": " \n\t "}"#, &["holds no text"]);
    refused("documents", key, br#"{"text": "a\u0000b"}"#, &["NUL"]);
    refused("documents", key, br#"{"text": "a", "reliability": 0}"#, &["reliability", "above 0"]);
    refused("documents", key, br#"{"text": "a", "issued_at": "0000-01-01T00:00:00Z"}"#, &["issued_at", "year 0"]);
    refused("documents", key, br#"{"text": "a", "issued_at": "yesterday"}"#, &["field `issued_at`"]);
    refused("documents", None, br#"{"text": "a"}"#, &["no key"]);
    refused("documents", key, br#"{"text": "a", "key": "other"}"#, &["\"k\"", "\"other\""]);
    refused("queries", key, br#"{"question": "a", "mode": "magic"}"#, &["field `mode`", "`magic`", "trajectory"]);
    refused("queries", key, br#"{"question": "a", "parameters": {"beam_width": 0}}"#, &["beam_width", "at least 1"]);
    refused("queries", key, br#"{"question": " "}"#, &["no question"]);
    refused("weather", key, b"{}", &["weather", "not read here"]);
    refused("documents", key, br#"["k", null, null, "a"]"#, &["no object"]);
    refused("documents", key, b"5", &["no object"]);
    refused("documents", key, "[".repeat(5000).as_bytes(), &["not JSON"]);
}

#[test]
fn a_key_that_is_no_text_is_refused() {
    let mut record = raw("documents", None, Some(b"{}"));
    record.key = Some(vec![0xc3]);
    assert!(Decoder::default().decode(&record).unwrap_err().reason.starts_with("the key is not UTF-8"));
}

#[test]
fn an_oversize_payload_is_refused_without_its_bytes() {
    let decoder = Decoder { max_bytes: 100, ..Decoder::default() };
    let reject = decoder.decode(&raw("documents", Some("k"), Some(&[b' '; 101]))).unwrap_err();
    assert!(reject.reason.contains("101 bytes and 100 are taken"));
    assert_eq!(reject.payload_base64, "");
}

#[test]
fn the_same_failure_has_the_same_id() {
    let fail = |key, payload: &str| decode("documents", Some(key), payload).unwrap_err().id;
    assert_eq!(fail("k", "x"), fail("k", "x"));
    assert_ne!(fail("k", "x"), fail("l", "x"));
    assert_ne!(fail("k", "x"), fail("k", r#"{"text": ""}"#));
}

#[test]
fn an_encoded_reject_fits_the_broker() {
    let reject = decode("documents", Some("k"), &"x".repeat(5000)).unwrap_err();
    assert!(encode_reject(&reject, 10_000).len() > 5000);
    let small = encode_reject(&reject, 2000);
    let back: Reject = serde_json::from_slice(&small).unwrap();
    assert!(small.len() < 2000 && back.id == reject.id && back.reason.contains("left out"));
}
