//! Commits, what they refuse, and reading as of an epoch.

use hypercane_schemas::{Degree, Document, Epoch};

use super::{CommitBatch, batch, folder, open, samples};
use crate::connect::lake::{CommitPoint, Error, Lake, Options};

#[tokio::test]
async fn the_state_as_of_each_epoch_stays_readable() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let [a, b] = [samples::degrees()[0].clone(), samples::degrees()[1].clone()];
    assert_eq!(lake.recover().await.unwrap(), None);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), []);
    lake.commit(batch(2, &[(a.clone(), 1), (b.clone(), 1)])).await.unwrap();
    lake.commit(batch::<Degree>(3, &[])).await.unwrap();
    lake.commit(batch(5, &[(a.clone(), -1), (b.clone(), 1)])).await.unwrap();

    let at = async |epoch| lake.read::<Degree>(epoch).await.unwrap();
    assert_eq!(at(Some(1)).await, []);
    assert_eq!(at(Some(2)).await, [(a.clone(), 1), (b.clone(), 1)]);
    assert_eq!(at(Some(4)).await, [(a.clone(), 1), (b.clone(), 1)]);
    assert_eq!(at(None).await, [(b.clone(), 2)]);
    assert_eq!(at(Some(99)).await, [(b.clone(), 2)]);

    let reader = Lake::view(&location, Options::default()).await.unwrap();
    assert_eq!(reader.read::<Degree>(None).await.unwrap(), [(b, 2)]);
    assert_eq!(reader.read::<Document>(None).await.unwrap(), []);
    drop(lake);
    let point = open(&location).await.recover().await.unwrap().unwrap();
    let expected = CommitPoint {
        epoch: 5,
        offsets: [(("documents".into(), 0), 50)].into(),
        versions: [("degrees".into(), 2)].into(),
    };
    assert_eq!(point, expected);
}

#[tokio::test]
async fn a_commit_that_does_not_follow_is_refused_and_changes_nothing() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let row = samples::degrees()[0].clone();
    lake.commit(batch(4, &[(row.clone(), 1)])).await.unwrap();

    let refused = async |batch: CommitBatch| match lake.commit(batch).await {
        Err(error @ Error::Epoch { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(refused(batch(4, &[(row.clone(), 1)])).await.contains("epoch 4 is committed already"));
    let with_rows_of = |at: Epoch| {
        let mut late = CommitBatch { epoch: 6, ..CommitBatch::default() };
        late.add(&[(row.clone(), at, 1)]).unwrap();
        late
    };
    assert!(refused(with_rows_of(4)).await.contains("a row of epoch 4"));
    assert!(refused(with_rows_of(7)).await.contains("a row of epoch 7"));
    lake.commit(with_rows_of(5)).await.unwrap();
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row, 2)]);
}

#[tokio::test]
async fn checkpoints_change_nothing_for_readers() {
    let (_dir, location) = folder();
    let options = || Options { checkpoint_interval: 3, ..Options::default() };
    let rows = samples::degrees();
    for epoch in 1..=10 {
        let lake = Lake::open(&location, super::PIPELINE, options()).await.unwrap();
        assert_eq!(lake.recover().await.unwrap().map_or(0, |point| point.epoch), epoch - 1);
        lake.commit(batch(epoch, &[(rows[0].clone(), 1)])).await.unwrap();
        lake.close().await;
    }
    for table in ["degrees", "commits"] {
        let log = std::path::Path::new(&location).join(table).join("_delta_log");
        let names = std::fs::read_dir(log).unwrap().map(|entry| entry.unwrap().file_name());
        let n_checkpoints = names.filter(|name| name.to_str().unwrap().ends_with("checkpoint.parquet")).count();
        assert!((3..=4).contains(&n_checkpoints), "{n_checkpoints} checkpoints of {table}");
    }
    let lake = open(&location).await;
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(rows[0].clone(), 10)]);
    assert_eq!(lake.read::<Degree>(Some(7)).await.unwrap(), [(rows[0].clone(), 7)]);
}
