//! Forecast discussion (TCD): prose, key messages, and the table of forecast positions.
//!
//! Each sentence becomes a fact under the relation that its words call for; the numbers that a sentence gives for the storm
//! now go with it. The table's lines are forecast points like those of a Forecast/Advisory.

use hypercane_schemas::Span;
use winnow::{Result, ascii::space0, combinator::opt, prelude::*, token::rest};

use super::facts::{Draft, Notes, current_state, plain, slug, spoken_position, state};
use super::header::header_of;
use super::lines::{Line, folded, lines, paragraphs};
use super::moment::{DayTime, day_time, spoken_form};
use super::prose::{Numbers, sentences};
use super::tcm::point::Point;
use super::units::{gap, number, position, whole, word};
use crate::extraction::{Extraction, Failure};

/// The facts of a discussion.
///
/// # Errors
/// Where its head can't be read, or nothing stands under it.
pub fn extract(text: &str) -> std::result::Result<Extraction, Failure> {
    let all = lines(text);
    let header = header_of(text, &all)?;
    let mut notes = Notes::new(&header);
    let body = &all[header.body.min(all.len())..];
    let end = body.iter().position(|line| line.words() == "$$").unwrap_or(body.len());
    let body = &body[..end];
    let heading = |words: &str| body.iter().position(|line| line.words().to_ascii_uppercase().starts_with(words));
    let table = heading("FORECAST POSITIONS AND MAX WINDS").unwrap_or(body.len());
    let messages = heading("KEY MESSAGES").unwrap_or(table).min(table);
    write_prose(text, &body[..messages], &mut notes);
    write_messages(text, &body[messages..table], &mut notes);
    for line in &body[table..] {
        write_point(line, &mut notes);
    }
    if notes.n_facts() == 0 {
        let reason = "no sentence and no forecast position stands under the head".into();
        return Err(Failure { line: body.first().map_or(1, |line| line.number), reason });
    }
    Ok(notes.finish())
}

fn write_prose(text: &str, body: &[Line<'_>], notes: &mut Notes<'_>) {
    for paragraph in paragraphs(text, body) {
        for sentence in sentences(&paragraph) {
            write_sentence(&sentence.folded(), sentence.span, notes);
        }
    }
}

fn write_sentence(words: &str, span: Span, notes: &mut Notes<'_>) {
    let upper = words.to_ascii_uppercase();
    let mut numbers = Numbers::default();
    numbers.take(words);
    numbers.wind = numbers.wind.or_else(|| intensity(words, &upper));
    let relation = relation(&upper, &numbers);
    let mut draft = Draft::new(relation, words, span).mention(current_state(notes.header));
    if let Some((wind, given)) = numbers.wind {
        draft = draft.number("max_wind", wind, "kt", given);
    }
    if let Some((pressure, given)) = numbers.pressure {
        draft = draft.number("pressure", pressure, "hPa", given);
    }
    let motion = numbers.motion.or_else(|| short_motion(&upper));
    if let Some((direction, speed, given)) = motion {
        draft = draft.number("motion_speed", speed, "kt", &given);
        if let Some(direction) = direction {
            draft = draft.number("motion_direction", direction, "degree", given);
        }
    }
    notes.add(draft);
}

/// What a sentence is about, by its words.
fn relation(upper: &str, numbers: &Numbers) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| upper.contains(word));
    let ahead = has(&["FORECAST", "EXPECTED", "SHOULD", "WILL ", "LIKELY", "ANTICIPATED", "PREDICT"]);
    if numbers.wind.is_some() || numbers.pressure.is_some() {
        "has_cyclone_state"
    } else if has(&["LANDFALL"]) && ahead {
        "forecasts_landfall"
    } else if numbers.motion.is_some() || has(&["INITIAL MOTION", "MOTION ESTIMATE", "MOVING "]) && !ahead {
        "has_motion"
    } else if has(&["SURGE", "RAINFALL", "FLOODING", "TORNADO", "RIP CURRENT"]) {
        "forecasts_hazard_at_horizon"
    } else if has(&["WARNING", "WATCH"]) && has(&["ISSUED", "IN EFFECT", "REQUIRED"]) {
        if has(&["WARNING"]) { "has_warning_status" } else { "has_watch_status" }
    } else if ahead {
        "forecasts_track"
    } else {
        "has_cyclone_state"
    }
}

/// `the initial intensity is set at 30 kt`.
fn intensity(words: &str, upper: &str) -> Option<(f64, String)> {
    let cues = ["INITIAL INTENSITY", "INITIAL WIND SPEED", "CURRENT INTENSITY", "ADVISORY INTENSITY", "INTENSITY IS"];
    let at = cues.iter().filter_map(|cue| upper.find(cue)).min()?;
    let rest = words.get(at..)?;
    let knots =
        |input: &mut &str| -> Result<f64> { (number, gap, word("KT")).map(|(knots, ..)| knots).parse_next(input) };
    let (wind, given) = super::units::find(knots, rest)?;
    (wind > 0.0 && wind < 250.0).then(|| (wind, folded(given)))
}

/// `355/8 kt`, `285/09`: direction and speed in short.
fn short_motion(upper: &str) -> Option<(Option<f64>, f64, String)> {
    if !upper.contains("MOTION") && !upper.contains("MOVING") {
        return None;
    }
    upper.split_whitespace().find_map(|part| {
        let part = part.trim_matches(|c: char| !c.is_ascii_digit());
        let (direction, speed) = part.split_once('/')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if direction.len() != 3 || speed.len() > 2 || !digits(direction) || !digits(speed) {
            return None;
        }
        let (direction, speed) = (direction.parse::<f64>().ok()?, speed.parse::<f64>().ok()?);
        (direction <= 360.0).then(|| (Some(direction), speed, format!("{part} KT")))
    })
}

/// The numbered messages, each one a fact.
fn write_messages(text: &str, body: &[Line<'_>], notes: &mut Notes<'_>) {
    for paragraph in paragraphs(text, body) {
        let words = folded(paragraph.text);
        let numbered = words.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok());
        let Some((number, message)) = numbered else { continue };
        let name = format!("Key message {number} about {}", notes.header.title.name);
        let key = format!("key_message_{}", slug(number));
        let upper = message.to_ascii_uppercase();
        let warning = upper.contains("WARNING") && upper.contains("IN EFFECT");
        let relation = if warning { "has_warning_status" } else { "forecasts_hazard_at_horizon" };
        let draft = Draft::new(relation, format!("key message {number}: {message}"), paragraph.span())
            .mention(state(notes.header, "hazard", &key, name, "hazard_forecast"))
            .text("remark", message);
        notes.add(draft);
    }
}

/// One line of the table.
struct Row {
    init: bool,
    at: DayTime,
    position: Option<(f64, f64)>,
    wind: Option<f64>,
    remark: String,
}

/// `INIT  31/2100Z 15.9N  20.0W   30 KT  35 MPH`, ` 48H  02/1800Z...DISSIPATED`.
fn row(input: &mut &str) -> Result<Row> {
    let init = opt((opt(word("INIT")), opt(word("IAL")))).parse_next(input)?.is_some_and(|(init, _)| init.is_some());
    if !init {
        (whole, space0, word("H"), opt(word("R")), opt(word("VT"))).void().parse_next(input)?;
    }
    let _ = (gap, opt((word("VT"), gap))).parse_next(input)?;
    let at = day_time.parse_next(input)?;
    let position = opt((gap, position)).parse_next(input)?.map(|(_, position)| position);
    let wind = opt((gap, number, gap, word("KT"), opt(word("S")))).parse_next(input)?.map(|(_, knots, ..)| knots);
    let _ = opt((gap, number, gap, word("MPH"))).parse_next(input)?;
    // What goes on without dots is no remark but a broken number.
    let marked = |rest: &str| rest.trim().is_empty() || rest.trim_start().starts_with(['.', '-', '/']);
    let remark =
        rest.verify(marked).map(|rest: &str| folded(rest.trim_matches(['.', ' ', '-', '/']))).parse_next(input)?;
    Ok(Row { init, at, position, wind, remark })
}

fn write_point(line: &Line<'_>, notes: &mut Notes<'_>) {
    let words = line.words();
    let starts = words.starts_with("INIT") || (words.starts_with(|c: char| c.is_ascii_digit()) && words.contains('/'));
    if !starts {
        return;
    }
    let row = match row.parse(words) {
        Ok(row) => row,
        Err(_) => {
            notes.fail(line.number, format!("`{words}` should look like 12H  01/0600Z 17.3N  21.0W   35 KT  40 MPH"));
            return;
        }
    };
    let Some(at) = row.at.near(notes.header.issued_at) else {
        notes.fail(line.number, format!("no month near the issue time has the day of `{words}`"));
        return;
    };
    if row.init {
        let Some((latitude, longitude)) = row.position else { return };
        let position = spoken_position(latitude, longitude);
        let wind = row.wind.map(|wind| format!(", maximum wind {} kt", plain(wind))).unwrap_or_default();
        let mut draft = Draft::new(
            "has_cyclone_state",
            format!("initial position {position} at {}{wind}", spoken_form(at)),
            line.span(),
        )
        .mention(current_state(notes.header))
        .number("latitude", latitude, "degree", &position)
        .number("longitude", longitude, "degree", &position)
        .valid(at);
        if let Some(wind) = row.wind {
            draft = draft.number("max_wind", wind, "kt", format!("{} KT", plain(wind)));
        }
        notes.add(draft);
        return;
    }
    let mut point = Point::new(at, row.position, row.remark, false, line.span());
    if let Some(wind) = row.wind {
        point.wind(wind, None, line.span());
    }
    point.write(notes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::extract;
    use crate::extraction::Fact;

    const DISCUSSION: &str = "\
WTNT43 KNHC 270848
TCDAT3

Tropical Storm Opal Discussion Number   3
NWS National Hurricane Center Miami FL       AL032021
400 AM CDT Fri Aug 27 2021

Aircraft data show that Opal is stronger.  The initial intensity is
raised to 50 kt, and the minimum pressure is 995 mb.

The initial motion is 340/9 kt.  Opal should make landfall in Texas
on Saturday.

KEY MESSAGES:

1. Heavy rain may cause flooding in
parts of Texas.

FORECAST POSITIONS AND MAX WINDS

INIT  27/0900Z 26.0N  94.8W   50 KT  60 MPH
 12H  27/1800Z 27.5N  94.8W   55 KT  65 MPH
 24H  28/0600Z 29.5N  94.8W   55 KT  65 MPH...INLAND
 36H  28/1800Z...DISSIPATED
 48H  29/06X0Z

$$
Forecaster Nobody
";

    fn number(fact: &Fact, name: &str) -> Option<f64> {
        let found = fact.attributes.iter().find(|attribute| attribute.name == name)?;
        Some(found.value.number?.to_f64())
    }

    #[test]
    fn sentences_messages_and_points_are_facts() {
        let found = extract(DISCUSSION).unwrap();
        let of = |relation: &str| found.facts.iter().filter(|fact| fact.relation == relation).collect::<Vec<_>>();
        assert!(
            of("has_cyclone_state")
                .iter()
                .any(|fact| number(fact, "max_wind") == Some(50.0) && number(fact, "pressure") == Some(995.0))
        );
        assert_eq!(number(of("has_motion")[0], "motion_direction"), Some(340.0));
        assert_eq!(of("forecasts_landfall").len(), 1);
        assert!(of("forecasts_hazard_at_horizon")[0].text.contains("key message 1"));
        let points = of("forecasts_track");
        assert_eq!(points.len(), 3);
        assert_eq!((number(points[0], "latitude"), number(points[0], "max_wind")), (Some(27.5), Some(55.0)));
        assert_eq!(points[2].valid_at.unwrap().to_string(), "2021-08-28T18:00:00Z");
        assert_eq!(found.failures.len(), 1);
    }

    proptest! {
        #[test]
        fn no_cut_and_no_noise_makes_it_panic(cut in 0..DISCUSSION.len(), noise in "\\PC{0,40}", at in 0..DISCUSSION.len()) {
            let _ = extract(&DISCUSSION[..cut]);
            let _ = extract(&format!("{}{noise}{}", &DISCUSSION[..at], &DISCUSSION[at..]));
        }
    }
}
