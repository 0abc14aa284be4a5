//! From the root to a folder, one name after the other, each opened in the one before: so that no user can lead us elsewhere by
//! putting a link in the way while we go.

use crate::Caller;
use crate::folder::{OPEN, PRIVATE};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

/// As many links as the kernel follows in one path.
const LINKS: u32 = 40;

/// Opens the folder at `path`; `make` makes what is missing of it.
pub(crate) fn to(path: &Path, caller: &Caller, make: bool) -> io::Result<OwnedFd> {
    let start = if path.is_absolute() { "/" } else { "." };
    let mut at = rustix::fs::open(start, OPEN, Mode::empty())?;
    let mut left: VecDeque<OsString> = names(path);
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        let opened = rustix::fs::openat(&at, &name, OPEN | OFlags::NOFOLLOW, Mode::empty());
        at = match opened {
            Ok(next) => next,
            Err(Errno::NOENT) if make => {
                match rustix::fs::mkdirat(&at, &name, PRIVATE) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(&at, &name, OPEN | OFlags::NOFOLLOW, Mode::empty())?
            }
            // A link gives one or the other, by kernel.
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) => {
                let link = rustix::fs::statat(&at, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                if FileType::from_raw_mode(link.st_mode) != FileType::Symlink {
                    return Err(error.into());
                }
                links += 1;
                if links > LINKS || !may_follow(&rustix::fs::fstat(&at)?, &link, caller) {
                    return Err(io::Error::other(format!("{} is a link of another user", name.display())));
                }
                let target = rustix::fs::readlinkat(&at, &name, Vec::new())?.into_bytes();
                let target = OsString::from_vec(target);
                let target = Path::new(&target);
                for name in names(target).into_iter().rev() {
                    left.push_front(name);
                }
                if target.is_absolute() { rustix::fs::open("/", OPEN, Mode::empty())? } else { at }
            }
            Err(error) => return Err(error.into()),
        };
    }
    Ok(at)
}

/// Whether only root and the caller can have put the link there: it is theirs, and nobody else may write to its folder, or not
/// replace what is in it (as in `/tmp`).
fn may_follow(folder: &Stat, link: &Stat, caller: &Caller) -> bool {
    const STICKY: u32 = 0o1000;
    let ours = |uid: u32| uid == 0 || uid == caller.uid();
    ours(link.st_uid) && ours(folder.st_uid) && (folder.st_mode & 0o022 == 0 || folder.st_mode & STICKY != 0)
}

/// Whether nobody but root and the caller can put anything into the folder.
pub(crate) fn is_ours(folder: &OwnedFd, caller: &Caller) -> io::Result<bool> {
    let of = rustix::fs::fstat(folder)?;
    Ok((of.st_uid == 0 || of.st_uid == caller.uid()) && of.st_mode & 0o022 == 0)
}

fn names(path: &Path) -> VecDeque<OsString> {
    let plain = path.components().filter(|one| !matches!(one, Component::RootDir | Component::CurDir));
    plain.map(|one| OsStr::to_owned(one.as_os_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    #[test]
    fn what_is_missing_is_made_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/../c");
        to(&path, &Caller::detect(), true).unwrap();
        let of = std::fs::metadata(dir.path().join("a/c")).unwrap();
        assert_eq!((of.is_dir(), of.mode() & 0o777), (true, 0o700));
        assert!(to(&dir.path().join("a/d"), &Caller::detect(), false).is_err());
    }

    #[test]
    fn the_callers_own_links_are_followed_and_those_of_others_are_not() {
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("SKIPPED links of others: it needs root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        symlink(outside.path(), dir.path().join("link")).unwrap();
        let caller = Caller::detect();
        to(&dir.path().join("link/made"), &caller, true).unwrap();
        assert!(outside.path().join("made").is_dir());
        let theirs = dir.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        symlink(outside.path(), theirs.join("link")).unwrap();
        chown(&theirs, Some(12_345), Some(12_345)).unwrap();
        assert!(to(&theirs.join("link/planted"), &caller, true).is_err());
        // Writable for all, as a folder of root's can be.
        chown(&theirs, Some(0), Some(0)).unwrap();
        std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(to(&theirs.join("link/planted"), &caller, true).is_err());
        assert!(!outside.path().join("planted").exists());
    }

    #[test]
    fn links_that_lead_in_a_circle_end() {
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert!(to(&dir.path().join("a"), &Caller::detect(), false).is_err());
    }
}
