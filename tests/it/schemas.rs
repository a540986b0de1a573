//! The three forms of a record agree: its serde fields, its Arrow columns, its JSON Schema; and the committed schema
//! files are those of the code.

use std::{fs, path::Path};

use arrow_schema::{DataType, Field};
use hypercane_schemas::{
    AnswerStep, Conflict, Degree, Document, Entity, EvidenceRow, HorizonUpdate, Hyperedge, Incidence, ModelOutput,
    ModelText, Precedence, Query, RankedPassage, Record, Reject, Synonym, json,
};
use serde_json::Value;

#[test]
fn schema_files_are_those_of_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/json");
    let renew = "renew the files with `hypercane schema --dir schemas/json`";
    let mut names: Vec<String> = json::NAMES.iter().map(|name| json::file_name(name)).collect();
    for name in json::NAMES {
        let file = folder.join(json::file_name(name));
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == json::render(&json::schema(name).unwrap()), "{} is stale; {renew}", json::file_name(name));
    }
    let mut found: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    found.sort();
    assert_eq!(found, names, "a file there is of no record; {renew}");
}

#[test]
fn columns_are_the_fields_of_the_records_and_of_their_schemas() {
    check::<Document>();
    check::<HorizonUpdate>();
    check::<Query>();
    check::<AnswerStep>();
    check::<RankedPassage>();
    check::<EvidenceRow>();
    check::<Conflict>();
    check::<Degree>();
    check::<Entity>();
    check::<Hyperedge>();
    check::<Incidence>();
    check::<ModelOutput>();
    check::<ModelText>();
    check::<Precedence>();
    check::<Reject>();
    check::<Synonym>();
}

/// The JSON Schema is made from the serde attributes, so its properties are the serde fields.
fn check<R: Record>() {
    let written = json::written::<R>();
    let root = written.as_value();
    same_fields(R::TABLE, &R::columns().iter().collect::<Vec<_>>(), root, root);
    let accepted = json::accepted::<R>();
    assert_eq!(properties(accepted.as_value()), properties(root), "{}: what is accepted and written differs", R::TABLE);
}

fn properties(schema: &Value) -> Vec<&String> {
    schema["properties"].as_object().map(|all| all.keys().collect()).unwrap_or_default()
}

fn same_fields(place: &str, columns: &[&Field], schema: &Value, root: &Value) {
    let names: Vec<&String> = columns.iter().map(|column| column.name()).collect();
    assert_eq!(names, properties(schema), "{place}: columns and properties differ");
    let required: Vec<&str> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for column in columns {
        let place = format!("{place}.{}", column.name());
        let schema = &schema["properties"][column.name()];
        assert!(required.contains(&column.name().as_str()), "{place}: a row names every field");
        assert_eq!(may_be_null(schema), column.is_nullable(), "{place}: may it be null?");
        same_type(&place, column.data_type(), schema, root);
    }
}

fn may_be_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(is_null))
        || schema["anyOf"].as_array().is_some_and(|all| all.iter().any(|one| is_null(&one["type"])))
}

fn same_type(place: &str, column: &DataType, schema: &Value, root: &Value) {
    if let Some(reference) = schema["$ref"].as_str() {
        return same_type(place, column, root.pointer(reference.trim_start_matches('#')).unwrap(), root);
    }
    // An optional reference is one of the referenced and null.
    if let Some(other) = schema["anyOf"].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null")) {
        return same_type(place, column, other, root);
    }
    let kind = match column {
        DataType::Utf8 | DataType::Timestamp(..) => "string",
        DataType::Int64 => "integer",
        DataType::Float64 | DataType::Float32 => "number",
        DataType::Boolean => "boolean",
        DataType::List(_) => "array",
        DataType::Struct(_) => "object",
        other => panic!("{place}: no record has columns of type {other}"),
    };
    let words = schema["oneOf"].as_array().is_some_and(|all| all.iter().all(|one| one["type"] == "string"));
    let has = |kind: &str| match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => kind == "string" && words,
    };
    assert!(has(kind), "{place}: the column is {column}, the schema is {schema}");
    match column {
        DataType::List(item) => same_type(&format!("{place}[]"), item.data_type(), &schema["items"], root),
        DataType::Struct(fields) => {
            same_fields(place, &fields.iter().map(|field| &**field).collect::<Vec<_>>(), schema, root);
        }
        _ => {}
    }
}
