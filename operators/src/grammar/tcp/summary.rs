//! The state of the cyclone as a public text gives it: the summary block, or sentences.

use hypercane_schemas::Span;
use winnow::{Result, combinator::alt, combinator::opt, prelude::*};

use crate::grammar::facts::{Draft, Notes, current_state, plain, spoken_position};
use crate::grammar::lines::{Line, line_number, paragraphs, span_of};
use crate::grammar::prose::{Numbers, sentences};
use crate::grammar::units::{compass_words, dots, gap, number, position, speed, word, words};

/// A line of the summary block.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    Location(f64, f64),
    Wind(f64),
    Motion(Option<f64>, f64),
    Pressure(f64),
}

fn item(input: &mut &str) -> Result<Item> {
    let location = (word("LOCATION"), dots, position).map(|(.., (north, east))| Item::Location(north, east));
    let wind =
        (opt((word("MAXIMUM"), gap)), words(&["SUSTAINED", "WINDS"]), dots, speed).map(|(.., knots)| Item::Wind(knots));
    let degrees = (
        opt((word("THE"), gap)),
        compass_words,
        gap,
        opt((word("OR"), gap, number, gap, opt(word("DEGREES")))),
        gap,
        alt((word("AT"), word("NEAR"))),
        gap,
        speed,
    )
        .map(|(_, (_, point), _, degrees, _, _, _, knots)| {
            Item::Motion(Some(degrees.map_or(point, |(_, _, degrees, _, _)| degrees)), knots)
        });
    let stationary = (opt((word("NEARLY"), gap)), alt((word("STATIONARY"), words(&["0", "MPH"]).take())));
    let motion = (words(&["PRESENT", "MOVEMENT"]), dots, alt((degrees, stationary.value(Item::Motion(None, 0.0)))))
        .map(|(.., motion)| motion);
    let pressure = (words(&["MINIMUM", "CENTRAL", "PRESSURE"]), dots, number, gap, alt((word("MB"), word("HPA"))))
        .map(|(.., hpa, (), _)| Item::Pressure(hpa));
    alt((location, wind, motion, pressure)).parse_next(input)
}

/// How a line of the block starts, and its form.
const CUES: [(&str, &str); 4] = [
    ("LOCATION...", "`LOCATION...25.2N 94.6W`"),
    ("MAXIMUM SUSTAINED WINDS...", "`MAXIMUM SUSTAINED WINDS...85 MPH...140 KM/H`"),
    ("PRESENT MOVEMENT...", "`PRESENT MOVEMENT...NW OR 315 DEGREES AT 10 MPH...17 KM/H`"),
    ("MINIMUM CENTRAL PRESSURE...", "`MINIMUM CENTRAL PRESSURE...973 MB...28.74 INCHES`"),
];

/// What has been read, with the words and where they stand.
#[derive(Clone, Debug, Default)]
struct State {
    position: Option<((f64, f64), String, Span)>,
    wind: Option<(f64, String, Span)>,
    pressure: Option<(f64, String, Span)>,
    motion: Option<(Option<f64>, f64, String, Span)>,
}

/// Writes state and motion. Gives whether there was a position.
pub fn summarize(text: &str, body: &[Line<'_>], notes: &mut Notes<'_>) -> bool {
    let mut state = State::default();
    for line in body {
        let words = line.words();
        let mut rest = words;
        match item.parse_next(&mut rest) {
            Ok(item) => {
                let given = words.split_once("...").map_or(words, |(_, given)| given).to_owned();
                let span = line.span();
                match item {
                    Item::Location(north, east) => {
                        state.position.get_or_insert(((north, east), given, span));
                    }
                    Item::Wind(knots) => {
                        state.wind.get_or_insert((knots, given, span));
                    }
                    Item::Motion(degrees, knots) => {
                        state.motion.get_or_insert((degrees, knots, given, span));
                    }
                    Item::Pressure(hpa) => {
                        state.pressure.get_or_insert((hpa, given, span));
                    }
                }
            }
            Err(_) => {
                let cue = CUES.iter().find(|(cue, _)| words.to_ascii_uppercase().starts_with(cue));
                if let Some((_, form)) = cue {
                    notes.fail(line.number, format!("`{words}` should look like {form}"));
                }
            }
        }
    }
    from_sentences(text, body, &mut state);
    write(&state, notes);
    state.position.is_some()
}

/// Fills what the block does not give from sentences.
fn from_sentences(text: &str, body: &[Line<'_>], state: &mut State) {
    let mut numbers = Numbers::default();
    for paragraph in paragraphs(text, body) {
        for sentence in sentences(&paragraph) {
            let before = numbers.clone();
            numbers.take(sentence.text);
            let span = sentence.span;
            if let (None, Some((position, given)), None) = (&before.position, &numbers.position, &state.position) {
                state.position = Some((*position, given.clone(), span));
            }
            if let (None, Some((knots, given)), None) = (&before.wind, &numbers.wind, &state.wind) {
                state.wind = Some((*knots, given.clone(), span));
            }
            if let (None, Some((hpa, given)), None) = (&before.pressure, &numbers.pressure, &state.pressure) {
                state.pressure = Some((*hpa, given.clone(), span));
            }
            if let (None, Some((degrees, knots, given)), None) = (&before.motion, &numbers.motion, &state.motion) {
                state.motion = Some((*degrees, *knots, given.clone(), span));
            }
        }
    }
}

fn write(state: &State, notes: &mut Notes<'_>) {
    let header = notes.header;
    let mut words = Vec::new();
    let mut spans: Vec<Span> = Vec::new();
    let mut fact = Vec::new();
    if let Some(((north, east), given, span)) = &state.position {
        words.push(format!("center located near {}", spoken_position(*north, *east)));
        spans.push(*span);
        fact.push(("latitude", *north, "degree", given.clone()));
        fact.push(("longitude", *east, "degree", given.clone()));
    }
    if let Some((knots, given, span)) = &state.wind {
        words.push(format!("maximum sustained winds {given} ({} kt)", plain(to_five(*knots))));
        spans.push(*span);
        fact.push(("max_wind", *knots, "kt", given.clone()));
    }
    if let Some((hpa, given, span)) = &state.pressure {
        words.push(format!("minimum central pressure {given}"));
        spans.push(*span);
        fact.push(("pressure", *hpa, "hPa", given.clone()));
    }
    if let Some(span) = spans.into_iter().reduce(Span::cover) {
        let mut draft = Draft::new("has_cyclone_state", words.join(", "), span)
            .mention(current_state(header))
            .text("status", &header.title.class)
            .valid(header.issued_at);
        for (name, value, unit, given) in fact {
            draft = draft.number(name, value, unit, given);
        }
        notes.add(draft);
    }
    if let Some((degrees, knots, given, span)) = &state.motion {
        let words = match degrees {
            Some(_) => format!("present movement {given}"),
            None => "present movement stationary".into(),
        };
        let mut draft = Draft::new("has_motion", words, *span)
            .mention(current_state(header))
            .number("motion_speed", *knots, "kt", given)
            .valid(header.issued_at);
        if let Some(degrees) = degrees {
            draft = draft.number("motion_direction", *degrees, "degree", given);
        }
        notes.add(draft);
    }
}

/// Public texts round to five miles an hour; the nearest five knots is what was meant.
fn to_five(knots: f64) -> f64 {
    (knots / 5.0).round() * 5.0
}

/// The line of a slice of the text.
pub(super) fn line_of(text: &str, part: &str) -> u32 {
    line_number(text, span_of(text, part).start as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::header::header;
    use crate::grammar::lines::lines;

    fn state(body: &str) -> Vec<String> {
        let text = format!("Hurricane Opal Advisory Number 5\nNWS AL172020\n0300 UTC MON AUG 31 2020\n\n{body}");
        let header = header(&text).unwrap();
        let mut notes = Notes::new(&header);
        summarize(&text, &lines(&text)[header.body..], &mut notes);
        let facts = notes.finish().facts;
        facts
            .into_iter()
            .map(|fact| fact.text.split_once(": ").map_or(String::new(), |(_, words)| words.into()))
            .collect()
    }

    #[test]
    fn the_block_gives_state_and_motion() {
        let block = "LOCATION...19.5N 171.2E\nABOUT 5 MI...10 KM N OF NOWHERE\n\
            MAXIMUM SUSTAINED WINDS...100 MPH...160 KM/H\nPRESENT MOVEMENT...WNW OR 285 DEGREES AT 12 MPH...19 KM/H\n\
            MINIMUM CENTRAL PRESSURE...970 MB...28.65 INCHES\n";
        assert_eq!(
            state(block),
            [
                "center located near 19.5N 171.2E, maximum sustained winds 100 MPH...160 KM/H (85 kt), \
                 minimum central pressure 970 MB...28.65 INCHES",
                "present movement WNW OR 285 DEGREES AT 12 MPH...19 KM/H",
            ]
        );
        assert_eq!(state("PRESENT MOVEMENT...STATIONARY\n"), ["present movement stationary"]);
    }

    #[test]
    fn sentences_serve_where_there_is_no_block() {
        let prose = "AT 10 PM CDT...THE CENTER WAS LOCATED NEAR LATITUDE 27.0 NORTH...LONGITUDE\n92.0 WEST.\n\n\
            OPAL IS MOVING TOWARD THE NORTH NEAR 9 MPH.  MAXIMUM SUSTAINED WINDS ARE NEAR 115 MPH.\n";
        assert_eq!(state(prose)[0], "center located near 27.0N 92.0W, maximum sustained winds 115 MPH (100 kt)");
        assert_eq!(state(prose)[1], "present movement TOWARD THE NORTH NEAR 9 MPH");
    }
}
