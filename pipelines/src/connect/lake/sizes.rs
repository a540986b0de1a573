//! How large the tables of a lake are.

use deltalake_core::logstore::object_store::ObjectStore;
use serde::Serialize;

use super::{Error, Lake, read::Files, storage::with_retries};

/// The size of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TableSize {
    /// The table.
    pub table: String,
    /// Files that its newest version refers to.
    pub n_files: u64,
    /// Their size.
    pub n_bytes: u64,
    /// Their rows.
    pub n_rows: u64,
    /// Data files that are there, with those that were removed from the table and not deleted yet.
    pub n_stored_files: u64,
    /// Files of its log.
    pub n_log_files: u64,
}

impl Lake {
    /// The sizes of all tables, by name.
    pub async fn sizes(&self) -> Result<Vec<TableSize>, Error> {
        let mut sizes = Vec::new();
        for name in self.storage.tables().await? {
            let Some(files) = Files::of(&self.storage, &name).await? else { continue };
            let log_store = self.storage.log_store(&name)?;
            let store = log_store.object_store(None);
            let count = async |folder: Option<&_>| {
                let listed = with_retries(|| async {
                    store.list_with_delimiter(folder).await.map_err(|e| Error::storage("list", files.place(), e))
                });
                Ok::<_, Error>(listed.await?.objects.len() as u64)
            };
            sizes.push(TableSize {
                n_files: files.all().len() as u64,
                n_bytes: files.all().map(|file| file.n_bytes).sum(),
                n_rows: files.all().filter_map(|file| file.n_rows).sum(),
                n_stored_files: count(None).await?,
                n_log_files: count(Some(log_store.log_path())).await?,
                table: name,
            });
        }
        Ok(sizes)
    }
}
