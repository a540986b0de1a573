//! One event line: `/O.CON.KMLB.TR.W.1001.000000T0000Z-000000T0000Z/`.

use jiff::{civil::Date, tz::Offset};
use winnow::{Result, prelude::*, token::take_while};

use super::EventTime;
use crate::grammar::moment::spoken_form;

/// What an event line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// `NEW`, `CON`, `CAN` and so on.
    action: String,
    /// The office, such as `KMLB`.
    pub(super) office: String,
    /// `TR`, `HU`, `SS` and so on.
    phenomenon: String,
    /// `W` or `A`.
    significance: String,
    /// The event's number.
    pub(super) number: String,
    /// Its start, where it is set.
    pub(super) start: EventTime,
    /// Its end, where it is set.
    pub(super) end: EventTime,
}

const KINDS: [(&str, &str); 8] = [
    ("HU", "Hurricane"),
    ("TR", "Tropical Storm"),
    ("SS", "Storm Surge"),
    ("TY", "Typhoon"),
    ("HI", "Inland Hurricane"),
    ("TI", "Inland Tropical Storm"),
    ("EW", "Extreme Wind"),
    ("HF", "Hurricane Force Wind"),
];

impl Event {
    /// The hazard: `Tropical Storm`.
    pub(super) fn kind(&self) -> &'static str {
        KINDS.iter().find(|(code, _)| *code == self.phenomenon).map_or("Tropical", |(_, kind)| *kind)
    }

    /// `Watch` or `Warning`.
    pub(super) fn level(&self) -> &'static str {
        match self.significance.as_str() {
            "A" => "Watch",
            "S" => "Statement",
            "Y" => "Advisory",
            _ => "Warning",
        }
    }

    /// What changed, in the pack's words.
    pub(super) fn change(&self) -> &'static str {
        match self.action.as_str() {
            "NEW" => "issued",
            "CAN" => "discontinued",
            "EXP" => "expired",
            "UPG" => "upgraded",
            "EXT" | "EXA" | "EXB" => "extended",
            "COR" => "corrected",
            _ => "continued",
        }
    }

    /// `, from ... to ...`, as far as the line says.
    pub(super) fn spoken_times(&self) -> String {
        let part = |lead: &str, at: EventTime| at.map(|at| format!(", {lead} {}", spoken_form(at))).unwrap_or_default();
        format!("{}{}", part("from", self.start), part("until", self.end))
    }
}

fn letters<'a>(length: usize) -> impl Parser<&'a str, &'a str, winnow::error::ContextError> {
    take_while(length..=length, |c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// `240707T1200Z`; zeros are no time.
fn time(input: &mut &str) -> Result<EventTime> {
    let digits = |length: usize| take_while(length..=length, |c: char| c.is_ascii_digit());
    let (date, _, clock, _): (&str, _, &str, _) = (digits(6), 'T', digits(4), 'Z').parse_next(input)?;
    let part = |text: &str, from: usize| text.get(from..from + 2).and_then(|two| two.parse::<i8>().ok());
    let moment = (|| {
        let (year, month, day) = (part(date, 0)?, part(date, 2)?, part(date, 4)?);
        let date = Date::new(2000 + i16::from(year), month, day).ok()?;
        let (hour, minute) = (part(clock, 0)?, part(clock, 2)?);
        let time = jiff::civil::Time::new(hour, minute, 0, 0).ok()?;
        Offset::UTC.to_timestamp(date.to_datetime(time)).ok()
    })();
    Ok(moment)
}

fn line(input: &mut &str) -> Result<Event> {
    let (_, _, _, action, _, office) = ('/', letters(1), '.', letters(3), '.', letters(4)).parse_next(input)?;
    let (_, phenomenon, _, significance, _, number) =
        ('.', letters(2), '.', letters(1), '.', letters(4)).parse_next(input)?;
    let (_, start, _, end, _) = ('.', time, '-', time, '/').parse_next(input)?;
    Ok(Event {
        action: action.into(),
        office: office.into(),
        phenomenon: phenomenon.into(),
        significance: significance.into(),
        number: number.into(),
        start,
        end,
    })
}

/// Reads an event line.
pub(super) fn event(words: &str) -> Option<Event> {
    line.parse(words).ok()
}

#[cfg(test)]
mod tests {
    use super::event;

    #[test]
    fn event_lines_are_read_or_refused() {
        let found = event("/O.NEW.KMLB.HU.A.1014.220928T1200Z-000000T0000Z/").unwrap();
        assert_eq!((found.kind(), found.level(), found.change()), ("Hurricane", "Watch", "issued"));
        assert_eq!((found.start.unwrap().to_string().as_str(), found.end), ("2022-09-28T12:00:00Z", None));
        for other in ["/O.NEW.KMLB.HU.A.1014/", "/O.NEW.KMLB.HU.A.1014.220928T1200Z-000000T0000Z", "", "//"] {
            assert_eq!(event(other), None, "{other}");
        }
    }
}
