//! How valgrind is asked for profiles, and where these are then found. Starts nothing itself.

use super::{Error, Profile, read};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What our files are called: then the process, and the dump where there are several.
const PREFIX: &str = "callgrind.out.";
/// Where valgrind writes what it has to say itself.
const LOG: &str = "valgrind.log.";

/// Valgrind cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "valgrind is not here, and exact counts need it: install it (on Debian and Ubuntu: apt-get install valgrind), or leave --exact out"
)]
pub struct Missing;

/// The words to put before a command's own, so that callgrind counts it and all its descendants into files in `folder`.
/// `options` are further options of callgrind.
pub fn words(folder: &Path, options: &[&str]) -> Result<Vec<OsString>, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let valgrind =
        std::env::split_paths(&path).map(|folder| folder.join("valgrind")).find(|path| path.is_file());
    let mut words = vec![valgrind.ok_or(Missing)?.into_os_string()];
    // No debugger will ask; for one valgrind makes files in the temporary folder that stay if it is killed.
    words.extend(["-q", "--vgdb=no", "--tool=callgrind", "--trace-children=yes"].map(OsString::from));
    words.extend([mark(folder), named(folder, "log-file", LOG)]);
    words.extend(options.iter().map(OsString::from));
    words.push("--".into());
    Ok(words)
}

/// The one of these words that all processes have among their arguments whose files go into `folder`, and no others.
pub fn mark(folder: &Path) -> OsString {
    named(folder, "callgrind-out-file", PREFIX)
}

fn named(folder: &Path, option: &str, prefix: &str) -> OsString {
    // A percent sign has a meaning in these options.
    let folder = folder.to_string_lossy().replace('%', "%%");
    OsString::from(format!("--{option}={folder}/{prefix}%p"))
}

/// The files with profiles in a folder, in order of name.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The process and the number of the dump that a file's name tells; no number for the last one.
pub fn numbers(file: &Path) -> Option<(u32, Option<u32>)> {
    let name = file.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    match name.split_once('.') {
        Some((pid, number)) => Some((pid.parse().ok()?, Some(number.parse().ok()?))),
        None => Some((name.parse().ok()?, None)),
    }
}

/// Reads one file. None if it is empty: the process executed another program, or was killed, before it had anything to tell.
pub fn profile(file: &Path) -> Result<Option<Profile>, Error> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|error| Error {
        file: name.clone(),
        line: 0,
        why: format!("it cannot be read: {error}"),
    })?;
    // Names of files and functions may be in any encoding.
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() { Ok(None) } else { read(&text, &name).map(Some) }
}

/// What valgrind itself said: the first lines of its logs.
pub fn complaints(folder: &Path) -> Option<String> {
    let mut said = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(LOG) {
            let text = std::fs::read(entry.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            said.extend(text.lines().map(|line| line.trim_start_matches(['=', ' ']).to_owned()).take(3));
        }
    }
    let said = said.join("; ");
    let said: String = said.chars().filter(|c| !c.is_control()).take(300).collect();
    (!said.is_empty()).then_some(said)
}
