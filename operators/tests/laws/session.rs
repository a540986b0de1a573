//! The text session format: a history that a person can read, write and keep.
//!
//! ```text
//! # What this shows.
//! law reference_times
//! feed horizon {"storm":"AL01","at":48,"issued":0}
//! tick
//! retract horizon {"storm":"AL01","at":48,"issued":0}
//! tick
//! expect 0
//! ```
//!
//! One line a statement. `feed` and `retract` give a kind of row and the row as JSON; `tick` ends an epoch, and what comes
//! before it becomes visible together; `expect` says how many rows stand after the last `tick`; a line of `#` is a remark.
//! Any other word is a setting, with its value. The tests of whole pipelines read and write the same format.

use std::fmt::Write as _;

use serde_json::Value;

/// A statement of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A remark.
    Remark(String),
    /// A setting, such as `law`, and its value.
    Setting(String, String),
    /// A row that comes: its kind, and the row.
    Feed(String, Value),
    /// A row that goes.
    Retract(String, Value),
    /// The end of an epoch.
    Tick,
    /// How many rows stand, each as often as it stands.
    Expect(usize),
}

/// Reads a session.
///
/// # Errors
/// The first line that can't be read, by its number, and what is wrong with it.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(idx, line)| parse_line(line.trim()).map_err(|reason| format!("line {}: {reason}", idx + 1))).collect()
}

fn parse_line(line: &str) -> Result<Line, String> {
    if let Some(remark) = line.strip_prefix('#') {
        return Ok(Line::Remark(remark.trim().to_owned()));
    }
    let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
    let row = || {
        let (kind, row) = rest.split_once(' ').ok_or_else(|| format!("`{word}` needs a kind and a row, as JSON"))?;
        let row = serde_json::from_str(row).map_err(|e| format!("the row of `{word} {kind}` is no JSON: {e}"))?;
        Ok::<_, String>((kind.to_owned(), row))
    };
    Ok(match word {
        "feed" => row().map(|(kind, row)| Line::Feed(kind, row))?,
        "retract" => row().map(|(kind, row)| Line::Retract(kind, row))?,
        "tick" if rest.is_empty() => Line::Tick,
        "tick" => return Err("`tick` stands alone".into()),
        "expect" => Line::Expect(rest.parse().map_err(|_| format!("`expect` needs a number of rows, not `{rest}`"))?),
        _ => Line::Setting(word.to_owned(), rest.to_owned()),
    })
}

/// Writes a session; [`parse`] reads it back.
pub fn print(session: &[Line]) -> String {
    let mut text = String::new();
    for line in session {
        let written = match line {
            Line::Remark(remark) => writeln!(text, "# {remark}"),
            Line::Setting(word, value) => writeln!(text, "{}", format!("{word} {value}").trim_end()),
            Line::Feed(kind, row) => writeln!(text, "feed {kind} {row}"),
            Line::Retract(kind, row) => writeln!(text, "retract {kind} {row}"),
            Line::Tick => writeln!(text, "tick"),
            Line::Expect(n_rows) => writeln!(text, "expect {n_rows}"),
        };
        written.expect("a string takes any text");
    }
    text
}

/// Whether reading a session, writing it and reading it again gives the same.
pub fn comes_back(text: &str) -> bool {
    let read = parse(text);
    read.is_ok() && parse(&print(read.as_deref().unwrap_or_default())) == read
}
