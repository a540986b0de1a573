//! The wire form of OpenAI's chat completions, as far as it is used.

use hypercane_operators::language_model::refusal;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Request, settings::ResponseFormat};

/// Longest part of an endpoint's words that an error repeats, in characters.
const LONGEST_MESSAGE: usize = 300;

/// The body of a request. What the settings add comes first, and can replace nothing that is ours.
pub(super) fn body(model: &str, request: &Request, format: ResponseFormat, parameters: &Map<String, Value>) -> Value {
    let mut body = parameters.clone();
    body.insert("model".into(), json!(model));
    body.insert("messages".into(), json!(request.messages));
    let form = match format {
        ResponseFormat::JsonSchema => {
            let schema = json!({"name": "answer", "strict": true, "schema": request.schema});
            Some(json!({"type": "json_schema", "json_schema": schema}))
        }
        ResponseFormat::JsonObject => Some(json!({"type": "json_object"})),
        ResponseFormat::None => None,
    };
    body.extend(form.map(|form| ("response_format".to_owned(), form)));
    Value::Object(body)
}

/// What a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    pub(super) text: String,
    /// Tokens of prompt and answer, as the endpoint counts them.
    pub(super) tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    total_tokens: Option<u64>,
}

/// Reads the body of a reply with status 200.
pub(super) fn completion(body: &[u8]) -> Result<Completion, String> {
    let reply: Reply = serde_json::from_slice(body).map_err(|e| {
        if e.is_eof() { "the reply ends in the middle".to_owned() } else { format!("the reply is no completion: {e}") }
    })?;
    if let Some(error) = reply.error.filter(|error| !error.is_null()) {
        return Err(shortened(&message_of(&error)));
    }
    let Some(choice) = reply.choices.into_iter().next() else { return Err("the reply has no choices".into()) };
    let text = match choice.message {
        Said { content: Some(content), .. } if !content.is_empty() => content,
        Said { refusal: Some(words), .. } => refusal(&words),
        // An answer without words is an answer: it is malformed, and is asked about once more.
        Said { .. } => String::new(),
    };
    Ok(Completion { text, tokens: reply.usage.and_then(|usage| usage.total_tokens) })
}

/// What an endpoint says about its refusal, and the code that it gives.
pub(super) fn complaint(body: &[u8]) -> (String, Option<String>) {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let text = String::from_utf8_lossy(body);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        return (if text.is_empty() { "it says nothing more".into() } else { shortened(&text) }, None);
    };
    let error = value.get("error").unwrap_or(&value);
    let code = ["code", "type"].iter().find_map(|name| error.get(name)?.as_str()).map(str::to_owned);
    (shortened(&message_of(error)), code)
}

fn message_of(error: &Value) -> String {
    let words = error.as_str().or_else(|| error.get("message")?.as_str());
    words.map_or_else(|| error.to_string(), str::to_owned)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Completion, complaint, completion};

    #[test]
    fn replies_are_read() {
        let read = |body: &str| completion(body.as_bytes());
        let reply = r#"{"choices":[{"message":{"role":"assistant","content":"{}"}}],"usage":{"total_tokens":7}}"#;
        assert_eq!(read(reply), Ok(Completion { text: "{}".into(), tokens: Some(7) }));
        let refused = read(r#"{"choices":[{"message":{"content":null,"refusal":"No."}}]}"#).unwrap();
        assert_eq!(refused.text, r#"{"refusal":"No."}"#);
        assert_eq!(read(r#"{"choices":[{"message":{"content":null}}]}"#).unwrap().text, "");
        assert!(read(&reply[..40]).unwrap_err().contains("in the middle"));
        assert!(read(r#"{"choices":[]}"#).unwrap_err().contains("no choices"));
        assert_eq!(read(r#"{"error":{"message":"overloaded"}}"#), Err("overloaded".into()));
    }

    #[test]
    fn complaints_are_told_in_the_endpoints_words() {
        let body = br#"{"error":{"message":"You exceeded your quota.","code":"insufficient_quota"}}"#;
        assert_eq!(complaint(body), ("You exceeded your quota.".into(), Some("insufficient_quota".into())));
        assert_eq!(complaint(br#"{"error":"model not found"}"#).0, "model not found");
        assert_eq!(complaint(b"<html>\n Bad   Gateway").0, "<html> Bad Gateway");
        assert!(complaint("x".repeat(4_000).as_bytes()).0.len() < 310);
    }
}
