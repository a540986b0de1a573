//! The key of an endpoint. It comes from the environment and goes into one header; no log, table or error shows it.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::Error;

/// What stands for the key where a text had it.
const REDACTED: &str = "[key]";

/// A key. Its memory is wiped when it goes.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// The key that a variable holds.
    ///
    /// # Errors
    /// The variable is not set or empty, or holds something that no header can: names the variable, never the value.
    pub fn from_variable(name: &str, value: Option<String>) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Settings(format!("the environment variable {name} {what}"));
        let value = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| wrong("of language_model.key_env is not set; put the key into it"))?;
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("holds no key: there are blanks or signs in it that no key has"));
        }
        Ok(Self(value.into()))
    }

    /// The header that shows it to the endpoint.
    pub(super) fn header(&self) -> Result<reqwest::header::HeaderValue, Error> {
        let text = SecretString::from(format!("Bearer {}", self.0.expose_secret()));
        let mut value = reqwest::header::HeaderValue::from_str(text.expose_secret())
            .map_err(|_| Error::Settings("the key can't be sent in a header".into()))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// The text without the key, should an endpoint have sent it back.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(self.0.expose_secret(), REDACTED)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}
