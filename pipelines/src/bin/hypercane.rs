//! The command `hypercane`.

use std::process::ExitCode;

/// The workers make and drop many small rows, and drop them on other threads than made them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    hypercane::cli::main()
}
