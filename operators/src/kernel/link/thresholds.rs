//! Values that something reaches, in any unit and wording.

use hypercane_schemas::Fixed;

use super::{
    Cues, Threshold,
    words::{Token, find_phrase, number_word},
};
use crate::domain::{Measure, Questions};

/// Adds the thresholds that a question names. `words` are those of its tokens.
pub(super) fn read(tokens: &[Token], words: &[&str], questions: &Questions, cues: &mut Cues) {
    let mut values: Vec<(&Measure, f64)> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let here = at;
        at += 1;
        let number = match tokens[here].number() {
            Some((value, suffix)) => Some((f64::from(value), suffix, here + 1)),
            None => number_word(tokens, here).map(|(value, taken)| (f64::from(value), "", here + taken)),
        };
        let Some((value, suffix, next)) = number else { continue };
        at = next;
        let measured = if suffix.is_empty() { unit(tokens, next, value, questions) } else { named(suffix, questions) };
        if let Some((measure, factor)) = measured {
            // A converted value is meant for a whole one.
            values.push((measure, if factor == 1.0 { value } else { (value * factor).round() }));
        }
    }
    let found = |phrase: &String| find_phrase(words, phrase).is_some();
    for measure in &questions.measures {
        for level in &measure.levels {
            // A phrase inside a longer one that stands there too is not meant for itself.
            let hidden = |phrase: &String| {
                let mut others = measure.levels.iter().flat_map(|level| &level.words);
                others.any(|other| other.len() > phrase.len() && other.contains(phrase.as_str()) && found(other))
            };
            if level.words.iter().any(|phrase| found(phrase) && !hidden(phrase)) {
                values.push((measure, level.value));
            }
        }
    }
    for (measure, value) in values {
        let level = value as u16;
        if measure.reported.contains(&level) && !cues.wind_levels.contains(&level) {
            cues.wind_levels.push(level);
        }
        let meant = questions.measures.iter().find(|other| {
            let instead_of = other.instead_of.as_ref();
            instead_of
                .is_some_and(|of| of.attribute == measure.attribute && value < of.below && of.words.iter().any(found))
        });
        let measure = meant.unwrap_or(measure);
        cues.thresholds.push(Threshold {
            attribute: measure.attribute.clone(),
            value: Fixed::from_f64(value),
            crossing: measure.crossing,
        });
    }
    cues.thresholds.sort();
    cues.thresholds.dedup();
}

/// The measure whose unit is this word, and the unit's factor.
fn named<'a>(word: &str, questions: &'a Questions) -> Option<(&'a Measure, f64)> {
    questions.measures.iter().find_map(|measure| Some((measure, *measure.units.get(word)?)))
}

/// The measure whose unit follows a value that ends before `next`.
fn unit<'a>(tokens: &[Token], next: usize, value: f64, questions: &'a Questions) -> Option<(&'a Measure, f64)> {
    let next = next + usize::from(tokens.get(next).is_some_and(|t| t.lower == "-"));
    let word = tokens.get(next)?.lower.as_str();
    if let Some(after) = tokens.get(next + 1)
        && let Some(found) = named(&format!("{word} {}", after.lower), questions)
    {
        return Some(found);
    }
    // `34, 50 and 64 kt`: the unit stands after the last one.
    if matches!(word, "," | "and" | "or" | "/") {
        let later = tokens[next..].iter().take(7).find_map(|t| named(&t.lower, questions));
        return later.filter(|(measure, _)| measure.listed.contains(&(value as u16)));
    }
    named(word, questions)
}
