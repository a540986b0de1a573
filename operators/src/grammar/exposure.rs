//! Derived facts: what the track of one Forecast/Advisory means for each port near it.

use hypercane_schemas::{Attribute, Fixed, GroupKey, Origin, Span};
use jiff::Timestamp;

use super::facts::{mention, moment, plain};
use super::moment::{minute_form, spoken_form};
use crate::domain::Domain;
use crate::extraction::{Extraction, Fact, Mention};
use crate::kernel::exposure::{Exposure, PortSite, THRESHOLDS_KT, TrackPoint, WindRadii, exposures};

/// Confidence of what is interpolated between forecast points.
const CONFIDENCE: f64 = 0.8;

/// The exposure facts of a Forecast/Advisory, in the order of the pack's ports; none for other products.
pub fn facts(extraction: &Extraction, domain: &Domain) -> Vec<Fact> {
    let Some(product) = extraction.product.as_ref().filter(|product| product.kind == "tcm") else { return Vec::new() };
    let (Some(issued_at), Some(source)) = (extraction.issued_at, Source::of(extraction)) else { return Vec::new() };
    let track = track(extraction, issued_at);
    let sites: Vec<PortSite> = domain.ports().iter().map(site).collect();
    let found = exposures(&track, &sites);
    let lead =
        format!("{} forecast/advisory {} issued {}", source.storm.name, number(&product.name), spoken_form(issued_at));
    let mut facts = Vec::new();
    for exposure in &found {
        let Some(port) = domain.ports().get(exposure.port) else { continue };
        let mut named = mention(format!("port:{}", port.slug), &port.name, "port", "port");
        named.aliases = port.names.iter().filter(|name| **name != port.name).cloned().collect();
        named.aliases.sort();
        let about = About { exposure, issued_at, lead: &lead, port: named, slug: &port.slug, source: &source };
        facts.extend(about.facts());
    }
    facts
}

fn site(port: &crate::domain::Port) -> PortSite {
    PortSite {
        key: format!("port:{}", port.slug),
        name: port.name.clone(),
        latitude: port.latitude,
        longitude: port.longitude,
    }
}

/// `AL092017:019` is advisory 19.
fn number(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name).trim_start_matches('0')
}

/// What all derived facts share with the facts of the product.
struct Source {
    storm: Mention,
    product: Mention,
    group: GroupKey,
    span: Span,
}

impl Source {
    fn of(extraction: &Extraction) -> Option<Self> {
        let state = extraction.facts.iter().find(|fact| fact.relation == "has_cyclone_state")?;
        let role = |role: &str| state.mentions.iter().find(|mention| mention.role == role).cloned();
        let track = extraction.facts.iter().filter(|fact| fact.relation == "forecasts_track");
        let span = track.fold(state.span, |span, fact| span.cover(fact.span));
        Some(Self { storm: role("storm")?, product: role("advisory")?, group: state.group.clone(), span })
    }
}

fn value(fact: &Fact, name: &str) -> Option<f64> {
    let attribute = fact.attributes.iter().find(|attribute| attribute.name == name)?;
    Some(attribute.value.number?.to_f64())
}

/// The center now and at each forecast time that has a position, with the radii that are given for it.
fn track(extraction: &Extraction, issued_at: Timestamp) -> Vec<TrackPoint> {
    let mut track: Vec<TrackPoint> = Vec::new();
    for fact in &extraction.facts {
        let at = match fact.relation.as_str() {
            "has_cyclone_state" => fact.valid_at.unwrap_or(issued_at),
            "forecasts_track" => fact.valid_at.unwrap_or(issued_at),
            _ => continue,
        };
        let (Some(latitude), Some(longitude)) = (value(fact, "latitude"), value(fact, "longitude")) else { continue };
        track.push(TrackPoint { at, latitude, longitude, max_wind_kt: value(fact, "max_wind"), radii: Vec::new() });
    }
    for fact in &extraction.facts {
        let quadrants = ["ne", "se", "sw", "nw"].map(|side| value(fact, &format!("radius_{side}")));
        let (Some(threshold), true) = (value(fact, "threshold"), quadrants.iter().any(Option::is_some)) else {
            continue;
        };
        // A quadrant that a line leaves out has no such wind.
        let radii =
            WindRadii { threshold_kt: threshold as u16, quadrants_nm: quadrants.map(|radius| radius.unwrap_or(0.0)) };
        let at = fact.valid_at.unwrap_or(issued_at);
        let point = track.iter_mut().find(|point| point.at == at);
        // Radii `now` carry the issue time, the center may carry the time of its fix.
        let point = match point {
            Some(point) => Some(point),
            None if at == issued_at => track.first_mut(),
            None => None,
        };
        if let Some(point) = point {
            point.radii.push(radii);
        }
    }
    track
}

/// One port's exposure on its way to facts.
struct About<'a> {
    exposure: &'a Exposure,
    issued_at: Timestamp,
    lead: &'a str,
    port: Mention,
    slug: &'a str,
    source: &'a Source,
}

impl About<'_> {
    /// `Port of Galveston`, but `Port Arthur` as it is.
    fn harbour(&self) -> String {
        let name = &self.port.name;
        if name.starts_with("Port") { name.clone() } else { format!("Port of {name}") }
    }

    fn facts(&self) -> Vec<Fact> {
        let exposure = self.exposure;
        let distance = plain((exposure.distance_nm * 10.0).round() / 10.0);
        let closest = format!(
            "{}: on the forecast track the center is closest to {} at {}, {distance} nm away (computed)",
            self.lead,
            self.harbour(),
            spoken_form(exposure.closest_at)
        );
        let attributes = vec![
            Attribute::number("distance", exposure.distance_nm, "nm", format!("{distance} nm")),
            Attribute::time("closest_at", exposure.closest_at, minute_form(exposure.closest_at)),
        ];
        let mut facts = vec![self.fact("has_forecast_window", closest, attributes, exposure.closest_at)];
        for (threshold, reached_at) in THRESHOLDS_KT.into_iter().zip(exposure.reached_at) {
            let Some(at) = reached_at else { continue };
            let text = format!(
                "{}: by the forecast track and radii winds of {threshold} kt first reach {} at {} (computed)",
                self.lead,
                self.harbour(),
                spoken_form(at)
            );
            let attributes = vec![
                Attribute::number("threshold", f64::from(threshold), "kt", format!("{threshold} kt")),
                Attribute::time(&format!("reaches_{threshold}kt_at"), at, minute_form(at)),
            ];
            facts.push(self.fact("has_threshold_status", text, attributes, at));
        }
        facts
    }

    fn fact(&self, relation: &str, text: String, attributes: Vec<Attribute>, valid_at: Timestamp) -> Fact {
        let storm = &self.source.group.0;
        let key = format!("exposure:{storm}:{}:@{}", self.slug, minute_form(self.issued_at));
        let name = format!("Exposure of {} to {}", self.port.name, self.source.storm.name);
        let mut mentions = vec![
            self.source.storm.clone(),
            self.source.product.clone(),
            moment(self.issued_at, "issued"),
            self.port.clone(),
            mention(key, name, "port_exposure", "state"),
        ];
        if valid_at != self.issued_at {
            mentions.push(moment(valid_at, "valid"));
        }
        Fact {
            relation: relation.into(),
            mentions,
            text,
            span: self.source.span,
            attributes,
            relations: Vec::new(),
            group: GroupKey(format!("{storm}:{}", self.slug)),
            valid_at: Some(valid_at),
            confidence: Fixed::from_f64(CONFIDENCE),
            origin: Origin::Derived,
            reference_at: Some(self.exposure.reached_at[0].unwrap_or(self.exposure.closest_at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::facts;
    use crate::domain::cyclone;
    use crate::grammar::tcm;

    const ADVISORY: &str = "\
TROPICAL STORM OPAL FORECAST/ADVISORY NUMBER   3
NWS NATIONAL HURRICANE CENTER MIAMI FL       AL032021
0300 UTC FRI AUG 27 2021

TROPICAL STORM CENTER LOCATED NEAR 26.0N  94.8W AT 27/0300Z
POSITION ACCURATE WITHIN  20 NM

PRESENT MOVEMENT TOWARD THE NORTH OR 360 DEGREES AT  10 KT

ESTIMATED MINIMUM CENTRAL PRESSURE  995 MB
MAX SUSTAINED WINDS  50 KT WITH GUSTS TO  60 KT.
50 KT....... 20NE  20SE   0SW   0NW.
34 KT.......100NE 100SE  60SW  60NW.

REPEAT...CENTER LOCATED NEAR 26.0N  94.8W AT 27/0300Z

FORECAST VALID 27/1200Z 27.5N  94.8W
MAX WIND  55 KT...GUSTS  65 KT.
50 KT... 20NE  20SE   0SW   0NW.
34 KT...100NE 100SE  60SW  60NW.

FORECAST VALID 28/0000Z 29.5N  94.8W
MAX WIND  55 KT...GUSTS  65 KT.
50 KT... 20NE  20SE  20SW  20NW.
34 KT...100NE 100SE  60SW  60NW.

$$
";

    #[test]
    fn ports_near_the_track_have_a_closest_approach_and_first_winds() {
        let found = facts(&tcm::extract(ADVISORY).unwrap(), &cyclone());
        let galveston: Vec<_> = found.iter().filter(|fact| fact.group.0 == "AL032021:galveston_tx").collect();
        let relations: Vec<&str> = galveston.iter().map(|fact| fact.relation.as_str()).collect();
        assert_eq!(relations, ["has_forecast_window", "has_threshold_status", "has_threshold_status"]);
        // The track runs along 94.8W; Galveston lies at 29.31N on it, reached between 27.5N (12Z) and 29.5N (00Z).
        assert!(galveston[0].text.contains("2021-08-27 22:5"), "{}", galveston[0].text);
        let gale = galveston[1].valid_at.unwrap();
        assert!(galveston.iter().all(|fact| fact.reference_at == Some(gale)));
        assert!(gale < galveston[0].valid_at.unwrap() && gale < galveston[2].valid_at.unwrap());
        assert!(
            galveston[0]
                .mentions
                .iter()
                .any(|mention| mention.entity.0 == "exposure:AL032021:galveston_tx:@2021-08-27T03:00Z")
        );
        assert!(!found.iter().any(|fact| fact.group.0.contains("miami")));
    }
}
