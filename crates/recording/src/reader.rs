//! Reads a recording back, whole or cut short, and makes it safe to walk: every number in it points to a row.

use crate::about::{MAJOR, State};
use crate::tables::*;
use crate::writer::{ABOUT, Tables};
use crate::{About, Error, segment};
use slowpath_files::Folder;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording in memory.
///
/// Tables whose rows carry a number of their own (`processes`, `threads`, `modules`, `locations`, `stacks`,
/// `functions`, `probes`) are indexed by it: `stacks[i].stack == i`. Rows that point to something missing, which
/// a recording that was cut short can have, were dropped and counted in `dangling`.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Where it was.
    pub path: PathBuf,
    /// Its folder; none of one that was made in memory.
    pub folder: Option<Arc<Folder>>,
    /// Its `about.json`.
    pub about: About,
    /// Its tables. `stacks` parents are always smaller than their children.
    pub tables: Tables,
    /// Segments that could not be read, and why.
    pub damaged: Vec<String>,
    /// Rows dropped because what they point to is missing.
    pub dangling: u64,
}

/// `about.json` may have so many bytes.
const ABOUT_BYTES: u64 = 16 << 20;

/// Reads `about.json` alone.
pub(crate) fn about(folder: &Folder) -> Result<About, Error> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        format: crate::about::Format,
    }
    let path = folder.path();
    let text = match folder.read(ABOUT, ABOUT_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::foreign(path, "it has no about.json"));
        }
        Err(error) => return Err(Error::io("open", &path.join(ABOUT), error)),
    };
    let versioned: Versioned = serde_json::from_slice(&text)
        .map_err(|error| Error::foreign(path, format!("about.json does not say its format: {error}")))?;
    if versioned.format.major != MAJOR {
        return Err(Error::Version { path: path.to_owned(), found: versioned.format.major, known: MAJOR });
    }
    serde_json::from_slice(&text).map_err(|error| Error::foreign(path, format!("about.json: {error}")))
}

impl Recording {
    /// Opens the recording in the folder `path`.
    ///
    /// Fails if it is no recording or has an unknown format; a recording that was cut short, or has damaged segments,
    /// opens and says so.
    pub fn open(path: &Path) -> Result<Recording, Error> {
        let folder = Folder::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotADirectory => Error::foreign(path, "it is no folder"),
            _ => Error::io("open", path, error),
        })?;
        Recording::of(Arc::new(folder))
    }

    /// Reads the recording in an open folder. As [`Recording::open`].
    ///
    /// # Errors
    ///
    /// See there.
    pub fn of(folder: Arc<Folder>) -> Result<Recording, Error> {
        let about = about(&folder)?;
        let (mut damaged, mut budget) = (Vec::new(), segment::WHOLE);
        let tables = Tables::read(&folder, &mut budget, &mut damaged);
        let mut recording = Recording::from_tables(folder.path().to_owned(), about, tables, damaged);
        recording.folder = Some(folder);
        Ok(recording)
    }

    /// A recording from tables in memory; used by [`Recording::open`] and by tests.
    pub fn from_tables(path: PathBuf, about: About, mut tables: Tables, damaged: Vec<String>) -> Recording {
        let before = tables.rows();
        let replaced = last_of_each(&mut tables.processes, |row| row.process)
            + last_of_each(&mut tables.threads, |row| row.thread)
            + last_of_each(&mut tables.files, |row| row.file);
        last_of_each(&mut tables.modules, |row| row.module);
        last_of_each(&mut tables.locations, |row| row.location);
        last_of_each(&mut tables.functions, |row| row.function);
        last_of_each(&mut tables.probes, |row| row.probe);
        last_of_each(&mut tables.loops, |row| row.loop_number);
        tables.stacks.sort_by_key(|row| row.stack);
        let mut stacks: u32 = 0;
        let locations = tables.locations.len() as u32;
        tables.stacks.retain(|row| {
            let whole = row.stack == stacks
                && row.location < locations
                && row.parent.is_none_or(|parent| parent < row.stack);
            stacks += u32::from(whole);
            whole
        });
        let modules = tables.modules.len() as u32;
        let processes = tables.processes.len() as u32;
        let functions = tables.functions.len() as u32;
        for location in &mut tables.locations {
            location.module = location.module.filter(|module| *module < modules);
        }
        for process in &mut tables.processes {
            process.parent = process.parent.filter(|parent| *parent < process.process);
        }
        truncate_at(&mut tables.threads, |row| row.process < processes);
        truncate_at(&mut tables.probes, |row| row.process < processes && row.location < locations);
        let (threads, probes) = (tables.threads.len() as u32, tables.probes.len() as u32);
        tables.mappings.retain(|row| row.process < processes && row.module < modules);
        tables.frames.retain(|row| row.location < locations && row.function < functions);
        tables.frames.sort_by_key(|row| (row.location, row.depth));
        tables.samples.retain(|row| row.thread < threads && row.stack.is_none_or(|stack| stack < stacks));
        let own =
            |row: &Loop| row.location < locations && row.parent.is_none_or(|parent| parent < row.loop_number);
        truncate_at(&mut tables.loops, own);
        tables.windows.retain(|row| row.probe < probes);
        tables.calls.retain(|row| {
            row.probe < probes
                && row.thread.is_none_or(|thread| thread < threads)
                && row.under.is_none_or(|under| under < probes)
        });
        let files = tables.files.len() as u32;
        let no_stack = |stack: Option<u32>| stack.filter(|stack| *stack < stacks);
        tables.syscalls.retain(|row| row.thread < threads && row.file.is_none_or(|file| file < files));
        tables.waits.retain(|row| row.thread < threads && row.file.is_none_or(|file| file < files));
        for row in &mut tables.syscalls {
            row.stack = no_stack(row.stack);
        }
        for row in &mut tables.waits {
            (row.stack, row.waker_stack) = (no_stack(row.stack), no_stack(row.waker_stack));
            row.waker = row.waker.filter(|waker| *waker < threads);
        }
        tables.slices.retain(|row| row.process < processes && row.function < functions);
        tables
            .slice_calls
            .retain(|row| row.process < processes && row.caller < functions && row.callee < functions);
        tables.slices.sort_by_key(|row| (row.process, row.slice));
        tables.slice_calls.sort_by_key(|row| (row.process, row.slice));
        tables.syscalls.sort_by_key(|row| row.time_ns);
        tables.waits.sort_by_key(|row| row.time_ns);
        tables.samples.sort_by_key(|row| row.time_ns);
        tables.calls.sort_by_key(|row| row.time_ns);
        let dangling = (before - replaced - tables.rows()) as u64;
        Recording { path, folder: None, about, tables, damaged, dangling }
    }

    /// Whether the recording ends before the program did, or lacks something that was written to it.
    pub fn cut_short(&self) -> bool {
        self.about.state != State::Complete || !self.damaged.is_empty() || self.dangling > 0
    }

    /// The frames of a location, innermost first.
    pub fn frames_of(&self, location: u32) -> &[Frame] {
        let frames = &self.tables.frames;
        let start = frames.partition_point(|row| row.location < location);
        let end = frames.partition_point(|row| row.location <= location);
        &frames[start..end]
    }

    /// What a sample stands for, ns, after its process's scale.
    pub fn weight_ns(&self, sample: &Sample) -> f64 {
        let process = self.tables.threads[sample.thread as usize].process;
        sample.weight_ns as f64 * self.tables.processes[process as usize].sample_scale
    }
}

/// Keeps the last row of each number, in order of number, up to the first number that is missing. Returns how many
/// rows were replaced by later ones.
fn last_of_each<R>(rows: &mut Vec<R>, number: impl Fn(&R) -> u32) -> usize {
    let mut last: HashMap<u32, R> = HashMap::with_capacity(rows.len());
    let mut replaced = 0;
    for row in rows.drain(..) {
        replaced += usize::from(last.insert(number(&row), row).is_some());
    }
    rows.extend((0u32..).map_while(|number| last.remove(&number)));
    replaced
}

/// Cuts an indexed table at the first row that is not whole: later numbers would not match their index.
fn truncate_at<R>(rows: &mut Vec<R>, whole: impl Fn(&R) -> bool) {
    if let Some(first) = rows.iter().position(|row| !whole(row)) {
        rows.truncate(first);
    }
}
