//! The prompt of a domain pack: a Markdown file with the sections `# System`, `# User` and `# Repair`.

use hypercane_schemas::{ContentHash, text};
use serde::Serialize;

use super::json_schema;
use crate::kernel::Chunk;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What the model is to do.
    System,
    /// We.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// The words.
    pub content: String,
}

/// What is extracted from in one call: the text of a chunk, with its document's title.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Passage {
    /// The title; may be empty.
    pub title: String,
    /// The text.
    pub text: String,
}

impl Passage {
    /// The passage of a chunk.
    pub fn of(chunk: &Chunk) -> Self {
        Self { title: chunk.document.title.clone().unwrap_or_default(), text: chunk.document.text.clone() }
    }

    /// The hash under which an answer about it is recorded. Passages whose title and text count as the same (NFKC, white
    /// space folded) share one.
    pub fn input(&self) -> ContentHash {
        ContentHash::of_parts([text::canonical(&self.title).as_str(), text::canonical(&self.text).as_str()])
    }

    /// The hash under which the repair of a malformed answer about it is recorded.
    pub fn repair_input(&self, malformed: &str) -> ContentHash {
        let [title, passage] = [&self.title, &self.text].map(|part| text::canonical(part));
        ContentHash::of_parts([title.as_str(), passage.as_str(), malformed])
    }
}

/// The template of outputs that were made elsewhere, by a prompt that is not known.
pub fn imported_template() -> ContentHash {
    ContentHash::of_parts(["imported"])
}

/// A prompt for extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    system: Vec<Part>,
    user: Vec<Part>,
    repair: Vec<Part>,
    hash: ContentHash,
    repair_hash: ContentHash,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Words(String),
    Title,
    Text,
    Reason,
}

const SECTIONS: [&str; 3] = ["# System", "# User", "# Repair"];

impl Prompt {
    /// Reads a prompt. `{title}` and `{text}` stand for the passage in the section `# User`, `{reason}` for what is wrong
    /// with an answer in the section `# Repair`.
    ///
    /// # Errors
    /// A section or `{text}` or `{reason}` is missing: says which.
    pub fn parse(markdown: &str) -> Result<Self, String> {
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
        for (name, section, needed) in [("# User", user, "{text}"), ("# Repair", repair, "{reason}")] {
            if !section.contains(needed) {
                return Err(format!("the section `{name}` has no `{needed}`, so the model would not see it"));
            }
        }
        let schema = json_schema().to_string();
        Ok(Self {
            system: parts(system, &[]),
            user: parts(user, &[("{title}", Part::Title), ("{text}", Part::Text)]),
            repair: parts(repair, &[("{reason}", Part::Reason)]),
            hash: ContentHash::of_parts(["extract", system, user, &schema]),
            repair_hash: ContentHash::of_parts(["repair", system, user, repair, &schema]),
        })
    }

    /// Hash of what goes into the first question beside the passage: an answer is recorded under it.
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    /// Hash of what goes into the repair beside the passage and the malformed answer.
    pub fn repair_hash(&self) -> ContentHash {
        self.repair_hash
    }

    /// The question about a passage.
    pub fn messages(&self, passage: &Passage) -> Vec<Message> {
        vec![
            Message { role: Role::System, content: render(&self.system, passage, "") },
            Message { role: Role::User, content: render(&self.user, passage, "") },
        ]
    }

    /// The question once more, after the malformed answer, with what is wrong about it.
    pub fn repair_messages(&self, passage: &Passage, malformed: &str, reason: &str) -> Vec<Message> {
        let mut messages = self.messages(passage);
        messages.push(Message { role: Role::Assistant, content: malformed.into() });
        messages.push(Message { role: Role::User, content: render(&self.repair, passage, reason) });
        messages
    }
}

/// Splits a template at its placeholders, so that what is put in for one is never taken for another.
fn parts(template: &str, placeholders: &[(&str, Part)]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((at, name, part)) =
        placeholders.iter().filter_map(|(name, part)| Some((rest.find(name)?, name, part))).min_by_key(|found| found.0)
    {
        parts.push(Part::Words(rest[..at].to_owned()));
        parts.push(part.clone());
        rest = &rest[at + name.len()..];
    }
    parts.push(Part::Words(rest.to_owned()));
    parts
}

fn render(parts: &[Part], passage: &Passage, reason: &str) -> String {
    let words = parts.iter().map(|part| match part {
        Part::Words(words) => words.as_str(),
        Part::Title => passage.title.trim(),
        Part::Text => passage.text.trim(),
        Part::Reason => reason,
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::{Passage, Prompt, Role};

    const PROMPT: &str = "About this file.\n# System\nBe brief.\n# User\n{title}: {text}\n# Repair\nWrong: {reason}\n";

    #[test]
    fn a_passage_is_put_in_once_whatever_it_says() {
        let prompt = Prompt::parse(PROMPT).unwrap();
        let passage = Passage { title: "A {text}".into(), text: "Say {reason}, {title}.".into() };
        let messages = prompt.repair_messages(&passage, "{", "the JSON ends");
        let said: Vec<(Role, &str)> = messages.iter().map(|message| (message.role, message.content.as_str())).collect();
        assert_eq!(
            said,
            [
                (Role::System, "Be brief."),
                (Role::User, "A {text}: Say {reason}, {title}."),
                (Role::Assistant, "{"),
                (Role::User, "Wrong: the JSON ends"),
            ]
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let told = |from: &str, to: &str| Prompt::parse(&PROMPT.replace(from, to)).unwrap_err();
        assert!(told("# Repair", "# Mend").contains("`# Repair`"));
        assert!(told("{text}", "text").contains("`{text}`"));
        assert!(told("# User", "# System").contains("twice"));
    }

    #[test]
    fn the_hash_follows_what_the_model_sees() {
        let prompt = Prompt::parse(PROMPT).unwrap();
        let other = |from: &str, to: &str| Prompt::parse(&PROMPT.replace(from, to)).unwrap();
        assert_eq!(other("About this file.", "Notes.").hash(), prompt.hash());
        assert_ne!(other("Be brief.", "Be long.").hash(), prompt.hash());
        let mended = other("Wrong", "Bad");
        assert_eq!(mended.hash(), prompt.hash(), "answers that need no repair stay");
        assert_ne!(mended.repair_hash(), prompt.repair_hash());
    }
}
