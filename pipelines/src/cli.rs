//! The command `hypercane`: what can be said to it, one module a command.

/// As the standard one, but that a reader who is gone is no error.
macro_rules! print {
    ($($text:tt)*) => { $crate::cli::out::write(format_args!($($text)*)) };
}
/// As the standard one, but that a reader who is gone is no error.
macro_rules! println {
    () => { print!("\n") };
    ($($text:tt)*) => { print!("{}\n", format_args!($($text)*)) };
}

mod ask;
mod bench;
mod check_extraction;
mod compact;
mod demo;
mod eval;
mod export;
mod extract;
mod multihop;
mod out;
mod progress;
mod publish;
mod replay_rejects;
mod resume;
mod run;
mod schema;
mod setup;
mod show;
mod soak;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A streaming engine that keeps a knowledge hypergraph true while documents arrive, change and disappear, and keeps the
/// answers to standing questions true with it.
#[derive(Debug, Parser)]
#[command(name = "hypercane", version, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// What is logged to standard error: error, warn, info, debug, or a filter such as `hypercane=debug`.
    #[arg(long, global = true, default_value = "warn", env = "HYPERCANE_LOG")]
    log: String,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a pipeline until it is stopped, or until its files are read.
    Run(run::Arguments),
    /// Replay a storm that ships with the program, follow ten standing questions, and write a lake.
    Demo(demo::Arguments),
    /// Compare what the grammars extract with independent tables.
    CheckExtraction(check_extraction::Arguments),
    /// Ask questions whose evidence is known, and measure what is found.
    Eval(eval::Arguments),
    Ask(ask::Arguments),
    Bench(bench::Arguments),
    Compact(compact::Arguments),
    Export(export::Arguments),
    Extract(extract::Arguments),
    Publish(publish::Arguments),
    ReplayRejects(replay_rejects::Arguments),
    Schema(schema::Arguments),
    Verify(verify::Arguments),
}

/// Runs what the arguments say. Errors are printed with their causes.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Err(error) = crate::telemetry::start(&arguments.log) {
        eprintln!("error: {error}");
        return ExitCode::FAILURE;
    }
    // For tests of crashes: where the process is to end, see `connect::lake::fault`.
    if let Ok(place) = std::env::var("HYPERCANE_FAULT")
        && let Err(error) = crate::connect::lake::fault::arm(&place)
    {
        eprintln!("error: HYPERCANE_FAULT: {error}");
        return ExitCode::FAILURE;
    }
    let outcome = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::CheckExtraction(arguments) => check_extraction::run(&arguments),
        Command::Eval(arguments) => eval::run(&arguments),
        Command::Ask(arguments) => ask::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Extract(arguments) => extract::run(&arguments),
        Command::Publish(arguments) => publish::run(&arguments),
        Command::ReplayRejects(arguments) => replay_rejects::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Compact(arguments) => compact::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
