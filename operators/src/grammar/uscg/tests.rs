//! Posts written for these tests in the manner of the Coast Guard's, and the real ones where they are at hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hypercane_schemas::Document;
use proptest::prelude::*;

use super::extract;
use crate::domain::{Domain, cyclone};
use crate::extraction::{Extraction, Fact, Failure};

fn post(domain: &Domain, issued_at: &str, text: &str) -> Result<Extraction, Failure> {
    let mut document = Document::plain("post", text);
    document.source_kind = Some("port_post".into());
    document.issued_at = issued_at.parse().ok();
    extract(&document, domain)
}

fn given(fact: &Fact, name: &str) -> String {
    let found = fact.attributes.iter().find(|attribute| attribute.name == name);
    found.map(|attribute| attribute.value.given.clone()).unwrap_or_default()
}

/// Group, condition and action of every fact that has a condition or an action.
fn said(text: &str) -> Vec<String> {
    let found = post(&cyclone(), "2021-08-30T18:00:00Z", text).unwrap();
    let facts = found.facts.iter().filter(|fact| !given(fact, "action").is_empty());
    facts.map(|fact| format!("{} {} {}", fact.group.0, given(fact, "condition"), given(fact, "action"))).collect()
}

#[test]
fn a_sector_sets_a_condition_ahead_of_a_storm() {
    assert_eq!(
        said(
            "#NewsFlash @USCG Sector #KeyWest has set Port Condition #XRay ahead of Hurricane #Ida. Follow @NWSKeyWest for #Miami."
        ),
        ["IDA_2021:key_west_fl X-RAY set"]
    );
}

#[test]
fn every_port_of_a_post_has_its_own_fact_and_condition() {
    for (text, expected) in [
        (
            "Port condition Yankee is set for #Savannah and X-ray for the ports of Brunswick &amp; Fernandina. #HurricaneIda",
            vec![
                "IDA_2021:savannah_ga YANKEE set",
                "IDA_2021:brunswick_ga X-RAY set",
                "IDA_2021:fernandina_fl X-RAY set",
            ],
        ),
        (
            "The Captain of the Port moved Galveston to Zulu and the port of Houston to Yankee for Tropical Storm Ida.",
            vec!["IDA_2021:galveston_tx ZULU set", "IDA_2021:houston_tx YANKEE set"],
        ),
        (
            "#USCG set Condition IV, reopening Puerto Rico seaports, while ports in the U.S. Virgin Islands remain under Zulu.",
            vec!["none:puerto_rico_pr IV reopened", "none:us_virgin_islands_vi ZULU remains"],
        ),
        (
            "Maui County is in port condition Yankee. Kauai is expected to follow at 6 p.m. Oahu remains in X-Ray.",
            vec![
                "none:maui_county_hi YANKEE set",
                "none:kauai_county_hi YANKEE planned",
                "none:honolulu_county_hi X-RAY remains",
            ],
        ),
        (
            "Port Condition Whiskey was lifted. The Port of Small Cove is open again.",
            vec!["none:none WHISKEY lifted", "none:small_cove  reopened"],
        ),
        (
            "Sector Delaware Bay sets a modified Port Condition Whiskey due to high winds in New Jersey",
            vec!["none:delaware_bay WHISKEY modified"],
        ),
        (
            "The port condition of Wilmington, NC was downgraded from Zulu to Yankee.",
            vec!["none:wilmington_nc YANKEE downgraded"],
        ),
        ("@USCG sets Port Condition Zulu, closes ports for #Ida", vec!["IDA_2021 ZULU set"]),
        ("Port condition X-Ray means winds in 48 hours. Vessels over 500 tons must leave.", vec![]),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
}

#[test]
fn local_times_become_effective_times() {
    let found = post(
        &cyclone(),
        "2021-08-30T18:00:00Z",
        "At 8 a.m. Monday the COTP set port condition Zulu for the Port of Mobile.",
    );
    let fact = found.unwrap().facts.remove(0);
    assert_eq!(fact.valid_at.unwrap().to_string(), "2021-08-30T13:00:00Z");
    assert_eq!(given(&fact, "effective_at"), "8 a.m. Monday");
    assert_eq!(
        fact.text,
        "U.S. Coast Guard post of 2021-08-30 18:00 UTC: port condition ZULU set for Port of Mobile, effective 8 a.m. Monday (2021-08-30 13:00 UTC)."
    );
}

#[test]
fn a_bulletin_has_a_number_a_date_and_rules() {
    let text = "[MSIB # 31-20]\n\nAugust 3, 2020\n\nThe Captain of the Port is telling partners that Hurricane Condition YANKEE will be \
                set throughout the port at 0600 on August 4, 2020 as Hurricane ISAIAS may impact New Jersey. The Captain of the Port \
                Sector Delaware Bay thanks all.\n\n\u{2022} Lightering is not permitted.\n\u{2022} Cargo work may resume later.\n";
    let mut document = Document::plain("bulletin", text);
    document.source_kind = Some("msib".into());
    let found = extract(&document, &cyclone()).unwrap();
    let product = found.product.unwrap();
    assert_eq!((product.kind.as_str(), product.name.as_str()), ("msib", "delaware_bay:31-20"));
    assert_eq!(found.issued_at.unwrap().to_string(), "2020-08-03T00:00:00Z");
    let first = &found.facts[0];
    assert_eq!(first.group.0, "ISAIAS_2020:delaware_bay");
    assert_eq!((given(first, "condition").as_str(), given(first, "action").as_str()), ("YANKEE", "planned"));
    assert_eq!(first.valid_at.unwrap().to_string(), "2020-08-04T10:00:00Z");
    let rules: Vec<String> =
        found.facts.iter().map(|fact| given(fact, "vessel_rule")).filter(|rule| !rule.is_empty()).collect();
    assert_eq!(rules, ["Lightering is not permitted"]);
}

#[test]
fn texts_that_say_nothing_are_failures_with_a_reason() {
    let domain = cyclone();
    for text in ["", " \n\n ", "Happy birthday, Coast Guard!", "Follow @USCG for port condition updates."] {
        let failure = post(&domain, "2021-08-30T18:00:00Z", text).unwrap_err();
        assert!(!failure.reason.is_empty() && failure.line >= 1);
    }
}

#[test]
fn spans_point_at_the_sentence() {
    let text = "\u{26c8}\u{fe0f} Stay safe! Sector Miami set Port Condition Whiskey for #Ida. Bye";
    let found = post(&cyclone(), "2021-08-30T18:00:00Z", text).unwrap();
    assert_eq!(found.facts[0].span.of(text), Some("Sector Miami set Port Condition Whiskey for #Ida"));
}

/// The fields of a line of comma-separated values, quoted where they hold commas or line ends.
fn rows(text: &str) -> Vec<csv::StringRecord> {
    csv::Reader::from_reader(text.as_bytes()).into_records().map(Result::unwrap).collect()
}

/// The posts of the shared data set say what the questions about them ask.
#[test]
fn real_posts_answer_the_questions_about_them() {
    let shared = std::env::var_os("HYPERCANE_SHARED").map(PathBuf::from);
    let folder =
        shared.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared")).join("data/cyclone");
    let (Ok(posts), Ok(questions)) = (
        std::fs::read_to_string(folder.join("ports/uscg_port_conditions_enriched.csv")),
        std::fs::read_to_string(folder.join("questions.jsonl")),
    ) else {
        println!("skipped: no shared data at {}", folder.display());
        return;
    };
    let domain = cyclone();
    let mut facts: BTreeMap<String, Vec<Fact>> = BTreeMap::new();
    let mut failures = 0;
    for row in rows(&posts) {
        let time = jiff::civil::DateTime::strptime("%m/%d/%Y %H:%M", &row[1]).unwrap();
        let time = jiff::tz::TimeZone::UTC.to_timestamp(time).unwrap().to_string();
        match post(&domain, &time, &row[2]) {
            Ok(found) => facts.insert(row[0].to_owned(), found.facts),
            Err(_) => {
                failures += 1;
                None
            }
        };
    }
    println!("{} posts read, {failures} rejected", facts.len());
    assert!(failures <= 8, "{failures} posts rejected");
    let mut wrong = Vec::new();
    let mut total = 0;
    for line in questions.lines() {
        let question: serde_json::Value = serde_json::from_str(line).unwrap();
        let needs = question["needs"].as_array().unwrap();
        let id = needs.last().and_then(|need| need.as_str()?.split_once("#id="));
        let (Some((_, id)), Some("h_set" | "h_asof" | "h_next")) = (id, question["template"].as_str()) else {
            continue;
        };
        let answer = question["answer_text"].as_str().or(question["answer"].as_str()).unwrap_or_default();
        let answer = answer.split(' ').next().unwrap_or_default();
        total += 1;
        let has = facts.get(id).is_some_and(|facts| facts.iter().any(|fact| given(fact, "condition") == answer));
        if !has {
            wrong.push(format!("{} {} {answer}", question["id"], question["question"]));
        }
    }
    println!("{} of {total} conditions found", total - wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", cut in 0usize..300) {
        let domain = cyclone();
        let _ = post(&domain, "2021-08-30T18:00:00Z", &text);
        let real = "#UPDATE \u{26c8} @USCG Sector #StPetersburg &amp; Port of Tampa set modified Port Condition #XRay at 8 p.m. (day), Mon., \
                    then Zulu \u{2014} except St. Croix, which remains in IV at noon on October 29, 2012\u{2026} https://x.y";
        let mut cut = cut.min(real.len());
        while !real.is_char_boundary(cut) {
            cut -= 1;
        }
        let _ = post(&domain, "", &real[..cut]);
        let _ = post(&domain, "", &real[cut..]);
    }

    #[test]
    fn no_mix_of_its_words_makes_it_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..30)) {
        let _ = post(&cyclone(), "2021-08-30T18:00:00Z", &words.join(" "));
    }
}

const WORDS: &[&str] = &[
    "Port",
    "Condition",
    "Zulu",
    "X",
    "Ray",
    "modified",
    "from",
    "to",
    "while",
    ",",
    "and",
    "Sector",
    "Ports",
    "of",
    "#KeyWest",
    "Miami",
    "remain",
    "will",
    "at",
    "8",
    "p.m.",
    "Monday",
    "noon",
    ";",
    "\u{2013}",
    "except",
    "followed",
    "by",
    "COTP",
    "Hurricane",
    "#Ida",
    "FOUR",
    "TAMPA,",
    "Fla.",
    "impact",
    "due",
    "port",
    "open",
    "Oahu",
    "0600",
    "on",
    "October",
    "29,",
    "2012",
    "\n",
    "\n\n",
    "&amp;",
    "@USCG",
    "(",
];
