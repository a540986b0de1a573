//! Real processes that die at each fault point, and one that goes on after them.

use std::process::Command;

use hypercane_schemas::{Degree, Diff, Document, EntityKey, Epoch};

use super::{CommitBatch, folder, open};
use crate::connect::lake::{Lake, fault};

const EPOCHS: Epoch = 4;
const LAKE_VARIABLE: &str = "HYPERCANE_TEST_LAKE";
const FAULT_VARIABLE: &str = "HYPERCANE_TEST_FAULT";

type Changes<R> = Vec<(R, Epoch, Diff)>;

fn rows(epoch: Epoch) -> (Changes<Degree>, Changes<Document>) {
    let degree = |degree| Degree { entity: EntityKey("port:a".into()), degree, expands: true };
    let mut degrees = vec![(degree(epoch as u32), epoch, 1)];
    if epoch > 1 {
        degrees.push((degree(epoch as u32 - 1), epoch, -1));
    }
    (degrees, vec![(Document::plain(format!("{epoch}"), "text"), epoch, 1)])
}

async fn check(lake: &Lake, last: Epoch) {
    let degrees: Vec<_> = rows(last).0.into_iter().take(usize::from(last > 0)).map(|(row, ..)| (row, 1)).collect();
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), degrees);
    assert_eq!(lake.read::<Document>(None).await.unwrap().len(), last as usize);
}

/// The process that dies: it only does anything where the other test starts it.
#[tokio::test]
async fn the_process_that_dies() {
    let Ok(location) = std::env::var(LAKE_VARIABLE) else { return };
    if let Ok(spec) = std::env::var(FAULT_VARIABLE) {
        fault::arm(&spec).unwrap();
    }
    let lake = open(&location).await;
    let last = lake.recover().await.unwrap().map_or(0, |point| point.epoch);
    check(&lake, last).await;
    for epoch in last + 1..=EPOCHS {
        let mut batch = CommitBatch { epoch, ..CommitBatch::default() };
        let (degrees, documents) = rows(epoch);
        batch.add(&degrees).unwrap();
        batch.add(&documents).unwrap();
        lake.commit(batch).await.unwrap();
    }
}

fn run(location: &str, fault: Option<&str>) -> bool {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "connect::lake::tests::killed::the_process_that_dies"]).env(LAKE_VARIABLE, location);
    if let Some(fault) = fault {
        command.env(FAULT_VARIABLE, fault);
    }
    command.output().unwrap().status.success()
}

#[tokio::test]
async fn nothing_is_lost_or_twice_wherever_a_process_dies() {
    for place in fault::PLACES {
        for count in 1..=3 {
            let (_dir, location) = folder();
            let fault = format!("{place}:{count}");
            assert!(!run(&location, Some(&fault)), "{fault} did not end the process");
            // The second process dies there too, further on or at the same place.
            run(&location, Some(&fault));
            assert!(run(&location, None), "after {fault}");
            let lake = open(&location).await;
            assert_eq!(lake.recover().await.unwrap().unwrap().epoch, EPOCHS);
            check(&lake, EPOCHS).await;
        }
    }
}

#[test]
fn a_fault_that_does_not_exist_is_named() {
    assert!(fault::arm("after_lunch").unwrap_err().contains("after_table_writes"));
    assert!(fault::arm("after_commit:0").is_err());
}
