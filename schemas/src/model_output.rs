//! What a model said, recorded so that it is asked once.

use std::{cmp::Ordering, hash, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ContentHash;

/// A model's output under (model, template, input): the dataflow is a function of these rows, never of the model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ModelOutput {
    /// The model, with its version.
    pub model: String,
    /// Hash of the prompt or of the template of the input.
    pub template: ContentHash,
    /// Hash of the input text.
    pub input: ContentHash,
    /// The vector.
    pub vector: Vector,
}

/// A dense vector of single precision, shared, compared bit by bit so that it can live in a collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Vector(#[schemars(with = "Vec<f32>")] pub Arc<[f32]>);

impl Vector {
    fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|x| x.to_bits())
    }
}

impl PartialEq for Vector {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.bits().eq(other.bits())
    }
}

impl Eq for Vector {}

impl PartialOrd for Vector {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Vector {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits().cmp(other.bits())
    }
}

/// Components that are hashed at once.
const BLOCK: usize = 64;

impl hash::Hash for Vector {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        // In blocks: a hasher takes many bytes at once faster than four at a time.
        for block in self.0.chunks(BLOCK) {
            let mut bytes = [0; 4 * BLOCK];
            for (bytes, x) in bytes.chunks_exact_mut(4).zip(block) {
                bytes.copy_from_slice(&x.to_bits().to_ne_bytes());
            }
            state.write(&bytes[..4 * block.len()]);
        }
    }
}
