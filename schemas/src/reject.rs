//! Input that could not be used, kept whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ContentHash;

/// Where it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The bytes are no record of this topic.
    Decode,
    /// The text is no product that is known, or breaks its form.
    Extract,
    /// A relation or attribute is not in the domain pack.
    Canonicalize,
    /// A query asks for what the domain pack does not serve.
    Answer,
    /// Records that the topic no longer had when they were to be read.
    Gap,
}

impl Stage {
    /// Whether it follows from a document or a query that stands, and comes and goes with it. What is of another stage never became a
    /// row of the input.
    pub fn is_derived(self) -> bool {
        match self {
            Self::Extract | Self::Canonicalize | Self::Answer => true,
            Self::Decode | Self::Gap => false,
        }
    }

    /// The stage as it is written in tables and topics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Extract => "extract",
            Self::Canonicalize => "canonicalize",
            Self::Answer => "answer",
            Self::Gap => "gap",
        }
    }
}

/// A record that could not be used, with all that is needed to send it again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Reject {
    /// Hash of place, stage and reason, so that the same failure is one row.
    pub id: ContentHash,
    /// The topic, or the folder that stands for it.
    pub topic: String,
    /// The partition, where the transport has one.
    #[serde(default)]
    pub partition: Option<i32>,
    /// The offset, where the transport has one.
    #[serde(default)]
    pub offset: Option<i64>,
    /// The record's key.
    pub key: String,
    /// Where it failed.
    pub stage: Stage,
    /// The line of the text, from 1, where that is known.
    #[serde(default)]
    pub line: Option<u32>,
    /// What is wrong and what can be done, for a person.
    pub reason: String,
    /// The payload as it came, in base64; empty where the record itself is kept under its key (a rejected part of a document).
    pub payload_base64: String,
}
