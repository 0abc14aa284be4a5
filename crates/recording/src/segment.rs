//! One closed Parquet file of one table: written under a temporary name, then renamed into place.

use crate::error::Error;
use crate::tables::Row;
use crate::writer::{Owner, give};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::fs::{self, File};
use std::path::Path;

/// Writes `rows` as `root/TABLE/NUMBER.parquet`. On an error nothing is left in place.
pub(crate) fn write<R: Row>(root: &Path, number: u32, rows: &[R], owner: Option<Owner>) -> Result<(), Error> {
    let folder = root.join(R::TABLE);
    if !folder.is_dir() {
        fs::create_dir(&folder).map_err(|error| Error::io("create", &folder, error))?;
        give(&folder, owner)?;
    }
    let done = folder.join(format!("{number:06}.parquet"));
    let path = folder.join(format!("{number:06}.parquet.tmp"));
    let written = encode(&path, rows).and_then(|()| {
        give(&path, owner)?;
        fs::rename(&path, &done).map_err(|error| Error::io("rename", &path, error))
    });
    if written.is_err() {
        // The error is told; a remainder that cannot be removed either changes nothing, readers ignore it.
        let _ = fs::remove_file(&path);
    }
    written
}

fn encode<R: Row>(path: &Path, rows: &[R]) -> Result<(), Error> {
    let failed = |source| Error::Encode { path: path.to_owned(), source };
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let file = File::create(path).map_err(|error| Error::io("create", path, error))?;
    let mut writer = ArrowWriter::try_new(file, R::schema(), Some(properties)).map_err(failed)?;
    let batch = R::to_batch(rows).map_err(|error| failed(error.into()))?;
    writer.write(&batch).map_err(failed)?;
    writer.close().map_err(failed)?;
    Ok(())
}

/// Reads every closed segment of a table in order. A segment that cannot be read is named in `damaged` and left out.
pub(crate) fn read_all<R: Row>(root: &Path, damaged: &mut Vec<String>) -> Vec<R> {
    let folder = root.join(R::TABLE);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    paths.sort();
    let mut rows = Vec::new();
    for path in paths {
        match decode(&path) {
            Ok(more) => rows.extend(more),
            Err(why) => damaged.push(format!("{}: {why}", path.display())),
        }
    }
    rows
}

fn decode<R: Row>(path: &Path) -> Result<Vec<R>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|builder| builder.build());
    let mut rows = Vec::new();
    for batch in reader.map_err(|error| error.to_string())? {
        rows.extend(R::from_batch(&batch.map_err(|error| error.to_string())?)?);
    }
    Ok(rows)
}
