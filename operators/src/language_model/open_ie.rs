//! Extractions in the form of HippoRAG's OpenIE files: entities, and tuples of words.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Answer, EntityRecord, HyperedgeRecord, RelationRecord, facts::entity_key};

/// Relation of a tuple that has no place for one.
const STATES: &str = "states";

/// What a model extracted from one passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenIe {
    /// The passage.
    pub id: String,
    /// Names of entities.
    #[serde(default)]
    pub entities: Vec<String>,
    /// Subject, predicate, object.
    #[serde(default)]
    pub triples: Vec<[String; 3]>,
    /// Tuples of another length.
    #[serde(default)]
    pub nary: Vec<Vec<String>>,
}

impl OpenIe {
    /// The same in the form of an answer. Each triple is a hyperedge of its two ends and a directed relation between them.
    /// In a longer tuple the second part is the relation and all others take part; in a pair both do. Nothing is said of
    /// types, and the confidence is one, since the model gave none.
    pub fn answer(&self) -> Answer {
        let mut answer = Answer::default();
        let mut known = BTreeSet::new();
        let mut add = |name: &str| {
            if known.insert(entity_key(name)) {
                let record = EntityRecord { name: name.into(), conf: 1.0, ..EntityRecord::default() };
                answer.entities.push(record);
            }
        };
        self.entities.iter().for_each(|name| add(name));
        for [subject, predicate, object] in &self.triples {
            add(subject);
            add(object);
            answer.hyperedges.push(HyperedgeRecord {
                text: format!("{subject} {predicate} {object}"),
                entities: vec![subject.clone(), object.clone()],
                relation: predicate.clone(),
                conf: 1.0,
            });
            answer.relations.push(RelationRecord {
                from: subject.clone(),
                to: object.clone(),
                label: predicate.clone(),
                conf: 1.0,
            });
        }
        for tuple in &self.nary {
            let (entities, relation): (Vec<&String>, &str) = match &tuple[..] {
                [first, relation, others @ ..] if !others.is_empty() => {
                    (std::iter::once(first).chain(others).collect(), relation)
                }
                parts => (parts.iter().collect(), STATES),
            };
            entities.iter().for_each(|name| add(name));
            answer.hyperedges.push(HyperedgeRecord {
                text: tuple.join(" "),
                entities: entities.into_iter().cloned().collect(),
                relation: relation.into(),
                conf: 1.0,
            });
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::OpenIe;

    #[test]
    fn tuples_become_hyperedges() {
        let line = r#"{"id":"a","entities":["Houston"],"triples":[["Houston","is in","Texas"]],
            "nary":[["Houston","has","average temperature of","53.1 °F"],["Hiroshima","Japanese city"]]}"#;
        let answer = serde_json::from_str::<OpenIe>(line).unwrap().answer();
        let shown: Vec<(&str, &str, Vec<&str>)> = answer
            .hyperedges
            .iter()
            .map(|edge| {
                (edge.text.as_str(), edge.relation.as_str(), edge.entities.iter().map(String::as_str).collect())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("Houston is in Texas", "is in", vec!["Houston", "Texas"]),
                (
                    "Houston has average temperature of 53.1 °F",
                    "has",
                    vec!["Houston", "average temperature of", "53.1 °F"]
                ),
                ("Hiroshima Japanese city", "states", vec!["Hiroshima", "Japanese city"]),
            ]
        );
        assert_eq!(answer.relations.len(), 1);
        assert_eq!(answer.entities.len(), 6, "each thing once");
    }
}
