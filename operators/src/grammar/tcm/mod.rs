//! Forecast/Advisory (TCM), once Marine Advisory: the numbers behind every public word about a storm.
//!
//! The body is read line by line: a line that starts an item is parsed from its first byte (and may run on to the next
//! line); a line that starts like an item and is none is a failure; all others are words. What an item belongs to, now or a
//! forecast point, follows from the last `FORECAST VALID` before it.

pub mod item;
pub mod point;

use hypercane_schemas::Span;
use jiff::Timestamp;

use super::facts::{Notes, current_state, plain, spoken_position};
use super::header::{Header, header_of};
use super::lines::{Line, lines};
use super::moment::DayTime;
use super::units::compass_name;
use super::{facts::Draft, warnings};
use crate::extraction::{Extraction, Failure};
use item::{Item, expected, item};
use point::Point;

/// The cyclone as it is, while its lines come in.
#[derive(Clone, Debug, Default)]
struct Now {
    center: Option<(f64, f64, Span)>,
    at: Option<DayTime>,
    accuracy: Option<(f64, Span)>,
    pressure: Option<(f64, Span)>,
    eye: Option<(f64, Span)>,
    wind: Option<(f64, Option<f64>, Span)>,
}

/// To what the next wind and radii belong.
#[derive(Clone, Debug)]
enum Scope {
    /// To the cyclone as it is.
    Now,
    /// To a forecast point.
    Point(Point),
    /// To a forecast point whose own line can't be read: to nothing.
    Lost,
}

impl Scope {
    /// Writes what is complete and goes on to the next.
    fn close(&mut self, next: Self, notes: &mut Notes<'_>) {
        if let Self::Point(point) = std::mem::replace(self, next) {
            point.write(notes);
        }
    }
}

/// The facts of a Forecast/Advisory.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    let all = lines(text);
    let header = header_of(text, &all)?;
    let mut notes = Notes::new(&header);
    let body = &all[header.body..];
    let first_number = number_lines(text, body, &mut notes);
    warnings::read(text, &body[..first_number], &mut notes);
    if notes.n_facts() == 0 {
        let reason = "neither a center nor a forecast nor a warning stands in the text".into();
        return Err(Failure { line: body.first().map_or(1, |line| line.number), reason });
    }
    Ok(notes.finish())
}

/// Reads the lines with numbers; gives the index of the first of them.
fn number_lines(text: &str, body: &[Line<'_>], notes: &mut Notes<'_>) -> usize {
    let mut now = Now::default();
    let mut scope = Scope::Now;
    let mut first = body.len();
    let mut read_up_to = 0;
    for (idx, line) in body.iter().enumerate() {
        if line.start < read_up_to || line.is_blank() {
            continue;
        }
        let mut rest = &text[line.start..];
        let Ok(item) = winnow::Parser::parse_next(&mut item_parser, &mut rest) else {
            if let Some(form) = expected(line.text) {
                if form.contains("VALID") {
                    scope.close(Scope::Lost, notes);
                }
                notes.fail(line.number, format!("`{}` should look like {form}", line.words()));
            }
            continue;
        };
        let read = (text.len() - rest.len()).max(line.start + 1);
        let end = text[read..].find('\n').map_or(text.len(), |more| read + more);
        read_up_to = end;
        let span = trimmed(text, line.start, end);
        if matches!(item, Item::Center { .. }) {
            first = first.min(idx);
        }
        take(item, span, line, &mut now, &mut scope, notes);
    }
    scope.close(Scope::Now, notes);
    write_now(&now, body, notes);
    first
}

fn item_parser(input: &mut &str) -> winnow::Result<Item> {
    item(input)
}

fn trimmed(text: &str, start: usize, end: usize) -> Span {
    let part = text[start..end].trim_end();
    let indent = part.len() - part.trim_start().len();
    Span::new(start + indent, start + part.len())
}

fn take(item: Item, span: Span, line: &Line<'_>, now: &mut Now, scope: &mut Scope, notes: &mut Notes<'_>) {
    let header = notes.header;
    match item {
        Item::Center { latitude, longitude, at } => {
            if now.center.is_none() {
                now.center = Some((latitude, longitude, span));
                now.at = at;
            }
        }
        Item::Repeat => {}
        Item::Accuracy(nm) => now.accuracy = Some((nm, span)),
        Item::Motion { direction, speed } => write_motion(direction, speed, span, line.words(), notes),
        Item::Pressure(hpa) => now.pressure = Some((hpa, span)),
        Item::Eye(nm) => now.eye = Some((nm, span)),
        Item::Wind { wind, gusts } => match scope {
            Scope::Now => now.wind = Some((wind, gusts, span)),
            Scope::Point(point) => point.wind(wind, gusts, span),
            Scope::Lost => {}
        },
        Item::Radii { threshold, quadrants } => match scope {
            Scope::Now => point::write_radii(threshold, &quadrants, None, span, notes),
            Scope::Point(point) => point.radii(threshold, quadrants, span),
            Scope::Lost => {}
        },
        Item::Seas { height, quadrants } => match scope {
            Scope::Now => point::write_seas(height, &quadrants, None, span, notes),
            Scope::Point(point) => point::write_seas(height, &quadrants, Some(point.valid_at), span, notes),
            Scope::Lost => {}
        },
        Item::Forecast { valid, position, remark, outlook } => {
            let next = match valid.near(header.issued_at) {
                Some(valid_at) => Scope::Point(Point::new(valid_at, position, remark, outlook, span)),
                None => {
                    notes.fail(line.number, format!("no month near the issue time has a day {}", valid.day));
                    Scope::Lost
                }
            };
            scope.close(next, notes);
        }
        Item::NextAdvisory(at) => write_next("complete", at.near(header.issued_at), span, line.words(), notes),
        Item::NextIntermediate(at) => write_next("intermediate", at.near(header.issued_at), span, line.words(), notes),
    }
}

fn write_now(now: &Now, body: &[Line<'_>], notes: &mut Notes<'_>) {
    let header = notes.header;
    let Some((latitude, longitude, center_span)) = now.center else {
        notes
            .fail(body.first().map_or(1, |line| line.number), "no line `CENTER LOCATED NEAR 25.2N  94.6W AT 25/0300Z`");
        return;
    };
    let mut span = center_span;
    let position = spoken_position(latitude, longitude);
    let mut words = vec![format!("center located near {position}")];
    let mut draft = Vec::new();
    if let Some((wind, gusts, at)) = now.wind {
        span = span.cover(at);
        let gusts = gusts.map_or(String::new(), |gusts| format!(" with gusts to {} kt", plain(gusts)));
        words.push(format!("maximum sustained winds {} kt{gusts}", plain(wind)));
        draft.push(("max_wind", wind, "kt", format!("{} KT", plain(wind))));
    }
    if let Some((_, Some(gusts), _)) = now.wind {
        draft.push(("gusts", gusts, "kt", format!("{} KT", plain(gusts))));
    }
    if let Some((hpa, at)) = now.pressure {
        span = span.cover(at);
        words.push(format!("minimum central pressure {} mb", plain(hpa)));
        draft.push(("pressure", hpa, "hPa", format!("{} MB", plain(hpa))));
    }
    if let Some((nm, at)) = now.eye {
        span = span.cover(at);
        words.push(format!("eye diameter {} nm", plain(nm)));
        draft.push(("eye_diameter", nm, "nm", format!("{} NM", plain(nm))));
    }
    if let Some((nm, at)) = now.accuracy {
        span = span.cover(at);
        words.push(format!("position accurate within {} nm", plain(nm)));
        draft.push(("position_accuracy", nm, "nm", format!("{} NM", plain(nm))));
    }
    let mut fact = Draft::new("has_cyclone_state", words.join(", "), span)
        .mention(current_state(header))
        .text("status", &header.title.class)
        .number("latitude", latitude, "degree", &position)
        .number("longitude", longitude, "degree", &position)
        .valid(fix_time(now.at, header));
    for (name, value, unit, given) in draft {
        fact = fact.number(name, value, unit, given);
    }
    notes.add(fact);
}

/// When the center was there: as its line says, else at issue time.
fn fix_time(at: Option<DayTime>, header: &Header) -> Timestamp {
    at.and_then(|at| at.near(header.issued_at)).unwrap_or(header.issued_at)
}

fn write_motion(direction: Option<f64>, speed: f64, span: Span, given: &str, notes: &mut Notes<'_>) {
    let words = match direction {
        Some(degrees) => {
            let point = compass_name(degrees);
            format!("moving toward the {point}, {} degrees, at {} kt", plain(degrees), plain(speed))
        }
        None => "stationary, not moving (0 kt)".into(),
    };
    let mut fact = Draft::new("has_motion", words, span)
        .mention(current_state(notes.header))
        .number("motion_speed", speed, "kt", given)
        .valid(notes.header.issued_at);
    if let Some(degrees) = direction {
        fact = fact.number("motion_direction", degrees, "degree", given);
    }
    notes.add(fact);
}

fn write_next(what: &'static str, at: Option<Timestamp>, span: Span, given: &str, notes: &mut Notes<'_>) {
    let Some(at) = at else {
        return;
    };
    let words = format!("next {what} advisory at {}", super::moment::spoken_form(at));
    let fact = Draft::new("has_forecast_window", words, span).time("next_advisory", at, given).text("remark", what);
    notes.add(fact.valid(at));
}

#[cfg(test)]
mod tests;
