//! `.slowpath/`: the folder that recordings live in, their ids, the newest, and removal.

use crate::writer::Owner;
use crate::{About, Error};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder's name, in the directory where `slowpath` was called.
pub const NAME: &str = ".slowpath";

/// Makes the folder if need be, with a `.gitignore` of its own, and in it an empty folder for a new recording.
///
/// The id is the UTC time and the program's name; of two recordings at the same moment each gets its own.
pub fn create(root: &Path, unix_seconds: u64, program: &str, owner: Option<Owner>) -> Result<PathBuf, Error> {
    match fs::DirBuilder::new().mode(0o700).create(root) {
        Ok(()) => {
            let ignore = root.join(".gitignore");
            fs::write(&ignore, "*\n").map_err(|error| Error::io("write", &ignore, error))?;
            for path in [root, &ignore] {
                crate::writer::give(path, owner)?;
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(Error::io("create", root, error)),
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
        let path = root.join(if number == 1 { stem.clone() } else { format!("{stem}-{number}") });
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {
                crate::writer::give(&path, owner)?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 10_000 => {}
            Err(error) => return Err(Error::io("create", &path, error)),
        }
    }
    unreachable!("the loop returns")
}

/// The recordings in the folder, oldest first. What is no recording is left out.
pub fn list(root: &Path) -> Result<Vec<(PathBuf, About)>, Error> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", root, error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| Error::io("read", root, error))?.path();
        if let Ok(about) = crate::reader::about(&path) {
            found.push((path, about));
        }
    }
    found.sort_by(|(a_path, a), (b_path, b)| (a.started_unix_ns, a_path).cmp(&(b.started_unix_ns, b_path)));
    Ok(found)
}

/// The recording that a user means: a path, an id in the folder, or, for none, the newest.
pub fn find(root: &Path, named: Option<&str>) -> Result<PathBuf, Error> {
    let Some(named) = named else {
        return match list(root)?.pop() {
            Some((path, _)) => Ok(path),
            None => Err(Error::None { path: root.to_owned() }),
        };
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

/// Removes a recording. What is no recording is refused.
pub fn remove(path: &Path) -> Result<(), Error> {
    if !path.join("about.json").is_file() {
        return Err(Error::foreign(path, "it has no about.json, so it is not removed"));
    }
    fs::remove_dir_all(path).map_err(|error| Error::io("remove", path, error))
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
        let root = dir.path().join(NAME);
        let one = create(&root, 0, "/bin/true", None).unwrap();
        let two = create(&root, 0, "/bin/true", None).unwrap();
        assert_ne!(one, two);
        assert_eq!(fs::read_to_string(root.join(".gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn what_is_no_recording_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        assert!(remove(dir.path()).is_err());
        assert!(dir.path().is_dir());
    }
}
