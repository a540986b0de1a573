//! The forecast periods of the table: their hours, and when they start and end.

use jiff::civil::Weekday;
use jiff::{Timestamp, ToSpan, tz::Offset};

use crate::grammar::lines::Line;

/// One column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Period {
    /// From zero.
    pub(super) index: usize,
    /// Forecast hour at its end.
    pub(super) hour: u16,
    /// Its start and end, where the head of the table or the issue time gives them.
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// Its start as printed (`06Z FRI`); empty where it was not.
    pub(super) start_given: String,
    /// Its end as printed.
    pub(super) end_given: String,
}

/// The hours of a table without a line of them.
const HOURS: [u16; 7] = [12, 24, 36, 48, 72, 96, 120];
/// The first period starts this long before the product is issued.
const LEAD_HOURS: i64 = 3;

/// The periods of the table.
pub(super) fn periods(body: &[Line<'_>], issued_at: Timestamp) -> Vec<Period> {
    let hours = hours(body);
    let marks = marks(body);
    let named = marks.len() >= 2 * hours.len();
    let start = marks.first().filter(|_| named).and_then(|mark| mark.last_before(issued_at));
    let start = start.or_else(|| synoptic(issued_at));
    let end_of = |hour: u16| start.and_then(|start| start.checked_add(i64::from(hour).hours()).ok());
    let mut periods = Vec::new();
    for (index, &hour) in hours.iter().enumerate() {
        let from = match index.checked_sub(1) {
            Some(before) => end_of(hours[before]),
            None => start,
        };
        let given = |at: usize| marks.get(at).filter(|_| named).map(|mark| mark.given.clone()).unwrap_or_default();
        periods.push(Period {
            index,
            hour,
            span: from.zip(end_of(hour)),
            start_given: given(index),
            end_given: given(hours.len() + index),
        });
    }
    periods
}

/// The numbers of `FORECAST HOUR    (12)   (24)  ...`.
fn hours(body: &[Line<'_>]) -> Vec<u16> {
    let line = body.iter().find_map(|line| {
        let words = line.words().to_ascii_uppercase();
        words.strip_prefix("FORECAST HOUR").map(str::to_owned)
    });
    let line = line.unwrap_or_default();
    let numbers = line.split(['(', ')', ' ']).filter(|part| !part.is_empty());
    let hours: Vec<u16> = numbers.map_while(|part| part.parse().ok()).filter(|hour| (1..=240).contains(hour)).collect();
    let rising = hours.windows(2).all(|pair| pair[0] < pair[1]);
    if hours.is_empty() || !rising || hours.len() > 16 { HOURS.to_vec() } else { hours }
}

/// An hour of a day of the week.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    hour: i8,
    day: Weekday,
    given: String,
}

impl Mark {
    /// The last such moment at or before another.
    fn last_before(&self, at: Timestamp) -> Option<Timestamp> {
        let date = Offset::UTC.to_datetime(at).date();
        let back = date.weekday().since(self.day);
        let day = date.checked_sub(i64::from(back).days()).ok()?;
        let mark = Offset::UTC.to_timestamp(day.at(self.hour, 0, 0, 0)).ok()?;
        if mark <= at { Some(mark) } else { mark.checked_sub((7 * 24).hours()).ok() }
    }
}

/// The hours and days between the lines `FROM FROM ...` and `FORECAST HOUR`, starts first.
fn marks(body: &[Line<'_>]) -> Vec<Mark> {
    let Some(from) = body.iter().position(|line| line.words().to_ascii_uppercase().starts_with("FROM ")) else {
        return Vec::new();
    };
    let mut marks = Vec::new();
    for line in body.iter().skip(from + 1).take_while(|line| !line.words().to_ascii_uppercase().starts_with("FORECAST"))
    {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        for pair in words.windows(2) {
            let hour = pair[0].strip_suffix(['Z', 'z']).and_then(|hour| hour.parse::<i8>().ok());
            if let (Some(hour), Some(day)) = (hour.filter(|hour| (0..24).contains(hour)), weekday(pair[1])) {
                marks.push(Mark { hour, day, given: format!("{} {}", pair[0], pair[1]) });
            }
        }
    }
    marks
}

fn weekday(name: &str) -> Option<Weekday> {
    Some(match name.to_ascii_uppercase().get(..3)? {
        "MON" => Weekday::Monday,
        "TUE" => Weekday::Tuesday,
        "WED" => Weekday::Wednesday,
        "THU" => Weekday::Thursday,
        "FRI" => Weekday::Friday,
        "SAT" => Weekday::Saturday,
        "SUN" => Weekday::Sunday,
        _ => return None,
    })
}

/// The full six hours before the issue time, less the usual lead.
fn synoptic(issued_at: Timestamp) -> Option<Timestamp> {
    let start = issued_at.checked_sub(LEAD_HOURS.hours()).ok()?.as_second();
    Timestamp::from_second(start - start.rem_euclid(6 * 3600)).ok()
}

#[cfg(test)]
mod tests {
    use super::periods;
    use crate::grammar::lines::lines;

    #[test]
    fn printed_periods_become_utc() {
        let text = "               FROM    FROM \n  TIME       06Z FRI 18Z FRI\nPERIODS         TO      TO \n             18Z FRI 06Z SAT\n\n\
                    FORECAST HOUR    (12)   (24)\n";
        let found = periods(&lines(text), "2017-08-25T09:00:00Z".parse().unwrap());
        let spans: Vec<String> =
            found.iter().map(|period| format!("{} {:?}", period.hour, period.span.unwrap().1.to_string())).collect();
        assert_eq!(spans, ["12 \"2017-08-25T18:00:00Z\"", "24 \"2017-08-26T06:00:00Z\""]);
        assert_eq!((found[1].start_given.as_str(), found[1].end_given.as_str()), ("18Z FRI", "06Z SAT"));
    }

    #[test]
    fn without_them_the_issue_time_tells() {
        let found = periods(&[], "2017-08-25T09:00:00Z".parse().unwrap());
        assert_eq!(found.len(), 7);
        assert_eq!(found[0].span.unwrap().0.to_string(), "2017-08-25T06:00:00Z");
        assert_eq!(found[6].span.unwrap().1.to_string(), "2017-08-30T06:00:00Z");
        // A special one at 15:15 belongs to the noon period.
        let found = periods(&[], "2017-08-25T15:15:00Z".parse().unwrap());
        assert_eq!(found[0].span.unwrap().0.to_string(), "2017-08-25T12:00:00Z");
    }
}
