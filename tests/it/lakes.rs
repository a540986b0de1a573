//! Small lakes, made by a pipeline with a model that needs no weights.

use std::{path::Path, sync::Arc, time::Duration};

use hypercane::{
    connect::{
        embed::{EmbedService, Hashed, Model, Recorded, ServiceSettings, VectorStore},
        format::Input,
        lake::{self, Lake},
        packs,
    },
    pipeline::{Gathered, Pipeline},
    vectors::LakeVectors,
};
use hypercane_operators::domain::Domain;
use hypercane_schemas::{Document, DocumentKey, Epoch, GroupKey, HorizonUpdate, Query, QueryId, QueryParameters};
use tokio::runtime::Runtime;

use crate::hypergraph::forecast_advisory;

pub fn domain() -> Arc<Domain> {
    Arc::new(packs::load("cyclone").unwrap())
}

/// The model before a record.
pub fn recorded(store: Arc<dyn VectorStore>) -> Arc<Recorded> {
    let settings = ServiceSettings { threads: 1, ..ServiceSettings::default() };
    Arc::new(Recorded::new(EmbedService::start(Arc::new(Hashed), &settings).unwrap(), store))
}

/// Advances a lake: each list of inputs is an epoch with a commit of its own. Gives the epochs.
pub fn write(runtime: &Runtime, folder: &Path, epochs: Vec<Vec<Input>>) -> Vec<Epoch> {
    let location = folder.to_string_lossy();
    runtime.block_on(async {
        let lake = Lake::open(&location, "tests", lake::Options::default()).await.unwrap();
        let vectors = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
        let mut pipeline = Pipeline::start(2, domain(), recorded(Arc::new(vectors)), Some(lake)).await.unwrap();
        let mut done = Vec::new();
        for inputs in epochs {
            done.push(pipeline.step(inputs).await.unwrap().epoch);
            pipeline.commit().await.unwrap();
        }
        done
    })
}

/// An advisory of the storm AL012020, under a key of its own.
pub fn advisory(number: u8, wind: u8) -> Input {
    let document = Document::plain(format!("tcm_{number:03}.txt"), forecast_advisory(1, number, 0, wind, 0));
    Input::Document(document.key.clone(), Some(document))
}

pub fn no_advisory(number: u8) -> Input {
    Input::Document(DocumentKey(format!("tcm_{number:03}.txt")), None)
}

pub fn landfall() -> Input {
    let group = GroupKey("AL012020".into());
    let update = HorizonUpdate {
        group: group.clone(),
        reference_event: "landfall".into(),
        reference_at: "2020-08-13T12:00Z".parse().unwrap(),
        issued_at: "2020-08-11T00:00Z".parse().unwrap(),
    };
    Input::Horizon(group, Some(update))
}

pub fn question(id: &str) -> Query {
    Query {
        id: QueryId(id.into()),
        question: "How strong are the winds of Hurricane Alder, and how is the forecast updated?".into(),
        mode: Default::default(),
        group: None,
        as_of: None,
        parameters: QueryParameters::default(),
    }
}

pub fn asked(id: &str) -> Input {
    Input::Query(QueryId(id.into()), Some(question(id)))
}

#[test]
fn what_changes_nothing_has_been_read_all_the_same() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime.block_on(async {
        let lake = Lake::open(&folder.path().to_string_lossy(), "tests", lake::Options::default()).await.unwrap();
        let vectors = LakeVectors::open(lake.clone(), Hashed.id()).await.unwrap();
        let model = recorded(Arc::new(vectors));
        let mut pipeline = Pipeline::start(1, domain(), model, Some(lake.clone())).await.unwrap();
        // The same record twice.
        for next in [1, 2] {
            let offsets = [(("horizons".to_owned(), 0), next)].into();
            let gathered = Gathered { inputs: vec![landfall()], offsets, ..Gathered::default() };
            pipeline.turn(gathered, false, Duration::MAX).await.unwrap();
            pipeline.commit().await.unwrap();
            assert_eq!(lake.commit_point().await.unwrap().unwrap().offsets, pipeline.offsets());
        }
        // Where nothing was read, nothing is committed.
        let epoch = lake.commit_point().await.unwrap().unwrap().epoch;
        pipeline.commit().await.unwrap();
        assert_eq!(lake.commit_point().await.unwrap().unwrap().epoch, epoch);
    });
}
