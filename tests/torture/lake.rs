//! A lake as its files tell it, read without the code under test: the logs of the tables as JSON, the rows as Parquet.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    path::{Path, PathBuf},
};

use arrow::{
    array::{AsArray as _, RecordBatch},
    datatypes::Int64Type,
    json::LineDelimitedWriter,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

/// The log of one table.
#[derive(Default)]
struct Log {
    /// The version that is read next.
    next: u64,
    /// The data files that count, with the version that added them.
    live: BTreeMap<String, u64>,
    /// All data files that an entry ever named.
    mentioned: BTreeSet<String>,
}

/// A lake on local disk.
pub struct Lake {
    pub folder: PathBuf,
    tables: BTreeMap<String, Log>,
}

/// The last row of `commits`.
pub struct Point {
    pub epoch: i64,
    /// By topic and partition.
    pub offsets: BTreeMap<(String, i32), i64>,
    versions: BTreeMap<String, u64>,
}

const LOG: &str = "_delta_log";

impl Lake {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, tables: BTreeMap::new() }
    }

    /// Reads what the logs say by now.
    pub fn refresh(&mut self) -> Result<(), String> {
        for folder in list(&self.folder)? {
            if folder.join(LOG).is_dir() {
                let log = self.tables.entry(name(&folder)).or_default();
                log.refresh(&folder.join(LOG))?;
            }
        }
        Ok(())
    }

    /// The names of the tables.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().filter(|(_, log)| log.next > 0).map(|(name, _)| name.as_str())
    }

    /// The row of `commits` with the last epoch, if there is one. It need not be in the file that was written last: older commits are
    /// merged beside it.
    pub fn point(&self) -> Result<Option<Point>, String> {
        let mut last: Option<(i64, String)> = None;
        self.rows("commits", |row, epoch, _| {
            if last.as_ref().is_none_or(|(newest, _)| *newest < epoch) {
                last = Some((epoch, row.to_owned()));
            }
        })?;
        let Some((epoch, row)) = last else { return Ok(None) };
        let row: Value = serde_json::from_str(&row).map_err(|e| e.to_string())?;
        let items = |name: &str| row[name].as_array().cloned().unwrap_or_default();
        let offsets = items("offsets").into_iter().filter_map(|item| {
            let partition = i32::try_from(item["partition"].as_i64()?).ok()?;
            Some(((item["topic"].as_str()?.to_owned(), partition), item["offset"].as_i64()?))
        });
        let versions = items("versions");
        let versions = versions.iter().filter_map(|v| Some((v["table"].as_str()?.into(), v["version"].as_u64()?)));
        Ok(Some(Point { epoch, offsets: offsets.collect(), versions: versions.collect() }))
    }

    /// Where in a commit a process died, as far as what it left behind tells; none if it died between two.
    pub fn residue(&self) -> Result<Option<&'static str>, String> {
        let orphans = self.orphans()?;
        let of = |table: &str| orphans.iter().any(|file| file.starts_with(&format!("{table}/")));
        let point = self.point()?;
        let committed = |table: &str| point.as_ref().and_then(|point| point.versions.get(table)).copied().unwrap_or(0);
        let rows = self
            .tables
            .iter()
            .filter(|(name, _)| !["commits", "model_outputs", "model_texts"].contains(&name.as_str()));
        let is_logged = rows.clone().any(|(name, log)| log.live.values().any(|version| *version > committed(name)));
        let is_put = rows.clone().any(|(name, _)| of(name));
        Ok(match (of("commits"), is_logged, is_put) {
            (true, ..) => Some("at the commit row"),
            (_, true, true) => Some("between the tables"),
            (_, true, false) => Some("after some or all tables"),
            (_, false, true) => Some("at the first files"),
            _ if of("model_outputs") => Some("at vectors"),
            _ => None,
        })
    }

    /// The files that no log entry mentions, by their path in the lake.
    pub fn orphans(&self) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        walk(&self.folder, &mut found)?;
        let mut orphans = Vec::new();
        for path in found {
            let path = path.strip_prefix(&self.folder).map_err(|e| e.to_string())?.to_string_lossy().into_owned();
            let is_known = match path.split('/').collect::<Vec<_>>()[..] {
                [name] if name.starts_with(".hypercane.") => true,
                [_, LOG, file] => {
                    file == "_last_checkpoint"
                        || file
                            .strip_suffix(".json")
                            .or(file.strip_suffix(".checkpoint.parquet"))
                            .is_some_and(is_version)
                }
                [table, file] => self.tables.get(table).is_some_and(|log| log.mentioned.contains(file)),
                _ => false,
            };
            if !is_known {
                orphans.push(path);
            }
        }
        Ok(orphans)
    }

    /// Compares each table's newest checkpoint, and the log after it, with the whole log.
    pub fn check_checkpoints(&self) -> Result<usize, String> {
        let mut n_checkpoints = 0;
        for (table, whole) in &self.tables {
            let folder = self.folder.join(table).join(LOG);
            let versions = list(&folder)?.into_iter().filter_map(|path| {
                name(&path).strip_suffix(".checkpoint.parquet").and_then(|version| version.parse::<u64>().ok())
            });
            let Some(version) = versions.max() else { continue };
            let mut log = Log { next: version + 1, ..Log::default() };
            read(&folder.join(format!("{version:020}.checkpoint.parquet")), |row, _, _| log.apply(row, version))?;
            log.refresh(&folder)?;
            if log.live.keys().ne(whole.live.keys()) {
                return Err(format!("the checkpoint {version} of table {table} differs from its log"));
            }
            n_checkpoints += 1;
        }
        Ok(n_checkpoints)
    }

    /// Hands over every row of a table, as JSON without `epoch` and `diff`, with these two.
    pub fn rows(&self, table: &str, mut visit: impl FnMut(&str, i64, i64)) -> Result<(), String> {
        let Some(log) = self.tables.get(table) else { return Ok(()) };
        for file in log.live.keys() {
            read(&self.folder.join(table).join(file), |row, epoch, diff| {
                visit(row, epoch, diff);
                Ok(())
            })?;
        }
        Ok(())
    }
}

impl Log {
    fn refresh(&mut self, folder: &Path) -> Result<(), String> {
        loop {
            let path = folder.join(format!("{:020}.json", self.next));
            if !path.exists() {
                return Ok(());
            }
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            for line in text.lines() {
                self.apply(line, self.next).map_err(|e| format!("{}: {e}", path.display()))?;
            }
            self.next += 1;
        }
    }

    fn apply(&mut self, action: &str, version: u64) -> Result<(), String> {
        let action: Value = serde_json::from_str(action).map_err(|e| e.to_string())?;
        if let Some(path) = action["add"]["path"].as_str() {
            self.mentioned.insert(path.into());
            self.live.insert(path.into(), version);
        }
        if let Some(path) = action["remove"]["path"].as_str() {
            self.mentioned.insert(path.into());
            self.live.remove(path);
        }
        Ok(())
    }
}

/// Hands over every row of a Parquet file, as JSON without `epoch` and `diff`, with these two: 0 and 1 where it has none.
fn read(path: &Path, mut visit: impl FnMut(&str, i64, i64) -> Result<(), String>) -> Result<(), String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let file = File::open(path).map_err(|e| failed(&e))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    for batch in reader.map_err(|e| failed(&e))? {
        let batch = batch.map_err(|e| failed(&e))?;
        let numbers = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Int64Type>().cloned();
        let (epochs, diffs) = (numbers("epoch"), numbers("diff"));
        let lines = json(&batch).map_err(|e| failed(&e))?;
        for (idx, line) in lines.lines().enumerate() {
            let (epoch, diff) =
                (epochs.as_ref().map_or(0, |e| e.value(idx)), diffs.as_ref().map_or(1, |d| d.value(idx)));
            visit(line, epoch, diff).map_err(|e| failed(&e))?;
        }
    }
    Ok(())
}

fn json(batch: &RecordBatch) -> Result<String, arrow::error::ArrowError> {
    let schema = batch.schema();
    let columns: Vec<usize> = (0..batch.num_columns())
        .filter(|column| !["epoch", "diff"].contains(&schema.field(*column).name().as_str()))
        .collect();
    let mut writer = LineDelimitedWriter::new(Vec::new());
    writer.write(&batch.project(&columns)?)?;
    writer.finish()?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

fn is_version(text: &str) -> bool {
    text.len() == 20 && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a folder holds; nothing where there is none.
fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    entries.map(|entry| entry.map(|entry| entry.path()).map_err(|e| e.to_string())).collect()
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |e| format!("{}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(&entry.path(), found)?;
        } else {
            found.push(entry.path());
        }
    }
    Ok(())
}
