//! What every record kind has in common: a table, an Arrow schema, a JSON Schema.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    AnswerStep, Conflict, Degree, Document, Entity, EvidenceRow, HorizonUpdate, Hyperedge, Incidence, ModelOutput,
    ModelText, Precedence, Query, RankedPassage, Reject, Synonym,
};

/// A record kind: one table of the lake, one JSON Schema file.
///
/// The Arrow columns are the record's serde fields, in order and by name; the lake adds `epoch` and `diff`.
pub trait Record: Serialize + DeserializeOwned + JsonSchema + Ord + Clone + Send + Sync + 'static {
    /// Table name, and stem of the JSON Schema file.
    const TABLE: &'static str;

    /// The record's own columns.
    fn columns() -> Vec<Field>;

    /// The changelog's schema: the record's columns, `epoch`, `diff`.
    fn arrow_schema() -> Schema {
        let mut columns = Self::columns();
        columns.push(Field::new("epoch", DataType::Int64, false));
        columns.push(Field::new("diff", DataType::Int64, false));
        Schema::new(columns)
    }
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, false)
}

fn optional_text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

fn integer(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

fn optional_integer(name: &str) -> Field {
    Field::new(name, DataType::Int64, true)
}

fn number(name: &str) -> Field {
    Field::new(name, DataType::Float64, false)
}

fn flag(name: &str) -> Field {
    Field::new(name, DataType::Boolean, false)
}

fn moment(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), nullable)
}

fn list(name: &str, item: DataType) -> Field {
    // Delta and Parquet call the item `element`.
    Field::new(name, DataType::List(Arc::new(Field::new("element", item, false))), false)
}

fn structure(columns: Vec<Field>) -> DataType {
    DataType::Struct(Fields::from(columns))
}

fn span() -> Field {
    Field::new("span", structure(vec![integer("start"), integer("end")]), false)
}

fn provenance(name: &str) -> Field {
    list(name, structure(vec![text("document"), integer("chunk"), span()]))
}

fn value() -> Field {
    let columns =
        vec![Field::new("number", DataType::Float64, true), optional_text("unit"), moment("time", true), text("given")];
    Field::new("value", structure(columns), false)
}

fn cell(name: &str) -> Field {
    let columns = vec![text("group"), integer("sequence"), flag("by_horizon"), integer("phase"), integer("family")];
    Field::new(name, structure(columns), false)
}

impl Record for Document {
    const TABLE: &'static str = "documents";

    fn columns() -> Vec<Field> {
        vec![
            text("key"),
            optional_text("source_kind"),
            optional_text("title"),
            text("text"),
            moment("issued_at", true),
            optional_text("group"),
            optional_integer("horizon_hours"),
            number("reliability"),
            optional_text("supersedes"),
        ]
    }
}

impl Record for HorizonUpdate {
    const TABLE: &'static str = "horizons";

    fn columns() -> Vec<Field> {
        vec![text("group"), text("reference_event"), moment("reference_at", false), moment("issued_at", false)]
    }
}

impl Record for Query {
    const TABLE: &'static str = "queries";

    fn columns() -> Vec<Field> {
        let parameters = vec![
            integer("beam_width"),
            integer("length"),
            integer("trajectories"),
            number("lambda"),
            number("mu"),
            number("nu"),
            number("rho"),
            number("diversity_penalty"),
            integer("seeds"),
            integer("candidates"),
            number("own_group_share"),
            integer("passages"),
        ];
        vec![
            text("id"),
            text("question"),
            text("mode"),
            optional_text("group"),
            moment("as_of", true),
            Field::new("parameters", structure(parameters), false),
        ]
    }
}

impl Record for Entity {
    const TABLE: &'static str = "entities";

    fn columns() -> Vec<Field> {
        vec![
            text("key"),
            text("name"),
            text("type"),
            text("category"),
            text("description"),
            list("aliases", DataType::Utf8),
            number("confidence"),
            integer("support"),
        ]
    }
}

impl Record for Hyperedge {
    const TABLE: &'static str = "hyperedges";

    fn columns() -> Vec<Field> {
        vec![
            text("id"),
            text("relation"),
            integer("family"),
            integer("base_family"),
            text("text"),
            list("members", structure(vec![text("entity"), text("role")])),
            list("attributes", structure(vec![text("name"), value()])),
            text("group"),
            optional_integer("horizon_hours"),
            moment("issued_at", true),
            moment("valid_at", true),
            number("confidence"),
            list("relations", structure(vec![text("from"), text("to"), text("label"), number("confidence")])),
            provenance("provenance"),
            text("origin"),
            integer("position"),
            text("embedded_as"),
        ]
    }
}

impl Record for Incidence {
    const TABLE: &'static str = "incidence";

    fn columns() -> Vec<Field> {
        vec![text("hyperedge"), text("entity"), text("role")]
    }
}

impl Record for Degree {
    const TABLE: &'static str = "degrees";

    fn columns() -> Vec<Field> {
        vec![text("entity"), integer("degree"), flag("expands")]
    }
}

impl Record for Synonym {
    const TABLE: &'static str = "synonyms";

    fn columns() -> Vec<Field> {
        vec![text("a"), text("b"), number("cosine"), text("why")]
    }
}

impl Record for Precedence {
    const TABLE: &'static str = "precedence";

    fn columns() -> Vec<Field> {
        vec![cell("before"), cell("after"), text("rule")]
    }
}

impl Record for Conflict {
    const TABLE: &'static str = "conflicts";

    fn columns() -> Vec<Field> {
        let side = || structure(vec![text("hyperedge"), value(), moment("issued_at", true), provenance("provenance")]);
        vec![
            text("kind"),
            text("relation"),
            text("entity"),
            text("attribute"),
            Field::new("leading", side(), false),
            Field::new("other", side(), false),
        ]
    }
}

impl Record for ModelOutput {
    const TABLE: &'static str = "model_outputs";

    fn columns() -> Vec<Field> {
        vec![text("model"), text("template"), text("input"), list("vector", DataType::Float32)]
    }
}

impl Record for ModelText {
    const TABLE: &'static str = "model_texts";

    fn columns() -> Vec<Field> {
        vec![text("model"), text("template"), text("input"), text("text")]
    }
}

impl Record for AnswerStep {
    const TABLE: &'static str = "answers";

    fn columns() -> Vec<Field> {
        let score = vec![
            number("relevance"),
            number("transition"),
            number("precedence"),
            number("overlap"),
            number("coverage"),
            number("total"),
        ];
        vec![
            text("query"),
            integer("rank"),
            integer("step"),
            text("hyperedge"),
            text("relation"),
            text("phase"),
            optional_integer("horizon_hours"),
            moment("issued_at", true),
            text("text"),
            number("relevance"),
            Field::new("score", structure(score), false),
            provenance("provenance"),
        ]
    }
}

impl Record for RankedPassage {
    const TABLE: &'static str = "rankings";

    fn columns() -> Vec<Field> {
        let score = ["dense", "lexical", "start", "step", "walk", "total"].map(number);
        vec![
            text("query"),
            integer("rank"),
            text("passage"),
            text("title"),
            text("text"),
            text("evidence"),
            number("relevance"),
            Field::new("score", structure(score.into()), false),
            provenance("provenance"),
        ]
    }
}

impl Record for EvidenceRow {
    const TABLE: &'static str = "evidence";

    fn columns() -> Vec<Field> {
        let score = ["coverage", "propagation", "extraction", "entry", "relations", "retrieval", "total"].map(number);
        vec![
            text("query"),
            integer("rank"),
            text("hyperedge"),
            text("text"),
            list("retained", DataType::Utf8),
            integer("represented_by"),
            flag("supports"),
            number("contradiction"),
            Field::new("score", structure(score.into()), false),
            provenance("provenance"),
        ]
    }
}

impl Record for Reject {
    const TABLE: &'static str = "rejects";

    fn columns() -> Vec<Field> {
        vec![
            text("id"),
            text("topic"),
            optional_integer("partition"),
            optional_integer("offset"),
            text("key"),
            text("stage"),
            optional_integer("line"),
            text("reason"),
            text("payload_base64"),
        ]
    }
}
