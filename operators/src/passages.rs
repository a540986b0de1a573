//! Passages: the parts of documents that retrieval ranks, each once, with its vectors and every document that has it.
//!
//! As if its input never changed: for each distinct pair of title and text of a chunk one passage. Documents that say the same
//! share it, and it goes with the last of them. It keeps the passages and their vectors by passage.

use std::collections::BTreeMap;

use hypercane_schemas::{ContentHash, DocumentKey, Provenance, Vector};
use serde::{Deserialize, Serialize};

use crate::{
    collection::Collection,
    extract::Extracted,
    kernel::{embedded_as, passages::Passage},
    shared::Shared,
};

/// A passage with the places where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlacedPassage {
    /// The passage.
    pub passage: Shared<Passage>,
    /// Every document that has it, with the bytes, in order.
    pub provenance: Vec<Provenance>,
}

/// What a passage is put together from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Part {
    Place(Provenance, Shared<Passage>),
    /// The vector of the whole (0) or of a fact (from 1).
    Vector(u32, Vector),
}

/// The passages, under the hashes of their titles and texts.
pub fn passages<'scope>(
    extracted: Collection<'scope, (DocumentKey, Shared<Extracted>)>,
    vectors: Collection<'scope, (ContentHash, Vector)>,
) -> Collection<'scope, (ContentHash, Shared<PlacedPassage>)> {
    let places = extracted.flat_map(|(document, chunk)| {
        let (passage, span) = chunk.passage.clone()?;
        let place = Provenance { document, chunk: chunk.chunk, span };
        Some((ContentHash::of_parts([&*passage.title, &*passage.text]), (place, passage)))
    });
    let texts = places.clone().flat_map(|(id, (_, passage))| {
        passage.texts().zip(0u32..).map(|(text, part)| (embedded_as(&text), (id, part))).collect::<Vec<_>>()
    });
    // Two documents with one passage ask for its vectors twice.
    let vectors =
        texts.distinct().join_map(vectors, |_, (id, part), vector| (*id, Part::Vector(*part, vector.clone())));
    places
        .map(|(id, (place, passage))| (id, Part::Place(place, passage)))
        .concat(vectors)
        .reduce_named("Passages", |_, parts, output| {
            output.extend(assemble(parts.iter().map(|(part, _)| *part)).map(|passage| (passage, 1)))
        })
}

/// The passage of these parts; `None` where no document has it.
fn assemble<'a>(parts: impl Iterator<Item = &'a Part>) -> Option<Shared<PlacedPassage>> {
    let (mut provenance, mut said, mut vectors) = (Vec::new(), Vec::new(), BTreeMap::new());
    for part in parts {
        match part {
            Part::Place(place, passage) => {
                provenance.push(place.clone());
                said.push(passage);
            }
            Part::Vector(part, vector) => _ = vectors.insert(*part, vector.clone()),
        }
    }
    // Their documents may differ in when they were issued, and then the first counts.
    let earliest = said.iter().map(|passage| passage.issued_at).min()?;
    let mut passage = Passage::clone(said.first()?);
    passage.issued_at = earliest;
    passage.vector = vectors.remove(&0);
    for (fact, part) in passage.facts.iter_mut().zip(1..) {
        fact.vector = vectors.remove(&part);
    }
    Some(Shared::new(PlacedPassage { passage: Shared::new(passage), provenance }))
}
