//! `hypercane check-extraction`: what the grammars extract, against independent tables.

use std::{path::PathBuf, process::ExitCode};

use super::setup;
use crate::check_extraction::check;

/// Compare what the grammars extract with independent tables.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A folder of advisories with their tables.
    dir: PathBuf,
    /// The domain pack: a folder, or the name of one that ships.
    #[arg(long, default_value = "cyclone")]
    domain: String,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let domain = setup::domain(&arguments.domain)?;
    let report = check(&arguments.dir, &domain)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        println!("{report}");
    }
    Ok(if report.all_right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
