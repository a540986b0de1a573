//! Headlines and sentences, sorted by what they speak of.

use hypercane_schemas::Span;
use winnow::{Result, combinator::opt, prelude::*};

use super::{hazards, next};
use crate::grammar::facts::{Draft, Notes, current_state, place, plain, slug, state};
use crate::grammar::lines::{Line, Paragraph, folded, paragraphs};
use crate::grammar::prose::{Sentence, sentences};
use crate::grammar::units::{compass_words, distance, dots, find, gap, word, words};
use crate::grammar::{names, warnings};

/// Reads what stands before the first heading. In older texts that is everything.
pub(super) fn opening(text: &str, section: &[Line<'_>], notes: &mut Notes<'_>) {
    for paragraph in paragraphs(text, section) {
        if paragraph.text.starts_with("...") {
            headlines(text, &paragraph, notes);
            continue;
        }
        let upper = folded(paragraph.text).to_ascii_uppercase();
        if upper.starts_with("CORRECTED") {
            let words = folded(paragraph.text);
            notes.add(Draft::new("forecast_updates_to", words, paragraph.span()).text("change", "corrected"));
        } else if speaks_of_warnings(&upper) {
            let number = paragraph.number;
            let last = number + paragraph.text.lines().count() as u32;
            let lines: Vec<Line<'_>> =
                section.iter().filter(|line| (number..last).contains(&line.number)).copied().collect();
            warnings::read(text, &lines, notes);
        } else {
            for sentence in sentences(&paragraph) {
                one(&sentence, notes);
            }
        }
    }
}

fn speaks_of_warnings(upper: &str) -> bool {
    (upper.contains(" WARNING") || upper.contains(" WATCH"))
        && ["IN EFFECT", "ISSUED", "DISCONTINUED", "MEANS", "EXTENDED", "CHANGED", "UPGRADED", "CANCEL"]
            .iter()
            .any(|cue| upper.contains(cue))
}

/// Reads a section of sentences.
pub(super) fn read(text: &str, section: &[Line<'_>], notes: &mut Notes<'_>) {
    for paragraph in paragraphs(text, section) {
        for sentence in sentences(&paragraph) {
            one(&sentence, notes);
        }
    }
}

/// Headlines stand between three dots, each from a line that starts with them to one that ends with them.
fn headlines(text: &str, paragraph: &Paragraph<'_>, notes: &mut Notes<'_>) {
    let mut start = None;
    let mut at = paragraph.start;
    for line in paragraph.text.split_inclusive('\n') {
        let begin = *start.get_or_insert(at);
        at += line.len();
        if !line.trim_end().ends_with("...") {
            continue;
        }
        let raw = &text[begin..at];
        let span = Span::new(begin, begin + raw.trim_end().len());
        let words = folded(raw);
        let words = words.trim_matches('.').trim();
        start = None;
        if !words.is_empty() {
            headline(words, span, notes);
        }
    }
}

fn headline(words: &str, span: Span, notes: &mut Notes<'_>) {
    let said = Said::of(words);
    let mut fact = Draft::new(said.relation(), format!("headline: {words}"), span)
        .mention(said.about(notes))
        .valid(notes.header.issued_at);
    if said == Said::Landfall {
        fact = fact.text("remark", "headline");
    }
    for name in names::places(words, notes.header) {
        fact = fact.mention(place(&name));
    }
    notes.add(fact);
}

/// What a sentence speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Landfall,
    Strength,
    Track,
    Hazard,
    Observation,
    Other,
}

impl Said {
    fn of(words: &str) -> Self {
        let upper = words.to_ascii_uppercase();
        let has = |cues: &[&str]| cues.iter().any(|cue| upper.contains(cue));
        if has(&[
            "LANDFALL",
            "MOVE INLAND",
            "MOVES INLAND",
            "MOVING INLAND",
            "MOVE ONSHORE",
            "MOVE ASHORE",
            "MOVING ONSHORE",
        ]) || has(&["REACH THE COAST", "CROSS THE COAST", "MOVING ASHORE", "MOVED INLAND", "MOVED ASHORE"])
        {
            Self::Landfall
        } else if has(&["RECENTLY REPORTED", "WAS REPORTED", "REPORTED A", "WIND GUST", "WAS MEASURED", "WAS OBSERVED"])
        {
            Self::Observation
        } else if has(&["SURGE", "RAINFALL", "FLOOD", "TORNADO", "SWELLS", "RIP CURRENT", "HEAVY RAIN", "RAINS"]) {
            Self::Hazard
        } else if has(&[
            "STRENGTH",
            "WEAKEN",
            "SUSTAINED WINDS",
            "INTENSI",
            "CATEGORY",
            "DISSIPAT",
            "BECOME A",
            "BECOMES A",
        ]) || has(&["MAJOR HURRICANE", "DEGENERATE", "POST-TROPICAL", "FORMATION CHANCE", "REMNANT LOW"])
        {
            Self::Strength
        } else if has(&[
            "MOTION",
            "MOVING",
            "TRACK",
            "TURN TO",
            "FORWARD SPEED",
            "PASS",
            "STALL",
            "MEANDER",
            "APPROACH",
            "MOVE ",
        ]) {
            Self::Track
        } else {
            Self::Other
        }
    }

    fn relation(self) -> &'static str {
        match self {
            Self::Landfall => "forecasts_landfall",
            Self::Strength | Self::Other => "has_category_state",
            Self::Track => "forecasts_track",
            Self::Hazard => "has_additional_hazard",
            Self::Observation => "observes_hazard_at_horizon",
        }
    }

    fn about(self, notes: &Notes<'_>) -> crate::extraction::Mention {
        let header = notes.header;
        let name = &header.title.name;
        match self {
            Self::Landfall => state(header, "fcst", "landfall", format!("landfall of {name}"), "cyclone_forecast"),
            Self::Track => state(header, "fcst", "outlook", format!("outlook for {name}"), "cyclone_forecast"),
            Self::Hazard => state(header, "hazard", "general", format!("hazards of {name}"), "hazard_forecast"),
            Self::Strength | Self::Observation | Self::Other => current_state(header),
        }
    }
}

/// Writes what one sentence says.
pub(super) fn one(sentence: &Sentence<'_>, notes: &mut Notes<'_>) {
    let words = folded(sentence.text);
    let upper = words.to_ascii_uppercase();
    if upper.contains("OUTWARD") && extents(&words, sentence.span, notes) {
        return;
    }
    if next::one(sentence, notes) || is_boilerplate(&upper) {
        return;
    }
    let said = Said::of(&words);
    if said == Said::Hazard {
        hazards::sentence(&words, sentence.span, None, notes);
        return;
    }
    let mut fact =
        Draft::new(said.relation(), &words, sentence.span).mention(said.about(notes)).valid(notes.header.issued_at);
    if let Some(category) = category(&upper).filter(|_| said == Said::Strength) {
        fact = fact.number("category", category, "", format!("category {}", plain(category)));
    }
    if said == Said::Landfall {
        let done = ["MADE LANDFALL", "HAS MOVED INLAND", "MOVED ASHORE", "MAKES LANDFALL"];
        let remark = if done.iter().any(|cue| upper.contains(cue)) { "observed" } else { "forecast" };
        fact = fact.text("remark", remark);
    }
    for name in names::places(&words, notes.header) {
        fact = fact.mention(place(&name));
    }
    notes.add(fact);
}

/// The category that a sentence says the storm has: `is a category 4 hurricane`, `is now a category five`.
fn category(upper: &str) -> Option<f64> {
    let (before, behind) = upper.split_once("CATEGORY ")?;
    let is_now = [
        " IS A ",
        " IS NOW A ",
        " REMAINS A ",
        " A STRONG ",
        " BECOME A ",
        " BECOMES A ",
        " IS AN EXTREMELY DANGEROUS ",
    ];
    let stated = is_now.iter().any(|verb| before.ends_with(verb) || before.ends_with(&format!("{verb}STRONG ")));
    let names = ["1", "2", "3", "4", "5", "ONE", "TWO", "THREE", "FOUR", "FIVE"];
    let word = behind.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let idx = names.iter().position(|name| *name == word)?;
    stated.then_some((idx % 5 + 1) as f64)
}

/// Sentences that say nothing about the storm.
fn is_boilerplate(upper: &str) -> bool {
    [
        "FOR STORM INFORMATION SPECIFIC",
        "PLEASE MONITOR PRODUCTS",
        "PLEASE SEE PRODUCTS",
        "PLEASE CONSULT",
        "REPEAT...",
        "PLEASE SEE THE NATIONAL",
    ]
    .iter()
    .any(|cue| upper.contains(cue))
}

/// `Hurricane-force winds extend outward up to 25 miles (35 km) ... and tropical-storm-force winds ... 105 miles`.
fn extents(words: &str, span: Span, notes: &mut Notes<'_>) -> bool {
    let upper = words.to_ascii_uppercase();
    let kinds = [("HURRICANE", 64.0), ("TROPICAL-STORM", 34.0), ("TROPICAL STORM", 34.0), ("GALE", 34.0)];
    let mut found: Vec<(f64, f64, String)> = Vec::new();
    for (at, _) in upper.match_indices("OUTWARD") {
        let before = &upper[..at];
        let force =
            kinds.iter().filter_map(|(kind, knots)| Some((before.rfind(kind)?, *knots))).max_by_key(|(at, _)| *at);
        let (Some((_, knots)), Some((nm, given))) = (force, find(distance, &words[at..])) else {
            continue;
        };
        if found.iter().all(|(other, ..)| *other != knots) {
            found.push((knots, nm, given.to_owned()));
        }
    }
    for (knots, nm, given) in &found {
        let header = notes.header;
        let threshold = plain(*knots);
        let name = format!("extent of {threshold} kt winds of {}", header.title.name);
        let force = if *knots > 50.0 { "hurricane-force" } else { "tropical-storm-force" };
        let sentence =
            format!("{force} winds ({threshold} kt) extend outward up to {given} ({} nm)", plain(nm.round()));
        let fact = Draft::new("observes_hazard_at_horizon", sentence, span)
            .mention(state(header, "radii", &format!("{threshold}:extent"), name, "wind_radii"))
            .number("threshold", *knots, "kt", format!("{threshold} kt"))
            .number("distance", *nm, "nm", given)
            .valid(header.issued_at);
        notes.add(fact);
    }
    !found.is_empty()
}

/// `ABOUT 250 MI...400 KM SE OF CORPUS CHRISTI TEXAS`.
fn reference(input: &mut &str) -> Result<(f64, String, f64)> {
    let mut near = (opt((word("ABOUT"), gap)), distance, dots, opt((distance, gap)));
    let (_, nm, _, _) = near.parse_next(input)?;
    let (point, _) = (compass_words, gap).parse_next(input)?;
    (opt(words(&["OF"])), opt(words(&["FROM"])), gap).void().parse_next(input)?;
    Ok((nm, point.0.to_owned(), point.1))
}

/// Reads the distances to places in the summary block.
pub(super) fn locations(text: &str, section: &[Line<'_>], notes: &mut Notes<'_>) {
    let mut idx = 0;
    while idx < section.len() {
        let line = section[idx];
        idx += 1;
        let mut rest = line.words();
        let Ok((nm, point, _)) = reference.parse_next(&mut rest) else {
            continue;
        };
        let mut span = line.span();
        // A long name may go on in the next line.
        while let Some(more) = section.get(idx).filter(|more| continues(more.words())) {
            span = span.cover(more.span());
            idx += 1;
        }
        let tail = span.of(text).unwrap_or_default();
        let name = folded(&tail[line.words().len() - rest.len()..]);
        let given = folded(tail);
        if slug(&name).is_empty() {
            notes.fail(line.number, format!("`{}` names no place", line.words()));
            continue;
        }
        let header = notes.header;
        let place = place(&name);
        let key = place.entity.0.trim_start_matches("place:").to_owned();
        let shown = format!("distance of {} from {}", header.title.name, place.name);
        let sentence = format!("center about {} nm {point} of {} ({given})", plain(nm.round()), place.name);
        let fact = Draft::new("has_cyclone_state", sentence, span)
            .mention(state(header, "state", &format!("near:{key}"), shown, "cyclone_state"))
            .mention(place)
            .number("distance", nm, "nm", &given)
            .valid(header.issued_at);
        notes.add(fact);
    }
}

fn continues(words: &str) -> bool {
    let starts = ["ABOUT", "MAXIMUM", "PRESENT", "MINIMUM", "LOCATION", "$$", "-"];
    let upper = words.to_ascii_uppercase();
    !upper.is_empty() && !starts.iter().any(|start| upper.starts_with(start)) && !upper.contains("...")
}
