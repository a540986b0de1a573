//! Folding: later states stay, earlier ones are refused, and recovery takes it for what it is.

use hypercane_schemas::{Degree, Document};

use super::{CommitBatch, bare, batch, folder, open, samples, write_tables};
use crate::connect::lake::{Error, Lake, Options};

async fn written(location: &str) -> Lake {
    let lake = open(location).await;
    let [a, b] = [samples::degrees()[0].clone(), samples::degrees()[1].clone()];
    lake.commit(batch(1, &[(a.clone(), 1)])).await.unwrap();
    lake.commit(batch(2, &[(a.clone(), -1), (b.clone(), 1)])).await.unwrap();
    let mut both = CommitBatch { epoch: 4, ..CommitBatch::default() };
    both.add(&[(a.clone(), 3, 1), (b.clone(), 4, -1), (b.clone(), 4, 2)]).unwrap();
    both.add(&[(samples::documents()[0].clone(), 4, 1)]).unwrap();
    lake.commit(both).await.unwrap();
    lake.commit(batch(5, &[(a, -1)])).await.unwrap();
    lake
}

#[tokio::test]
async fn later_states_stay_and_earlier_ones_are_refused() {
    let (_dir, location) = folder();
    let lake = written(&location).await;
    let [a, b] = [samples::degrees()[0].clone(), samples::degrees()[1].clone()];
    let view = Lake::view(&location, Options::default()).await.unwrap();
    let looked = view.fold(3, true).await.unwrap();
    // Two rows that cancel, and commits 1 and 2.
    assert_eq!(looked, [("commits".into(), 2), ("degrees".into(), 2)]);
    assert_eq!(lake.fold(3, false).await.unwrap(), looked);
    assert_eq!(lake.fold(3, false).await.unwrap(), []);
    assert_eq!(lake.fold(2, false).await.unwrap(), []);

    let rows = [((a.clone(), 3), 1), ((a.clone(), 5), -1), ((b.clone(), 3), 1), ((b.clone(), 4), 1)];
    assert_eq!(bare::<Degree>(&lake).await, rows.into());
    assert_eq!(lake.read::<Degree>(Some(3)).await.unwrap(), [(a.clone(), 1), (b.clone(), 1)]);
    assert_eq!(lake.read::<Degree>(Some(4)).await.unwrap(), [(a.clone(), 1), (b.clone(), 2)]);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(b.clone(), 2)]);
    let error = lake.read::<Degree>(Some(2)).await.unwrap_err();
    assert!(matches!(error, Error::Folded { epoch: 2, bound: 3, .. }), "{error}");
    assert!(error.to_string().contains("my lake/degrees: epoch 2 can't be read any more"), "{error}");
    // Nothing came or went there before.
    assert_eq!(lake.read::<Document>(Some(2)).await.unwrap(), []);

    let error = lake.fold(6, false).await.unwrap_err();
    assert!(error.to_string().contains("the last commit is epoch 5"), "{error}");
}

#[tokio::test]
async fn a_fold_after_the_last_commit_is_no_change_by_another() {
    let (_dir, location) = folder();
    let lake = written(&location).await;
    lake.fold(5, false).await.unwrap();
    write_tables(&lake, &batch(6, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    drop(lake);
    let lake = open(&location).await;
    assert_eq!(lake.recover().await.unwrap().unwrap().epoch, 5);
    let b = samples::degrees()[1].clone();
    assert_eq!(bare::<Degree>(&lake).await, [((b.clone(), 5), 2)].into());
    lake.commit(batch(6, &[(b.clone(), 1)])).await.unwrap();
    // It is read back as it is, also behind a checkpoint.
    lake.fold(6, false).await.unwrap();
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(b, 3)]);
    assert!(lake.read::<Degree>(Some(5)).await.is_err());
}

#[tokio::test]
async fn a_checkpoint_keeps_the_bound() {
    let (_dir, location) = folder();
    let options = Options { checkpoint_interval: 1, ..Options::default() };
    let lake = Lake::open(&location, super::PIPELINE, options).await.unwrap();
    let a = samples::degrees()[0].clone();
    for (epoch, diff) in [(1, 1), (2, -1), (3, 1)] {
        lake.commit(batch(epoch, &[(a.clone(), diff)])).await.unwrap();
    }
    lake.fold(3, false).await.unwrap();
    lake.commit(batch(4, &[(a.clone(), 1)])).await.unwrap();
    lake.close().await;
    let lake = open(&location).await;
    assert_eq!(lake.recover().await.unwrap().unwrap().epoch, 4);
    assert!(matches!(lake.read::<Degree>(Some(2)).await, Err(Error::Folded { bound: 3, .. })));
    assert_eq!(lake.read::<Degree>(Some(3)).await.unwrap(), [(a.clone(), 1)]);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(a, 2)]);
}
