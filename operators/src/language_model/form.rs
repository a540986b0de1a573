//! The form of an answer (HyCE-RAG eq. 47 to 49): entities, hyperedges over them, and directed relations.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a language model says about one passage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The entities.
    pub entities: Vec<EntityRecord>,
    /// Facts over them.
    pub hyperedges: Vec<HyperedgeRecord>,
    /// Relations that point from one entity to another.
    pub relations: Vec<RelationRecord>,
}

/// An entity v = (name, type, role, alias, desc, conf), eq. 48.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityRecord {
    /// Name as the passage has it.
    pub name: String,
    /// Type, one or two words.
    #[serde(rename = "type")]
    pub kind: String,
    /// The part it plays in the passage.
    pub role: String,
    /// Other names of it.
    pub alias: Vec<String>,
    /// What it is, in a few words.
    pub desc: String,
    /// Confidence in [0, 1].
    pub conf: f64,
}

/// A hyperedge: one self-standing statement and who takes part in it, eq. 47 and 49.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HyperedgeRecord {
    /// The statement.
    pub text: String,
    /// Names of its entities.
    pub entities: Vec<String>,
    /// What holds between them, in a few words.
    pub relation: String,
    /// Confidence in [0, 1].
    pub conf: f64,
}

/// A relation that points from one entity to another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationRecord {
    /// Name of the entity it starts from.
    pub from: String,
    /// Name of the entity it points to.
    pub to: String,
    /// What it says.
    pub label: String,
    /// Confidence in [0, 1].
    pub conf: f64,
}

/// The JSON Schema of an [`Answer`], in the subset that endpoints enforce strictly: every field is required, no other is
/// allowed, and bounds of numbers and lengths are left to the reader.
pub fn json_schema() -> Value {
    let text = json!({"type": "string"});
    let number = json!({"type": "number"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let list = |item: Value| json!({"type": "array", "items": item});
    let entity = object(&[
        ("name", text.clone()),
        ("type", text.clone()),
        ("role", text.clone()),
        ("alias", texts.clone()),
        ("desc", text.clone()),
        ("conf", number.clone()),
    ]);
    let hyperedge =
        object(&[("text", text.clone()), ("entities", texts), ("relation", text.clone()), ("conf", number.clone())]);
    let relation = object(&[("from", text.clone()), ("to", text.clone()), ("label", text), ("conf", number)]);
    object(&[("entities", list(entity)), ("hyperedges", list(hyperedge)), ("relations", list(relation))])
}

pub(super) fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|(name, form)| ((*name).to_owned(), form.clone())).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::{Answer, EntityRecord, HyperedgeRecord, RelationRecord, Value, json_schema};

    /// Checks that an object has the fields of its schema and no other.
    fn agree(value: &Value, schema: &Value) {
        match value {
            Value::Object(fields) => {
                let names: Vec<&String> = fields.keys().collect();
                let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
                assert_eq!(names, known);
                assert_eq!(schema["required"].as_array().unwrap().len(), known.len());
                fields.iter().for_each(|(name, value)| agree(value, &schema["properties"][name]));
            }
            Value::Array(items) => items.iter().for_each(|item| agree(item, &schema["items"])),
            Value::String(_) => assert_eq!(schema["type"], "string"),
            other => assert!(other.is_number() && schema["type"] == "number", "{other} {schema}"),
        }
    }

    #[test]
    fn the_schema_has_the_fields_that_are_read() {
        let answer = Answer {
            entities: vec![EntityRecord { alias: vec!["a".into()], ..EntityRecord::default() }],
            hyperedges: vec![HyperedgeRecord { entities: vec!["a".into()], ..HyperedgeRecord::default() }],
            relations: vec![RelationRecord::default()],
        };
        agree(&serde_json::to_value(&answer).unwrap(), &json_schema());
    }
}
