//! Temporal anchors in words: `T-48 hours before expected landfall:`, `two days before landfall`, `24 h out`.

use serde::{Deserialize, Serialize};

use super::{DOMAIN_FILE, DomainError, name_form};

/// How documents and questions name a horizon.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Anchors {
    /// Wordings with `{hours}`, `{days}` and `{event}`, longest first, such as `{hours} hours before {event}`.
    pub patterns: Vec<String>,
    /// Reference events with the words for them.
    pub events: Vec<Event>,
    /// Words for small numbers, from `one` (so `two` is the second).
    pub numbers: Vec<String>,
}

/// A reference event from which horizons are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its name, as in a horizon update.
    pub name: String,
    /// Words for it.
    pub words: Vec<String>,
}

/// A horizon found in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorMatch {
    /// Hours before the event.
    pub hours: u16,
    /// The event, where the words name one.
    pub event: Option<String>,
}

impl Anchors {
    pub(super) fn check(&self) -> Result<(), DomainError> {
        for pattern in &self.patterns {
            let numbers = pattern.matches("{hours}").count() + pattern.matches("{days}").count();
            if numbers != 1 || pattern.matches("{event}").count() > 1 {
                let reason = format!("{pattern:?} needs one of {{hours}} and {{days}}, and at most one {{event}}");
                return Err(DomainError::at_key(DOMAIN_FILE, "anchors.patterns", reason));
            }
        }
        Ok(())
    }

    /// The first horizon that a text names, trying the patterns in their order.
    pub fn find(&self, text: &str) -> Option<AnchorMatch> {
        let form = name_form(text);
        let words: Vec<&str> = form.split(' ').filter(|word| !word.is_empty()).collect();
        self.patterns.iter().find_map(|pattern| {
            let pattern = pattern.replace("{hours}", "0hours").replace("{days}", "0days").replace("{event}", "0event");
            let pattern = name_form(&pattern);
            let parts: Vec<&str> = pattern.split(' ').collect();
            (0..words.len()).find_map(|at| self.match_at(&words[at..], &parts))
        })
    }

    fn match_at(&self, words: &[&str], parts: &[&str]) -> Option<AnchorMatch> {
        let mut rest = words;
        let mut matched = AnchorMatch { hours: 0, event: None };
        for part in parts {
            match *part {
                "0hours" | "0days" => {
                    let (first, after) = rest.split_first()?;
                    let scale = if *part == "0days" { 24 } else { 1 };
                    matched.hours = self.number(first)?.checked_mul(scale)?;
                    rest = after;
                }
                "0event" => {
                    let (event, used) = self.event_at(rest)?;
                    matched.event = Some(event.to_owned());
                    rest = &rest[used..];
                }
                literal => {
                    let (first, after) = rest.split_first()?;
                    if *first != literal {
                        return None;
                    }
                    rest = after;
                }
            }
        }
        Some(matched)
    }

    fn number(&self, word: &str) -> Option<u16> {
        if let Some(idx) = self.numbers.iter().position(|name| name == word) {
            return u16::try_from(idx + 1).ok();
        }
        // Three digits are the form of the header; a longer number is a year or an id.
        if word.len() <= 3 { word.parse().ok() } else { None }
    }

    /// The event that the words start with and how many they are, the longest wording first.
    fn event_at(&self, words: &[&str]) -> Option<(&str, usize)> {
        let mut best: Option<(&str, usize)> = None;
        for event in &self.events {
            for wording in &event.words {
                let form = name_form(wording);
                let count = form.split(' ').count();
                let starts = words.len() >= count && words[..count].join(" ") == form;
                if starts && best.is_none_or(|(_, most)| count > most) {
                    best = Some((&event.name, count));
                }
            }
        }
        best
    }
}
