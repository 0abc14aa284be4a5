//! Reads a recording back, whole or cut short. What makes it safe to walk is in `whole`.

use crate::about::{MAJOR, State};
use crate::tables::*;
use crate::writer::{ABOUT, Tables};
use crate::{About, Error, segment, whole};
use slowpath_files::Folder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A recording in memory.
///
/// Tables whose rows carry a number of their own (`processes`, `threads`, `modules`, `locations`, `stacks`,
/// `functions`, `probes`, `loops`, `walks`, `files`) are indexed by it: `stacks[i].stack == i`. Every number in any table that refers to a
/// row refers to one that is there, moments are in order, and amounts can be added up over all rows of a table: whoever reads
/// it need not check. What was not so, as in a recording that was cut short, was dropped or repaired and counted in `dangling`.
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
    /// Rows that were dropped, or lost a part, because what they point to is missing or what they say cannot be.
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
        .map_err(|error| Error::foreign(path, format!("about.json does not contain its format: {error}")))?;
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
            std::io::ErrorKind::NotADirectory => Error::foreign(path, "it is not a folder"),
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

    /// A recording from tables in memory, made whole; used by [`Recording::open`] and by tests.
    pub fn from_tables(
        path: PathBuf,
        mut about: About,
        mut tables: Tables,
        damaged: Vec<String>,
    ) -> Recording {
        let dangling = whole::make_whole(&mut about, &mut tables);
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
