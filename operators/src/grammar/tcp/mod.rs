//! Public Advisory (TCP): what the public is told about a storm, complete, intermediate or special.
//!
//! Newer texts have a summary block and headed sections; older ones are paragraphs only. Both come down to the same facts:
//! a summary, watches and warnings, sentences sorted by what they speak of, hazards, the next advisory.

mod discussion;
mod hazards;
mod next;
mod sections;
mod summary;

use super::facts::Notes;
use super::header::header_of;
use super::lines::lines;
use super::warnings;
use crate::extraction::{Extraction, Failure};
use sections::{Heading, sections};

pub use summary::summarize;

/// The facts of a public advisory.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    let all = lines(text);
    let header = header_of(text, &all)?;
    let mut notes = Notes::new(&header);
    let body = &all[header.body..];
    let sections = sections(body);
    let summarized = summarize(text, body, &mut notes);
    for section in &sections {
        match section.heading {
            Heading::Opening => discussion::opening(text, section.lines, &mut notes),
            Heading::Summary => discussion::locations(text, section.lines, &mut notes),
            Heading::Warnings => warnings::read(text, section.lines, &mut notes),
            Heading::Discussion => discussion::read(text, section.lines, &mut notes),
            Heading::Hazards => hazards::read(text, section.lines, &mut notes),
            Heading::Next => next::read(text, section.lines, &mut notes),
        }
    }
    if !summarized {
        let line = body.first().map_or(1, |line| line.number);
        notes.fail(line, "neither a block `LOCATION...25.2N 94.6W` nor a sentence gives the position");
    }
    if notes.n_facts() == 0 {
        let line = body.first().map_or(1, |line| line.number);
        return Err(Failure { line, reason: "nothing stands under the head of the advisory".into() });
    }
    Ok(notes.finish())
}

/// The facts of a Tropical Cyclone Update or a position estimate: a summary and sentences.
pub fn short_product(text: &str) -> Result<Extraction, Failure> {
    let all = lines(text);
    let header = header_of(text, &all)?;
    let mut notes = Notes::new(&header);
    let body = &all[header.body..];
    summarize(text, body, &mut notes);
    for section in sections(body) {
        match section.heading {
            Heading::Summary => discussion::locations(text, section.lines, &mut notes),
            Heading::Warnings => warnings::read(text, section.lines, &mut notes),
            Heading::Hazards => hazards::read(text, section.lines, &mut notes),
            Heading::Next => next::read(text, section.lines, &mut notes),
            Heading::Opening | Heading::Discussion => discussion::opening(text, section.lines, &mut notes),
        }
    }
    if notes.n_facts() == 0 {
        let line = body.first().map_or(1, |line| line.number);
        return Err(Failure { line, reason: "nothing stands under the head of the product".into() });
    }
    Ok(notes.finish())
}

#[cfg(test)]
mod tests;
