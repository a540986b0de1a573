//! Vectors that a lake has recorded, and recording new ones there.

use std::fmt;

use hypercane_schemas::{ContentHash, ModelOutput, Vector};

use crate::{
    connect::{self, embed, lake::Lake},
    pipeline::Error,
};

/// The vectors that a lake has recorded of a model, to read only.
///
/// # Errors
/// The lake can't be read.
pub async fn recorded_vectors(lake: &Lake, model: &str) -> Result<embed::MemoryStore, Error> {
    let known = lake.read_model_outputs(model, embed::template_hash()).await?;
    let known: Vec<(ContentHash, Vector)> = known.into_iter().collect();
    let store = embed::MemoryStore::default();
    embed::VectorStore::put(&store, &known)?;
    Ok(store)
}

/// The record of vectors in a lake: what it holds is read once, what is new is appended at once.
pub struct LakeVectors {
    memory: embed::MemoryStore,
    lake: Lake,
    model: String,
    runtime: tokio::runtime::Handle,
}

impl fmt::Debug for LakeVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LakeVectors").field("model", &self.model).finish_non_exhaustive()
    }
}

impl LakeVectors {
    /// Reads what the lake has recorded of a model.
    ///
    /// # Errors
    /// The lake can't be read.
    pub async fn open(lake: Lake, model: &str) -> Result<Self, Error> {
        let memory = recorded_vectors(&lake, model).await?;
        Ok(Self { memory, lake, model: model.into(), runtime: tokio::runtime::Handle::current() })
    }
}

impl embed::VectorStore for LakeVectors {
    fn get(&self, inputs: &[ContentHash]) -> Result<Vec<Option<Vector>>, connect::Error> {
        self.memory.get(inputs)
    }

    fn put(&self, rows: &[(ContentHash, Vector)]) -> Result<(), connect::Error> {
        let outputs: Vec<ModelOutput> = rows
            .iter()
            .map(|(input, vector)| ModelOutput {
                model: self.model.clone(),
                template: embed::template_hash(),
                input: *input,
                vector: vector.clone(),
            })
            .collect();
        let append = || self.lake.append_model_outputs(&outputs);
        tokio::task::block_in_place(|| self.runtime.block_on(self.lake.patiently(append)))
            .map_err(|e| connect::Error::lasting("vectors can't be recorded in the lake".to_owned()).because(e))?;
        self.memory.put(rows)
    }
}
