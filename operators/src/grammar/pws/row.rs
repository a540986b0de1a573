//! One row of the table.

use winnow::{
    Result,
    ascii::{space0, space1},
    combinator::{alt, eof, repeat},
    prelude::*,
    token::take_while,
};

/// The chance in one period, as printed: a number, or `X` for less than one percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chance<'a> {
    /// That the winds begin in this period.
    pub(super) onset: &'a str,
    /// That they come from the start up to its end.
    pub(super) cumulative: &'a str,
}

/// A place, a speed, and a chance for each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// The place, as printed.
    pub(super) name: &'a str,
    /// The speed in kt.
    pub(super) threshold: u16,
    /// By period.
    pub(super) chances: Vec<Chance<'a>>,
}

fn percent<'a>(input: &mut &'a str) -> Result<&'a str> {
    alt((
        take_while(1..=3, '0'..='9').verify(|digits: &str| digits.parse::<u16>().is_ok_and(|value| value <= 100)),
        "X",
        "x".value("X"),
    ))
    .parse_next(input)
}

fn pair<'a>(input: &mut &'a str) -> Result<Chance<'a>> {
    let (_, onset, _, _, _, cumulative, _, _) =
        (space0, percent, space0, '(', space0, percent, space0, ')').parse_next(input)?;
    Ok(Chance { onset, cumulative })
}

/// What stands behind the name: speed, first number, pairs, end of line.
fn figures<'a>(input: &mut &'a str) -> Result<(u16, Vec<Chance<'a>>)> {
    let threshold = alt(("34".value(34), "50".value(50), "64".value(64))).parse_next(input)?;
    let (_, first) = (space1, percent).parse_next(input)?;
    let mut chances = vec![Chance { onset: first, cumulative: first }];
    let pairs: Vec<Chance<'a>> = repeat(1..=12, pair).parse_next(input)?;
    chances.extend(pairs);
    (space0, eof).void().parse_next(input)?;
    Ok((threshold, chances))
}

/// Reads a row.
pub(super) fn row(line: &str) -> Option<Row<'_>> {
    let starts = line.char_indices().filter(|(at, c)| *at > 0 && c.is_ascii_digit() && line[..*at].ends_with(' '));
    starts.into_iter().find_map(|(at, _)| {
        let name = line[..at].trim_end();
        let (threshold, chances) = figures.parse(&line[at..]).ok()?;
        (!name.is_empty()).then_some(Row { name, threshold, chances })
    })
}

/// Whether a line was meant to be a row: it has a speed and a pair.
pub(super) fn looks_like_row(line: &str) -> bool {
    let speed = [" 34 ", " 50 ", " 64 "].iter().any(|speed| line.contains(speed));
    speed && (line.contains('(') || line.matches(" X ").count() > 0)
}

#[cfg(test)]
mod tests {
    use super::row;

    #[test]
    fn rows_are_read_from_their_marks() {
        let found = row("PORT O CONNOR  50  X   1( 1)   X( 1)  12(13)   X(13)   X(13)  86(99)").unwrap();
        assert_eq!((found.name, found.threshold, found.chances.len()), ("PORT O CONNOR", 50, 7));
        assert_eq!((found.chances[3].onset, found.chances[3].cumulative), ("12", "13"));
        let found = row("GFMX 280N 890W 34 99   X(99)   X(99)   X(99)   X(99)   X(99)   X(99)").unwrap();
        assert_eq!((found.name, found.chances[0].cumulative), ("GFMX 280N 890W", "99"));
        let tight = row("25N 115W       34  X   3( 3)  57(60)  28(88)   2(90)   X(90)   X(90)").unwrap();
        assert_eq!(tight.name, "25N 115W");
        for broken in
            ["NOWHERE 35 X 1( 1)", "NOWHERE 34 X 1( 1", "34 X 1( 1)", "NOWHERE 34 X 101( 1)", "NOWHERE 34", ""]
        {
            assert_eq!(row(broken), None, "{broken}");
        }
    }
}
