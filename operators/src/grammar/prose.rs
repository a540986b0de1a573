//! Sentences of a product, and the numbers of a storm where they stand in sentences.

use winnow::{
    Result,
    ascii::space0,
    combinator::{alt, opt},
    prelude::*,
    token::take_while,
};

use super::lines::Paragraph;
use super::units::{compass_words, find, gap, number, position, speed, word, worded_position};
use hypercane_schemas::Span;

/// One sentence of the text, line ends and all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// Its words as they stand in the text.
    pub text: &'a str,
    /// Where it stands.
    pub span: Span,
}

impl Sentence<'_> {
    /// Its words on one line.
    pub fn folded(&self) -> String {
        super::lines::folded(self.text)
    }
}

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 12] = ["ST", "STE", "FT", "MT", "DR", "MR", "MRS", "JR", "NO", "IS", "APPROX", "PT"];

/// The sentences of a paragraph. Three dots are a comma; a decimal point and the stop of an abbreviation end nothing.
pub fn sentences<'a>(paragraph: &Paragraph<'a>) -> Vec<Sentence<'a>> {
    let text = paragraph.text;
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut start = 0;
    for (idx, byte) in bytes.iter().enumerate() {
        if !matches!(byte, b'.' | b'!' | b'?') || !ends_here(text, idx) {
            continue;
        }
        push(&mut all, paragraph, start, idx + 1);
        start = idx + 1;
    }
    push(&mut all, paragraph, start, text.len());
    all
}

fn ends_here(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let after = bytes.get(at + 1);
    if after.is_some_and(|byte| !byte.is_ascii_whitespace()) || at.checked_sub(1).is_some_and(|i| bytes[i] == b'.') {
        return false;
    }
    let before = text[..at].rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    // `U.S.` and the like: one letter before the stop.
    let letter = before.len() == 1 && before.bytes().all(|b| b.is_ascii_alphabetic());
    let abbreviation = ABBREVIATIONS.iter().any(|short| short.eq_ignore_ascii_case(before));
    let last = text[at + 1..].trim().is_empty();
    last || !(letter || abbreviation)
}

fn push<'a>(all: &mut Vec<Sentence<'a>>, paragraph: &Paragraph<'a>, start: usize, end: usize) {
    let raw = &paragraph.text[start..end];
    let text = raw.trim();
    if !text.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return;
    }
    let indent = raw.len() - raw.trim_start().len();
    let from = paragraph.start + start + indent;
    all.push(Sentence { text, span: Span::new(from, from + text.len()) });
}

/// A storm's numbers as sentences give them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Degrees north and east, and the words.
    pub position: Option<((f64, f64), String)>,
    /// Knots, and the words.
    pub wind: Option<(f64, String)>,
    /// Hectopascals, and the words.
    pub pressure: Option<(f64, String)>,
    /// Direction in degrees (none for a stationary storm), knots, and the words.
    pub motion: Option<(Option<f64>, f64, String)>,
}

fn pressure(input: &mut &str) -> Result<f64> {
    (number.verify(|hpa| (800.0..1100.0).contains(hpa)), gap, alt((word("MB"), word("MILLIBARS"), word("HPA"))))
        .map(|(hpa, ..)| hpa)
        .parse_next(input)
}

fn heading(input: &mut &str) -> Result<(f64, f64)> {
    (
        alt((word("TOWARD"), word("TOWARDS"), word("TO"))),
        gap,
        opt((word("THE"), space0, gap)),
        compass_words,
        gap,
        alt((word("NEAR"), word("AT"), word("AROUND"), word("ABOUT"))),
        gap,
        opt((alt((word("NEAR"), word("ABOUT"))), gap)),
        speed,
    )
        .map(|(_, _, _, (_, degrees), _, _, _, _, knots)| (degrees, knots))
        .parse_next(input)
}

impl Numbers {
    /// Takes what a sentence adds; what an earlier one gave stays.
    pub fn take(&mut self, sentence: &str) {
        let words = super::lines::folded(sentence);
        let upper = words.to_ascii_uppercase();
        if self.position.is_none() {
            let found = find(worded_position, &words);
            let found = found.or_else(|| upper.contains("POSITION").then(|| find(position, &words)).flatten());
            self.position = found.map(|(position, given)| (position, given.to_owned()));
        }
        if self.wind.is_none()
            && let Some(at) = upper.find("SUSTAINED WINDS")
        {
            self.wind = find(speed, &words[at..]).map(|(knots, given)| (knots, given.to_owned()));
        }
        if self.pressure.is_none() && upper.contains("PRESSURE") {
            self.pressure = find(pressure, &words).map(|(hpa, given)| (hpa, given.to_owned()));
        }
        if self.motion.is_none() && (upper.contains("MOVING") || upper.contains("MOVEMENT")) {
            self.motion =
                find(heading, &words).map(|((degrees, knots), given)| (Some(degrees), knots, given.to_owned()));
        }
        if self.motion.is_none() && (upper.contains("IS STATIONARY") || upper.contains("NEARLY STATIONARY")) {
            self.motion = Some((None, 0.0, "stationary".into()));
        }
    }
}

/// A range of numbers with a unit (given in capitals): `6 to 12 ft`, `6-9 ft`, `2 TO 4 INCHES`, `up to 7 inches`.
pub fn range<'a>(text: &'a str, units: &'static [&'static str]) -> Option<((f64, f64), &'a str)> {
    let ranged = move |input: &mut &'a str| -> Result<(f64, f64)> {
        let up_to =
            opt((alt((word("UP TO"), word("AROUND"), word("NEAR"), word("ABOUT"))), space0)).parse_next(input)?;
        let first = number.parse_next(input)?;
        let second =
            opt((gap, alt((word("TO"), word("-"))), gap, number).map(|(.., second)| second)).parse_next(input)?;
        (gap, opt((alt((word("MORE"), word("ADDITIONAL"))), gap))).void().parse_next(input)?;
        take_while(1.., |c: char| c.is_ascii_alphabetic())
            .verify(|unit: &str| {
                let unit = unit.to_ascii_uppercase();
                units.iter().any(|expected| unit.starts_with(expected))
            })
            .parse_next(input)?;
        let low = if up_to.is_some() && second.is_none() { 0.0 } else { first };
        Ok((low, second.unwrap_or(first)))
    };
    find(ranged, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::lines::{lines, paragraphs};

    fn split(text: &str) -> Vec<String> {
        paragraphs(text, &lines(text)).iter().flat_map(sentences).map(|sentence| sentence.folded()).collect()
    }

    #[test]
    fn sentences_end_at_full_stops_only() {
        let text = "Winds are near 35.5 mph.  The U.S. coast near St. Lucie\nis warned...for now. Move!";
        assert_eq!(
            split(text),
            ["Winds are near 35.5 mph.", "The U.S. coast near St. Lucie is warned...for now.", "Move!"]
        );
        assert_eq!(split("...\n\n."), Vec::<String>::new());
    }

    #[test]
    fn numbers_stand_in_sentences() {
        let mut numbers = Numbers::default();
        for sentence in [
            "AT 5 PM THE CENTER WAS NEAR LATITUDE 24.4 NORTH...LONGITUDE 97.1 WEST",
            "OPAL IS MOVING TOWARD THE WEST-NORTHWEST NEAR 12 MPH...19 KM/HR.",
            "MAXIMUM SUSTAINED WINDS ARE NEAR 115 MPH...185 KM/HR",
            "THE MINIMUM CENTRAL PRESSURE IS 948 MB...27.99 INCHES.",
        ] {
            numbers.take(sentence);
        }
        assert_eq!(numbers.position.unwrap().0, (24.4, -97.1));
        assert_eq!(numbers.pressure.unwrap().0, 948.0);
        assert!((numbers.wind.unwrap().0 - 99.93).abs() < 0.01);
        assert_eq!(numbers.motion.unwrap().0, Some(292.5));
    }

    #[test]
    fn ranges_keep_their_words() {
        assert_eq!(range("Sargent to Jamaica Beach...5 to 8 ft", &["FT", "FEET"]), Some(((5.0, 8.0), "5 to 8 ft")));
        assert_eq!(range("accumulations of up to 7 inches in", &["INCH"]), Some(((0.0, 7.0), "up to 7 inches")));
        assert_eq!(range("7-11 ft, with more", &["FT"]), Some(((7.0, 11.0), "7-11 ft")));
        assert_eq!(range("no numbers", &["FT"]), None);
    }
}
