//! Writes a recording as it grows: rows are buffered and closed into segments of about a second, so that whatever
//! happens to the writer, what was written before still opens.

use crate::about::State;
use crate::tables::*;
use crate::{About, Error, segment};
use std::fs;
use std::path::{Path, PathBuf};

/// Whom the files belong to, where that is not the user who writes them (under sudo).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

pub(crate) fn give(path: &Path, owner: Option<Owner>) -> Result<(), Error> {
    match owner {
        Some(Owner { uid, gid }) => std::os::unix::fs::chown(path, Some(uid), Some(gid))
            .map_err(|error| Error::io("change the owner of", path, error)),
        None => Ok(()),
    }
}

/// A recording that is being written.
///
/// Push rows to the tables at any time and call [`Writer::flush`] about once a second: it closes one segment a
/// table, those that others point to first.
pub struct Writer {
    path: PathBuf,
    owner: Option<Owner>,
    segments: u32,
    failed: bool,
    /// Rows to come, by table.
    pub tables: Tables,
}

macro_rules! tables {
    ($($(#[$meta:meta])* $field:ident: $row:ty,)*) => {
        /// Every table's rows.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Tables { $($(#[$meta])* pub $field: Vec<$row>,)* }

        impl Tables {
            fn write(&mut self, root: &Path, number: u32, owner: Option<Owner>) -> Result<(), Error> {
                $(if !self.$field.is_empty() {
                    segment::write(root, number, &self.$field, owner)?;
                    self.$field.clear();
                })*
                Ok(())
            }

            pub(crate) fn read(root: &Path, damaged: &mut Vec<String>) -> Tables {
                Tables { $($field: segment::read_all(root, damaged),)* }
            }

            /// Rows in all tables together.
            pub fn rows(&self) -> usize {
                0 $(+ self.$field.len())*
            }
        }
    };
}

// The order of writing: a row's numbers are in segments closed before its own.
tables! {
    /// See [`Module`].
    modules: Module,
    /// See [`Process`].
    processes: Process,
    /// See [`Thread`].
    threads: Thread,
    /// See [`Mapping`].
    mappings: Mapping,
    /// See [`Location`].
    locations: Location,
    /// See [`Function`].
    functions: Function,
    /// See [`Frame`].
    frames: Frame,
    /// See [`Stack`].
    stacks: Stack,
    /// See [`Probe`].
    probes: Probe,
    /// See [`Loop`].
    loops: Loop,
    /// See [`Window`].
    windows: Window,
    /// See [`Call`].
    calls: Call,
    /// See [`Sample`].
    samples: Sample,
    /// See [`File`].
    files: File,
    /// See [`Syscall`].
    syscalls: Syscall,
    /// See [`Wait`].
    waits: Wait,
    /// See [`Slice`].
    slices: Slice,
    /// See [`SliceCall`].
    slice_calls: SliceCall,
}

impl Writer {
    /// Starts a recording in an empty folder (see [`crate::folder::create`]) and writes its `about.json`.
    pub fn create(path: &Path, about: &About, owner: Option<Owner>) -> Result<Writer, Error> {
        let writer =
            Writer { path: path.to_owned(), owner, segments: 0, failed: false, tables: Tables::default() };
        writer.write_about(about)?;
        Ok(writer)
    }

    /// Goes on with a recording that exists, such as to add its symbols.
    pub fn append(path: &Path, owner: Option<Owner>) -> Result<Writer, Error> {
        let mut segments = 0;
        for table in fs::read_dir(path).map_err(|error| Error::io("read", path, error))?.flatten() {
            for segment in fs::read_dir(table.path()).into_iter().flatten().flatten() {
                let name = segment.file_name();
                let number = name.to_str().and_then(|name| name.split('.').next()?.parse::<u32>().ok());
                segments = segments.max(number.unwrap_or(0));
            }
        }
        Ok(Writer { path: path.to_owned(), owner, segments, failed: false, tables: Tables::default() })
    }

    /// The recording's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes what was pushed so far into segments.
    ///
    /// After an error (a full disk) the writer writes no more, so that no later segment points to one that is
    /// missing; further calls drop their rows and succeed, and [`Writer::finish`] marks the recording cut short.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.failed {
            self.tables = Tables::default();
            return Ok(());
        }
        if self.tables.rows() == 0 {
            return Ok(());
        }
        self.segments += 1;
        let written = self.tables.write(&self.path, self.segments, self.owner);
        self.failed = written.is_err();
        written
    }

    /// Writes the last rows and the final `about.json`.
    pub fn finish(mut self, mut about: About) -> Result<(), Error> {
        let flushed = self.flush();
        if self.failed {
            about.state = State::CutShort;
        }
        self.write_about(&about)?;
        flushed
    }

    fn write_about(&self, about: &About) -> Result<(), Error> {
        let path = self.path.join("about.json");
        let temporary = self.path.join("about.json.tmp");
        let mut text = serde_json::to_vec_pretty(about)
            .map_err(|error| Error::io("encode", &path, std::io::Error::other(error)))?;
        text.push(b'\n');
        fs::write(&temporary, text).map_err(|error| Error::io("write", &temporary, error))?;
        give(&temporary, self.owner)?;
        fs::rename(&temporary, &path).map_err(|error| Error::io("rename", &temporary, error))
    }
}
