//! The section `[language_model]` of the configuration.

use std::{path::PathBuf, time::Duration};

use serde::Deserialize;
use url::{Host, Url};

use super::Error;

/// A language model, and the bounds within which it is asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where chat completions are found, such as `http://localhost:11434/v1`. Without it no model is asked, and outputs
    /// that were imported are used.
    pub base_url: Option<String>,
    /// The model, as the endpoint names it.
    pub model: String,
    /// Whether a pipeline reads texts by the model's answers. Without it they are read by the grammars of the domain pack,
    /// and answers are recorded by `hypercane extract` only.
    pub extracts: bool,
    /// The environment variable that holds the key; none for an endpoint that wants none.
    pub key_env: Option<String>,
    /// Calls at the same time.
    pub concurrency: usize,
    /// Calls a minute; none for no bound.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, of prompts and answers; none for no bound.
    pub tokens_per_minute: Option<u32>,
    /// Longest time for one call, in seconds.
    pub timeout_seconds: u64,
    /// How often a call is tried again that failed for a reason that may pass.
    pub retries: usize,
    /// Most calls of one run that may reach the model; none for no bound.
    pub budget_calls: Option<u64>,
    /// Most tokens of one run, of prompts and answers; none for no bound.
    pub budget_tokens: Option<u64>,
    /// `tokenizer.json` of the model, to count tokens before a call; without it they are estimated.
    pub tokenizer: Option<PathBuf>,
    /// How the endpoint is told of the answer's form.
    pub response_format: ResponseFormat,
    /// What else a request says, such as `temperature` and `max_tokens`. The table replaces the default as a whole.
    pub parameters: toml::Table,
}

impl Default for Settings {
    fn default() -> Self {
        let mut parameters = toml::Table::new();
        parameters.insert("temperature".into(), 0.into());
        parameters.insert("max_tokens".into(), 4096.into());
        Self {
            base_url: None,
            model: String::new(),
            extracts: false,
            key_env: None,
            concurrency: 4,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout_seconds: 120,
            retries: 5,
            budget_calls: None,
            budget_tokens: None,
            tokenizer: None,
            response_format: ResponseFormat::default(),
            parameters,
        }
    }
}

/// How an endpoint is told of the answer's form. The prompt says it in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// By a strict JSON schema.
    #[default]
    JsonSchema,
    /// As any JSON object, for endpoints that know no schema.
    JsonObject,
    /// By the prompt alone.
    None,
}

/// Fields of a request that are ours to set.
const OURS: [&str; 4] = ["model", "messages", "response_format", "stream"];

impl Settings {
    /// Checks what needs no other section.
    ///
    /// # Errors
    /// A value that can't be used: says which, and what to give.
    pub fn check(&self) -> Result<(), String> {
        if self.model.is_empty() {
            return Err("language_model.model is empty; name the model as its endpoint does".into());
        }
        if self.base_url.is_some() {
            self.endpoint().map_err(|e| e.to_string())?;
        }
        let bounds = [
            ("concurrency", self.concurrency as u64),
            ("timeout_seconds", self.timeout_seconds),
            ("requests_per_minute", self.requests_per_minute.map_or(1, u64::from)),
            ("tokens_per_minute", self.tokens_per_minute.map_or(1, u64::from)),
        ];
        if let Some((name, _)) = bounds.iter().find(|(_, value)| *value == 0) {
            return Err(format!("language_model.{name} is 0; give 1 or more"));
        }
        match OURS.iter().find(|name| self.parameters.contains_key(**name)) {
            Some(name) => Err(format!("language_model.parameters.{name} can't be set: the program sets it itself")),
            None => Ok(()),
        }
    }

    /// Longest time for one call.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// The address of chat completions.
    pub(super) fn endpoint(&self) -> Result<Url, Error> {
        let wrong = |what: &str| Error::Settings(format!("language_model.base_url {what}"));
        let given = self.base_url.as_deref().ok_or_else(|| wrong("is not set; give the address of the endpoint"))?;
        let mut url = Url::parse(&format!("{}/chat/completions", given.trim_end_matches('/')))
            .map_err(|e| wrong(&format!("is no address: {e}; an example is http://localhost:11434/v1")))?;
        if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
            return Err(wrong("has to begin with http:// or https:// and name a host"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(wrong(
                "has a user, a password or a query in it; put the key into a variable, and its name into language_model.key_env",
            ));
        }
        url.set_fragment(None);
        Ok(url)
    }
}

/// Whether an address is one of this machine, to which no proxy leads.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
