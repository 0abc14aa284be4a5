//! One closed Parquet file of one table: written under a temporary name, brought to the disk, then renamed into place; and read
//! back without more memory than such a file can honestly ask for.

use crate::error::Error;
use crate::guarded::guarded;
use crate::pages::unfolded as unfolded_pages;
use crate::tables::Row;
use arrow_array::{Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use slowpath_files::{Folder, Kind};
use std::fs::File;

/// Rows that are decoded at once. A dictionary of one long text can stand for every row of them.
const BATCH: usize = 256;
/// A segment may take this many times its size in memory. Columns of one value fold best: real segments reach some 30.
const UNFOLDS: u64 = 256;
/// … and a small one this much, bytes.
const SMALL: u64 = 16 << 20;
/// No segment takes more, bytes: it holds about a second of a recording.
const SEGMENT: u64 = 512 << 20;
/// What all of a recording may take, bytes.
pub(crate) const WHOLE: u64 = 4 << 30;

/// What is said of a file at which Parquet's reader panicked.
const NOT_AS_WRITTEN: &str = "it is no file as Parquet's writers write it";

/// The file's name, and the one under which it is written.
fn names(number: u32) -> (String, String) {
    (format!("{number:06}.parquet"), format!("{number:06}.parquet.tmp"))
}

/// The number of a segment, or of a remainder of one, by its name.
pub(crate) fn number(name: &std::ffi::OsStr) -> Option<u32> {
    let (number, rest) = name.to_str()?.split_once('.')?;
    let ours = matches!(rest, "parquet" | "parquet.tmp") && number.len() >= 6;
    number.parse().ok().filter(|_| ours)
}

/// Writes `rows` as `NUMBER.parquet` into the table's folder. On an error nothing is left in place.
pub(crate) fn write<R: Row>(folder: &Folder, number: u32, rows: &[R]) -> Result<(), Error> {
    let (done, temporary) = names(number);
    let path = folder.path().join(&temporary);
    let io = |action| {
        let path = path.clone();
        move |error| Error::io(action, &path, error)
    };
    let written = folder.create_file(&temporary).map_err(io("create")).and_then(|file| {
        let file = encode(file, rows).map_err(|source| Error::Encode { path: path.clone(), source })?;
        // So that no crash of the machine leaves an empty file under a name that promises rows.
        file.sync_data().map_err(io("write"))?;
        folder.rename(&temporary, &done).map_err(io("rename"))
    });
    if written.is_err() {
        // The error is reported; a remainder that cannot be removed either changes nothing, readers ignore it.
        let _ = folder.remove_file(&temporary);
    }
    written
}

fn encode<R: Row>(file: File, rows: &[R]) -> Result<File, parquet::errors::ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build();
    let mut writer = ArrowWriter::try_new(file, R::schema(), Some(properties))?;
    writer.write(&R::to_batch(rows)?)?;
    writer.into_inner()
}

/// Reads every closed segment of a table in order. A segment that cannot be read is named in `damaged` and left out. What is
/// read is taken off `budget`, bytes of memory.
pub(crate) fn read_all<R: Row>(root: &Folder, budget: &mut u64, damaged: &mut Vec<String>) -> Vec<R> {
    let folder = match root.folder(R::TABLE) {
        Ok(folder) => folder,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            damaged.push(format!("{}: {error}", root.path().join(R::TABLE).display()));
            return Vec::new();
        }
    };
    let mut names: Vec<_> =
        folder.entries().unwrap_or_default().into_iter().map(|entry| entry.name).collect();
    names.retain(|name| name.to_str().is_some_and(|name| name.ends_with(".parquet")));
    // Room for all at once: rows that grow by doubling would take three times as much for a moment.
    let count: u64 = names.iter().filter_map(|name| rows_in(&folder, name)).fold(0, u64::saturating_add);
    let fits = (*budget / size_of::<R>().max(1) as u64).min(count);
    let mut rows = Vec::new();
    let _ = rows.try_reserve_exact(usize::try_from(fits).unwrap_or(0)); // without it is slower, not wrong
    for name in names {
        let before = rows.len();
        let read = guarded(|| decode(&folder, &name, budget, &mut rows));
        if let Err(why) = read.unwrap_or_else(|| Err(NOT_AS_WRITTEN.to_owned())) {
            rows.truncate(before);
            damaged.push(format!("{}: {why}", folder.path().join(&name).display()));
        }
    }
    rows
}

/// How many rows a segment says that it has, if its size can be believed to hold so many.
fn rows_in(folder: &Folder, name: &std::ffi::OsStr) -> Option<u64> {
    let file = folder.file(name).ok()?;
    let most = file.metadata().ok()?.len().saturating_mul(UNFOLDS).clamp(SMALL, SEGMENT);
    let metadata = guarded(|| ParquetMetaDataReader::new().parse_and_finish(&file))?.ok()?;
    let rows = u64::try_from(metadata.file_metadata().num_rows()).ok()?;
    (rows.saturating_mul(8) <= most).then_some(rows)
}

fn decode<R: Row>(
    folder: &Folder,
    name: &std::ffi::OsStr,
    budget: &mut u64,
    rows: &mut Vec<R>,
) -> Result<(), String> {
    let file = folder.file(name).map_err(|error| error.to_string())?;
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    let most = size.saturating_mul(UNFOLDS).clamp(SMALL, SEGMENT).min(*budget);
    let too_large = || format!("it would take more than {} MiB of memory, too much for its size", most >> 20);
    let pages = file.try_clone().map_err(|error| error.to_string())?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| error.to_string())?;
    let metadata = builder.metadata();
    let columns = || metadata.row_groups().iter().flat_map(|group| group.columns());
    let encoded: u64 = columns()
        .map(|column| u64::try_from(column.uncompressed_size()).unwrap_or(u64::MAX))
        .fold(0, u64::saturating_add);
    // The reader takes for granted that no place or length is negative.
    if columns().any(|column| {
        column.dictionary_page_offset().unwrap_or(column.data_page_offset()).min(column.compressed_size()) < 0
    }) {
        return Err("a column of it has a negative place or length".to_owned());
    }
    let folded = columns().fold(0u64, |sum, column| sum.saturating_add(column.compressed_size() as u64));
    if folded > size {
        return Err("columns of it share their pages".to_owned());
    }
    let count = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(u64::MAX);
    if encoded > most || count.saturating_mul(size_of::<R>() as u64) > most {
        return Err(too_large());
    }
    // What the end of the file says need not be what its pages say.
    let mut unfolded = 0u64;
    for column in columns() {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let of = |value: i64| u64::try_from(value).unwrap_or(u64::MAX);
        let sum = unfolded_pages(&pages, of(start), of(column.compressed_size()));
        let sum =
            sum.ok_or_else(|| "the pages of a column are not as Parquet's writers write them".to_owned())?;
        unfolded = unfolded.saturating_add(sum);
    }
    if unfolded > most {
        return Err(too_large());
    }
    let reader = builder.with_batch_size(BATCH).build().map_err(|error| error.to_string())?;
    let mut taken = 0u64;
    for batch in reader {
        let batch = batch.map_err(|error| error.to_string())?;
        // What Arrow holds goes again with the batch.
        taken = taken.saturating_add(memory::<R>(&batch));
        if taken > most {
            return Err(too_large());
        }
        rows.extend(R::from_batch(&batch)?);
    }
    *budget -= taken;
    Ok(())
}

/// What the rows of a batch take.
fn memory<R: Row>(batch: &RecordBatch) -> u64 {
    let rows = batch.num_rows() * size_of::<R>();
    let beside: usize = batch.columns().iter().map(|column| column.get_array_memory_size()).sum();
    (rows + beside) as u64
}

/// What an entry of a table's folder is allowed to be.
pub(crate) fn is_segment(entry: &slowpath_files::Entry) -> bool {
    entry.kind == Kind::File && number(&entry.name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Thread;
    use parquet::file::metadata::{
        ColumnChunkMetaDataBuilder, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
    };
    use std::io::{Read, Seek, SeekFrom};
    use std::path::Path;

    /// A segment's bytes, with another end that says of its first column what `change` does; that may add to the bytes before it.
    fn changed(
        change: impl FnOnce(&mut Vec<u8>, ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
    ) -> Vec<u8> {
        let (thread, process, tid, name) = (0, 0, 1, "program".to_owned());
        let row = Thread { thread, process, tid, name, start_ns: 0, end_ns: None, cpu_ns: None };
        let mut file = encode(tempfile::tempfile().expect("a file"), &[row]).expect("a segment");
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes)).expect("its bytes");
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).expect("its end");
        let group = metadata.row_group(0);
        let mut columns = group.columns().to_vec();
        let first = columns[0].clone().into_builder();
        columns[0] = change(&mut bytes, first).build().expect("a column");
        let group: RowGroupMetaData =
            group.clone().into_builder().set_column_metadata(columns).build().expect("a group");
        let changed = ParquetMetaData::new(metadata.file_metadata().clone(), vec![group]);
        ParquetMetaDataWriter::new(&mut bytes, &changed).finish().expect("another end");
        bytes
    }

    /// … to begin at `offset`.
    fn beginning_at(offset: i64) -> Vec<u8> {
        changed(|_, first| first.set_dictionary_page_offset(None).set_data_page_offset(offset))
    }

    /// How many rows are read of a segment with these bytes, and what is damaged; `dir` is a folder for it.
    fn read(dir: &Path, bytes: &[u8]) -> (usize, Vec<String>) {
        let table = dir.join(Thread::TABLE);
        std::fs::create_dir_all(&table).expect("a table");
        std::fs::write(table.join("000001.parquet"), bytes).expect("a segment");
        let (mut budget, mut damaged) = (u64::MAX, Vec::new());
        let rows: Vec<Thread> = read_all(&Folder::open(dir).expect("it opens"), &mut budget, &mut damaged);
        (rows.len(), damaged)
    }

    #[test]
    fn a_segment_at_which_the_reader_of_parquet_panics_is_damage() {
        let (dir, bytes) = (tempfile::tempdir().expect("a folder"), beginning_at(4));
        // Bit after bit is another one: some of these files make the reader panic.
        let mut panicked = 0;
        for (at, bit) in (4..bytes.len()).flat_map(|at| [1, 4].map(|bit| (at, bit))) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let (_, damaged) = read(dir.path(), &changed);
            panicked += usize::from(damaged.iter().any(|why| why.contains(NOT_AS_WRITTEN)));
        }
        assert!(panicked > 0, "no file of these made it panic");
    }

    #[test]
    fn a_page_that_asks_for_gigabytes_is_damage() {
        // The column's only page that matters is the first: type (2 bytes), then 0x15 and what it unfolds to, one byte.
        let lying = changed(|bytes, first| {
            let old = first.build().expect("a column");
            let start = old.dictionary_page_offset().expect("a dictionary");
            let length = old.compressed_size();
            let chunk = bytes[start as usize..(start + length) as usize].to_vec();
            assert_eq!((chunk[0], chunk[2], chunk[3] & 0x80), (0x15, 0x15, 0));
            let at = bytes.len() as i64;
            bytes.extend(&chunk[..3]);
            bytes.extend([0x80, 0xd0, 0xac, 0xf3, 0x0e]); // 2,000,000,000
            bytes.extend(&chunk[4..]);
            let data = old.data_page_offset() - start + at + 4;
            let moved = old.into_builder().set_dictionary_page_offset(Some(at)).set_data_page_offset(data);
            moved.set_total_compressed_size(length + 4)
        });
        let dir = tempfile::tempdir().expect("a folder");
        let (rows, damaged) = read(dir.path(), &lying);
        assert_eq!(rows, 0);
        assert!(damaged.len() == 1 && damaged[0].contains("too much for its size"), "{damaged:?}");
    }

    #[test]
    fn columns_that_share_their_pages_are_damage() {
        // Else a small file could have the same pages read as often as it likes.
        let shared = changed(|bytes, first| {
            let size = 4 * bytes.len() as i64; // another end of the file follows
            first.build().expect("a column").into_builder().set_total_compressed_size(size)
        });
        let dir = tempfile::tempdir().expect("a folder");
        let (rows, damaged) = read(dir.path(), &shared);
        assert_eq!(rows, 0);
        assert!(damaged.len() == 1 && damaged[0].contains("share their pages"), "{damaged:?}");
    }

    #[test]
    fn a_column_that_begins_before_the_file_is_damage() {
        let dir = tempfile::tempdir().expect("a folder");
        let (rows, damaged) = read(dir.path(), &beginning_at(4));
        assert_eq!((rows, damaged), (1, Vec::new()), "the first page stands behind the magic number");
        let (rows, damaged) = read(dir.path(), &beginning_at(-4));
        assert_eq!(rows, 0);
        assert!(damaged.len() == 1 && damaged[0].contains("negative place"), "{damaged:?}");
    }
}
