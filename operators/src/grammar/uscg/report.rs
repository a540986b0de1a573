//! The facts of a post or bulletin under way, and how they are worded.

use hypercane_schemas::{Attribute, Fixed, GroupKey, Origin, Span};
use jiff::Timestamp;

use super::clause::{Action, Statement, relaxed};
use super::places::Place;
use super::storm::Storm;
use crate::extraction::{Extraction, Fact, Mention, Product};
use crate::grammar::facts::{mention, moment};
use crate::grammar::moment::{minute_form, spoken_form};

/// Confidence in a place that no table holds, or in one of several ports of a name.
const UNSURE: f64 = 0.6;

/// The facts so far, and what they share.
pub(super) struct Report {
    issued_at: Option<Timestamp>,
    bulletin: bool,
    product: Option<Product>,
    storm: Option<Storm>,
    state: String,
    facts: Vec<Fact>,
}

impl Report {
    pub(super) fn new(
        issued_at: Option<Timestamp>,
        bulletin: bool,
        product: Option<Product>,
        storm: Option<Storm>,
        state: &str,
    ) -> Self {
        Self { issued_at, bulletin, product, storm, state: state.to_owned(), facts: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    pub(super) fn finish(self) -> Extraction {
        Extraction { product: self.product, issued_at: self.issued_at, facts: self.facts, failures: Vec::new() }
    }

    /// `U.S. Coast Guard post of 2024-10-06 22:03 UTC`.
    fn source(&self) -> String {
        let number = self.product.as_ref().and_then(|product| product.name.rsplit(':').next());
        let kind = match (self.bulletin, number) {
            (true, Some(number)) => format!("bulletin MSIB {number}"),
            (true, None) => "bulletin".into(),
            (false, _) => "post".into(),
        };
        let time = self.issued_at.map(|at| format!(" of {}", spoken_form(at))).unwrap_or_default();
        format!("U.S. Coast Guard {kind}{time}")
    }

    fn storm_id(&self) -> Option<String> {
        self.storm.as_ref().map(|storm| storm.id(self.issued_at))
    }

    /// Adds a fact for each place of a statement, or one without a place.
    pub(super) fn condition(&mut self, statement: &Statement) {
        if statement.places.is_empty() {
            self.condition_at(statement, None);
        }
        for place in &statement.places {
            self.condition_at(statement, Some(place));
        }
    }

    fn condition_at(&mut self, statement: &Statement, place: Option<&Place>) {
        let later = statement.action == Action::Planned;
        let state = place.map(|place| place.state.as_str()).filter(|state| !state.is_empty()).unwrap_or(&self.state);
        let clock = statement.clock.as_ref();
        let effective_at = clock.and_then(|clock| clock.resolve(state, self.issued_at, later));
        let effective = match (clock, effective_at) {
            (Some(_), Some(at)) => format!(", effective {} ({})", statement.clock_given, spoken_form(at)),
            (Some(_), None) => format!(", effective {}", statement.clock_given),
            (None, _) => String::new(),
        };
        let where_to = place.map_or("ports that it does not name".to_owned(), |place| place.name.clone());
        let storm = self.storm.as_ref().map(|storm| format!(" ({})", storm.titled())).unwrap_or_default();
        let text = format!("{}: {}{effective}{storm}.", self.source(), wording(statement, &where_to));

        let mut attributes = Vec::new();
        if !statement.code.is_empty() {
            attributes.push(Attribute::text("condition", &statement.code));
        }
        attributes.push(Attribute::text("action", action_word(statement.action)));
        attributes.extend(statement.previous.as_ref().map(|previous| Attribute::text("previous_condition", previous)));
        match (clock, effective_at) {
            (Some(_), Some(at)) => attributes.push(Attribute::time("effective_at", at, &statement.clock_given)),
            // A time that can't be placed (`8 a.m. last night`) is kept as words only.
            (Some(_), None) => {
                attributes.push(Attribute::text("remark", format!("effective {}", statement.clock_given)))
            }
            (None, _) => {}
        }
        let recovers = matches!(statement.action, Action::Reopened | Action::Lifted | Action::Downgraded);
        let relation = match statement.action {
            _ if recovers => "starts_recovery",
            Action::Set if relaxed(&statement.code) => "has_recovery_status",
            _ => "has_operation_status",
        };
        let span = Span::new(statement.bytes.start, statement.bytes.end);
        let fact = Draft { relation, text, span, attributes, later, valid_at: effective_at };
        self.add(fact, place.map(std::slice::from_ref).unwrap_or_default());
    }

    /// Adds a rule for vessels or facilities of some places.
    pub(super) fn rule(&mut self, relation: &str, attribute: &str, sentence: &str, span: Span, places: &[Place]) {
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        let about = if names.is_empty() { String::new() } else { format!(" for {}", names.join(", ")) };
        let storm = self.storm.as_ref().map(|storm| format!(" ({})", storm.titled())).unwrap_or_default();
        let text = format!("{}{about}{storm}: {sentence}", self.source());
        let attributes = vec![Attribute::text(attribute, sentence)];
        let fact = Draft { relation, text, span, attributes, later: false, valid_at: None };
        self.add(fact, places);
    }

    fn add(&mut self, draft: Draft<'_>, places: &[Place]) {
        let Draft { relation, text, span, mut attributes, later, valid_at } = draft;
        // A fact about several places belongs to none of their groups.
        let place = if let [only] = places { Some(only) } else { None };
        let storm_id = self.storm_id();
        let storm_key = storm_id.as_deref().unwrap_or("none");
        let slug = place.map_or("none", |place| place.slug.as_str());
        let mut mentions: Vec<Mention> = Vec::new();
        mentions.extend(self.storm.as_ref().map(|storm| storm.mention(self.issued_at)));
        if let Some(product) = &self.product {
            let number = product.name.rsplit(':').next().unwrap_or_default();
            let mut bulletin =
                mention(format!("msib:{}", product.name), format!("MSIB {number}"), "advisory", "advisory");
            bulletin.aliases.push(format!("Marine Safety Information Bulletin {number}"));
            mentions.push(bulletin);
            attributes.push(Attribute::text("product", "msib"));
        }
        mentions.extend(self.issued_at.map(|at| moment(at, "issued")));
        mentions.extend(valid_at.filter(|at| Some(*at) != self.issued_at).map(|at| moment(at, "valid")));
        for mention in places.iter().flat_map(|place| &place.mentions) {
            if !mentions.iter().any(|other| other.entity == mention.entity) {
                mentions.push(mention.clone());
            }
        }
        // A planned condition is no rival of the one that holds now, so it is another entity.
        let plan = if later { ":planned" } else { "" };
        let at = self.issued_at.map(|at| format!(":@{}", minute_form(at))).unwrap_or_default();
        let whose = if places.len() > 1 { "several ports" } else { "ports not named" };
        let name = format!("Port status of {}", place.map_or(whose, |place| place.name.as_str()));
        mentions.push(mention(format!("port_status:{storm_key}:{slug}{plan}{at}"), name, "operation_status", "state"));
        let group = match (storm_id, place) {
            (Some(storm), Some(place)) => format!("{storm}:{}", place.slug),
            (Some(storm), None) => storm,
            (None, _) => format!("none:{slug}"),
        };
        let sure = places.iter().all(|place| place.known);
        let fact = Fact {
            relation: relation.into(),
            mentions,
            text,
            span,
            attributes,
            relations: Vec::new(),
            group: GroupKey(group),
            valid_at,
            confidence: if sure { Fixed::ONE } else { Fixed::from_f64(UNSURE) },
            origin: Origin::Extracted,
            reference_at: None,
        };
        if !self.facts.iter().any(|other| other.relation == fact.relation && other.text == fact.text) {
            self.facts.push(fact);
        }
    }
}

/// A fact without its places.
struct Draft<'a> {
    relation: &'a str,
    text: String,
    span: Span,
    attributes: Vec<Attribute>,
    later: bool,
    valid_at: Option<Timestamp>,
}

fn action_word(action: Action) -> &'static str {
    match action {
        Action::Set => "set",
        Action::Modified => "modified",
        Action::Planned => "planned",
        Action::Remains => "remains",
        Action::Lifted => "lifted",
        Action::Downgraded => "downgraded",
        Action::Reopened => "reopened",
        Action::Closed => "closed",
        Action::Announced => "announced",
    }
}

fn wording(statement: &Statement, place: &str) -> String {
    let code = statement.code.as_str();
    // `IV (Four)`: people ask for either.
    let code = match code {
        "IV" => "IV (Four)",
        "V" => "V (Five)",
        other => other,
    };
    let closes = if statement.closes && !relaxed(&statement.code) { ", port closed" } else { "" };
    if code.is_empty() {
        return match statement.action {
            Action::Reopened => format!("{place} reopened"),
            Action::Closed => format!("{place} closed"),
            _ => format!("port condition update announced for {place}"),
        };
    }
    match statement.action {
        Action::Set => format!("port condition {code} set for {place}{closes}"),
        Action::Modified => format!("modified port condition {code} set for {place}{closes}"),
        Action::Planned => format!("port condition {code} to be set later for {place}"),
        Action::Remains if statement.given.to_lowercase().contains("modified") => {
            format!("{place} remains in a modified port condition {code}{closes}")
        }
        Action::Remains => format!("{place} remains in port condition {code}{closes}"),
        Action::Lifted => format!("port condition {code} lifted for {place}"),
        Action::Downgraded => match &statement.previous {
            Some(previous) => format!("port condition of {place} downgraded from {previous} to {code}"),
            None => format!("port condition of {place} downgraded to {code}"),
        },
        Action::Reopened => format!("port condition {code} set for {place}, ports reopened"),
        Action::Closed | Action::Announced => format!("port condition {code} for {place}"),
    }
}
