//! The text of source files, put into the page only on request, where it can be read on this machine.

use serde::Serialize;
use slowpath_recording::Recording;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A larger file is left out, bytes.
const LARGEST: u64 = 1 << 20;
/// No more is put in once there is so much, bytes.
const MOST: usize = 16 << 20;

/// A source file.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Source {
    /// Its path as debug information has it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// It was changed after the program was built, so lines may have moved.
    pub newer: bool,
}

/// The files that frames of the recording name, as far as they can be read.
pub(crate) fn read(recording: &Recording) -> Vec<Source> {
    let tables = &recording.tables;
    // Each with when the last of the files that were built from it was built.
    let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
    for frame in &tables.frames {
        let Some(path) = frame.file.as_deref().filter(|path| !path.is_empty()) else { continue };
        let module = tables.functions[frame.function as usize].module;
        let built = module.map_or(0, |module| tables.modules[module as usize].mtime_ns);
        let last = paths.entry(path).or_default();
        *last = built.max(*last);
    }
    let mut sum = 0;
    let mut sources = Vec::new();
    for (path, built_ns) in paths {
        let Some((text, mtime_ns)) = text(recording, path) else { continue };
        if sum + text.len() > MOST {
            break;
        }
        sum += text.len();
        sources.push(Source { path: path.to_owned(), text, newer: built_ns > 0 && mtime_ns > built_ns });
    }
    sources
}

fn text(recording: &Recording, path: &str) -> Option<(String, u64)> {
    let full: PathBuf = Path::new(&recording.about.directory).join(path);
    let meta = std::fs::metadata(&full).ok()?;
    if !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    let mtime = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let text = String::from_utf8_lossy(&std::fs::read(&full).ok()?).into_owned();
    Some((text, u64::try_from(mtime.as_nanos()).ok()?))
}
