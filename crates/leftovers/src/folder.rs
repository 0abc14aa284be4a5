//! Temporary folders for files of other programs, such as callgrind's. What a killed slowpath left is removed when the next
//! one needs a folder.

use crate::{Claim, claim, fresh_name, raw};
use std::ffi::CStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// A temporary folder that only this user can enter; it goes with its files when this is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _claim: Claim,
}

impl Folder {
    /// A new one, in `TMPDIR` or else `/tmp`. The first one of a process sweeps there.
    pub fn new() -> io::Result<Folder> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(sweep);
        Folder::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> io::Result<Folder> {
        let told =
            |error: io::Error| io::Error::new(error.kind(), format!("in {}: {error}", parent.display()));
        for _ in 0..16 {
            let path = parent.join(fresh_name());
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(told)?,
            }
            // A sweep of another slowpath can come between.
            if let Ok(claim) = Claim::new(&path) {
                return Ok(Folder { path, _claim: claim });
            }
        }
        Err(told(io::Error::other("each folder was removed as soon as it was made")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path); // else the next sweep does it
    }
}

/// Removes the temporary folders that dead processes of this user left.
pub fn sweep() {
    sweep_in(&std::env::temp_dir());
}

fn sweep_in(parent: &Path) {
    for (path, claim) in claim::left(parent) {
        // Ours let nobody else in; so nobody else can have put one here that he did not make.
        let private = claim.folder.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 == 0);
        if private {
            clear(&claim.folder.into());
            let _ = fs::remove_dir(&path);
        }
    }
}

/// Removes the files in an open folder, and no folders: ours hold none.
fn clear(folder: &OwnedFd) {
    raw::each_entry(folder, |name: &CStr, _| raw::remove_file(folder.as_raw_fd(), name));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir, write};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn left_in(parent: &Path) -> PathBuf {
        let path = parent.join(fresh_name());
        DirBuilder::new().mode(0o700).create(&path).expect("a folder");
        write(path.join("findings.json"), "{}").expect("a file");
        path
    }

    #[test]
    fn a_folder_lives_as_long_as_its_owner() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = Folder::new_in(parent.path()).expect("a folder");
        assert_eq!(fs::metadata(folder.path()).expect("it is there").mode() & 0o777, 0o700);
        let left = left_in(parent.path());
        sweep_in(parent.path());
        assert!(folder.path().exists() && !left.exists());
        // A killed owner drops nothing, but the kernel takes its lock away.
        let Folder { path, .. } = &folder;
        let path = path.clone();
        write(path.join("callgrind.out.7"), "x").expect("a file");
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn many_files_go_at_once() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = left_in(parent.path());
        for number in 0..1000 {
            write(left.join(format!("callgrind.out.{number}")), "x").expect("a file");
        }
        sweep_in(parent.path());
        assert!(!left.exists());
    }

    #[test]
    fn what_somebody_else_put_there_is_not_followed() {
        let parent = tempfile::tempdir().expect("a folder");
        let treasure = tempfile::tempdir().expect("a folder");
        let file = treasure.path().join("file");
        write(&file, "mine").expect("a file");
        fs::set_permissions(treasure.path(), fs::Permissions::from_mode(0o700)).expect("it is ours");
        // A link with our kind of name, one within a folder of ours, a file, a folder that others may write to.
        let link = parent.path().join(fresh_name());
        symlink(treasure.path(), &link).expect("a link");
        let left = left_in(parent.path());
        symlink(&file, left.join("callgrind.out.1")).expect("a link");
        symlink(treasure.path(), left.join("callgrind.out.2")).expect("a link");
        let plain = parent.path().join(fresh_name());
        write(&plain, "mine").expect("a file");
        let open = left_in(parent.path());
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
        let strange = parent.path().join("slowpath-strange");
        create_dir(&strange).expect("a folder");
        sweep_in(parent.path());
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "mine");
        assert!(!left.exists(), "the links in it are removed, not what they lead to");
        assert!(link.is_symlink() && plain.exists() && strange.exists());
        assert!(open.join("findings.json").exists());
    }

    #[test]
    fn folders_within_are_left_alone() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = left_in(parent.path());
        create_dir(left.join("deep")).expect("a folder");
        write(left.join("deep/file"), "mine").expect("a file");
        sweep_in(parent.path());
        assert!(left.join("deep/file").exists());
    }

    #[test]
    fn another_users_folder_is_left_alone() {
        // SAFETY: geteuid has no preconditions.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("SKIPPED another user's folder: only root can make one");
            return;
        }
        let parent = tempfile::tempdir().expect("a folder");
        let left = left_in(parent.path());
        chown(&left, Some(12_345), None).expect("we are root");
        sweep_in(parent.path());
        assert!(left.join("findings.json").exists());
    }
}
