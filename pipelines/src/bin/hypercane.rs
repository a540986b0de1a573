//! The command `hypercane`.

use std::process::ExitCode;

/// The workers make and drop many small rows, and drop them on other threads than made them. It also serves the C libraries,
/// so that there is one heap.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What is free for a second goes back to the system, also in threads that do nothing: else memory would show what the
/// busiest moment took, and not what is kept. `MALLOC_CONF` in the environment comes after this.
#[allow(unsafe_code)] // The allocator reads its settings from a symbol of this name, before anything runs.
#[unsafe(export_name = "malloc_conf")]
pub static MALLOC_CONF: &[u8] = b"background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0\0";

fn main() -> ExitCode {
    hypercane::cli::main()
}
