//! Questions of many forms, and what they are linked to.

use super::*;
use crate::domain::cyclone;

fn storm(key: &str, name: &str, mention: &str, slots: &QuestionSlots) -> Vec<AliasMatch> {
    let at = |form: &str| slots.mentions.iter().position(|m| m.form == form);
    let _ = name;
    at(mention)
        .map(|m| AliasMatch {
            mention: m as u32,
            entity: EntityKey(key.into()),
            kind: "cyclone".into(),
            how: Match::Exact,
        })
        .into_iter()
        .collect()
}

#[test]
fn a_year_tells_storms_of_one_name_apart() {
    let domain = cyclone();
    for (question, key) in [
        ("How strong was Beryl (2018) in advisory 4?", "storm:AL022018"),
        ("How strong was Beryl at 0900 UTC on 6 July 2024?", "storm:AL022024"),
        ("How strong was Beryl in advisory 4?", "storm:AL022024"),
    ] {
        let as_of = "2024-12-01T00:00:00Z".parse().ok();
        let slots = read_question(question, &domain, as_of);
        let mut matches = storm("storm:AL022018", "Beryl", "beryl", &slots);
        matches.extend(storm("storm:AL022024", "Beryl", "beryl", &slots));
        let links = resolve(&slots, &matches, &domain);
        assert_eq!(links.storms, [StormLink { keys: vec![EntityKey(key.into())] }], "{question}");
    }
}

#[test]
fn classes_are_read_apart_from_titles_and_warnings() {
    let domain = cyclone();
    let classes = |q: &str| read_question(q, &domain, None).cues.classes;
    assert_eq!(classes("When did NHC first title Cindy a Tropical Storm?"), ["Tropical Storm"]);
    assert!(classes("Was a Tropical Storm Warning in effect with Hurricane Irma?").is_empty());
}

#[test]
fn thresholds_come_in_any_unit() {
    let domain = cyclone();
    let values = |q: &str| -> Vec<(String, String)> {
        let cues = read_question(q, &domain, None).cues;
        cues.thresholds.into_iter().map(|t| (t.attribute, t.value.to_string())).collect()
    };
    let wind = |v: &str| vec![("max_wind".to_string(), v.to_string())];
    assert_eq!(values("winds of at least 74 mph"), wind("64"));
    assert_eq!(values("sixty-four knots"), wind("64"));
    assert_eq!(values("hurricane-force winds"), wind("64"));
    assert_eq!(values("pressure at or below 970 mb"), [("pressure".to_string(), "970".to_string())]);
}
