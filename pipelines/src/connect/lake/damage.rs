//! Finds the file to blame when a table can't be opened.

use deltalake_core::{
    DeltaTableError,
    logstore::{
        LogStoreRef, get_actions,
        object_store::{ObjectStore, ObjectStoreExt},
    },
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::Error;

/// The damaged log file, if one is found; else the error as it came, with the table's folder.
pub(super) async fn explain(log_store: &LogStoreRef, place: &str, error: DeltaTableError) -> Error {
    match find(log_store).await {
        Some((file, reason)) => Error::damaged(format!("{place}/{file}"), reason),
        None => Error::storage("read the log of", place, error),
    }
}

async fn find(log_store: &LogStoreRef) -> Option<(String, String)> {
    let store = log_store.object_store(None);
    let mut objects = store.list_with_delimiter(Some(log_store.log_path())).await.ok()?.objects;
    objects.sort_by(|a, b| a.location.cmp(&b.location));
    // The version that the log must go on with: after a checkpoint any older one may be gone.
    let mut next = 0;
    for object in objects {
        let path = object.location;
        let name = path.filename()?;
        let version = name.split('.').next().and_then(|digits| digits.parse::<u64>().ok());
        let Some(version) = version else { continue };
        let verdict = if name.ends_with(".checkpoint.parquet") {
            next = version;
            let bytes = store.get(&path).await.ok()?.bytes().await.ok()?;
            ParquetRecordBatchReaderBuilder::try_new(bytes).err().map(|e| e.to_string())
        } else if name.ends_with(".json") {
            if version > next {
                return Some((
                    format!("{}/{name}", log_store.log_path()),
                    format!("version {next} before it is missing"),
                ));
            }
            next = version + 1;
            let bytes = store.get(&path).await.ok()?.bytes().await.ok()?;
            get_actions(version, &bytes).err().map(|e| e.to_string())
        } else {
            None
        };
        if let Some(reason) = verdict {
            return Some((path.to_string(), reason));
        }
    }
    None
}
