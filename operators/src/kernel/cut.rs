//! Cutting a long text into pieces, at ends of sentences that depend on what stands there and not on what stands before.
//!
//! Pieces of equal length would all move when a sentence is put in at the start, and all would be read anew. So the place of
//! a cut is *content-defined*: every end of a sentence has the hash of that sentence as its rank. A text that is too long
//! is cut at the end of least rank, and its two parts in the same way, until all are short enough. Among the ends of
//! sentences this is a Cartesian tree, whose form does not depend on the order in which sentences came: an edit moves the
//! cuts beside it, and no other.

use std::ops::Range;

use hypercane_schemas::Span;
use xxhash_rust::xxh3::xxh3_64;

use crate::{domain::ChunkLength, language::sentences};

/// A piece of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it starts with the last sentences of the piece before.
    pub start: usize,
    /// Where it goes on after that piece. Every byte of the text is in exactly one piece from here to its end.
    pub own: usize,
    /// Where it ends.
    pub end: usize,
}

/// No piece is shorter than this part of the length, where there is an end of a sentence to choose.
const SHORTEST: usize = 4;

/// The pieces of a text, in text order: one where it is no longer than the length, or there is none.
///
/// A sentence that is longer than a piece is cut between words.
pub fn cut(text: &str, length: Option<ChunkLength>) -> Vec<Piece> {
    let whole = vec![Piece { start: 0, own: 0, end: text.len() }];
    // No text has more characters than bytes.
    let Some(ChunkLength { length, overlap }) = length.filter(|l| text.len() > l.length as usize) else { return whole };
    let n_chars = text.chars().count();
    let length = (length as usize).max(1);
    if n_chars <= length {
        return whole;
    }
    let joints = joints(text, length);
    let cuts = chosen(&joints, n_chars, length);
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    let (mut own, mut start) = (0, 0);
    for at in cuts {
        let joint = &joints[at];
        pieces.push(Piece { start, own, end: joint.byte });
        let reaches = |other: &&Joint| other.byte > own && joint.chars - other.chars <= overlap as usize;
        let repeated = joints[..at].iter().rev().take_while(reaches).filter(|other| !other.in_sentence).last();
        (own, start) = (joint.byte, repeated.map_or(joint.byte, |first| first.byte));
    }
    pieces.push(Piece { start, own, end: text.len() });
    pieces
}

/// A place at which a text may be cut.
struct Joint {
    /// In bytes: what stands from here is in the later piece.
    byte: usize,
    /// The same in characters.
    chars: usize,
    /// Whether it is between words of a sentence that is longer than a piece. Such a place is the last choice.
    in_sentence: bool,
    rank: u64,
}

fn joints(text: &str, length: usize) -> Vec<Joint> {
    let mut joints = Vec::new();
    let (mut chars, mut counted) = (0, 0);
    let mut previous: Option<Span> = None;
    for sentence in sentences(text) {
        let start = sentence.start as usize;
        chars += text[counted..start].chars().count();
        counted = start;
        if let Some(before) = previous.and_then(|span: Span| span.of(text)) {
            joints.push(Joint { byte: start, chars, in_sentence: false, rank: xxh3_64(before.as_bytes()) });
        }
        let Some(words) = sentence.of(text).filter(|words| words.len() > length) else {
            previous = Some(sentence);
            continue;
        };
        if words.chars().count() > length {
            joints.extend(between_words(words, start, chars));
        }
        previous = Some(sentence);
    }
    joints
}

/// The starts of the words of a long sentence but the first.
fn between_words(sentence: &str, start: usize, chars: usize) -> impl Iterator<Item = Joint> {
    let mut was_blank = false;
    let starts = sentence.char_indices().enumerate().filter(move |(_, (_, letter))| {
        let starts = was_blank && !letter.is_whitespace();
        was_blank = letter.is_whitespace();
        starts
    });
    starts.map(move |(nth, (byte, _))| {
        // Words are often the same, so some that stand before count too.
        let before = &sentence.as_bytes()[byte.saturating_sub(40)..byte];
        Joint { byte: start + byte, chars: chars + nth, in_sentence: true, rank: xxh3_64(before) }
    })
}

/// The joints at which the text is cut, in text order.
fn chosen(joints: &[Joint], n_chars: usize, length: usize) -> Vec<usize> {
    let shortest = length / SHORTEST;
    let mut cuts = Vec::new();
    let mut parts: Vec<(Range<usize>, usize, usize)> = vec![(0..joints.len(), 0, n_chars)];
    while let Some((within, start, end)) = parts.pop() {
        if end - start <= length {
            continue;
        }
        let leaves_enough = |at: &usize| {
            let chars = joints[*at].chars;
            chars - start >= shortest && end - chars >= shortest
        };
        let least = within.clone().filter(leaves_enough).min_by_key(|at| (joints[*at].in_sentence, joints[*at].rank));
        let Some(at) = least.or_else(|| within.clone().min_by_key(|at| (2 * joints[*at].chars).abs_diff(start + end)))
        else {
            continue;
        };
        cuts.push(at);
        parts.push((within.start..at, start, joints[at].chars));
        parts.push((at + 1..within.end, joints[at].chars, end));
    }
    cuts.sort_unstable();
    cuts
}

#[cfg(test)]
mod tests;
