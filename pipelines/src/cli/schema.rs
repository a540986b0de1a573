//! `hypercane schema`: the JSON Schema of every record.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use hypercane_schemas::json;

/// Print the JSON Schema of a record, or write those of all records.
///
/// `documents`, `horizons` and `queries` say what the input topics accept; `results` says what the topic of results holds;
/// the others say what a line of `hypercane export` holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane schema documents              what a document may look like
  hypercane schema | jq 'keys'            all schemas, as one object
  hypercane schema --dir schemas/json     one file for each record")]
pub(super) struct Arguments {
    /// The record; all of them if not given.
    #[arg(value_parser = PossibleValuesParser::new(json::NAMES))]
    record: Option<String>,
    /// Write one file a record into this folder instead of printing.
    #[arg(long)]
    dir: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let names = json::NAMES.into_iter().filter(|name| arguments.record.as_deref().is_none_or(|only| only == *name));
    let schemas: Vec<_> = names.filter_map(|name| Some((name, json::schema(name)?))).collect();
    match (&arguments.dir, schemas.as_slice()) {
        (Some(dir), schemas) => {
            std::fs::create_dir_all(dir).with_context(|| format!("{} can't be made", dir.display()))?;
            for (name, schema) in schemas {
                let path = dir.join(json::file_name(name));
                std::fs::write(&path, json::render(schema))
                    .with_context(|| format!("{} can't be written", path.display()))?;
            }
            eprintln!("{} schemas are in {}", schemas.len(), dir.display());
        }
        (None, [(_, schema)]) => print!("{}", json::render(schema)),
        (None, schemas) => {
            let all: serde_json::Map<_, _> =
                schemas.iter().map(|(name, schema)| ((*name).to_owned(), schema.as_value().clone())).collect();
            println!("{:#}", serde_json::Value::Object(all));
        }
    }
    Ok(ExitCode::SUCCESS)
}
