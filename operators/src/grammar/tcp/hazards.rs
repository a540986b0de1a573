//! Hazards: rain, surge, wind, tornadoes, surf, with the rows of their tables.

use hypercane_schemas::Span;

use crate::grammar::facts::{Draft, Notes, place, shown_name, slug, state};
use crate::grammar::lines::{Line, Paragraph, folded, paragraphs};
use crate::grammar::names;
use crate::grammar::prose::{range, sentences};

/// Labels of paragraphs, and the kind in keys.
const KINDS: [(&str, &str); 14] = [
    ("STORM SURGE", "surge"),
    ("COASTAL FLOODING", "surge"),
    ("RAINFALL STATEMENT", "rain"),
    ("RAINFALL", "rain"),
    ("RAIN", "rain"),
    ("FLOODING", "rain"),
    ("WINDS", "wind"),
    ("WIND", "wind"),
    ("TORNADOES", "tornado"),
    ("TORNADO", "tornado"),
    ("SURF", "surf"),
    ("SWELLS", "surf"),
    ("RIP CURRENTS", "surf"),
    ("THE EYE", "wind"),
];

/// Reads the section `HAZARDS AFFECTING LAND`.
pub(super) fn read(text: &str, section: &[Line<'_>], notes: &mut Notes<'_>) {
    let mut kind = "general";
    for paragraph in paragraphs(text, section) {
        let (label, body) = labelled(&paragraph);
        kind = label.unwrap_or(kind);
        if folded(body.text).trim_end_matches('.').eq_ignore_ascii_case("none") {
            let fact = Draft::new("has_additional_hazard", "no hazards affecting land", body.span())
                .mention(state(notes.header, "hazard", "none", "no hazards affecting land", "hazard_forecast"))
                .valid(notes.header.issued_at);
            notes.add(fact);
            continue;
        }
        let rows = table_rows(&body);
        if rows.is_empty() {
            for one in sentences(&body) {
                sentence(&one.folded(), one.span, Some(kind), notes);
            }
        }
        for row in rows {
            write_row(text, row, kind, notes);
        }
    }
}

/// The kind of a paragraph from its label, and what stands behind the label.
fn labelled<'a>(paragraph: &Paragraph<'a>) -> (Option<&'static str>, Paragraph<'a>) {
    for (label, kind) in KINDS {
        let Some(start) = paragraph.text.get(..label.len()) else {
            continue;
        };
        let rest = &paragraph.text[label.len().min(paragraph.text.len())..];
        if !start.eq_ignore_ascii_case(label) || !(rest.starts_with(':') || rest.starts_with("...")) {
            continue;
        }
        let body = rest.trim_start_matches(['.', ':', ' ']);
        let skipped = paragraph.text.len() - body.len();
        let body = Paragraph { start: paragraph.start + skipped, text: body.trim_start(), ..*paragraph };
        let more = paragraph.text.len() - skipped - body.text.len();
        return (Some(kind), Paragraph { start: body.start + more, ..body });
    }
    (None, paragraph.clone())
}

/// A row `area...6 to 12 ft`, with lines that go on from it.
#[derive(Clone, Copy, Debug)]
struct Row<'a> {
    area: &'a str,
    amounts: &'a str,
    start: usize,
}

/// The rows of a paragraph whose first line names an area and an amount; none where it is sentences.
fn table_rows<'a>(paragraph: &Paragraph<'a>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    let mut pending: Option<usize> = None;
    for line in paragraph.text.split_inclusive('\n') {
        let begin = pending.unwrap_or(at);
        let so_far = &paragraph.text[begin..at + line.len()];
        match split_row(so_far) {
            Some(dots) => {
                starts.push((begin, begin + dots));
                pending = None;
            }
            // An area may need two lines before its dots; anything else goes on with the row before it.
            None if starts.is_empty() && pending.is_none() => pending = Some(at),
            None if starts.is_empty() => return Vec::new(),
            None => pending = None,
        }
        at += line.len();
    }
    for (idx, (begin, dots)) in starts.iter().enumerate() {
        let end = starts.get(idx + 1).map_or(paragraph.text.len(), |(next, _)| *next);
        let area = paragraph.text[*begin..*dots].trim();
        let amounts = paragraph.text[*dots..end].trim().trim_start_matches('.').trim();
        rows.push(Row { area, amounts, start: paragraph.start + begin });
    }
    rows
}

/// Where the dots stand between an area and its amount.
fn split_row(line: &str) -> Option<usize> {
    let upper = line.to_ascii_uppercase();
    let dots = upper.find("...")?;
    let amounts = upper[dots..].trim_start_matches('.').trim_start();
    let amounts = amounts.strip_prefix("AN ADDITIONAL ").or(amounts.strip_prefix("ADDITIONAL ")).unwrap_or(amounts);
    let amounts = amounts.strip_prefix("UP TO ").or(amounts.strip_prefix("AROUND ")).unwrap_or(amounts);
    let amounts = amounts.strip_prefix("NEAR ").or(amounts.strip_prefix("ISOLATED ")).unwrap_or(amounts);
    let area = line[..dots].trim();
    let short = !area.is_empty() && area.len() < 140 && !area.contains(". ");
    (short && amounts.starts_with(|c: char| c.is_ascii_digit())).then_some(dots)
}

const FEET: &[&str] = &["FT", "FEET", "FOOT"];
const INCHES: &[&str] = &["INCH"];

fn amounts(words: &str, kind: &str) -> Vec<(&'static str, f64, &'static str, String)> {
    let mut all = Vec::new();
    if let Some(((low, high), given)) = range(words, FEET).filter(|_| kind != "surf") {
        all.push(("surge_min", low, "ft", given.to_owned()));
        all.push(("surge_max", high, "ft", given.to_owned()));
    }
    if let Some(((low, high), given)) = range(words, INCHES) {
        all.push(("rain_min", low, "inch", given.to_owned()));
        all.push(("rain_max", high, "inch", given.to_owned()));
    }
    all
}

fn write_row(text: &str, row: Row<'_>, kind: &str, notes: &mut Notes<'_>) {
    let amount_words = folded(row.amounts);
    let area = shown_name(&folded(row.area).replace("...", ", "));
    let what = match kind {
        "surge" => "storm surge above ground",
        "rain" => "total rainfall",
        _ => "hazard",
    };
    let end = super::summary::line_of(text, row.amounts);
    let span = Span::new(row.start, (row.amounts.as_ptr() as usize - text.as_ptr() as usize) + row.amounts.len());
    let mut values = amounts(&amount_words, kind);
    if values.is_empty() && kind == "surge" {
        // A forecaster may leave the unit of a row out; the table is in feet.
        values = amounts(&format!("{amount_words} ft"), kind);
    }
    if values.is_empty() {
        notes.fail(end, format!("`{amount_words}` gives no amount in feet or inches"));
        return;
    }
    let detail = format!("{kind}:{}", slug(&area));
    let mut fact = Draft::new("forecasts_hazard_at_horizon", format!("{what} {area}: {amount_words}"), span)
        .mention(state(notes.header, "hazard", &detail, format!("{what} {area}"), "hazard_forecast"))
        .text("area", &area)
        .valid(notes.header.issued_at);
    let ends: Vec<&str> = area.split(" to ").collect();
    let ends = if ends.len() == 2 { ends } else { vec![area.as_str()] };
    for end in ends.into_iter().filter(|end| end.len() < 60 && !slug(end).is_empty()) {
        fact = fact.mention(place(end));
    }
    for (name, value, unit, given) in values {
        fact = fact.number(name, value, unit, given);
    }
    notes.add(fact);
}

/// Writes what one sentence says of a hazard; its kind from its words where the section does not tell.
pub(super) fn sentence(words: &str, span: Span, kind: Option<&str>, notes: &mut Notes<'_>) {
    let upper = words.to_ascii_uppercase();
    if upper.contains("PLEASE CONSULT") || upper.contains("PLEASE SEE PRODUCTS") || upper.contains("PLEASE MONITOR") {
        return;
    }
    let from_words = || match &upper {
        words if words.contains("SURGE") => "surge",
        words if words.contains("RAIN") || words.contains("FLOOD") => "rain",
        words if words.contains("TORNADO") => "tornado",
        words if words.contains("SWELL") || words.contains("SURF") || words.contains("RIP CURRENT") => "surf",
        words if words.contains("WIND") => "wind",
        _ => "general",
    };
    let kind = kind.filter(|kind| *kind != "general").unwrap_or_else(from_words);
    let values = amounts(words, kind);
    let relation = if values.is_empty() { "has_additional_hazard" } else { "forecasts_hazard_at_horizon" };
    // The first bytes of the sentence tell several sentences of one kind apart.
    let detail = format!("{kind}:{}", slug(words).chars().take(40).collect::<String>());
    let name = format!("{kind} hazard of {}", notes.header.title.name);
    let mut fact = Draft::new(relation, format!("{kind} hazard: {words}"), span)
        .mention(state(notes.header, "hazard", &detail, name, "hazard_forecast"))
        .valid(notes.header.issued_at);
    for (name, value, unit, given) in values {
        fact = fact.number(name, value, unit, given);
    }
    for name in names::places(words, notes.header) {
        fact = fact.mention(place(&name));
    }
    notes.add(fact);
}
