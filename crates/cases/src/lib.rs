//! The gallery under `cases/`: builds each case, runs slowpath on its slow and its fixed program, and says whether the
//! cause was found in the one and nothing in the other.
//!
//! A case is a folder with a `case.toml` ([`Case`]). Its programs are recorded by running slowpath itself, as a user would.

mod run;

use serde::Deserialize;
use std::path::{Path, PathBuf};

pub use run::run;

/// `case.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Short name, as its folder's.
    pub name: String,
    /// What was slow, in a line.
    pub title: String,
    /// The story, in a sentence.
    #[serde(default)]
    pub story: String,
    /// The cause that slowpath must find in the slow program.
    pub cause: String,
    /// Debian packages that it needs.
    #[serde(default)]
    pub packages: Vec<String>,
    /// The command that builds both programs, run in the case's folder.
    pub build: Vec<String>,
    /// Arguments of both programs; `{case}` stands for the case's folder.
    #[serde(default)]
    pub args: Vec<String>,
    /// The slow program, from the case's folder.
    pub slow: PathBuf,
    /// The fixed program, likewise.
    pub fixed: PathBuf,
    /// For a cause that only several sizes show: both programs are scaled and not recorded.
    pub scale: Option<Scale>,
    /// What a report must say.
    pub expect: Expect,
    /// The case's folder.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// How a case is run at several sizes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Arguments; `{n}` stands for the size.
    pub args: Vec<String>,
    /// Sizes, bytes.
    pub sizes: Vec<u32>,
    /// Calls that each run makes.
    pub calls: u32,
    /// The size in use, bytes.
    pub used: u32,
    /// The machine's limit that calls are held against.
    pub limit: String,
}

/// What a report of the slow program must say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The guilty function.
    pub function: String,
    /// Others that are as right, where several share the time.
    #[serde(default)]
    pub or_functions: Vec<String>,
    /// What the explanation must mention, such as the function that is called ever more often, or the file that is read.
    #[serde(default)]
    pub says: Vec<String>,
    /// Both programs print the same.
    #[serde(default)]
    pub same_output: bool,
}

/// What can go wrong with the gallery.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or program.
    #[error("cannot {what} {path}: {source}", path = .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A `case.toml` that is not one.
    #[error("{path}: {source}", path = .path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// The parser's answer.
        source: toml::de::Error,
    },
    /// A case that is not there.
    #[error("there is no case {name} in {gallery}: `slowpath cases list` lists them", gallery = .gallery.display())]
    Unknown {
        /// As asked for.
        name: String,
        /// Where.
        gallery: PathBuf,
    },
    /// A case that does not build.
    #[error("case {name} could not be built: {why}{packages}")]
    Build {
        /// Its name.
        name: String,
        /// What the build said last.
        why: String,
        /// The packages it needs, as a sentence; empty if none.
        packages: String,
    },
    /// A program or recording that failed.
    #[error("case {name}: {why}")]
    Run {
        /// Its name.
        name: String,
        /// What failed.
        why: String,
    },
}

/// Every case of the gallery, by name.
pub fn all(gallery: &Path) -> Result<Vec<Case>, Error> {
    let io = |what, path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { what, path, source }
    };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(gallery).map_err(io("read", gallery))? {
        let folder = entry.map_err(io("read", gallery))?.path();
        let path = folder.join("case.toml");
        if !path.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
        let mut case: Case = toml::from_str(&text).map_err(|source| Error::Toml { path, source })?;
        case.folder = folder;
        cases.push(case);
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}
