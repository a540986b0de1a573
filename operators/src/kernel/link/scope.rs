//! Keys by which questions find candidate hyperedges: a join on equal keys in the dataflow, a map lookup here.
//!
//! A hyperedge has a handful of keys, made of what it is about: its product; its storm with its issue day, with its valid
//! time, with a place, with its family, with its horizon; and for port documents the place and the month. A question asks
//! for the narrowest keys that its links allow.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use hypercane_schemas::{ContentHash, EntityKey, Hyperedge};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::Offset};

use super::{Links, key_parts, score::product_of};
use crate::domain::Questions;

/// A key that a question and a hyperedge share when the one may be evidence for the other: the hash of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ScopeKey(pub ContentHash);

fn hashed(words: &str) -> ScopeKey {
    ScopeKey(ContentHash::of_parts([words]))
}

/// Whole minutes since 1970.
pub(super) fn minute(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}

fn day(at: Timestamp) -> Date {
    Offset::UTC.to_datetime(at).date()
}

fn month(at: Date) -> String {
    format!("{:04}-{:02}", at.year(), at.month())
}

fn product_key(key: &EntityKey) -> ScopeKey {
    hashed(&format!("product {}", key.0))
}
fn issued_key(storm: &EntityKey, at: Date) -> ScopeKey {
    hashed(&format!("issued {} {at}", storm.0))
}
fn valid_key(storm: &EntityKey, at: Timestamp) -> ScopeKey {
    hashed(&format!("valid {} {}", storm.0, minute(at)))
}
fn place_key(storm: &EntityKey, place: &EntityKey) -> ScopeKey {
    hashed(&format!("place {} {}", storm.0, place.0))
}
/// A place under any storm, for questions that name no storm and no time.
fn anywhere_key(place: &EntityKey) -> ScopeKey {
    hashed(&format!("place {}", place.0))
}
fn family_key(storm: &EntityKey, family: u8) -> ScopeKey {
    hashed(&format!("family {} {family}", storm.0))
}
fn horizon_key(storm: &EntityKey, hours: i32) -> ScopeKey {
    hashed(&format!("horizon {} {hours}", storm.0))
}
fn port_month_key(at: Date) -> ScopeKey {
    hashed(&format!("ports {}", month(at)))
}
fn port_storm_key(storm: &EntityKey) -> ScopeKey {
    hashed(&format!("ports {}", storm.0))
}
/// Port documents that do not say when they were issued.
fn undated_key() -> ScopeKey {
    hashed("ports undated")
}
fn probability_day_key(at: Date) -> ScopeKey {
    hashed(&format!("probabilities {at}"))
}
fn day_key(at: Date) -> ScopeKey {
    hashed(&format!("day {at}"))
}

/// The keys of a hyperedge, sorted.
pub fn edge_scope_keys(edge: &Hyperedge, questions: &Questions) -> Vec<ScopeKey> {
    let mut keys = BTreeSet::new();
    if let Some(product) = product_of(edge) {
        keys.insert(product_key(product.key));
    }
    let is_port = questions.is_operation(edge.base_family);
    if let Some(issued) = edge.issued_at {
        if is_port {
            keys.insert(port_month_key(day(issued)));
        }
        // All that was said on a day, for questions whose storm is not known; probabilities apart, since they are many.
        let is_probability = questions.roles.probabilities == Some(edge.base_family);
        let of_day = if is_probability { probability_day_key } else { day_key };
        keys.insert(of_day(day(issued)));
    }
    if is_port && edge.issued_at.is_none() {
        keys.insert(undated_key());
    }
    let places = || {
        let entities = edge.members.iter().map(|member| &member.entity);
        entities.filter(|key| questions.types.places.contains(key_parts(key).0))
    };
    keys.extend(places().map(anywhere_key));
    for storm in edge.members.iter().map(|m| &m.entity).filter(|k| k.0.starts_with("storm:")) {
        keys.insert(family_key(storm, edge.base_family));
        if is_port {
            keys.insert(port_storm_key(storm));
        }
        keys.extend(edge.issued_at.map(|at| issued_key(storm, day(at))));
        keys.extend(edge.valid_at.filter(|at| Some(*at) != edge.issued_at).map(|at| valid_key(storm, at)));
        keys.extend(edge.horizon_hours.map(|hours| horizon_key(storm, hours)));
        keys.extend(places().map(|place| place_key(storm, place)));
    }
    keys.into_iter().collect()
}

/// How long before `as_of` a port's posts still say how it stands.
const PORT_WINDOW_DAYS: i64 = 24;

impl Links {
    /// The keys under which candidates are found, sorted; the narrowest that the links allow.
    pub(super) fn scope_keys(&self, questions: &Questions) -> Vec<ScopeKey> {
        let asks = |family: Option<u8>| family.is_some_and(|family| self.cues.families.contains(&family));
        let mut keys = BTreeSet::new();
        let storms: Vec<&EntityKey> = self.storms.iter().flat_map(|s| &s.keys).collect();
        if storms.is_empty() && self.moments.is_empty() && self.days.is_empty() && self.as_of.is_none() {
            // Only the places are left to go by; without one, cosine finds the candidates.
            let places = self.places.iter().flat_map(|place| place.keys.iter().chain(&place.near));
            return places.map(anywhere_key).collect::<BTreeSet<_>>().into_iter().collect();
        }
        if self.about_ports {
            self.port_scope(&storms, &mut keys);
            if keys.is_empty() || !asks(questions.roles.warnings) {
                return keys.into_iter().collect();
            }
        }
        if !self.numbers.is_empty() && !storms.is_empty() {
            let kinds: Vec<&str> = match self.kinds.is_empty() {
                true => questions.products.iter().filter(|p| p.numbered).map(|p| p.kind.as_str()).collect(),
                false => self.kinds.iter().map(String::as_str).collect(),
            };
            for storm in &storms {
                let id = key_parts(storm).1;
                for number in self.numbers.iter().chain(&self.between) {
                    let letter = number.letter.map(String::from).unwrap_or_default();
                    let name = |kind: &str| EntityKey(format!("{kind}:{id}:{:03}{letter}", number.number));
                    keys.extend(kinds.iter().map(|kind| product_key(&name(kind))));
                }
            }
            return keys.into_iter().collect();
        }
        for storm in &storms {
            for moment in &self.moments {
                keys.insert(issued_key(storm, day(*moment)));
                // The product before a moment may be of the day before.
                let before = moment.checked_sub(SignedDuration::from_hours(12)).unwrap_or(*moment);
                keys.insert(issued_key(storm, day(before)));
                keys.insert(valid_key(storm, *moment));
            }
            keys.extend(self.days.iter().map(|at| issued_key(storm, *at)));
            keys.extend(self.horizons.iter().map(|hours| horizon_key(storm, *hours)));
            let places = self.places.iter().flat_map(|p| p.keys.iter().chain(&p.near));
            keys.extend(places.map(|place| place_key(storm, place)));
            let spread =
                self.intends_series() || (self.moments.is_empty() && self.days.is_empty() && self.horizons.is_empty());
            if spread {
                let too_many = |f: &u8| questions.roles.probabilities == Some(*f) && !self.places.is_empty();
                let asked = self.cues.families.iter().copied().filter(|f| !too_many(f));
                keys.extend(asked.chain(questions.roles.state).map(|family| family_key(storm, family)));
            }
        }
        if storms.is_empty() {
            let days = self.moments.iter().map(|at| day(*at)).chain(self.days.iter().copied());
            let of_day = if asks(questions.roles.probabilities) { probability_day_key } else { day_key };
            keys.extend(days.map(of_day));
            self.port_scope(&storms, &mut keys);
        }
        keys.into_iter().collect()
    }

    /// Port documents: of the storms that are named, of the months of the times that are named, and of the weeks before `as_of`.
    fn port_scope(&self, storms: &[&EntityKey], keys: &mut BTreeSet<ScopeKey>) {
        keys.extend(storms.iter().map(|storm| port_storm_key(storm)));
        keys.insert(undated_key());
        let mut days: Vec<Date> = self.moments.iter().map(|at| day(*at)).chain(self.days.iter().copied()).collect();
        days.extend(self.as_of.map(day));
        for date in days {
            keys.insert(port_month_key(date));
            let before = date.checked_sub(SignedDuration::from_hours(24 * PORT_WINDOW_DAYS));
            keys.extend(before.ok().map(port_month_key));
        }
    }
}
