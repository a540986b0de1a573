//! Reading an answer: strict about its form, with a reason that a person, or the model itself, can act on.

use serde::{Deserialize, de::DeserializeOwned};

use super::{Answer, Dropped, clean::clean};

/// An answer of the right form, without repetitions and within bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What it says.
    pub answer: Answer,
    /// What of the text is not in `answer`.
    pub dropped: Dropped,
}

/// An answer that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong, and where.
    pub reason: String,
    /// Whether it is worth asking once more. A refusal is not.
    pub can_be_repaired: bool,
}

impl Malformed {
    /// What is worth asking about once more.
    pub(super) fn broken(reason: String) -> Self {
        Self { reason, can_be_repaired: true }
    }
}

/// Reads the text of an answer. A fence of three backticks around the JSON, which many models write, is no error.
///
/// # Errors
/// It is no JSON, was cut off, has another form, has a confidence outside [0, 1], or is a refusal.
pub fn read(text: &str) -> Result<Reading, Malformed> {
    let answer: Answer = read_form(text)?;
    check_confidence(&answer).map_err(Malformed::broken)?;
    let (answer, dropped) = clean(answer);
    Ok(Reading { answer, dropped })
}

/// Reads an answer of some form, as strictly.
pub(super) fn read_form<T: DeserializeOwned>(text: &str) -> Result<T, Malformed> {
    let broken = Malformed::broken;
    let json = without_fence(text.trim());
    if json.is_empty() {
        return Err(broken("the answer is empty".into()));
    }
    if let Ok(Refusal { refusal }) = serde_json::from_str::<Refusal>(json) {
        return Err(Malformed { reason: format!("the model refused: {}", short(&refusal)), can_be_repaired: false });
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let answer = serde_path_to_error::deserialize(&mut deserializer).map_err(|e| {
        let (path, cause) = (e.path().to_string(), e.inner());
        if cause.is_eof() {
            return broken(format!("the JSON ends in the middle, at {path}; give fewer and shorter records"));
        }
        if cause.is_syntax() {
            return broken(format!("it is no JSON: {cause}"));
        }
        broken(if path == "." { cause.to_string() } else { format!("{path}: {cause}") })
    })?;
    deserializer.end().map_err(|_| broken("there is text after the JSON; give the JSON alone".into()))?;
    Ok(answer)
}

/// The text under which a refusal is recorded, so that [`read`] knows it again.
pub fn refusal(words: &str) -> String {
    serde_json::json!({ "refusal": words }).to_string()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    refusal: String,
}

fn without_fence(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else { return text };
    let inner = inner.strip_prefix("json").unwrap_or(inner);
    inner.trim()
}

/// The beginning of a text that may be long.
fn short(text: &str) -> &str {
    let end = text.char_indices().nth(200).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn check_confidence(answer: &Answer) -> Result<(), String> {
    let entities = answer.entities.iter().map(|record| record.conf);
    let hyperedges = answer.hyperedges.iter().map(|record| record.conf);
    let relations = answer.relations.iter().map(|record| record.conf);
    let all = [("entities", entities.collect::<Vec<f64>>()), ("hyperedges", hyperedges.collect())];
    for (list, confidences) in all.into_iter().chain([("relations", relations.collect())]) {
        if let Some(idx) = confidences.iter().position(|conf| !(0.0..=1.0).contains(conf)) {
            return Err(format!("{list}[{idx}].conf: a confidence is from 0 to 1, this one is {}", confidences[idx]));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{read, refusal};

    const ENTITY: &str = r#"{"name":"Ada","type":"person","role":"subject","alias":[],"desc":"","conf":0.9}"#;

    fn reason(text: &str) -> String {
        let malformed = read(text).unwrap_err();
        assert!(malformed.can_be_repaired);
        malformed.reason
    }

    #[test]
    fn an_answer_is_read_bare_and_fenced() {
        let text = format!(r#"{{"entities":[{ENTITY}],"hyperedges":[],"relations":[]}}"#);
        let reading = read(&text).unwrap();
        assert_eq!((reading.answer.entities[0].name.as_str(), reading.dropped.total()), ("Ada", 0));
        assert_eq!(read(&format!("```json\n{text}\n```")).unwrap(), reading);
        let nothing = read(r#"{"entities":[],"hyperedges":[],"relations":[]}"#).unwrap();
        assert_eq!(nothing, super::Reading::default(), "that nothing is said is an answer");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert!(reason("Sure! Here are the entities.").contains("no JSON"));
        assert!(
            reason(&format!(r#"{{"entities":[{ENTITY},{{"name":"B"#)).contains("ends in the middle, at entities[1]")
        );
        let text = ENTITY.replace("0.9", "\"high\"");
        let told = reason(&format!(r#"{{"entities":[{text}],"hyperedges":[],"relations":[]}}"#));
        assert!(told.contains("entities[0].conf") && told.contains("high"), "{told}");
        let text = ENTITY.replace("0.9", "90");
        let told = reason(&format!(r#"{{"entities":[{text}],"hyperedges":[],"relations":[]}}"#));
        assert_eq!(told, "entities[0].conf: a confidence is from 0 to 1, this one is 90");
        let text = ENTITY.replace("\"role\"", "\"part\"");
        let told = reason(&format!(r#"{{"entities":[{text}],"hyperedges":[],"relations":[]}}"#));
        assert!(told.contains("part") && told.contains("role"), "{told}");
        assert!(reason("[]").contains("invalid"), "{}", reason("[]"));
        assert!(reason(r#"{"entities":[]}"#).contains("hyperedges"));
        assert!(reason(r#"{"entities":[],"hyperedges":[],"relations":[]} as asked"#).contains("after the JSON"));
        assert_eq!(reason(" \n"), "the answer is empty");
    }

    #[test]
    fn a_refusal_is_not_asked_about_again() {
        let malformed = read(&refusal("I can't help with that.")).unwrap_err();
        assert!(!malformed.can_be_repaired && malformed.reason.contains("I can't help"), "{malformed:?}");
    }
}
