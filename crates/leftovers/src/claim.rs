//! Whose a folder is: its owner holds a lock on it (`flock`), which the kernel takes away however the owner ends. So nothing
//! depends on numbers of processes, which are reused, and it holds between containers and after a reboot too.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How names of folders begin that hold files of other programs.
pub(crate) const FILES: &str = "slowpath-";
/// … and of those that hold recordings which are not kept.
pub(crate) const RECORDINGS: &str = "slowpath-recording-";
const DIGITS: usize = 12;

/// A folder that belongs to this process as long as this lives; it stays where it is.
#[derive(Debug)]
pub struct Claim {
    pub(crate) folder: File,
}

/// A name for a folder that no other process and no other folder of this one has: `slowpath-PID-` and 12 random digits.
pub fn fresh_name() -> String {
    fresh_name_of(FILES)
}

pub(crate) fn fresh_name_of(prefix: &str) -> String {
    format!("{prefix}{}-{:0DIGITS$x}", std::process::id(), fastrand::u64(..1 << (4 * DIGITS)))
}

/// Whether it is a name such as [`fresh_name_of`] makes.
fn is_ours(name: &str, prefix: &str) -> bool {
    let parts = name.strip_prefix(prefix).and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(pid, digits)| {
        !pid.is_empty()
            && pid.bytes().all(|byte| byte.is_ascii_digit())
            && digits.len() == DIGITS
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

impl Claim {
    /// Claims a folder that this process has just made. An error if somebody has removed it meanwhile.
    pub fn new(path: &Path) -> io::Result<Claim> {
        let folder = open(path)?;
        let gone =
            || io::Error::new(io::ErrorKind::NotFound, "the folder was removed as soon as it was made");
        match folder.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(gone()), // by a sweep that found it without an owner
            // Where there are no locks nobody can find it to be without an owner.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let (here, there) = (folder.metadata()?, path.symlink_metadata()?);
        if (here.dev(), here.ino()) == (there.dev(), there.ino()) {
            Ok(Claim { folder })
        } else {
            Err(gone())
        }
    }
}

/// The user that this process acts as.
pub(crate) fn me() -> u32 {
    // SAFETY: geteuid has no preconditions.
    unsafe { libc::geteuid() }
}

/// Opens a folder, never through a link.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// The folders in `parent` whose owner is dead, claimed: those with our kind of name that are no links, belong to that user,
/// and are not claimed.
pub(crate) fn left(parent: &Path, prefix: &str, user: u32) -> Vec<(PathBuf, Claim)> {
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let names = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| is_ours(name, prefix)));
    let claimed = names.filter_map(|entry| {
        let path = entry.path();
        let folder = open(&path).ok()?;
        let mine = folder.metadata().is_ok_and(|metadata| metadata.uid() == user);
        (mine && folder.try_lock().is_ok()).then_some((path, Claim { folder }))
    });
    claimed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_left_once_nobody_claims_it() {
        let parent = tempfile::tempdir().expect("a folder");
        let path = parent.path().join(fresh_name());
        std::fs::create_dir(&path).expect("a folder");
        let claim = Claim::new(&path).expect("it is ours");
        assert!(left(parent.path(), FILES, me()).is_empty());
        drop(claim);
        let found = left(parent.path(), FILES, me());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, path);
        assert!(Claim::new(&path).is_err(), "what is being removed cannot be claimed");
        drop(found);
        std::fs::remove_dir(&path).expect("it was there");
        assert!(Claim::new(&path).is_err());
    }

    #[test]
    fn only_names_of_ours_count() {
        let is_ours = |name: &str| is_ours(name, FILES);
        assert!(is_ours(&fresh_name()) && !is_ours(&fresh_name_of(RECORDINGS)));
        assert!(super::is_ours(&fresh_name_of(RECORDINGS), RECORDINGS));
        assert_ne!(fresh_name(), fresh_name());
        for name in ["slowpath-12", "slowpath-12-", "slowpath--0123456789ab", "slowpath-x-0123456789ab"] {
            assert!(!is_ours(name), "{name}");
        }
        assert!(!is_ours("slowpath-12-0123456789abc") && !is_ours("slowpath-12-0123456789a-"));
    }
}
