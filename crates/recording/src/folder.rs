//! Where recordings live: `$XDG_STATE_HOME/slowpath`, a folder each. Their ids, finding, listing and removing them.

use crate::writer::{ABOUT, ABOUT_TEMPORARY, RESERVE, Tables};
use crate::{About, Error, segment};
use slowpath_files::{Caller, Entry, Folder, Kind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// The folder of the caller's recordings (`XDG_STATE_HOME`, else `~/.local/state`; under sudo the caller's home). None for a
/// user who has no home.
pub fn home(caller: &Caller) -> Option<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named.or_else(|| Some(caller.home()?.join(".local/state")))?;
    Some(state.join("slowpath"))
}

/// A folder for a recording that begins.
#[derive(Debug)]
pub struct Created {
    /// The folder. It is locked as long as this process has it open, so that nobody removes it meanwhile.
    pub folder: Arc<Folder>,
    /// The recording's id, the folder's name.
    pub id: String,
}

/// Makes the folder of recordings if need be, and in it an empty one for a new recording, with the caller's rights.
///
/// The id is the UTC time and the program's name; of two recordings at the same moment each gets its own.
///
/// # Errors
///
/// If the caller may not write there. As root also if the folder is neither root's nor the caller's: whoever owns it could
/// put anything in the recording's place.
pub fn create(root: &Path, unix_seconds: u64, program: &str, caller: &Caller) -> Result<Created, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| Error::io("create", &path, error)
    };
    let _acting = caller.act().map_err(failed(root))?;
    let root = Folder::make(root, caller).map_err(failed(root))?;
    let owner = root.uid().map_err(failed(root.path()))?;
    // SAFETY: geteuid has no preconditions.
    let is_root = unsafe { libc::geteuid() } == 0;
    if is_root && owner != 0 && owner != caller.uid() {
        return Err(Error::NotOurs { path: root.path().to_owned(), owner });
    }
    let name: String = program
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .take(32)
        .collect();
    let stem = format!("{}-{}", stamp(unix_seconds), if name.is_empty() { "run" } else { &name });
    for number in 1.. {
        let id = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
        match root.create_folder(&id) {
            Ok(folder) => {
                // Nobody else knows it yet.
                let _ = folder.try_lock().map_err(failed(folder.path()))?;
                return Ok(Created { folder: Arc::new(folder), id });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {}
            Err(error) => return Err(Error::io("create", &root.path().join(&id), error)),
        }
    }
    unreachable!("the loop returns")
}

/// A recording in a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// What it says of itself.
    pub about: About,
    /// What it takes on the disk, bytes.
    pub bytes: u64,
}

/// The recordings in the folder, oldest first. What is no recording is left out.
///
/// # Errors
///
/// If the folder is there and cannot be read.
pub fn list(root: &Path) -> Result<Vec<Listed>, Error> {
    let failed = |error| Error::io("read", root, error);
    let folder = match Folder::open(root) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in folder.entries().map_err(failed)? {
        let Ok(recording) = folder.folder(&entry.name) else { continue };
        if let Ok(about) = crate::reader::about(&recording) {
            found.push(Listed { path: root.join(&entry.name), about, bytes: size(&recording) });
        }
    }
    found.sort_by(|a, b| (a.about.started_unix_ns, &a.path).cmp(&(b.about.started_unix_ns, &b.path)));
    Ok(found)
}

/// What a folder takes on the disk, as deep as a recording goes.
fn size(folder: &Folder) -> u64 {
    let sum = |entries: Vec<Entry>| entries.iter().map(|entry| entry.bytes).sum::<u64>();
    let entries = folder.entries().unwrap_or_default();
    let within = entries.iter().filter(|entry| entry.kind == Kind::Folder);
    let within: u64 =
        within.filter_map(|entry| Some(sum(folder.folder(&entry.name).ok()?.entries().ok()?))).sum();
    sum(entries) + within
}

/// The recording that a user means: a path, an id in the folder, or, for none, the newest: of those made in `directory`, if there
/// are some.
///
/// # Errors
///
/// If there is none.
pub fn find(root: &Path, named: Option<&str>, directory: Option<&Path>) -> Result<PathBuf, Error> {
    let Some(named) = named else {
        let mut all = list(root)?;
        let here = |listed: &Listed| {
            directory.is_some_and(|directory| Path::new(&listed.about.directory) == directory)
        };
        let newest = match all.iter().rposition(here) {
            Some(at) => Some(all.swap_remove(at)),
            None => all.pop(),
        };
        return newest.map(|listed| listed.path).ok_or_else(|| Error::None { path: root.to_owned() });
    };
    let inside = root.join(named);
    if !named.contains('/') && inside.is_dir() {
        return Ok(inside);
    }
    let path = PathBuf::from(named);
    match fs::metadata(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NotFound { name: named.to_owned(), root: root.to_owned() })
        }
        Err(error) => Err(Error::io("open", &path, error)),
    }
}

/// Removes a recording: the files that a recording has, and its folders. Whatever is no recording, or holds anything else, stays
/// whole. Where it lies elsewhere than in `root` only with `force`.
///
/// # Errors
///
/// Why it was not removed.
pub fn remove(root: &Path, path: &Path, caller: &Caller, force: bool) -> Result<(), Error> {
    let refused = |why: &str| Err(Error::Kept { path: path.to_owned(), why: why.to_owned() });
    let failed = |error| Error::io("remove", path, error);
    let _acting = caller.act().map_err(failed)?;
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
        return refused("its path does not end with its name");
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = Folder::open(parent).map_err(failed)?;
    if !force && !Folder::open(root).is_ok_and(|root| root.is_same(&parent)) {
        return refused(&format!(
            "it is not in the folder of recordings, {}: --force removes it anyway",
            root.display()
        ));
    }
    let recording = match parent.folder(name) {
        Ok(recording) => recording,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
            return refused("it is not a folder, or it is a link to one");
        }
        Err(error) => return Err(failed(error)),
    };
    // One that a full disk or a kill left empty has no about.json yet.
    let known = crate::reader::about(&recording);
    if let Err(Error::Foreign { why, .. }) = &known
        && !recording
            .entries()
            .map_err(failed)?
            .iter()
            .all(|entry| entry.name == RESERVE || entry.name == ABOUT_TEMPORARY)
    {
        return refused(why);
    }
    if let Some(other) = foreign_entry(&recording).map_err(failed)? {
        return refused(&format!("it also contains {}, which is not part of a recording", other.display()));
    }
    if !recording.try_lock().map_err(failed)? {
        return refused("it is still being recorded");
    }
    empty(&recording).and_then(|()| parent.remove_folder(name)).map_err(failed)
}

/// Removes a recording that came to nothing, as far as it can be removed; for who made it and still has it open.
pub fn discard(recording: &Folder, caller: &Caller) {
    let Ok(_acting) = caller.act() else { return };
    let (Some(parent), Some(name)) = (recording.path().parent(), recording.path().file_name()) else {
        return;
    };
    if empty(recording).is_ok() {
        // What stays is an empty folder.
        let _ = Folder::open(parent).and_then(|parent| parent.remove_folder(name));
    }
}

/// Removes the files that a recording has; `about.json` last, so that what is left of it can be removed later.
fn empty(recording: &Folder) -> io::Result<()> {
    for table in Tables::NAMES {
        let Ok(folder) = recording.folder(table) else { continue };
        for entry in folder.entries()?.iter().filter(|entry| segment::is_segment(entry)) {
            folder.remove_file(&entry.name)?;
        }
        recording.remove_folder(table)?;
    }
    for name in [RESERVE, ABOUT_TEMPORARY, ABOUT] {
        match recording.remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Something in the folder that no recording has.
fn foreign_entry(recording: &Folder) -> io::Result<Option<PathBuf>> {
    for entry in recording.entries()? {
        let table = Tables::NAMES.iter().any(|table| entry.name == *table);
        match entry.kind {
            Kind::File if [ABOUT, ABOUT_TEMPORARY, RESERVE].iter().any(|name| entry.name == *name) => {}
            Kind::Folder if table => {
                let within = recording.folder(&entry.name)?.entries()?;
                if let Some(other) = within.iter().find(|other| !segment::is_segment(other)) {
                    return Ok(Some(Path::new(&entry.name).join(&other.name)));
                }
            }
            _ => return Ok(Some(PathBuf::from(entry.name))),
        }
    }
    Ok(None)
}

/// Removes the oldest recordings until those that are left take no more than `most` bytes; never one that is being recorded.
/// Returns how many went.
///
/// # Errors
///
/// If the folder cannot be read. A recording that cannot be removed stays.
pub fn make_room(root: &Path, caller: &Caller, most: u64) -> Result<usize, Error> {
    let all = list(root)?;
    let mut sum: u64 = all.iter().map(|listed| listed.bytes).sum();
    let mut gone = 0;
    for listed in all {
        if sum <= most {
            break;
        }
        if remove(root, &listed.path, caller, false).is_ok() {
            sum -= listed.bytes;
            gone += 1;
        }
    }
    Ok(gone)
}

/// `20261121-014500`, UTC. Days to dates by H. Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>).
fn stamp(unix_seconds: u64) -> String {
    let (days, seconds) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_the_utc_date_and_time() {
        assert_eq!(stamp(0), "19700101-000000");
        assert_eq!(stamp(951_782_400), "20000229-000000");
        assert_eq!(stamp(1_795_225_530), "20261121-010530".replace("010530", &stamp(1_795_225_530)[9..]));
        assert_eq!(&stamp(1_795_225_530)[..8], "20261121");
    }

    #[test]
    fn two_recordings_at_the_same_moment_get_folders_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("state/slowpath");
        let caller = Caller::detect();
        let one = create(&root, 0, "/bin/true", &caller).unwrap();
        let two = create(&root, 0, "/bin/true", &caller).unwrap();
        assert_ne!(one.id, two.id);
    }
}
