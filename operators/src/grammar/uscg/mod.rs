//! Posts, releases and Marine Safety Information Bulletins of the US Coast Guard about ports.
//!
//! They are free text, but their words are few: conditions, ports, storms, local times. A sentence is cut into clauses, each
//! condition takes the places that go with it, and each place becomes a fact of its own. Sentences about vessels, cargo and
//! traffic are kept as rules for the ports that the text speaks of.

mod areas;
mod clause;
mod clock;
mod condition;
mod places;
mod report;
mod rule;
mod storm;
mod words;

use hypercane_schemas::Document;
use jiff::{Timestamp, civil::Time, tz::TimeZone};

use crate::domain::Domain;
use crate::extraction::{Extraction, Failure, Product};
use clause::{Context, Statement, statements};
use places::Place;
use report::Report;
use words::{Sentence, sentences};

/// Posts are shorter than this; whatever is longer is read as a bulletin.
const POST_BYTES: usize = 700;

/// Whether a text speaks of port conditions or is a bulletin, for documents that do not say what they are.
pub fn is_port_text(text: &str) -> bool {
    let head: String = text.chars().take(2000).collect::<String>().to_lowercase();
    ["port condition", "marine safety information bulletin", "captain of the port", "readiness condition"]
        .iter()
        .any(|mark| head.contains(mark))
}

/// The facts of a post or bulletin.
///
/// # Errors
/// Where it says nothing about any port condition, port or vessel.
pub fn extract(document: &Document, domain: &Domain) -> Result<Extraction, Failure> {
    let text = document.text.as_str();
    let bulletin = match document.source_kind.as_deref() {
        Some("port_post") => false,
        Some("msib") => true,
        _ => text.len() > POST_BYTES || text.to_ascii_uppercase().contains("SAFETY INFORMATION BULLETIN\n"),
    };
    let sentences = sentences(text);
    let number = if bulletin { bulletin_number(&sentences) } else { None };
    let stated = if bulletin { stated_date(&sentences) } else { None };
    let mut context = Context { issued_at: document.issued_at.or(stated), ..Context::default() };
    let mut said = read(text, &sentences, &mut context, domain);
    drop_vague(&mut said);
    if bulletin {
        drop_titles(&mut said);
        settle(&mut said, &zone_of(&sentences, domain));
    }

    if context.issued_at.is_none() {
        context.issued_at = set_time(&said);
    }
    let zone = said.iter().flat_map(|(_, said)| said).flat_map(|statement| &statement.places).next().cloned();
    let product = number.map(|number| {
        let zone = zone.as_ref().map_or("unknown", |zone| zone.slug.as_str());
        Product { kind: "msib".into(), name: format!("{zone}:{number}"), correction: 0 }
    });
    let mut report = Report::new(context.issued_at, bulletin, product, context.storms.first().cloned(), &context.state);
    let all = every_place(&said);
    for (index, statements) in &said {
        for statement in statements {
            report.condition(statement);
        }
        let sentence = &sentences[*index];
        let near: Vec<Place> = statements.iter().flat_map(|statement| statement.places.clone()).collect();
        rule::rules(text, sentence, if near.is_empty() { &all } else { &near }, !statements.is_empty(), &mut report);
    }
    if report.is_empty() {
        let line = 1 + text.bytes().take_while(u8::is_ascii_whitespace).filter(|byte| *byte == b'\n').count() as u32;
        let reason = if text.trim().is_empty() {
            "the text is empty".into()
        } else {
            "a port post or bulletin that names no port condition, closure, opening or rule for vessels".into()
        };
        return Err(Failure { line, reason });
    }
    Ok(report.finish())
}

type Said = Vec<(usize, Vec<Statement>)>;

fn read(text: &str, sentences: &[Sentence], context: &mut Context, domain: &Domain) -> Said {
    let mut said = Vec::new();
    for (index, sentence) in sentences.iter().enumerate() {
        let found = if sentence.chatter {
            // A call to follow an account may still name the storm.
            context.storms.extend(storm::storms(&sentence.words).into_iter().map(|(_, storm)| storm));
            Vec::new()
        } else {
            statements(text, sentence, context, domain)
        };
        said.push((index, found));
    }
    // `Milton` and `Hurricane Milton` are one storm; the fuller name counts.
    if let Some(first) = context.storms.first().cloned() {
        let fuller = context.storms.iter().find(|storm| storm.name == first.name && !storm.class.is_empty());
        if let Some(fuller) = fuller.cloned() {
            context.storms[0] = fuller;
        }
    }
    said
}

/// A statement without a place is dropped where another one says the same of a place.
fn drop_vague(said: &mut Said) {
    let placed: Vec<String> = said
        .iter()
        .flat_map(|(_, statements)| statements)
        .filter(|statement| !statement.places.is_empty())
        .map(|statement| statement.code.clone())
        .collect();
    for (_, statements) in said.iter_mut() {
        statements.retain(|statement| !statement.places.is_empty() || !placed.contains(&statement.code));
    }
}

/// A title repeats in short what the text says in full: of statements about the bulletin's own zone the last one of each
/// condition counts.
fn drop_titles(said: &mut Said) {
    let mut seen: Vec<String> = Vec::new();
    for (_, statements) in said.iter_mut().rev() {
        statements.retain(|statement| {
            let own = statement.places.is_empty();
            let first = !seen.contains(&statement.code);
            if own && first {
                seen.push(statement.code.clone());
            }
            !own || first
        });
    }
}

fn every_place(said: &Said) -> Vec<Place> {
    let mut all: Vec<Place> = Vec::new();
    for place in said.iter().flat_map(|(_, statements)| statements).flat_map(|statement| &statement.places) {
        if !all.iter().any(|other| other.slug == place.slug) {
            all.push(place.clone());
        }
    }
    all
}

/// The zone that a bulletin is about: the first sector in it, else the first zone or port.
fn zone_of(sentences: &[Sentence], domain: &Domain) -> Vec<Place> {
    let taken =
        |sentence: &Sentence| storm::storms(&sentence.words).into_iter().map(|(range, _)| range).collect::<Vec<_>>();
    let found: Vec<places::Found> =
        sentences.iter().flat_map(|sentence| places::places(&sentence.words, &taken(sentence), domain)).collect();
    let is_zone = |place: &Place| {
        place.known
            && place.mentions[0].kind != "place"
            && place.mentions.iter().any(|mention| mention.kind == "sector")
    };
    let own = found.iter().find(|found| found.places.iter().all(is_zone));
    own.or(found.first()).map(|found| found.places.clone()).unwrap_or_default()
}

/// Gives a bulletin's statements that name no place its zone.
fn settle(said: &mut Said, zone: &[Place]) {
    for statement in said.iter_mut().flat_map(|(_, statements)| statements) {
        if statement.places.is_empty() || statement.places.iter().all(|place| !place.known) {
            statement.places = zone.to_vec();
        }
    }
}

/// The number of a bulletin, such as `17-12`.
fn bulletin_number(sentences: &[Sentence]) -> Option<String> {
    let words: Vec<&words::Word> = sentences.iter().flat_map(|sentence| &sentence.words).take(60).collect();
    words.windows(2).find_map(|pair| {
        let lead = matches!(pair[0].form.as_str(), "msib" | "bulletin" | "number" | "no");
        let number = pair[1].form.as_str();
        let digits = number.split_once('-').is_some_and(|(a, b)| {
            let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            all_digits(a) && all_digits(b)
        });
        (lead && digits).then(|| number.to_owned())
    })
}

/// A date that stands alone as a sentence or line: the start of that day.
fn stated_date(sentences: &[Sentence]) -> Option<Timestamp> {
    sentences.iter().take(8).find_map(|sentence| {
        let (end, date) = clock::date_at(&sentence.words, 0)?;
        let alone = end == sentence.words.len();
        alone.then(|| TimeZone::UTC.to_timestamp(date.to_datetime(Time::midnight())).ok())?
    })
}

/// Without any other date a bulletin is as old as the dated time at which it sets its condition.
fn set_time(said: &Said) -> Option<Timestamp> {
    let statements = said.iter().flat_map(|(_, statements)| statements);
    let set = statements.filter(|statement| statement.action != clause::Action::Planned);
    set.filter_map(|statement| {
        let state = statement.places.first().map(|place| place.state.as_str())?;
        statement.clock.as_ref()?.resolve(state, None, false)
    })
    .next()
}

#[cfg(test)]
mod tests;
