//! The same through an object store, where the environment names one that speaks S3.

use hypercane_schemas::Degree;

use super::{PIPELINE, batch, samples, write_tables};
use crate::connect::lake::{Lake, Options};

const ENDPOINT_VARIABLE: &str = "HYPERCANE_TEST_S3";

#[tokio::test]
async fn a_lake_lies_in_an_object_store() {
    let Ok(endpoint) = std::env::var(ENDPOINT_VARIABLE) else {
        eprintln!(
            "skipped: {ENDPOINT_VARIABLE} names no endpoint with a bucket `hypercane`, such as http://127.0.0.1:5000"
        );
        return;
    };
    let mut options = Options { checkpoint_interval: 3, ..Options::default() };
    for (key, value) in [
        ("aws_endpoint", endpoint.as_str()),
        ("aws_allow_http", "true"),
        ("aws_region", "us-east-1"),
        ("aws_access_key_id", "test"),
        ("aws_secret_access_key", "test"),
    ] {
        options.storage.insert(key.into(), value.into());
    }
    let location = format!("s3://hypercane/{}/lake", std::process::id());
    let row = samples::degrees()[0].clone();
    for epoch in 1..=5 {
        let lake = Lake::open(&location, PIPELINE, options.clone()).await.unwrap();
        assert_eq!(lake.recover().await.unwrap().map_or(0, |point| point.epoch), epoch - 1);
        lake.commit(batch(epoch, &[(row.clone(), 1)])).await.unwrap();
        // Left over by a crash.
        write_tables(&lake, &batch(epoch + 1, &[(row.clone(), 1)])).await.unwrap();
        lake.close().await;
    }
    let lake = Lake::view(&location, options).await.unwrap();
    assert_eq!(lake.read::<Degree>(None).await.unwrap(), [(row.clone(), 5)]);
    assert_eq!(lake.read::<Degree>(Some(2)).await.unwrap(), [(row, 2)]);
}
