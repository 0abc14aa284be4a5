//! The folders that sources are taken from. The program's own count only if somebody works in them: not a home folder itself,
//! whose keys are a name away, no folder of the system, and none of a recording that others made.

use super::{Error, Why};
use slowpath_files::Caller;
use slowpath_recording::About;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Folders that hold everybody's: nothing is taken from all of it because a program was run there.
const SHARED: [&str; 20] = [
    "/bin",
    "/home",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/sbin",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/tmp",
];
/// Folders of which not even a part is taken but for who names one in them.
const SYSTEM: [&str; 5] = ["/boot", "/dev", "/etc", "/proc", "/sys"];
/// The kernel's, of which nothing is ever taken: to read them can do things.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// See the file's head.
pub(super) struct Folders {
    /// Resolved, and as it was named. None for everywhere.
    all: Option<Vec<(PathBuf, PathBuf)>>,
    refused: Vec<String>,
}

impl Folders {
    /// Wherever the caller may read.
    pub fn everywhere() -> Folders {
        Folders { all: None, refused: Vec::new() }
    }

    /// Those of the program, where they are such as projects have, and those that the user `named`.
    pub fn of(about: &About, named: &[PathBuf], caller: &Caller) -> Result<Folders, Error> {
        let mut all = Vec::new();
        for path in named {
            let failed = |error| Error::Folder { path: path.clone(), error };
            let resolved = path.canonicalize().map_err(failed)?;
            if !resolved.is_dir() {
                return Err(failed(std::io::ErrorKind::NotADirectory.into()));
            }
            all.push((resolved, path.clone()));
        }
        let homes = homes(caller);
        let mut refused = Vec::new();
        for path in own(about) {
            let Ok(resolved) = path.canonicalize() else { continue };
            if all.iter().any(|(known, _)| *known == resolved) {
                continue;
            }
            match unfit(&resolved, &homes) {
                None => all.push((resolved, path)),
                Some(why) => refused.push(format!("no sources are read from {}: {why}", resolved.display())),
            }
        }
        if !about.is_from_here() {
            refused.push(
                "the recording was not made on this machine, or by an older slowpath: its folders are not trusted"
                    .to_owned(),
            );
        }
        Ok(Folders { all: Some(all), refused })
    }

    /// Whether a file may be taken, by its resolved path.
    pub fn permit(&self, file: &Path) -> Result<(), Why> {
        if KERNEL.iter().any(|folder| file.starts_with(folder)) {
            return Err(if self.all.is_some() { Why::Outside } else { Why::NoFile });
        }
        let Some(all) = &self.all else { return Ok(()) };
        let system = |path: &Path| SYSTEM.iter().find(|folder| path.starts_with(folder)).copied();
        let holders = || {
            all.iter().filter_map(|(folder, _)| {
                let inner = file.strip_prefix(folder).ok()?;
                (system(file) == system(folder)).then_some(inner)
            })
        };
        match holders().next() {
            None => Err(Why::Outside),
            Some(_) if holders().all(is_hidden) => Err(Why::Hidden),
            Some(_) => Ok(()),
        }
    }

    /// What to say of a file that cannot be resolved: of one outside not even whether it is there.
    pub fn absent(&self, file: &Path, why: Why) -> Why {
        let Some(all) = &self.all else { return why };
        let inside = !file.components().any(|part| part == Component::ParentDir)
            && all.iter().any(|(resolved, named)| file.starts_with(resolved) || file.starts_with(named));
        if inside { why } else { Why::Outside }
    }

    /// The folders, and what is said of those that are none.
    pub fn told(self) -> (Vec<PathBuf>, Vec<String>) {
        let all = self.all.unwrap_or_default();
        (all.into_iter().map(|(resolved, _)| resolved).collect(), self.refused)
    }
}

/// The folders that a recording of this machine speaks for: where slowpath was called, and where the program is.
fn own(about: &About) -> Vec<PathBuf> {
    if !about.is_from_here() || !Path::new(&about.directory).is_absolute() {
        return Vec::new();
    }
    let directory = PathBuf::from(&about.directory);
    // What a running program calls itself is its own word; and without a slash it is one of the system's.
    let program = about.command.first().filter(|program| program.contains('/') && !about.attached);
    let program = program.and_then(|program| directory.join(program).canonicalize().ok());
    let folder = program.and_then(|program| program.parent().map(Path::to_owned));
    [Some(directory), folder].into_iter().flatten().collect()
}

/// Why a folder is none that somebody has a project in.
pub(super) fn unfit(folder: &Path, homes: &[PathBuf]) -> Option<&'static str> {
    let system = SYSTEM.iter().any(|one| folder.starts_with(one));
    if folder.parent().is_none() || SHARED.iter().any(|one| folder == Path::new(one)) || system {
        return Some("it is a system folder");
    }
    let home = |home: &PathBuf| home.starts_with(folder);
    if folder.parent() == Some(Path::new("/home")) || homes.iter().any(home) {
        return Some("it is a home directory, or contains one");
    }
    let hidden = |home: &PathBuf| folder.strip_prefix(home).is_ok_and(is_hidden);
    homes.iter().any(hidden).then_some("it is in a hidden folder")
}

/// Everybody's home folder, as far as it is known here.
fn homes(caller: &Caller) -> Vec<PathBuf> {
    let accounts = std::fs::read("/etc/passwd").unwrap_or_default();
    let of_accounts = accounts
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b':').nth(5))
        .map(|home| PathBuf::from(OsStr::from_bytes(home)));
    let own = [caller.home().map(Path::to_owned), Some(PathBuf::from("/root"))];
    // Some accounts have `/`: everything is in that.
    let homes = of_accounts.chain(own.into_iter().flatten()).filter(|home| home.parent().is_some());
    homes.flat_map(|home| [home.canonicalize().ok(), Some(home)]).flatten().collect()
}

fn is_hidden(inner: &Path) -> bool {
    inner.components().any(|part| part.as_os_str().as_bytes().starts_with(b"."))
}
