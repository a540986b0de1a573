//! What a question asks for, by its words: products, families, thresholds, conditions, and how it looks at order. The words
//! are the pack's.

use hypercane_schemas::Fixed;
use serde::{Deserialize, Serialize};

use super::{
    thresholds,
    words::{Token, find_phrase, words},
};
use crate::domain::{Crossing, Domain};

/// A value that something reaches, in the canonical unit of its attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Threshold {
    /// The attribute.
    pub attribute: String,
    /// The value.
    pub value: Fixed,
    /// The direction.
    pub crossing: Crossing,
}

/// How a question looks at order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Intent {
    /// When something first was so.
    pub first: bool,
    /// Several states, in order.
    pub sequence: bool,
    /// The newest state.
    pub latest: bool,
    /// The largest or smallest of all.
    pub extreme: bool,
    /// What changed.
    pub change: bool,
    /// A forecast, not the present.
    pub forecast: bool,
}

/// What a question's words ask for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Cues {
    /// Kinds of products that are named (`tcm`, `pws`, `port_post`); empty means any.
    pub kinds: Vec<String>,
    /// Relation families that are asked for.
    pub families: Vec<u8>,
    /// Attributes that are asked for, most specific first.
    pub attributes: Vec<String>,
    /// Classes of a storm that are named apart from a storm's own title, as in the pack.
    pub classes: Vec<String>,
    /// Values to be reached.
    pub thresholds: Vec<Threshold>,
    /// Wind speeds in kt for which radii and probabilities are given, as far as they are named.
    pub wind_levels: Vec<u16>,
    /// Port conditions, as documents call them.
    pub conditions: Vec<String>,
    /// How it looks at order.
    pub intent: Intent,
}

/// Reads the cues of a question.
pub(super) fn read(tokens: &[Token], question: &str, domain: &Domain) -> Cues {
    let questions = domain.questions();
    let words = words(tokens);
    let any = |phrases: &[String]| phrases.iter().any(|phrase| find_phrase(&words, phrase).is_some());
    let intents = &questions.intents;
    let mut cues = Cues {
        attributes: domain.attributes_asked(question).into_iter().map(str::to_owned).collect(),
        intent: Intent {
            first: any(&intents.first),
            sequence: any(&intents.sequence),
            latest: any(&intents.latest),
            extreme: any(&intents.extreme),
            change: any(&intents.change),
            forecast: any(&intents.forecast),
        },
        ..Cues::default()
    };
    let products = questions.products.iter().filter(|product| any(&product.words));
    cues.kinds.extend(products.map(|product| product.kind.clone()));
    cues.families.extend(questions.families.iter().filter(|(_, words)| any(words)).map(|(family, _)| *family));
    let conditions = questions.conditions.words.iter().filter(|(_, words)| any(words));
    cues.conditions.extend(conditions.map(|(condition, _)| condition.clone()));
    if !cues.conditions.is_empty() {
        cues.families.extend(&questions.conditions.families);
    }
    if any(&questions.class_words) && !cues.attributes.iter().any(|a| a == "status") {
        cues.attributes.insert(0, "status".into());
    }
    cues.classes = classes(tokens, domain);
    thresholds::read(tokens, &words, questions, &mut cues);
    cues.families.sort_unstable();
    cues.families.dedup();
    cues
}

fn dedup(list: &mut Vec<String>) {
    let mut seen = Vec::new();
    list.retain(|item| {
        let new = !seen.contains(item);
        seen.push(item.clone());
        new
    });
}

/// Classes that are named for themselves: not as a title before a name, not as the kind of a watch or warning.
fn classes(tokens: &[Token], domain: &Domain) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    let is_word = |i: usize| tokens.get(i).is_some_and(|t| t.is_word);
    while at < tokens.len() {
        let longest = (1..=3).rev().find_map(|count| {
            let end = word_end(tokens, at, count)?;
            let text: Vec<&str> = tokens[at..end].iter().map(|t| t.lower.as_str()).collect();
            let (_, class) = domain.status_class(&text.join(" "))?;
            // Two-letter abbreviations only where they are written in capitals.
            let written = text.len() > 1 || text[0].len() > 3 || tokens[at].raw.chars().all(char::is_uppercase);
            written.then_some((end, class.name.clone()))
        });
        let Some((end, class)) = longest else {
            at += 1;
            continue;
        };
        let next = tokens.get(end).map(|t| t.lower.as_str()).unwrap_or("");
        let joined = next == "-";
        let of_warning = domain.questions().after_class.contains(next);
        let title = is_word(end) && tokens[end].is_capitalised() && tokens[end].digits() == 0;
        if !of_warning && !title && !joined {
            found.push(class);
        }
        at = end;
    }
    dedup(&mut found);
    found
}

/// Where `count` words from `at` on end, with hyphens between them.
fn word_end(tokens: &[Token], at: usize, count: usize) -> Option<usize> {
    let mut end = at;
    for n in 0..count {
        if n > 0 && tokens.get(end)?.lower == "-" {
            end += 1;
        }
        if !tokens.get(end)?.is_word {
            return None;
        }
        end += 1;
    }
    Some(end)
}
