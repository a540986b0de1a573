//! What a language model wrote, recorded so that it is asked once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ContentHash;

/// The text that a language model gave under (model, template, input), as it came, also where it can't be used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelText {
    /// The model, as its endpoint names it.
    pub model: String,
    /// Hash of the prompt without its input.
    pub template: ContentHash,
    /// Hash of the input.
    pub input: ContentHash,
    /// What it wrote.
    pub text: String,
}
