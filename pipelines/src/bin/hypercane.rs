//! The command `hypercane`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hypercane::cli::main()
}
