//! A document as it stands: the newest revision under its key.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Fixed, GroupKey};

/// The name under which a document is sent again, changed or deleted: a path, a message key, any stable text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DocumentKey(pub String);

/// One document. On topic `documents` it is the JSON payload; a null payload under its key deletes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The key; on a topic it may be left out, then the message key counts.
    #[serde(default = "no_key")]
    pub key: DocumentKey,
    /// The product, such as `tcm` or `msib`; left out, it is detected from the text.
    #[serde(default)]
    pub source_kind: Option<String>,
    /// A title, where the document has one beside its text.
    #[serde(default)]
    pub title: Option<String>,
    /// The text, as it was received.
    pub text: String,
    /// When it was issued, for texts that do not say so themselves.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub issued_at: Option<Timestamp>,
    /// The knowledge group of facts that name none themselves.
    #[serde(default)]
    pub group: Option<GroupKey>,
    /// The forecast horizon the document stands for, in whole hours before the reference event, where the sender knows it.
    #[serde(default)]
    pub horizon_hours: Option<u16>,
    /// How far the source is trusted, in (0, 1].
    #[serde(default = "full_reliability")]
    pub reliability: Fixed,
    /// The document that this one replaces, where the sender knows it.
    #[serde(default)]
    pub supersedes: Option<DocumentKey>,
}

fn no_key() -> DocumentKey {
    DocumentKey(String::new())
}

fn full_reliability() -> Fixed {
    Fixed::ONE
}

impl Document {
    /// A document of plain text with nothing else known.
    pub fn plain(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            key: DocumentKey(key.into()),
            source_kind: None,
            title: None,
            text: text.into(),
            issued_at: None,
            group: None,
            horizon_hours: None,
            reliability: Fixed::ONE,
            supersedes: None,
        }
    }
}
