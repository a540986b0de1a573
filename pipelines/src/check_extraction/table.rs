//! Reading folders, texts and tables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;

/// A row by column name.
pub(super) type Row = BTreeMap<String, String>;

/// The entries of a folder, sorted; none where the folder isn't there.
pub(super) fn entries(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let read = |source| Error::Read { path: dir.to_owned(), source };
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(read)? {
        all.push(entry.map_err(read)?.path());
    }
    all.sort();
    Ok(all)
}

/// The folders in a folder.
pub(super) fn folders(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    Ok(entries(dir)?.into_iter().filter(|path| path.is_dir()).collect())
}

/// The files in a folder whose name passes.
pub(super) fn files(dir: &Path, name: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, Error> {
    let passes = |path: &PathBuf| path.is_file() && path.file_name().is_some_and(|file| name(&file.to_string_lossy()));
    Ok(entries(dir)?.into_iter().filter(passes).collect())
}

/// A text; bytes that are no UTF-8 become the replacement character.
pub(super) fn text(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The rows of a table; none where the file isn't there.
pub(super) fn rows(path: &Path) -> Result<Vec<Row>, Error> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let broken = |error: csv::Error| Error::Table { path: path.to_owned(), reason: error.to_string() };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).map_err(broken)?;
    reader.deserialize().collect::<Result<_, _>>().map_err(broken)
}

/// A cell; empty where the column is missing.
pub(super) fn cell<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).map_or("", String::as_str)
}

/// A number, where the cell has one.
pub(super) fn number(row: &Row, column: &str) -> Option<f64> {
    cell(row, column).trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// A file's name as reports show it.
pub(super) fn shown(dir: &Path, file: &Path) -> String {
    file.strip_prefix(dir).unwrap_or(file).to_string_lossy().into_owned()
}
