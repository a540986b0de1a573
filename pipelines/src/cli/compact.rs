//! `hypercane compact`: fewer files, less history.

use std::{process::ExitCode, time::Duration};

use anyhow::Context as _;
use comfy_table::{CellAlignment, presets::ASCII_MARKDOWN};
use serde::Serialize;

use super::setup;
use crate::{
    connect::lake::{self, Lake, TableSize, Vacuumed},
    export::AsOf,
};

/// Merge the small files of a lake's tables, fold old history, and delete files that were removed long ago.
///
/// Merging changes no row: the state at every epoch reads as before. A pipeline does this by itself while it runs (section
/// [lake] of its configuration), and this command refuses a lake that one writes to. Folding replaces the rows up to an
/// epoch by the state there; no state before it can be read afterwards. A removed file is kept for the retention time, for
/// readers that have begun before it was removed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane compact --lake demo-lake
  hypercane compact --lake demo-lake --dry-run
  hypercane compact --lake s3://bucket/lake --fold-before 2020-08-25T00:00Z --retention 24")]
pub(super) struct Arguments {
    /// The lake: a folder, or a URL of an object store.
    #[arg(long)]
    lake: String,
    /// How many hours removed files are kept; with 0 no other program may be reading.
    #[arg(long, value_name = "HOURS", default_value_t = 168)]
    retention: u64,
    /// Fold the history before an epoch, or before the last epoch that was committed by a moment.
    #[arg(long, value_name = "EPOCH|TIME")]
    fold_before: Option<AsOf>,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// What was done, or would be.
#[derive(Serialize)]
struct Report {
    dry_run: bool,
    /// The first epoch that can be read, where history was folded.
    folded_before: Option<u64>,
    /// For each table how many rows went.
    folded: Vec<(String, u64)>,
    /// For each table how many files were merged.
    merged: Vec<(String, usize)>,
    vacuumed: Vacuumed,
    before: Vec<TableSize>,
    after: Vec<TableSize>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let runtime = setup::runtime()?;
    let report = runtime.block_on(work(arguments))?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", shown(&report));
    }
    Ok(ExitCode::SUCCESS)
}

async fn work(arguments: &Arguments) -> anyhow::Result<Report> {
    let retention = Duration::from_secs(arguments.retention.saturating_mul(3600));
    let options = lake::Options { retention, ..lake::Options::default() };
    let lake = if arguments.dry_run {
        Lake::view(&arguments.lake, options).await?
    } else {
        match Lake::open_as_owner(&arguments.lake, options).await {
            Err(error @ lake::Error::Held { .. }) => {
                return Err(error).context("a pipeline that runs compacts its lake by itself");
            }
            opened => opened?,
        }
    };
    let before = lake.sizes().await?;
    if !arguments.dry_run {
        lake.recover().await?;
    }
    let folded_before = match arguments.fold_before {
        Some(bound) => Some(bound.epoch(&lake).await?),
        None => None,
    };
    let folded = match folded_before {
        Some(epoch) => lake.fold(epoch, arguments.dry_run).await?,
        None => Vec::new(),
    };
    let merged = lake.compact(arguments.dry_run).await?;
    let vacuumed = lake.vacuum(retention, arguments.dry_run).await?;
    let after = lake.sizes().await?;
    lake.close().await;
    Ok(Report { dry_run: arguments.dry_run, folded_before, folded, merged, vacuumed, before, after })
}

fn shown(report: &Report) -> String {
    let mut drawn = comfy_table::Table::new();
    drawn.load_style(ASCII_MARKDOWN);
    drawn.set_header(["table", "files", "kB", "rows", "files now", "kB now", "rows now"]);
    for column in drawn.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let numbers = |size: &TableSize| [size.n_files, size.n_bytes.div_ceil(1000), size.n_rows].map(|n| n.to_string());
    let mut before_all = TableSize { table: "all".into(), ..TableSize::default() };
    let mut after_all = before_all.clone();
    for (before, after) in report.before.iter().zip(&report.after) {
        drawn.add_row([vec![before.table.clone()], numbers(before).to_vec(), numbers(after).to_vec()].concat());
        for (all, one) in [(&mut before_all, before), (&mut after_all, after)] {
            all.n_files += one.n_files;
            all.n_bytes += one.n_bytes;
            all.n_rows += one.n_rows;
        }
    }
    drawn.add_row(
        [vec![before_all.table.clone()], numbers(&before_all).to_vec(), numbers(&after_all).to_vec()].concat(),
    );
    let mut text = format!("{drawn}\n");
    let would = if report.dry_run { "would be " } else { "" };
    if let Some(epoch) = report.folded_before {
        let n_rows: u64 = report.folded.iter().map(|(_, n_rows)| n_rows).sum();
        text.push_str(&format!(
            "{n_rows} rows of history {would}folded; epoch {epoch} is the first that can be read\n"
        ));
    }
    let n_merged: usize = report.merged.iter().map(|(_, n_files)| n_files).sum();
    text.push_str(&format!("{n_merged} small files {would}merged in {} tables\n", report.merged.len()));
    let Vacuumed { n_files, n_bytes } = report.vacuumed;
    text.push_str(&format!("{n_files} removed files {would}deleted, {} kB\n", n_bytes.div_ceil(1000)));
    text
}
