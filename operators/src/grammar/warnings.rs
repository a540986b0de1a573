//! Watches and warnings: what is in effect for which stretch, and what changed with this advisory.
//!
//! Newer products list areas behind stars under `A ... Warning is in effect for...`; older ones say the same in
//! sentences. Both give one fact a statement.

use hypercane_schemas::Span;

use super::facts::{Draft, Notes, place, shown_name, slug, state};
use super::lines::{Line, folded, paragraphs};
use super::prose::{Sentence, sentences};
use crate::extraction::Mention;

/// Kinds of watches and warnings, the longer names first.
const KINDS: [&str; 12] = [
    "STORM SURGE",
    "HURRICANE FORCE WIND",
    "HURRICANE",
    "TROPICAL STORM",
    "TYPHOON",
    "EXTREME WIND",
    "HIGH WIND",
    "WIND",
    "GALE",
    "STORM",
    "FLASH FLOOD",
    "COASTAL FLOOD",
];

/// Words of change, as attribute values.
const CHANGES: [(&str, &str); 16] = [
    ("UPGRADED", "upgraded"),
    ("DOWNGRADED", "downgraded"),
    ("DISCONTINUED", "discontinued"),
    ("CANCELLED", "discontinued"),
    ("CANCELED", "discontinued"),
    ("REPLACED", "replaced"),
    ("CHANGED", "changed"),
    ("EXTENDED", "extended"),
    ("EXPANDED", "extended"),
    ("MODIFIED", "modified"),
    ("ADJUSTED", "modified"),
    ("SHORTENED", "modified"),
    ("ISSUED", "issued"),
    ("ADDED", "issued"),
    ("NOW IN EFFECT", "issued"),
    ("REMAINS IN EFFECT", "continued"),
];

/// What part of the section is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Sentences without a heading, as older products have them.
    Sentences,
    /// What is new with this advisory.
    Changes,
    /// What is in effect.
    Summary,
}

/// Reads the part of a product that speaks of watches and warnings.
pub fn read(text: &str, section: &[Line<'_>], notes: &mut Notes<'_>) {
    let mut part = Part::Sentences;
    let mut block = 0;
    // A blank line may stand between `... is in effect for` and its stars.
    let mut announced: Option<String> = None;
    while block < section.len() {
        let line = &section[block];
        let upper = line.words().to_ascii_uppercase();
        if let Some(heading) = heading(&upper) {
            part = heading;
            block += 1;
            continue;
        }
        if line.is_blank() || is_rule(&upper) {
            block += 1;
            continue;
        }
        let end = block + section[block..].iter().position(Line::is_blank).unwrap_or(section.len() - block);
        let lines = &section[block..end];
        match lines.iter().position(|line| line.words().starts_with('*')) {
            Some(star) => {
                let kind = kind_of(&words_of(&lines[..star])).or(announced.take());
                starred(text, &lines[star..], kind.as_deref(), notes);
            }
            None if announces_list(&words_of(lines)) => announced = kind_of(&words_of(lines)),
            None => {
                for paragraph in paragraphs(text, lines) {
                    for sentence in sentences(&paragraph) {
                        one_sentence(&sentence, part, notes);
                    }
                }
            }
        }
        block = end;
    }
}

fn heading(upper: &str) -> Option<Part> {
    let plain = upper.trim_matches(|c: char| matches!(c, '.' | ':' | ' '));
    if plain.starts_with("CHANGES") && plain.ends_with("THIS ADVISORY") {
        return Some(Part::Changes);
    }
    (plain.starts_with("SUMMARY OF") && plain.ends_with("IN EFFECT")).then_some(Part::Summary)
}

fn is_rule(line: &str) -> bool {
    line.len() > 3 && line.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'_'))
}

fn words_of(lines: &[Line<'_>]) -> String {
    lines.iter().map(Line::words).collect::<Vec<_>>().join(" ")
}

/// The first watch or warning that words name: `Hurricane Warning`.
fn kind_of(words: &str) -> Option<String> {
    let upper = words.to_ascii_uppercase();
    let at = [" WARNING", " WATCH", " ADVISORY IS"].iter().filter_map(|what| upper.find(what)).min()?;
    let what = if upper[at..].starts_with(" WATCH") { "Watch" } else { "Warning" };
    let kind = KINDS.iter().find(|kind| upper[..at].ends_with(*kind))?;
    Some(format!("{} {what}", super::header::title_case(kind)))
}

/// Areas behind stars; a line without star goes on with the area before it.
fn starred(text: &str, lines: &[Line<'_>], kind: Option<&str>, notes: &mut Notes<'_>) {
    let mut kind = kind.map(str::to_owned);
    let mut idx = 0;
    while idx < lines.len() {
        let first = &lines[idx];
        let more = lines[idx + 1..].iter().take_while(|line| !starts_anew(line.words())).count();
        let area = &lines[idx..=idx + more];
        idx += more + 1;
        if !first.words().starts_with('*') {
            kind = kind_of(&words_of(area)).or(kind);
            continue;
        }
        let span = area.iter().map(Line::span).reduce(Span::cover).unwrap_or_default();
        let star = Span { start: span.start + 1, ..span };
        let words = folded(star.of(text).unwrap_or_default());
        match &kind {
            Some(kind) => write_area(kind, &area_name(&words), span, notes),
            None => notes.fail(first.number, format!("no watch or warning is named above `{words}`")),
        }
    }
}

/// `A Hurricane Warning is in effect for...`, with nothing behind it.
fn announces_list(words: &str) -> bool {
    let upper = words.to_ascii_uppercase();
    let bare = upper.trim_end_matches(['.', ':', ' ']);
    bare.ends_with(" FOR") && (bare.contains("IN EFFECT") || bare.contains("IS EFFECT"))
}

fn starts_anew(words: &str) -> bool {
    let upper = words.to_ascii_uppercase();
    words.starts_with('*') || (upper.contains(" EFFECT FOR") && (upper.starts_with("A ") || upper.starts_with("AN ")))
}

/// An area as people write it: three dots become a comma, and capitals title case.
fn area_name(words: &str) -> String {
    let commas = words.trim_end_matches('.').replace("...", ", ");
    shown_name(commas.trim().trim_end_matches([',', ';']))
}

fn status_relation(kind: &str) -> &'static str {
    if kind.ends_with("Watch") { "has_watch_status" } else { "has_warning_status" }
}

fn warning_state(kind: &str, area: &str, notes: &Notes<'_>) -> Mention {
    let detail = format!("{}:{}", slug(kind), slug(area));
    state(notes.header, "warning", &detail, format!("{kind} for {area}"), "watch_warning")
}

fn write_area(kind: &str, area: &str, span: Span, notes: &mut Notes<'_>) {
    let mut fact = Draft::new(status_relation(kind), format!("a {kind} is in effect for {area}"), span)
        .mention(warning_state(kind, area, notes))
        .text("warning_kind", kind)
        .text("area", area)
        .valid(notes.header.issued_at);
    for place in ends_of(area) {
        fact = fact.mention(place);
    }
    notes.add(fact);
}

/// The places that an area names: both ends of a stretch, or the area itself.
fn ends_of(area: &str) -> Vec<Mention> {
    let including = area.to_ascii_lowercase().find(" including").unwrap_or(area.len());
    let main = area[..including].trim_end_matches(',');
    let ends: Vec<&str> = main.split(" to ").collect();
    let ends = if ends.len() == 2 { ends } else { vec![main] };
    let mut places: Vec<Mention> = Vec::new();
    for end in ends {
        let name = without_bearing(end);
        if name.len() < 60 && !slug(name).is_empty() {
            let place = place(name);
            if places.iter().all(|other| other.entity != place.entity) {
                places.push(place);
            }
        }
    }
    places
}

/// `north of Sargent` names Sargent.
fn without_bearing(end: &str) -> &str {
    let trimmed = end.trim();
    let lower = trimmed.to_lowercase();
    for bearing in ["north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest"] {
        if lower.starts_with(bearing) && lower[bearing.len()..].starts_with(" of ") {
            return trimmed.get(bearing.len() + 4..).unwrap_or(trimmed).trim();
        }
    }
    match lower.strip_prefix("the ") {
        Some(_) => trimmed.get(4..).unwrap_or(trimmed),
        None => trimmed,
    }
}

fn one_sentence(sentence: &Sentence<'_>, part: Part, notes: &mut Notes<'_>) {
    let words = sentence.folded();
    let upper = words.to_ascii_uppercase();
    if upper.contains(" MEANS ") {
        return;
    }
    let bare = upper.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if bare == "NONE" {
        let (sentence_text, kind) = match part {
            Part::Changes => ("no changes in watches and warnings with this advisory", "none"),
            _ => ("no watches or warnings are in effect", "none"),
        };
        let mut fact = Draft::new("has_warning_status", sentence_text, sentence.span)
            .mention(warning_state("no change", "all", notes))
            .text("warning_kind", kind)
            .valid(notes.header.issued_at);
        if part == Part::Changes {
            fact = fact.text("change", "none");
        }
        notes.add(fact);
        return;
    }
    let kind = kind_of(&words);
    let change = CHANGES.iter().find(|(word, _)| upper.contains(word)).map(|(_, change)| *change);
    let speaks = kind.is_some() || (upper.contains("WATCH") || upper.contains("WARNING"));
    let interests = upper.contains("INTERESTS") && upper.contains("MONITOR");
    if !speaks && !interests {
        return;
    }
    if upper.contains("GENERALLY WITHIN")
        || upper.starts_with("PREPARATIONS")
        || upper.starts_with("FOR STORM INFORMATION")
    {
        return;
    }
    // Where a watch becomes a warning, the warning is what is in effect.
    let kind =
        kind.unwrap_or_else(|| if interests { "Advice to Interests".into() } else { "Watches and Warnings".into() });
    let kind = became(&words).unwrap_or(kind);
    let relation = if interests { "has_watch_status" } else { status_relation(&kind) };
    let area = area_of(&words);
    let named = area.clone().unwrap_or_else(|| "all".into());
    let mut fact = Draft::new(relation, &words, sentence.span)
        .mention(warning_state(&kind, &named, notes))
        .text("warning_kind", &kind)
        .valid(notes.header.issued_at);
    if let Some(area) = &area {
        fact = fact.text("area", area);
        for place in ends_of(area) {
            fact = fact.mention(place);
        }
    }
    if part == Part::Changes || change.is_some() {
        fact = fact.text("change", change.unwrap_or("stated"));
    }
    notes.add(fact);
}

/// The kind behind `upgraded to` or `changed to`.
fn became(words: &str) -> Option<String> {
    let upper = words.to_ascii_uppercase();
    let at = ["UPGRADED TO", "CHANGED TO", "DOWNGRADED TO", "REPLACED WITH", "REPLACED BY"]
        .iter()
        .find_map(|change| upper.find(change).map(|at| at + change.len()))?;
    kind_of(words.get(at..)?)
}

/// The stretch behind `for`, `from`, `along` in a sentence.
fn area_of(words: &str) -> Option<String> {
    let upper = words.to_ascii_uppercase();
    let from = [" WARNING", " WATCH"].iter().filter_map(|kind| upper.find(kind)).min().unwrap_or(0);
    let marks = [" FOR ", " FROM ", " ALONG ", " SOUTH OF ", " NORTH OF ", " EAST OF ", " WEST OF "];
    let (at, mark) = marks.iter().filter_map(|mark| upper[from..].find(mark).map(|at| (from + at, *mark))).min()?;
    let start = if mark.ends_with(" OF ") { at + 1 } else { at + mark.len() };
    let area = words.get(start..)?;
    let ends = [" HAS BEEN ", " HAVE BEEN ", " IS ", " ARE ", " WILL ", " BECAUSE ", " AT THIS TIME"];
    let end = ends.iter().filter_map(|end| upper[start..].find(end)).min().unwrap_or(area.len());
    let area = area_name(&area[..end]);
    (!area.is_empty()).then_some(area)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::header::header;
    use crate::grammar::lines::lines;

    const HEAD: &str = "Hurricane Opal Advisory Number 5\nNWS MIAMI FL AL172020\n0300 UTC MON AUG 31 2020\n\n";

    fn facts(section: &str) -> Vec<(String, String)> {
        let text = format!("{HEAD}{section}");
        let header = header(&text).unwrap();
        let mut notes = Notes::new(&header);
        read(&text, &lines(&text)[header.body..], &mut notes);
        let given = |fact: &crate::extraction::Fact, name: &str| {
            let found = fact.attributes.iter().find(|attribute| attribute.name == name);
            found.map_or(String::new(), |attribute| attribute.value.given.clone())
        };
        let extraction = notes.finish();
        assert_eq!(extraction.failures, []);
        extraction
            .facts
            .iter()
            .map(|fact| {
                let change = given(fact, "change");
                (fact.relation.clone(), format!("{}|{}|{change}", given(fact, "warning_kind"), given(fact, "area")))
            })
            .collect()
    }

    #[test]
    fn starred_areas_are_one_fact_each() {
        let section = "SUMMARY OF WATCHES AND WARNINGS IN EFFECT:\n\nA Hurricane Warning is in effect for...\n\
            * Alpha Bay to Beta Point\n* Gamma Sound, including the Delta\nand Eta Rivers\n\n\
            A STORM SURGE WATCH IS IN EFFECT FOR...\n* SOUTH OF ALPHA BAY TO ZETA...EAST SIDE\n";
        let expected = [
            ("has_warning_status", "Hurricane Warning|Alpha Bay to Beta Point|"),
            ("has_warning_status", "Hurricane Warning|Gamma Sound, including the Delta and Eta Rivers|"),
            ("has_watch_status", "Storm Surge Watch|South of Alpha Bay to Zeta, East Side|"),
        ];
        let expected: Vec<(String, String)> = expected.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
        assert_eq!(facts(section), expected);
        let apart = section.replace("FOR...\n*", "FOR...\n\n*").replace("for...\n*", "for...\n\n*");
        assert_eq!(facts(&apart), expected);
    }

    #[test]
    fn sentences_tell_changes() {
        let section = "CHANGES WITH THIS ADVISORY:\n\nThe Hurricane Watch from Alpha Bay to Beta Point has been upgraded to a\n\
            Hurricane Warning.\n\nNone.\n";
        let all = facts(section);
        assert_eq!(all[0].0, "has_warning_status");
        assert_eq!(all[0].1, "Hurricane Warning|Alpha Bay to Beta Point|upgraded");
        assert_eq!(all[1].1, "none||none");
    }

    #[test]
    fn places_are_the_ends_of_a_stretch() {
        let names: Vec<String> =
            ends_of("North of Alpha Bay to the Mouth of the Beta").into_iter().map(|m| m.name).collect();
        assert_eq!(names, ["Alpha Bay", "Mouth of the Beta"]);
        assert_eq!(ends_of("Lake Gamma").len(), 1);
        let sound: Vec<String> =
            ends_of("Alpha to Beta, Including the Gamma Sound").into_iter().map(|m| m.name).collect();
        assert_eq!(sound, ["Alpha", "Beta"]);
    }
}
