//! When the next advisory comes.

use crate::grammar::facts::{Draft, Notes};
use crate::grammar::lines::{Line, folded, paragraphs};
use crate::grammar::moment::{clock, spoken_form};
use crate::grammar::prose::{Sentence, sentences};
use crate::grammar::units::find;

/// Reads the section `NEXT ADVISORY`.
pub(super) fn read(text: &str, section: &[Line<'_>], notes: &mut Notes<'_>) {
    for paragraph in paragraphs(text, section) {
        for sentence in sentences(&paragraph) {
            one(&sentence, notes);
        }
    }
}

/// Writes what one sentence says; gives whether it speaks of a next or last advisory.
pub(super) fn one(sentence: &Sentence<'_>, notes: &mut Notes<'_>) -> bool {
    let words = folded(sentence.text);
    let upper = words.to_ascii_uppercase();
    if upper.contains("LAST") && (upper.contains("ADVISORY") || upper.contains("UPDATE")) {
        let fact = Draft::new("has_forecast_window", &words, sentence.span).text("remark", "last advisory");
        notes.add(fact);
        return true;
    }
    let announces = ["NEXT", "WILL BE ISSUED", "WILL BEGIN", "UPDATES AT", "INTERMEDIATE ADVISORY"];
    if !announces.iter().any(|cue| upper.contains(cue)) {
        return false;
    }
    let Some((clock, given)) = find(clock, &words) else {
        return false;
    };
    let issued = notes.header.issued_at;
    let Some(at) = clock.next_after(issued + jiff::SignedDuration::from_mins(1)) else {
        return false;
    };
    let what = if upper.contains("INTERMEDIATE") {
        "intermediate"
    } else if upper.contains("UPDATE") || upper.contains("ESTIMATE") {
        "update"
    } else {
        "complete"
    };
    let stated = words.trim_end_matches('.');
    let fact = Draft::new("has_forecast_window", format!("{stated} ({})", spoken_form(at)), sentence.span)
        .time("next_advisory", at, given)
        .text("remark", what)
        .valid(at);
    notes.add(fact);
    true
}
