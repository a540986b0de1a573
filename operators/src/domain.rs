//! A domain pack: the vocabulary, the order and the tables of one field of work, as plain data.
//!
//! Operators read a pack and know no field themselves. A pack is a folder with `domain.toml` and small tables; whoever
//! reads files hands their text to [`Domain::parse`], so that a third domain needs a folder and no code.

mod anchor;
mod error;
mod names;
mod pack;
mod places;
mod questions;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub use anchor::{AnchorMatch, Anchors, Event};
pub use error::DomainError;
pub use names::{NameIndex, name_form, slug};
pub use pack::{
    AttributeKind, AttributeSpec, CausalRule, ChangeOf, ChangeRelations, ChunkLength, Embeds, EntityType, Family,
    StatusClass,
};
pub use places::{Found, Place, Port, Sector};
pub use questions::{
    Conditions, Crossing, InsteadOf, Intents, Level, Measure, Numbers, ProductWords, Questions, Roles, Series, Types,
};

use hypercane_schemas::Category;

use crate::{
    kernel::normalise_relation::{Match, Relations, label_form},
    language::Language,
};
use pack::Pack;

/// The name of the pack's main file, as errors show it.
pub const DOMAIN_FILE: &str = "domain.toml";

/// A domain pack, checked: every reference inside it resolves, and every name in it is unambiguous or declared not to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    pack: Pack,
    ports: Vec<Port>,
    sectors: Vec<Sector>,
    family_of: BTreeMap<String, u8>,
    relations: Relations,
    port_names: NameIndex,
    sector_names: NameIndex,
    questions: Questions,
    language: Option<Arc<Language>>,
    reads_answers: bool,
}

/// How a relation label was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchedBy {
    /// It is a relation of the pack, after [`label_form`].
    Exact,
    /// It is an alias.
    Alias,
    /// It is close enough to a relation or an alias.
    Fuzzy,
    /// The pack takes any label, and this is a new one.
    Open,
}

/// A relation label, mapped to the vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationMatch {
    /// The relation.
    pub relation: String,
    /// Number of its family.
    pub family: u8,
    /// How it was recognised.
    pub by: MatchedBy,
}

impl Domain {
    /// Reads a pack: the text of `domain.toml`, and the text of each table by file name.
    ///
    /// # Errors
    /// The first thing that is wrong, with its file and its line or key.
    pub fn parse(domain_toml: &str, tables: &BTreeMap<String, String>) -> Result<Self, DomainError> {
        let pack: Pack =
            toml::from_str(domain_toml).map_err(|e| DomainError::from_toml(DOMAIN_FILE, domain_toml, &e))?;
        let family_of = pack.check()?;
        let aliases = pack.relation_aliases.iter().map(|(alias, relation)| (alias.as_str(), relation.as_str()));
        let relations = Relations::new(family_of.keys().map(String::as_str), aliases, Some(pack.fuzzy_threshold))
            .map_err(|reason| DomainError::at_key(DOMAIN_FILE, "relation_aliases", reason))?;
        let ports = match &pack.tables.ports {
            Some(file) => places::read_ports(file, table(tables, file, "tables.ports")?, &pack.states)?,
            None => Vec::new(),
        };
        let sectors = match &pack.tables.sectors {
            Some(file) => places::read_sectors(file, table(tables, file, "tables.sectors")?, &ports)?,
            None => Vec::new(),
        };
        let shared: BTreeSet<String> = pack.ambiguous_names.iter().map(|name| name_form(name)).collect();
        let port_names = NameIndex::build(
            pack.tables.ports.as_deref().unwrap_or_default(),
            ports.iter().map(|port| (port.slug.as_str(), port.names.as_slice())),
            &shared,
        )?;
        let sector_names = NameIndex::build(
            pack.tables.sectors.as_deref().unwrap_or_default(),
            sectors.iter().map(|sector| (sector.slug.as_str(), sector.names.as_slice())),
            &shared,
        )?;
        let questions = match &pack.tables.questions {
            Some(file) => Questions::parse(file, table(tables, file, "tables.questions")?, &pack)?,
            None => Questions::default(),
        };
        let (language, reads_answers) = (None, false);
        Ok(Self {
            pack,
            questions,
            ports,
            sectors,
            family_of,
            relations,
            port_names,
            sector_names,
            language,
            reads_answers,
        })
    }

    /// The name of the language model that the pack reads texts with which are no product of a grammar.
    pub fn language_name(&self) -> Option<&str> {
        self.pack.language.as_deref()
    }

    /// The pack with its language model.
    #[must_use]
    pub fn with_language(self, language: Arc<Language>) -> Self {
        Self { language: Some(language), ..self }
    }

    /// The language model, where the pack has one and it was given.
    pub fn language(&self) -> Option<&Language> {
        self.language.as_deref()
    }

    /// The pack, with texts read by what a language model answered about them, which is recorded.
    #[must_use]
    pub fn with_answers(self) -> Self {
        Self { reads_answers: true, ..self }
    }

    /// Whether texts that are no product of a grammar are read by the recorded answers of a language model.
    pub fn reads_answers(&self) -> bool {
        self.reads_answers
    }

    /// Whether its chunks are kept as passages, which retrieval ranks: where texts are read that are no product of a grammar.
    pub fn ranks_passages(&self) -> bool {
        self.pack.language.is_some()
    }

    /// Words in small letters that name things in titles and nothing in running text.
    pub fn common_words(&self) -> &[String] {
        &self.pack.common_words
    }

    /// Under which text facts are embedded.
    pub fn embeds(&self) -> Embeds {
        self.pack.embeds
    }

    /// How long the chunks of texts are; none where each text is read as a whole.
    pub fn chunks(&self) -> Option<ChunkLength> {
        self.pack.chunks
    }

    /// The pack's name, such as `cyclone`.
    pub fn name(&self) -> &str {
        &self.pack.name
    }

    /// The relation families, by number.
    pub fn families(&self) -> &[Family] {
        &self.pack.families
    }

    /// The family of that number.
    pub fn family(&self, number: u8) -> Option<&Family> {
        self.pack.families.iter().find(|family| family.number == number)
    }

    /// The family of an exact relation of the vocabulary.
    pub fn family_of(&self, relation: &str) -> Option<&Family> {
        self.family_of.get(relation).and_then(|number| self.family(*number))
    }

    /// Rank of a family's phase, from 1; `None` where the family has no phase and so no place in the order.
    pub fn phase_rank(&self, family: u8) -> Option<u8> {
        self.family(family)?.phase_rank
    }

    /// Name of a family's phase; empty where it has none.
    pub fn phase(&self, family: u8) -> &str {
        self.family(family).and_then(|family| family.phase.as_deref()).unwrap_or_default()
    }

    /// The family of change edges (OKH-RAG family 13), where the pack has one.
    pub fn change_family(&self) -> Option<u8> {
        self.pack.change_relations.as_ref().map(|change| change.family)
    }

    /// The relation of a change edge between two states of that family (OKH-RAG A.2 step 4).
    pub fn change_relation(&self, family: u8) -> Option<&str> {
        let change = self.pack.change_relations.as_ref()?;
        Some(change.by_family.iter().find(|by| by.family == family).map_or(&change.default, |by| &by.relation))
    }

    /// The causal chain rules (OKH-RAG A.3).
    pub fn causal_rules(&self) -> &[CausalRule] {
        &self.pack.causal_rules
    }

    /// The set S of OKH-RAG eq. 13: names of the phases that coverage counts.
    pub fn coverage_phases(&self) -> &[String] {
        &self.pack.coverage_phases
    }

    /// Maps a relation label to the vocabulary: exactly, by alias, by likeness, in that order. `None` is a reject.
    pub fn relation(&self, label: &str) -> Option<RelationMatch> {
        let found = |relation: &str, by| {
            let family = *self.family_of.get(relation)?;
            Some(RelationMatch { relation: relation.to_owned(), family, by })
        };
        if let Some((relation, by)) = self.relations.normalise(label) {
            let by = match by {
                Match::Exact => MatchedBy::Exact,
                Match::Alias => MatchedBy::Alias,
                Match::Fuzzy => MatchedBy::Fuzzy,
            };
            return found(relation, by);
        }
        let form = label_form(label);
        let family = self.pack.open_family.filter(|_| !form.is_empty())?;
        Some(RelationMatch { relation: form, family, by: MatchedBy::Open })
    }

    /// The entity types, by name.
    pub fn entity_types(&self) -> &BTreeMap<String, EntityType> {
        &self.pack.entity_types
    }

    /// The types of entities that a question asks for: those of its first word that is a cue of some.
    pub fn asked_types(&self, question: &str) -> Vec<&str> {
        let asks = |word: &str| -> Vec<&str> {
            let types = self.pack.entity_types.iter();
            let cued = types.filter(|(_, kind)| kind.cues.iter().any(|cue| cue.eq_ignore_ascii_case(word)));
            cued.map(|(name, _)| name.as_str()).collect()
        };
        let words = question.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(asks).find(|types| !types.is_empty()).unwrap_or_default()
    }

    /// Category of an entity type; a type that the pack does not know is a concept.
    pub fn category_of(&self, kind: &str) -> Category {
        self.pack.entity_types.get(kind).map_or(Category::Concept, |entity| entity.category)
    }

    /// Whether entities of that type carry expansion. Anchors never do.
    pub fn expands(&self, kind: &str) -> bool {
        self.pack.entity_types.get(kind).is_none_or(|entity| entity.expands && entity.category != Category::Anchor)
    }

    /// Entities with more hyperedges than this are hubs and carry no expansion.
    pub fn hub_degree(&self) -> u32 {
        self.pack.hub_degree
    }

    /// eta: the cosine of their names above which entities are synonyms (HyperProve 3.2); `None` where none are looked for and
    /// names are not embedded.
    pub fn synonym_cosine(&self) -> Option<f64> {
        self.pack.synonym_cosine
    }

    /// The attributes, by name.
    pub fn attributes(&self) -> &BTreeMap<String, AttributeSpec> {
        &self.pack.attributes
    }

    /// The attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&AttributeSpec> {
        self.pack.attributes.get(name)
    }

    /// Names of the attributes that a question asks for by its words, longest cue first, then by name.
    pub fn attributes_asked(&self, question: &str) -> Vec<&str> {
        let words = format!(" {} ", name_form(question));
        let mut asked: Vec<(usize, &str)> = Vec::new();
        for (name, attribute) in &self.pack.attributes {
            let cues = attribute.cues.iter().map(|cue| name_form(cue));
            let longest = cues.filter(|cue| words.contains(&format!(" {cue} "))).map(|cue| cue.len()).max();
            asked.extend(longest.map(|length| (length, name.as_str())));
        }
        asked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        asked.into_iter().map(|(_, name)| name).collect()
    }

    /// How people ask.
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// Classes of a storm, weakest first.
    pub fn status_classes(&self) -> &[StatusClass] {
        &self.pack.status_classes
    }

    /// The class that a text names (`POST-TROPICAL CYCLONE`, `TS`), with its place in the order of strength.
    pub fn status_class(&self, text: &str) -> Option<(usize, &StatusClass)> {
        let form = name_form(text);
        let named = |class: &StatusClass| {
            name_form(&class.name) == form || class.aliases.iter().any(|alias| name_form(alias) == form)
        };
        self.pack.status_classes.iter().enumerate().find(|(_, class)| named(class))
    }

    /// Temporal anchors: header and question wordings, and reference events.
    pub fn anchors(&self) -> &Anchors {
        &self.pack.anchors
    }

    /// The ports, by slug.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// The port of that slug.
    pub fn port(&self, slug: &str) -> Option<&Port> {
        self.ports.binary_search_by(|port| port.slug.as_str().cmp(slug)).ok().map(|idx| &self.ports[idx])
    }

    /// The one port of that name or alias; `None` also where several share it, see [`Domain::ports_named`].
    pub fn port_named(&self, name: &str) -> Option<&Port> {
        match self.port_names.get(name) {
            [slug] => self.port(slug),
            _ => None,
        }
    }

    /// Every port of that name or alias (`Wilmington` names two), by slug.
    pub fn ports_named(&self, name: &str) -> Vec<&Port> {
        self.port_names.get(name).iter().filter_map(|slug| self.port(slug)).collect()
    }

    /// The sectors, by slug.
    pub fn sectors(&self) -> &[Sector] {
        &self.sectors
    }

    /// The sector of that slug.
    pub fn sector(&self, slug: &str) -> Option<&Sector> {
        self.sectors.binary_search_by(|sector| sector.slug.as_str().cmp(slug)).ok().map(|idx| &self.sectors[idx])
    }

    /// The one sector of that name or alias.
    pub fn sector_named(&self, name: &str) -> Option<&Sector> {
        match self.sector_names.get(name) {
            [slug] => self.sector(slug),
            _ => None,
        }
    }

    /// The sector that a port lies in.
    pub fn sector_of(&self, port_slug: &str) -> Option<&Sector> {
        self.sectors.iter().find(|sector| sector.ports.iter().any(|port| port == port_slug))
    }

    /// The name of a state, province or territory by its code (`TX`).
    pub fn state_name(&self, code: &str) -> Option<&str> {
        self.pack.states.get(code).map(String::as_str)
    }
}

fn table<'a>(tables: &'a BTreeMap<String, String>, file: &str, key: &str) -> Result<&'a str, DomainError> {
    let missing = || DomainError::at_key(DOMAIN_FILE, key, format!("table {file:?} was not given"));
    tables.get(file).map(String::as_str).ok_or_else(missing)
}

/// The pack in the repository, for tests.
#[cfg(test)]
pub(crate) fn cyclone() -> Domain {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/domains/cyclone");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let tables = ["ports.csv", "sectors.csv", "questions.toml"].map(|name| (name.to_owned(), read(name)));
    Domain::parse(&read(DOMAIN_FILE), &BTreeMap::from(tables)).unwrap()
}
