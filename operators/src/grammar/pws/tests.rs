//! A product made up in the form of the real ones, and the real ones where they are at hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use super::extract;
use crate::extraction::{Extraction, Fact};

const PRODUCT: &str = "\
ZCZC MIAPWSAT1 ALL
TTAA00 KNHC DDHHMM

TROPICAL STORM OPAL WIND SPEED PROBABILITIES NUMBER   7
NWS NATIONAL HURRICANE CENTER MIAMI FL       AL032021
0900 UTC FRI AUG 27 2021

AT 0900Z THE CENTER OF TROPICAL STORM OPAL WAS LOCATED NEAR LATITUDE
24.1 NORTH...LONGITUDE 87.3 WEST WITH MAXIMUM SUSTAINED WINDS NEAR
55 KTS...65 MPH...100 KM/H.

CHANCES OF SUSTAINED (1-MINUTE AVERAGE) WIND SPEEDS OF AT LEAST
   ...34 KT (39 MPH... 63 KM/H)...

               FROM    FROM    FROM    FROM    FROM    FROM    FROM
  TIME       06Z FRI 18Z FRI 06Z SAT 18Z SAT 06Z SUN 06Z MON 06Z TUE
PERIODS         TO      TO      TO      TO      TO      TO      TO
             18Z FRI 06Z SAT 18Z SAT 06Z SUN 06Z MON 06Z TUE 06Z WED

FORECAST HOUR    (12)   (24)    (36)    (48)    (72)    (96)   (120)
- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
LOCATION       KT

NEW ORLEANS LA 34  X   3( 3)   8(11)  20(31)  15(46)   2(48)   X(48)
NEW ORLEANS LA 50  X   X( X)   1( 1)   4( 5)   6(11)   X(11)   X(11)

GFMX 280N 890W 34  2  10(12)  30(42)  20(62)   5(67)   X(67)   X(67)
BROKEN ROW     34  2  10(12)  30(42)  20(62

$$
FORECASTER NOBODY
";

fn number(fact: &Fact, name: &str) -> Option<f64> {
    let found = fact.attributes.iter().find(|attribute| attribute.name == name)?;
    Some(found.value.number?.to_f64())
}

#[test]
fn every_row_is_a_fact_with_all_its_periods() {
    let found = extract(PRODUCT).unwrap();
    assert_eq!(found.facts.len(), 4);
    let state = &found.facts[0];
    assert_eq!(state.relation, "has_cyclone_state");
    assert_eq!(
        (number(state, "latitude"), number(state, "longitude"), number(state, "max_wind")),
        (Some(24.1), Some(-87.3), Some(55.0))
    );
    let row = &found.facts[1];
    assert_eq!(row.relation, "has_cumulative_probability");
    assert_eq!(row.span.of(PRODUCT), Some("NEW ORLEANS LA 34  X   3( 3)   8(11)  20(31)  15(46)   2(48)   X(48)"));
    assert_eq!((number(row, "threshold"), number(row, "probability_onset_12")), (Some(34.0), Some(0.0)));
    assert_eq!(
        (number(row, "probability_onset_48"), number(row, "probability_cumulative_120")),
        (Some(20.0), Some(48.0))
    );
    let end = row.attributes.iter().find(|attribute| attribute.name == "period_end_120").unwrap();
    assert_eq!(
        (end.value.time.unwrap().to_string().as_str(), end.value.given.as_str()),
        ("2021-09-01T06:00:00Z", "06Z WED")
    );
    let keys: Vec<&str> = row.mentions.iter().map(|mention| mention.entity.0.as_str()).collect();
    assert!(keys.contains(&"place:new_orleans_la"));
    assert!(keys.contains(&"wind_prob:AL032021:new_orleans_la:34:@2021-08-27T09:00Z"));
    assert_eq!(row.group.0, "AL032021");
    assert!(row.text.contains("New Orleans, Louisiana") && row.text.contains("48 h 20(31)"), "{}", row.text);
    assert_eq!(found.failures.len(), 1);
    assert!(found.failures[0].reason.contains("BROKEN ROW"));
}

#[test]
fn a_text_without_a_table_is_a_failure() {
    assert!(extract("").is_err());
    assert!(extract("TROPICAL STORM OPAL WIND SPEED PROBABILITIES NUMBER   7\n0900 UTC FRI AUG 27 2021\n").is_err());
}

/// What the independent table says of a row: onset and cumulative percent by hour.
fn expected(row: &csv::StringRecord, headers: &csv::StringRecord) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    for (header, value) in headers.iter().zip(row).filter(|(header, _)| header.starts_with("Wind") && *header != "Wind")
    {
        let (name, hour) = match header.strip_suffix("Cum") {
            Some(hour) => ("cumulative", &hour[4..]),
            None => ("onset", &header[4..]),
        };
        values.push((format!("probability_{name}_{hour}"), value.parse().unwrap()));
    }
    values
}

#[test]
fn real_products_agree_with_the_independent_table() {
    let shared = std::env::var_os("HYPERCANE_SHARED").map(PathBuf::from);
    let folder =
        shared.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared")).join("data/cyclone");
    let Ok(table) = std::fs::read_to_string(folder.join("cyportqa/wndprb_pairs.csv")) else {
        println!("skipped: no shared data at {}", folder.display());
        return;
    };
    let mut products: BTreeMap<String, Extraction> = BTreeMap::new();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let (mut right, mut wrong) = (0, Vec::new());
    for row in reader.into_records().map(Result::unwrap) {
        let file = row[0].to_owned();
        let product = products.entry(file.clone()).or_insert_with(|| {
            let bytes = std::fs::read(folder.join(&file)).unwrap();
            extract(&String::from_utf8_lossy(&bytes)).unwrap_or_else(|failure| panic!("{file}: {failure:?}"))
        });
        let (place, threshold) = (&row[4], row[5].parse::<f64>().unwrap());
        let slug = super::place::named(place).slug;
        let fact = product.facts.iter().find(|fact| {
            number(fact, "threshold") == Some(threshold)
                && fact.mentions.iter().any(|mention| mention.entity.0 == format!("place:{slug}"))
        });
        let agrees = fact.is_some_and(|fact| {
            expected(&row, &headers).into_iter().all(|(name, value)| number(fact, &name) == Some(value))
        });
        if agrees { right += 1 } else { wrong.push(row) }
    }
    println!("{right} of {} rows of {} products agree", right + wrong.len(), products.len());
    assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(5)]);
    let mut n_read = 0;
    for storm in std::fs::read_dir(folder.join("cyportqa")).unwrap().flatten() {
        for file in std::fs::read_dir(storm.path()).into_iter().flatten().flatten() {
            if !file.file_name().to_string_lossy().starts_with("pws_") {
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
            let found = extract(&text).unwrap_or_else(|failure| panic!("{}: {failure:?}", file.path().display()));
            assert!(found.failures.is_empty(), "{}: {:?}", file.path().display(), found.failures);
            let state = found
                .facts
                .iter()
                .any(|fact| fact.relation == "has_cyclone_state" && number(fact, "max_wind").is_some());
            assert!(state, "{} has no state", file.path().display());
            n_read += 1;
        }
    }
    println!("{n_read} products read whole");
}

proptest! {
    #[test]
    fn no_cut_and_no_noise_makes_it_panic(cut in 0..PRODUCT.len(), noise in "\\PC{0,60}", at in 0..PRODUCT.len()) {
        let _ = extract(&PRODUCT[..cut]);
        let _ = extract(&format!("{}{noise}{}", &PRODUCT[..at], &PRODUCT[at..]));
    }
}
