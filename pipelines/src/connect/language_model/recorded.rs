//! No question is asked twice: the record is looked at first, and the model is asked only for what is missing. An endpoint that
//! gives no answers is left alone for a while.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hypercane_schemas::{ContentHash, ModelText};
use tokio::sync::Notify;

use super::{Client, Error, Request, TextStore, trouble::Trouble};

/// A language model behind its record, or the record alone.
#[derive(Debug)]
pub struct RecordedTexts {
    model: String,
    client: Option<Client>,
    store: Arc<dyn TextStore>,
    /// Questions that some call is asking now, so that another call waits for it and does not ask again.
    claimed: Mutex<HashSet<(ContentHash, ContentHash)>>,
    /// Told whenever a claim is given back.
    released: Notify,
    trouble: Mutex<Trouble>,
}

impl RecordedTexts {
    /// Puts a record before a model.
    pub fn new(client: Client, store: Arc<dyn TextStore>) -> Self {
        let model = client.model().to_owned();
        Self { client: Some(client), ..Self::record_only(model, store) }
    }

    /// The record of a model that is never asked.
    pub fn record_only(model: impl Into<String>, store: Arc<dyn TextStore>) -> Self {
        Self {
            model: model.into(),
            client: None,
            store,
            claimed: Mutex::default(),
            released: Notify::new(),
            trouble: Mutex::default(),
        }
    }

    /// The model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The endpoint, where one may be asked.
    pub fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// What is on record; never asks.
    pub fn known(&self, template: ContentHash, input: ContentHash) -> Option<Arc<str>> {
        self.store.get(&self.model, template, input)
    }

    /// Whether there is a record for that input from another model, or under another template.
    pub fn has_other(&self, template: ContentHash, input: ContentHash) -> bool {
        self.store.has_other(&self.model, template, input)
    }

    /// The model's text for an input; it is on record when this returns. `about` tells a person what was asked about.
    ///
    /// # Errors
    /// It is not on record, and the model gave none, or there is none to ask; or it can't be recorded.
    pub async fn text(
        &self,
        template: ContentHash,
        input: ContentHash,
        about: &str,
        request: impl Fn() -> Request + Send + Sync,
    ) -> Result<Arc<str>, Error> {
        loop {
            // Listening starts before the record is read, so that a release in between is not missed.
            let released = self.released.notified();
            tokio::pin!(released);
            released.as_mut().enable();

            if let Some(text) = self.known(template, input) {
                return Ok(text);
            }
            let Some(client) = &self.client else {
                let passage = about.chars().take(60).collect();
                return Err(Error::NotRecorded { model: self.model.clone(), passage });
            };
            let Some(_claim) = self.claim((template, input)) else {
                released.await;
                continue;
            };
            // Another call may have recorded it between the look and the claim.
            if let Some(text) = self.known(template, input) {
                return Ok(text);
            }
            if let Some(error) = self.trouble().keeps_from_asking() {
                return Err(error);
            }
            let text = self.ask(client, template, input, &request()).await;
            if let Some(error) = self.trouble().note(text.as_ref().err()) {
                tracing::warn!(%error, spent = %client.spent(), "nothing more is asked for now");
            }
            return text;
        }
    }

    /// Asks, and records what comes back.
    async fn ask(
        &self,
        client: &Client,
        template: ContentHash,
        input: ContentHash,
        request: &Request,
    ) -> Result<Arc<str>, Error> {
        let text = client.complete(request).await?;
        let row = ModelText { model: self.model.clone(), template, input, text };
        let text: Arc<str> = row.text.as_str().into();
        self.store.put(vec![row]).await?;
        Ok(text)
    }

    fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, question: (ContentHash, ContentHash)) -> Option<Claim<'_>> {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.insert(question).then(|| Claim { of: self, question })
    }
}

/// A question that one call asks; given back when it is done, has failed or was dropped.
struct Claim<'a> {
    of: &'a RecordedTexts,
    question: (ContentHash, ContentHash),
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.of.claimed.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.question);
        self.of.released.notify_waiters();
    }
}
