//! What passages say, by a language model: asked once, asked once more where the answer is malformed, and recorded.

use std::{collections::HashMap, sync::Arc};

use futures::{StreamExt, stream};
use hypercane_operators::language_model::{Message, Passage, Prompt, imported_template, json_schema, read};
use hypercane_schemas::{ContentHash, ModelText};
use serde::{Deserialize, Serialize};

use super::{Client, Error, Plan, RecordedTexts, Request, Spent, TextStore, plan::expected_answer};

/// Passages that are looked at together where no endpoint bounds them.
const AT_ONCE: usize = 64;

/// What answers are recorded under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ExtractorId {
    /// The model.
    pub model: String,
    /// Hash of the first question, but for the passage.
    pub template: ContentHash,
    /// Hash of the question that asks to repair an answer; none where outputs were imported.
    pub repair: Option<ContentHash>,
}

/// What a model wrote about a passage in the end. It may still be malformed: then the passage is a reject, with a reason
/// that [`hypercane_operators::language_model::extraction`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAnswer {
    /// The passage, by its hash.
    pub input: ContentHash,
    /// The text.
    pub text: Arc<str>,
    /// Whether it is the second answer, since the first one was malformed.
    pub is_repaired: bool,
}

/// Asks about passages.
#[derive(Debug)]
pub struct Extractor {
    texts: RecordedTexts,
    id: ExtractorId,
    /// None where nobody is asked.
    prompt: Option<Prompt>,
}

impl Extractor {
    /// Asks a model with this prompt.
    pub fn new(client: Client, prompt: Prompt, store: Arc<dyn TextStore>) -> Self {
        let id = ExtractorId::of(client.model(), &prompt);
        Self { texts: RecordedTexts::new(client, store), id, prompt: Some(prompt) }
    }

    /// Takes what a model was recorded to answer to this prompt, and never asks it. A plan tells what would be asked.
    pub fn record_only(model: &str, prompt: Prompt, store: Arc<dyn TextStore>) -> Self {
        let id = ExtractorId::of(model, &prompt);
        Self { prompt: Some(prompt), ..Self::recorded_under(id, store) }
    }

    /// Takes outputs of a model that were imported (see [`super::import`]), and never asks.
    pub fn imported(model: &str, store: Arc<dyn TextStore>) -> Self {
        let id = ExtractorId { model: model.into(), template: imported_template(), repair: None };
        Self::recorded_under(id, store)
    }

    /// Takes what was recorded, and never asks: for what must follow from the record alone.
    pub fn recorded_under(id: ExtractorId, store: Arc<dyn TextStore>) -> Self {
        let texts = RecordedTexts::record_only(id.model.clone(), store);
        Self { texts, id, prompt: None }
    }

    /// What answers are recorded under.
    pub fn id(&self) -> &ExtractorId {
        &self.id
    }

    /// The model.
    pub fn model(&self) -> &str {
        self.texts.model()
    }

    /// Hash under which answers to the first question are recorded.
    pub fn template(&self) -> ContentHash {
        self.id.template
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.texts.client().map(Client::spent).unwrap_or_default()
    }

    /// What is on record for a passage; never asks. A malformed first answer whose repair was not recorded is none.
    pub fn recorded(&self, passage: &Passage) -> Option<RecordedAnswer> {
        let input = passage.input();
        let text = self.texts.known(self.template(), input)?;
        match self.repair(passage, &text) {
            None => Some(RecordedAnswer { input, text, is_repaired: false }),
            Some(repair) => {
                let text = self.texts.known(repair.template, repair.input)?;
                Some(RecordedAnswer { input, text, is_repaired: true })
            }
        }
    }

    /// What must be asked for these passages, and about how much that is. Nothing is asked.
    pub fn plan<'a>(&self, passages: impl IntoIterator<Item = &'a Passage>) -> Plan {
        let counter = self.texts.client().map(|client| client.counter().clone()).unwrap_or_default();
        let mut plan = Plan::new(self.model(), counter.how());
        for (input, passage) in distinct(passages) {
            plan.passages += 1;
            let answer = expected_answer(&counter, passage);
            let mut ask = |messages: Vec<Message>| {
                plan.calls += 1;
                plan.prompt_tokens += counter.count_messages(&messages);
                plan.answer_tokens += answer;
            };
            match self.texts.known(self.template(), input) {
                Some(text) => match self.repair(passage, &text) {
                    Some(repair) if self.texts.known(repair.template, repair.input).is_none() => {
                        ask(repair.messages);
                        plan.repairs += 1;
                    }
                    _ => plan.recorded += 1,
                },
                None => {
                    ask(self.prompt.as_ref().map(|prompt| prompt.messages(passage)).unwrap_or_default());
                    plan.changed += usize::from(self.texts.has_other(self.template(), input));
                }
            }
        }
        plan
    }

    /// What the model wrote about each passage, in their order; all of it is on record when this returns. A passage that
    /// fails does not keep others from being asked about, unless they would fail alike: then the rest is not asked about.
    pub async fn extract(&self, passages: &[Passage]) -> Vec<Result<RecordedAnswer, Error>> {
        let at_once = self.texts.client().map_or(AT_ONCE, Client::concurrency);
        let distinct: Vec<(ContentHash, &Passage)> = distinct(passages);
        let asked = stream::iter(0..distinct.len()).map(|idx| {
            let (input, passage) = distinct[idx];
            async move { (input, self.answer(passage).await) }
        });
        let answers: HashMap<ContentHash, Result<RecordedAnswer, Error>> =
            asked.buffer_unordered(at_once).collect().await;
        passages.iter().map(|passage| answers[&passage.input()].clone()).collect()
    }

    /// What the model wrote about one passage; it is on record when this returns.
    ///
    /// # Errors
    /// It is not on record, and the model gave none, or there is none to ask.
    pub async fn answer(&self, passage: &Passage) -> Result<RecordedAnswer, Error> {
        let input = passage.input();
        let question = || self.request(passage, self.prompt.as_ref().map(|p| p.messages(passage)).unwrap_or_default());
        let text = self.texts.text(self.template(), input, &passage.text, question).await?;
        let Some(repair) = self.repair(passage, &text) else {
            return Ok(RecordedAnswer { input, text, is_repaired: false });
        };
        tracing::debug!(reason = repair.reason, "a malformed answer is sent back");
        let question = || self.request(passage, repair.messages.clone());
        let text = self.texts.text(repair.template, repair.input, &passage.text, question).await?;
        Ok(RecordedAnswer { input, text, is_repaired: true })
    }

    fn request(&self, passage: &Passage, messages: Vec<Message>) -> Request {
        let answer_tokens = self.texts.client().map_or(0, |client| expected_answer(client.counter(), passage));
        Request { messages, schema: json_schema(), answer_tokens }
    }

    /// What is to be asked after an answer that can't be used.
    fn repair(&self, passage: &Passage, text: &str) -> Option<Repair> {
        let malformed = read(text).err().filter(|malformed| malformed.can_be_repaired)?;
        let messages = self.prompt.as_ref().map(|prompt| prompt.repair_messages(passage, text, &malformed.reason));
        Some(Repair {
            template: self.id.repair?,
            input: passage.repair_input(text),
            messages: messages.unwrap_or_default(),
            reason: malformed.reason,
        })
    }
}

impl ExtractorId {
    fn of(model: &str, prompt: &Prompt) -> Self {
        Self { model: model.into(), template: prompt.hash(), repair: Some(prompt.repair_hash()) }
    }
}

struct Repair {
    template: ContentHash,
    input: ContentHash,
    messages: Vec<Message>,
    reason: String,
}

/// The passages by their hash, each once, in their order.
fn distinct<'a>(passages: impl IntoIterator<Item = &'a Passage>) -> Vec<(ContentHash, &'a Passage)> {
    let mut seen = std::collections::HashSet::new();
    let hashed = passages.into_iter().map(|passage| (passage.input(), passage));
    hashed.filter(|(input, _)| seen.insert(*input)).collect()
}

/// The row under which an answer to a first question is recorded.
pub(super) fn row(model: &str, template: ContentHash, passage: &Passage, text: String) -> ModelText {
    ModelText { model: model.into(), template, input: passage.input(), text }
}
