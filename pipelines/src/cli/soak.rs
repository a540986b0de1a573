//! `hypercane bench soak`: whether a pipeline stays as large as it is.

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use hypercane_schemas::Query;

use super::{
    demo::{Line, read_lines},
    setup,
};
use crate::{
    bench::soak::{self, Sample, Verdict},
    connect::{embed::Hashed, transport::RawRecord},
};

/// Memory or files have grown. Arguments that can't be used end the command with 2.
const GROWN: u8 = 3;

/// Replay one storm over and over, and watch memory and files.
///
/// Documents come, are corrected, are deleted and come again, reference times move, questions come and go, and commits go
/// on beside. It is flat when resident memory, as a mean over a tenth of the time, stays in the second half within 5 % of
/// what it was at the end of the first, no table has more live files than the bound, and the lake's files, with removed ones
/// and logs, are at most a quarter more than in the first half. The exit code is 0 then, and 3 otherwise.
///
/// The lake keeps removed files for a tenth of the time and history for a fifth, so that all is in balance early.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  hypercane bench soak --minutes 10
  hypercane bench soak --minutes 60 --rate 50 --json > soak.json")]
pub(super) struct Soak {
    /// How long.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Records a second.
    #[arg(long, default_value_t = 20.0)]
    rate: f64,
    /// Folder of the storm: feed.jsonl, queries.jsonl and the texts.
    #[arg(long, default_value = "data/demo")]
    data: PathBuf,
    /// Take the embedding model in this folder, not vectors of hashed words. Each text is embedded once in either case.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Worker threads of the dataflow.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Keep the lake in this folder.
    #[arg(long)]
    pub(super) keep: Option<PathBuf>,
    /// Print what was found as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Soak, folder: PathBuf) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        arguments.minutes >= 0.5,
        "--minutes {} is too short to tell anything; give 0.5 or more",
        arguments.minutes
    );
    anyhow::ensure!(arguments.rate > 0.0, "--rate {} is no rate; give records a second", arguments.rate);
    let lines: Vec<Line> = read_lines(&arguments.data.join("feed.jsonl"))?;
    let queries: Vec<Query> = read_lines(&arguments.data.join("queries.jsonl"))?;
    let record = |line: &Line| {
        let payload = line.payload(&arguments.data)?;
        anyhow::Ok(RawRecord::new(&line.topic.as_str().into(), line.key.as_str(), payload))
    };
    let storm = lines.iter().map(record).collect::<Result<Vec<_>, _>>()?;
    let runtime = setup::runtime()?;
    let model = match &arguments.model {
        Some(folder) => setup::model(folder)?,
        None => Arc::new(Hashed),
    };
    let soak = soak::Soak {
        storm,
        queries,
        domain: setup::domain("cyclone")?,
        model,
        n_workers: arguments.workers,
        rate: arguments.rate,
        length: Duration::from_secs_f64(arguments.minutes * 60.0),
        folder,
    };
    if !arguments.json {
        println!("minute   records/s    epochs   memory MB   arranged rows   live files   all files   lake MB");
    }
    let mut shown = 0.0;
    let verdict = soak.run(&runtime, |sample: &Sample| {
        if !arguments.json && sample.seconds - shown >= 60.0_f64.min(arguments.minutes * 6.0) {
            shown = sample.seconds;
            println!("{}", line(sample));
        }
    })?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&verdict)?);
    } else {
        println!("{}", told(&verdict));
    }
    Ok(if verdict.is_flat { ExitCode::SUCCESS } else { ExitCode::from(GROWN) })
}

const MB: f64 = 1e6;

fn line(sample: &Sample) -> String {
    format!(
        "{:>6.1}{:>12.1}{:>10}{:>12.1}{:>16}{:>13}{:>12}{:>10.1}",
        sample.seconds / 60.0,
        sample.n_records as f64 / sample.seconds,
        sample.n_epochs,
        sample.memory as f64 / MB,
        sample.arranged_rows,
        sample.most_live_files(),
        sample.n_files(),
        sample.n_bytes() as f64 / MB,
    )
}

fn told(verdict: &Verdict) -> String {
    let (before, after) = (verdict.memory_before as f64 / MB, verdict.memory_after as f64 / MB);
    format!(
        "{}: {} storms, {} records in {:.0} s ({:.1} a second), {} epochs\n\
         memory: {before:.1} MB at the end of the first half, at most {after:.1} MB in the second ({:+.1} %), peak {:.1} MB\n\
         live files: at most {} a table, {} are allowed; all files: at most {} in the first half, {} in the second",
        if verdict.is_flat { "flat" } else { "GROWN" },
        verdict.n_storms,
        verdict.n_records,
        verdict.seconds,
        verdict.n_records as f64 / verdict.seconds.max(1.0),
        verdict.n_epochs,
        (after / before - 1.0) * 100.0,
        verdict.memory_peak as f64 / MB,
        verdict.live_files,
        verdict.live_files_bound,
        verdict.files.0,
        verdict.files.1,
    )
}
