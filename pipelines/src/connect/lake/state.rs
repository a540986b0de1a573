//! The state of one table as a Parquet file of its own, without the columns of the changelog.

use std::{io::Write, sync::Arc};

use arrow::datatypes::Schema;
use deltalake_core::parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};
use hypercane_schemas::{Diff, Record};

use super::{Error, encode};

const ROWS_AT_ONCE: usize = 8192;

/// Writes rows into a file; one that is present twice is written twice, one that is present less than once not at all.
/// `place` is the file's name in errors.
pub fn write_state<R: Record>(rows: &[(R, Diff)], place: &str, file: impl Write + Send) -> Result<(), Error> {
    let failed = |e| Error::storage("write to", place, e);
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let columns = R::columns();
    let own: Vec<usize> = (0..columns.len()).collect();
    let schema = Arc::new(Schema::new(columns));
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(failed)?;
    for some in rows.chunks(ROWS_AT_ONCE) {
        let repeated = some.iter().flat_map(|(row, count)| {
            let count = usize::try_from(*count).unwrap_or_default();
            std::iter::repeat_n((row.clone(), 0, 1), count)
        });
        // The changelog's columns are the record's own, then epoch and diff.
        let batch = encode(&repeated.collect::<Vec<_>>())?.project(&own).map_err(|e| Error::row(R::TABLE, e))?;
        writer.write(&batch).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use deltalake_core::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use hypercane_schemas::{Document, Record as _};

    use super::write_state;

    #[test]
    fn the_file_has_the_columns_of_the_record_and_its_rows() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let rows = [(Document::plain("a", "one"), 1), (Document::plain("b", "two"), 2), (Document::plain("c", "3"), 0)];
        write_state(&rows, "documents.parquet", file.reopen().unwrap()).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.reopen().unwrap()).unwrap();
        let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let wanted: Vec<String> = Document::columns().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, wanted);
        let n_rows: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        assert_eq!(n_rows, 3);
    }
}
