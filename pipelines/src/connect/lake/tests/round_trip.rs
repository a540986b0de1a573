//! Every record kind comes back from Arrow, and from a table, as it went in.

use std::collections::BTreeMap;

use hypercane_schemas::{ContentHash, Diff, Epoch, ModelText, Record};

use super::{CommitBatch, folder, open, samples};
use crate::connect::lake::{Lake, decode, encode};

fn check_batch<R: Record + std::fmt::Debug>(records: Vec<R>) {
    let rows: Vec<(R, Epoch, Diff)> =
        records.into_iter().enumerate().map(|(i, record)| (record, i as Epoch + 1, 1 - 2 * (i as Diff % 2))).collect();
    let batch = encode(&rows).unwrap();
    assert_eq!(batch.schema().as_ref(), &R::arrow_schema());
    assert_eq!(decode::<R>(&batch).unwrap(), rows);
    assert_eq!(encode::<R>(&[]).unwrap().num_rows(), 0);
}

#[test]
fn every_record_comes_back_from_arrow() {
    check_batch(samples::documents());
    check_batch(samples::horizons());
    check_batch(samples::queries());
    check_batch(samples::entities());
    check_batch(samples::hyperedges());
    check_batch(samples::incidences());
    check_batch(samples::degrees());
    check_batch(samples::precedences());
    check_batch(samples::conflicts());
    check_batch(samples::model_outputs());
    check_batch(samples::answers());
    check_batch(samples::rejects());
}

fn add<R: Record>(batch: &mut CommitBatch, records: Vec<R>) {
    let rows: Vec<(R, Epoch, Diff)> = records.into_iter().map(|record| (record, 1, 2)).collect();
    batch.add(&rows).unwrap();
}

async fn check_table<R: Record + std::fmt::Debug>(lake: &Lake, records: Vec<R>) {
    let expected: BTreeMap<R, Diff> = records.into_iter().map(|record| (record, 2)).collect();
    let found = lake.read::<R>(None).await.unwrap();
    assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn every_record_comes_back_from_its_table() {
    let (_dir, location) = folder();
    let lake = open(&location).await;
    let mut batch = CommitBatch { epoch: 1, ..CommitBatch::default() };
    add(&mut batch, samples::documents());
    add(&mut batch, samples::horizons());
    add(&mut batch, samples::queries());
    add(&mut batch, samples::entities());
    add(&mut batch, samples::hyperedges());
    add(&mut batch, samples::incidences());
    add(&mut batch, samples::degrees());
    add(&mut batch, samples::precedences());
    add(&mut batch, samples::conflicts());
    add(&mut batch, samples::answers());
    add(&mut batch, samples::rejects());
    assert_eq!(lake.commit(batch).await.unwrap().n_tables, 11);

    check_table(&lake, samples::documents()).await;
    check_table(&lake, samples::horizons()).await;
    check_table(&lake, samples::queries()).await;
    check_table(&lake, samples::entities()).await;
    check_table(&lake, samples::hyperedges()).await;
    check_table(&lake, samples::incidences()).await;
    check_table(&lake, samples::degrees()).await;
    check_table(&lake, samples::precedences()).await;
    check_table(&lake, samples::conflicts()).await;
    check_table(&lake, samples::answers()).await;
    check_table(&lake, samples::rejects()).await;
}

#[tokio::test]
async fn model_outputs_are_kept_at_once_and_found_by_model_and_template() {
    let (_dir, location) = folder();
    let outputs = samples::model_outputs();
    let lake = open(&location).await;
    lake.append_model_outputs(&[]).await.unwrap();
    lake.append_model_outputs(&outputs).await.unwrap();
    lake.append_model_outputs(&outputs[..1]).await.unwrap();
    drop(lake);

    let lake = open(&location).await;
    assert_eq!(lake.recover().await.unwrap(), None);
    let found = lake.read_model_outputs(&outputs[0].model, outputs[0].template).await.unwrap();
    assert_eq!(found, outputs.iter().map(|output| (output.input, output.vector.clone())).collect());
    assert!(lake.read_model_outputs("another", outputs[0].template).await.unwrap().is_empty());
    assert!(lake.read_model_outputs(&outputs[0].model, outputs[0].input).await.unwrap().is_empty());
}

#[tokio::test]
async fn model_texts_are_kept_at_once_and_those_of_other_models_are_known_to_be_there() {
    let (_dir, location) = folder();
    let row = |model: &str, text: &str| ModelText {
        model: model.into(),
        template: ContentHash(1),
        input: ContentHash(2),
        text: text.into(),
    };
    let lake = open(&location).await;
    lake.append_model_texts(&[row("a", "second"), row("b", "words")]).await.unwrap();
    lake.append_model_texts(&[row("a", "first")]).await.unwrap();
    drop(lake);

    let lake = open(&location).await;
    assert_eq!(lake.recover().await.unwrap(), None);
    let found = lake.read_model_texts("a").await.unwrap();
    // Of two texts under one key the least counts.
    assert_eq!(found, [row("a", "first"), row("b", "")]);
}
