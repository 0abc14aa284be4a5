//! Writes a recording as it grows: rows are buffered and closed into segments of about a second, so that whatever
//! happens to the writer, what was written before still opens.
//!
//! Encoding and waiting for the disk are a thread's, for whoever pushes rows has a program to follow. Everything is written from
//! the recording's own descriptor and with the caller's rights: see `slowpath-files`.

use crate::about::State;
use crate::tables::*;
use crate::{About, Error, segment};
use slowpath_files::{Caller, Folder};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Its name, and that of what replaces it.
pub(crate) const ABOUT: &str = "about.json";
pub(crate) const ABOUT_TEMPORARY: &str = "about.json.tmp";
/// Holds room for the last words, so that a disk that is full by then takes them.
pub(crate) const RESERVE: &str = "reserve";
const RESERVE_BYTES: usize = 16 << 10;
/// So many closed batches of rows may wait for the disk. When there are more, rows are joined with the next ones.
const WAITING: usize = 2;

/// A recording that is being written.
///
/// Push rows to the tables at any time and call [`Writer::flush`] about once a second: it closes one segment a
/// table, those that others point to first.
pub struct Writer {
    folder: Arc<Folder>,
    caller: Caller,
    scribe: Scribe,
    /// Rows to come, by table.
    pub tables: Tables,
}

/// Who writes segments.
enum Scribe {
    /// Nobody yet: until there is something to be written the program that is to run may need the thread more.
    Idle(Segments),
    /// A thread of its own; it ends with the first error.
    Thread(SyncSender<Tables>, JoinHandle<Result<(), Error>>),
    /// We ourselves, where no thread could be had.
    Here(Segments),
    /// It has ended, by an error that was reported.
    Gone,
}

/// The next segments.
struct Segments {
    folder: Arc<Folder>,
    number: u32,
    tables: HashMap<&'static str, Folder>,
}

impl Segments {
    fn write(&mut self, tables: &mut Tables) -> Result<(), Error> {
        self.number += 1;
        // Most processes of a build or a script start and end within a second: one row is enough.
        keep_last(&mut tables.processes, |row| row.process);
        keep_last(&mut tables.threads, |row| row.thread);
        keep_last(&mut tables.files, |row| row.file);
        tables.write(self)
    }

    fn table<R: Row>(&mut self, rows: &[R]) -> Result<(), Error> {
        let folder = match self.tables.entry(R::TABLE) {
            std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::hash_map::Entry::Vacant(none) => {
                let path = self.folder.path().join(R::TABLE);
                let made = match self.folder.create_folder(R::TABLE) {
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                        self.folder.folder(R::TABLE)
                    }
                    made => made,
                };
                none.insert(made.map_err(|error| Error::io("create", &path, error))?)
            }
        };
        segment::write(folder, self.number, rows)
    }
}

/// Of several rows with one number the last is valid: keeps only that.
fn keep_last<R>(rows: &mut Vec<R>, number: impl Fn(&R) -> u32) {
    let mut known = HashSet::new();
    rows.reverse();
    rows.retain(|row| known.insert(number(row)));
    rows.reverse();
}

macro_rules! tables {
    ($($(#[$meta:meta])* $field:ident: $row:ty,)*) => {
        /// Every table's rows.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Tables { $($(#[$meta])* pub $field: Vec<$row>,)* }

        impl Tables {
            fn write(&mut self, to: &mut Segments) -> Result<(), Error> {
                $(if !self.$field.is_empty() {
                    to.table(&self.$field)?;
                    self.$field.clear();
                })*
                Ok(())
            }

            pub(crate) fn read(root: &Folder, budget: &mut u64, damaged: &mut Vec<String>) -> Tables {
                Tables { $($field: segment::read_all(root, budget, damaged),)* }
            }

            /// The names of all tables, which are their folders'.
            pub(crate) const NAMES: &[&str] = &[$(<$row as Row>::TABLE,)*];

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
    /// See [`Built`].
    builds: Built,
    /// See [`Stack`].
    stacks: Stack,
    /// See [`Probe`].
    probes: Probe,
    /// See [`Loop`].
    loops: Loop,
    /// See [`Body`].
    bodies: Body,
    /// See [`Walk`].
    walks: Walk,
    /// See [`WalkBurst`].
    walk_bursts: WalkBurst,
    /// See [`Beginning`].
    beginnings: Beginning,
    /// See [`Stretch`].
    stretches: Stretch,
    /// See [`Repeat`].
    repeats: Repeat,
    /// See [`Formatted`].
    formatted: Formatted,
    /// See [`Copied`].
    copied: Copied,
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
    /// See [`Park`].
    parks: Park,
    /// See [`ParkWindow`].
    park_windows: ParkWindow,
    /// See [`Slice`].
    slices: Slice,
    /// See [`SliceCall`].
    slice_calls: SliceCall,
}

impl Writer {
    /// Starts a recording in an empty folder (see [`crate::folder::create`]) and writes its `about.json`.
    ///
    /// # Errors
    ///
    /// If not even that can be written: then nothing of the recording is left in the folder.
    pub fn create(folder: Arc<Folder>, about: &About, caller: &Caller) -> Result<Writer, Error> {
        let _acting = acting(caller, folder.path())?;
        let begun = reserve(&folder).and_then(|()| write_about(&folder, about));
        if let Err(error) = begun {
            for name in [RESERVE, ABOUT_TEMPORARY, ABOUT] {
                let _ = folder.remove_file(name); // what is not there need not go
            }
            return Err(error);
        }
        Ok(Writer::new(folder, caller, 0))
    }

    /// Goes on with a recording that exists, such as to add its symbols.
    ///
    /// # Errors
    ///
    /// If it cannot be read or the caller may not write to it.
    pub fn append(folder: Arc<Folder>, caller: &Caller) -> Result<Writer, Error> {
        let _acting = acting(caller, folder.path())?;
        let mut last = 0;
        for table in Tables::NAMES {
            let Ok(table) = folder.folder(table) else { continue };
            let entries = table.entries().map_err(|error| Error::io("read", table.path(), error))?;
            last = entries.iter().filter_map(|entry| segment::number(&entry.name)).fold(last, u32::max);
        }
        Ok(Writer::new(folder, caller, last))
    }

    fn new(folder: Arc<Folder>, caller: &Caller, number: u32) -> Writer {
        let segments = Segments { folder: folder.clone(), number, tables: HashMap::new() };
        Writer { folder, caller: caller.clone(), scribe: Scribe::Idle(segments), tables: Tables::default() }
    }

    /// Has the segments written by a thread from now on, where one can be had.
    fn begin(&mut self) {
        let Scribe::Idle(Segments { number, .. }) = self.scribe else { return };
        let segments = || Segments { folder: self.folder.clone(), number, tables: HashMap::new() };
        let (send, receive) = sync_channel::<Tables>(WAITING);
        let (mut to, of) = (segments(), self.caller.clone());
        let thread = std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
            let _acting = acting(&of, to.folder.path())?;
            receive.iter().try_for_each(|mut tables| to.write(&mut tables))
        });
        self.scribe = match thread {
            Ok(thread) => Scribe::Thread(send, thread),
            Err(_) => Scribe::Here(segments()),
        };
    }

    /// The recording's folder.
    pub fn folder(&self) -> &Arc<Folder> {
        &self.folder
    }

    /// Closes what was pushed so far into segments, as soon as the disk takes them.
    ///
    /// After an error (a full disk) the writer writes no more, so that no later segment points to one that is
    /// missing; further calls drop their rows and succeed, and [`Writer::finish`] marks the recording cut short.
    ///
    /// # Errors
    ///
    /// The first error of writing, once; it may be one of an earlier call.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.tables.rows() == 0 {
            return Ok(());
        }
        self.begin();
        match &mut self.scribe {
            Scribe::Thread(send, _) => {
                let rows = std::mem::take(&mut self.tables);
                match send.try_send(rows) {
                    Ok(()) => Ok(()),
                    // The disk is behind: they go with the next ones.
                    Err(TrySendError::Full(rows)) => {
                        self.tables = rows;
                        Ok(())
                    }
                    Err(TrySendError::Disconnected(_)) => self.ended(),
                }
            }
            Scribe::Here(to) => {
                let acting = acting(&self.caller, to.folder.path());
                let written = acting.and_then(|_acting| to.write(&mut self.tables));
                if written.is_err() {
                    self.scribe = Scribe::Gone;
                    self.tables = Tables::default();
                }
                written
            }
            Scribe::Idle(_) | Scribe::Gone => {
                self.tables = Tables::default();
                Ok(())
            }
        }
    }

    /// Waits for the thread's end.
    fn ended(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.scribe, Scribe::Gone) {
            Scribe::Thread(send, thread) => {
                drop(send);
                thread.join().unwrap_or_else(|_| {
                    let bug = std::io::Error::other("the writer ended because of a bug in slowpath");
                    Err(Error::io("write", self.folder.path(), bug))
                })
            }
            Scribe::Idle(_) | Scribe::Here(_) | Scribe::Gone => Ok(()),
        }
    }

    /// Writes the last rows and the final `about.json`.
    ///
    /// # Errors
    ///
    /// The first error that no call has reported yet.
    pub fn finish(mut self, mut about: About) -> Result<(), Error> {
        let failed = matches!(self.scribe, Scribe::Gone);
        self.begin();
        if let Scribe::Thread(send, _) = &self.scribe {
            let _ = send.send(std::mem::take(&mut self.tables)); // a thread that ended says why below
        }
        let flushed = self.flush().and(self.ended());
        if failed || flushed.is_err() {
            about.state = State::CutShort;
        }
        let _acting = acting(&self.caller, self.folder.path())?;
        let _ = self.folder.remove_file(RESERVE); // where it is not, there is no room to be had
        let written = write_about(&self.folder, &about);
        let _ = self.folder.sync(); // what it lacks on the disk is lost only if the machine itself stops now
        flushed.and(written)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.ended(); // what was flushed is on the disk when the writer is gone
    }
}

fn acting(caller: &Caller, path: &Path) -> Result<slowpath_files::Acting, Error> {
    caller.act().map_err(|error| Error::io("act as the caller to write", path, error))
}

fn reserve(folder: &Folder) -> Result<(), Error> {
    let failed = |error| Error::io("write", &folder.path().join(RESERVE), error);
    let mut file = folder.create_file(RESERVE).map_err(failed)?;
    match file.write_all(&vec![0; RESERVE_BYTES]) {
        // A limit on the size of files is none on the room for others.
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Ok(()),
        written => written.map_err(failed),
    }
}

fn write_about(folder: &Folder, about: &About) -> Result<(), Error> {
    let path = folder.path().join(ABOUT);
    let failed = |error| Error::io("write", &path, error);
    let mut text = serde_json::to_vec_pretty(about).map_err(|error| failed(std::io::Error::other(error)))?;
    text.push(b'\n');
    let _ = folder.remove_file(ABOUT_TEMPORARY); // a remainder of a writer that was killed
    let mut file = folder.create_file(ABOUT_TEMPORARY).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed)?;
    folder.rename(ABOUT_TEMPORARY, ABOUT).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::keep_last;

    #[test]
    fn of_rows_with_one_number_a_segment_holds_the_last_in_their_order() {
        let mut rows =
            vec![(0, "started"), (1, "started"), (0, "ended"), (2, "started"), (1, "executed"), (1, "ended")];
        keep_last(&mut rows, |row| row.0);
        assert_eq!(rows, [(0, "ended"), (2, "started"), (1, "ended")]);
    }
}
