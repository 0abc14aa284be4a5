//! Reads a recording back, whole or cut short. What makes it safe to walk is in `whole`.

use crate::about::{MAJOR, State};
use crate::tables::*;
use crate::writer::Tables;
use crate::{About, Error, whole};
use std::fs;
use std::path::{Path, PathBuf};

/// A recording in memory.
///
/// Tables whose rows carry a number of their own (`processes`, `threads`, `modules`, `locations`, `stacks`,
/// `functions`, `probes`, `loops`, `files`) are indexed by it: `stacks[i].stack == i`. Every number in any table that refers to a
/// row refers to one that is there, moments are in order, and amounts can be added up over all rows of a table: whoever reads
/// it need not check. What was not so, as in a recording that was cut short, was dropped or mended and counted in `dangling`.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Its folder.
    pub path: PathBuf,
    /// Its `about.json`.
    pub about: About,
    /// Its tables. `stacks` parents are always smaller than their children.
    pub tables: Tables,
    /// Segments that could not be read, and why.
    pub damaged: Vec<String>,
    /// Rows that were dropped, or lost a part, because what they point to is missing or what they say cannot be.
    pub dangling: u64,
}

/// Reads `about.json` alone.
pub(crate) fn about(path: &Path) -> Result<About, Error> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        format: crate::about::Format,
    }
    let file = path.join("about.json");
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
                && path.exists() =>
        {
            return Err(Error::foreign(path, "it has no about.json"));
        }
        Err(error) => return Err(Error::io("open", &file, error)),
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
        let about = about(path)?;
        let mut damaged = Vec::new();
        let tables = Tables::read(path, &mut damaged);
        Ok(Recording::from_tables(path.to_owned(), about, tables, damaged))
    }

    /// A recording from tables in memory, made whole; used by [`Recording::open`] and by tests.
    pub fn from_tables(
        path: PathBuf,
        mut about: About,
        mut tables: Tables,
        damaged: Vec<String>,
    ) -> Recording {
        let dangling = whole::make_whole(&mut about, &mut tables);
        Recording { path, about, tables, damaged, dangling }
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
