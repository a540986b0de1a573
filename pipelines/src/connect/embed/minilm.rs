//! all-MiniLM-L6-v2 through candle: token vectors averaged under the mask, then scaled to length one.
//!
//! A text's vector must not depend on its company. Padding changes the order in which sums are taken, and so their last
//! bits; a batch therefore holds texts of one token count only, and no padding is ever needed. The number of rows of a
//! matrix product matters too, where it changes how the product is cut into blocks, which is why the tests compare bits.

use std::{collections::BTreeMap, fmt, fs, path::Path};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use hypercane_schemas::{Vector, text};
use tokenizers::{Tokenizer, TruncationParams};
use xxhash_rust::xxh3::Xxh3;

use super::{Error, Model};

const NAME: &str = "all-MiniLM-L6-v2";
/// What the model was trained with; the tokenizer's own file says 128, which cuts long sentences.
const MAX_TOKENS: usize = 256;
/// Past this, a larger batch is no faster on a CPU and only takes memory.
const MAX_BATCH_TOKENS: usize = 2048;

/// The model and its tokenizer, loaded.
pub struct Embedder {
    id: String,
    model: BertModel,
    tokenizer: Tokenizer,
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedder").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Embedder {
    /// Loads `model.safetensors`, `tokenizer.json` and `config.json` from a folder.
    pub fn load(dir: &Path) -> Result<Self, Error> {
        let read = |name: &str| {
            let path = dir.join(name);
            fs::read(&path).map_err(|e| {
                Error::lasting(format!(
                    "can't read the model file {}; deploy/setup/fetch-models.sh lays the model down and says where",
                    path.display()
                ))
                .because(e)
            })
        };
        let (config, tokenizer, weights) = (read("config.json")?, read("tokenizer.json")?, read("model.safetensors")?);
        let broken = |name: &str, e: Box<dyn std::error::Error + Send + Sync>| {
            Error::lasting(format!("{} is no file of the model {NAME}", dir.join(name).display())).because(e)
        };

        let mut hash = Xxh3::new();
        for part in [&weights, &tokenizer, &config] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let id = format!("{NAME}@{:032x}", hash.digest128());

        let config: Config = serde_json::from_slice(&config).map_err(|e| broken("config.json", e.into()))?;
        let mut tokenizer = Tokenizer::from_bytes(&tokenizer).map_err(|e| broken("tokenizer.json", e))?;
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(Some(TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() }))
            .map_err(|e| broken("tokenizer.json", e))?;
        let variables = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .map_err(|e| broken("model.safetensors", e.into()))?;
        let model = BertModel::load(variables, &config).map_err(|e| broken("model.safetensors", e.into()))?;
        Ok(Self { id, model, tokenizer })
    }

    /// The vectors of texts that have the same number of tokens.
    fn forward(&self, rows: &[&[u32]]) -> candle_core::Result<Vec<Vec<f32>>> {
        let n_tokens = rows[0].len();
        let ids = Tensor::from_vec(rows.concat(), (rows.len(), n_tokens), &Device::Cpu)?;
        let states = self.model.forward(&ids, &ids.zeros_like()?, None)?;
        // Every token counts, so the mean points where the sum points, and length one makes them the same.
        let sums = states.sum(1)?;
        let norms = sums.sqr()?.sum_keepdim(1)?.sqrt()?;
        sums.broadcast_div(&norms)?.to_vec2::<f32>()
    }
}

impl Model for Embedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Error> {
        let canonical: Vec<String> = texts.iter().map(|input| text::canonical(input)).collect();
        let encodings = self
            .tokenizer
            .encode_batch_fast(canonical, true)
            .map_err(|e| Error::lasting("the tokenizer refused a text").because(e))?;
        let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (idx, encoding) in encodings.iter().enumerate() {
            by_length.entry(encoding.len()).or_default().push(idx);
        }
        let mut vectors: Vec<Option<Vector>> = vec![None; texts.len()];
        for (n_tokens, members) in by_length {
            for batch in members.chunks((MAX_BATCH_TOKENS / n_tokens).max(1)) {
                let rows: Vec<&[u32]> = batch.iter().map(|&idx| encodings[idx].get_ids()).collect();
                let found = self.forward(&rows).map_err(|e| Error::lasting("the model failed").because(e))?;
                for (&idx, vector) in batch.iter().zip(found) {
                    vectors[idx] = Some(Vector(vector.into()));
                }
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn embedder() -> Option<Embedder> {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let cache = std::env::var_os("HYPERCANE_CACHE").map_or_else(|| checkout.join(".cache"), PathBuf::from);
        let dir = cache.join("models/all-MiniLM-L6-v2");
        if !dir.exists() {
            println!("skipped: no model in {}; deploy/setup/fetch-models.sh fetches it", dir.display());
            return None;
        }
        Some(Embedder::load(&dir).unwrap())
    }

    fn texts() -> Vec<String> {
        let words = ["harbor", "Houston", "closed", "34 kt", "surge", "2017", "WHISKEY", "pilot", "é", "\u{4e2d}"];
        (0..160usize)
            .map(|n| (0..(n * n) % 61).map(|k| words[(n * 7 + k * k) % words.len()]).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn a_vector_has_the_same_bits_in_any_company() {
        let Some(embedder) = embedder() else { return };
        let texts = texts();
        let together = embedder.embed(&texts).unwrap();
        let mut backwards: Vec<String> = texts.iter().rev().cloned().collect();
        // Enough of one length to fill a batch, so that the matrices are as tall as they get.
        backwards.extend((0..400).map(|n| format!("berth {n} closed")));
        let backwards = embedder.embed(&backwards).unwrap();
        for (idx, text) in texts.iter().enumerate() {
            let alone = embedder.embed(std::slice::from_ref(text)).unwrap();
            assert_eq!(alone[0], together[idx], "{text:?}");
            assert_eq!(alone[0], backwards[texts.len() - 1 - idx], "{text:?}");
        }
    }

    #[test]
    fn vectors_have_length_one_and_near_meanings_are_near() {
        let Some(embedder) = embedder() else { return };
        let texts = ["The port is closed to all vessels", "No ship may enter the harbor", "The recipe needs two eggs"];
        let vectors = embedder.embed(&texts.map(str::to_owned)).unwrap();
        let cosine = |a: &Vector, b: &Vector| a.0.iter().zip(b.0.iter()).map(|(x, y)| x * y).sum::<f32>();
        assert_eq!(vectors[0].0.len(), 384);
        assert!((cosine(&vectors[0], &vectors[0]) - 1.0).abs() < 1e-5);
        assert!(cosine(&vectors[0], &vectors[1]) > 0.5);
        assert!(cosine(&vectors[0], &vectors[2]) < 0.2);
    }

    #[test]
    fn a_missing_or_broken_model_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = Embedder::load(dir.path()).unwrap_err();
        assert!(error.to_string().contains("config.json") && !error.is_transient());
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            fs::write(dir.path().join(name), "{").unwrap();
        }
        assert!(Embedder::load(dir.path()).is_err());
    }
}
