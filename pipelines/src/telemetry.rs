//! Logs: structured lines on standard error, so that standard output stays for results.

use tracing_subscriber::EnvFilter;

/// Starts logging with a filter such as `hypercane=debug`. A level alone, such as `info`, is that of Hypercane's own lines;
/// libraries below it then say what they would warn of.
///
/// # Errors
/// The filter is no filter.
pub fn start(filter: &str) -> Result<(), String> {
    let own = ["info", "debug", "trace"].contains(&filter).then(|| format!("warn,hypercane={filter}"));
    let filter = EnvFilter::try_new(own.as_deref().unwrap_or(filter))
        .map_err(|e| format!("the log filter {filter:?} is wrong: {e}"))?;
    // A second start in one process, as in tests, keeps the first.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
    Ok(())
}
