//! Reading facts, and saying how they differ from a table.

use hypercane_operators::extraction::Fact;
use hypercane_operators::grammar::lines::line_number;
use hypercane_schemas::Fixed;
use jiff::Timestamp;

use super::report::Wrong;

/// Positions and winds are printed with one decimal at most.
pub(super) const CLOSE: f64 = 0.001;

/// A number among a fact's attributes.
pub(super) fn value(fact: &Fact, name: &str) -> Option<f64> {
    let attribute = fact.attributes.iter().find(|attribute| attribute.name == name)?;
    attribute.value.number.map(Fixed::to_f64)
}

/// A text among a fact's attributes.
pub(super) fn given<'a>(fact: &'a Fact, name: &str) -> Option<&'a str> {
    let attribute = fact.attributes.iter().find(|attribute| attribute.name == name)?;
    Some(&attribute.value.given)
}

/// The time of a table: `2017-08-25 03:00:00`, UTC.
pub(super) fn moment(cell: &str) -> Option<Timestamp> {
    let local: jiff::civil::DateTime = cell.trim().replace(' ', "T").parse().ok()?;
    jiff::tz::Offset::UTC.to_timestamp(local).ok()
}

/// Where a comparison is made.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The text's file.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
    /// The fact that is compared, if there is one.
    pub fact: Option<&'a Fact>,
}

impl Place<'_> {
    fn line(&self) -> u32 {
        self.fact.map_or(1, |fact| line_number(self.text, fact.span.start as usize))
    }

    /// The difference between two lists of words.
    pub(super) fn words(&self, expected: impl Into<String>, found: impl Into<String>) -> Option<Wrong> {
        let (expected, found) = (expected.into(), found.into());
        (expected != found).then(|| Wrong { file: self.file.into(), line: self.line(), expected, found })
    }

    /// The difference between numbers of a table and those of the fact.
    pub(super) fn numbers(&self, names: &[&str], expected: &[Option<f64>], close: f64) -> Option<Wrong> {
        let found: Vec<Option<f64>> = names.iter().map(|name| self.fact.and_then(|fact| value(fact, name))).collect();
        let same = expected.iter().zip(&found).all(|(expected, found)| match (expected, found) {
            (Some(expected), Some(found)) => (expected - found).abs() <= close,
            (None, None) => true,
            _ => false,
        });
        (!same).then(|| Wrong {
            file: self.file.into(),
            line: self.line(),
            expected: shown(names, expected),
            found: shown(names, &found),
        })
    }
}

fn shown(names: &[&str], numbers: &[Option<f64>]) -> String {
    let parts = names.iter().zip(numbers).map(|(name, number)| match number {
        Some(number) => format!("{name} {number}"),
        None => format!("no {name}"),
    });
    parts.collect::<Vec<_>>().join(", ")
}
