//! Sentence boundaries: the hard cases by hand, and what holds for every text.

use proptest::prelude::*;

use super::sentences;

fn parts(text: &str) -> Vec<&str> {
    sentences(text).into_iter().map(|span| span.of(text).unwrap()).collect()
}

/// Checks a text whose sentences are parted by ` | `, and that the bars are all that is lost by the cut.
#[track_caller]
fn check(marked: &str) {
    let text = marked.replace(" | ", " ");
    assert_eq!(parts(&text), marked.split(" | ").collect::<Vec<_>>());
}

#[test]
fn abbreviations_and_initials_end_no_sentence() {
    check("Dr. Smith met Mrs. Jones in St. Louis. | They talked.");
    check("The U.S. Army left. | It was in the U.S. | The end came soon.");
    check("J. K. Rowling and George W. Bush read J.R.R. Tolkien. | He smiled.");
    check("Apple Inc. was founded in Calif. by Steve Jobs et al. in No. 5 of the street. | It grew.");
    check("See e.g. Figure 2, i.e. Fig. 3 on p. 12 of Vol. 4 vs. Berlin. | We did.");
    check("He works at Acme Corp. | The firm is old.");
    check("She has a Ph.D. from M.I.T. and a B.Sc. | It helped her.");
    check("Vitamin C. | It is healthy.");
    check("In her Ph. D. thesis on Cohens v. Virginia he (b. 1127) played Op. 59. | It was good.");
    check("He was in Baby Jane? (1962). | He smiled.");
}

#[test]
fn times_of_day_end_a_sentence_where_no_day_or_zone_follows() {
    check("It began at 5 p.m. Monday and ended at 6 a.m. EST. | It was long.");
    check("It began at 5 p.m. | Police came at 7 a.m. | Nobody was hurt.");
}

#[test]
fn numbers_keep_their_points() {
    check("It cost 3.50 dollars, or 1,000.25 yen. | In 1995. | 12 people came on Jan. 12 and Dec. 3.");
    check("Version 2.0.1 is out. | Visit example.com. | Or not.");
}

#[test]
fn quotes_brackets_and_notes_close_with_their_stop() {
    check("He said \"Stop.\" | Then he left (slowly.) | She stayed.");
    check("“Why?” she asked. | “Because!” he cried. | “I see.”");
    check("It was so.[3] | He left.[4][b] | She came. | (Or not.)");
    check("Really?! | Yes... | And so on… | The end");
}

#[test]
fn a_small_letter_after_a_stop_goes_on() {
    check("The firm Yahoo! announced approx. ten deals etc. and more. | Next.");
}

#[test]
fn lines_and_items_part_sentences() {
    let text =
        "A Title\n\nFirst item list:\n- one thing\n- two things. And more\n1. third\n2) fourth\n(b) fifth\r\n\r\nLast";
    let expected = [
        "A Title",
        "First item list:",
        "- one thing",
        "- two things.",
        "And more",
        "1. third",
        "2) fourth",
        "(b) fifth",
        "Last",
    ];
    assert_eq!(parts(text), expected);
}

#[test]
fn a_wrapped_line_is_no_boundary() {
    let text = "The history of the city began when settlers from the\n\
                North came down the river and built the first houses\n\
                at the place where two rivers meet, near Mt.\n\
                Washington. Later more came.\n\n\
                Next paragraph\nwith a short line";
    let expected = [
        "The history of the city began when settlers from the\nNorth came down the river and built the first houses\n\
         at the place where two rivers meet, near Mt.\nWashington.",
        "Later more came.",
        "Next paragraph",
        "with a short line",
    ];
    assert_eq!(parts(text), expected);
}

#[test]
fn paragraphs_of_one_line_each_stay_apart() {
    let long = "The river is long and the city is old and ".repeat(4);
    let text = format!("{long}\nThe other paragraph begins here and goes on for as long as it must\nAnd so on");
    assert_eq!(parts(&text).len(), 3);
}

#[test]
fn nothing_gives_nothing() {
    assert!(sentences("").is_empty());
    assert!(sentences(" \n\t\u{2028} ").is_empty());
}

#[test]
fn other_scripts_end_without_a_blank() {
    assert_eq!(parts("東京は大きい。人が多い。"), ["東京は大きい。", "人が多い。"]);
}

proptest! {
    #[test]
    fn every_byte_of_text_is_in_one_sentence_and_no_word_is_cut(
        text in "([A-Za-z]{1,8}|U\\.S\\.|Dr\\.|[0-9]{1,4}\\.?[0-9]?|[.!?]{1,3}|[\"'“”()\\[\\]]|[ \n]{1,3}|- |\r\n|\t|é|。|\\PC){0,60}"
    ) {
        let found = sentences(&text);
        let mut at = 0;
        for span in &found {
            let (start, end) = (span.start as usize, span.end as usize);
            prop_assert!(at <= start && start < end);
            prop_assert!(text[at..start].trim().is_empty());
            let part = span.of(&text).unwrap();
            prop_assert_eq!(part, part.trim());
            let before = text[..start].chars().next_back();
            prop_assert!(before.is_none_or(|c| c.is_whitespace() || !c.is_alphanumeric()));
            at = end;
        }
        prop_assert!(text[at..].trim().is_empty());
    }
}
