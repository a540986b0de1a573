//! What must be equal at the end: the tortured lake, the undisturbed one, and what was sent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hypercane_schemas::ContentHash;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    lake::Lake,
    traffic::{Standing, TOPICS},
};

/// What was found. All numbers are to be 0.
#[derive(Debug, Default)]
pub struct Findings {
    pub n_lost: u64,
    pub n_twice: u64,
    pub n_orphans: u64,
    /// The first differences, one a line.
    pub examples: Vec<String>,
}

/// How many examples of each kind are shown, and how much of each.
const EXAMPLES: usize = 5;
const MOST_CHARS: usize = 400;

impl Findings {
    pub fn is_clean(&self) -> bool {
        (self.n_lost, self.n_twice, self.n_orphans) == (0, 0, 0)
    }

    fn lost(&mut self, n: u64, what: impl FnOnce() -> String) {
        self.n_lost += n;
        self.example(n, "lost", what);
    }

    fn twice(&mut self, n: u64, what: impl FnOnce() -> String) {
        self.n_twice += n;
        self.example(n, "twice", what);
    }

    fn example(&mut self, n: u64, kind: &str, what: impl FnOnce() -> String) {
        if n > 0 && self.examples.iter().filter(|example| example.starts_with(kind)).count() < EXAMPLES {
            // The texts of documents are long; whoever wants them whole finds them in the lakes.
            let what: String = what().chars().take(MOST_CHARS).collect();
            self.examples.push(format!("{kind}: {what}"));
        }
    }

    /// Files that no log entry mentions.
    pub fn orphans(&mut self, lake: &Lake) -> Result<(), String> {
        let orphans = lake.orphans()?;
        self.n_orphans += orphans.len() as u64;
        self.examples.extend(orphans.into_iter().take(EXAMPLES).map(|path| format!("orphan: {path}")));
        Ok(())
    }

    /// Every row of every table, as often in one lake as in the other.
    pub fn tables(&mut self, tortured: &Lake, undisturbed: &Lake) -> Result<BTreeMap<String, usize>, String> {
        let names: BTreeSet<&str> =
            tortured.tables().chain(undisturbed.tables()).filter(|name| *name != "commits").collect();
        let mut sizes = BTreeMap::new();
        for name in names {
            let wanted = self.state(undisturbed, name)?;
            let found = self.state(tortured, name)?;
            sizes.insert(name.to_owned(), wanted.len());
            let counts = |hash: &u128| [&wanted, &found].map(|state| state.get(hash).copied().unwrap_or_default());
            let hashes: BTreeSet<u128> = wanted.keys().chain(found.keys()).copied().collect();
            let differing: BTreeSet<u128> =
                hashes.into_iter().filter(|hash| counts(hash)[0] != counts(hash)[1]).collect();
            let mut texts = HashMap::new();
            if !differing.is_empty() {
                for lake in [tortured, undisturbed] {
                    lake.rows(name, |row, _, _| {
                        let hash = hash(row);
                        if differing.contains(&hash) && texts.len() < EXAMPLES {
                            texts.insert(hash, row.to_owned());
                        }
                    })?;
                }
            }
            for hash in &differing {
                let [wanted, found] = counts(hash);
                // Those whose text was kept are the examples.
                let text = || format!("table {name}, {found} times and not {wanted}: {}", texts[hash]);
                let (lost, twice) = ((wanted - found).max(0) as u64, (found - wanted).max(0) as u64);
                if texts.contains_key(hash) {
                    self.lost(lost, text);
                    self.twice(twice, text);
                } else {
                    self.n_lost += lost;
                    self.n_twice += twice;
                }
            }
        }
        Ok(sizes)
    }

    /// How often each row of a table stands at the end. In between, no row may be there less than not at all, and no
    /// input more than once; and no row may be of an epoch that was never committed.
    fn state(&mut self, lake: &Lake, table: &str) -> Result<HashMap<u128, i64>, String> {
        if ["model_outputs", "model_texts"].contains(&table) {
            // No changelog: what was written twice counts once.
            let mut outputs = HashMap::new();
            lake.rows(table, |row, _, _| {
                outputs.insert(hash(row), 1);
            })?;
            return Ok(outputs);
        }
        let last = lake.point()?.map_or(0, |point| point.epoch);
        let mut changes: HashMap<u128, Vec<(i64, i64)>> = HashMap::new();
        lake.rows(table, |row, epoch, diff| changes.entry(hash(row)).or_default().push((epoch, diff)))?;
        let is_input = TOPICS.contains(&table);
        let mut state = HashMap::new();
        for (hash, mut changes) in changes {
            changes.sort_unstable();
            let mut count = 0;
            for of_epoch in changes.chunk_by(|a, b| a.0 == b.0) {
                let epoch = of_epoch[0].0;
                count += of_epoch.iter().map(|(_, diff)| diff).sum::<i64>();
                let at = || format!("table {table}, row {hash:032x}, {count} times at epoch {epoch}");
                self.lost(u64::from(count < 0), at);
                self.twice(u64::from(is_input && count > 1 || epoch > last), at);
            }
            if count != 0 {
                state.insert(hash, count);
            }
        }
        Ok(state)
    }

    /// The inputs that stand in a lake are those that were sent last under each key; what could not be read is a reject.
    pub fn inputs(&mut self, lake: &Lake, standing: &Standing, n_garbage: usize) -> Result<(), String> {
        for (topic, name) in TOPICS.into_iter().enumerate() {
            let mut found: BTreeMap<String, (i64, Value)> = BTreeMap::new();
            let mut counts: HashMap<String, i64> = HashMap::new();
            lake.rows(name, |row, _, diff| *counts.entry(row.to_owned()).or_default() += diff)?;
            for (row, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
                let row: Value = serde_json::from_str(&row).map_err(|e| e.to_string())?;
                let key = row[["key", "group", "id"][topic]].as_str().unwrap_or_default().to_owned();
                found.entry(key).and_modify(|(so_far, _)| *so_far += count).or_insert((count, row));
            }
            for ((_, key), sent) in standing.iter().filter(|((of, _), _)| *of == topic) {
                let (count, row) = found.remove(key).unwrap_or_default();
                let is_same = count == 1 && is_what_was_sent(topic, &row, sent);
                self.lost(u64::from(!is_same), || {
                    format!("{name} {key}, {count} times, is {row} where {sent} was sent")
                });
            }
            for (key, (count, row)) in found {
                self.twice(count.unsigned_abs(), || format!("{name} {key} was deleted, but is there: {row}"));
            }
        }
        let mut n_rejects = 0;
        lake.rows("rejects", |row, _, diff| {
            if row.contains(r#""stage":"decode""#) {
                n_rejects += diff;
            }
        })?;
        let n_sent = n_garbage as i64;
        let what = || format!("{n_rejects} rejects of {n_sent} records that can't be read");
        self.lost((n_sent - n_rejects).max(0) as u64, what);
        self.twice((n_rejects - n_sent).max(0) as u64, what);
        Ok(())
    }
}

fn is_what_was_sent(topic: usize, row: &Value, sent: &Value) -> bool {
    let moment = |value: &Value, name: &str| value[name].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    match TOPICS[topic] {
        "documents" => row["text"] == sent["text"],
        "horizons" => moment(row, "reference_at") == moment(sent, "reference_at"),
        _ => row["question"] == sent["question"] && moment(row, "as_of") == moment(sent, "as_of"),
    }
}

fn hash(row: &str) -> u128 {
    ContentHash::of_parts([row]).0
}
