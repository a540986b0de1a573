//! The client: one call at an endpoint, with every bound that the settings name.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use backon::{ExponentialBuilder, Retryable};
use hypercane_operators::language_model::Message;
use jiff::Timestamp;
use reqwest::{
    Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use url::Url;

use super::{
    ApiKey, Error, Settings, Spent, TokenCounter,
    budget::Budget,
    chat::{self, Completion},
    error::Failure,
    pace::Pace,
    retry_after,
    settings::{ResponseFormat, is_local},
};

/// Largest reply that is read, in bytes.
const MOST_BYTES: usize = 8 << 20;
/// Longest time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The first wait before a call is tried again; it doubles from try to try, and each is up to twice as long by chance.
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// The longest of these waits.
const LONGEST_DELAY: Duration = Duration::from_mins(1);
/// An endpoint that wants to be left alone for longer than this has no answer for now.
const MOST_PATIENCE: Duration = Duration::from_mins(10);

/// A question for a language model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The conversation.
    pub messages: Vec<Message>,
    /// JSON Schema of the answer.
    pub schema: Value,
    /// About how many tokens the answer will have.
    pub answer_tokens: u64,
}

/// A client of one endpoint. Its bounds hold for all calls through it together.
pub struct Client {
    http: reqwest::Client,
    endpoint: Url,
    model: String,
    response_format: ResponseFormat,
    parameters: Map<String, Value>,
    key: Option<ApiKey>,
    authorization: Option<HeaderValue>,
    concurrency: usize,
    places: Semaphore,
    pace: Pace,
    budget: Budget,
    counter: TokenCounter,
    retries: usize,
    pub(super) first_delay: Duration,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.host()).field("model", &self.model).finish_non_exhaustive()
    }
}

impl Client {
    /// A client with these settings. Nothing is sent yet.
    ///
    /// # Errors
    /// The settings can't be used.
    pub fn new(settings: &Settings, key: Option<ApiKey>) -> Result<Self, Error> {
        settings.check().map_err(Error::Settings)?;
        let endpoint = settings.endpoint()?;
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("hypercane/", env!("CARGO_PKG_VERSION")))
            .timeout(settings.timeout())
            .connect_timeout(CONNECT_TIMEOUT.min(settings.timeout()))
            // A redirect would take the key elsewhere; and all tries are counted here.
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        if is_local(&endpoint) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|e| Error::Settings(format!("no HTTP client can be made: {}", told(e))))?;
        let parameters = match serde_json::to_value(&settings.parameters) {
            Ok(Value::Object(parameters)) => parameters,
            _ => return Err(Error::Settings("language_model.parameters can't be written as JSON".into())),
        };
        Ok(Self {
            http,
            endpoint,
            model: settings.model.clone(),
            response_format: settings.response_format,
            parameters,
            authorization: key.as_ref().map(ApiKey::header).transpose()?,
            key,
            concurrency: settings.concurrency,
            places: Semaphore::new(settings.concurrency),
            pace: Pace::new(settings.requests_per_minute, settings.tokens_per_minute),
            budget: Budget::new(settings.budget_calls, settings.budget_tokens),
            counter: TokenCounter::open(settings.tokenizer.as_deref())?,
            retries: settings.retries,
            first_delay: FIRST_DELAY,
        })
    }

    /// The model, as the endpoint names it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How many calls run at the same time.
    pub fn concurrency(&self) -> usize {
        self.concurrency
    }

    /// How tokens are counted before a call.
    pub fn counter(&self) -> &TokenCounter {
        &self.counter
    }

    /// What was spent so far, with what is under way.
    pub fn spent(&self) -> Spent {
        self.budget.spent()
    }

    /// Asks, and gives what the model wrote, as it wrote it. Waits for its turn, and for the endpoint where that asks to
    /// be left alone.
    ///
    /// # Errors
    /// The budget is used up; the endpoint refuses the request; or it gave no answer at any try.
    pub async fn complete(&self, request: &Request) -> Result<String, Error> {
        // Held while it waits to try again: an endpoint that is busy gets fewer calls, not other ones.
        let _place = self.places.acquire().await.map_err(|_| Error::Settings("the client is closed".into()))?;
        let body = chat::body(&self.model, request, self.response_format, &self.parameters).to_string();
        let tokens = self.counter.count_messages(&request.messages) + request.answer_tokens;
        let tries = AtomicUsize::new(0);
        let schedule = ExponentialBuilder::default()
            .with_jitter()
            .with_min_delay(self.first_delay)
            .with_max_delay(LONGEST_DELAY)
            .with_max_times(self.retries);
        let answer = (|| {
            tries.fetch_add(1, Ordering::Relaxed);
            self.ask(&body, tokens)
        })
        .retry(schedule)
        .sleep(tokio::time::sleep)
        .when(|failure| !matches!(failure, Failure::Lasting(_)))
        .adjust(patience)
        .notify(|failure, wait| {
            tracing::warn!(endpoint = self.host(), ?wait, reason = reason(failure), "the language model is asked again")
        })
        .await;
        answer.map_err(|failure| match failure {
            Failure::Lasting(error) => error,
            failure => Error::Unavailable {
                endpoint: self.host().to_owned(),
                tries: tries.load(Ordering::Relaxed),
                message: reason(&failure),
            },
        })
    }

    /// One try.
    async fn ask(&self, body: &str, tokens: u64) -> Result<String, Failure> {
        let mut reservation = self.budget.reserve(tokens).map_err(Failure::Lasting)?;
        self.pace.wait(tokens).await;
        reservation.send();
        match self.send(body).await {
            Ok(completion) => {
                // No reply has more tokens than bytes: a larger number is no count, and would stop or delay all that follows.
                let most = tokens + MOST_BYTES as u64;
                if let Some(taken) = completion.tokens.map(|taken| taken.min(most)) {
                    reservation.settle(taken);
                    self.pace.owe(taken.saturating_sub(tokens));
                }
                tracing::debug!(endpoint = self.host(), tokens = completion.tokens, "the language model answered");
                Ok(self.redacted(&completion.text))
            }
            Err(failure) => {
                // What was lost on the way may have cost as much as what arrived.
                if !matches!(failure, Failure::Lost(_)) {
                    reservation.give_back();
                }
                if let Failure::TurnedAway { retry_after: Some(wait), .. } = failure
                    && wait <= MOST_PATIENCE
                {
                    self.pace.be_quiet(wait);
                }
                Err(failure)
            }
        }
    }

    async fn send(&self, body: &str) -> Result<Completion, Failure> {
        let mut request =
            self.http.post(self.endpoint.clone()).header(CONTENT_TYPE, "application/json").body(body.to_owned());
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(|error| {
            if error.is_connect() {
                Failure::TurnedAway { message: told(error), retry_after: None }
            } else {
                Failure::Lost(told(error))
            }
        })?;
        let status = response.status();
        if status == StatusCode::OK {
            let body = self.read(response).await?;
            return chat::completion(&body).map_err(|message| Failure::Lost(self.redacted(&message)));
        }
        let header = response.headers().get(RETRY_AFTER).and_then(|header| header.to_str().ok());
        let retry_after = header.and_then(|header| retry_after::parse(header, Timestamp::now()));
        // What it says is for the error alone, so it is no matter if it does not arrive.
        let (message, code) = chat::complaint(&self.read(response).await.unwrap_or_default());
        let message = self.redacted(&message);
        let is_busy = status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::REQUEST_TIMEOUT;
        let is_for_good = code.as_deref() == Some("insufficient_quota");
        if (is_busy && !is_for_good) || status.is_server_error() {
            return Err(Failure::TurnedAway { message: format!("HTTP {}: {message}", status.as_u16()), retry_after });
        }
        Err(Failure::Lasting(Error::Refused { endpoint: self.host().to_owned(), status: status.as_u16(), message }))
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| Failure::Lost(told(error)))? {
            if body.len() + part.len() > MOST_BYTES {
                let message = format!("the reply is larger than {MOST_BYTES} bytes; set max_tokens lower");
                let status = response.status().as_u16();
                return Err(Failure::Lasting(Error::Refused { endpoint: self.host().to_owned(), status, message }));
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    fn host(&self) -> &str {
        self.endpoint.host_str().unwrap_or_default()
    }

    fn redacted(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

/// How long to wait before the next try, or that there is none.
fn patience(failure: &Failure, delay: Option<Duration>) -> Option<Duration> {
    let delay = delay?;
    match failure {
        Failure::TurnedAway { retry_after: Some(wait), .. } if *wait > MOST_PATIENCE => None,
        Failure::TurnedAway { retry_after: Some(wait), .. } => Some(delay.max(*wait)),
        _ => Some(delay),
    }
}

fn reason(failure: &Failure) -> String {
    match failure {
        Failure::Lasting(error) => error.to_string(),
        Failure::Lost(message) => message.clone(),
        Failure::TurnedAway { message, retry_after: None } => message.clone(),
        Failure::TurnedAway { message, retry_after: Some(wait) } => {
            format!("{message}; it asks to be left alone for {} s", wait.as_secs())
        }
    }
}

/// What an error of HTTP says, with its causes and without the address.
fn told(error: reqwest::Error) -> String {
    let is_timeout = error.is_timeout();
    let error = error.without_url();
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    if is_timeout { format!("no answer within language_model.timeout_seconds ({message})") } else { message }
}
