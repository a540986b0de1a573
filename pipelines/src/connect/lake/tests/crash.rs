//! Random histories with a crash at every stage of a commit: after recovery the tables equal the model, exactly.

use std::collections::BTreeMap;

use hypercane_schemas::{Degree, Diff, Document, EntityKey, Epoch, Incidence, Record};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection::vec, test_runner::Config};

use super::{CommitBatch, bare, folder, open, samples, write_tables};
use crate::connect::lake::{CommitPoint, Lake};

/// How far a commit gets.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Committed,
    /// Some tables are written (a set of bits), then the process dies.
    Tables(u8),
    /// The same, but the process lives on and commits the whole batch.
    TablesThenAgain(u8),
    /// The commit row is written, but nobody hears of it.
    Point,
    /// A commit row and its file are written by nobody: the process dies between two commits.
    Between,
}

/// Small numbers, so that rows meet again: (table, value, diff).
type Rows = Vec<(u8, u8, i8)>;

fn steps() -> impl Strategy<Value = Vec<(Rows, Outcome)>> {
    let rows = vec((0..3u8, 0..4u8, prop_oneof![Just(1i8), Just(1), Just(-1)]), 0..8);
    let outcome = prop_oneof![
        3 => Just(Outcome::Committed),
        3 => any::<u8>().prop_map(Outcome::Tables),
        2 => any::<u8>().prop_map(Outcome::TablesThenAgain),
        1 => Just(Outcome::Point),
        1 => Just(Outcome::Between),
    ];
    vec((rows, outcome), 1..12)
}

fn degree(value: u8) -> Degree {
    Degree { entity: EntityKey("port:a".into()), degree: value.into(), expands: true }
}

fn incidence(value: u8) -> Incidence {
    Incidence { role: format!("role {value}"), ..samples::incidences()[0].clone() }
}

fn document(value: u8) -> Document {
    Document::plain(format!("document {value}"), "text")
}

fn to_batch(epoch: Epoch, rows: &Rows) -> CommitBatch {
    let mut batch = CommitBatch { epoch, ..CommitBatch::default() };
    batch.offsets.insert(("documents".into(), 1), epoch as i64);
    for &(table, value, diff) in rows {
        let diff = Diff::from(diff);
        match table {
            0 => batch.add(&[(degree(value), epoch, diff)]),
            1 => batch.add(&[(incidence(value), epoch, diff)]),
            _ => batch.add(&[(document(value), epoch, diff)]),
        }
        .unwrap();
    }
    batch
}

/// What must be in the lake: all changes, in the order of their epochs.
#[derive(Default)]
struct Model {
    last: Epoch,
    changes: Vec<(u8, u8, Epoch, Diff)>,
}

impl Model {
    fn commit(&mut self, epoch: Epoch, rows: &Rows) {
        self.last = epoch;
        self.changes.extend(rows.iter().map(|&(table, value, diff)| (table, value, epoch, Diff::from(diff))));
    }

    async fn check_table<R: Record + std::fmt::Debug>(&self, lake: &Lake, table: u8, record: fn(u8) -> R) {
        let own = || self.changes.iter().filter(|change| change.0 == table);
        for as_of in [None, Some(self.last / 2)] {
            let mut state: BTreeMap<R, Diff> = BTreeMap::new();
            for &(_, value, epoch, diff) in own() {
                if as_of.is_none_or(|last| epoch <= last) {
                    *state.entry(record(value)).or_default() += diff;
                }
            }
            state.retain(|_, diff| *diff != 0);
            assert_eq!(lake.read::<R>(as_of).await.unwrap(), state.into_iter().collect::<Vec<_>>());
        }
        let mut rows: BTreeMap<(R, Epoch), Diff> = BTreeMap::new();
        for &(_, value, epoch, diff) in own() {
            *rows.entry((record(value), epoch)).or_default() += diff;
        }
        assert_eq!(bare::<R>(lake).await, rows);
    }

    async fn check(&self, lake: &Lake, point: Option<CommitPoint>) {
        assert_eq!(point.as_ref().map_or(0, |point| point.epoch), self.last);
        if let Some(point) = point {
            assert_eq!(point.offsets, [(("documents".to_string(), 1), self.last as i64)].into());
        }
        self.check_table(lake, 0, degree).await;
        self.check_table(lake, 1, incidence).await;
        self.check_table(lake, 2, document).await;
    }
}

fn part_of(batch: &CommitBatch, bits: u8) -> CommitBatch {
    let mut part = batch.clone();
    let mut bit = 1;
    part.tables.retain(|_, _| {
        bit *= 2;
        bits & (bit / 2) != 0
    });
    part
}

async fn live(steps: Vec<(Rows, Outcome)>) {
    let (_dir, location) = folder();
    let mut lake = open(&location).await;
    let mut model = Model::default();
    for (rows, outcome) in steps {
        // An epoch that was lost in a crash comes again, with other rows.
        let epoch = model.last + 1;
        let batch = to_batch(epoch, &rows);
        match outcome {
            Outcome::Committed => {
                lake.commit(batch).await.unwrap();
                model.commit(epoch, &rows);
                continue;
            }
            Outcome::TablesThenAgain(bits) => {
                write_tables(&lake, &part_of(&batch, bits)).await.unwrap();
                lake.state.lock().await.clean = false;
                lake.commit(batch).await.unwrap();
                model.commit(epoch, &rows);
                continue;
            }
            Outcome::Tables(bits) => {
                write_tables(&lake, &part_of(&batch, bits)).await.unwrap();
            }
            Outcome::Point => {
                let versions = lake.recover().await.unwrap().map(|point| point.versions).unwrap_or_default();
                let mut point = CommitPoint { epoch, offsets: batch.offsets.clone(), versions };
                point.versions.extend(write_tables(&lake, &batch).await.unwrap());
                lake.write_point(&point).await.unwrap();
                model.commit(epoch, &rows);
            }
            Outcome::Between => {}
        }
        drop(lake);
        lake = open(&location).await;
        let point = lake.recover().await.unwrap();
        model.check(&lake, point).await;
    }
    let point = lake.recover().await.unwrap();
    model.check(&lake, point).await;
}

proptest! {
    #![proptest_config(Config { cases: 40, max_shrink_iters: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn recovered_tables_equal_the_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(live(steps));
    }
}

#[tokio::test]
async fn a_commit_whose_answer_was_lost_is_not_made_twice() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let rows = vec![(0, 1, 1)];
    lake.commit(to_batch(1, &rows)).await.unwrap();
    // As if the row of `commits` had arrived, but the call had failed.
    {
        let mut state = lake.state.lock().await;
        state.clean = false;
        state.attempted = Some(1);
    }
    assert_eq!(lake.commit(to_batch(1, &rows)).await.unwrap().n_rows, 0);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(degree(1), 1)]);
}
