//! Questions split and hops answered by a language model: asked once, once more where an answer is malformed, and recorded.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hypercane_operators::language_model::{HopPrompts, Malformed, Template, read_hop_answer, read_sub_queries};
use hypercane_schemas::{ContentHash, text};
use serde_json::Value;

use super::{Client, Error, RecordedTexts, Request, Spent, TextStore};

/// Tokens that an answer may take; it is a few words, or a few questions.
const ANSWER_TOKENS: u64 = 120;

/// Asks about questions. What gets no answer that can be used is left to the rules.
#[derive(Debug)]
pub struct Reasoner {
    texts: RecordedTexts,
    prompts: HopPrompts,
    n_left: AtomicUsize,
}

impl Reasoner {
    /// Asks a model with these prompts.
    pub fn new(client: Client, prompts: HopPrompts, store: Arc<dyn TextStore>) -> Self {
        Self { texts: RecordedTexts::new(client, store), prompts, n_left: AtomicUsize::new(0) }
    }

    /// The model.
    pub fn model(&self) -> &str {
        self.texts.model()
    }

    /// Calls that may be under way together.
    pub fn concurrency(&self) -> usize {
        self.texts.client().map_or(1, Client::concurrency)
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.texts.client().map(Client::spent).unwrap_or_default()
    }

    /// How many questions got no answer that can be used so far.
    pub fn n_left(&self) -> usize {
        self.n_left.load(Ordering::Relaxed)
    }

    /// At most so many sub-queries of a question; `None` where the model gives none that can be used.
    ///
    /// # Errors
    /// The endpoint can't be used at all, or the record.
    pub async fn sub_queries(&self, question: &str, most: usize) -> Result<Option<Vec<String>>, Error> {
        let number = most.to_string();
        let read = |text: &str| read_sub_queries(text, most);
        self.ask(&self.prompts.split, &HopPrompts::split_schema(), &[question, &number], read).await
    }

    /// The answer of a sub-query in its evidence, best first; `None` where the model gives none that can be used, and none
    /// within where the evidence does not say.
    ///
    /// # Errors
    /// The endpoint can't be used at all, or the record.
    pub async fn answer(&self, query: &str, evidence: &[&str]) -> Result<Option<Option<String>>, Error> {
        let lines: Vec<String> = evidence.iter().map(|text| format!("- {}", text.trim())).collect();
        let lines = lines.join("\n");
        self.ask(&self.prompts.answer, &HopPrompts::answer_schema(), &[query, &lines], read_hop_answer).await
    }

    async fn ask<T>(
        &self,
        template: &Template,
        schema: &Value,
        values: &[&str],
        read: impl Fn(&str) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Error> {
        match self.answered(template, schema, values, &read).await {
            Ok(Ok(answer)) => Ok(Some(answer)),
            Ok(Err(Malformed { reason, .. })) => {
                tracing::debug!(question = values[0], reason, "the language model's answer can't be used");
                self.n_left.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            }
            Err(error) if error.is_for_all() => Err(error),
            // Where it is not asked any more, that is told once.
            Err(error) => {
                tracing::debug!(question = values[0], %error, "the language model gives no answer");
                self.n_left.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// The answer, or the one to the repair where it is malformed, as it can be read.
    async fn answered<T>(
        &self,
        template: &Template,
        schema: &Value,
        values: &[&str],
        read: impl Fn(&str) -> Result<T, Malformed>,
    ) -> Result<Result<T, Malformed>, Error> {
        let canonical: Vec<String> = values.iter().map(|value| text::canonical(value)).collect();
        let mut parts: Vec<&str> = canonical.iter().map(String::as_str).collect();
        let request = |messages| Request { messages, schema: schema.clone(), answer_tokens: ANSWER_TOKENS };
        let asked = || request(template.messages(values));
        let input = ContentHash::of_parts(parts.iter().copied());
        let first = self.texts.text(template.hash(), input, values[0], asked).await?;
        let malformed = match read(&first) {
            Err(malformed) if malformed.can_be_repaired => malformed,
            read => return Ok(read),
        };
        parts.push(&first);
        let input = ContentHash::of_parts(parts);
        let asked = || request(template.repair_messages(values, &first, &malformed.reason));
        let second = self.texts.text(template.repair_hash(), input, values[0], asked).await?;
        Ok(read(&second))
    }
}
