//! `hypercane verify`: whether a lake holds what follows from its own input.

use std::process::ExitCode;

use comfy_table::{CellAlignment, presets::ASCII_MARKDOWN};

use super::{progress::Progress, setup};
use crate::{
    connect::lake::{self, Lake},
    verify::{Difference, Settings, Verified, verify},
};

/// Differences were found. Arguments that can't be used end the command with 2.
const DIFFERENT: u8 = 3;
/// Longest row that is shown whole, in bytes.
const LONGEST_SHOWN: usize = 400;

/// Compute a lake's tables again from its input tables, in one step and without a model, and compare every row.
///
/// What a pipeline kept change by change has to be what one computation over the standing documents gives. This is checked
/// as of the last commit; the pipeline may be running meanwhile. The exit code is 0 when all is the same, 3 when rows
/// differ, and 1 or 2 when the lake could not be verified.
///
/// A difference means that the lake was changed by something else, or that there is a defect: keep the lake and report it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane verify --lake demo-lake
  hypercane verify --lake s3://bucket/lake --sample 20 --seed 7
  hypercane verify --lake demo-lake --json")]
pub(super) struct Arguments {
    /// The lake: a folder, or a URL of an object store.
    #[arg(long)]
    lake: String,
    /// The domain pack that the pipeline uses: a folder, or the name of one that ships.
    #[arg(long, default_value = "cyclone")]
    domain: String,
    /// Verify only so many of the groups that the lake holds, for large lakes: their hyperedges, incidence and precedence.
    /// All documents are read, but what they say of other groups is left out.
    #[arg(long, value_name = "GROUPS", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Chooses the groups of the sample.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The model whose vectors count, where the lake holds those of several.
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// How many differences of each table are shown.
    #[arg(long, default_value_t = 3, value_name = "ROWS")]
    first: usize,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let runtime = setup::runtime()?;
    let progress = Progress::start(&runtime);
    let domain = setup::domain(&arguments.domain)?;
    let settings = Settings {
        sample: arguments.sample.map(|size| usize::try_from(size).unwrap_or(usize::MAX)),
        seed: arguments.seed,
        model: arguments.model.clone(),
        n_workers: arguments.workers,
        n_shown: arguments.first,
    };
    progress.say("opening the lake");
    let verified = runtime.block_on(async {
        let lake = Lake::view(&arguments.lake, lake::Options::default()).await?;
        anyhow::Ok(verify(&lake, &domain, &settings, |what| progress.say(what)).await?)
    })?;
    drop(progress);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&verified)?);
    } else {
        print!("{}", shown(&verified));
    }
    Ok(if verified.is_same() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
}

fn shown(verified: &Verified) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(ASCII_MARKDOWN);
    drawn.set_header(["table", "rows", "missing", "extra"]);
    for column in drawn.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for table in &verified.tables {
        let numbers = [table.n_rows, table.n_missing, table.n_extra].map(|number| number.to_string());
        drawn.add_row([vec![table.table.to_owned()], numbers.to_vec()].concat());
    }
    let (scope, subject) = match &verified.groups {
        None => (String::new(), "The lake holds"),
        Some(groups) => (format!(", {} groups of a sample", groups.len()), "These groups hold"),
    };
    let mut text =
        format!("epoch {}, computed again from {} documents{scope}\n{drawn}\n", verified.epoch, verified.n_documents);
    for table in &verified.tables {
        for difference in &table.first {
            text.push_str(&told(table.table, difference));
        }
    }
    text.push_str(&match verified.is_same() {
        true => format!("{subject} what follows from the input, and nothing else.\n"),
        false => "The lake differs from what follows from its input.\n".to_owned(),
    });
    text
}

/// One row that differs, with the documents that it came from.
fn told(table: &str, difference: &Difference) -> String {
    let side = match difference.count {
        1.. => format!("the lake has {} too many", difference.count),
        _ => format!("the lake lacks {}", difference.count.unsigned_abs()),
    };
    let mut row = difference.row.to_string();
    if row.len() > LONGEST_SHOWN {
        row.truncate(row.floor_char_boundary(LONGEST_SHOWN));
        row.push('…');
    }
    let places = difference.row.get("provenance").and_then(|provenance| provenance.as_array());
    let documents: Vec<&str> = places.into_iter().flatten().filter_map(|place| place["document"].as_str()).collect();
    let from = if documents.is_empty() { String::new() } else { format!("\n  from {}", documents.join(", ")) };
    format!("{table}: {side}: {row}{from}\n")
}
