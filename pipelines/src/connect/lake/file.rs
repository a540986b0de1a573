//! Rows to Parquet files, whole in memory and then put at once, so that a store never holds half a file.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arrow::{
    array::{Array, AsArray, RecordBatch},
    compute::{max, min},
    datatypes::{DataType, Float64Type, Int64Type, SchemaRef, TimeUnit, TimestampMicrosecondType},
};
use deltalake_core::{
    kernel::Add,
    logstore::{
        LogStoreRef,
        object_store::{self, ObjectStoreExt as _, PutPayload, path::Path},
    },
};
use hypercane_schemas::ContentHash;
use jiff::{SignedDuration, Timestamp};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    errors::ParquetError,
    file::properties::WriterProperties,
};
use serde_json::{Map, Value, json};

use super::{COMMITS, Error, fault, storage::with_retries};

/// Where a file ends and the next begins. Files are read whole, so this bounds a reader's memory.
pub(super) const FILE_BYTES: usize = 64 << 20;
/// Rows that are read or written at a time: no more than so many, and no more than so many bytes.
const ROWS_AT_ONCE: usize = 8192;
const BYTES_AT_ONCE: usize = 8 << 20;

/// How many rows are read or written at a time, of rows that take so many bytes; a single one may take more than that.
pub(super) fn rows_at_once(n_rows: usize, n_bytes: usize) -> usize {
    let row_bytes = n_bytes / n_rows.max(1);
    (BYTES_AT_ONCE / row_bytes.max(1)).clamp(1, ROWS_AT_ONCE)
}

/// A file that is ready to be put, and the log's word for it.
pub(super) struct DataFile {
    pub(super) add: Add,
    pub(super) bytes: Vec<u8>,
}

/// Writes rows to files of a table that no log entry mentions yet. What was written is taken away again if this fails.
pub(super) async fn put(
    log_store: &LogStoreRef,
    table: &str,
    place: &str,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<Vec<Add>, Error> {
    let files = lay_out(schema, batches).map_err(|e| Error::row(table, e))?;
    fault::delay().await;
    let mut adds: Vec<Add> = Vec::new();
    for DataFile { add, bytes } in files {
        let failed = put_one(log_store, place, &add, bytes).await.err();
        adds.push(add);
        if let Some(error) = failed {
            take_away(log_store, &adds).await;
            return Err(error);
        }
    }
    fault::reach(if table == COMMITS { "after_commit_file" } else { "after_table_file" });
    Ok(adds)
}

/// Writes one file.
pub(super) async fn put_one(log_store: &LogStoreRef, place: &str, add: &Add, bytes: Vec<u8>) -> Result<(), Error> {
    let store = log_store.object_store(None);
    let (path, bytes) = (Path::from(add.path.as_str()), PutPayload::from(bytes));
    with_retries(|| async {
        let put = store.put(&path, bytes.clone()).await;
        put.map(|_| ()).map_err(|e| Error::storage("write to", place, e))
    })
    .await
}

/// Deletes files that no log entry mentions. What can't be deleted now is swept at the next start.
pub(super) async fn take_away(log_store: &LogStoreRef, files: &[Add]) {
    let store = log_store.object_store(None);
    for file in files {
        if let Err(error) = store.delete(&Path::from(file.path.as_str())).await
            && !matches!(error, object_store::Error::NotFound { .. })
        {
            tracing::debug!(file = file.path, %error, "a file that is of no use stays");
        }
    }
}

/// Lays rows out as files; one, unless there are very many.
pub(super) fn lay_out(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<DataFile>, ParquetError> {
    let mut files = Vec::new();
    let mut layout = Layout::new(schema);
    for batch in batches {
        let at_once = rows_at_once(batch.num_rows(), batch.get_array_memory_size());
        for start in (0..batch.num_rows()).step_by(at_once) {
            files.extend(layout.write(&batch.slice(start, at_once.min(batch.num_rows() - start)))?);
        }
    }
    files.extend(layout.finish()?);
    Ok(files)
}

/// Lays rows out as files one after the other, so that no more than one is in memory.
pub(super) struct Layout {
    schema: SchemaRef,
    open: Option<Open>,
}

impl Layout {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        Self { schema: schema.clone(), open: None }
    }

    /// Adds some thousand rows; gives a file when it is full.
    pub(super) fn write(&mut self, rows: &RecordBatch) -> Result<Option<DataFile>, ParquetError> {
        let mut file = match self.open.take() {
            Some(file) => file,
            None => Open::new(&self.schema)?,
        };
        file.write(rows)?;
        if file.is_full() {
            return file.close().map(Some);
        }
        self.open = Some(file);
        Ok(None)
    }

    /// The last file, if rows are left for one.
    pub(super) fn finish(self) -> Result<Option<DataFile>, ParquetError> {
        self.open.map(Open::close).transpose()
    }
}

struct Open {
    writer: ArrowWriter<Vec<u8>>,
    n_rows: usize,
    bounds: Vec<Bounds>,
}

impl Open {
    fn new(schema: &SchemaRef) -> Result<Self, ParquetError> {
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
        let bounded = schema.fields().iter().filter(|column| is_bounded(column.data_type()));
        let bounds = bounded.map(|column| Bounds { name: column.name().clone(), ..Bounds::default() }).collect();
        Ok(Self { writer, n_rows: 0, bounds })
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ParquetError> {
        self.writer.write(rows)?;
        self.n_rows += rows.num_rows();
        for bounds in &mut self.bounds {
            if let Some(column) = rows.column_by_name(&bounds.name) {
                bounds.widen(column.as_ref());
            }
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.writer.bytes_written() + self.writer.in_progress_size() >= FILE_BYTES
    }

    fn close(self) -> Result<DataFile, ParquetError> {
        let bytes = self.writer.into_inner()?;
        let add = Add {
            path: name(),
            partition_values: HashMap::new(),
            size: bytes.len() as i64,
            modification_time: Timestamp::now().as_millisecond(),
            data_change: true,
            stats: Some(stats(self.n_rows, &self.bounds)),
            ..Add::default()
        };
        Ok(DataFile { add, bytes })
    }
}

/// The moment that lies so long ago.
pub(super) fn age_limit(age: Duration) -> Timestamp {
    SignedDuration::try_from(age).ok().and_then(|age| Timestamp::now().checked_sub(age).ok()).unwrap_or(Timestamp::MIN)
}

/// A name that no other file has, also where processes on other machines write to the same table.
fn name() -> String {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    static N_FILES: AtomicU64 = AtomicU64::new(0);
    let count = N_FILES.fetch_add(1, Ordering::Relaxed).to_string();
    let (process, id, now) = (PROCESS.to_string(), std::process::id().to_string(), Timestamp::now().as_nanosecond());
    format!("part-{}.parquet", ContentHash::of_parts([process.as_str(), &id, &now.to_string(), &count]))
}

/// Whether a data file of this name was written by us. A UUID, as other programs have it, is longer.
pub(super) fn is_own_name(name: &str) -> bool {
    let hash = name.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet"));
    hash.is_some_and(|hash| hash.parse::<ContentHash>().is_ok())
}

/// Whether the log keeps the least and greatest value of a column. Texts and hashes as bounds would make an entry as
/// large as the rows.
pub(super) fn is_bounded(column: &DataType) -> bool {
    matches!(column, DataType::Int64 | DataType::Float64 | DataType::Timestamp(TimeUnit::Microsecond, _))
}

/// The least and greatest value of one column in one file.
#[derive(Default)]
struct Bounds {
    name: String,
    integers: Option<(i64, i64)>,
    moments: Option<(i64, i64)>,
    numbers: Option<(f64, f64)>,
    n_nulls: usize,
}

impl Bounds {
    fn widen(&mut self, column: &dyn Array) {
        self.n_nulls += column.null_count();
        if let Some(values) = column.as_primitive_opt::<Int64Type>() {
            self.integers = wider(self.integers, min(values).zip(max(values)), i64::min, i64::max);
        } else if let Some(values) = column.as_primitive_opt::<TimestampMicrosecondType>() {
            self.moments = wider(self.moments, min(values).zip(max(values)), i64::min, i64::max);
        } else if let Some(values) = column.as_primitive_opt::<Float64Type>() {
            self.numbers = wider(self.numbers, min(values).zip(max(values)), f64::min, f64::max);
        }
    }

    fn least_and_greatest(&self) -> Option<(Value, Value)> {
        let moment = |micros| Timestamp::from_microsecond(micros).ok().map(|moment| json!(format!("{moment:.6}")));
        if let Some((least, greatest)) = self.integers {
            return Some((json!(least), json!(greatest)));
        }
        if let Some((least, greatest)) = self.moments {
            return moment(least).zip(moment(greatest));
        }
        self.numbers.map(|(least, greatest)| (json!(least), json!(greatest)))
    }
}

fn wider<T>(so_far: Option<(T, T)>, more: Option<(T, T)>, min: fn(T, T) -> T, max: fn(T, T) -> T) -> Option<(T, T)> {
    match (so_far, more) {
        (Some((least, greatest)), Some((low, high))) => Some((min(least, low), max(greatest, high))),
        (so_far, more) => so_far.or(more),
    }
}

fn stats(n_rows: usize, bounds: &[Bounds]) -> String {
    let (mut least, mut greatest, mut nulls) = (Map::new(), Map::new(), Map::new());
    for column in bounds {
        if let Some((low, high)) = column.least_and_greatest() {
            least.insert(column.name.clone(), low);
            greatest.insert(column.name.clone(), high);
        }
        nulls.insert(column.name.clone(), column.n_nulls.into());
    }
    json!({"numRecords": n_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::{
        array::{Float64Array, Int64Array, StringArray, TimestampMicrosecondArray},
        datatypes::{Field, Schema},
    };

    use super::{DataType, ROWS_AT_ONCE, RecordBatch, TimeUnit, lay_out, rows_at_once};

    #[test]
    fn long_rows_are_taken_few_at_a_time() {
        assert_eq!([rows_at_once(0, 0), rows_at_once(100_000, 100_000)], [ROWS_AT_ONCE; 2]);
        assert_eq!(rows_at_once(1000, 1000 << 20), 8);
        assert_eq!(rows_at_once(1, 100 << 20), 1);
    }

    #[test]
    fn the_log_knows_the_bounds_of_a_file() {
        let moments = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let schema = Arc::new(Schema::new(vec![
            Field::new("text", DataType::Utf8, false),
            Field::new("epoch", DataType::Int64, false),
            Field::new("number", DataType::Float64, true),
            Field::new("at", moments, true),
        ]));
        let batch = |epochs: [i64; 2], number: Option<f64>, at: Option<i64>| {
            let at = TimestampMicrosecondArray::from(vec![at, None]).with_timezone("UTC");
            let (texts, numbers) = (StringArray::from(vec!["a", "b"]), Float64Array::from(vec![None, number]));
            let epochs = Int64Array::from(epochs.to_vec());
            let columns = vec![Arc::new(texts) as _, Arc::new(epochs) as _, Arc::new(numbers) as _, Arc::new(at) as _];
            RecordBatch::try_new(schema.clone(), columns).unwrap()
        };
        let batches = [batch([7, 5], None, Some(1_500_000)), batch([6, 9], Some(-0.5), Some(-1))];
        let files = lay_out(&schema, &batches).unwrap();
        assert_eq!(files.len(), 1);
        let expected = concat!(
            r#"{"numRecords":4,"minValues":{"epoch":5,"number":-0.5,"at":"1969-12-31T23:59:59.999999Z"},"#,
            r#""maxValues":{"epoch":9,"number":-0.5,"at":"1970-01-01T00:00:01.500000Z"},"#,
            r#""nullCount":{"epoch":0,"number":3,"at":2}}"#
        );
        assert_eq!(files[0].add.stats.as_deref(), Some(expected));
        assert!(lay_out(&schema, &[]).unwrap().is_empty());
    }
}
