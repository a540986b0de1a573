//! An entity, merged over all its mentions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DocumentKey, Fixed};

/// What the keys of documents begin with.
const DOCUMENT: &str = "document:";

/// The canonical, hierarchical name of an entity, such as `storm:AL092017`, `port:houston_tx` or
/// `wind_fcst:AL092017:2017-08-26T00:00Z:@2017-08-25T03:00Z` (OKH-RAG A.2 step 2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EntityKey(pub String);

impl EntityKey {
    /// The entity family: the key without the position at its end (`:T-48`, `:T+6`, or `:@` and an issue time), so that
    /// states of one thing at several horizons share it. A key without a position, and an anchor, is its own family.
    pub fn family(&self) -> &str {
        let key = self.0.as_str();
        if self.is_anchor() {
            return key;
        }
        if let Some((family, _)) = key.rsplit_once(":@") {
            return family;
        }
        let Some((family, label)) = key.rsplit_once(':') else { return key };
        let hours = label.strip_prefix("T-").or_else(|| label.strip_prefix("T+"));
        let is_position = hours.is_some_and(|hours| !hours.is_empty() && hours.bytes().all(|b| b.is_ascii_digit()));
        if is_position { family } else { key }
    }

    /// Whether the key names a temporal anchor: a horizon or a moment.
    pub fn is_anchor(&self) -> bool {
        self.0.starts_with("horizon:") || self.0.starts_with("time:")
    }

    /// The key of a document, as a thing that its facts are about.
    pub fn of_document(document: &DocumentKey) -> Self {
        Self(format!("{DOCUMENT}{}", document.0))
    }

    /// Whether the key is that of a document.
    pub fn is_document(&self) -> bool {
        self.0.starts_with(DOCUMENT)
    }
}

/// What an entity is for (OKH-RAG A.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Persists across the scenario: a storm, a port, a place.
    Persistent,
    /// A state at one horizon or issue time.
    Transient,
    /// A temporal anchor. It carries no expansion.
    Anchor,
    /// Anything else that is named: a product, a notion.
    Concept,
}

/// An entity v = (n, tau, d, c) of OKH-RAG eq. 6, merged over its mentions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    /// Canonical key.
    pub key: EntityKey,
    /// Name as shown.
    pub name: String,
    /// Type from the domain pack.
    #[serde(rename = "type")]
    pub kind: String,
    /// Category of that type.
    pub category: Category,
    /// Explanation; may be empty.
    pub description: String,
    /// Other names, sorted.
    pub aliases: Vec<String>,
    /// Combined confidence of its mentions, in (0, 1].
    pub confidence: Fixed,
    /// How many hyperedges mention it.
    pub support: u32,
}

#[cfg(test)]
mod tests {
    use super::EntityKey;

    #[test]
    fn families_drop_the_position_only() {
        for (key, family) in [
            ("wind_fcst:IRMA:port_arthur:T-48", "wind_fcst:IRMA:port_arthur"),
            ("fcst:AL092017:2017-08-26T00:00Z:@2017-08-25T03:00Z", "fcst:AL092017:2017-08-26T00:00Z"),
            ("op:IRMA:port_arthur:T+6", "op:IRMA:port_arthur"),
            ("horizon:T-48", "horizon:T-48"),
            ("time:2017-08-25T03:00Z", "time:2017-08-25T03:00Z"),
            ("storm:AL092017", "storm:AL092017"),
            ("state:AL092017:@2017-08-25T03:00Z", "state:AL092017"),
            ("port:houston_tx", "port:houston_tx"),
            ("odd:T-", "odd:T-"),
        ] {
            assert_eq!(EntityKey(key.into()).family(), family);
        }
    }
}
