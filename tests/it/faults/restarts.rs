//! Starts from a lake: without a model, and of another version of the program.

use std::sync::Arc;

use hypercane::{
    connect::{
        embed::{EmbedService, Hashed, Model as _, RecordOnly, Recorded, ServiceSettings},
        lake::{self, Lake},
    },
    pipeline::Pipeline,
    reconcile::reconcile,
    vectors::LakeVectors,
    verify::{Settings, verify},
};
use tokio::runtime::Runtime;

use crate::{
    lakes::{domain, recorded},
    verify::{long_lake, tamper},
};

#[test]
fn a_restart_asks_no_model() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    long_lake(&runtime, folder.path());
    runtime.block_on(async {
        let lake = Lake::open(&folder.path().to_string_lossy(), "tests", lake::Options::default()).await.unwrap();
        let vectors = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
        // To ask this model is an error.
        let service = EmbedService::start(Arc::new(RecordOnly::new(Hashed.id())), &ServiceSettings::default()).unwrap();
        let recorded = Arc::new(Recorded::new(service, Arc::new(vectors)));
        let pipeline = Pipeline::start(2, domain(), recorded, Some(lake)).await.unwrap();
        assert_eq!(pipeline.resumed().len(), 3);
    });
}

#[test]
fn another_version_brings_the_lake_to_what_it_computes_once() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    long_lake(&runtime, folder.path());
    // Rows as another version would have left them: one too few, one too many.
    tamper(&runtime, folder.path());
    let reconciled = |program: &str| {
        runtime.block_on(async {
            let lake = Lake::open(&folder.path().to_string_lossy(), "tests", lake::Options::default()).await.unwrap();
            let vectors = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
            let done = reconcile(&lake, &domain(), recorded(Arc::new(vectors)), 2, program, |_| ()).await.unwrap();
            let settings = Settings { n_workers: 2, ..Settings::default() };
            let verified = verify(&lake, &domain(), &settings, |_| ()).await.unwrap();
            assert!(verified.is_same(), "{verified:#?}");
            done.map(|done| (done.n_documents, done.n_rows))
        })
    };
    assert_eq!(reconciled("one"), Some((3, 2)));
    assert_eq!(reconciled("one"), None);
    assert_eq!(reconciled("another"), Some((3, 0)));
}
