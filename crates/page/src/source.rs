//! The text of source files. Which file a frame comes from is the recorded program's word, and often that of who sent the
//! recording: `#line 1 "/etc/shadow"` is C. So a file is taken only from folders that the program's user works in or names
//! (`folders`), only with the caller's rights, and only if it is text (`file`). What is excluded is reported, with the reason.

mod file;
mod folders;

use folders::Folders;
use serde::Serialize;
use slowpath_files::Caller;
use slowpath_recording::Recording;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// No more is put in once there is so much, bytes.
const MOST: usize = 16 << 20;

/// Where source files may be taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// The folder in which the program was run and that of the program itself, where they are such as projects have; and these.
    Folders(Vec<PathBuf>),
    /// Every file that the recording names and the caller may read.
    All,
}

/// A source file.
#[derive(Debug, PartialEq, Serialize)]
pub struct Source {
    /// Its path in the debug information.
    pub path: String,
    /// Its text.
    pub text: String,
    /// It was changed after the program was built, so lines may have moved.
    pub newer: bool,
}

/// Why a file is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It is in none of the folders, whether it is there or not.
    Outside,
    /// Its name, or a folder's on the way to it, begins with a dot.
    Hidden,
    /// It is not there.
    Missing,
    /// The caller may not read it, or it could not be read.
    Unreadable,
    /// It is a folder, a pipe, a device, a file of the kernel's.
    NoFile,
    /// It is larger than 1 MiB.
    Large,
    /// It is not text.
    NoText,
    /// There is enough in the page already.
    Full,
}

impl Why {
    /// In words that stand behind "left out:".
    pub fn words(self) -> &'static str {
        match self {
            Why::Outside => "not in a folder that sources are read from",
            Why::Hidden => "hidden, or in a hidden folder",
            Why::Missing => "not found",
            Why::Unreadable => "not readable for you",
            Why::NoFile => "not a regular file",
            Why::Large => "larger than 1 MiB",
            Why::NoText => "not text",
            Why::Full => "the page already contains 16 MiB of source",
        }
    }
}

/// The source files of a recording.
#[derive(Debug, Default, PartialEq)]
pub struct Sources {
    /// Those that are in it.
    pub files: Vec<Source>,
    /// Those that are not, by path.
    pub left_out: Vec<(String, Why)>,
    /// The folders that they were taken from; none where it was everywhere.
    pub folders: Vec<PathBuf>,
    /// A sentence for each of the program's own folders that nothing is taken from, with why.
    pub refused: Vec<String>,
}

/// Why no sources could be looked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder that the user named.
    #[error("cannot take sources from {}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The kernel does not let us act as the caller.
    #[error("cannot act as the user who called sudo, so no source is read: {0}")]
    Rights(std::io::Error),
}

impl Sources {
    /// The files that were left out, by why.
    pub fn left_out_by_reason(&self) -> BTreeMap<Why, Vec<&str>> {
        let mut reasons: BTreeMap<Why, Vec<&str>> = BTreeMap::new();
        for (path, why) in &self.left_out {
            reasons.entry(*why).or_default().push(path);
        }
        reasons
    }

    /// Reads the files that frames of the recording name, with the caller's rights.
    ///
    /// # Errors
    ///
    /// See [`Error`]. A file that cannot be read is none: it is left out.
    pub fn read(recording: &Recording, reach: &Reach, caller: &Caller) -> Result<Sources, Error> {
        let _acting = caller.act().map_err(Error::Rights)?;
        let folders = match reach {
            Reach::Folders(named) => Folders::of(&recording.about, named, caller)?,
            Reach::All => Folders::everywhere(),
        };
        let mut sources = Sources::default();
        let mut sum = 0;
        for (path, built_ns) in named(recording) {
            let full = Path::new(&recording.about.directory).join(path);
            match file::read(&full, &folders) {
                Ok((text, _)) if sum + text.len() > MOST => {
                    sources.left_out.push((path.to_owned(), Why::Full));
                }
                Ok((text, mtime_ns)) => {
                    sum += text.len();
                    let newer = built_ns > 0 && mtime_ns > built_ns;
                    sources.files.push(Source { path: path.to_owned(), text, newer });
                }
                Err(why) => sources.left_out.push((path.to_owned(), why)),
            }
        }
        (sources.folders, sources.refused) = folders.told();
        Ok(sources)
    }
}

/// The files that frames name, each with when the last of the modules that were built from it was built, ns since 1970.
fn named(recording: &Recording) -> BTreeMap<&str, u64> {
    let tables = &recording.tables;
    let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
    for frame in &tables.frames {
        let Some(path) = frame.file.as_deref().filter(|path| !path.is_empty()) else { continue };
        let module = tables.functions[frame.function as usize].module;
        let built = module.map_or(0, |module| tables.modules[module as usize].mtime_ns);
        let last = paths.entry(path).or_default();
        *last = built.max(*last);
    }
    paths
}

#[cfg(test)]
mod tests;
