//! Tropical Cyclone Update (TCU): news between two advisories, with a summary block or in sentences only.

use super::tcp;
use crate::extraction::{Extraction, Failure};

/// The facts of an update.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    tcp::short_product(text)
}

#[cfg(test)]
mod tests {
    use super::extract;

    const UPDATE: &str = "ZCZC MIATCUAT2 ALL\n\nHurricane Opal Tropical Cyclone Update\nNWS MIAMI FL AL172011\n\
        250 PM AST Thu Dec 29 2011\n\n...OPAL STRONGER...\n\nAn aircraft found that maximum sustained winds have \
        increased to\n100 mph (160 km/h).\n\n$$\n";

    #[test]
    fn an_update_without_block_gives_its_sentences() {
        let extraction = extract(UPDATE).unwrap();
        assert_eq!(extraction.product.unwrap().name, "AL172011:2011-12-29T18:50Z");
        let state = extraction.facts.iter().find(|fact| fact.relation == "has_cyclone_state").unwrap();
        assert!(state.text.ends_with("maximum sustained winds 100 mph (85 kt)"), "{}", state.text);
        assert!(extraction.facts.iter().any(|fact| fact.text.ends_with("headline: OPAL STRONGER")));
    }

    #[test]
    fn no_cut_panics() {
        for end in 0..UPDATE.len() {
            let _ = extract(&UPDATE[..end]);
        }
    }
}
