//! A whole advisory written for the test, and what becomes of broken ones.

use super::extract;
use crate::extraction::{Extraction, Fact};
use crate::grammar::moment::minute_form;

const ADVISORY: &str = "ZCZC MIATCPAT2 ALL
TTAA00 KNHC DDHHMM CCA

BULLETIN
Tropical Storm Opal Intermediate Advisory Number 7A...Corrected
NWS National Hurricane Center Miami FL       AL172011
700 PM CST Fri Dec 30 2011

Corrected for the distance

...OPAL ABOUT TO MAKE LANDFALL ON THE
ALPHA COAST...
...HEAVY RAINS EXPECTED...

SUMMARY OF 700 PM CST...0100 UTC...INFORMATION
----------------------------------------------
LOCATION...29.0N 88.5W
ABOUT 50 MI...80 KM SSE OF BILOXI MISSISSIPPI
ABOUT 75 MI...120 KM ESE OF THE MOUTH OF THE
ALPHA RIVER
MAXIMUM SUSTAINED WINDS...60 MPH...95 KM/H
PRESENT MOVEMENT...N OR 360 DEGREES AT 12 MPH...19 KM/H
MINIMUM CENTRAL PRESSURE...996 MB...29.42 INCHES

WATCHES AND WARNINGS
--------------------
CHANGES WITH THIS ADVISORY:

None.

SUMMARY OF WATCHES AND WARNINGS IN EFFECT:

A Tropical Storm Warning is in effect for...
* Alpha Point to Beta Bay

A Tropical Storm Warning means that it blows.

DISCUSSION AND OUTLOOK
----------------------
On the forecast track, Opal will make landfall near Biloxi, Mississippi, tonight.

Tropical-storm-force winds extend outward up to 105 miles (165 km).

HAZARDS AFFECTING LAND
----------------------
RAINFALL:  Opal is expected to produce 3 to 5 inches of rain.

STORM SURGE:  The water could reach the following heights...

Alpha Point to Beta Bay...2-4 ft, with locally more in the
Gamma Sound
Beta Bay to Delta...1 to 3 ft

The surge will be accompanied by large waves.

TORNADOES:  A tornado is possible.

NEXT ADVISORY
-------------
Next complete advisory at 900 PM CST.

$$
Forecaster Nobody
";

fn number(fact: &Fact, name: &str) -> Option<f64> {
    let attribute = fact.attributes.iter().find(|attribute| attribute.name == name)?;
    attribute.value.number.map(hypercane_schemas::Fixed::to_f64)
}

fn with<'a>(extraction: &'a Extraction, relation: &str, words: &str) -> &'a Fact {
    let found = extraction.facts.iter().find(|fact| fact.relation == relation && fact.text.contains(words));
    found.unwrap_or_else(|| panic!("no {relation} with {words} in {:#?}", extraction.facts))
}

#[test]
fn every_section_gives_its_facts() {
    let extraction = extract(ADVISORY).unwrap();
    assert_eq!(extraction.failures, []);
    let product = extraction.product.clone().unwrap();
    assert_eq!((product.name.as_str(), product.correction), ("AL172011:007A", 1));
    let state = with(&extraction, "has_cyclone_state", "center located near");
    assert!(state.mentions.iter().any(|mention| mention.entity.0 == "state:AL172011:@2011-12-31T01:00Z"));
    assert_eq!(number(state, "pressure"), Some(996.0));
    assert!((number(state, "max_wind").unwrap() - 52.139).abs() < 0.001);
    with(&extraction, "forecasts_landfall", "headline: OPAL ABOUT TO MAKE LANDFALL ON THE ALPHA COAST");
    with(&extraction, "has_warning_status", "a Tropical Storm Warning is in effect for Alpha Point to Beta Bay");
    let landfall = with(&extraction, "forecasts_landfall", "will make landfall near Biloxi");
    assert!(landfall.mentions.iter().any(|mention| mention.entity.0 == "place:biloxi_ms"));
    let far = with(&extraction, "has_cyclone_state", "SSE of Biloxi, Mississippi");
    assert!((number(far, "distance").unwrap() - 43.448).abs() < 0.001);
    with(&extraction, "has_cyclone_state", "of The Mouth of the Alpha River");
    let extent = with(&extraction, "observes_hazard_at_horizon", "tropical-storm-force winds");
    assert_eq!(number(extent, "threshold"), Some(34.0));
    let rain = with(&extraction, "forecasts_hazard_at_horizon", "rain hazard");
    assert_eq!((number(rain, "rain_min"), number(rain, "rain_max")), (Some(3.0), Some(5.0)));
    let surge = with(
        &extraction,
        "forecasts_hazard_at_horizon",
        "Alpha Point to Beta Bay: 2-4 ft, with locally more in the Gamma",
    );
    assert_eq!((number(surge, "surge_min"), number(surge, "surge_max")), (Some(2.0), Some(4.0)));
    with(&extraction, "forecasts_hazard_at_horizon", "Beta Bay to Delta: 1 to 3 ft");
    with(&extraction, "has_additional_hazard", "A tornado is possible");
    let next = with(&extraction, "has_forecast_window", "Next complete advisory");
    assert_eq!(minute_form(next.valid_at.unwrap()), "2011-12-31T03:00Z");
    with(&extraction, "forecast_updates_to", "Corrected for the distance");
}

#[test]
fn spans_are_the_words_of_the_text() {
    let extraction = extract(ADVISORY).unwrap();
    for fact in &extraction.facts {
        let words = fact.span.of(ADVISORY).unwrap();
        assert!(!words.is_empty() && words.trim() == words, "{words:?}");
    }
    let surge = with(&extraction, "forecasts_hazard_at_horizon", "Alpha Point to Beta Bay: 2-4 ft");
    assert_eq!(
        surge.span.of(ADVISORY),
        Some("Alpha Point to Beta Bay...2-4 ft, with locally more in the\nGamma Sound")
    );
}

#[test]
fn a_broken_line_is_a_failure_and_the_rest_counts() {
    let broken = ADVISORY.replace("LOCATION...29.0N 88.5W", "LOCATION...29.0X 88.5W");
    let extraction = extract(&broken).unwrap();
    assert!(extraction.failures.iter().any(|failure| failure.line == 17), "{:?}", extraction.failures);
    assert!(extraction.facts.len() > 10);
}

#[test]
fn no_cut_panics() {
    for end in 0..ADVISORY.len() {
        let _ = extract(&ADVISORY[..end]);
        let _ = extract(&ADVISORY[end..]);
    }
}

proptest::proptest! {
    #[test]
    fn no_noise_panics(cut in 0..ADVISORY.len(), noise in "\\PC{0,80}", at in 0..ADVISORY.len()) {
        let (from, to) = (cut.min(at), cut.max(at));
        let _ = extract(&format!("{}{noise}{}", &ADVISORY[..from], &ADVISORY[to..]));
        let _ = extract(&format!("{}{noise}{}", &ADVISORY[..to], &ADVISORY[from..]));
    }
}
