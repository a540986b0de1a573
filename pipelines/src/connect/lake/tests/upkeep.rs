//! Random histories of commits, crashes, merges, folds and vacuums: every epoch that can be read is what was committed.

use std::{collections::BTreeMap, time::Duration};

use hypercane_schemas::{Degree, Diff, EntityKey, Epoch};
use proptest::prelude::{Just, Strategy, prop_oneof, proptest};
use proptest::{collection::vec, test_runner::Config};

use super::{CommitBatch, PIPELINE, bare, folder, write_tables};
use crate::connect::lake::{Error, Lake, Options};

#[derive(Clone, Debug)]
enum Step {
    Commit(Vec<(u8, i8)>),
    /// Rows are written, and the process dies before its commit.
    Crash(Vec<(u8, i8)>),
    Compact,
    /// So many epochs before the last one.
    Fold(u8),
    Vacuum,
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rows = || vec((0..5u8, prop_oneof![Just(1i8), Just(1), Just(-1)]), 0..6);
    let step = prop_oneof![
        8 => rows().prop_map(Step::Commit),
        2 => rows().prop_map(Step::Crash),
        3 => Just(Step::Compact),
        2 => (0..6u8).prop_map(Step::Fold),
        2 => Just(Step::Vacuum),
        1 => Just(Step::Restart),
    ];
    vec(step, 1..24)
}

fn degree(value: u8) -> Degree {
    Degree { entity: EntityKey("port:a".into()), degree: value.into(), expands: true }
}

fn to_batch(epoch: Epoch, rows: &[(u8, i8)]) -> CommitBatch {
    let mut batch = CommitBatch { epoch, ..CommitBatch::default() };
    let rows: Vec<_> = rows.iter().map(|&(value, diff)| (degree(value), epoch, Diff::from(diff))).collect();
    batch.add(&rows).unwrap();
    batch
}

/// What was committed in each epoch, and from which epoch on it can be read.
#[derive(Default)]
struct Model {
    epochs: Vec<Vec<(u8, i8)>>,
    bound: Epoch,
}

impl Model {
    fn last(&self) -> Epoch {
        self.epochs.len() as Epoch
    }

    async fn check(&self, lake: &Lake) {
        let mut state: BTreeMap<Degree, Diff> = BTreeMap::new();
        for (epoch, rows) in (1..).zip(&self.epochs) {
            for &(value, diff) in rows {
                *state.entry(degree(value)).or_default() += Diff::from(diff);
            }
            state.retain(|_, count| *count != 0);
            match lake.read::<Degree>(Some(epoch)).await {
                Ok(read) => assert_eq!(read, state.clone().into_iter().collect::<Vec<_>>(), "at epoch {epoch}"),
                Err(Error::Folded { .. }) => assert!(epoch < self.bound, "epoch {epoch} is not folded"),
                Err(error) => panic!("{error}"),
            }
        }
        let mut rows: BTreeMap<Degree, Diff> = BTreeMap::new();
        for ((row, _), diff) in bare::<Degree>(lake).await {
            *rows.entry(row).or_default() += diff;
        }
        rows.retain(|_, count| *count != 0);
        assert_eq!(rows, state);
    }
}

async fn live(steps: Vec<Step>) {
    let (_dir, location) = folder();
    let options = || Options { checkpoint_interval: 4, small_files: 3, ..Options::default() };
    let open = async || {
        let lake = Lake::open(&location, PIPELINE, options()).await.unwrap();
        lake.recover().await.unwrap();
        lake
    };
    let mut lake = open().await;
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Commit(rows) => {
                lake.commit(to_batch(model.last() + 1, &rows)).await.unwrap();
                model.epochs.push(rows);
                continue;
            }
            Step::Crash(rows) => {
                lake.maintenance.wait().await;
                write_tables(&lake, &to_batch(model.last() + 1, &rows)).await.unwrap();
                drop(lake);
                lake = open().await;
            }
            Step::Compact => _ = lake.compact(false).await.unwrap(),
            Step::Fold(back) => {
                let bound = model.last().saturating_sub(back.into());
                lake.fold(bound, false).await.unwrap();
                model.bound = model.bound.max(bound);
            }
            Step::Vacuum => {
                // What runs beside is no reader that a vacuum without retention could disturb.
                lake.maintenance.wait().await;
                lake.vacuum(Duration::ZERO, false).await.unwrap();
            }
            Step::Restart => {
                lake.close().await;
                lake = open().await;
            }
        }
        model.check(&lake).await;
    }
    lake.maintenance.wait().await;
    model.check(&lake).await;
    let point = lake.recover().await.unwrap();
    assert_eq!(point.map_or(0, |point| point.epoch), model.last());
    model.check(&lake).await;
}

proptest! {
    #![proptest_config(Config { cases: 40, max_shrink_iters: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn what_was_committed_is_read_at_every_epoch(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(live(steps));
    }
}
