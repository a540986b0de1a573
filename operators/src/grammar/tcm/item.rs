//! The lines of a Forecast/Advisory that carry numbers, one parser each.

use winnow::{
    Result,
    ascii::{space0, till_line_ending},
    combinator::{alt, fail, opt, preceded},
    prelude::*,
    token::take_while,
};

use crate::grammar::moment::{DayTime, day_time};
use crate::grammar::units::{
    Quadrants, compass_words, distance, dots, gap, number, position, quadrants, speed, word, words,
};

/// What a line (or two, where it is broken) says.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `HURRICANE CENTER LOCATED NEAR 25.2N  94.6W AT 25/0300Z`.
    Center {
        /// Degrees north.
        latitude: f64,
        /// Degrees east.
        longitude: f64,
        /// The time of the fix.
        at: Option<DayTime>,
    },
    /// `REPEAT...CENTER LOCATED NEAR` and `AT 25/0000Z CENTER WAS LOCATED NEAR`: nothing new.
    Repeat,
    /// `POSITION ACCURATE WITHIN  15 NM`.
    Accuracy(f64),
    /// `PRESENT MOVEMENT TOWARD THE NORTHWEST OR 315 DEGREES AT   9 KT`; `None` and 0 for a stationary storm.
    Motion {
        /// Degrees from north.
        direction: Option<f64>,
        /// Knots.
        speed: f64,
    },
    /// `ESTIMATED MINIMUM CENTRAL PRESSURE  973 MB`.
    Pressure(f64),
    /// `EYE DIAMETER  15 NM`.
    Eye(f64),
    /// `MAX SUSTAINED WINDS  75 KT WITH GUSTS TO  90 KT.` or `MAX WIND  95 KT...GUSTS 115 KT.`
    Wind {
        /// Knots.
        wind: f64,
        /// Knots.
        gusts: Option<f64>,
    },
    /// `64 KT... 30NE  15SE  10SW  15NW.`
    Radii {
        /// Knots.
        threshold: f64,
        /// Nautical miles by quadrant.
        quadrants: Quadrants,
    },
    /// `12 FT SEAS.. 90NE  75SE  60SW  90NW.`
    Seas {
        /// Feet.
        height: f64,
        /// Nautical miles by quadrant.
        quadrants: Quadrants,
    },
    /// `FORECAST VALID 26/1200Z 28.1N  97.1W...INLAND` or `OUTLOOK VALID 31/1200Z...DISSIPATED`.
    Forecast {
        /// When it is to be there.
        valid: DayTime,
        /// Degrees north and east; `None` where the system is to be gone.
        position: Option<(f64, f64)>,
        /// What stands behind the position.
        remark: String,
        /// An outlook (days four and five), not a forecast.
        outlook: bool,
    },
    /// `NEXT ADVISORY AT 25/0900Z`.
    NextAdvisory(DayTime),
    /// `INTERMEDIATE PUBLIC ADVISORY...WTNT34 KNHC/MIATCPAT4...AT 25/0600Z`.
    NextIntermediate(DayTime),
}

/// How a line starts that must be an item, and what is expected there.
const CUES: [(&str, &str); 12] = [
    ("FORECAST VALID", "`FORECAST VALID 26/1200Z 28.1N  97.1W`"),
    ("OUTLOOK VALID", "`OUTLOOK VALID 26/1200Z 28.1N  97.1W`"),
    ("MAX WIND", "`MAX WIND  95 KT...GUSTS 115 KT.`"),
    ("MAX SUSTAINED WIND", "`MAX SUSTAINED WINDS  75 KT WITH GUSTS TO  90 KT.`"),
    ("ESTIMATED MINIMUM CENTRAL PRESSURE", "`ESTIMATED MINIMUM CENTRAL PRESSURE  973 MB`"),
    ("PRESENT MOVEMENT", "`PRESENT MOVEMENT TOWARD THE NORTHWEST OR 315 DEGREES AT   9 KT`"),
    ("EYE DIAMETER", "`EYE DIAMETER  15 NM`"),
    ("POSITION ACCURATE", "`POSITION ACCURATE WITHIN  15 NM`"),
    ("64 KT", "`64 KT... 30NE  15SE  10SW  15NW.`"),
    ("50 KT", "`50 KT... 30NE  15SE  10SW  15NW.`"),
    ("34 KT", "`34 KT... 30NE  15SE  10SW  15NW.`"),
    ("12 FT SEAS", "`12 FT SEAS.. 90NE  75SE  60SW  90NW.`"),
];

/// What an item that starts like this line must look like; `None` where the line may be any words.
pub fn expected(line: &str) -> Option<&'static str> {
    let upper = line.trim_start().to_ascii_uppercase();
    CUES.iter().find(|(cue, _)| upper.starts_with(cue)).map(|(_, form)| *form)
}

/// Words on one line before a phrase, as far as `most` bytes.
fn up_to<'a>(phrase: &'static str, most: usize) -> impl Parser<&'a str, &'a str, winnow::error::ContextError> {
    move |input: &mut &'a str| {
        let line = input.split('\n').next().unwrap_or_default();
        match line.to_ascii_uppercase().find(phrase) {
            Some(at) if at <= most => {
                let (before, rest) = input.split_at(at);
                *input = rest;
                Ok(before)
            }
            _ => fail.parse_next(input),
        }
    }
}

fn center(input: &mut &str) -> Result<Item> {
    let (before, _, _, _) = (
        up_to("CENTER", 60),
        alt((word("CENTERED"), word("CENTER"))),
        gap,
        opt((alt((words(&["WAS", "LOCATED"]), words(&["LOCATED"]), words(&["RELOCATED"]))), gap)),
    )
        .parse_next(input)?;
    (word("NEAR"), gap).void().parse_next(input)?;
    let (latitude, longitude) = position.parse_next(input)?;
    let at = opt((gap, word("AT"), gap, day_time).map(|(.., at)| at)).parse_next(input)?;
    let before = before.trim_start().to_ascii_uppercase();
    if before.starts_with("REPEAT") || before.starts_with("AT ") {
        return Ok(Item::Repeat);
    }
    Ok(Item::Center { latitude, longitude, at })
}

fn accuracy(input: &mut &str) -> Result<Item> {
    (words(&["POSITION", "ACCURATE", "WITHIN"]), gap, distance).map(|(.., nm)| Item::Accuracy(nm)).parse_next(input)
}

/// The line of a present movement, which some forecasters word freely.
fn motion(input: &mut &str) -> Result<Item> {
    let mut start = alt((words(&["PRESENT", "MOVEMENT"]), word("PRESENTLY").void()));
    start.parse_next(input)?;
    (dots, opt((alt((word("IS"), word("TOWARD"), word("TOWARDS"))), gap))).void().parse_next(input)?;
    let toward = (
        opt((words(&["TOWARD", "THE"]), gap)),
        opt((word("THE"), gap)),
        compass_words,
        gap,
        opt((word("OR"), gap, number, gap, opt(word("DEGREES")))),
        gap,
        opt(alt((word("AT"), word("NEAR")))),
        gap,
        speed,
    )
        .map(|(_, _, (_, point), _, degrees, _, _, _, speed)| Item::Motion {
            direction: Some(degrees.map_or(point, |(_, _, degrees, _, _)| degrees)),
            speed,
        });
    let stationary = (up_to("STATIONARY", 60), word("STATIONARY")).value(Item::Motion { direction: None, speed: 0.0 });
    alt((toward, stationary)).parse_next(input)
}

fn pressure(input: &mut &str) -> Result<Item> {
    (opt((word("ESTIMATED"), gap)), words(&["MINIMUM", "CENTRAL", "PRESSURE"]), dots, number, gap, pressure_unit)
        .map(|(_, _, _, hpa, ..)| Item::Pressure(hpa))
        .parse_next(input)
}

fn pressure_unit<'a>(input: &mut &'a str) -> Result<&'a str> {
    alt((word("MB"), word("HPA"), word("MILLIBARS"))).parse_next(input)
}

fn eye(input: &mut &str) -> Result<Item> {
    (words(&["EYE", "DIAMETER"]), dots, distance).map(|(.., nm)| Item::Eye(nm)).parse_next(input)
}

fn wind(input: &mut &str) -> Result<Item> {
    let start = (word("MAX"), opt(word("IMUM")), gap, opt((word("SUSTAINED"), gap)), word("WIND"), opt(word("S")));
    start.void().parse_next(input)?;
    let (_, wind) = (dots, speed).parse_next(input)?;
    let gusts = (dots, opt((word("WITH"), gap)), word("GUSTS"), gap, opt((word("TO"), gap)), speed);
    let gusts = opt(gusts.map(|(.., gusts)| gusts)).parse_next(input)?;
    Ok(Item::Wind { wind, gusts })
}

fn radii(input: &mut &str) -> Result<Item> {
    let old = (words(&["RADIUS", "IN", "NM", "OF"]), gap).void();
    let older = (words(&["RADIUS", "OF"]), gap).void();
    opt(alt((old, older))).parse_next(input)?;
    let knots = (number, gap, word("KT"), gap, opt(word("WINDS")), dots, quadrants)
        .map(|(threshold, .., quadrants)| Item::Radii { threshold, quadrants });
    let unit = alt((word("FT").value(1.0), word("M").value(1.0 / 0.3048)));
    let height = (number, gap, unit).map(|(height, _, factor): (f64, (), f64)| height * factor);
    let feet = (height, gap, word("SEAS"), gap, opt(words(&["OR", "HIGHER"])), dots, quadrants)
        .map(|(height, .., quadrants)| Item::Seas { height, quadrants });
    alt((knots, feet)).parse_next(input)
}

fn forecast(input: &mut &str) -> Result<Item> {
    let outlook = alt((word("FORECAST").value(false), word("OUTLOOK").value(true)));
    let (outlook, _, _, _, valid, _) =
        (outlook, gap, word("VALID"), dots, day_time, (space0, take_while(0.., '.'), space0)).parse_next(input)?;
    let position = opt(position).parse_next(input)?;
    let remark = till_line_ending.parse_next(input)?;
    let remark = remark.trim_matches(|c: char| c == '.' || c.is_whitespace()).to_owned();
    if position.is_none() && (remark.is_empty() || remark.starts_with(|c: char| c.is_ascii_digit())) {
        return fail.parse_next(input);
    }
    Ok(Item::Forecast { valid, position, remark, outlook })
}

fn next_advisory(input: &mut &str) -> Result<Item> {
    let complete =
        (words(&["NEXT", "ADVISORY"]), dots, opt((word("AT"), gap)), day_time).map(|(.., at)| Item::NextAdvisory(at));
    let intermediate = preceded(
        words(&["INTERMEDIATE", "PUBLIC", "ADVISORY"]),
        (up_to("...AT ", 60), dots, word("AT"), gap, day_time),
    )
    .map(|(.., at)| Item::NextIntermediate(at));
    alt((complete, intermediate)).parse_next(input)
}

/// Any of them.
pub fn item(input: &mut &str) -> Result<Item> {
    space0.void().parse_next(input)?;
    alt((forecast, wind, radii, pressure, eye, accuracy, motion, next_advisory, center)).parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::units::read;

    fn parsed(text: &str) -> Option<Item> {
        read(item, text).map(|read| read.0)
    }

    #[test]
    fn centers_and_repeats() {
        let at = Some(DayTime { day: 7, hour: 9, minute: 0 });
        let center = Item::Center { latitude: 20.5, longitude: -60.1, at };
        assert_eq!(parsed("HURRICANE CENTER LOCATED NEAR 20.5N  60.1W AT 07/0900Z"), Some(center.clone()));
        assert_eq!(parsed("CENTER LOCATED NEAR 20.5N  60.1W AT\n07/0900Z."), Some(center));
        assert_eq!(parsed("REPEAT...CENTER LOCATED NEAR 20.5N  60.1W AT 07/0900Z"), Some(Item::Repeat));
        assert_eq!(parsed("AT 07/0600Z CENTER WAS LOCATED NEAR 20.5N  60.1W"), Some(Item::Repeat));
    }

    #[test]
    fn motion_in_all_wordings() {
        let west = Item::Motion { direction: Some(280.0), speed: 16.0 };
        assert_eq!(parsed("PRESENT MOVEMENT TOWARD THE WEST OR 280 DEGREES AT  16 KT"), Some(west));
        let still = Item::Motion { direction: None, speed: 0.0 };
        for words in ["PRESENT MOVEMENT IS STATIONARY", "PRESENTLY THREE-C IS NEARLY STATIONARY."] {
            assert_eq!(parsed(words), Some(still.clone()), "{words}");
        }
    }

    #[test]
    fn winds_and_radii_of_all_decades() {
        let wind = Item::Wind { wind: 35.0, gusts: Some(45.0) };
        assert_eq!(parsed("MAX SUSTAINED WINDS  35 KT WITH GUSTS TO  45 KT."), Some(wind.clone()));
        assert_eq!(parsed("MAX WIND  35 KT...GUSTS  45 KT NEAR THE CENTER."), Some(wind));
        let quadrants = Quadrants { radii: [Some(50.0), Some(0.0), Some(10.0), Some(90.0)] };
        let radii = Item::Radii { threshold: 34.0, quadrants };
        for words in [
            "34 KT.......50NE   0SE  10SW  90NW.",
            "34 KT... 50NE   0SE  10SW  90NW",
            "34 KT... 50NE   0SE\n 10SW  90NW.",
            "RADIUS IN NM OF 34 KT WINDS           50NE   0SE  10SW  90NW.",
        ] {
            assert_eq!(parsed(words), Some(radii.clone()), "{words}");
        }
        let seas = Item::Seas { height: 12.0, quadrants };
        assert_eq!(parsed("12 FT SEAS.. 50NE   0SE  10SW  90NW."), Some(seas.clone()));
        assert_eq!(parsed("RADIUS IN NM OF 12 FT SEAS OR HIGHER  50NE   0SE  10SW  90NW."), Some(seas));
    }

    #[test]
    fn forecast_points_with_and_without_position() {
        let point = |words: &str| match parsed(words) {
            Some(Item::Forecast { position, remark, outlook, .. }) => Some((position, remark, outlook)),
            _ => None,
        };
        let here = Some((28.1, -97.1));
        assert_eq!(point("FORECAST VALID 26/1200Z 28.1N  97.1W...INLAND"), Some((here, "INLAND".into(), false)));
        assert_eq!(point("FORECAST VALID 26/1200Z 28.1N  97.1W."), Some((here, String::new(), false)));
        assert_eq!(point("OUTLOOK VALID 31/1200Z...DISSIPATED"), Some((None, "DISSIPATED".into(), true)));
        assert_eq!(point("OUTLOOK VALID 31/1200Z 98.1N  97.1W"), None);
        assert_eq!(point("OUTLOOK VALID 31/2500Z 28.1N  97.1W"), None);
        assert!(expected("OUTLOOK VALID 31/2500Z").is_some());
    }

    #[test]
    fn next_advisories() {
        let at = DayTime { day: 3, hour: 6, minute: 0 };
        assert_eq!(parsed("NEXT ADVISORY AT 03/0600Z    "), Some(Item::NextAdvisory(at)));
        let words = "INTERMEDIATE PUBLIC ADVISORY...WTNT34 KNHC/MIATCPAT4...AT 03/0600Z";
        assert_eq!(parsed(words), Some(Item::NextIntermediate(at)));
    }
}
