//! Other programs at our tables: rewrites that change no row are fine, others are told from what a crash leaves.

use deltalake_core::{
    kernel::{Action, Add, Remove},
    protocol::{DeltaOperation, SaveMode},
};
use hypercane_schemas::Degree;

use super::{PIPELINE, batch, folder, open, samples, write_tables};
use crate::connect::lake::{Error, Lake, file, table::Table};

async fn table(lake: &Lake) -> Table {
    Table::open(&lake.storage, "degrees", Some(PIPELINE)).await.unwrap().unwrap()
}

async fn adds(table: &Table, version: u64) -> Vec<Add> {
    let actions = table.entry(version).await.unwrap().actions;
    actions.into_iter().filter_map(|action| if let Action::Add(add) = action { Some(add) } else { None }).collect()
}

/// What a program does that replaces the files of some versions by one, or by none.
async fn rewrite(lake: &Lake, versions: impl IntoIterator<Item = u64>, data_change: bool, merged: Option<Add>) {
    let mut table = table(lake).await;
    let mut actions = Vec::new();
    for version in versions {
        for add in adds(&table, version).await {
            let remove = Remove { path: add.path, data_change, size: Some(add.size), ..Remove::default() };
            actions.push(Action::Remove(remove));
        }
    }
    actions.extend(merged.map(|add| Action::Add(Add { data_change, ..add })));
    let write = DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None };
    table.log(actions, write, None).await.unwrap();
}

/// One file with the rows of two commits, put beside the others.
async fn merged(location: &str, lake: &Lake) -> Add {
    let row = samples::degrees()[0].clone();
    let rows = [batch(1, &[(row.clone(), 1)]), batch(2, &[(row, 1)])];
    let rows: Vec<_> = rows.into_iter().flat_map(|mut batch| batch.tables.remove("degrees").unwrap()).collect();
    let file = file::lay_out(&rows[0].schema(), &rows).unwrap().remove(0);
    std::fs::write(format!("{location}/degrees/{}", file.add.path), file.bytes).unwrap();
    assert_eq!(table(lake).await.version, 2);
    file.add
}

async fn two_commits(location: &str) -> Lake {
    let lake = open(location).await;
    for epoch in [1, 2] {
        lake.commit(batch(epoch, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    }
    lake
}

#[tokio::test]
async fn a_compaction_by_another_program_is_left_alone() {
    let (_dir, location) = folder();
    let lake = two_commits(&location).await;
    let row = samples::degrees()[0].clone();
    let file = merged(&location, &lake).await;
    rewrite(&lake, [1, 2], false, Some(file)).await;
    assert_eq!(lake.read::<Degree>(Some(1)).await.unwrap(), [(row.clone(), 1)]);
    // The writer did not hear of it, and goes on behind it.
    lake.commit(batch(3, &[(row.clone(), 1)])).await.unwrap();
    write_tables(&lake, &batch(4, &[(row.clone(), 1)])).await.unwrap();
    assert_eq!(lake.recover().await.unwrap().unwrap().epoch, 3);
    assert_eq!(super::bare::<Degree>(&lake).await.into_values().sum::<isize>(), 3);
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row, 3)]);
}

#[tokio::test]
async fn what_can_not_be_undone_is_told() {
    let (_dir, location) = folder();
    let lake = two_commits(&location).await;
    write_tables(&lake, &batch(3, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
    rewrite(&lake, [3], false, None).await;
    let error = lake.recover().await.unwrap_err();
    assert!(matches!(error, Error::Foreign { version: 4, committed: 2, .. }), "{error}");

    let (_dir, location) = folder();
    let lake = two_commits(&location).await;
    rewrite(&lake, [1], true, None).await;
    let error = lake.recover().await.unwrap_err();
    assert!(matches!(error, Error::Foreign { version: 3, .. }), "{error}");
    assert!(error.to_string().contains("removes committed rows; restore version 2"), "{error}");
}

#[tokio::test]
async fn calls_can_be_made_from_any_task() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let work = async move {
        lake.recover().await.unwrap();
        lake.append_model_outputs(&samples::model_outputs()).await.unwrap();
        lake.commit(batch(1, &[(samples::degrees()[0].clone(), 1)])).await.unwrap();
        let n_rows = lake.read::<Degree>(None).await.unwrap().len();
        lake.close().await;
        n_rows
    };
    assert_eq!(tokio::spawn(work).await.unwrap(), 1);
}
