//! How people ask: the words of questions and what they mean, from the pack's table of questions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{DomainError, pack::Pack};

/// How the people of a trade ask. A pack without a table of questions has none of these words.
///
/// A phrase matches whole words in any case, punctuation apart; a word that ends in `*` matches any word that begins so.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Questions {
    /// Words that carry nothing by themselves, beside those of plain English.
    pub stop_words: BTreeSet<String>,
    /// Names of places that are words of the trade as well.
    pub not_places: BTreeSet<String>,
    /// Words before a name that make it the name of a storm.
    pub titles: BTreeSet<String>,
    /// Words after a class that make it a kind of something else.
    pub after_class: BTreeSet<String>,
    /// Phrases that ask for a storm's class.
    pub class_words: Vec<String>,
    /// Types of entities that a question can name.
    pub types: Types,
    /// What families are for.
    pub roles: Roles,
    /// Conditions of ports.
    pub conditions: Conditions,
    /// Phrases that ask for a family, by its number.
    #[serde(deserialize_with = "by_number")]
    pub families: BTreeMap<u8, Vec<String>>,
    /// Phrases that tell how a question looks at order.
    pub intents: Intents,
    /// How products are numbered and counted.
    pub numbers: Numbers,
    /// Which products a series is followed in.
    pub series: Series,
    /// Products.
    pub products: Vec<ProductWords>,
    /// What can reach a threshold.
    pub measures: Vec<Measure>,
}

/// Types of entities that a question can name.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Types {
    /// Types whose names several things may bear in different years.
    pub storms: BTreeSet<String>,
    /// Types that are places.
    pub places: BTreeSet<String>,
}

/// What families are for, where retrieval treats one apart.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// Present states, of which a series is made.
    pub state: Option<u8>,
    /// Watches and warnings.
    pub warnings: Option<u8>,
    /// Probabilities by place and period: many to a product.
    pub probabilities: Option<u8>,
    /// What ports do. These facts need not name a storm.
    pub operations: BTreeSet<u8>,
    /// Asked about one of these, people want the newest.
    pub newest_first: BTreeSet<u8>,
}

/// Conditions of ports.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// The families that tell them.
    pub families: BTreeSet<u8>,
    /// Words that say that ports are meant where a condition is asked for.
    pub subjects: BTreeSet<String>,
    /// Phrases, by the condition as documents call it.
    pub words: BTreeMap<String, Vec<String>>,
}

/// Phrases that tell how a question looks at order.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Intents {
    /// When something first was so.
    pub first: Vec<String>,
    /// Several states, in order.
    pub sequence: Vec<String>,
    /// The newest state.
    pub latest: Vec<String>,
    /// The largest or smallest of all.
    pub extreme: Vec<String>,
    /// What changed.
    pub change: Vec<String>,
    /// A forecast, not the present.
    pub forecast: Vec<String>,
}

/// How products are numbered and counted.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Numbers {
    /// Words before an advisory's number.
    pub heads: BTreeSet<String>,
    /// Words after an ordinal that make it an advisory's number.
    pub counted: BTreeSet<String>,
    /// Words that may stand between the two.
    pub between: BTreeSet<String>,
    /// Words before the number of a bulletin of a year.
    pub bulletins: BTreeSet<String>,
}

/// Which products a series is followed in: the first kind of which there is more than one.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Series {
    /// Kinds of products.
    pub kinds: Vec<String>,
    /// The same for questions about warnings.
    pub warnings: Vec<String>,
}

/// A kind of product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductWords {
    /// The kind, such as `tcm`.
    pub kind: String,
    /// Whether a storm's products of this kind have numbers.
    #[serde(default)]
    pub numbered: bool,
    /// Whether the last one before a moment speaks for it.
    #[serde(default)]
    pub prompt: bool,
    /// Whether it is about ports.
    #[serde(default)]
    pub operations: bool,
    /// Phrases that name it.
    pub words: Vec<String>,
}

/// Which way a threshold is crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crossing {
    /// At or above.
    Up,
    /// At or below.
    Down,
}

/// An attribute that can reach a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The attribute.
    pub attribute: String,
    /// Which way a threshold is crossed.
    pub crossing: Crossing,
    /// Which way is the most, where a question may ask for that.
    #[serde(default)]
    pub extreme: Option<Crossing>,
    /// Whether it is forecast too.
    #[serde(default)]
    pub forecast: bool,
    /// Values for which more is given than that they are reached.
    #[serde(default)]
    pub reported: Vec<u16>,
    /// Numbers that may stand in a list whose unit follows the last one.
    #[serde(default)]
    pub listed: Vec<u16>,
    /// Words that follow a value, each with its factor to the canonical unit.
    #[serde(default)]
    pub units: BTreeMap<String, f64>,
    /// Values that have names.
    #[serde(default)]
    pub levels: Vec<Level>,
    /// Where a value of another attribute is meant for this one.
    #[serde(default)]
    pub instead_of: Option<InsteadOf>,
}

/// A value that has names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// In the canonical unit.
    pub value: f64,
    /// Phrases that name it.
    pub words: Vec<String>,
}

/// With one of the phrases, a smaller value of the other attribute is meant for this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsteadOf {
    /// The other attribute.
    pub attribute: String,
    /// In the canonical unit.
    pub below: f64,
    /// The phrases.
    pub words: Vec<String>,
}

/// TOML knows keys of text only.
fn by_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u8, Vec<String>>, D::Error> {
    let by_text = BTreeMap::<String, Vec<String>>::deserialize(deserializer)?;
    let numbered = by_text.into_iter().map(|(key, words)| {
        let number = key.parse().map_err(|_| D::Error::custom(format!("{key:?} is no number of a family")))?;
        Ok((number, words))
    });
    numbered.collect()
}

impl Questions {
    /// Reads the table and checks it against the pack.
    pub(super) fn parse(file: &str, text: &str, pack: &Pack) -> Result<Self, DomainError> {
        let questions: Self = toml::from_str(text).map_err(|e| DomainError::from_toml(file, text, &e))?;
        let wrong = |key: String, reason: String| DomainError::at_key(file, key, reason);
        let family = |key: &str, number: u8| match pack.families.iter().any(|family| family.number == number) {
            true => Ok(()),
            false => Err(wrong(key.into(), format!("there is no family {number}"))),
        };
        for number in questions.families.keys() {
            family(&format!("families.{number}"), *number)?;
        }
        let roles = &questions.roles;
        let single = [&roles.state, &roles.warnings, &roles.probabilities].into_iter().flatten();
        for number in single.chain(&roles.operations).chain(&roles.newest_first) {
            family("roles", *number)?;
        }
        for number in &questions.conditions.families {
            family("conditions.families", *number)?;
        }
        for measure in &questions.measures {
            let instead_of = measure.instead_of.as_ref().map(|other| &other.attribute);
            for attribute in std::iter::once(&measure.attribute).chain(instead_of) {
                if !pack.attributes.contains_key(attribute) {
                    return Err(wrong(format!("measures.{attribute}"), "there is no attribute of that name".into()));
                }
            }
        }
        for kind in questions.types.storms.iter().chain(&questions.types.places) {
            if !pack.entity_types.contains_key(kind) {
                return Err(wrong("types".into(), format!("there is no entity type {kind:?}")));
            }
        }
        let mut kinds = BTreeSet::new();
        if let Some(twice) = questions.products.iter().find(|product| !kinds.insert(&product.kind)) {
            return Err(wrong(format!("products.{}", twice.kind), "this product is there twice".into()));
        }
        for kind in questions.series.kinds.iter().chain(&questions.series.warnings) {
            if !kinds.contains(kind) {
                return Err(wrong("series".into(), format!("there is no product {kind:?}")));
            }
        }
        Ok(questions)
    }

    /// Whether a family tells what ports do.
    pub fn is_operation(&self, family: u8) -> bool {
        self.roles.operations.contains(&family)
    }

    /// The product of a kind.
    pub fn product(&self, kind: &str) -> Option<&ProductWords> {
        self.products.iter().find(|product| product.kind == kind)
    }

    /// The measure of an attribute.
    pub fn measure(&self, attribute: &str) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.attribute == attribute)
    }

    /// Every list of phrases.
    #[cfg(test)]
    pub(super) fn phrases(&self) -> impl Iterator<Item = &Vec<String>> {
        let intents = &self.intents;
        let lists = [&intents.first, &intents.sequence, &intents.latest, &intents.extreme, &intents.change];
        let levels = self.measures.iter().flat_map(|measure| &measure.levels).map(|level| &level.words);
        lists
            .into_iter()
            .chain([&intents.forecast, &self.class_words])
            .chain(self.families.values())
            .chain(self.conditions.words.values())
            .chain(self.products.iter().map(|product| &product.words))
            .chain(levels)
    }
}
