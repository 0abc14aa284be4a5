//! How valgrind is asked for profiles, and where these are then found. Starts nothing itself.

use super::{Error, Profile, read};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What our files are called: then the process, and the dump where there are several.
const PREFIX: &str = "callgrind.out.";
/// Where valgrind writes what it has to say itself.
const LOG: &str = "valgrind.log.";
/// The largest profile that is read, bytes. That of GCC's C++ compiler has 2 MB, by instruction 20 MB.
const LARGEST: u64 = 256 << 20;
/// So much of a log is read, bytes.
const LOG_READ: u64 = 4 << 10;

/// Valgrind cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "valgrind is not installed, and --exact needs it: install it (on Debian and Ubuntu: apt-get install valgrind), \
     or run without --exact"
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

/// The process and the number of the dump in a file's name; no number for the last one.
pub fn numbers(file: &Path) -> Option<(u32, Option<u32>)> {
    let name = file.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    match name.split_once('.') {
        Some((pid, number)) => Some((pid.parse().ok()?, Some(number.parse().ok()?))),
        None => Some((name.parse().ok()?, None)),
    }
}

/// Reads one file. None if it is empty: the process executed another program, or was killed, before it had anything to dump.
pub fn profile(file: &Path) -> Result<Option<Profile>, Error> {
    let name = file.display().to_string();
    let failed = |why| Error { file: name.clone(), line: 0, why };
    let bytes = start_of(file, LARGEST + 1).map_err(|error| failed(format!("it cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(failed(format!("it is larger than {} MB", LARGEST >> 20)));
    }
    // Names of files and functions may be in any encoding.
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() { Ok(None) } else { read(&text, &name).map(Some) }
}

/// The first bytes of a regular file, at most so many. The program that runs under valgrind can put anything into the folder:
/// what else is there is not waited for.
fn start_of(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let regular = |is: bool| if is { Ok(()) } else { Err(std::io::Error::other("it is not a regular file")) };
    regular(std::fs::metadata(path)?.is_file())?;
    let file: File = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    regular(file.metadata()?.is_file())?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What valgrind itself said: the first lines of its logs.
pub fn complaints(folder: &Path) -> Option<String> {
    let mut said = Vec::new();
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(LOG) {
            let text = start_of(&entry.path(), LOG_READ).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            said.extend(text.lines().map(|line| line.trim_start_matches(['=', ' ']).to_owned()).take(3));
        }
    }
    let said = said.join("; ");
    let said: String = said.chars().filter(|c| !c.is_control()).take(300).collect();
    (!said.is_empty()).then_some(said)
}
