//! What workers do while no epoch comes: they merge the batches of their arrangements, so that updates that have cancelled
//! each other leave the memory.
//!
//! Differential dataflow merges in proportion to what comes in. A trace that was large and gets little would keep its
//! cancelled updates for long. So an idle worker goes on with merges that have begun, and begins new ones where the newer
//! batches of a trace have grown to a part of its largest. Each row is then merged a few times only, however long a worker
//! is idle, and a worker whose traces are compact sleeps.

use std::sync::Arc;

use differential_dataflow::trace::ExertionLogic;
use timely::{WorkerConfig, worker::Worker};

/// Rows that an idle trace merges at a time; a new epoch waits for no more than that in each trace.
const EFFORT: usize = 256;
/// Newer batches are merged into the largest when they hold one row in so many of it.
const PART: usize = 4;

/// The configuration of a worker whose arrangements are compacted when it is idle.
pub fn worker_config() -> WorkerConfig {
    let mut config = WorkerConfig::default();
    config.set::<ExertionLogic>("differential/default_exert_logic".into(), Arc::new(effort));
    config
}

/// Compacts until nothing is left to do, or there is other work.
pub fn rest(worker: &mut Worker, is_wanted: impl Fn() -> bool) {
    while !is_wanted() && worker.activations().borrow().empty_for().is_some_and(|pause| pause.is_zero()) {
        worker.step();
    }
}

/// How much to merge in a trace, by the number of its batches and their rows in each layer, the largest first.
fn effort(layers: &[(usize, usize, usize)]) -> Option<usize> {
    let is_merging = layers.iter().any(|&(_, n_batches, _)| n_batches > 1);
    let mut lengths = layers.iter().map(|&(.., length)| length).filter(|&length| length > 0);
    let largest = lengths.next().unwrap_or_default();
    let newer: usize = lengths.sum();
    (is_merging || newer > largest / PART).then_some(EFFORT)
}

#[cfg(test)]
mod tests {
    use super::{EFFORT, effort};

    #[test]
    fn newer_batches_are_merged_when_they_have_grown() {
        assert_eq!(effort(&[]), None);
        assert_eq!(effort(&[(10, 1, 1000), (5, 0, 0), (1, 1, 0)]), None);
        assert_eq!(effort(&[(10, 1, 1000), (7, 1, 100), (6, 1, 50)]), None);
        assert_eq!(effort(&[(10, 1, 1000), (7, 1, 200), (6, 1, 100)]), Some(EFFORT));
        assert_eq!(effort(&[(10, 2, 1000)]), Some(EFFORT));
    }
}
