//! How grammars write facts: entities by the pack's keys, one self-standing line of evidence, canonical numbers.

use std::fmt::Write as _;

use hypercane_schemas::{Attribute, EntityKey, Fixed, GroupKey, Origin, Span};
use jiff::Timestamp;

use super::header::{Header, title_case};
use super::moment::{minute_form, spoken_form};
use crate::extraction::{Extraction, Fact, Failure, Mention};

/// Words as a part of a key: small letters and digits, anything else one underscore.
pub fn slug(words: &str) -> String {
    let mut key = String::with_capacity(words.len());
    for c in words.chars() {
        if c.is_alphanumeric() {
            key.extend(c.to_lowercase());
        } else if !key.is_empty() && !key.ends_with('_') {
            key.push('_');
        }
    }
    key.truncate(key.trim_end_matches('_').len());
    key
}

/// A mention of an entity.
pub fn mention(key: impl Into<String>, name: impl Into<String>, kind: &str, role: &str) -> Mention {
    let (entity, name) = (EntityKey(key.into()), name.into());
    Mention { entity, name, kind: kind.into(), role: role.into(), aliases: Vec::new(), description: String::new() }
}

/// The storm, with the names it has in this product.
pub fn storm(header: &Header) -> Mention {
    let id = header.storm_id();
    let year = jiff::tz::Offset::UTC.to_datetime(header.issued_at).year();
    let mut storm = mention(format!("storm:{id}"), &header.title.name, "cyclone", "storm");
    storm.aliases = vec![header.titled_name(), format!("{} {year}", header.title.name)];
    storm.aliases.extend(header.atcf.clone());
    storm.aliases.retain(|alias| *alias != storm.name);
    storm.aliases.sort();
    storm.aliases.dedup();
    storm
}

/// The product itself.
pub fn product(header: &Header) -> Mention {
    let product = header.product();
    let number = header.spoken_number().map_or(String::new(), |number| format!(" {number}"));
    let name = format!("{} {}{number}", header.titled_name(), header.title.kind.words());
    mention(format!("{}:{}", product.kind, product.name), name, "advisory", "advisory")
}

/// A moment, as issue time or as the time for which something holds.
pub fn moment(at: Timestamp, role: &str) -> Mention {
    mention(format!("time:{}", minute_form(at)), spoken_form(at), "moment", role)
}

/// States as products write them behind a place, and their letters in keys.
const STATES: [(&str, &str); 29] = [
    ("Nova Scotia", "NS"),
    ("New Brunswick", "NB"),
    ("Mexico", "MX"),
    ("North Carolina", "NC"),
    ("South Carolina", "SC"),
    ("New Hampshire", "NH"),
    ("New Jersey", "NJ"),
    ("New York", "NY"),
    ("Rhode Island", "RI"),
    ("Puerto Rico", "PR"),
    ("Texas", "TX"),
    ("Louisiana", "LA"),
    ("Mississippi", "MS"),
    ("Alabama", "AL"),
    ("Florida", "FL"),
    ("Georgia", "GA"),
    ("Virginia", "VA"),
    ("Maryland", "MD"),
    ("Delaware", "DE"),
    ("Pennsylvania", "PA"),
    ("Connecticut", "CT"),
    ("Massachusetts", "MA"),
    ("Maine", "ME"),
    ("Hawaii", "HI"),
    ("California", "CA"),
    ("Arkansas", "AR"),
    ("Oklahoma", "OK"),
    ("Tennessee", "TN"),
    ("Kentucky", "KY"),
];

/// A place by its name. Names in capitals become title case, and a state behind the name becomes its letters in the key,
/// so that all products name a place alike (`NEW ORLEANS LA`, `New Orleans Louisiana`).
pub fn place(name: &str) -> Mention {
    let shown = shown_name(name);
    let bare = shown.replace(',', "");
    let state = STATES.iter().find_map(|(long, short)| {
        let town = [*long, *short].into_iter().find_map(|end| {
            let cut = bare.len().checked_sub(end.len())?;
            bare.get(cut..)?.eq_ignore_ascii_case(end).then(|| bare[..cut].strip_suffix(' '))?
        });
        town.map(|town| (town.trim().to_owned(), *long, *short))
    });
    let Some((town, long, short)) = state.filter(|(town, ..)| !town.is_empty()) else {
        return mention(format!("place:{}", slug(&shown)), shown, "place", "place");
    };
    let shown = format!("{town}, {long}");
    let mut place = mention(format!("place:{}", slug(&format!("{town} {short}"))), shown, "place", "place");
    place.aliases = vec![town.clone(), format!("{town} {short}"), format!("{town} {long}")];
    place
}

/// A name for people: title case where the text has capitals only.
pub fn shown_name(name: &str) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().any(char::is_lowercase) { name } else { title_case(&name) }
}

/// A state of the storm at this product's issue time: `state`, `radii`, `warning`, `hazard` and the like.
pub fn state(header: &Header, family: &str, detail: &str, name: impl Into<String>, kind: &str) -> Mention {
    let detail = if detail.is_empty() { String::new() } else { format!(":{detail}") };
    let key = format!("{family}:{}{detail}:@{}", header.storm_id(), minute_form(header.issued_at));
    mention(key, name, kind, "state")
}

/// The cyclone as it is at issue time; one entity for all products of one time.
pub fn current_state(header: &Header) -> Mention {
    let name = format!("{} at {}", header.title.name, spoken_form(header.issued_at));
    state(header, "state", "", name, "cyclone_state")
}

/// The cyclone as it is forecast for a time.
pub fn forecast_state(header: &Header, valid_at: Timestamp) -> Mention {
    let name = format!(
        "{} forecast for {} issued {}",
        header.title.name,
        spoken_form(valid_at),
        spoken_form(header.issued_at)
    );
    state(header, "fcst", &minute_form(valid_at), name, "cyclone_forecast")
}

/// A fact on its way.
#[derive(Clone, Debug)]
pub struct Draft {
    relation: &'static str,
    sentence: String,
    span: Span,
    mentions: Vec<Mention>,
    attributes: Vec<Attribute>,
    valid_at: Option<Timestamp>,
}

impl Draft {
    /// Starts a fact. `sentence` is what comes behind `Hurricane X advisory 3 issued ...:`.
    pub fn new(relation: &'static str, sentence: impl Into<String>, span: Span) -> Self {
        let (mentions, attributes) = (Vec::new(), Vec::new());
        Self { relation, sentence: sentence.into(), span, mentions, attributes, valid_at: None }
    }

    /// Adds a participant.
    pub fn mention(mut self, mention: Mention) -> Self {
        self.mentions.push(mention);
        self
    }

    /// Adds a number in its canonical unit.
    pub fn number(mut self, name: &str, value: f64, unit: &str, given: impl Into<String>) -> Self {
        self.attributes.push(Attribute::number(name, value, unit, given));
        self
    }

    /// Adds a category or text.
    pub fn text(mut self, name: &str, given: impl Into<String>) -> Self {
        self.attributes.push(Attribute::text(name, given));
        self
    }

    /// Adds a moment.
    pub fn time(mut self, name: &str, at: Timestamp, given: impl Into<String>) -> Self {
        self.attributes.push(Attribute::time(name, at, given));
        self
    }

    /// Adds attributes made elsewhere.
    pub fn attributes(mut self, more: impl IntoIterator<Item = Attribute>) -> Self {
        self.attributes.extend(more);
        self
    }

    /// Says when the fact holds, and mentions that moment.
    pub fn valid(mut self, at: Timestamp) -> Self {
        self.valid_at = Some(at);
        self
    }
}

/// The facts of one product, under way.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    /// The head that all facts share.
    pub header: &'a Header,
    storm: Mention,
    product: Mention,
    lead: String,
    extraction: Extraction,
}

impl<'a> Notes<'a> {
    /// Starts with no facts.
    pub fn new(header: &'a Header) -> Self {
        let extraction = Extraction {
            product: Some(header.product()),
            issued_at: Some(header.issued_at),
            facts: Vec::new(),
            failures: Vec::new(),
        };
        Self { header, storm: storm(header), product: product(header), lead: lead(header), extraction }
    }

    /// Adds a fact with its storm, product and times.
    pub fn add(&mut self, draft: Draft) {
        let Draft { relation, sentence, span, mut mentions, mut attributes, valid_at } = draft;
        let mut all = vec![self.storm.clone(), self.product.clone(), moment(self.header.issued_at, "issued")];
        if let Some(at) = valid_at.filter(|at| *at != self.header.issued_at) {
            all.push(moment(at, "valid"));
        }
        all.append(&mut mentions);
        attributes.insert(0, Attribute::text("product", self.header.title.kind.code()));
        if let Some(number) = self.header.spoken_number() {
            attributes.insert(1, Attribute::text("advisory_number", number));
        }
        self.extraction.facts.push(Fact {
            relation: relation.into(),
            mentions: all,
            text: format!("{}: {sentence}", self.lead),
            span,
            attributes,
            relations: Vec::new(),
            group: GroupKey(self.header.storm_id()),
            valid_at,
            confidence: Fixed::ONE,
            origin: Origin::Extracted,
            reference_at: None,
        });
    }

    /// Records a part that could not be read.
    pub fn fail(&mut self, line: u32, reason: impl Into<String>) {
        self.extraction.failures.push(Failure { line, reason: reason.into() });
    }

    /// How many facts there are so far.
    pub fn n_facts(&self) -> usize {
        self.extraction.facts.len()
    }

    /// What has been found, in text order.
    pub fn finish(mut self) -> Extraction {
        self.extraction.facts.sort_by_key(|fact| (fact.span.start, fact.span.end));
        self.extraction.failures.sort();
        self.extraction
    }
}

/// The start of every evidence line: `Hurricane Harvey (AL092017) public advisory 19A issued 2017-08-25 06:00 UTC`.
pub fn lead(header: &Header) -> String {
    let mut lead = header.titled_name();
    if let Some(atcf) = &header.atcf {
        let _ = write!(lead, " ({atcf})");
    }
    let title = &header.title;
    let special = if title.special { "special " } else { "" };
    let intermediate = if title.intermediate { "intermediate " } else { "" };
    let _ = write!(lead, " {special}{intermediate}{}", title.kind.words());
    if let Some(number) = header.spoken_number() {
        let _ = write!(lead, " {number}");
    }
    if header.correction > 0 {
        lead.push_str(" (corrected)");
    }
    let _ = write!(lead, " issued {}", spoken_form(header.issued_at));
    lead
}

/// A number as people write it: no trailing zeros.
pub fn plain(number: f64) -> String {
    Fixed::from_f64((number * 1000.0).round() / 1000.0).to_string()
}

/// A position as people write it: `25.2N 94.6W`.
pub fn spoken_position(latitude: f64, longitude: f64) -> String {
    let (north, east) = (if latitude < 0.0 { 'S' } else { 'N' }, if longitude < 0.0 { 'W' } else { 'E' });
    format!("{:.1}{north} {:.1}{east}", latitude.abs(), longitude.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_small_and_plain() {
        assert_eq!(slug("Mouth of the Rio Grande...TEXAS!"), "mouth_of_the_rio_grande_texas");
        assert_eq!(slug("..."), "");
        assert_eq!(place("CORPUS CHRISTI TEXAS").name, "Corpus Christi, Texas");
        for name in ["NEW ORLEANS LA", "New Orleans, Louisiana", "New Orleans Louisiana"] {
            assert_eq!(place(name).entity.0, "place:new_orleans_la", "{name}");
        }
        assert_eq!(place("Louisiana").entity.0, "place:louisiana");
        assert_eq!(place("N Entrance Padre Island").entity.0, "place:n_entrance_padre_island");
    }

    #[test]
    fn positions_are_spoken_with_letters() {
        assert_eq!(spoken_position(25.2, -94.6), "25.2N 94.6W");
        assert_eq!(spoken_position(-7.0, 179.5), "7.0S 179.5E");
        assert_eq!((plain(75.0), plain(73.8629)), ("75".into(), "73.863".into()));
    }
}
