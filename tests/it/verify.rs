//! A lake is what a rebuild of its input gives, and what is not is shown.

use std::path::Path;

use hypercane::{
    connect::{
        embed::{Hashed, Model as _},
        lake::{self, CommitBatch, Lake},
    },
    verify::{Error, Settings, Verified, verify},
};
use hypercane_schemas::{Degree, EntityKey, Hyperedge};
use tokio::runtime::Runtime;

use crate::{
    command::hypercane,
    lakes::{advisory, asked, domain, landfall, no_advisory, write},
};

fn verified(runtime: &Runtime, folder: &Path, settings: &Settings) -> Result<Verified, Error> {
    runtime.block_on(async {
        let lake = Lake::view(&folder.to_string_lossy(), lake::Options::default()).await.unwrap();
        verify(&lake, &domain(), settings, |_| ()).await
    })
}

/// A lake with a history: a correction, a deletion, a landfall that came late, and a pipeline that went on.
pub fn long_lake(runtime: &Runtime, folder: &Path) {
    write(runtime, folder, vec![vec![advisory(1, 5), asked("q")], vec![advisory(2, 9), advisory(3, 1)]]);
    write(runtime, folder, vec![vec![landfall()], vec![no_advisory(3)], vec![advisory(2, 7), advisory(4, 2)]]);
}

/// Commits a change that follows from no input.
pub fn tamper(runtime: &Runtime, folder: &Path) {
    runtime.block_on(async {
        let lake = Lake::open(&folder.to_string_lossy(), "tests", lake::Options::default()).await.unwrap();
        let point = lake.recover().await.unwrap().unwrap();
        let epoch = point.epoch + 1;
        let (lost, _) = lake.read::<Hyperedge>(None).await.unwrap().remove(0);
        let extra = Degree { entity: EntityKey("storm:AL992020".into()), degree: 3, expands: true };
        let mut batch = CommitBatch { epoch, offsets: point.offsets, ..CommitBatch::default() };
        batch.add(&[(lost, epoch, -1)]).unwrap();
        batch.add(&[(extra, epoch, 1)]).unwrap();
        lake.commit(batch).await.unwrap();
    });
}

/// The command's exit code, and all that it said.
fn run(lake: &str) -> (Option<i32>, String) {
    let output = hypercane(&["verify", "--lake", lake], &[]);
    let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), told)
}

fn settings() -> Settings {
    Settings { n_workers: 2, n_shown: 3, ..Settings::default() }
}

#[test]
fn a_lake_is_what_its_input_gives_whole_and_in_samples() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    long_lake(&runtime, folder.path());
    let whole = verified(&runtime, folder.path(), &settings()).unwrap();
    assert!(whole.is_same(), "{whole:#?}");
    assert_eq!((whole.n_documents, whole.tables.len()), (3, 14));
    let rows = |table: &str| whole.tables.iter().find(|found| found.table == table).unwrap().n_rows;
    assert!(rows("hyperedges") > 20 && rows("answers") > 0 && rows("precedence") > 0, "{whole:#?}");

    let mut n_rows = 0;
    for seed in 0..4 {
        let sampled = verified(&runtime, folder.path(), &Settings { sample: Some(1), seed, ..settings() }).unwrap();
        assert!(sampled.is_same(), "{sampled:#?}");
        assert_eq!((sampled.groups.map(|groups| groups.len()), sampled.tables.len()), (Some(1), 3));
        n_rows += sampled.tables[0].n_rows;
    }
    assert!(n_rows > 0);
}

#[test]
fn what_follows_from_no_input_is_shown_and_told_by_the_exit_code() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    long_lake(&runtime, folder.path());
    let lake = folder.path().to_string_lossy().into_owned();
    let (code, told) = run(&lake);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("The lake holds what follows from the input"), "{told}");

    tamper(&runtime, folder.path());
    let found = verified(&runtime, folder.path(), &settings()).unwrap();
    let count = |table: &str| {
        let table = found.tables.iter().find(|found| found.table == table).unwrap();
        (table.n_missing, table.n_extra)
    };
    assert_eq!((count("hyperedges"), count("degrees"), count("incidence")), ((1, 0), (0, 1), (0, 0)));

    let (code, told) = run(&lake);
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("hyperedges: the lake lacks 1: {"), "{told}");
    assert!(told.contains("from tcm_00"), "{told}");
    assert!(told.contains("degrees: the lake has 1 too many: {\"entity\":\"storm:AL992020\""), "{told}");
}

#[test]
fn a_lake_that_cannot_be_verified_says_why() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    long_lake(&runtime, folder.path());
    // The vectors of another model than the one on record.
    let other = Settings { model: Some(format!("not-{}", Hashed.id())), ..settings() };
    let error = format!("{:?}", verified(&runtime, folder.path(), &other).unwrap_err());
    assert!(error.contains("the lake has no vector of model not-"), "{error}");
    let (code, told) = run("no-such-lake");
    assert_eq!(code, Some(1), "{told}");
    // A sample of nothing would find no difference in anything.
    let output = hypercane(&["verify", "--lake", &folder.path().to_string_lossy(), "--sample", "0"], &[]);
    assert_eq!(output.status.code(), Some(2));
}
