//! Logs: structured lines on standard error, so that standard output stays for results.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;

/// Starts logging with a filter such as `hypercane=debug`. A level alone, such as `info`, is that of Hypercane's own lines;
/// libraries below it then say what they would warn of.
///
/// # Errors
/// The filter is no filter.
pub fn start(filter: &str) -> Result<(), String> {
    // The library that reads logs of tables prints a backtrace for what comes back as an error, and is told by us.
    let filter = match filter {
        "info" | "debug" | "trace" => format!("warn,hypercane={filter},buoyant_kernel=off"),
        filter if filter.contains("buoyant_kernel") => filter.to_owned(),
        filter => format!("{filter},buoyant_kernel=off"),
    };
    let filter = EnvFilter::try_new(&filter).map_err(|e| format!("the log filter {filter:?} is wrong: {e}"))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).with_ansi(stderr().is_terminal());
    // A second start in one process, as in tests, keeps the first.
    let _ = lines.try_init();
    Ok(())
}
