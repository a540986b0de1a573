//! A trained model of a language: from a sentence to its tokens with tags, and its named entities.

use std::{collections::BTreeMap, fmt};

use hypercane_schemas::Span;
use xxhash_rust::xxh3::Xxh3;

use super::{
    LanguageError, Token,
    entities::{self, EntityParser},
    features::features,
    tagger::{self, Tagger},
    tokens::{self, Tokenizer},
};

/// spaCy's small English pipeline (`en_core_web_sm` 3.8), or one that is made alike.
///
/// It gives what spaCy gives for a sentence by itself, but that white space is no token.
pub struct Language {
    id: String,
    tokenizer: Tokenizer,
    tagger: Tagger,
    entities: EntityParser,
}

/// What a sentence is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis<'a> {
    /// Its tokens, in order.
    pub tokens: Vec<Tagged<'a>>,
    /// Its named entities, in order; none overlap.
    pub entities: Vec<NamedEntity<'a>>,
}

/// A token with its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tagged<'a> {
    /// The token.
    pub token: Token,
    /// Its part of speech, by the names of the Penn Treebank in OntoNotes: `NNP`, `VBD`, `HYPH`.
    pub tag: &'a str,
}

/// A thing that a sentence names, a date, an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedEntity<'a> {
    /// Its bytes in the sentence.
    pub span: Span,
    /// Its kind, by the names of OntoNotes: `PERSON`, `GPE`, `DATE`.
    pub label: &'a str,
}

impl Language {
    /// The files of a model, by their paths in its folder.
    pub const FILES: [&'static str; 7] = [
        tokens::RULES_FILE,
        tokens::NORMS_FILE,
        tagger::VECTORS_FILE,
        tagger::WEIGHTS_FILE,
        tagger::LABELS_FILE,
        entities::WEIGHTS_FILE,
        entities::MOVES_FILE,
    ];

    /// Reads a model from the bytes of its [files](Self::FILES), by their paths.
    ///
    /// # Errors
    /// A file is missing, damaged, or of another kind of model; the error names it.
    pub fn parse(files: &BTreeMap<String, Vec<u8>>) -> Result<Self, LanguageError> {
        let file = |file| files.get(file).map(Vec::as_slice).ok_or(LanguageError::Missing { file });
        let mut hash = Xxh3::new();
        for name in Self::FILES {
            let bytes = file(name)?;
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        Ok(Self {
            id: format!("language@{:032x}", hash.digest128()),
            tokenizer: Tokenizer::parse(file(tokens::RULES_FILE)?, file(tokens::NORMS_FILE)?)?,
            tagger: Tagger::parse(
                file(tagger::VECTORS_FILE)?,
                file(tagger::WEIGHTS_FILE)?,
                file(tagger::LABELS_FILE)?,
            )?,
            entities: EntityParser::parse(file(entities::WEIGHTS_FILE)?, file(entities::MOVES_FILE)?)?,
        })
    }

    /// The model by a hash of its files: with another id, the same text may say other things.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tokens, tags and named entities of a sentence. The result depends on the sentence alone.
    pub fn analyse(&self, sentence: &str) -> Analysis<'_> {
        let tokens = self.tokenizer.tokens(sentence);
        let (tags, entities) = self.tags_and_entities(sentence, &tokens);
        let tagged = tokens.into_iter().zip(tags).map(|(token, tag)| Tagged { token, tag });
        Analysis { tokens: tagged.collect(), entities }
    }

    fn tags_and_entities(&self, sentence: &str, tokens: &[Token]) -> (Vec<&str>, Vec<NamedEntity<'_>>) {
        let text = |token: &Token| token.span.of(sentence).expect("a token lies in its sentence");
        let features: Vec<_> = tokens.iter().map(|token| features(text(token), token)).collect();
        let entities = self.entities.entities(&features).into_iter().map(|found| {
            let span = tokens[found.start].span.cover(tokens[found.end - 1].span);
            NamedEntity { span, label: found.label }
        });
        (self.tagger.tags(&features), entities.collect())
    }
}

/// Models of the same files are the same.
impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Language").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
