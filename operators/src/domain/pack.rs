//! The form of `domain.toml`, and the checks that need nothing else.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::{Category, Fixed};
use serde::{Deserialize, Serialize};

use super::{Anchors, DOMAIN_FILE, DomainError};
use crate::kernel::normalise_relation::label_form;

/// One relation family (OKH-RAG Table 3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Its number, from 1.
    pub number: u8,
    /// Its name, for people.
    pub name: String,
    /// Name of its phase; a family without one has no place in the order.
    #[serde(default)]
    pub phase: Option<String>,
    /// Rank of its phase, from 1.
    #[serde(default)]
    pub phase_rank: Option<u8>,
    /// Its relations.
    pub relations: Vec<String>,
}

/// A kind of entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityType {
    /// What it is for.
    pub category: Category,
    /// Whether its entities carry expansion.
    pub expands: bool,
    /// Words by which a question asks for one.
    #[serde(default)]
    pub cues: Vec<String>,
}

/// A causal chain rule: at one horizon, the families before precede the families after.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CausalRule {
    /// Its name.
    pub name: String,
    /// Numbers of the families that come first.
    pub before: Vec<u8>,
    /// Numbers of the families that follow.
    pub after: Vec<u8>,
}

/// Relations of change edges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeRelations {
    /// The family of change edges.
    pub family: u8,
    /// The relation where no family below says otherwise.
    pub default: String,
    /// The relation by the family that changes.
    #[serde(default)]
    pub by_family: Vec<ChangeOf>,
}

/// The relation of changes within one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeOf {
    /// The family that changes.
    pub family: u8,
    /// The relation of its change edges.
    pub relation: String,
}

/// What kind of value an attribute has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttributeKind {
    /// A number with the canonical unit.
    Number,
    /// A moment.
    Time,
    /// One of a few words, or text.
    Text,
}

/// An attribute of hyperedges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttributeSpec {
    /// What kind of value it has.
    pub kind: AttributeKind,
    /// Canonical unit of a number; empty where it has none.
    #[serde(default)]
    pub unit: String,
    /// Two values of it contradict each other when they differ by more than this; without it they never conflict.
    #[serde(default)]
    pub conflict_tolerance: Option<Fixed>,
    /// Words by which a question asks for it.
    #[serde(default)]
    pub cues: Vec<String>,
}

/// Under which text facts are embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Embeds {
    /// Relation, evidence with numbers and times folded away, and lasting entities.
    #[default]
    Folded,
    /// The evidence as it stands.
    Evidence,
}

/// How long the chunks are in which texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkLength {
    /// Most characters of a chunk, beside its overlap.
    pub length: u32,
    /// Most characters of the chunk before that a chunk begins with, in whole sentences.
    #[serde(default)]
    pub overlap: u32,
}

impl ChunkLength {
    /// Shorter chunks would cut sentences.
    const SHORTEST: u32 = 200;

    fn check(self) -> Result<(), DomainError> {
        if self.length < Self::SHORTEST {
            return Err(wrong("chunks.length", format!("is {}: give at least {}", self.length, Self::SHORTEST)));
        }
        if self.overlap > self.length / 2 {
            let reason = format!("is {}: give at most half the length, {}", self.overlap, self.length / 2);
            return Err(wrong("chunks.overlap", reason));
        }
        Ok(())
    }
}

/// A class of storm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusClass {
    /// Its name, as titled.
    pub name: String,
    /// Other names and abbreviations.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Least sustained wind in kt, where wind decides.
    #[serde(default)]
    pub min_wind: Option<u16>,
}

/// File names of the tables.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tables {
    #[serde(default)]
    pub(super) ports: Option<String>,
    #[serde(default)]
    pub(super) sectors: Option<String>,
    #[serde(default)]
    pub(super) questions: Option<String>,
}

/// The whole of `domain.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pack {
    pub(super) name: String,
    pub(super) hub_degree: u32,
    pub(super) fuzzy_threshold: f64,
    #[serde(default)]
    pub(super) open_family: Option<u8>,
    #[serde(default)]
    pub(super) language: Option<String>,
    #[serde(default)]
    pub(super) embeds: Embeds,
    #[serde(default)]
    pub(super) common_words: Vec<String>,
    #[serde(default)]
    pub(super) synonym_cosine: Option<f64>,
    #[serde(default)]
    pub(super) chunks: Option<ChunkLength>,
    #[serde(default)]
    pub(super) coverage_phases: Vec<String>,
    #[serde(default)]
    pub(super) ambiguous_names: Vec<String>,
    #[serde(default)]
    pub(super) tables: Tables,
    pub(super) families: Vec<Family>,
    #[serde(default)]
    pub(super) causal_rules: Vec<CausalRule>,
    #[serde(default)]
    pub(super) change_relations: Option<ChangeRelations>,
    #[serde(default)]
    pub(super) relation_aliases: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) entity_types: BTreeMap<String, EntityType>,
    #[serde(default)]
    pub(super) attributes: BTreeMap<String, AttributeSpec>,
    #[serde(default)]
    pub(super) status_classes: Vec<StatusClass>,
    #[serde(default)]
    pub(super) anchors: Anchors,
    #[serde(default)]
    pub(super) states: BTreeMap<String, String>,
}

impl Pack {
    /// Checks what the file says about itself and gives the family number of each relation.
    pub(super) fn check(&self) -> Result<BTreeMap<String, u8>, DomainError> {
        if !(0.0..=1.0).contains(&self.fuzzy_threshold) {
            return Err(wrong("fuzzy_threshold", "must be in [0, 1]"));
        }
        if self.synonym_cosine.is_some_and(|eta| !(0.0..1.0).contains(&eta)) {
            return Err(wrong("synonym_cosine", "must be in [0, 1); without the key there are no synonyms"));
        }
        self.chunks.map_or(Ok(()), ChunkLength::check)?;
        let family_of = self.check_families()?;
        let known = |key: String, number: u8| {
            let exists = self.families.iter().any(|family| family.number == number);
            if exists { Ok(()) } else { Err(wrong(key, format!("there is no family {number}"))) }
        };
        let relation = |key: String, name: &String| {
            if family_of.contains_key(name) { Ok(()) } else { Err(wrong(key, format!("{name:?} is no relation"))) }
        };
        for (alias, target) in &self.relation_aliases {
            let key = format!("relation_aliases.{alias}");
            relation(key.clone(), target)?;
            if label_form(alias) != *alias {
                return Err(wrong(key, format!("write it as {:?}, its label form", label_form(alias))));
            }
            if family_of.contains_key(alias) {
                return Err(wrong(key, "is a relation itself"));
            }
        }
        for rule in &self.causal_rules {
            for number in rule.before.iter().chain(&rule.after) {
                known(format!("causal_rules.{}", rule.name), *number)?;
            }
        }
        if let Some(change) = &self.change_relations {
            known("change_relations.family".into(), change.family)?;
            relation("change_relations.default".into(), &change.default)?;
            for by in &change.by_family {
                known(format!("change_relations.by_family.{}", by.family), by.family)?;
                relation(format!("change_relations.by_family.{}", by.family), &by.relation)?;
            }
        }
        if let Some(number) = self.open_family {
            known("open_family".into(), number)?;
        }
        for phase in &self.coverage_phases {
            if !self.families.iter().any(|family| family.phase.as_ref() == Some(phase)) {
                return Err(wrong("coverage_phases", format!("no family has phase {phase:?}")));
            }
        }
        for (name, attribute) in &self.attributes {
            if attribute.kind != AttributeKind::Number && !attribute.unit.is_empty() {
                return Err(wrong(format!("attributes.{name}.unit"), "only a number has a unit"));
            }
        }
        self.anchors.check()?;
        Ok(family_of)
    }

    fn check_families(&self) -> Result<BTreeMap<String, u8>, DomainError> {
        let mut family_of = BTreeMap::new();
        let mut numbers = BTreeSet::new();
        let mut ranks: BTreeMap<&str, u8> = BTreeMap::new();
        for family in &self.families {
            let key = |rest: &str| format!("families.{}.{rest}", family.number);
            if family.number == 0 || !numbers.insert(family.number) {
                return Err(wrong(key("number"), "numbers start at 1, each once"));
            }
            match (&family.phase, family.phase_rank) {
                (Some(phase), Some(rank)) if rank > 0 => {
                    if *ranks.entry(phase).or_insert(rank) != rank {
                        return Err(wrong(key("phase_rank"), format!("phase {phase:?} has another rank elsewhere")));
                    }
                }
                (None, None) => {}
                _ => return Err(wrong(key("phase_rank"), "a phase has a name and a rank from 1, or neither")),
            }
            for relation in &family.relations {
                if label_form(relation) != *relation {
                    return Err(wrong(key("relations"), format!("write {relation:?} as {:?}", label_form(relation))));
                }
                if let Some(other) = family_of.insert(relation.clone(), family.number) {
                    return Err(wrong(key("relations"), format!("{relation:?} is in family {other} too")));
                }
            }
        }
        Ok(family_of)
    }
}

fn wrong(key: impl Into<String>, reason: impl Into<String>) -> DomainError {
    DomainError::at_key(DOMAIN_FILE, key, reason)
}
