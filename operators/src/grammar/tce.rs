//! Tropical Cyclone Position Estimate (TCE, until 2012): where the center is, hour by hour, in one sentence.

use super::tcp;
use crate::extraction::{Extraction, Failure};

/// The facts of a position estimate.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    let extraction = tcp::short_product(text)?;
    let placed =
        extraction.facts.iter().any(|fact| fact.attributes.iter().any(|attribute| attribute.name == "latitude"));
    if !placed {
        return Err(Failure { line: 1, reason: "no sentence gives latitude and longitude of the center".into() });
    }
    Ok(extraction)
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn the_sentence_gives_the_position() {
        let text = "ZCZC MIATCEAT1 ALL\nHURRICANE OPAL TROPICAL CYCLONE POSITION ESTIMATE\nNWS MIAMI FL AL172011\n\
            500 PM CDT THU DEC 29 2011\n\nAT 5 PM CDT THE CENTER OF HURRICANE OPAL WAS ESTIMATED NEAR LATITUDE\n\
            24.4 NORTH...LONGITUDE 97.1 WEST.\n\n$$\n";
        let extraction = extract(text).unwrap();
        assert!(extraction.facts.iter().any(|fact| fact.text.contains("24.4N 97.1W")));
        assert!(extract(&text.replace("LATITUDE", "LAT")).is_err());
    }
}
