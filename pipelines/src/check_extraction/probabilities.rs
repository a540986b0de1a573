//! Wind speed probabilities against their table.

use std::collections::BTreeMap;
use std::path::Path;

use hypercane_operators::domain::Domain;
use hypercane_operators::extraction::Fact;
use hypercane_operators::grammar;
use hypercane_schemas::Document;

use super::numbers::{CLOSE, Place, value};
use super::table::{self, Row, cell, number};
use super::{Error, Report};

const HOURS: [u32; 7] = [12, 24, 36, 48, 72, 96, 120];

/// Checks every row of `cyportqa/wndprb_pairs.csv`.
pub(super) fn check(dir: &Path, domain: &Domain, report: &mut Report) -> Result<(), Error> {
    let mut by_file: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in table::rows(&dir.join("cyportqa/wndprb_pairs.csv"))? {
        by_file.entry(cell(&row, "pws_file").to_owned()).or_default().push(row);
    }
    for (file, rows) in by_file {
        let path = dir.join(&file);
        let text = if path.is_file() { table::text(&path)? } else { String::new() };
        let extraction = grammar::extract(&Document::plain(&file, &text), domain).unwrap_or_default();
        for row in rows {
            let fact = extraction.facts.iter().find(|fact| is_row(&text, fact, &row));
            let place = Place { file: &file, text: &text, fact };
            let names: Vec<String> = HOURS.iter().map(|hours| format!("probability_cumulative_{hours}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let expected: Vec<Option<f64>> = HOURS
                .iter()
                .map(|hours| number(&row, &format!("Wind{hours}Cum")).or(number(&row, &format!("Wind{hours}"))))
                .collect();
            report.compare("PWS cumulative probabilities", place.numbers(&names, &expected, CLOSE));
            let names: Vec<String> = HOURS.iter().map(|hours| format!("probability_onset_{hours}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let expected: Vec<Option<f64>> = HOURS.iter().map(|hours| number(&row, &format!("Wind{hours}"))).collect();
            report.compare("PWS onset probabilities", place.numbers(&names, &expected, CLOSE));
        }
    }
    Ok(())
}

/// Whether a fact stands on the line of a row: the location as printed, then the threshold.
fn is_row(text: &str, fact: &Fact, row: &Row) -> bool {
    let line = fact.span.of(text).unwrap_or_default();
    let behind = line.trim_start().strip_prefix(cell(row, "Location"));
    let threshold = behind.and_then(|behind| behind.split_whitespace().next());
    threshold == Some(cell(row, "Wind")) && value(fact, "threshold") == number(row, "Wind")
}
