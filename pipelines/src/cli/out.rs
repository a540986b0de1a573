//! Standard output. Who reads it may go before a command ends, as `head` does; what the command does is done all the same.

use std::{
    fmt,
    io::{ErrorKind, Write as _},
    process,
};

/// Writes to standard output; what `print!` and `println!` are in these modules. Where it can't be written (a full disk behind
/// `>`) the command ends with an error, since half of what was asked for is nothing.
pub(super) fn write(text: fmt::Arguments<'_>) {
    match std::io::stdout().write_fmt(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("error: standard output can't be written: {error}");
            process::exit(1);
        }
        Ok(()) | Err(_) => {}
    }
}
