//! The smallest words of the trade: numbers, positions, quadrants, compass points, and units made canonical.
//!
//! Winnow parsers over `&str`. A gap may hold one line end, since forecasters break lines anywhere.

use winnow::{
    Result,
    ascii::{Caseless, line_ending, space0},
    combinator::{alt, opt, preceded, repeat},
    prelude::*,
    token::{one_of, take_while},
};

/// Statute miles an hour in one knot, as the service converts them.
pub const MPH_PER_KNOT: f64 = 1.150_78;
/// Statute miles in one nautical mile.
pub const MILES_PER_NAUTICAL_MILE: f64 = 1.150_78;

/// Blanks and at most one line end; may be empty.
pub fn gap(input: &mut &str) -> Result<()> {
    (space0, opt((opt('\r'), line_ending, space0))).void().parse_next(input)
}

/// A literal in any letter case.
pub fn word<'a>(literal: &'static str) -> impl Parser<&'a str, &'a str, winnow::error::ContextError> {
    Caseless(literal)
}

/// Some literals with gaps between them, in any letter case.
pub fn words<'a>(literals: &'static [&'static str]) -> impl Parser<&'a str, (), winnow::error::ContextError> {
    move |input: &mut &'a str| {
        for (idx, literal) in literals.iter().enumerate() {
            if idx > 0 {
                gap(input)?;
            }
            Caseless(*literal).parse_next(input)?;
        }
        Ok(())
    }
}

/// Dots between the parts of a line: `...`, `.......`, a colon, blanks around them.
pub fn dots(input: &mut &str) -> Result<()> {
    (gap, take_while(0.., ['.', ':', '\u{2026}']), gap).void().parse_next(input)
}

/// A decimal number without sign: `25`, `25.2`. A full stop that ends a sentence is left.
pub fn number(input: &mut &str) -> Result<f64> {
    (take_while(1..=7, '0'..='9'), opt(('.', take_while(1..=6, '0'..='9')))).take().parse_to().parse_next(input)
}

/// A whole number.
pub fn whole(input: &mut &str) -> Result<u32> {
    take_while(1..=7, '0'..='9').parse_to().parse_next(input)
}

/// A coordinate with one of two letters, or one of two words, behind it; the second one is negative.
fn coordinate<'a>(
    positive: &'static [&'static str],
    negative: &'static [&'static str],
    most: f64,
) -> impl Parser<&'a str, f64, winnow::error::ContextError> {
    move |input: &mut &'a str| {
        let degrees = number.verify(|degrees| *degrees <= most).parse_next(input)?;
        (gap, opt("°")).void().parse_next(input)?;
        for (names, sign) in [(positive, 1.0), (negative, -1.0)] {
            for name in names {
                if opt(Caseless(*name)).parse_next(input)?.is_some() {
                    return Ok(degrees * sign);
                }
            }
        }
        winnow::combinator::fail.parse_next(input)
    }
}

/// A latitude, north positive: `25.2N`, `25.2 North`.
pub fn latitude(input: &mut &str) -> Result<f64> {
    coordinate(&["North", "N"], &["South", "S"], 90.0).parse_next(input)
}

/// A longitude, east positive: `94.6W`, `179.5 East`.
pub fn longitude(input: &mut &str) -> Result<f64> {
    coordinate(&["East", "E"], &["West", "W"], 360.0)
        .map(|degrees| if degrees.abs() > 180.0 { degrees - 360.0 * degrees.signum() } else { degrees })
        .parse_next(input)
}

/// A position: `25.2N  94.6W`, with blanks, dots or a comma between.
pub fn position(input: &mut &str) -> Result<(f64, f64)> {
    (latitude, gap, take_while(0.., ['.', ',', '/']), gap, longitude)
        .map(|(latitude, (), _, (), longitude)| (latitude, longitude))
        .parse_next(input)
}

/// A position in words: `latitude 25.2 North, longitude 94.6 West`.
pub fn worded_position(input: &mut &str) -> Result<(f64, f64)> {
    let (_, _, latitude) = (word("latitude"), gap, latitude).parse_next(input)?;
    (gap, take_while(0.., ['.', ',']), gap, opt((word("and"), gap))).void().parse_next(input)?;
    let (_, _, longitude) = (word("longitude"), gap, longitude).parse_next(input)?;
    Ok((latitude, longitude))
}

/// Radii in nautical miles by quadrant; `None` where the line leaves one out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quadrants {
    /// Northeast, southeast, southwest, northwest.
    pub radii: [Option<f64>; 4],
}

impl Quadrants {
    /// The quadrants' names in attributes, in the order of `radii`.
    pub const NAMES: [&'static str; 4] = ["ne", "se", "sw", "nw"];
}

/// Four radii: `120NE  50SE  40SW  90NW.`; also `100NM ALL QUADRANTS`.
pub fn quadrants(input: &mut &str) -> Result<Quadrants> {
    let one = (
        number,
        gap,
        opt((word("NM"), gap)),
        alt((word("NE").value(0), word("SE").value(1), word("SW").value(2), word("NW").value(3))),
        opt((space0, word("QUADRANT")).void()),
        opt((space0, one_of([',', ';']))),
        gap,
    )
        .map(|(radius, (), _, idx, ..): (f64, (), _, usize, _, _, ())| (idx, radius));
    let some = repeat(1..=4, one).fold(Quadrants::default, |mut all, (idx, radius)| {
        all.radii[idx] = Some(radius);
        all
    });
    let every = (number, gap, opt((word("NM"), gap)), opt((word("IN"), gap)), words(&["ALL", "QUADRANTS"]))
        .map(|(radius, ..)| Quadrants { radii: [Some(radius); 4] });
    alt((every, some)).parse_next(input)
}

const POINTS: [(&str, f64); 32] = [
    ("NORTH-NORTHEAST", 22.5),
    ("NORTH-NORTHWEST", 337.5),
    ("SOUTH-SOUTHEAST", 157.5),
    ("SOUTH-SOUTHWEST", 202.5),
    ("EAST-NORTHEAST", 67.5),
    ("EAST-SOUTHEAST", 112.5),
    ("WEST-NORTHWEST", 292.5),
    ("WEST-SOUTHWEST", 247.5),
    ("NORTHEAST", 45.0),
    ("NORTHWEST", 315.0),
    ("SOUTHEAST", 135.0),
    ("SOUTHWEST", 225.0),
    ("NORTH", 0.0),
    ("SOUTH", 180.0),
    ("EAST", 90.0),
    ("WEST", 270.0),
    ("NNE", 22.5),
    ("NNW", 337.5),
    ("SSE", 157.5),
    ("SSW", 202.5),
    ("ENE", 67.5),
    ("ESE", 112.5),
    ("WNW", 292.5),
    ("WSW", 247.5),
    ("NE", 45.0),
    ("NW", 315.0),
    ("SE", 135.0),
    ("SW", 225.0),
    ("N", 0.0),
    ("S", 180.0),
    ("E", 90.0),
    ("W", 270.0),
];

/// The degrees of a compass point, in words or letters; `None` where the words name none.
pub fn compass_point(name: &str) -> Option<f64> {
    let joined = name.split(|c: char| c.is_whitespace() || c == '-').filter(|part| !part.is_empty());
    let joined = joined.collect::<Vec<_>>().join("-").to_ascii_uppercase();
    POINTS.iter().find(|(point, _)| *point == joined).map(|(_, degrees)| *degrees)
}

/// The compass point nearest to some degrees, in words: `north-northwest`.
pub fn compass_name(degrees: f64) -> String {
    let turn = degrees.rem_euclid(360.0);
    let away = |point: f64| (turn - point).abs().min(360.0 - (turn - point).abs());
    let nearest = POINTS[..16].iter().min_by(|(_, a), (_, b)| away(*a).total_cmp(&away(*b)));
    nearest.map_or(String::new(), |(name, _)| name.to_ascii_lowercase())
}

/// Letters and hyphens of a compass point, as far as they go.
pub fn compass_words<'a>(input: &mut &'a str) -> Result<(&'a str, f64)> {
    let long = (
        alt((word("NORTH"), word("SOUTH"), word("EAST"), word("WEST"))),
        opt((one_of(['-', ' ']), alt((word("NORTH"), word("SOUTH"), word("EAST"), word("WEST"))))),
        opt(alt((word("EAST"), word("WEST")))),
    )
        .take();
    let short = take_while(1..=3, ['N', 'E', 'S', 'W', 'n', 'e', 's', 'w']);
    alt((long, short)).verify_map(|name: &str| Some((name, compass_point(name)?))).parse_next(input)
}

/// A wind speed with its unit, in knots: `75 KT`, `85 MPH`, `40 M/S`, `140 KM/H`.
pub fn speed(input: &mut &str) -> Result<f64> {
    let unit = alt((
        word("KNOTS").value(1.0),
        word("KTS").value(1.0),
        word("KT").value(1.0),
        word("MPH").value(1.0 / MPH_PER_KNOT),
        words(&["MILES", "PER", "HOUR"]).value(1.0 / MPH_PER_KNOT),
        word("KM/H").value(1.0 / 1.852),
        word("KPH").value(1.0 / 1.852),
        word("M/S").value(3.6 / 1.852),
    ));
    (number, preceded(gap, unit)).map(|(value, factor): (f64, f64)| value * factor).parse_next(input)
}

/// A distance with its unit, in nautical miles: `15 NM`, `250 MI`, `105 miles`, `165 KM`.
pub fn distance(input: &mut &str) -> Result<f64> {
    let unit = alt((
        word("NM").value(1.0),
        words(&["NAUTICAL", "MILES"]).value(1.0),
        word("MILES").value(1.0 / MILES_PER_NAUTICAL_MILE),
        word("MILE").value(1.0 / MILES_PER_NAUTICAL_MILE),
        word("MI").value(1.0 / MILES_PER_NAUTICAL_MILE),
        word("KM").value(1.0 / 1.852),
    ));
    (number, preceded(gap, unit)).map(|(value, factor): (f64, f64)| value * factor).parse_next(input)
}

/// Sees whether a parser reads the start of a text; gives what it read and the words it took.
pub fn read<'a, O>(
    mut parser: impl Parser<&'a str, O, winnow::error::ContextError>,
    text: &'a str,
) -> Option<(O, &'a str)> {
    let mut rest = text;
    let value = parser.parse_next(&mut rest).ok()?;
    Some((value, &text[..text.len() - rest.len()]))
}

/// Where a parser first reads something at the start of a word of a text.
pub fn find<'a, O>(
    mut parser: impl Parser<&'a str, O, winnow::error::ContextError>,
    text: &'a str,
) -> Option<(O, &'a str)> {
    let mut at_word = true;
    for (idx, c) in text.char_indices() {
        if at_word && !c.is_whitespace() {
            let mut rest = &text[idx..];
            if let Ok(value) = parser.parse_next(&mut rest) {
                return Some((value, &text[idx..text.len() - rest.len()]));
            }
        }
        at_word = !c.is_alphanumeric();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_signs() {
        assert_eq!(position.parse("25.2N  94.6W"), Ok((25.2, -94.6)));
        assert_eq!(position.parse("7.5S 179.5E"), Ok((-7.5, 179.5)));
        assert_eq!(position.parse("12.8 N... 157.3 W"), Ok((12.8, -157.3)));
        assert!(position.parse("95.2N  94.6W").is_err());
        let words = "latitude 25.2 North,\nlongitude 94.6 West";
        assert_eq!(worded_position.parse(words), Ok((25.2, -94.6)));
        assert_eq!(worded_position.parse("LATITUDE 45.0 NORTH...LONGITUDE 65.5 WEST"), Ok((45.0, -65.5)));
    }

    #[test]
    fn quadrants_may_be_wrapped_or_missing() {
        let all = Quadrants { radii: [Some(120.0), Some(50.0), Some(0.0), Some(90.0)] };
        assert_eq!(read(quadrants, "120NE  50SE   0SW  90NW.").map(|read| read.0), Some(all));
        assert_eq!(read(quadrants, "120NE  50SE\r\n 0SW  90NW.").map(|read| read.0), Some(all));
        let two = Quadrants { radii: [Some(10.0), None, None, Some(20.0)] };
        assert_eq!(read(quadrants, "10NE 20NW").map(|read| read.0), Some(two));
        let every = Quadrants { radii: [Some(75.0); 4] };
        assert_eq!(read(quadrants, "75 NM ALL QUADRANTS").map(|read| read.0), Some(every));
    }

    #[test]
    fn compass_points_in_words_and_letters() {
        for (name, degrees) in [("NORTH-NORTHWEST", 337.5), ("east northeast", 67.5), ("SSE", 157.5), ("N", 0.0)] {
            assert_eq!(compass_point(name), Some(degrees), "{name}");
        }
        assert_eq!(compass_point("UP"), None);
        assert_eq!((compass_name(359.0), compass_name(336.0)), ("north".into(), "north-northwest".into()));
        assert_eq!(read(compass_words, "WEST-SOUTHWEST OR 240").map(|read| read.0.1), Some(247.5));
    }

    #[test]
    fn speeds_become_knots() {
        assert_eq!(speed.parse("75 KT"), Ok(75.0));
        assert!((speed.parse("85 MPH").unwrap() - 73.863).abs() < 0.001);
        assert!((distance.parse("105 miles").unwrap() - 91.242).abs() < 0.001);
    }

    #[test]
    fn numbers_leave_the_full_stop() {
        assert_eq!(read(number, "35. THEN"), Some((35.0, "35")));
        assert_eq!(
            find(worded_position, "x near latitude 1.0 North, longitude 2.0 East.").map(|f| f.0),
            Some((1.0, 2.0))
        );
    }
}
