//! How well a hyperedge fits the links of a question.

use std::collections::BTreeSet;

use hypercane_schemas::{EntityKey, Fixed, Hyperedge, Origin};
use jiff::{Timestamp, tz::Offset};

use super::{super::sequence, Links, Number, key_parts, scope::minute, storms::is_numbered, words::plain};
use crate::domain::Questions;

/// The product that a hyperedge comes from: kind, number and letter.
#[derive(Clone, Copy)]
pub(super) struct ProductOf<'a> {
    /// Its entity.
    pub key: &'a EntityKey,
    /// Its kind.
    pub kind: &'a str,
    /// Its number, where it has one.
    pub number: Option<Number>,
}

/// Reads the product among a hyperedge's members.
pub(super) fn product_of(edge: &Hyperedge) -> Option<ProductOf<'_>> {
    let member = edge.members.iter().rfind(|m| m.role == "advisory")?;
    let (kind, name) = key_parts(&member.entity);
    let last = name.rsplit(':').next().unwrap_or("");
    let digits = last.bytes().take_while(u8::is_ascii_digit).count();
    let letter = last[digits..].chars().next();
    let whole = digits > 0 && digits <= 3 && last.len() <= digits + 1;
    let number = whole.then(|| last[..digits].parse().ok()).flatten().map(|number| Number { number, letter });
    Some(ProductOf { key: &member.entity, kind, number })
}

/// Where a hyperedge stands among what a question is answered from: its product, or its first document.
pub fn shelf_of(edge: &Hyperedge) -> &str {
    match product_of(edge) {
        Some(product) => &product.key.0,
        None => edge.provenance.first().map_or("", |place| &place.document.0),
    }
}

/// Points for each kind of link.
mod points {
    pub(super) const ISSUED: i64 = 40;
    pub(super) const NUMBER: i64 = 40;
    pub(super) const BULLETIN: i64 = 40;
    pub(super) const DAY: i64 = 12;
    pub(super) const VALID: i64 = 30;
    pub(super) const PERIOD: i64 = 8;
    pub(super) const PLACE: i64 = 30;
    pub(super) const NEAR: i64 = 12;
    pub(super) const FORM: i64 = 14;
    pub(super) const KIND: i64 = 14;
    pub(super) const FAMILY: i64 = 10;
    pub(super) const ATTRIBUTE: i64 = 4;
    pub(super) const LEVEL: i64 = 8;
    pub(super) const CONDITION: i64 = 8;
    pub(super) const CLASS: i64 = 3;
    pub(super) const STORM: i64 = 10;
    pub(super) const HORIZON: i64 = 20;
    pub(super) const WORD: i64 = 2;
    pub(super) const CHANGE: i64 = 24;
}

impl Links {
    /// Whether the question is about what ports do.
    pub(super) fn is_about_ports(&self, questions: &Questions) -> bool {
        let products = || self.kinds.iter().filter_map(|kind| questions.product(kind));
        let named_kind = products().any(|product| product.operations);
        let condition = self.cues.attributes.iter().any(|a| a == "condition")
            && questions.conditions.subjects.iter().any(|word| self.words.contains(word));
        let family = condition || self.cues.families.iter().any(|f| questions.is_operation(*f));
        let probabilities = questions.roles.probabilities.is_some_and(|f| self.cues.families.contains(&f));
        !products().any(|product| product.numbered)
            && self.numbers.is_empty()
            && (named_kind || (family && !probabilities))
    }

    /// How many links a hyperedge satisfies, weighted; `None` where a link excludes it.
    pub fn score(&self, edge: &Hyperedge, questions: &Questions) -> Option<i64> {
        if let (Some(as_of), Some(issued)) = (self.as_of, edge.issued_at)
            && issued > as_of
        {
            return None;
        }
        let mut score = self.storm_score(edge, questions)? + self.product_score(edge)? + self.time_score(edge)?;
        let text = plain(&edge.text);
        score += self.place_score(edge, &text);
        if self.cues.families.contains(&edge.base_family) || self.cues.families.contains(&edge.family) {
            score += points::FAMILY;
        }
        let has = |name: &str| edge.attributes.iter().any(|a| a.name == name);
        score += self.cues.attributes.iter().take(4).filter(|a| has(a)).count() as i64 * points::ATTRIBUTE;
        let given = |name: &str, value: &str| {
            edge.attributes.iter().any(|a| a.name == name && a.value.given.eq_ignore_ascii_case(value))
        };
        if edge.origin == Origin::Synthesized && !self.names_both_ends(edge) {
            score -= points::CHANGE;
        }
        if self.cues.conditions.iter().any(|c| given("condition", c)) {
            score += points::CONDITION;
        }
        if self.cues.classes.iter().any(|c| given("status", c)) {
            score += points::CLASS;
        }
        let level = edge.attributes.iter().find(|a| a.name == "threshold").and_then(|a| a.value.number);
        if let Some(level) = level {
            let wanted = |l: &u16| Fixed::from(i32::from(*l)) == level;
            score += if self.cues.wind_levels.iter().any(wanted) { points::LEVEL } else { 0 };
        }
        let text_words = text.split(|c: char| !c.is_alphanumeric());
        let hits: BTreeSet<&str> = text_words.filter(|word| self.words.contains(*word)).collect();
        Some(score + (hits.len() as i64).min(12) * points::WORD)
    }

    /// Whether the question names the times of both states of a change. What changed is told by the states themselves, which
    /// cite one document each, so a change leads only where it joins what is asked about.
    fn names_both_ends(&self, change: &Hyperedge) -> bool {
        let named = |at: i64| self.moments.iter().any(|m| minute(*m) == at);
        let before = sequence(change).is_some_and(|(by_horizon, at)| !by_horizon && named(at));
        before && change.issued_at.is_some_and(|at| named(minute(at)))
    }

    fn storm_score(&self, edge: &Hyperedge, questions: &Questions) -> Option<i64> {
        if self.storms.is_empty() {
            return Some(0);
        }
        let mut of_edge =
            edge.members.iter().filter(|m| m.role == "storm" || m.entity.0.starts_with("storm:")).peekable();
        if of_edge.peek().is_none() {
            return questions.is_operation(edge.base_family).then_some(0);
        }
        let of_edge: Vec<_> = of_edge.collect();
        // A depression had but its number when the port was told.
        if questions.is_operation(edge.base_family) && of_edge.iter().all(|m| is_numbered(&m.entity)) {
            return Some(0);
        }
        let named = of_edge.iter().any(|m| self.storms.iter().any(|s| s.keys.contains(&m.entity)));
        named.then_some(points::STORM)
    }

    fn product_score(&self, edge: &Hyperedge) -> Option<i64> {
        let product = product_of(edge);
        let kind = product.as_ref().map(|p| p.kind).unwrap_or("");
        let mut score = 0;
        let kind_named = self.kinds.iter().any(|k| k == kind);
        if kind_named {
            score += points::KIND;
        }
        if !self.bulletins.is_empty() {
            let named = |b: &String| {
                edge.text.contains(b.as_str()) || product.as_ref().is_some_and(|p| p.key.0.contains(b.as_str()))
            };
            if self.bulletins.iter().any(named) {
                return Some(score + points::BULLETIN);
            }
        }
        let outside = |n: u16| self.since.is_some_and(|since| n < since) || self.until.is_some_and(|until| n > until);
        if product.as_ref().and_then(|p| p.number).is_some_and(|n| outside(n.number)) {
            return None;
        }
        if self.numbers.is_empty() {
            // A kind that is named alone is as good as a number when it is no port document.
            let hard = !self.kinds.is_empty() && !self.about_ports;
            return (!hard || kind_named).then_some(score);
        }
        let number = product.and_then(|p| p.number)?;
        if !self.numbers.contains(&number) && !self.between.contains(&number) {
            return None;
        }
        if !self.kinds.is_empty() && !kind_named {
            return None;
        }
        Some(score + if self.numbers.contains(&number) { points::NUMBER } else { points::NUMBER - 4 })
    }

    fn time_score(&self, edge: &Hyperedge) -> Option<i64> {
        let mut score = 0;
        if !self.horizons.is_empty() {
            let fits = edge.horizon_hours.is_some_and(|h| self.horizons.contains(&h));
            if fits {
                score += points::HORIZON;
            } else if self.numbers.is_empty() && self.moments.is_empty() {
                return None;
            }
        }
        let at = |t: Option<Timestamp>| t.is_some_and(|t| self.moments.iter().any(|m| minute(*m) == minute(t)));
        let time_of = |name: &str| edge.attributes.iter().find(|a| a.name == name).and_then(|a| a.value.time);
        if at(edge.issued_at) {
            score += points::ISSUED;
        }
        if edge.valid_at != edge.issued_at && at(edge.valid_at) {
            score += points::VALID;
        }
        if at(time_of("period_end")) || at(time_of("period_start")) {
            score += points::PERIOD;
        }
        let day = |t: Option<Timestamp>| t.map(|t| Offset::UTC.to_datetime(t).date());
        if !self.days.is_empty()
            && [edge.issued_at, edge.valid_at].into_iter().any(|t| day(t).is_some_and(|d| self.days.contains(&d)))
        {
            score += points::DAY;
        }
        Some(score)
    }

    /// `text` is the text of the hyperedge in plain form.
    fn place_score(&self, edge: &Hyperedge, text: &str) -> i64 {
        let mut best = 0;
        for place in &self.places {
            let is = |keys: &[EntityKey]| edge.members.iter().any(|m| keys.contains(&m.entity));
            let points = if is(&place.keys) {
                points::PLACE
            } else if text.contains(&place.form) {
                points::FORM
            } else if is(&place.near) {
                points::NEAR
            } else {
                0
            };
            best = best.max(points);
        }
        best
    }
}
