//! Watches and warnings with VTEC (TCV): segments of zones, each with its event lines, its headlines and its hazards.
//!
//! A segment starts with its zones (`FLZ447-042145-`) and ends at `$$`. Event lines say in a fixed form what is issued, continued or
//! cancelled (`/O.CON.KMLB.TR.W.1001.000000T0000Z-000000T0000Z/`); indented lines behind stars say what to expect.

mod vtec;

use hypercane_schemas::Span;
use jiff::Timestamp;

use super::facts::{Draft, Notes, mention, slug, state};
use super::header::{Header, Title, TitleKind, header_of};
use super::lines::{Line, folded, lines};
use super::moment::{issue_time, minute_form};
use super::prose::range;
use crate::extraction::{Extraction, Failure};
use vtec::{Event, event};

/// Whether a text is such a product: it has an event line of a tropical hazard.
pub fn is_tcv(text: &str) -> bool {
    let lines = || text.lines().take(400);
    lines().any(|line| event(line.trim()).is_some())
        && lines().take(8).any(|line| line.trim().starts_with("TCV") || line.contains("TCV"))
}

/// The facts of a product.
///
/// # Errors
/// Where its head can't be read, or it has no event line.
pub fn extract(text: &str) -> Result<Extraction, Failure> {
    let all = lines(text);
    let header = local_header(text, &all).map_or_else(|| header_of(text, &all), Ok)?;
    let mut notes = Notes::new(&header);
    let body = &all[header.body.min(all.len())..];
    for segment in body.split(|line| line.words() == "$$") {
        if let Some(segment) = Segment::read(segment) {
            segment.write(text, &mut notes);
        }
    }
    if notes.n_facts() == 0 {
        let reason = "no event line such as /O.NEW.KMLB.TR.W.1001.000000T0000Z-000000T0000Z/ stands in the text".into();
        return Err(Failure { line: body.first().map_or(1, |line| line.number), reason });
    }
    let mut extraction = notes.finish();
    // Every office writes its own product for one advisory, and may write again before the next.
    if let Some(product) = &mut extraction.product {
        let office = office_code(&all).unwrap_or_default();
        product.name = format!("{}:{office}:{}", product.name, minute_form(header.issued_at));
    }
    Ok(extraction)
}

/// `KHGX` of `WTUS84 KHGX 070904`.
fn office_code(all: &[Line<'_>]) -> Option<String> {
    all.iter().take(6).find_map(|line| {
        let words: Vec<&str> = line.words().split_whitespace().collect();
        let pair = words.windows(2).find(|pair| pair[0].len() == 6 && pair[0].starts_with("WT"))?;
        Some(pair[1].to_owned())
    })
}

/// The head of a local product: `Beryl Local Watch/Warning Statement/Advisory Number 35`.
fn local_header(text: &str, all: &[Line<'_>]) -> Option<Header> {
    let (at, name, number) = all.iter().take(20).enumerate().find_map(|(at, line)| {
        let words = folded(line.words());
        let upper = words.to_ascii_uppercase();
        let split = upper.find(" LOCAL WATCH/WARNING STATEMENT")?;
        let tail = upper[split..].rsplit("NUMBER").next()?.trim().to_owned();
        let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
        Some((at, super::facts::shown_name(&words[..split]), (digits.parse::<u32>().ok(), tail)))
    })?;
    let (number, tail) = number;
    let (time_at, issued_at) = all
        .iter()
        .enumerate()
        .skip(at + 1)
        .take(6)
        .find_map(|(at, line)| Some((at, issue_time(line.words())?.ok()?)))?;
    let office = all.get(at + 1)?;
    let atcf = office.words().split_whitespace().last().filter(|id| {
        id.len() == 8
            && id.bytes().take(2).all(|byte| byte.is_ascii_uppercase())
            && id.bytes().skip(2).all(|byte| byte.is_ascii_digit())
    });
    let _ = text;
    let title = Title {
        kind: TitleKind::WatchWarning,
        class: String::new(),
        name,
        number,
        letter: tail.chars().find(|c| c.is_ascii_alphabetic()).filter(|_| number.is_some()),
        intermediate: false,
        special: false,
        corrected: false,
    };
    Some(Header {
        title,
        title_span: all[at].span(),
        atcf: atcf.map(str::to_owned),
        office: folded(office.words()),
        issued_at,
        issued_given: folded(all[time_at].words()),
        issued_span: all[time_at].span(),
        correction: u8::from(all[at].words().to_ascii_uppercase().contains("CORRECT")),
        body: time_at + 1,
    })
}

/// One segment.
struct Segment<'a> {
    zones: Vec<String>,
    events: Vec<(Event, Span)>,
    area: String,
    body: &'a [Line<'a>],
}

impl<'a> Segment<'a> {
    /// Reads a segment; `None` where it has no zones or no event.
    fn read(all: &'a [Line<'a>]) -> Option<Self> {
        let first = all.iter().position(|line| zones(line.words()).is_some())?;
        let mut events = Vec::new();
        let mut names = Vec::new();
        let mut codes = zones(all[first].words())?;
        let mut at = first + 1;
        while let Some(line) = all.get(at) {
            let words = line.words();
            if let Some(event) = event(words) {
                events.push((event, line.span()));
            } else if let Some(more) = zones(words).filter(|_| events.is_empty()) {
                codes.extend(more);
            } else if words.ends_with('-') && !words.starts_with('*') {
                names.push(words.trim_end_matches('-').to_owned());
            } else {
                break;
            }
            at += 1;
        }
        let area = if names.is_empty() { codes.join(", ") } else { folded(&names.join(", ").replace('-', ", ")) };
        (!events.is_empty()).then_some(Self { zones: codes, events, area, body: &all[at..] })
    }

    fn write(&self, text: &str, notes: &mut Notes<'_>) {
        let zones = self.zones.join(", ");
        for (event, span) in &self.events {
            let (kind, level) = (event.kind(), event.level());
            let change = event.change();
            let mut place = mention(format!("place:{}", slug(&self.area)), &self.area, "place", "place");
            place.aliases.clone_from(&self.zones);
            let warning = format!("{kind} {level}");
            let detail = format!("{}:{}", slug(&warning), slug(&self.area));
            let name = format!("{warning} for {}", self.area);
            let times = event.spoken_times();
            let sentence = format!(
                "{warning} {change} for {} ({zones}), event {} of {}{times}",
                self.area, event.number, event.office
            );
            let relation = if level == "Watch" { "has_watch_status" } else { "has_warning_status" };
            let mut draft = Draft::new(relation, sentence, *span)
                .mention(place)
                .mention(state(notes.header, "warning", &detail, name, "watch_warning"))
                .text("warning_kind", &warning)
                .text("area", &self.area)
                .text("change", change);
            for (name, at) in [("event_start", event.start), ("event_end", event.end)] {
                if let Some(at) = at {
                    draft = draft.time(name, at, minute_form(at));
                }
            }
            notes.add(draft);
        }
        self.write_hazards(text, notes);
    }

    /// The lines `- Peak ...: ...` and `- LATEST LOCAL FORECAST: ...` under each star.
    fn write_hazards(&self, text: &str, notes: &mut Notes<'_>) {
        let mut hazard = "";
        let mut at = 0;
        while let Some(line) = self.body.get(at) {
            at += 1;
            let words = line.words();
            if let Some(heading) = words.strip_prefix('*') {
                hazard = HAZARDS
                    .iter()
                    .find(|(name, _)| heading.trim().to_ascii_uppercase().starts_with(name))
                    .map_or("", |(_, kind)| *kind);
                continue;
            }
            let Some(item) = words.strip_prefix("- ").filter(|_| !hazard.is_empty()) else { continue };
            // An item goes on until the next one, the next star or a blank line.
            let more = self.body[at..]
                .iter()
                .take_while(|next| !next.is_blank() && !next.words().starts_with(['-', '*']))
                .count();
            let last = if more > 0 { &self.body[at + more - 1] } else { line };
            let span = line.span().cover(last.span());
            at += more;
            let upper = item.to_ascii_uppercase();
            if !(upper.starts_with("LATEST LOCAL FORECAST")
                || upper.starts_with("PEAK")
                || upper.starts_with("WINDOW")
                || upper.starts_with("THREAT"))
            {
                continue;
            }
            let words = folded(span.of(text).unwrap_or(item).trim_start_matches("- "));
            if words.ends_with(':') {
                continue;
            }
            self.write_hazard(hazard, &words, span, notes);
        }
    }

    fn write_hazard(&self, hazard: &str, words: &str, span: Span, notes: &mut Notes<'_>) {
        let place = mention(format!("place:{}", slug(&self.area)), &self.area, "place", "place");
        let detail = format!("{}:{}", slug(hazard), slug(&self.area));
        let name = format!("{hazard} at {}", self.area);
        let mut draft = Draft::new("forecasts_hazard_at_horizon", format!("{} - {hazard}: {words}", self.area), span)
            .mention(place)
            .mention(state(notes.header, "hazard", &detail, name, "hazard_forecast"))
            .text("area", &self.area)
            .text("remark", words);
        let (units, low, high, unit): (&'static [&'static str], _, _, _) = match hazard {
            "storm surge" => (&["FEET", "FT"], "surge_min", "surge_max", "ft"),
            "rain" => (&["INCHES", "INCH"], "rain_min", "rain_max", "inch"),
            _ => (&[], "", "", ""),
        };
        if !units.is_empty()
            && let Some(((least, most), given)) = range(words, units)
        {
            draft = draft.number(low, least, unit, given).number(high, most, unit, given);
        }
        if hazard == "wind"
            && let Some(((_, most), given)) = range(words, &["MPH"])
        {
            draft = draft.number("max_wind", (most / super::units::MPH_PER_KNOT * 10.0).round() / 10.0, "kt", given);
        }
        notes.add(draft);
    }
}

const HAZARDS: [(&str, &str); 5] = [
    ("WIND", "wind"),
    ("STORM SURGE", "storm surge"),
    ("FLOODING RAIN", "rain"),
    ("INLAND FLOODING", "rain"),
    ("TORNADO", "tornado"),
];

/// The zones of `ALZ065>069-FLZ007-019-042145-`, ranges with their two ends.
fn zones(line: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = line.strip_suffix('-')?.split('-').collect();
    let mut prefix = String::new();
    let mut found = Vec::new();
    for part in &parts {
        let digits = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        let (own, code) = match part.get(..3) {
            Some(letters) if letters.bytes().all(|byte| byte.is_ascii_uppercase()) && part.len() > 3 => {
                (Some(letters), part.get(3..)?)
            }
            _ => (None, *part),
        };
        if let Some(letters) = own {
            if !letters.ends_with(['Z', 'C']) {
                return None;
            }
            prefix = letters.to_owned();
        }
        if code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()) && own.is_none() {
            continue;
        }
        let ends: Vec<&str> = code.split('>').collect();
        if prefix.is_empty() || ends.len() > 2 || !ends.iter().all(|end| digits(end)) {
            return None;
        }
        found.push(format!("{prefix}{}", ends.join(">")));
    }
    (!found.is_empty()).then_some(found)
}

/// Times of an event are UTC; all zeros mean until further notice.
type EventTime = Option<Timestamp>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{extract, is_tcv, zones};
    use crate::extraction::Fact;

    const PRODUCT: &str = "\
WTUS84 KHGX 270904
TCVHGX

URGENT - IMMEDIATE BROADCAST REQUESTED
Opal Local Watch/Warning Statement/Advisory Number 3
National Weather Service Houston/Galveston TX  AL032021
404 AM CDT Fri Aug 27 2021

TXZ436-437-271715-
/O.UPG.KHGX.TR.A.1003.000000T0000Z-000000T0000Z/
/O.NEW.KHGX.TR.W.1003.210828T0000Z-000000T0000Z/
Matagorda Islands-Brazoria Islands-
404 AM CDT Fri Aug 27 2021

...TROPICAL STORM WARNING IN EFFECT...

* WIND
    - LATEST LOCAL FORECAST: Equivalent Tropical Storm force wind
        - Peak Wind Forecast: 35-45 mph with gusts to 60 mph

* STORM SURGE
    - LATEST LOCAL FORECAST: Localized storm surge possible
        - Peak Storm Surge Inundation: The potential for 2-4 feet above
          ground somewhere within surge prone areas

$$

&&
";

    fn given(fact: &Fact, name: &str) -> String {
        let found = fact.attributes.iter().find(|attribute| attribute.name == name);
        found.map(|attribute| attribute.value.given.clone()).unwrap_or_default()
    }

    #[test]
    fn segments_give_events_and_hazards() {
        assert!(is_tcv(PRODUCT));
        let found = extract(PRODUCT).unwrap();
        assert_eq!(found.product.unwrap().name, "AL032021:003:KHGX:2021-08-27T09:04Z");
        let warnings: Vec<&Fact> = found.facts.iter().filter(|fact| fact.relation == "has_warning_status").collect();
        assert_eq!(warnings.len(), 1);
        assert_eq!(
            (given(warnings[0], "warning_kind").as_str(), given(warnings[0], "change").as_str()),
            ("Tropical Storm Warning", "issued")
        );
        assert_eq!(given(warnings[0], "event_start"), "2021-08-28T00:00Z");
        assert_eq!(given(warnings[0], "area"), "Matagorda Islands, Brazoria Islands");
        let watch = found.facts.iter().find(|fact| fact.relation == "has_watch_status").unwrap();
        assert_eq!(given(watch, "change"), "upgraded");
        let surge = found.facts.iter().find(|fact| fact.text.contains("Peak Storm Surge")).unwrap();
        let number = |name: &str| {
            surge.attributes.iter().find(|attribute| attribute.name == name).unwrap().value.number.unwrap().to_f64()
        };
        assert_eq!((number("surge_min"), number("surge_max")), (2.0, 4.0));
    }

    #[test]
    fn zone_lines_are_told_from_others() {
        assert_eq!(zones("ALZ065>069-FLZ007-019-042145-").unwrap(), ["ALZ065>069", "FLZ007", "FLZ019"]);
        for other in ["Brazoria Islands-", "----------", "042145-", "TXZ437", ""] {
            assert_eq!(zones(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn no_cut_and_no_noise_makes_it_panic(cut in 0..PRODUCT.len(), noise in "\\PC{0,40}", at in 0..PRODUCT.len()) {
            let _ = extract(&PRODUCT[..cut]);
            let noisy = format!("{}{noise}{}", &PRODUCT[..at], &PRODUCT[at..]);
            let _ = (extract(&noisy), is_tcv(&noisy));
        }
    }
}
