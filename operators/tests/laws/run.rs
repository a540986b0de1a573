//! Runs a script on the operator and compares what comes out with the definition, epoch by epoch.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use differential_dataflow::{consolidation::consolidate_updates, input::Input as _};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{Diff, Epoch};

use crate::{
    history::Script,
    law::{Input, Law, Stands},
    row::{Row, Rows, shown},
};

/// The numbers of workers on which every history runs.
const WORKERS: [usize; 3] = [1, 2, 4];

/// An update of the input, and what decides on which worker it comes in.
type Update = (Row, u64, Diff);
/// What comes out of one worker.
type Output = Vec<(Row, Epoch, Diff)>;

/// Runs a script on 1, 2 and 4 workers and as a rebuild in one epoch.
///
/// # Errors
/// Where what came out is not what the definition gives, with the first rows that differ.
pub fn check(law: &Law, script: &Script, domain: &Arc<Domain>) -> Result<(), String> {
    let mut passes = false;
    let mut updates: Vec<Vec<Update>> = Vec::new();
    for epoch in &script.epochs {
        let mut rows = Vec::new();
        for (spec, diff) in epoch {
            let stands = (law.stands)(spec);
            passes |= matches!(stands, Stands::Passing(_));
            let key = hash(&stands.key());
            rows.extend((law.read)(spec, domain).into_iter().map(|row| (row, key, *diff)));
        }
        updates.push(rows);
    }
    let mut input = Input::default();
    let mut wanted = Vec::new();
    for epoch in &updates {
        input.push(epoch.iter().map(|(row, _, diff)| (row.clone(), *diff)).collect());
        wanted.push((law.define)(&input, domain));
    }
    for (epoch, n_rows) in &script.expected {
        let stand = epoch.checked_sub(1).map_or(0, |last| wanted[last].len());
        if stand != *n_rows {
            return Err(format!("after epoch {epoch} the definition has {stand} rows, the session expects {n_rows}"));
        }
    }

    let updates = Arc::new(updates);
    for n_workers in WORKERS {
        let found = run(law, &updates, n_workers, script.at_once, domain);
        compare(&found, &wanted).map_err(|difference| format!("on {n_workers} workers, {difference}"))?;
        if law.on_one_worker && !script.at_once {
            apart_as_together(found).map_err(|difference| format!("on {n_workers} workers, {difference}"))?;
        }
    }
    // Where the order of changes counts, there is nothing that stands to be rebuilt from.
    if let (false, Some(last)) = (passes, wanted.pop()) {
        let all = input.rows.0.iter().map(|(row, count)| (row.clone(), hash(row), *count)).collect();
        let found = run(law, &Arc::new(vec![all]), 1, false, domain);
        compare(&found, &[last]).map_err(|difference| format!("rebuilt in one epoch, {difference}"))?;
    }
    Ok(())
}

/// A number that tells keys apart, the same in every run.
pub fn hash(key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// Set when a worker panics: the others would wait for it for ever.
struct Watch(Arc<AtomicBool>);

impl Drop for Watch {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// What comes out of each worker.
fn run(
    law: &Law,
    updates: &Arc<Vec<Vec<Update>>>,
    n_workers: usize,
    at_once: bool,
    domain: &Arc<Domain>,
) -> Vec<Output> {
    let (law, updates, domain) = (*law, Arc::clone(updates), Arc::clone(domain));
    let failed = Arc::new(AtomicBool::new(false));
    let guards = timely::execute(timely::Config::process(n_workers), move |worker| {
        let _watch = Watch(Arc::clone(&failed));
        let outbox: Rc<RefCell<Output>> = Rc::default();
        let (mut input, probe) = worker.dataflow(|scope| {
            let (input, rows) = scope.new_collection::<Row, Diff>();
            let outbox = Rc::clone(&outbox);
            let (probe, _) = (law.build)(rows, &domain)
                .inspect(move |(row, epoch, diff)| outbox.borrow_mut().push((row.clone(), *epoch, *diff)))
                .probe();
            (input, probe)
        });
        let (index, n_workers) = (worker.index(), worker.peers());
        for (epoch, rows) in updates.iter().enumerate() {
            for (idx, (row, key, diff)) in rows.iter().enumerate() {
                let dealt_to = if at_once { idx } else { *key as usize };
                if dealt_to % n_workers == index {
                    input.update(row.clone(), *diff);
                }
            }
            let next = epoch as Epoch + 1;
            input.advance_to(next);
            input.flush();
            if !at_once || next as usize == updates.len() {
                while probe.less_than(&next) {
                    assert!(!failed.load(Ordering::Relaxed), "another worker failed");
                    worker.step_or_park(Some(Duration::from_millis(1)));
                }
            }
        }
        drop(input);
        outbox.take()
    });
    let outputs = guards.expect("workers start").join();
    outputs.into_iter().map(|output| output.expect("a worker failed; its panic is above")).collect()
}

/// Compares what all workers gave up to each epoch with what is wanted.
fn compare(found: &[Output], wanted: &[Rows]) -> Result<(), String> {
    let mut epochs: BTreeMap<Epoch, Vec<(&Row, Diff)>> = BTreeMap::new();
    for (row, epoch, diff) in found.iter().flatten() {
        epochs.entry(*epoch).or_default().push((row, *diff));
    }
    let mut standing = Rows::default();
    for (epoch, wanted) in wanted.iter().enumerate() {
        for (row, diff) in epochs.remove(&(epoch as Epoch)).unwrap_or_default() {
            standing.add(row.clone(), diff);
        }
        if standing != *wanted {
            let (missing, extra) = (wanted.without(&standing), standing.without(wanted));
            return Err(format!("after epoch {}:\nmissing:{missing}\ntoo many:{extra}", epoch + 1));
        }
    }
    match epochs.first_key_value() {
        Some((epoch, rows)) => Err(format!("updates of epoch {epoch}, which there is not: {rows:#?}")),
        None => Ok(()),
    }
}

/// Checks that the workers' updates, each consolidated apart, are as many as those consolidated together: that no row goes
/// on one worker and comes on another.
fn apart_as_together(mut found: Vec<Output>) -> Result<(), String> {
    found.iter_mut().for_each(consolidate_updates);
    let apart: Output = found.concat();
    let mut together = apart.clone();
    consolidate_updates(&mut together);
    if apart.len() == together.len() {
        return Ok(());
    }
    let split = apart.iter().find(|update| !together.contains(update));
    let split = split.map(|(row, epoch, diff)| format!("epoch {}: {}", epoch + 1, shown(row, *diff)));
    let split = split.unwrap_or_default();
    Err(format!("{} updates consolidated apart are {} together: {split}", apart.len(), together.len()))
}
