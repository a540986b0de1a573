//! Hops by a language model (HyperProve 3.3): how a question is split into sub-queries, and what evidence answers one.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Malformed, Template, form::object, read::read_form};

/// How a model is asked for the hops of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopPrompts {
    /// Splits a question. Its values are the question and how many sub-queries there may be.
    pub split: Template,
    /// Answers a sub-query. Its values are the sub-query and the evidence, a sentence a line.
    pub answer: Template,
}

/// Longer ones are no answers, in characters.
const LONGEST: usize = 300;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubQueries {
    sub_queries: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HopAnswer {
    answer: String,
}

impl HopPrompts {
    /// Reads the template of a split.
    ///
    /// # Errors
    /// As [`Template::parse`] says; `{question}` and `{most}` are needed.
    pub fn parse_split(markdown: &str) -> Result<Template, String> {
        let places = ["{question}", "{most}"];
        Template::parse(markdown, "split", &places, &places, &Self::split_schema())
    }

    /// Reads the template of an answer.
    ///
    /// # Errors
    /// As [`Template::parse`] says; `{question}` and `{evidence}` are needed.
    pub fn parse_answer(markdown: &str) -> Result<Template, String> {
        let places = ["{question}", "{evidence}"];
        Template::parse(markdown, "hop", &places, &places, &Self::answer_schema())
    }

    /// The JSON schema of a split.
    pub fn split_schema() -> Value {
        object(&[("sub_queries", json!({"type": "array", "items": {"type": "string"}}))])
    }

    /// The JSON schema of an answer.
    pub fn answer_schema() -> Value {
        object(&[("answer", json!({"type": "string"}))])
    }
}

/// Reads the sub-queries of a question, in which `#1` stands for the answer of the first.
///
/// # Errors
/// As [`read`](super::read()) says; or there is none, there are more than `most`, one is empty or too long, or one asks for the
/// answer of itself, of a later one or of none.
pub fn read_sub_queries(text: &str, most: usize) -> Result<Vec<String>, Malformed> {
    let SubQueries { sub_queries } = read_form(text)?;
    let sub_queries: Vec<String> = sub_queries.iter().map(|query| query.trim().to_owned()).collect();
    if !(1..=most).contains(&sub_queries.len()) {
        let reason = format!("sub_queries: give 1 to {most} of them, not {}", sub_queries.len());
        return Err(Malformed::broken(reason));
    }
    for (at, query) in sub_queries.iter().enumerate() {
        let wrong = |reason: String| Malformed::broken(format!("sub_queries[{at}]: {reason}"));
        if query.is_empty() || query.chars().count() > LONGEST {
            return Err(wrong(format!("a question has 1 to {LONGEST} characters")));
        }
        if let Some(number) = references(query).find(|number| !(1..=at).contains(number)) {
            return Err(wrong(format!("#{number} is the answer of no question before this one")));
        }
    }
    Ok(sub_queries)
}

/// The numbers behind `#`.
fn references(query: &str) -> impl Iterator<Item = usize> {
    query.split('#').skip(1).filter_map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    })
}

/// Reads the answer of a hop; none where it is empty.
///
/// # Errors
/// As [`read`](super::read()) says; or it is no short answer.
pub fn read_hop_answer(text: &str) -> Result<Option<String>, Malformed> {
    let HopAnswer { answer } = read_form(text)?;
    let answer = answer.trim();
    if answer.chars().count() > LONGEST {
        return Err(Malformed::broken(format!("answer: give a name or a few words, at most {LONGEST} characters")));
    }
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{HopPrompts, read_hop_answer, read_sub_queries};

    #[test]
    fn sub_queries_ask_for_answers_before_them_only() {
        let read = |queries: &[&str]| {
            let text = serde_json::json!({ "sub_queries": queries }).to_string();
            read_sub_queries(&text, 3).map_err(|malformed| malformed.reason)
        };
        assert_eq!(read(&["where is it", " which sea is at #1? "]).unwrap(), ["where is it", "which sea is at #1?"]);
        assert_eq!(read(&["How far is #?"]).unwrap(), ["How far is #?"], "a sign is no reference");
        for (queries, told) in [
            (&["where is #1"][..], "sub_queries[0]: #1"),
            (&["where", "what is #2"], "sub_queries[1]: #2"),
            (&["where", "what is #0"], "sub_queries[1]: #0"),
            (&["where", " "], "sub_queries[1]: a question"),
            (&[], "give 1 to 3 of them, not 0"),
            (&["a", "b", "c", "d"], "not 4"),
        ] {
            let reason = read(queries).unwrap_err();
            assert!(reason.contains(told), "{reason}");
        }
    }

    #[test]
    fn an_answer_is_short_or_none() {
        assert_eq!(read_hop_answer(r#"{"answer": " Richmond "}"#).unwrap().as_deref(), Some("Richmond"));
        assert_eq!(read_hop_answer(r#"{"answer": ""}"#).unwrap(), None);
        assert!(
            read_hop_answer(&format!(r#"{{"answer": "{}"}}"#, "x".repeat(301)))
                .unwrap_err()
                .reason
                .contains("few words")
        );
        assert!(read_hop_answer(r#"{"answer": "a", "because": "b"}"#).is_err());
    }

    #[test]
    fn every_place_is_needed() {
        let split = "# System\nSplit.\n# User\n{question} {most}\n# Repair\n{reason}";
        let answer = "# System\nAnswer.\n# User\n{question} {evidence}\n# Repair\n{reason}";
        let template = HopPrompts::parse_split(split).unwrap();
        assert_ne!(template.hash(), HopPrompts::parse_answer(answer).unwrap().hash());
        assert_eq!(template.messages(&["Who {most}?", "4"])[1].content, "Who {most}? 4");
        assert!(HopPrompts::parse_split(&split.replace("{most}", "")).unwrap_err().contains("{most}"));
        assert!(HopPrompts::parse_answer(&answer.replace("{evidence}", "")).unwrap_err().contains("{evidence}"));
    }
}
