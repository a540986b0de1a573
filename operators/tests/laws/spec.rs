//! The rows as sessions name them: small, and the same words everywhere. What they stand for is built from them.
//!
//! Times are hours since 2020-08-10 00:00 UTC. Storms `AL01` and `AL02` are Alder and Birch; any other word is the name of
//! a storm whose writer knew no identifier.

use std::collections::BTreeMap;

use hypercane_operators::{
    Shared,
    assertion::Assertion,
    domain::Domain,
    extract::Extracted,
    extraction::{self, Extraction, Mention, Product},
    kernel,
};
use hypercane_schemas::{
    Attribute, Cell, ContentHash, DirectedRelation, Document, DocumentKey, Entity, EntityKey, Fixed, GroupKey,
    HorizonUpdate, Hyperedge, HyperedgeId, Origin, Query, QueryId, QueryParameters, Span, Vector,
};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// A row as a session names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spec {
    Change(Change),
    Document(Document),
    Reading(Reading),
    Fact(Fact),
    Horizon(Horizon),
    Reference(Reference),
    Cell(Place),
    Query(Asked),
    Entity(Named),
    Vector(VectorOf),
    Candidate(Offer),
    Pointing(Pointing),
    Said(Said),
    Link(Linked),
    Answered(Answered),
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Defines rows whose fields are left out where they say nothing.
macro_rules! rows {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $($(#[$doc])* #[serde(skip_serializing_if = "is_default")] pub $field: $kind,)*
        }
    )*};
}

rows! {
    /// A change of the reference time of a storm: none takes it away.
    Change { storm: String, sequence: u64, at: Option<i64>, }

    /// What a document says, and what it is.
    Reading {
        doc: String,
        /// The number of the advisory; a document without one is no product.
        advisory: Option<u16>,
        correction: u8,
        supersedes: Option<String>,
        issued: Option<i64>,
        horizon: Option<u16>,
        facts: Vec<Fact>,
    }

    /// A fact as one document says it.
    Fact {
        doc: String,
        says: Says,
        storm: String,
        /// The storm's name, where it is not the usual one.
        called: Option<String>,
        issued: Option<i64>,
        valid: Option<i64>,
        /// Hours before the reference event that the document states.
        horizon: Option<u16>,
        /// The wind, or the probability.
        value: Option<i32>,
        /// How far the document is trusted in per cent; in full where it is left out.
        trust: Option<u8>,
        /// The reference time that a derived fact gives its group.
        reference: Option<i64>,
        /// Whether the vector of its text is recorded.
        vector: bool,
    }

    /// A statement about when the reference event of a storm is expected.
    Horizon { storm: String, at: i64, issued: i64, }

    /// The reference time of a storm.
    Reference { storm: String, at: i64, }

    /// A cell of the precedence DAG; its sequence is in minutes.
    Place { storm: String, sequence: i64, by_horizon: bool, family: u8, change: bool, }

    /// A question.
    Asked { id: String, asks: String, as_of: Option<i64>, seeds: Option<u16>, vector: bool, }

    /// An entity with its names.
    Named { key: String, name: String, kind: String, aliases: Vec<String>, }

    /// The recorded vector of the text of a question or of a fact.
    VectorOf { question: Option<String>, fact: Option<Fact>, }

    /// The recorded vector of a name, in whole numbers.
    Pointing { name: String, at: Vec<i16>, }

    /// A document of one passage, with what that names.
    Said { doc: String, title: String, text: String, names: Vec<String>, issued: Option<i64>, }

    /// What a language model answered about a passage.
    Answered { title: String, text: String, says: String, }

    /// A link between two names.
    Linked { a: String, b: String, }

    /// A fact offered to a question.
    Offer { query: Asked, fact: Fact, }
}

/// Kinds of facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// How strong a storm is.
    #[default]
    State,
    /// How strong it will be.
    Forecast,
    /// How likely gales are at Houston.
    Probability,
    /// How the port of Houston stands.
    Port,
    /// Something for which the pack has no word.
    Unknown,
    /// Something about one thing alone.
    Alone,
}

/// A moment, from hours since the tests' beginning.
pub fn moment(hours: i64) -> Timestamp {
    let start: Timestamp = "2020-08-10T00:00Z".parse().expect("it is a time");
    start + SignedDuration::from_hours(hours)
}

/// What follows `storm:` in the key of a storm, and names its group.
fn identifier(storm: &str) -> String {
    let known = storm.len() == 4 && storm.bytes().any(|b| b.is_ascii_digit());
    if known { format!("{storm}2020") } else { format!("{storm}_2020") }
}

/// The group of a storm.
pub fn group(storm: &str) -> GroupKey {
    GroupKey(identifier(storm))
}

/// The vector of a text in these tests: a fixed function of its hash.
pub fn vector(text: ContentHash) -> Vector {
    let component = |n: u32| (((text.0 >> (n * 16)) & 0xff) as f32 - 127.0) / 128.0;
    Vector((0..4).map(component).collect())
}

fn directed(from: &Mention, to: &Mention, confidence: f64) -> DirectedRelation {
    DirectedRelation {
        from: from.entity.clone(),
        to: to.entity.clone(),
        label: "has".into(),
        confidence: Fixed::from_f64(confidence),
    }
}

/// Each directed relation once, with the highest confidence that is said of it.
pub fn surest<'a>(relations: impl IntoIterator<Item = &'a DirectedRelation>) -> Vec<DirectedRelation> {
    let mut surest: BTreeMap<(&EntityKey, &EntityKey, &str), Fixed> = BTreeMap::new();
    for relation in relations {
        let sure = surest.entry((&relation.from, &relation.to, &relation.label)).or_insert(relation.confidence);
        *sure = relation.confidence.max(*sure);
    }
    let relation = |((from, to, label), confidence): ((&EntityKey, &EntityKey, &str), Fixed)| DirectedRelation {
        from: from.clone(),
        to: to.clone(),
        label: label.into(),
        confidence,
    };
    surest.into_iter().map(relation).collect()
}

impl Fact {
    fn mention(&self, entity: String, name: &str, kind: &str, role: &str) -> Mention {
        Mention {
            entity: EntityKey(entity),
            name: name.into(),
            kind: kind.into(),
            role: role.into(),
            aliases: vec![],
            description: String::new(),
        }
    }

    /// The fact in a grammar's words.
    pub fn fact(&self) -> extraction::Fact {
        let id = identifier(&self.storm);
        let usual = match self.storm.as_str() {
            "AL02" | "BIRCH" => "Birch",
            _ => "Alder",
        };
        let name = self.called.as_deref().unwrap_or(usual);
        let (relation, state, kind, attribute) = match self.says {
            Says::State => ("has_cyclone_state", "state", "cyclone_state", "max_wind"),
            Says::Forecast => ("forecasts_track", "fcst", "cyclone_forecast", "max_wind"),
            Says::Probability => ("wind_speed_probability", "prob", "wind_probability", "probability_cumulative"),
            Says::Port => ("has_operation_status", "status", "operation_status", "max_wind"),
            Says::Unknown => ("sings_about", "song", "concept", "max_wind"),
            Says::Alone => ("has_cyclone_state", "", "", "max_wind"),
        };
        let mut mentions = vec![self.mention(format!("storm:{id}"), name, "cyclone", "storm")];
        if !state.is_empty() {
            let valid = self.valid.map(|hours| format!(":{}", moment(hours))).unwrap_or_default();
            let place = match (self.horizon, self.issued) {
                (Some(hours), None) => format!(":T-{hours}"),
                (_, Some(hours)) => format!(":@{}", moment(hours)),
                (None, None) => String::new(),
            };
            mentions.push(self.mention(format!("{state}:{id}{valid}{place}"), state, kind, "state"));
        }
        if let Some(called) = &self.called {
            mentions[0].description = format!("called {called}");
        }
        // Under another name it is said twice, and less surely.
        let sure: &[f64] = if self.called.is_some() { &[0.25, 0.5] } else { &[0.75] };
        let relations = match &mentions[..] {
            [from, to, ..] => sure.iter().map(|sure| directed(from, to, *sure)).collect(),
            _ => vec![],
        };
        if matches!(self.says, Says::Probability | Says::Port) {
            let mut port = self.mention("port:houston_tx".into(), "Port of Houston", "port", "port");
            port.aliases = vec!["Houston".into()];
            mentions.push(port);
        }
        let said = |name: &str, value: Option<i64>| value.map(|value| format!(" {name} {value}")).unwrap_or_default();
        let value = self.value.map(i64::from);
        let text =
            format!("{id} {relation}{}{}{}", said("issued", self.issued), said("at", self.valid), said("of", value));
        let span = Span::new(0, text.len());
        let attributes = self.value.map(|value| Attribute::number(attribute, value.into(), "kt", value.to_string()));
        extraction::Fact {
            relation: relation.into(),
            mentions,
            text,
            span,
            attributes: attributes.into_iter().collect(),
            relations,
            group: group(&self.storm),
            valid_at: self.valid.map(moment),
            confidence: Fixed::from_f64(0.9),
            origin: if self.reference.is_some() { Origin::Derived } else { Origin::Extracted },
            reference_at: self.reference.map(moment),
        }
    }

    /// What is the same for equal facts: relation, participants and text.
    pub fn id(&self) -> HyperedgeId {
        let said = self.fact();
        let anchor = self.horizon.filter(|_| self.issued.is_none()).map(|hours| format!("horizon:T-{hours}"));
        let keys = said.mentions.iter().map(|mention| mention.entity.0.as_str()).chain(anchor.as_deref());
        HyperedgeId::of(&said.relation, keys, &said.text)
    }

    /// The assertion that its document makes.
    pub fn assertion(&self, domain: &Domain) -> Assertion {
        let reading = Reading { issued: self.issued, horizon: self.horizon, ..Reading::default() };
        let mut document = reading.extracted();
        document.reliability = Fixed::from_f64(f64::from(self.trust.unwrap_or(100)) / 100.0);
        kernel::canonicalize(&DocumentKey(self.doc.clone()), &document, &self.fact(), domain)
            .unwrap_or_else(|reason| panic!("{self:?} is no assertion: {reason}"))
    }

    /// The hyperedge under the horizon that its document states.
    pub fn hyperedge(&self, domain: &Domain) -> Shared<Hyperedge> {
        let hyperedge = self.assertion(domain).hyperedge;
        Shared::new(kernel::with_horizon(&hyperedge, hyperedge.horizon_hours))
    }
}

impl Reading {
    /// What is known after the document is read.
    pub fn extracted(&self) -> Extracted {
        let product = |number: u16| Product {
            kind: "tcm".into(),
            name: format!("AL012020:{number:03}"),
            correction: self.correction,
        };
        let extraction = Extraction {
            product: self.advisory.map(product),
            issued_at: self.issued.map(moment),
            facts: self.facts.iter().map(Fact::fact).collect(),
            failures: Vec::new(),
        };
        Extracted {
            passage: None,
            extraction,
            chunk: 0,
            horizon_hours: self.horizon,
            reliability: Fixed::ONE,
            supersedes: self.supersedes.clone().map(DocumentKey),
        }
    }
}

impl Horizon {
    /// The record.
    pub fn update(&self) -> HorizonUpdate {
        HorizonUpdate {
            group: group(&self.storm),
            reference_event: "landfall".into(),
            reference_at: moment(self.at),
            issued_at: moment(self.issued),
        }
    }
}

impl Place {
    /// The cell.
    pub fn cell(&self, domain: &Domain) -> Cell {
        let family = if self.change { domain.change_family().unwrap_or_default() } else { self.family };
        Cell {
            group: group(&self.storm),
            sequence: self.sequence,
            by_horizon: self.by_horizon,
            phase: domain.phase_rank(family).unwrap_or_default(),
            family: self.family,
        }
    }
}

impl Asked {
    /// The query.
    pub fn query(&self) -> Query {
        let parameters = QueryParameters { length: 3, candidates: 6, ..QueryParameters::default() };
        let seeds = self.seeds.unwrap_or(parameters.seeds);
        Query {
            id: QueryId(self.id.clone()),
            question: self.asks.clone(),
            mode: Default::default(),
            group: None,
            as_of: self.as_of.map(moment),
            parameters: QueryParameters { seeds, ..parameters },
        }
    }
}

impl Named {
    /// The entity.
    pub fn entity(&self, domain: &Domain) -> Entity {
        Entity {
            key: EntityKey(self.key.clone()),
            name: self.name.clone(),
            kind: self.kind.clone(),
            category: domain.category_of(&self.kind),
            aliases: self.aliases.clone(),
            description: String::new(),
            confidence: Fixed::ONE,
            support: 1,
        }
    }
}

impl VectorOf {
    /// The hash of the text.
    pub fn text(&self, domain: &Domain) -> ContentHash {
        match (&self.question, &self.fact) {
            (Some(question), _) => hypercane_operators::question_embedded_as(question),
            (None, Some(fact)) => fact.hyperedge(domain).embedded_as,
            (None, None) => ContentHash::default(),
        }
    }
}
