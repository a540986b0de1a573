//! How much an extraction will ask, before it asks.

use std::fmt;

use hypercane_operators::language_model::Passage;

use super::TokenCounter;

/// An answer is taken to be this many times as long as its passage (real answers of the form asked for are two to four
/// times as long), and so many tokens more for its frame.
const ANSWER_PER_PASSAGE: u64 = 3;
const FRAME: u64 = 100;

/// About how many tokens an answer will have.
pub(super) fn expected_answer(counter: &TokenCounter, passage: &Passage) -> u64 {
    ANSWER_PER_PASSAGE * counter.count(&passage.text) + FRAME
}

/// What must be asked. Shown, it is a report for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The model.
    pub model: String,
    /// Passages with different text.
    pub passages: usize,
    /// Those whose answer is on record.
    pub recorded: usize,
    /// Calls to make: a passage each, one more for each answer that will be malformed.
    pub calls: usize,
    /// Of these, passages that are on record from another model or under another prompt.
    pub changed: usize,
    /// Of these, repairs of malformed answers that are on record.
    pub repairs: usize,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens of the answers, by a rule of thumb.
    pub answer_tokens: u64,
    how: &'static str,
}

impl Plan {
    pub(super) fn new(model: &str, how: &'static str) -> Self {
        Self {
            model: model.into(),
            passages: 0,
            recorded: 0,
            calls: 0,
            changed: 0,
            repairs: 0,
            prompt_tokens: 0,
            answer_tokens: 0,
            how,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, passages, recorded, calls, changed, repairs, prompt_tokens, answer_tokens, how } = self;
        writeln!(f, "{recorded} of {passages} passages are on record for {model}")?;
        if *changed > 0 {
            writeln!(
                f,
                "{changed} passages are on record only from another model or prompt, and are to be extracted again"
            )?;
        }
        if *repairs > 0 {
            writeln!(f, "{repairs} malformed answers are to be repaired")?;
        }
        writeln!(f, "{calls} calls are to be made, and one more for each answer that is malformed")?;
        write!(
            f,
            "about {prompt_tokens} tokens of prompts ({how}) and {answer_tokens} of answers (taken to be \
             {ANSWER_PER_PASSAGE} times as long as their passages)"
        )
    }
}
