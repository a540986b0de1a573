//! How large a running pipeline is: memory, the arrangements of its operators, the tables of its lake. In the text form that
//! Prometheus reads, into a file, for its node exporter's textfile collector or for whoever looks.
//!
//! Timely and differential dataflow log what each operator holds; a worker adds this up. It is off unless [`start`] was
//! called before the workers start.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs, io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use differential_dataflow::logging::{DifferentialEvent, DifferentialEventBuilder};
use timely::{
    logging::{TimelyEvent, TimelyEventBuilder},
    worker::Worker,
};

use crate::connect::lake::TableSize;

static KEPT: OnceLock<Mutex<Vec<Shared>>> = OnceLock::new();

type Shared = Arc<Mutex<Kept>>;

/// What the operators of one worker keep.
#[derive(Debug, Default)]
struct Kept {
    names: BTreeMap<usize, String>,
    arrangements: BTreeMap<usize, Arrangement>,
}

/// What the arrangements of all operators of one name keep, on all workers of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Batches.
    pub n_batches: i64,
    /// Rows with different times; those of one row that cancel each other count until their batches are merged.
    pub n_rows: i64,
}

/// Has the workers that start from now on tell what they keep.
pub fn start() {
    KEPT.get_or_init(Mutex::default);
}

/// Follows a worker, before it builds its dataflow, if that was asked for.
pub fn watch(worker: &Worker) {
    let (Some(all), Some(mut register)) = (KEPT.get(), worker.log_register()) else { return };
    let kept = Shared::default();
    lock(all).push(Arc::clone(&kept));
    let named = Arc::clone(&kept);
    register.insert::<TimelyEventBuilder, _>("timely", move |_, events| {
        for (_, event) in events.iter_mut().flat_map(|events| events.drain(..)) {
            if let TimelyEvent::Operates(operator) = event {
                lock(&named).names.insert(operator.id, operator.name);
            }
        }
    });
    register.insert::<DifferentialEventBuilder, _>("differential/arrange", move |_, events| {
        let mut kept = lock(&kept);
        for (_, event) in events.iter_mut().flat_map(|events| events.drain(..)) {
            kept.add(&event);
        }
    });
}

impl Kept {
    fn add(&mut self, event: &DifferentialEvent) {
        let (operator, n_batches, n_rows) = match event {
            DifferentialEvent::Batch(batch) => (batch.operator, 1, batch.length as i64),
            DifferentialEvent::Drop(batch) => (batch.operator, -1, -(batch.length as i64)),
            DifferentialEvent::Merge(merge) => {
                let Some(length) = merge.complete else { return };
                (merge.operator, -1, length as i64 - (merge.length1 + merge.length2) as i64)
            }
            _ => return,
        };
        let arrangement = self.arrangements.entry(operator).or_default();
        arrangement.n_batches += n_batches;
        arrangement.n_rows += n_rows;
    }
}

/// What the operators keep now, by their names.
pub fn arrangements() -> BTreeMap<String, Arrangement> {
    let mut sums: BTreeMap<String, Arrangement> = BTreeMap::new();
    for kept in KEPT.get().map(|all| lock(all).clone()).unwrap_or_default() {
        let kept = lock(&kept);
        for (operator, arrangement) in &kept.arrangements {
            let name = kept.names.get(operator).cloned().unwrap_or_else(|| format!("operator {operator}"));
            let sum = sums.entry(name).or_default();
            sum.n_batches += arrangement.n_batches;
            sum.n_rows += arrangement.n_rows;
        }
    }
    sums
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The resident memory of this process in bytes; `None` where the system does not say.
pub fn resident_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// All sizes in the text form of Prometheus.
pub fn metrics(tables: &[TableSize]) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, rows: &mut dyn Iterator<Item = (String, u64)>| {
        // A string takes all that is written to it.
        let _ = writeln!(text, "# HELP hypercane_{name} {help}\n# TYPE hypercane_{name} gauge");
        for (labels, value) in rows {
            let _ = writeln!(text, "hypercane_{name}{labels} {value}");
        }
    };
    let memory = resident_memory().map(|bytes| (String::new(), bytes));
    gauge("resident_memory_bytes", "Resident memory of the process.", &mut memory.into_iter());
    let arrangements = arrangements();
    let mut of_operators = |name: &str, help: &str, size: fn(&Arrangement) -> i64| {
        let rows = arrangements.iter().map(|(operator, kept)| (label("operator", operator), size(kept)));
        gauge(name, help, &mut rows.map(|(label, size)| (label, size.max(0).unsigned_abs())));
    };
    of_operators("operator_rows", "Rows in the arrangements of an operator.", |kept| kept.n_rows);
    of_operators("operator_batches", "Batches of the arrangements of an operator.", |kept| kept.n_batches);
    let mut of_tables = |name: &str, help: &str, size: fn(&TableSize) -> u64| {
        gauge(name, help, &mut tables.iter().map(|table| (label("table", &table.table), size(table))));
    };
    of_tables("lake_files", "Files that a table refers to.", |table| table.n_files);
    of_tables("lake_stored_files", "Data files of a table, with removed ones.", |table| table.n_stored_files);
    of_tables("lake_log_files", "Files of a table's log.", |table| table.n_log_files);
    of_tables("lake_bytes", "Bytes of the files that a table refers to.", |table| table.n_bytes);
    of_tables("lake_rows", "Rows of a table's changelog.", |table| table.n_rows);
    text
}

fn label(name: &str, value: &str) -> String {
    format!("{{{name}=\"{}\"}}", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Writes all sizes to a file, at once: who reads it never sees half of it.
///
/// # Errors
/// The file can't be written.
pub fn write(file: &Path, tables: &[TableSize]) -> io::Result<()> {
    let staged = file.with_extension("part");
    fs::write(&staged, metrics(tables))?;
    fs::rename(staged, file)
}

#[cfg(test)]
mod tests {
    use differential_dataflow::logging::{BatchEvent, DropEvent, MergeEvent};

    use super::{Arrangement, Kept, TableSize, label, metrics, resident_memory};

    #[test]
    fn batches_and_rows_are_added_up_from_what_is_logged() {
        let mut kept = Kept::default();
        let batch = |length| BatchEvent { operator: 3, length }.into();
        let merge = |complete| MergeEvent { operator: 3, scale: 1, length1: 10, length2: 5, complete }.into();
        for event in [batch(10), batch(5), merge(None), merge(Some(4)), batch(0), batch(7)] {
            kept.add(&event);
        }
        assert_eq!(kept.arrangements[&3], Arrangement { n_batches: 3, n_rows: 11 });
        kept.add(&DropEvent { operator: 3, length: 7 }.into());
        assert_eq!(kept.arrangements[&3], Arrangement { n_batches: 2, n_rows: 4 });
    }

    #[test]
    fn sizes_have_the_form_that_prometheus_reads() {
        let table = TableSize { table: "documents".into(), n_files: 3, n_rows: 12, ..TableSize::default() };
        let text = metrics(&[table]);
        assert!(
            text.contains("# TYPE hypercane_lake_files gauge\nhypercane_lake_files{table=\"documents\"} 3\n"),
            "{text}"
        );
        assert!(text.contains("hypercane_lake_rows{table=\"documents\"} 12\n"), "{text}");
        assert_eq!(label("operator", "a \"b\" \\"), r#"{operator="a \"b\" \\"}"#);
        assert!(resident_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
