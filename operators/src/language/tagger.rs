//! Part-of-speech tags of tokens, by the Penn Treebank's names (`NNP`, `VBD`), each by itself from its vector.

use serde::Deserialize;

use super::{LanguageError, features::Features, products::Dense, tok2vec::Tok2Vec, weights::Layers};

/// The vectors that the tagger reads.
pub(super) const VECTORS_FILE: &str = "tok2vec/model";
/// The weights of the tags.
pub(super) const WEIGHTS_FILE: &str = "tagger/model";
/// The names of the tags.
pub(super) const LABELS_FILE: &str = "tagger/cfg";

/// Chooses tags.
pub(super) struct Tagger {
    tok2vec: Tok2Vec,
    scores: Dense,
    labels: Vec<String>,
}

#[derive(Deserialize)]
struct Settings {
    labels: Vec<String>,
}

impl Tagger {
    /// From the files of its vectors, weights and labels.
    ///
    /// # Errors
    /// They are damaged or of another kind.
    pub(super) fn parse(vectors: &[u8], weights: &[u8], labels: &[u8]) -> Result<Self, LanguageError> {
        let tok2vec = Tok2Vec::parse(&Layers::parse(VECTORS_FILE, vectors)?)?;
        let Settings { labels } = serde_json::from_slice(labels).map_err(|error| LanguageError::Damaged {
            file: LABELS_FILE,
            reason: format!("it is no such JSON: {error}"),
        })?;
        if labels.is_empty() {
            return Err(LanguageError::Unfit { file: LABELS_FILE, reason: "it has no labels".into() });
        }
        let layers = Layers::parse(WEIGHTS_FILE, weights)?;
        let softmax = layers.named("softmax", 1)?[0];
        let scores = Dense::new(
            &softmax.array_of("W", &[labels.len(), tok2vec.width()])?,
            &softmax.array_of("b", &[labels.len()])?,
        );
        Ok(Self { tok2vec, scores, labels })
    }

    /// The tag of each token of a sentence.
    pub(super) fn tags(&self, tokens: &[Features]) -> Vec<&str> {
        let vectors = self.tok2vec.vectors(tokens);
        let scores = self.scores.apply(&vectors, self.tok2vec.width(), tokens.len());
        let best = scores.chunks_exact(self.labels.len()).map(best);
        best.map(|label| self.labels[label].as_str()).collect()
    }
}

/// The place of the largest score; of equal ones the first.
pub(super) fn best(scores: &[f32]) -> usize {
    (1..scores.len()).fold(0, |best, place| if scores[place] > scores[best] { place } else { best })
}
