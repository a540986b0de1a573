//! Times as forecasters write them, made UTC.
//!
//! An issue time names its zone by letters that stand for a fixed offset (`CDT` is always UTC-5), so no zone database
//! is needed. A `day/time` such as `26/0000Z` belongs to the month in which it lies nearest to the issue time.

use jiff::{Timestamp, ToSpan, civil, tz};
use winnow::{
    Result,
    ascii::space0,
    combinator::{alt, opt},
    prelude::*,
    token::take_while,
};

use super::units::{gap, word};

/// The years in which a tropical cyclone product can have been issued.
const YEARS: std::ops::RangeInclusive<i16> = 1851..=2200;

const ZONES: [(&str, i8); 24] = [
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("NDT", -2),
    ("CVT", -1),
    ("ADT", -3),
    ("AST", -4),
    ("EDT", -4),
    ("EST", -5),
    ("CDT", -5),
    ("CST", -6),
    ("MDT", -6),
    ("MST", -7),
    ("PDT", -7),
    ("PST", -8),
    ("AKDT", -8),
    ("AKST", -9),
    ("HDT", -9),
    ("HST", -10),
    ("SST", -11),
    ("CHST", 10),
    ("JST", 9),
    ("WAT", 1),
    ("AZOT", -1),
];

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/// A clock time with its zone, not yet on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Hour of the day, 0 to 24.
    pub hour: i8,
    /// Minute.
    pub minute: i8,
    /// Hours east of Greenwich.
    pub offset: i8,
}

impl Clock {
    /// The moment at which a clock of this zone shows this time on a day.
    pub fn on(self, date: civil::Date) -> Option<Timestamp> {
        // 2400 is the end of its day.
        let (hour, later) = if self.hour == 24 { (0, 1) } else { (self.hour, 0) };
        let local = date.at(hour, self.minute, 0, 0).checked_add(later.days()).ok()?;
        tz::offset(self.offset).to_timestamp(local).ok()
    }

    /// The first moment at or after `start` at which a clock of this zone shows this time.
    pub fn next_after(self, start: Timestamp) -> Option<Timestamp> {
        let date = tz::offset(self.offset).to_datetime(start).date();
        [date, date.tomorrow().ok()?].into_iter().filter_map(|date| self.on(date)).find(|at| *at >= start)
    }
}

/// The offset of a zone's letters, in hours east of Greenwich.
pub fn zone_offset(letters: &str) -> Option<i8> {
    ZONES.iter().find(|(zone, _)| zone.eq_ignore_ascii_case(letters)).map(|(_, offset)| *offset)
}

fn digits_as_clock(digits: &str) -> Option<(i8, i8)> {
    let (hour, minute) = match digits.len() {
        1 | 2 => (digits, "0"),
        3 | 4 => digits.split_at(digits.len() - 2),
        _ => return None,
    };
    let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
    (minute < 60 && (hour < 24 || (hour == 24 && minute == 0))).then_some((hour, minute))
}

fn half_day(hour: i8, minute: i8, afternoon: bool) -> Option<(i8, i8)> {
    match (hour, afternoon) {
        (12, false) => Some((0, minute)),
        (12, true) => Some((12, minute)),
        (1..=11, false) => Some((hour, minute)),
        (1..=11, true) => Some((hour + 12, minute)),
        _ => None,
    }
}

/// A clock time with its zone: `0300 UTC`, `1000 PM CDT`, `8 PM CVT`, `0900Z`, `12 noon EDT`, `midnight AST`, `7:30 AM EDT`.
pub fn clock(input: &mut &str) -> Result<Clock> {
    let named = (
        opt((alt((word("12"), word("1200"))), space0)),
        alt((word("NOON").value((12, 0)), word("MIDNIGHT").value((0, 0)), word("MIDNITE").value((0, 0)))),
    )
        .map(|(_, time)| time);
    let digital = (
        (take_while(1..=4, '0'..='9'), opt((':', take_while(2, '0'..='9')))).take(),
        gap,
        opt(alt((alt((word("AM"), word("A.M."))).value(false), alt((word("PM"), word("P.M."))).value(true)))),
    )
        .verify_map(|(digits, (), half): (&str, (), Option<bool>)| {
            let (hour, minute) = digits_as_clock(&digits.replace(':', ""))?;
            match half {
                Some(afternoon) => half_day(hour, minute, afternoon),
                None => Some((hour, minute)),
            }
        });
    let (hour, minute) = alt((named, digital)).parse_next(input)?;
    gap.parse_next(input)?;
    let offset = take_while(1..=4, |c: char| c.is_ascii_alphabetic()).verify_map(zone_offset).parse_next(input)?;
    Ok(Clock { hour, minute, offset })
}

/// A day and a UTC time as in `26/0000Z`, not yet in a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayTime {
    /// Day of the month.
    pub day: i8,
    /// Hour.
    pub hour: i8,
    /// Minute.
    pub minute: i8,
}

/// `26/0000Z`, also `26/00Z`.
pub fn day_time(input: &mut &str) -> Result<DayTime> {
    (
        take_while(1..=2, '0'..='9').parse_to(),
        '/',
        take_while(2..=4, '0'..='9'),
        space0,
        opt(alt((word("Z"), word("UTC")))),
    )
        .verify_map(|(day, _, digits, ..): (i8, _, &str, _, _)| {
            let (hour, minute) = digits_as_clock(digits)?;
            (1..=31).contains(&day).then_some(DayTime { day, hour, minute })
        })
        .parse_next(input)
}

impl DayTime {
    /// The moment nearest to `issued` that fits; `None` where no month near it has such a day.
    pub fn near(self, issued: Timestamp) -> Option<Timestamp> {
        let month = tz::Offset::UTC.to_datetime(issued).date().first_of_month();
        let clock = Clock { hour: self.hour, minute: self.minute, offset: 0 };
        [-1, 0, 1]
            .into_iter()
            .filter_map(|months| month.checked_add(months.months()).ok())
            .filter_map(|month| civil::Date::new(month.year(), month.month(), self.day).ok())
            .filter_map(|date| clock.on(date))
            .map(|at| ((at.as_second() - issued.as_second()).abs(), at))
            // Half a month is the most that a day of the month can say.
            .filter(|(away, _)| *away <= 16 * 24 * 3600)
            .min()
            .map(|(_, at)| at)
    }
}

/// An issue line: what it says, or what is wrong with it. `None` where the line is no issue line at all.
///
/// `0300 UTC FRI AUG 25 2017`, `1000 PM CDT Thu Aug 24 2017`, `1900Z TUE JUN 05 2001`, `8 PM CVT SUN SEP 1 2019`.
pub fn issue_time(line: &str) -> Option<std::result::Result<Timestamp, String>> {
    let mut rest = line.trim();
    let clock = clock.parse_next(&mut rest);
    let fields: Vec<&str> = match &clock {
        Ok(_) => rest,
        Err(_) => line,
    }
    .split(|c: char| c.is_whitespace() || c == ',' || c == '/')
    .filter(|field| !field.is_empty())
    .collect();
    // From the right: year, day, month; what is left is the weekday or the same time in a second zone.
    let [before @ .., month, day, year] = fields.as_slice() else {
        return None;
    };
    let n_month =
        MONTHS.iter().position(|name| month.get(..3).is_some_and(|three| three.eq_ignore_ascii_case(name)))?;
    if !year.bytes().all(|b| b.is_ascii_digit()) || !day.bytes().all(|b| b.is_ascii_digit()) || before.len() > 8 {
        return None;
    }
    let Ok(clock) = clock else {
        return Some(Err(format!("`{}` starts with no time and zone that are known", line.trim())));
    };
    Some(on_date(clock, year, n_month as i8 + 1, day))
}

fn on_date(clock: Clock, year: &str, month: i8, day: &str) -> std::result::Result<Timestamp, String> {
    let n_year: i16 = year.parse().map_err(|_| format!("`{year}` is no year"))?;
    if !YEARS.contains(&n_year) {
        return Err(format!("the year {year} is outside {} to {}", YEARS.start(), YEARS.end()));
    }
    let n_day: i8 = day.parse().map_err(|_| format!("`{day}` is no day of a month"))?;
    let date = civil::Date::new(n_year, month, n_day)
        .map_err(|_| format!("{} {n_year} has no day {day}", MONTHS[usize::from(month.unsigned_abs()) - 1]))?;
    clock.on(date).ok_or_else(|| format!("{date} has no such time"))
}

/// A moment as keys and evidence texts write it: `2017-08-25T03:00Z`.
pub fn minute_form(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%MZ").to_string()
}

/// A moment as sentences write it: `2017-08-25 03:00 UTC`.
pub fn spoken_form(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(line: &str) -> String {
        match issue_time(line) {
            Some(Ok(at)) => minute_form(at),
            Some(Err(reason)) => reason,
            None => "none".into(),
        }
    }

    #[test]
    fn issue_lines_become_utc() {
        for (line, expected) in [
            ("0300 UTC FRI AUG 25 2017", "2017-08-25T03:00Z"),
            ("1000 PM CDT Thu Aug 24 2017", "2017-08-25T03:00Z"),
            ("1900Z TUE JUN 05 2001", "2001-06-05T19:00Z"),
            ("8 PM CVT SUN SEP 1 2019", "2019-09-01T21:00Z"),
            ("NOON EDT THU SEP 6 1990", "1990-09-06T16:00Z"),
            ("12 MIDNIGHT AST Fri Sep 08 2017", "2017-09-08T04:00Z"),
            ("1200 AM EDT Fri Sep 08 2017", "2017-09-08T04:00Z"),
            ("1130 PM HST Tue Dec 31 2019", "2020-01-01T09:30Z"),
            ("500 AM CHST Tue Dec 31 2019", "2019-12-30T19:00Z"),
            ("2400Z SAT FEB 28 2004", "2004-02-29T00:00Z"),
        ] {
            assert_eq!(issued(line), expected, "{line}");
        }
    }

    #[test]
    fn impossible_dates_are_named() {
        assert_eq!(issued("0300 UTC FRI AUG 25 0000"), "the year 0000 is outside 1851 to 2200");
        assert_eq!(issued("0300 UTC FRI FEB 31 2017"), "FEB 2017 has no day 31");
        assert!(issued("2500 UTC FRI FEB 01 2017").contains("no time and zone"));
        assert!(issued("0300 XYZ FRI FEB 01 2017").contains("no time and zone"));
        assert_eq!(issued("HURRICANE HARVEY FORECAST/ADVISORY NUMBER  19"), "none");
        assert_eq!(issued(""), "none");
    }

    #[test]
    fn days_wrap_over_months_and_years() {
        let near = |line: &str, digits: &str| {
            let issued = issue_time(line).unwrap().unwrap();
            minute_form(day_time.parse(digits).unwrap().near(issued).unwrap())
        };
        assert_eq!(near("0300 UTC FRI AUG 25 2017", "26/0000Z"), "2017-08-26T00:00Z");
        assert_eq!(near("2100 UTC TUE OCT 30 2012", "04/0000Z"), "2012-11-04T00:00Z");
        assert_eq!(near("2100 UTC SAT DEC 31 2005", "02/1800Z"), "2006-01-02T18:00Z");
        assert_eq!(near("0000 UTC SUN JAN 01 2006", "31/2100Z"), "2005-12-31T21:00Z");
        let issued = issue_time("0300 UTC WED FEB 28 2018").unwrap().unwrap();
        assert_eq!(day_time.parse("31/0000Z").unwrap().near(issued), None);
    }

    #[test]
    fn clocks_find_their_next_day() {
        let start = issue_time("1000 PM CDT Thu Aug 24 2017").unwrap().unwrap();
        let clock = clock.parse("100 AM CDT").unwrap();
        assert_eq!(minute_form(clock.next_after(start).unwrap()), "2017-08-25T06:00Z");
    }
}
