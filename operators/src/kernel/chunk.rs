//! Chunks: the parts in which a document is read. One that speaks of several horizons is parted at its horizon headers
//! (OKH-RAG A.2, per-horizon extraction); any other is one chunk.

use hypercane_schemas::Document;
use serde::{Deserialize, Serialize};

use super::split_horizons;

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
}

/// The source kind of a document whose headed parts may be any products.
const SCENARIO: &str = "scenario";

/// The chunks of a document, in text order.
pub fn chunk(document: &Document) -> Vec<Chunk> {
    let blocks = split_horizons(&document.text);
    let source_kind = document.source_kind.clone().filter(|kind| !kind.eq_ignore_ascii_case(SCENARIO));
    if blocks.iter().all(|block| block.horizon.is_none()) {
        let document = Document { source_kind, ..document.clone() };
        return vec![Chunk { number: 0, document, start: 0, first_line: 1 }];
    }
    let chunk = |(number, block): (usize, &super::Block)| {
        let start = block.body.start as usize;
        let part = Document {
            key: document.key.clone(),
            source_kind: source_kind.clone(),
            title: document.title.clone(),
            text: document.text[start..block.body.end as usize].to_owned(),
            issued_at: document.issued_at.filter(|_| block.horizon.is_none()),
            group: document.group.clone(),
            horizon_hours: block.horizon.or(document.horizon_hours),
            reliability: document.reliability,
            supersedes: document.supersedes.clone(),
        };
        let first_line = 1 + document.text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
        Chunk { number: number as u32, document: part, start: start as u32, first_line: first_line as u32 }
    };
    blocks.iter().enumerate().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use hypercane_schemas::Document;

    use super::chunk;

    #[test]
    fn a_document_without_headers_is_one_chunk() {
        let mut document = Document::plain("a", "one\ntwo\n");
        document.horizon_hours = Some(24);
        let chunks = chunk(&document);
        assert_eq!(chunks.len(), 1);
        assert_eq!((&chunks[0].document, chunks[0].start, chunks[0].first_line), (&document, 0, 1));
    }

    #[test]
    fn each_headed_part_has_its_text_its_horizon_and_its_place() {
        let text = "Port of X\nT-48 hours before landfall:\nfar\nT-24 hours before landfall: near\n";
        let mut document = Document::plain("a", text);
        document.source_kind = Some("Scenario".into());
        document.issued_at = Some("2020-08-26T15:00:00Z".parse().unwrap());
        let chunks = chunk(&document);
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
