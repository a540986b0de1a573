//! A hop's answer where no language model reads: the best thing that the evidence names and the question does not.

use crate::{
    grammar::statements::{CONCEPT, SUBJECT},
    language::name_key,
};

/// A thing that a fact speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken<'a> {
    /// Its name, as the fact has it.
    pub name: &'a str,
    /// Its type.
    pub kind: &'a str,
}

/// The answer of a question: of the things that the evidence names and the question does not, the one with the highest
/// product of its fact's score and of how well its type fits (equal ones as they come). `kinds` are the types that the
/// question asks for; with none, every name fits. Cost: the things named, times the length of the question.
pub fn extract_answer<'a>(
    question: &str,
    kinds: &[&str],
    evidence: impl IntoIterator<Item = (f64, Vec<Spoken<'a>>)>,
) -> Option<&'a str> {
    let question = name_key(question);
    let mut best: Option<(f64, &str)> = None;
    for (score, spoken) in evidence {
        for Spoken { name, kind } in spoken {
            let key = name_key(name);
            if key.is_empty() || question.contains(&key) {
                continue;
            }
            let worth = score * fit(kind, kinds);
            if best.is_none_or(|(least, _)| worth > least) {
                best = Some((worth, name));
            }
        }
    }
    best.map(|(_, name)| name)
}

/// How well a type fits, 0 to 1. What a title names has no type of its own, so it may be any.
fn fit(kind: &str, kinds: &[&str]) -> f64 {
    match kind {
        _ if kinds.contains(&kind) => 1.0,
        SUBJECT => 0.8,
        CONCEPT => 0.4,
        _ if kinds.is_empty() => 1.0,
        _ => 0.3,
    }
}

#[cfg(test)]
mod tests {
    use super::{Spoken, extract_answer};

    fn spoken<'a>(name: &'a str, kind: &'a str) -> Spoken<'a> {
        Spoken { name, kind }
    }

    #[test]
    fn it_is_the_fitting_name_that_was_not_asked_with() {
        let station = vec![
            spoken("Richmond, Virginia", "subject"),
            spoken("Main Street Station", "fac"),
            spoken("2004", "date"),
            spoken("railway station", "concept"),
        ];
        let question = "the state where the Main Street station is located";
        let of = |kinds: &[&str]| extract_answer(question, kinds, [(0.5, station.clone())]);
        assert_eq!(of(&["gpe"]), Some("Richmond, Virginia"));
        assert_eq!(of(&["date"]), Some("2004"));
        assert_eq!(of(&[]), Some("2004"), "any name");
        let better = (0.9, vec![spoken("Virginia", "gpe")]);
        assert_eq!(extract_answer(question, &["gpe"], [(0.5, station.clone()), better]), Some("Virginia"));
        assert_eq!(
            extract_answer("2004 in Oslo", &[], [(1.0, vec![spoken("Oslo", "gpe"), spoken("2004", "date")])]),
            None
        );
    }
}
