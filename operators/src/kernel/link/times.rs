//! Times of a question: UTC forms, local times, dates, and hours before the reference event.

use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, DateTime, Time, Weekday},
    tz::Offset,
};
use serde::{Deserialize, Serialize};

use super::words::{Token, number_word, ordinal};
use crate::kernel::calendar::month;

/// What a question says about time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct TimeSlots {
    /// Moments, in the order in which they are named.
    pub moments: Vec<Timestamp>,
    /// Days that are named without an hour.
    pub days: Vec<Date>,
    /// Years that are named, alone or in a date.
    pub years: Vec<i16>,
    /// Hours before the reference event (`T-48`, `two days before landfall`).
    pub horizons: Vec<i32>,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    first: usize,
    last: usize,
    hour: i8,
    minute: i8,
    /// Minutes east of Greenwich.
    offset: i32,
    /// Day of the month, for `26/0300Z`.
    day: Option<i8>,
}

#[derive(Clone, Copy, Debug)]
struct Day {
    first: usize,
    last: usize,
    date: Date,
    has_clock: bool,
}

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn weekday(word: &str) -> Option<Weekday> {
    let at = WEEKDAYS.iter().position(|d| *d == word || (word.len() >= 3 && word.len() <= 5 && d.starts_with(word)))?;
    Weekday::from_monday_zero_offset(at as i8).ok()
}

/// Minutes east of Greenwich of a zone's abbreviation or name. Names without a letter for summer time are read as
/// summer time, since tropical cyclones come in summer.
fn zone(word: &str) -> Option<i32> {
    let hours = match word {
        "z" | "utc" | "gmt" | "zulu" => 0,
        "ast" | "edt" | "eastern" | "atlantic" => -4,
        "adt" => -3,
        "est" | "cdt" | "central" => -5,
        "cst" | "mdt" | "mountain" => -6,
        "mst" | "pdt" | "pacific" => -7,
        "pst" | "akdt" => -8,
        "akst" => -9,
        "hst" | "hawaii" => -10,
        "cvt" => -1,
        "chst" => 10,
        _ => return None,
    };
    Some(hours * 60)
}

/// Reads a year: four digits between 1850 and 2100 with nothing after them.
fn year(token: &Token) -> Option<i16> {
    match token.number() {
        Some((value @ 1850..=2100, "")) if token.digits() == 4 => Some(value as i16),
        _ => None,
    }
}

/// Reads all times of a question. Dates without a year take the year named nearest, else that of `as_of`; a weekday
/// alone is the last such day up to `as_of`.
pub(super) fn read(tokens: &[Token], as_of: Option<Timestamp>) -> TimeSlots {
    let mut slots = TimeSlots { horizons: horizons(tokens), ..TimeSlots::default() };
    let today = as_of.map(|t| Offset::UTC.to_datetime(t).date());
    let named_years: Vec<(usize, i16)> = tokens.iter().enumerate().filter_map(|(i, t)| Some((i, year(t)?))).collect();
    let default_year = |at: usize| {
        let nearest = named_years.iter().min_by_key(|(i, _)| i.abs_diff(at)).map(|(_, y)| *y);
        nearest.or(today.map(|d| d.year()))
    };
    let mut days = days(tokens, &default_year, today);
    let clocks = clocks(tokens, &days);
    for clock in &clocks {
        if let Some(at) = attach(clock, &mut days, today) {
            slots.moments.push(at);
        }
    }
    slots.days = days.iter().filter(|d| !d.has_clock).map(|d| d.date).collect();
    slots.years = named_years.into_iter().map(|(_, y)| y).collect();
    slots.years.dedup();
    slots
}

/// The moment of a clock time: its own day of the month, the day that stands nearest (the next one if both are near), or today.
fn attach(clock: &Clock, days: &mut [Day], today: Option<Date>) -> Option<Timestamp> {
    let distance = |day: &Day| {
        if day.first > clock.last { day.first - clock.last } else { clock.first.saturating_sub(day.last) * 2 }
    };
    let date = match clock.day {
        Some(number) => {
            let base = days.iter().min_by_key(|d| distance(d)).map(|d| d.date).or(today)?;
            day_near(number, base)?
        }
        None => match days.iter_mut().min_by_key(|d| distance(d)) {
            Some(day) => {
                day.has_clock = true;
                day.date
            }
            None => today?,
        },
    };
    let time = Time::new(clock.hour, clock.minute, 0, 0).ok()?;
    let local = DateTime::from_parts(date, time);
    let utc = Offset::UTC.to_timestamp(local).ok()?;
    utc.checked_sub(SignedDuration::from_mins(i64::from(clock.offset))).ok()
}

/// The date with this day of the month that lies nearest to `base`.
fn day_near(number: i8, base: Date) -> Option<Date> {
    let around = [-1i32, 0, 1].into_iter().filter_map(|shift| {
        let first = base.first_of_month();
        let first = if shift < 0 { first.yesterday().ok()?.first_of_month() } else { first };
        let first = if shift > 0 { base.last_of_month().tomorrow().ok()? } else { first };
        Date::new(first.year(), first.month(), number).ok()
    });
    around.min_by_key(|d| d.since(base).map(|s| s.get_days().abs()).unwrap_or(i32::MAX))
}

fn days(tokens: &[Token], default_year: &dyn Fn(usize) -> Option<i16>, today: Option<Date>) -> Vec<Day> {
    let mut found = Vec::new();
    let mut at = 0;
    let lower = |i: usize| tokens.get(i).map(|t| t.lower.as_str()).unwrap_or("");
    let day_of = |i: usize| match tokens.get(i).and_then(Token::number) {
        Some((value @ 1..=31, "" | "st" | "nd" | "rd" | "th")) => Some((value as i8, 1)),
        _ => match ordinal(tokens, i) {
            Some((value @ 1..=31, taken)) => Some((value as i8, taken)),
            _ => None,
        },
    };
    while at < tokens.len() {
        let last_day = found.last().map(|d: &Day| d.last);
        let mut push = |last: usize, date: Option<Date>| {
            if let Some(date) = date {
                found.push(Day { first: at, last, date, has_clock: false });
            }
            last + 1
        };
        // 2017-08-26, 2017/08/26
        if let Some(y) = year(&tokens[at])
            && matches!(lower(at + 1), "-" | "/")
            && let (Some((m @ 1..=12, "")), Some((d @ 1..=31, ""))) =
                (tokens.get(at + 2).and_then(Token::number), tokens.get(at + 4).and_then(Token::number))
            && lower(at + 3) == lower(at + 1)
        {
            at = push(at + 4, Date::new(y, m as i8, d as i8).ok());
            continue;
        }
        // 8/26/2017
        if let (Some((m @ 1..=12, "")), "/", Some((d @ 1..=31, "")), "/", Some(y)) = (
            tokens[at].number(),
            lower(at + 1),
            tokens.get(at + 2).and_then(Token::number),
            lower(at + 3),
            tokens.get(at + 4).and_then(year),
        ) {
            at = push(at + 4, Date::new(y, m as i8, d as i8).ok());
            continue;
        }
        // 26 August 2017, the 26th of August
        if let Some((d, taken)) = day_of(at) {
            let name = at + taken + usize::from(lower(at + taken) == "of");
            if let Some(m) = month(lower(name)) {
                let mut after = name + 1;
                after += usize::from(matches!(lower(after), "," | "of" | "."));
                let (y, last) = match tokens.get(after).and_then(year) {
                    Some(y) => (Some(y), after),
                    None => (default_year(at), name),
                };
                at = push(last, y.and_then(|y| Date::new(y, m, d).ok()));
                continue;
            }
        }
        // August 26, 2017
        if let Some(m) = month(lower(at)) {
            let number = at + 1 + usize::from(matches!(lower(at + 1), "the" | "."));
            let followed = |end: usize| matches!(lower(end), ":" | "am" | "pm" | "utc" | "z");
            if let Some((d, taken)) = day_of(number)
                && !followed(number + taken)
            {
                let end = number + taken;
                let after = end + usize::from(matches!(lower(end), "," | "of"));
                let (y, last) = match tokens.get(after).and_then(year) {
                    Some(y) => (Some(y), after),
                    None => (default_year(at), end - 1),
                };
                at = push(last, y.and_then(|y| Date::new(y, m, d).ok()));
                continue;
            }
        }
        // A weekday that no date follows or goes before.
        if let Some(wanted) = weekday(lower(at))
            && let Some(today) = today
        {
            let date_near = (at + 1..at + 4)
                .any(|i| month(lower(i)).is_some() || tokens.get(i).and_then(year).is_some())
                || last_day.is_some_and(|last| at - last <= 2);
            if !date_near {
                let back = i32::from(today.weekday().since(wanted));
                at = push(at, today.checked_sub(SignedDuration::from_hours(24 * i64::from(back))).ok());
                continue;
            }
        }
        at += 1;
    }
    found
}

fn clocks(tokens: &[Token], days: &[Day]) -> Vec<Clock> {
    let mut found: Vec<Clock> = Vec::new();
    let lower = |i: usize| tokens.get(i).map(|t| t.lower.as_str()).unwrap_or("");
    let mut at = 0;
    while at < tokens.len() {
        if let Some(day) = days.iter().find(|d| (d.first..=d.last).contains(&at)) {
            at = day.last + 1;
            continue;
        }
        let clock = clock_at(tokens, at, &lower);
        at = clock.map_or(at + 1, |c| c.last + 1);
        found.extend(clock);
    }
    found
}

fn clock_at<'a>(tokens: &'a [Token], at: usize, lower: &dyn Fn(usize) -> &'a str) -> Option<Clock> {
    let make = |last: usize, hour: u32, minute: u32, offset: i32, day: Option<i8>| {
        let whole = hour < 24 && minute < 60;
        whole.then_some(Clock { first: at, last, hour: hour as i8, minute: minute as i8, offset, day })
    };
    if matches!(lower(at), "noon" | "midnight" | "midday") {
        let hour = if lower(at) == "midnight" { 0 } else { 12 };
        let (offset, last) = zone_after(at + 1, lower).unwrap_or((0, at));
        return make(last, hour, 0, offset, None);
    }
    let (value, suffix) = tokens.get(at)?.number()?;
    let digits = tokens[at].digits();
    // 26/0300Z
    if digits <= 2 && suffix.is_empty() && lower(at + 1) == "/" {
        let next = tokens.get(at + 2)?;
        let (clock, after) = next.number()?;
        if next.digits() == 4
            && (after == "z" || (after.is_empty() && matches!(lower(at + 3), "z" | "utc")))
            && (1..=31).contains(&value)
        {
            return make(at + 2 + usize::from(after.is_empty()), clock / 100, clock % 100, 0, Some(value as i8));
        }
        return None;
    }
    // 18:00Z, 6:30 PM EDT
    if digits <= 2 && suffix.is_empty() && lower(at + 1) == ":" {
        let next = tokens.get(at + 2)?;
        let (minute, after) = next.number()?;
        if next.digits() != 2 {
            return None;
        }
        let after_seconds =
            if lower(at + 3) == ":" && tokens.get(at + 4).is_some_and(|t| t.digits() == 2) { at + 4 } else { at + 2 };
        let (half, end) = match after {
            "am" | "pm" => (Some(after == "pm"), after_seconds),
            _ => half_after(after_seconds + 1, lower).map_or((None, after_seconds), |(pm, last)| (Some(pm), last)),
        };
        let (offset, last) = match after {
            "z" => (0, end),
            _ => zone_after(end + 1, lower).unwrap_or((0, end)),
        };
        return make(last, half_hour(value, half), minute, offset, None);
    }
    // 0300Z, 0300 UTC, 1600 local
    if digits == 4 && (suffix == "z" || (suffix.is_empty() && zone_after(at + 1, lower).is_some())) {
        let (offset, last) = if suffix == "z" { (0, at) } else { zone_after(at + 1, lower)? };
        return make(last, value / 100, value % 100, offset, None);
    }
    // 8 PM EDT, 8pm, 00Z, 06 UTC
    if digits <= 2 {
        let half = match suffix {
            "am" | "pm" => Some((suffix == "pm", at)),
            "" => half_after(at + 1, lower),
            _ => None,
        };
        if let Some((pm, end)) = half {
            let (offset, last) = zone_after(end + 1, lower).unwrap_or((0, end));
            return make(last, half_hour(value, Some(pm)), 0, offset, None);
        }
        if suffix == "z" {
            return make(at, value, 0, 0, None);
        }
        if suffix.is_empty() && matches!(lower(at + 1), "z" | "utc" | "gmt") {
            return make(at + 1, value, 0, 0, None);
        }
    }
    None
}

fn half_hour(hour: u32, pm: Option<bool>) -> u32 {
    match pm {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    }
}

/// `PM`, `p.m.` and where it ends.
fn half_after<'a>(at: usize, lower: &dyn Fn(usize) -> &'a str) -> Option<(bool, usize)> {
    match lower(at) {
        "am" => Some((false, at)),
        "pm" => Some((true, at)),
        half @ ("a" | "p") if lower(at + 1) == "." && lower(at + 2) == "m" => {
            Some((half == "p", at + 2 + usize::from(lower(at + 3) == ".")))
        }
        _ => None,
    }
}

fn zone_after<'a>(at: usize, lower: &dyn Fn(usize) -> &'a str) -> Option<(i32, usize)> {
    let start = at + usize::from(lower(at) == "(");
    let offset = zone(lower(start))?;
    let more = matches!(lower(start + 1), "time" | "daylight" | "standard");
    let last = start + usize::from(more) + usize::from(more && lower(start + 2) == "time");
    Some((offset, last))
}

/// Hours before the reference event: `T-48`, `T minus 48`, `48 hours before`, `two and a half days out`, `a day and a half before landfall`.
fn horizons(tokens: &[Token]) -> Vec<i32> {
    let lower = |i: usize| tokens.get(i).map(|t| t.lower.as_str()).unwrap_or("");
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if lower(at) == "t" {
            let number = at + 1 + usize::from(matches!(lower(at + 1), "-" | "minus"));
            if number > at + 1
                && let Some((value @ 1..=240, "" | "h" | "hr" | "hrs")) = tokens.get(number).and_then(Token::number)
            {
                found.push(value as i32);
            }
        }
        let unit = match lower(at) {
            "hour" | "hours" | "h" | "hr" | "hrs" => 2,
            "day" | "days" => 48,
            _ => continue,
        };
        let (halves, next) = match duration_before(tokens, at, &lower) {
            Some(whole) => (whole * unit, at + 1),
            None => continue,
        };
        // `a day and a half`
        let extra = lower(next) == "and" && matches!(lower(next + 1), "a" | "one") && lower(next + 2) == "half";
        let halves = halves + if extra { unit } else { 0 };
        let end = if extra { next + 3 } else { next };
        let counts_back = match lower(end) {
            "out" => true,
            "before" | "ahead" | "prior" | "to" | "from" | "until" | "till" | "short" => (end + 1..end + 6).any(|i| {
                matches!(
                    lower(i),
                    "landfall" | "closest" | "arrival" | "approach" | "impact" | "closing" | "reaching" | "hitting"
                )
            }),
            _ => false,
        };
        if counts_back {
            found.push((halves / 4) as i32);
        }
    }
    found.dedup();
    found
}

/// The amount that stands before a unit, in halves.
fn duration_before<'a>(tokens: &[Token], unit: usize, lower: &dyn Fn(usize) -> &'a str) -> Option<u32> {
    let before = |back: usize| unit.checked_sub(back);
    let one = before(1)?;
    // two and a half days
    if lower(one) == "half" && before(3).is_some_and(|i| lower(i) == "and") {
        let whole = amount(tokens, before(4)?)?;
        return Some(whole * 2 + 1);
    }
    if lower(one) == "half" && before(2).is_some_and(|i| matches!(lower(i), "a" | "half")) {
        return Some(1);
    }
    // 2.5 days
    if let (Some(dot), Some(whole)) = (before(2), before(3))
        && lower(dot) == "."
        && lower(one) == "5"
    {
        return amount(tokens, whole).map(|w| w * 2 + 1);
    }
    let at = if lower(one) == "-" { before(2)? } else { one };
    amount(tokens, at).map(|w| w * 2)
}

fn amount(tokens: &[Token], at: usize) -> Option<u32> {
    let token = tokens.get(at)?;
    if let Some((value, "")) = token.number() {
        return Some(value);
    }
    match token.lower.as_str() {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        _ => {
            let tens = at.checked_sub(1).and_then(|i| number_word(tokens, i)).filter(|(_, taken)| *taken >= 2);
            let dashed = at.checked_sub(2).and_then(|i| number_word(tokens, i)).filter(|(_, taken)| *taken == 3);
            dashed.or(tens).or_else(|| number_word(tokens, at)).map(|(value, _)| value)
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{super::words::tokens, read};

    fn moments(text: &str) -> Vec<String> {
        let as_of: Timestamp = "2017-08-31T18:00:00Z".parse().unwrap_or_default();
        read(&tokens(text), Some(as_of)).moments.iter().map(|t| t.to_string()[..16].to_string()).collect()
    }

    fn horizons(text: &str) -> Vec<i32> {
        read(&tokens(text), None).horizons
    }

    #[test]
    fn universal_time_in_many_forms() {
        for text in [
            "at 0300 UTC on 21 June 2017",
            "issued 2017-06-21 03:00 UTC",
            "(03:00Z 21 Jun 2017)",
            "2017-06-21T03:00Z",
            "21 June 2017, 03 UTC",
            "June 21, 2017 at 0300Z",
            "post of 21 June 2017 at 03:00 GMT",
            "on the 21st of June 2017 at 03Z",
            "10 PM CDT on Tuesday, June 20, 2017",
            "11 p.m. EDT on the 20th of June, 2017",
        ] {
            assert_eq!(moments(text), ["2017-06-21T03:00"], "{text}");
        }
    }

    #[test]
    fn clocks_share_a_date_and_bare_days_take_the_month() {
        assert_eq!(moments("between 0300 UTC and 0900 UTC on 20 June 2017"), ["2017-06-20T03:00", "2017-06-20T09:00"]);
        assert_eq!(moments("valid 26/0300Z"), ["2017-08-26T03:00"]);
        assert_eq!(moments("valid 01/0600Z"), ["2017-09-01T06:00"]);
        assert_eq!(moments("at noon EDT on Wednesday"), ["2017-08-30T16:00"]);
        assert_eq!(
            moments("from 0300 UTC on 20 June 2017 to 0900 UTC on 21 June 2017"),
            ["2017-06-20T03:00", "2017-06-21T09:00"]
        );
    }

    #[test]
    fn hours_before_the_event() {
        assert_eq!(horizons("the T-48 files"), [48]);
        assert_eq!(horizons("T minus 36"), [36]);
        assert_eq!(horizons("about two and a half days before landfall or closest approach"), [60]);
        assert_eq!(horizons("a day and a half before landfall"), [36]);
        assert_eq!(horizons("with 48 hours out"), [48]);
        assert_eq!(horizons("ninety-six hours before landfall"), [96]);
        assert!(horizons("the five-day chance within 120 hours through hour 72").is_empty());
    }
}
