//! Torture of the real process on a real broker: it is fed, killed at random instants, started again with another number
//! of workers, and at the end its lake must be the one of a run that nobody disturbed: no row lost, none twice, no file
//! that no log entry mentions.
//!
//! `TORTURE_KILLS` says how often (20), `TORTURE_SEED` which records and which kills. The seed is printed; the instant at
//! which a kill meets the process is the machine's own. Without `KAFKA_BROKERS` it says that it was skipped.

// The modules of a test binary are seen by nobody outside.
#![allow(unreachable_pub)]

#[path = "../it/command.rs"]
#[allow(dead_code, reason = "the other test binary runs the command to its end")]
mod command;
mod compare;
mod dice;
mod feeder;
mod lake;
mod process;
mod torture;
mod traffic;

use std::{env, process::ExitCode, time::SystemTime};

const DEFAULT_KILLS: usize = 20;

fn main() -> ExitCode {
    // As every test binary, it is given the words that choose tests.
    let words: Vec<String> = env::args().skip(1).collect();
    let mut chosen = words.iter().filter(|word| !word.starts_with('-')).peekable();
    if words.iter().any(|word| word == "--list")
        || chosen.peek().is_some() && !chosen.any(|word| "torture".contains(word))
    {
        return ExitCode::SUCCESS;
    }
    let Ok(brokers) = env::var("KAFKA_BROKERS") else {
        println!("torture: skipped, KAFKA_BROKERS names no broker");
        return ExitCode::SUCCESS;
    };
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64 % 1_000_000);
    let outcome = number("TORTURE_KILLS", DEFAULT_KILLS)
        .and_then(|n_kills| Ok((n_kills, number("TORTURE_SEED", now)?)))
        .and_then(|(n_kills, seed)| torture::torture(&brokers, n_kills, seed));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            println!("torture: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// A number of the environment.
fn number<N: std::str::FromStr>(variable: &str, default: N) -> Result<N, String> {
    match env::var(variable) {
        Ok(text) if !text.is_empty() => {
            text.parse().map_err(|_| format!("{variable} is {text:?}: give a whole number"))
        }
        _ => Ok(default),
    }
}
