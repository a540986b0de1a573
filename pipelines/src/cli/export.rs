//! `hypercane export`: the state of a lake at an epoch, as plain files.

use std::{path::PathBuf, process::ExitCode};

use super::setup;
use crate::{
    connect::lake::{self, Lake},
    export::{AsOf, Format, export},
};

/// Write what stands in a lake, now or at an earlier point, as plain files.
///
/// The tables of a lake are changelogs; this adds them up. Each table becomes one file without `epoch` and `diff`. JSON
/// Lines are sorted and canonical: equal states give equal files, so two lakes, or two points of one, can be compared with
/// `diff` or `sha256sum`. The pipeline may be running meanwhile.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane export --lake demo-lake --out now
  hypercane export --lake demo-lake --out then --as-of 12 --tables hyperedges,answers
  hypercane export --lake s3://bucket/lake --out then --as-of 2017-08-25T03:00Z --format parquet")]
pub(super) struct Arguments {
    /// The lake: a folder, or a URL of an object store.
    #[arg(long)]
    lake: String,
    /// The folder that the files are written to.
    #[arg(long)]
    out: PathBuf,
    /// An epoch, or a moment: then the last epoch that was committed by that moment. The last commit if not given.
    #[arg(long, value_name = "EPOCH|TIME", default_value = None)]
    as_of: Option<AsOf>,
    /// Only these tables.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    tables: Vec<String>,
    /// The form of the files.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let runtime = setup::runtime()?;
    runtime.block_on(async {
        let lake = Lake::view(&arguments.lake, lake::Options::default()).await?;
        let epoch = arguments.as_of.unwrap_or_default().epoch(&lake).await?;
        let told = |table: &str, n_rows: usize| eprintln!("{n_rows:>9} {table}");
        export(&lake, epoch, &arguments.tables, arguments.format, &arguments.out, told).await?;
        eprintln!("as of epoch {epoch}, in {}", arguments.out.display());
        Ok(ExitCode::SUCCESS)
    })
}
