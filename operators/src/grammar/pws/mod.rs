//! Wind Speed Probabilities (PWS): for each place the chance of winds of 34, 50 and 64 kt, by forecast period.
//!
//! The table is read by its marks and not by columns: a row is a name, a speed, one number, and as many pairs `onset(cumulative)` as
//! there are further periods. `X` stands for less than one percent and counts as zero.

mod period;
mod place;
mod row;

use hypercane_schemas::{Attribute, Span};
use winnow::{
    Result,
    combinator::{alt, opt},
    prelude::*,
};

use super::facts::{Draft, Notes, current_state, mention, plain, slug, spoken_position, state};
use super::header::header_of;
use super::lines::{Line, lines};
use super::units::{find, gap, number, word, worded_position, words};
use crate::extraction::{Extraction, Failure};
use period::{Period, periods};
use place::named;
use row::{Chance, Row, looks_like_row, row};

/// The facts of a product.
///
/// # Errors
/// Where its head can't be read, or it has no row of a table.
pub fn extract(text: &str) -> std::result::Result<Extraction, Failure> {
    let all = lines(text);
    let header = header_of(text, &all)?;
    let mut notes = Notes::new(&header);
    let body = &all[header.body.min(all.len())..];
    write_center(text, body, &mut notes);
    let periods = periods(body, header.issued_at);
    let mut in_table = false;
    for line in body {
        let words = line.words().to_ascii_uppercase();
        if words.starts_with("LOCATION") && words.ends_with("KT") {
            in_table = true;
            continue;
        }
        if words.starts_with("$$") {
            in_table = false;
        }
        if !in_table || line.is_blank() || words.starts_with("- - -") {
            continue;
        }
        match row(line.words()) {
            Some(row) if row.chances.len() == periods.len() => write_row(&row, line, &periods, &mut notes),
            Some(row) => {
                let (found, wanted) = (row.chances.len(), periods.len());
                notes.fail(
                    line.number,
                    format!("`{}` has {found} periods, the head of the table {wanted}", line.words()),
                );
            }
            None if looks_like_row(&words) => {
                notes.fail(
                    line.number,
                    format!("`{}` should look like NEW ORLEANS LA 34  X   1( 1)   2( 3) ...", line.words()),
                );
            }
            None => {}
        }
    }
    if notes.n_facts() == 0 {
        let reason = "neither the position of the center nor a row of a table stands in the text".into();
        return Err(Failure { line: body.first().map_or(1, |line| line.number), reason });
    }
    Ok(notes.finish())
}

/// `located near latitude 25.9 north...longitude 95.4 west with maximum sustained winds near 90 kts`.
fn center(input: &mut &str) -> Result<(f64, f64, Option<f64>)> {
    let (latitude, longitude) = worded_position(input)?;
    let phrase = (
        words(&["maximum", "sustained"]),
        gap,
        alt((word("winds"), word("wind"))),
        gap,
        opt(alt((word("near"), word("of")))),
        gap,
    );
    let wind = opt((gap, opt((word("with"), gap)), phrase, number, gap, word("k"))).parse_next(input)?;
    Ok((latitude, longitude, wind.map(|parts| parts.3)))
}

/// The state of the storm, which the first sentence gives.
fn write_center(text: &str, body: &[Line<'_>], notes: &mut Notes<'_>) {
    let Some(start) = body.first().map(|line| line.start) else { return };
    let Some(((latitude, longitude, wind), given)) = find(center, &text[start..]) else { return };
    let position = spoken_position(latitude, longitude);
    let speed = wind.map(|wind| format!(", maximum sustained winds {} kt", plain(wind))).unwrap_or_default();
    let class = notes.header.title.class.clone();
    let at = given.as_ptr() as usize - text.as_ptr() as usize;
    let mut draft =
        Draft::new("has_cyclone_state", format!("center at {position}{speed}"), Span::new(at, at + given.len()))
            .mention(current_state(notes.header))
            .number("latitude", latitude, "degree", position.split(' ').next().unwrap_or_default())
            .number("longitude", longitude, "degree", position.split(' ').nth(1).unwrap_or_default());
    if let Some(wind) = wind {
        draft = draft.number("max_wind", wind, "kt", format!("{} KTS", plain(wind)));
    }
    if !class.is_empty() {
        draft = draft.text("status", class);
    }
    notes.add(draft);
}

fn write_row(row: &Row<'_>, line: &Line<'_>, periods: &[Period], notes: &mut Notes<'_>) {
    let place = named(row.name);
    let mut where_to = mention(format!("place:{}", place.slug), &place.name, "place", "place");
    where_to.aliases = place.aliases.iter().filter(|alias| **alias != place.name).cloned().collect();
    where_to.aliases.sort();
    where_to.aliases.dedup();
    let chances: Vec<String> = row
        .chances
        .iter()
        .zip(periods)
        .map(|(chance, period)| match chance.onset {
            onset if period.index == 0 => format!("{} h {onset}", period.hour),
            onset => format!("{} h {onset}({})", period.hour, chance.cumulative),
        })
        .collect();
    let force = match row.threshold {
        34 => " (tropical-storm-force)",
        64 => " (hurricane-force)",
        _ => "",
    };
    let sentence = format!(
        "{}: chance of {}-kt{force} winds in percent, onset(cumulative): {}",
        place.name,
        row.threshold,
        chances.join(", ")
    );
    let name = format!("{}-kt wind probability at {}", row.threshold, place.name);
    let detail = format!("{}:{}", slug(&place.slug), row.threshold);
    let mut attributes = Vec::new();
    for (chance, period) in row.chances.iter().zip(periods) {
        attributes.extend(chance_attributes(chance, period));
    }
    let draft = Draft::new("has_cumulative_probability", sentence, line.span())
        .mention(where_to)
        .mention(state(notes.header, "wind_prob", &detail, name, "wind_probability"))
        .number("threshold", f64::from(row.threshold), "kt", row.threshold.to_string())
        .attributes(attributes);
    notes.add(draft);
}

fn chance_attributes(chance: &Chance<'_>, period: &Period) -> Vec<Attribute> {
    let hour = period.hour;
    let percent = |name: &str, given: &str| {
        let value = given.parse().unwrap_or(0.0);
        Attribute::number(&format!("probability_{name}_{hour}"), value, "percent", given)
    };
    let mut attributes = vec![percent("onset", chance.onset), percent("cumulative", chance.cumulative)];
    if let Some((start, end)) = period.span {
        attributes.push(Attribute::time(&format!("period_start_{hour}"), start, &period.start_given));
        attributes.push(Attribute::time(&format!("period_end_{hour}"), end, &period.end_given));
    }
    attributes
}

#[cfg(test)]
mod tests;
