//! Incremental equals rebuild: random histories of documents and horizons on 1, 2 and 4 workers.

use std::sync::Arc;

use hypercane::connect::packs;
use hypercane_schemas::{Document, DocumentKey, GroupKey, HorizonUpdate, Mode, Query, QueryId, QueryParameters};
use proptest::{
    collection::vec,
    prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest},
};

use crate::{
    harness::{History, Standing, Step, assert_equal, run},
    plain,
};

/// A small forecast/advisory, written for these tests: `correction` 0 is the first issue.
pub fn forecast_advisory(storm: u8, number: u8, correction: u8, wind: u8, drift: u8) -> String {
    let name = if storm == 1 { "ALDER" } else { "BIRCH" };
    let (day, hour) = (10 + number / 4, (number % 4) * 6 + 3);
    let code = if correction > 0 { " CCA" } else { "" };
    let corrected = if correction > 0 { "...CORRECTED" } else { "" };
    let wind = 30 + u16::from(wind) * 5;
    let latitude = 20.0 + f64::from(number) * 0.6 + f64::from(drift) * 0.1;
    let longitude = 88.0 + f64::from(number) * 0.4;
    format!(
        "ZCZC MIATCMAT{storm} ALL\nTTAA00 KNHC DDHHMM{code}\n\n\
         HURRICANE {name} FORECAST/ADVISORY NUMBER  {number}{corrected}\n\
         NWS NATIONAL HURRICANE CENTER MIAMI FL       AL{storm:02}2020\n\
         {hour:02}00 UTC MON AUG {day} 2020\n\n\
         HURRICANE CENTER LOCATED NEAR {latitude:.1}N  {longitude:.1}W AT {day}/{hour:02}00Z\n\
         POSITION ACCURATE WITHIN  20 NM\n\n\
         PRESENT MOVEMENT TOWARD THE NORTHWEST OR 315 DEGREES AT   9 KT\n\n\
         ESTIMATED MINIMUM CENTRAL PRESSURE  980 MB\n\
         MAX SUSTAINED WINDS {wind:3} KT WITH GUSTS TO {:3} KT.\n\
         34 KT....... 90NE  50SE  40SW  60NW.\n\n\
         FORECAST VALID 14/1200Z {:.1}N  {:.1}W\n\
         MAX WIND {wind:3} KT...GUSTS {:3} KT.\n\
         34 KT...110NE  70SE  50SW  80NW.\n\n\
         NEXT ADVISORY AT {:02}/0900Z\n\n$$\nFORECASTER NOBODY\n",
        wind + 10,
        latitude + 3.0,
        longitude + 2.0,
        wind + 15,
        day + 1,
    )
}

fn document() -> impl Strategy<Value = (DocumentKey, Option<Document>)> {
    let text = (1..=2_u8, 1..=5_u8, 0..=1_u8, 0..=3_u8, 0..=1_u8);
    let spoilt = prop_oneof![9 => Just(false), 1 => Just(true)];
    let horizon = prop_oneof![3 => Just(None), 1 => (1..=4_u16).prop_map(|n| Some(n * 12))];
    (0..8_u8, text, spoilt, horizon, any::<bool>()).prop_map(
        |(key, (storm, number, correction, wind, drift), spoilt, horizon, gone)| {
            let key = DocumentKey(format!("doc-{key}"));
            if gone {
                return (key, None);
            }
            let mut text = forecast_advisory(storm, number, correction, wind, drift);
            if spoilt {
                text.truncate(120);
            }
            let mut document = Document::plain(key.0.clone(), text);
            document.horizon_hours = horizon;
            (key, Some(document))
        },
    )
}

/// A document in parts by horizon; a spoilt part is cut, and a repeated one says its words under two horizons.
fn scenario() -> impl Strategy<Value = (DocumentKey, Option<Document>)> {
    let part = (1..=2_u8, 1..=5_u8, 0..=3_u8, prop_oneof![5 => Just(false), 1 => Just(true)]);
    (0..2_u8, vec(part, 1..4), any::<bool>(), any::<bool>()).prop_map(|(key, parts, repeated, gone)| {
        let key = DocumentKey(format!("scenario-{key}"));
        let mut text = String::new();
        for (idx, (storm, number, wind, spoilt)) in parts.into_iter().enumerate() {
            let mut part = forecast_advisory(storm, number, 0, wind, 0);
            if spoilt {
                part.truncate(120);
            }
            text.push_str(&format!("T-{} hours before landfall:\n{part}\n", 72 - 24 * idx));
        }
        if repeated {
            for hours in [12, 6] {
                text.push_str(&format!(
                    "T-{hours} hours before landfall: Port Condition ZULU is set for the Port of Houston.\n"
                ));
            }
        }
        (key.clone(), (!gone).then(|| Document::plain(key.0, text)))
    })
}

fn horizon() -> impl Strategy<Value = (GroupKey, Option<HorizonUpdate>)> {
    (1..=2_u8, 0..=3_i64, any::<bool>()).prop_map(|(storm, at, gone)| {
        let group = GroupKey(format!("AL{storm:02}2020"));
        let issued_at: jiff::Timestamp = "2020-08-12T00:00Z".parse().unwrap();
        let update = HorizonUpdate {
            group: group.clone(),
            reference_event: "landfall".into(),
            reference_at: issued_at + jiff::SignedDuration::from_hours(24 + 7 * at),
            issued_at,
        };
        (group, (!gone).then_some(update))
    })
}

/// Questions that name a storm, an advisory, a trend; one that names nothing and is answered by cosine alone.
const QUESTIONS: [&str; 5] = [
    "What is the maximum wind of Alder in advisory 3?",
    "How did the pressure of Hurricane Birch change?",
    "Where is Birch forecast to be at 12 UTC on 14 August 2020?",
    "Alder or Birch: which was stronger two days before landfall?",
    "how far do gales reach",
];

fn query() -> impl Strategy<Value = (QueryId, Option<Query>)> {
    let as_of = prop_oneof![2 => Just(None), 1 => (10..13_i8).prop_map(Some)];
    (0..4_u8, 0..QUESTIONS.len(), as_of, any::<bool>()).prop_map(|(id, question, as_of, gone)| {
        let id = QueryId(format!("query-{id}"));
        let query = Query {
            id: id.clone(),
            question: QUESTIONS[question].into(),
            mode: Mode::Trajectory,
            group: None,
            as_of: as_of.map(|day| format!("2020-08-{day}T12:00Z").parse().unwrap()),
            parameters: QueryParameters { seeds: 12, candidates: 20, length: 4, ..QueryParameters::default() },
        };
        (id, (!gone).then_some(query))
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => document().prop_map(|(key, document)| Step::Document(key, document)),
        1 => scenario().prop_map(|(key, document)| Step::Document(key, document)),
        1 => horizon().prop_map(|(group, horizon)| Step::Horizon(group, horizon)),
        2 => query().prop_map(|(id, query)| Step::Query(id, query)),
    ]
}

pub fn history() -> impl Strategy<Value = History> {
    vec(vec(step(), 0..6), 1..6)
}

fn check(history: &History, n_workers: usize) {
    let domain = Arc::new(packs::load("cyclone").unwrap());
    let mut standing = Standing::default();
    run(history, n_workers, &domain, |epoch, found| {
        standing.apply(&history[epoch]);
        let wanted = plain::state(&standing.documents, &standing.horizons, &standing.queries, &domain);
        assert_equal(found, &wanted, &format!("{n_workers} workers, epoch {epoch}"));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn incremental_equals_rebuild_on_one_worker(history in history()) {
        check(&history, 1);
    }

    #[test]
    fn incremental_equals_rebuild_on_two_workers(history in history()) {
        check(&history, 2);
    }

    #[test]
    fn incremental_equals_rebuild_on_four_workers(history in history()) {
        check(&history, 4);
    }
}

#[test]
fn the_advisories_of_these_tests_are_read_without_failure() {
    let domain = packs::load("cyclone").unwrap();
    let document = Document::plain("x", forecast_advisory(1, 3, 0, 5, 0));
    let extraction = hypercane_operators::grammar::extract(&document, &domain).unwrap();
    assert_eq!(extraction.failures, vec![]);
    assert!(extraction.facts.len() >= 6, "{:#?}", extraction.facts);
}
