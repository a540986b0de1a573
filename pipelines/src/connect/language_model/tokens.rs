//! How many tokens a text has, before it is sent.

use std::path::Path;

use hypercane_operators::language_model::Message;
use tokenizers::Tokenizer;

use super::Error;

/// Bytes of a token where no tokenizer is given: what English text has in the vocabularies in use, rounded down.
const BYTES_PER_TOKEN: usize = 4;
/// Tokens that a message has beside its words.
const TOKENS_PER_MESSAGE: u64 = 4;

/// Counts tokens with a model's own tokenizer, or estimates them from the length.
#[derive(Clone, Debug, Default)]
pub struct TokenCounter {
    tokenizer: Option<Box<Tokenizer>>,
}

impl TokenCounter {
    /// Reads `tokenizer.json`; without a path tokens are estimated.
    ///
    /// # Errors
    /// The file can't be read, or is no tokenizer.
    pub fn open(path: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = path else { return Ok(Self::default()) };
        let mut tokenizer = Tokenizer::from_file(path).map_err(|e| {
            Error::Settings(format!("language_model.tokenizer: {} can't be read as a tokenizer: {e}", path.display()))
        })?;
        // All tokens count, and no other.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|e| Error::Settings(format!("language_model.tokenizer can't count long texts: {e}")))?;
        Ok(Self { tokenizer: Some(Box::new(tokenizer)) })
    }

    /// How it counts, for a person.
    pub fn how(&self) -> &'static str {
        if self.tokenizer.is_some() { "counted by the tokenizer" } else { "estimated as a token for every 4 bytes" }
    }

    /// The tokens of a text.
    pub fn count(&self, text: &str) -> u64 {
        let estimate = text.len().div_ceil(BYTES_PER_TOKEN) as u64;
        let Some(tokenizer) = &self.tokenizer else { return estimate };
        // A text that the tokenizer can't read is counted by its length all the same.
        tokenizer.encode_fast(text, false).map_or(estimate, |encoding| encoding.len() as u64)
    }

    /// The tokens of a conversation.
    pub fn count_messages(&self, messages: &[Message]) -> u64 {
        messages.iter().map(|message| self.count(&message.content) + TOKENS_PER_MESSAGE).sum()
    }
}
