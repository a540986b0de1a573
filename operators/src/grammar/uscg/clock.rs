//! Local times that posts give (`at 8 p.m. Friday`, `as of noon`, `at 0600 on October 29, 2012`), in UTC.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Timestamp, ToSpan, tz::TimeZone};

use super::areas::posix_zone;
use super::words::Word;
use crate::kernel::calendar::month;

/// The day of a local time, as far as the text gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    Unsaid,
    LastNight,
    Named(Weekday),
    Dated(Date),
}

/// A local time among words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// Its words.
    pub(super) words: Range<usize>,
    minutes: i64,
    day: Day,
}

/// The local times among words, in text order.
pub(super) fn clocks(words: &[Word]) -> Vec<Clock> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some((length, minutes)) = time_at(words, at) else {
            at += 1;
            continue;
        };
        let (end, day) = day_at(words, at + length);
        found.push(Clock { words: at..end, minutes, day });
        at = end;
    }
    found
}

fn form(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| word.form.as_str())
}

/// Minutes from midnight, and how many words say so.
fn time_at(words: &[Word], at: usize) -> Option<(usize, i64)> {
    let here = form(words, at);
    match here {
        "noon" => return Some((1, 720)),
        "midnight" => return Some((1, 0)),
        _ => {}
    }
    if here.len() == 4 && here.bytes().all(|b| b.is_ascii_digit()) {
        let local = form(words, at + 1) == "local" || form(words, at + 1) == "on" || form(words, at + 1) == "hours";
        let led = at > 0 && form(words, at - 1) == "at";
        let (hour, minute) = (here[..2].parse::<i64>().ok()?, here[2..].parse::<i64>().ok()?);
        let length = if form(words, at + 1) == "local" && form(words, at + 2) == "time" { 3 } else { 1 };
        return ((local || led) && hour < 24 && minute < 60).then_some((length, hour * 60 + minute));
    }
    let (digits, half, length) = match here
        .strip_suffix("am")
        .map(|digits| (digits, 0))
        .or(here.strip_suffix("pm").map(|digits| (digits, 12)))
    {
        Some((digits, half)) => (digits, half, 1),
        None => match form(words, at + 1) {
            "am" => (here, 0, 2),
            "pm" => (here, 12, 2),
            _ => return None,
        },
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute) = (hour.parse::<i64>().ok()?, minute.parse::<i64>().ok()?);
    ((1..=12).contains(&hour) && (0..60).contains(&minute)).then_some((length, (hour % 12 + half) * 60 + minute))
}

/// The day behind a time, and where its words end.
fn day_at(words: &[Word], behind: usize) -> (usize, Day) {
    let mut at = behind;
    while matches!(form(words, at), "," | "on" | "(" | "local" | "time" | "edt" | "est" | "cdt" | "cst" | "hst" | "ast")
        && at < behind + 3
    {
        at += 1;
    }
    if let Some(weekday) = weekday(form(words, at)) {
        return (at + 1, Day::Named(weekday));
    }
    match (form(words, at), form(words, at + 1)) {
        ("last", "night") => return (at + 2, Day::LastNight),
        ("yesterday", _) => return (at + 1, Day::LastNight),
        ("today" | "tonight", _) => return (at + 1, Day::Unsaid),
        ("this", "morning" | "afternoon" | "evening") => return (at + 2, Day::Unsaid),
        _ => {}
    }
    match date_at(words, at) {
        Some((end, date)) => (end, Day::Dated(date)),
        None => (behind, Day::Unsaid),
    }
}

/// `October 29, 2012` at a word, and where it ends.
pub(super) fn date_at(words: &[Word], at: usize) -> Option<(usize, Date)> {
    let name = form(words, at);
    let month = month(name)?;
    let day = form(words, at + 1).parse::<i8>().ok()?;
    let comma = usize::from(form(words, at + 2) == ",");
    let year = form(words, at + 2 + comma).parse::<i16>().ok().filter(|year| (1851..=2200).contains(year))?;
    Some((at + 3 + comma, Date::new(year, month, day).ok()?))
}

fn weekday(form: &str) -> Option<Weekday> {
    Some(match form.get(..3)? {
        "mon" => Weekday::Monday,
        "tue" => Weekday::Tuesday,
        "wed" => Weekday::Wednesday,
        "thu" => Weekday::Thursday,
        "fri" => Weekday::Friday,
        "sat" => Weekday::Saturday,
        "sun" => Weekday::Sunday,
        _ => return None,
    })
    .filter(|_| form.ends_with("day") || matches!(form.len(), 3..=5))
}

impl Clock {
    /// The moment in UTC, for a place in that state; `None` where state or day leave it open, or the words contradict each
    /// other (`8 a.m. last night`). `later` says that it lies behind the issue time, else it lies before.
    pub(super) fn resolve(&self, state: &str, issued_at: Option<Timestamp>, later: bool) -> Option<Timestamp> {
        let zone = TimeZone::posix(posix_zone(state)?).ok()?;
        let today = issued_at.map(|at| zone.to_datetime(at).date());
        let date = match self.day {
            Day::Dated(date) => date,
            Day::LastNight if self.minutes >= 17 * 60 => today?.yesterday().ok()?,
            Day::LastNight => return None,
            Day::Named(weekday) => {
                let today = today?;
                let back = today.weekday().since(weekday);
                let days = if later && back > 0 { 7 - i64::from(back) } else { -i64::from(back) };
                today.checked_add(days.days()).ok()?
            }
            Day::Unsaid => today?,
        };
        let at = |date: Date| {
            let time = date.at((self.minutes / 60) as i8, (self.minutes % 60) as i8, 0, 0);
            zone.to_timestamp(time).ok()
        };
        let moment = at(date)?;
        let (Day::Unsaid, Some(issued_at)) = (self.day, issued_at) else { return Some(moment) };
        // Without a day the time is the last one before the post, or the next one after it.
        let slack = 30.minutes();
        if !later && moment > issued_at.checked_add(slack).ok()? {
            return at(date.yesterday().ok()?);
        }
        if later && moment < issued_at {
            return at(date.tomorrow().ok()?);
        }
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::sentences;
    use super::clocks;

    fn utc(text: &str, state: &str, issued: &str, later: bool) -> Option<String> {
        let words = sentences(text).remove(0).words;
        let clock = clocks(&words).into_iter().next()?;
        Some(clock.resolve(state, issued.parse().ok(), later)?.to_string())
    }

    #[test]
    fn local_words_become_utc() {
        let friday = "2020-08-21T16:38:00Z";
        for (text, state, later, expected) in [
            ("At 8 a.m. Friday the port closed", "FL", false, Some("2020-08-21T12:00:00Z")),
            ("set at 8 p.m. Thursday", "FL", false, Some("2020-08-21T00:00:00Z")),
            ("set at 10 p.m. last night", "LA", false, Some("2020-08-21T03:00:00Z")),
            ("set as of 8 a.m. last night", "HI", false, None),
            ("will be set at noon", "HI", true, Some("2020-08-21T22:00:00Z")),
            ("will be set at 0600 on August 22, 2020", "PA", true, Some("2020-08-22T10:00:00Z")),
            ("set at 1600 local time, August 20, 2020", "LA", false, Some("2020-08-20T21:00:00Z")),
            ("will be set at 6 a.m.", "PR", true, Some("2020-08-22T10:00:00Z")),
            ("set at 9 p.m.", "", false, None),
        ] {
            assert_eq!(utc(text, state, friday, later).as_deref(), expected, "{text}");
        }
    }
}
