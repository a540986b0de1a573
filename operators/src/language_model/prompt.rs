//! What a model is asked: the prompt for extraction, and passages.

use hypercane_schemas::{ContentHash, text};
use serde::Serialize;

use super::{Template, json_schema};
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

/// The prompt for extraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt(Template);

impl Prompt {
    /// Reads a prompt. `{title}` and `{text}` stand for the passage.
    ///
    /// # Errors
    /// As [`Template::parse`] says; `{text}` is needed.
    pub fn parse(markdown: &str) -> Result<Self, String> {
        Template::parse(markdown, "extract", &["{title}", "{text}"], &["{text}"], &json_schema()).map(Self)
    }

    /// Hash of what goes into the first question beside the passage: an answer is recorded under it.
    pub fn hash(&self) -> ContentHash {
        self.0.hash()
    }

    /// Hash of what goes into the repair beside the passage and the malformed answer.
    pub fn repair_hash(&self) -> ContentHash {
        self.0.repair_hash()
    }

    /// The question about a passage.
    pub fn messages(&self, passage: &Passage) -> Vec<Message> {
        self.0.messages(&[passage.title.trim(), passage.text.trim()])
    }

    /// The question once more, after the malformed answer, with what is wrong about it.
    pub fn repair_messages(&self, passage: &Passage, malformed: &str, reason: &str) -> Vec<Message> {
        self.0.repair_messages(&[passage.title.trim(), passage.text.trim()], malformed, reason)
    }
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
