//! The sections of a public advisory by their headings.

use crate::grammar::lines::Line;

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    /// Before the first heading: headlines; in older texts everything.
    Opening,
    /// `SUMMARY OF 1000 PM CDT...0300 UTC...INFORMATION`.
    Summary,
    /// `WATCHES AND WARNINGS`.
    Warnings,
    /// `DISCUSSION AND 48-HOUR OUTLOOK`.
    Discussion,
    /// `HAZARDS AFFECTING LAND`.
    Hazards,
    /// `NEXT ADVISORY`.
    Next,
}

/// Lines under one heading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'t, 'a> {
    /// Which.
    pub(super) heading: Heading,
    /// Its lines, without the heading and the rule under it.
    pub(super) lines: &'t [Line<'a>],
}

fn heading(line: &str) -> Option<Heading> {
    let upper = line.trim_matches(|c: char| c == '.' || c == ':' || c.is_whitespace()).to_ascii_uppercase();
    if upper.starts_with("SUMMARY OF") && upper.ends_with("INFORMATION") {
        return Some(Heading::Summary);
    }
    match upper.as_str() {
        "WATCHES AND WARNINGS" | "WATCHES/WARNINGS" => Some(Heading::Warnings),
        "NEXT ADVISORY" => Some(Heading::Next),
        _ if upper.starts_with("DISCUSSION") && upper.len() < 40 => Some(Heading::Discussion),
        _ if upper.starts_with("HAZARDS") && upper.len() < 40 => Some(Heading::Hazards),
        _ => None,
    }
}

fn is_rule(line: &str) -> bool {
    line.len() > 3 && line.bytes().all(|byte| matches!(byte, b'-' | b'=' | b'_'))
}

/// Cuts the body at its headings; what comes behind `$$` is the forecaster's name.
pub(super) fn sections<'t, 'a>(body: &'t [Line<'a>]) -> Vec<Section<'t, 'a>> {
    let end = body.iter().position(|line| matches!(line.words(), "$$" | "NNNN")).unwrap_or(body.len());
    let body = &body[..end];
    let mut all = Vec::new();
    let (mut start, mut current) = (0, Heading::Opening);
    for (idx, line) in body.iter().enumerate() {
        if let Some(next) = heading(line.words()) {
            all.push(Section { heading: current, lines: &body[start..idx] });
            current = next;
            start = idx + 1;
            if body.get(start).is_some_and(|line| is_rule(line.words())) {
                start += 1;
            }
        }
    }
    all.push(Section { heading: current, lines: &body[start.min(body.len())..] });
    all.retain(|section| section.lines.iter().any(|line| !line.is_blank()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::lines::lines;

    #[test]
    fn headings_cut_the_body() {
        let text = "...HEADLINE...\n\nSUMMARY OF 5 PM CDT...2200 UTC...INFORMATION\n----------\nLOCATION...\n\n\
            HAZARDS AFFECTING LAND\n------\nNone\n\n$$\nForecaster\n";
        let all = lines(text);
        let found: Vec<(Heading, usize)> = sections(&all).iter().map(|s| (s.heading, s.lines.len())).collect();
        assert_eq!(found, [(Heading::Opening, 2), (Heading::Summary, 2), (Heading::Hazards, 2)]);
    }
}
