//! The template of a prompt: a Markdown text with the sections `# System`, `# User` and `# Repair`.

use hypercane_schemas::ContentHash;
use serde_json::Value;

use super::{Message, Role};

/// What a model is asked, with places for what it is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    system: Vec<Part>,
    user: Vec<Part>,
    repair: Vec<Part>,
    hash: ContentHash,
    repair_hash: ContentHash,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(String),
    Place(usize),
}

const SECTIONS: [&str; 3] = ["# System", "# User", "# Repair"];
const REASON: &str = "{reason}";

impl Template {
    /// Reads a template. `places` stand in the section `# User` for what is asked about, `needed` must be among them; `{reason}`
    /// stands in the section `# Repair` for what is wrong with an answer. `task` and the schema of answers go into the hashes.
    ///
    /// # Errors
    /// A section, a needed place or `{reason}` is missing: says which.
    pub fn parse(markdown: &str, task: &str, places: &[&str], needed: &[&str], schema: &Value) -> Result<Self, String> {
        let mut sections: [Option<String>; 3] = Default::default();
        let mut current: Option<&mut String> = None;
        for line in markdown.lines() {
            if let Some(idx) = SECTIONS.iter().position(|name| *name == line.trim_end()) {
                if sections[idx].is_some() {
                    return Err(format!("the section `{}` is there twice", SECTIONS[idx]));
                }
                current = Some(sections[idx].insert(String::new()));
            } else if let Some(section) = &mut current {
                section.push_str(line);
                section.push('\n');
            }
        }
        let mut texts = Vec::new();
        for (name, section) in SECTIONS.iter().zip(&sections) {
            match section.as_deref().map(str::trim) {
                Some(text) if !text.is_empty() => texts.push(text),
                _ => return Err(format!("the section `{name}` is missing or empty")),
            }
        }
        let (system, user, repair) = (texts[0], texts[1], texts[2]);
        let needed = needed.iter().map(|place| ("# User", user, *place));
        for (name, section, needed) in needed.chain([("# Repair", repair, REASON)]) {
            if !section.contains(needed) {
                return Err(format!("the section `{name}` has no `{needed}`, so the model would not see it"));
            }
        }
        let schema = schema.to_string();
        Ok(Self {
            system: parts(system, &[]),
            user: parts(user, places),
            repair: parts(repair, &[REASON]),
            hash: ContentHash::of_parts([task, system, user, &schema]),
            repair_hash: ContentHash::of_parts(["repair", system, user, repair, &schema]),
        })
    }

    /// Hash of what goes into the first question beside what it is about: an answer is recorded under it.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Hash of what goes into the repair beside what it is about and the malformed answer.
    pub fn repair_hash(&self) -> ContentHash {
        self.repair_hash
    }

    /// The question, with a value for each place.
    pub fn messages(&self, values: &[&str]) -> Vec<Message> {
        vec![
            Message { role: Role::System, content: render(&self.system, &[]) },
            Message { role: Role::User, content: render(&self.user, values) },
        ]
    }

    /// The question once more, after the malformed answer, with what is wrong about it.
    pub fn repair_messages(&self, values: &[&str], malformed: &str, reason: &str) -> Vec<Message> {
        let mut messages = self.messages(values);
        messages.push(Message { role: Role::Assistant, content: malformed.into() });
        messages.push(Message { role: Role::User, content: render(&self.repair, &[reason]) });
        messages
    }
}

/// Splits a text at its places, so that what is put in for one is never taken for another.
fn parts(text: &str, places: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((at, number)) =
        places.iter().enumerate().filter_map(|(number, place)| Some((rest.find(place)?, number))).min()
    {
        parts.push(Part::Words(rest[..at].to_owned()));
        parts.push(Part::Place(number));
        rest = &rest[at + places[number].len()..];
    }
    parts.push(Part::Words(rest.to_owned()));
    parts
}

fn render(parts: &[Part], values: &[&str]) -> String {
    let words = parts.iter().map(|part| match part {
        Part::Words(words) => words.as_str(),
        Part::Place(number) => values.get(*number).copied().unwrap_or_default(),
    });
    words.collect()
}
