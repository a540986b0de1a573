//! Chunks: the parts in which a document is read. One that speaks of several horizons is parted at its horizon headers
//! (OKH-RAG A.2, per-horizon extraction). Where the domain pack bounds their length, longer texts are cut further, with an
//! overlap (see [`super::cut()`]), but for products of a grammar, which are read whole.

use std::hash::{Hash as _, Hasher as _};

use hypercane_schemas::Document;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::{cut, split_horizons};
use crate::{domain::ChunkLength, grammar};

/// A part of a document that is read by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Chunk {
    /// Its number in the document, from zero.
    pub number: u32,
    /// The document with the text of this chunk alone, and with its horizon. Under a header the issue time of the whole does
    /// not count: the parts speak of different moments, and the text of each must say its own.
    pub document: Document,
    /// The byte of the document at which the text begins.
    pub start: u32,
    /// The line of the document at which it begins, from 1.
    pub first_line: u32,
    /// How many bytes at its start are the end of the chunk before it: they are read for what they mean to the rest, and
    /// what they state themselves is stated by that chunk.
    pub overlap: u32,
}

impl Chunk {
    /// A hash of all that says what the chunk states, which its place in the document does not.
    pub fn content(&self) -> u128 {
        let mut hasher = Xxh3Default::new();
        self.document.hash(&mut hasher);
        hasher.write_u32(self.overlap);
        hasher.digest128()
    }
}

/// The source kind of a document whose headed parts may be any products.
const SCENARIO: &str = "scenario";

/// The chunks of a document, in text order: of any length, or of the length that a domain pack sets.
pub fn chunk(document: &Document, length: Option<ChunkLength>) -> Vec<Chunk> {
    let blocks = split_horizons(&document.text);
    let source_kind = document.source_kind.clone().filter(|kind| !kind.eq_ignore_ascii_case(SCENARIO));
    let length = length.filter(|_| source_kind.as_deref().and_then(grammar::Kind::named).is_none());
    let of_horizons = blocks.iter().any(|block| block.horizon.is_some());
    // A text that is blank has no block, and is a chunk all the same.
    let parts: Vec<(usize, usize, Option<u16>)> = match of_horizons {
        true => {
            blocks.iter().map(|block| (block.body.start as usize, block.body.end as usize, block.horizon)).collect()
        }
        false => vec![(0, document.text.len(), None)],
    };
    let mut chunks = Vec::new();
    let (mut counted, mut first_line) = (0, 1);
    for (from, to, horizon) in parts {
        for piece in cut(&document.text[from..to], length) {
            let (start, end) = (from + piece.start, from + piece.end);
            let before = &document.text.as_bytes()[counted..start];
            first_line += before.iter().filter(|byte| **byte == b'\n').count();
            counted = start;
            let part = Document {
                key: document.key.clone(),
                source_kind: source_kind.clone(),
                title: document.title.clone(),
                text: document.text[start..end].to_owned(),
                issued_at: document.issued_at.filter(|_| horizon.is_none()),
                group: document.group.clone(),
                horizon_hours: horizon.or(document.horizon_hours),
                reliability: document.reliability,
                supersedes: document.supersedes.clone(),
            };
            chunks.push(Chunk {
                number: chunks.len() as u32,
                document: part,
                start: start as u32,
                first_line: first_line as u32,
                overlap: (piece.own - piece.start) as u32,
            });
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Document;

    use super::{ChunkLength, chunk};

    #[test]
    fn a_document_without_headers_is_one_chunk() {
        let mut document = Document::plain("a", "one\ntwo\n");
        document.horizon_hours = Some(24);
        let chunks = chunk(&document, None);
        assert_eq!(chunks.len(), 1);
        assert_eq!((&chunks[0].document, chunks[0].start, chunks[0].first_line), (&document, 0, 1));
    }

    #[test]
    fn the_chunks_of_a_long_text_say_where_they_stand() {
        let line = |number: usize| format!("Line {number} has a sentence of its own.\n\n");
        let text: String = (0..60).map(line).collect();
        let length = ChunkLength { length: 300, overlap: 80 };
        let mut document = Document::plain("a", text.as_str());
        let chunks = chunk(&document, Some(length));
        assert!(chunks.len() > 5, "{}", chunks.len());
        for (number, chunk) in chunks.iter().enumerate() {
            let part = &chunk.document.text;
            assert_eq!(&text[chunk.start as usize..][..part.len()], part);
            let n_before = text[..chunk.start as usize].matches('\n').count();
            assert_eq!((chunk.number as usize, chunk.first_line as usize), (number, n_before + 1));
            assert_eq!(chunk.overlap > 0, number > 0, "{chunk:?}");
        }
        // A product of a grammar is read whole.
        document.source_kind = Some("tcm".into());
        assert_eq!(chunk(&document, Some(length)).len(), 1);
    }

    #[test]
    fn each_headed_part_has_its_text_its_horizon_and_its_place() {
        let text = "Port of X\nT-48 hours before landfall:\nfar\nT-24 hours before landfall: near\n";
        let mut document = Document::plain("a", text);
        document.source_kind = Some("Scenario".into());
        document.issued_at = Some("2020-08-26T15:00:00Z".parse().unwrap());
        let chunks = chunk(&document, None);
        let shown: Vec<_> = chunks
            .iter()
            .map(|chunk| {
                let part = &chunk.document;
                assert_eq!(&text[chunk.start as usize..][..part.text.len()], part.text);
                (chunk.number, part.text.as_str(), part.horizon_hours, part.issued_at.is_some(), chunk.first_line)
            })
            .collect();
        let expected =
            [(0, "Port of X\n", None, true, 1), (1, "\nfar\n", Some(48), false, 2), (2, " near\n", Some(24), false, 4)];
        assert_eq!(shown, expected);
        assert!(chunks.iter().all(|chunk| chunk.document.source_kind.is_none()));
    }
}
