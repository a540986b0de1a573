//! Pieces are complete, short enough, and stay where they are when a text changes elsewhere.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Piece, cut};
use crate::domain::ChunkLength;

const LENGTH: ChunkLength = ChunkLength { length: 400, overlap: 80 };

/// Words that stand for numbers, so that sentences differ.
fn sentence(number: u32) -> String {
    const WORDS: [&str; 8] = ["harbour", "bridge", "river", "lock", "é́tage", "pilot", "tide", "mole"];
    let word = |at: u32| WORDS[(number >> (3 * at)) as usize % 8];
    format!("The {} of the {} met {} {number} near a {}.", word(0), word(1), word(2), word(3))
}

fn text(numbers: &[u32]) -> String {
    let parts: Vec<String> =
        numbers.iter().map(|number| sentence(*number) + if number % 9 == 0 { "\n\n" } else { " " }).collect();
    parts.concat()
}

fn contents<'a>(text: &'a str, pieces: &[Piece]) -> Vec<(&'a str, usize)> {
    pieces.iter().map(|piece| (&text[piece.start..piece.end], piece.own - piece.start)).collect()
}

proptest! {
    #[test]
    fn every_byte_is_in_one_piece_and_none_is_too_long(numbers in prop::collection::vec(1..9999u32, 0..80)) {
        let text = text(&numbers);
        let pieces = cut(&text, Some(LENGTH));
        let mut at = 0;
        for (number, piece) in pieces.iter().enumerate() {
            prop_assert_eq!(piece.own, at);
            at = piece.end;
            let own = text[piece.own..piece.end].chars().count();
            prop_assert!(own <= 400 && (own >= 100 || pieces.len() == 1), "{} characters", own);
            let again = &text[piece.start..piece.own];
            prop_assert!(again.chars().count() <= 80 && (number > 0 || again.is_empty()), "{again:?}");
            prop_assert!(text[piece.start..].starts_with("The") || text.is_empty());
        }
        prop_assert_eq!(at, text.len());
        prop_assert_eq!(pieces.len() > 1, text.chars().count() > 400);
    }

    #[test]
    fn an_edit_changes_pieces_beside_it_only(
        numbers in prop::collection::vec(1..9999u32, 150..250),
        (at, gone, new) in (0.0..1.0, 0..2usize, prop::collection::vec(1..9999u32, 0..2)),
    ) {
        let before = text(&numbers);
        let mut numbers = numbers;
        let at = (numbers.len() as f64 * at) as usize;
        let gone = at..(at + gone).min(numbers.len());
        numbers.splice(gone, new);
        let after = text(&numbers);
        let (before, after) = (contents(&before, &cut(&before, Some(LENGTH))), contents(&after, &cut(&after, Some(LENGTH))));
        let stood: BTreeSet<_> = before.iter().collect();
        let n_new = after.iter().filter(|piece| !stood.contains(piece)).count();
        prop_assert!(after.len() > 20 && n_new <= 6, "{n_new} of {} pieces are new", after.len());
    }
}

#[test]
fn an_edited_sentence_changes_two_pieces_on_average_and_its_neighbour_by_the_overlap() {
    let mut n_new = 0;
    for edited in 0..200 {
        let mut numbers: Vec<u32> = (0..200).map(|n| n * 37 + 5).collect();
        let before = text(&numbers);
        numbers[edited] += 1;
        let after = text(&numbers);
        let (before, after) =
            (contents(&before, &cut(&before, Some(LENGTH))), contents(&after, &cut(&after, Some(LENGTH))));
        let stood: BTreeSet<_> = before.iter().collect();
        n_new += after.iter().filter(|piece| !stood.contains(piece)).count();
    }
    assert!((200..400).contains(&n_new), "200 edits change {n_new} pieces");
}

#[test]
fn a_sentence_that_is_longer_than_a_piece_is_cut_between_words() {
    let text = format!("One. {}two. Three.", "word and word of it ".repeat(60));
    let pieces = cut(&text, Some(LENGTH));
    assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.end - piece.own <= 400), "{pieces:?}");
    for piece in &pieces[1..] {
        assert!(text[..piece.own].ends_with(' ') && !text[piece.own..].starts_with(' '), "{piece:?}");
    }
    let without_ends = "x".repeat(2000);
    assert_eq!(cut(&without_ends, Some(LENGTH)).len(), 1, "no word is cut");
}

#[test]
fn a_text_up_to_the_length_is_whole_whatever_its_bytes() {
    let text = "é".repeat(200) + " " + &"ü".repeat(199);
    let whole = [Piece { start: 0, own: 0, end: text.len() }];
    assert_eq!(cut(&text, Some(LENGTH)), whole);
    assert_eq!(cut(&text, None), whole);
    assert_eq!(cut("", Some(LENGTH)), [Piece { start: 0, own: 0, end: 0 }]);
}
