//! The commit point: the last row of table `commits`.

use std::{collections::BTreeMap, sync::Arc};

use arrow::{
    array::RecordBatch,
    datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit},
};
use hypercane_schemas::Epoch;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Error, Lake,
    decode::decode_rows,
    encode::encode_columns,
    read::{DataFile, Files},
    storage::Storage,
};

/// The table whose last row says what counts.
pub(super) const COMMITS: &str = "commits";

/// What has been committed: the state of every table, and where each topic goes on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CommitPoint {
    /// The last epoch that counts.
    pub epoch: Epoch,
    /// Offset at which each topic and partition goes on.
    pub offsets: BTreeMap<(String, i32), i64>,
    /// Delta version of each table.
    pub versions: BTreeMap<String, u64>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    epoch: Epoch,
    committed_at: Timestamp,
    offsets: Vec<Offset>,
    versions: Vec<Version>,
}

#[derive(Serialize, Deserialize)]
struct Offset {
    topic: String,
    partition: i32,
    offset: i64,
}

#[derive(Serialize, Deserialize)]
struct Version {
    table: String,
    version: u64,
}

impl CommitPoint {
    /// The last row of `commits`.
    pub(super) async fn load(storage: &Storage) -> Result<Option<Self>, Error> {
        let Some(files) = Files::of(storage, COMMITS).await? else { return Ok(None) };
        let mut last: Option<Row> = None;
        // One row a file: only the newest is read.
        for file in files.newest() {
            files
                .read(file, &mut |batch| {
                    for row in decode_rows::<Row>(COMMITS, &batch)? {
                        if last.as_ref().is_none_or(|last| last.epoch < row.epoch) {
                            last = Some(row);
                        }
                    }
                    Ok(())
                })
                .await?;
        }
        Ok(last.map(Self::from))
    }

    /// The row, as it is written.
    pub(super) fn to_batch(&self) -> Result<RecordBatch, Error> {
        let offsets = self.offsets.iter();
        let offsets =
            offsets.map(|((topic, partition), &offset)| Offset { topic: topic.clone(), partition: *partition, offset });
        let versions = self.versions.iter().map(|(table, &version)| Version { table: table.clone(), version });
        let row = Row {
            epoch: self.epoch,
            committed_at: Timestamp::now(),
            offsets: offsets.collect(),
            versions: versions.collect(),
        };
        let columns = encode_columns(COMMITS, schema(), &[row])?;
        RecordBatch::try_new(schema(), columns).map_err(|e| Error::row(COMMITS, e))
    }
}

impl Lake {
    /// The last epoch that was committed at or before a moment, if one was.
    pub async fn epoch_at(&self, moment: Timestamp) -> Result<Option<Epoch>, Error> {
        let Some(files) = Files::of(&self.storage, COMMITS).await? else { return Ok(None) };
        let ordered: Vec<&DataFile> = files.all().collect();
        // Files are ordered by epoch, and the log knows the first moment of each, so that few are read of many. The newest
        // epoch that qualifies counts, since clocks may jump: commits need not follow each other in time.
        for file in ordered.into_iter().rev().filter(|file| file.since.is_none_or(|since| since <= moment)) {
            let mut last = None;
            files
                .read(file, &mut |batch| {
                    let rows = decode_rows::<Row>(COMMITS, &batch)?.into_iter();
                    last = last.max(rows.filter(|row| row.committed_at <= moment).map(|row| row.epoch).max());
                    Ok(())
                })
                .await?;
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }
}

impl From<Row> for CommitPoint {
    fn from(row: Row) -> Self {
        Self {
            epoch: row.epoch,
            offsets: row.offsets.into_iter().map(|o| ((o.topic, o.partition), o.offset)).collect(),
            versions: row.versions.into_iter().map(|v| (v.table, v.version)).collect(),
        }
    }
}

pub(super) fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let integer = |name: &str| Field::new(name, DataType::Int64, false);
    let list = |name: &str, columns: Vec<Field>| {
        let item = Field::new("element", DataType::Struct(Fields::from(columns)), false);
        Field::new(name, DataType::List(Arc::new(item)), false)
    };
    Arc::new(Schema::new(vec![
        integer("epoch"),
        Field::new("committed_at", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false),
        list("offsets", vec![text("topic"), integer("partition"), integer("offset")]),
        list("versions", vec![text("table"), integer("version")]),
    ]))
}

#[cfg(test)]
mod tests {
    use arrow::array::RecordBatch;
    use jiff::Timestamp;

    use super::{COMMITS, Lake, Row, encode_columns, schema};
    use crate::connect::lake::Options;

    #[tokio::test]
    async fn a_clock_that_jumps_hides_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        let lake = Lake::open(&folder.path().to_string_lossy(), "test", Options::default()).await.unwrap();
        let at = |time: &str| -> Timestamp { format!("2020-08-25T{time}Z").parse().unwrap() };
        for (epoch, time) in [(1, "10:00"), (2, "10:30"), (3, "09:45"), (4, "09:50"), (5, "23:00"), (6, "10:40")] {
            let row = Row { epoch, committed_at: at(time), offsets: Vec::new(), versions: Vec::new() };
            let columns = encode_columns(COMMITS, schema(), &[row]).unwrap();
            let batch = RecordBatch::try_new(schema(), columns).unwrap();
            let table = lake.table(COMMITS, &schema()).await.unwrap();
            table.lock().await.append(&[batch], None).await.unwrap();
        }
        let cases = [("09:00", None), ("09:45", Some(3)), ("10:10", Some(4)), ("10:40", Some(6)), ("23:30", Some(6))];
        for (time, epoch) in cases {
            assert_eq!(lake.epoch_at(at(time)).await.unwrap(), epoch, "as of {time}");
        }
    }
}
