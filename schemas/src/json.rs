//! JSON Schema of every record, for those who write to the topics or read results and exports.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use crate::{
    AnswerStep, Conflict, Degree, Document, Entity, EvidenceRow, HorizonUpdate, Hyperedge, Incidence, ModelOutput,
    ModelText, Precedence, Query, RankedPassage, Record, Reject, ResultEvent, Synonym,
};

/// Name of the schema of result messages, which are no table.
pub const RESULTS: &str = "results";

/// The names that [`schema`] knows: input records, results, then what follows from input.
pub const NAMES: [&str; 17] = [
    Document::TABLE,
    HorizonUpdate::TABLE,
    Query::TABLE,
    RESULTS,
    AnswerStep::TABLE,
    Conflict::TABLE,
    Degree::TABLE,
    Entity::TABLE,
    EvidenceRow::TABLE,
    Hyperedge::TABLE,
    Incidence::TABLE,
    ModelOutput::TABLE,
    ModelText::TABLE,
    Precedence::TABLE,
    RankedPassage::TABLE,
    Reject::TABLE,
    Synonym::TABLE,
];

/// What is accepted: fields with a default may be left out.
pub fn accepted<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

/// What is written: a field is there unless it has nothing to say.
pub fn written<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// The schema under a name of [`NAMES`]: of records that are sent to us what we accept, of all others what we write.
pub fn schema(name: &str) -> Option<Schema> {
    Some(match name {
        Document::TABLE => accepted::<Document>(),
        HorizonUpdate::TABLE => accepted::<HorizonUpdate>(),
        Query::TABLE => accepted::<Query>(),
        RESULTS => written::<ResultEvent>(),
        AnswerStep::TABLE => written::<AnswerStep>(),
        Conflict::TABLE => written::<Conflict>(),
        Degree::TABLE => written::<Degree>(),
        Entity::TABLE => written::<Entity>(),
        EvidenceRow::TABLE => written::<EvidenceRow>(),
        Hyperedge::TABLE => written::<Hyperedge>(),
        Incidence::TABLE => written::<Incidence>(),
        ModelOutput::TABLE => written::<ModelOutput>(),
        ModelText::TABLE => written::<ModelText>(),
        Precedence::TABLE => written::<Precedence>(),
        RankedPassage::TABLE => written::<RankedPassage>(),
        Reject::TABLE => written::<Reject>(),
        Synonym::TABLE => written::<Synonym>(),
        _ => return None,
    })
}

/// The text of a schema's file.
pub fn render(schema: &Schema) -> String {
    format!("{:#}\n", schema.as_value())
}

/// The name of a schema's file.
pub fn file_name(name: &str) -> String {
    format!("{name}.schema.json")
}

#[cfg(test)]
mod tests {
    use super::{NAMES, schema};

    #[test]
    fn every_name_has_a_schema_of_an_object() {
        for name in NAMES {
            let schema = schema(name).unwrap();
            assert_eq!(schema.get("type").and_then(|kind| kind.as_str()), Some("object"), "{name}");
        }
    }
}
