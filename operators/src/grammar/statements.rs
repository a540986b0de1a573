//! General English text: each sentence is one atomic fact (HyperProve 3.1), made to stand by itself.
//!
//! A fact joins what its sentence names, what it speaks of without a name, and the subject of the document's title. Its source
//! is in its provenance and not among them, so that texts which say the same share one fact; a sentence that has only one
//! thing to join is joined with its document.

use hypercane_schemas::{Document, EntityKey, Fixed, GroupKey, Origin, Span};

use crate::{
    extraction::{Extraction, Fact, Mention},
    language::{Analysis, Language, entity_key, name_key, noun_phrases, sentences},
};

/// The relation of every fact.
pub const STATES: &str = "states";
/// The type of what a title names.
pub const SUBJECT: &str = "subject";
/// The type of what is spoken of without a name.
pub const CONCEPT: &str = "concept";
/// The type of a document.
pub const DOCUMENT: &str = "document";

/// The facts of a text.
pub(super) fn extract(document: &Document, language: &Language) -> Extraction {
    let title = document.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let group = document.group.clone().unwrap_or_else(|| GroupKey(document.key.0.clone()));
    let mut subject = title.map(str::to_owned);
    let mut facts = Vec::new();
    for span in sentences(&document.text) {
        let Some(sentence) = span.of(&document.text) else { continue };
        let mut mentions = Vec::from_iter(title.map(|title| mention(name(title), title, SUBJECT, "title")));
        let named = self::mentions(sentence, &language.analyse(sentence));
        let first_named = named.iter().find(|m| is_name(m) && !is_value(&m.kind)).map(|mention| mention.name.clone());
        mentions.extend(named);
        if !mentions.is_empty() {
            if mentions.iter().all(|other| other.entity == mentions[0].entity) {
                mentions.push(source(document));
            }
            let text = self_standing(sentence, subject.as_deref());
            facts.push(fact(text, span, mentions, &group));
        }
        if title.is_none() {
            subject = first_named.or(subject);
        }
    }
    Extraction { product: None, issued_at: document.issued_at, facts, failures: Vec::new() }
}

/// What a sentence names, then what it speaks of without a name. A question is read in the same way.
pub fn mentions(sentence: &str, analysis: &Analysis<'_>) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for entity in &analysis.entities {
        let Some(text) = entity.span.of(sentence) else { continue };
        let kind = entity.label.to_ascii_lowercase();
        let Some(key) = key(text, &kind) else { continue };
        mentions.push(mention(key, text, &kind, "mention"));
    }
    for phrase in noun_phrases(sentence, analysis) {
        if let Some(text) = phrase.of(sentence).filter(|text| !name_key(text).is_empty()) {
            mentions.push(mention(name(text), text, CONCEPT, "mention"));
        }
    }
    mentions
}

fn fact(text: String, span: Span, mentions: Vec<Mention>, group: &GroupKey) -> Fact {
    Fact {
        relation: STATES.into(),
        mentions,
        text,
        span,
        attributes: Vec::new(),
        group: group.clone(),
        valid_at: None,
        relations: Vec::new(),
        confidence: Fixed::ONE,
        origin: Origin::Extracted,
        reference_at: None,
    }
}

/// The key of what a text calls by a name, by its type; `None` for bare numbers, which name nothing.
pub(crate) fn key(name: &str, kind: &str) -> Option<String> {
    let key = entity_key(name, &kind.to_ascii_uppercase()).filter(|key| !key.is_empty())?;
    Some(if is_value(kind) { format!("{kind}:{key}") } else { format!("name:{key}") })
}

fn mention(key: String, name: &str, kind: &str, role: &str) -> Mention {
    Mention {
        entity: EntityKey(key),
        name: name.to_owned(),
        kind: kind.to_owned(),
        role: role.to_owned(),
        description: String::new(),
        aliases: Vec::new(),
    }
}

/// The document itself, where a fact has nothing else to join.
pub(crate) fn source(document: &Document) -> Mention {
    mention(EntityKey::of_document(&document.key).0, &document.key.0, DOCUMENT, "source")
}

fn name(text: &str) -> String {
    format!("name:{}", name_key(text))
}

/// The key of what has this name.
pub fn name_entity(text: &str) -> EntityKey {
    EntityKey(name(text))
}

/// Whether a mention names something that other texts may name too: not the document itself, its title, or a mere notion.
pub fn is_name(mention: &Mention) -> bool {
    mention.role == "mention" && mention.kind != CONCEPT
}

/// Labels whose keys are values, and would mean another thing as a name.
fn is_value(kind: &str) -> bool {
    matches!(kind, "date" | "time" | "money" | "percent" | "quantity")
}

const PERSONAL: [&str; 4] = ["he", "she", "it", "they"];
const POSSESSIVE: [&str; 4] = ["his", "her", "its", "their"];

/// A sentence that can be read by itself: the subject stands for a leading pronoun; a sentence that does not name it comes
/// after it and a colon.
pub fn self_standing(sentence: &str, subject: Option<&str>) -> String {
    let Some(subject) = subject else { return sentence.to_owned() };
    let end = sentence.find(|letter: char| !letter.is_alphabetic()).unwrap_or(sentence.len());
    let (first, rest) = sentence.split_at(end);
    let first = first.to_lowercase();
    if rest.starts_with(' ') && PERSONAL.contains(&first.as_str()) {
        return format!("{subject}{rest}");
    }
    if rest.starts_with(' ') && POSSESSIVE.contains(&first.as_str()) {
        return format!("{subject}'s{rest}");
    }
    if name_key(sentence).contains(&name_key(subject)) {
        return sentence.to_owned();
    }
    format!("{subject}: {sentence}")
}

#[cfg(test)]
mod tests {
    use super::self_standing;

    #[test]
    fn a_sentence_is_made_to_stand_by_itself() {
        let stands = |sentence: &str| self_standing(sentence, Some("Milwaukee Deep (trench)"));
        assert_eq!(stands("It is 8,380 m deep."), "Milwaukee Deep (trench) is 8,380 m deep.");
        assert_eq!(stands("Its floor is flat."), "Milwaukee Deep (trench)'s floor is flat.");
        assert_eq!(stands("The Milwaukee Deep was sounded in 1939."), "The Milwaukee Deep was sounded in 1939.");
        assert_eq!(stands("A ship sounded it."), "Milwaukee Deep (trench): A ship sounded it.");
        assert_eq!(stands("It"), "Milwaukee Deep (trench): It");
        assert_eq!(self_standing("It rains.", None), "It rains.");
    }
}
