//! A whole product written for the test, and what becomes of broken ones.

use super::extract;
use crate::extraction::{Extraction, Fact};

const PRODUCT: &str = "ZCZC MIATCMAT2 ALL\r
TTAA00 KNHC DDHHMM\r
\r
HURRICANE OPAL FORECAST/ADVISORY NUMBER  12\r
NWS NATIONAL HURRICANE CENTER MIAMI FL       AL172011\r
2100 UTC FRI DEC 30 2011\r
\r
HURRICANE CENTER LOCATED NEAR 24.0N  88.5W AT 30/2100Z\r
POSITION ACCURATE WITHIN  15 NM\r
\r
PRESENT MOVEMENT TOWARD THE NORTHWEST OR 320 DEGREES AT  11 KT\r
\r
ESTIMATED MINIMUM CENTRAL PRESSURE  961 MB\r
EYE DIAMETER  20 NM\r
MAX SUSTAINED WINDS  95 KT WITH GUSTS TO 115 KT.\r
64 KT....... 30NE  25SE  15SW  30NW.\r
34 KT.......120NE  90SE\r
 60SW 110NW.\r
12 FT SEAS..150NE 120SE  90SW 140NW.\r
\r
REPEAT...CENTER LOCATED NEAR 24.0N  88.5W AT 30/2100Z\r
AT 30/1800Z CENTER WAS LOCATED NEAR 23.6N  88.1W\r
\r
FORECAST VALID 31/0600Z 25.4N  89.6W\r
MAX WIND 105 KT...GUSTS 130 KT.\r
34 KT...130NE 100SE  70SW 120NW.\r
\r
FORECAST VALID 01/1800Z 29.9N  90.2W...INLAND\r
MAX WIND  60 KT...GUSTS  XX KT.\r
50 KT... 30NE   0SE   0SW  ??NW.\r
\r
OUTLOOK VALID 02/1800Z...DISSIPATED\r
\r
NEXT ADVISORY AT 31/0300Z\r
\r
$$\r
FORECASTER NOBODY\r
";

fn number(fact: &Fact, name: &str) -> Option<f64> {
    let attribute = fact.attributes.iter().find(|attribute| attribute.name == name)?;
    attribute.value.number.map(hypercane_schemas::Fixed::to_f64)
}

fn of<'a>(extraction: &'a Extraction, relation: &str) -> Vec<&'a Fact> {
    extraction.facts.iter().filter(|fact| fact.relation == relation).collect()
}

#[test]
fn the_state_and_the_track_come_out() {
    let extraction = extract(PRODUCT).unwrap();
    let product = extraction.product.clone().unwrap();
    assert_eq!((product.kind.as_str(), product.name.as_str(), product.correction), ("tcm", "AL172011:012", 0));
    let state = of(&extraction, "has_cyclone_state")[0];
    for (name, value) in [
        ("latitude", 24.0),
        ("longitude", -88.5),
        ("max_wind", 95.0),
        ("gusts", 115.0),
        ("pressure", 961.0),
        ("eye_diameter", 20.0),
        ("position_accuracy", 15.0),
    ] {
        assert_eq!(number(state, name), Some(value), "{name}");
    }
    let motion = of(&extraction, "has_motion")[0];
    assert_eq!((number(motion, "motion_direction"), number(motion, "motion_speed")), (Some(320.0), Some(11.0)));
    let track = of(&extraction, "forecasts_track");
    let times: Vec<String> = track.iter().map(|fact| fact.valid_at.unwrap().to_string()).collect();
    assert_eq!(times, ["2011-12-31T06:00:00Z", "2012-01-01T18:00:00Z", "2012-01-02T18:00:00Z"]);
    assert_eq!(number(track[1], "max_wind"), Some(60.0));
    assert_eq!(number(track[2], "latitude"), None);
    assert_eq!(track[2].attributes.last().unwrap().value.given, "DISSIPATED");
}

#[test]
fn radii_now_and_then_and_their_spans() {
    let extraction = extract(PRODUCT).unwrap();
    let now = of(&extraction, "observes_hazard_at_horizon");
    assert_eq!(now.len(), 3);
    assert_eq!(now[1].span.of(PRODUCT), Some("34 KT.......120NE  90SE\r\n 60SW 110NW."));
    assert_eq!((number(now[1], "radius_sw"), number(now[2], "seas_nw")), (Some(60.0), Some(140.0)));
    let then = of(&extraction, "forecasts_hazard_at_horizon");
    assert_eq!(number(then[0], "radius_ne"), Some(130.0));
    for fact in &extraction.facts {
        assert!(fact.span.of(PRODUCT).is_some_and(|words| !words.is_empty() && words.trim() == words));
        assert!(fact.mentions.len() >= 3 && fact.text.contains("Hurricane Opal (AL172011)"), "{}", fact.text);
    }
}

#[test]
fn a_broken_line_is_a_failure_and_the_rest_counts() {
    let broken = PRODUCT.replace("MAX WIND 105 KT", "MAX WIND *** KT").replace("31/0600Z", "31/0660Z");
    let extraction = extract(&broken).unwrap();
    let lines: Vec<u32> = extraction.failures.iter().map(|failure| failure.line).collect();
    assert_eq!(lines, [24, 25]);
    assert_eq!(of(&extraction, "forecasts_track").len(), 2);
    // The radii under the lost point belong to nothing, least of all to now.
    assert_eq!(of(&extraction, "observes_hazard_at_horizon").len(), 3);
    assert_eq!(number(of(&extraction, "has_cyclone_state")[0], "max_wind"), Some(95.0));
}

#[test]
fn no_cut_panics() {
    for end in 0..PRODUCT.len() {
        let _ = extract(&PRODUCT[..end]);
        let _ = extract(&PRODUCT[end..]);
    }
}

proptest::proptest! {
    #[test]
    fn no_noise_panics(cut in 0..PRODUCT.len(), noise in "\\PC{0,80}", at in 0..PRODUCT.len()) {
        let (from, to) = (cut.min(at), cut.max(at));
        let _ = extract(&format!("{}{noise}{}", &PRODUCT[..from], &PRODUCT[to..]));
        let _ = extract(&format!("{}{noise}{}", &PRODUCT[..to], &PRODUCT[from..]));
    }
}
