//! Temporary folders for files of other programs, such as callgrind's. What a killed slowpath left is removed when the next
//! one needs a folder.

use crate::claim::{self, FILES, RECORDINGS, fresh_name_of, me};
use crate::{Claim, raw};
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
        Folder::new_in(&std::env::temp_dir(), FILES)
    }

    /// A new one for recordings that are not kept, which belong to `user`: what was left there of such is removed. To be called as
    /// that user.
    pub fn of_recordings(parent: &Path, user: u32) -> io::Result<Folder> {
        sweep_in(parent, RECORDINGS, user);
        Folder::new_in(parent, RECORDINGS)
    }

    fn new_in(parent: &Path, prefix: &str) -> io::Result<Folder> {
        let told =
            |error: io::Error| io::Error::new(error.kind(), format!("in {}: {error}", parent.display()));
        for _ in 0..16 {
            let path = parent.join(fresh_name_of(prefix));
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
    sweep_in(&std::env::temp_dir(), FILES, me());
}

fn sweep_in(parent: &Path, prefix: &str, user: u32) {
    /// A recording, and its tables.
    const RECORDING: u32 = 2;
    let depth = if prefix == RECORDINGS { RECORDING } else { 0 };
    for (path, claim) in claim::left(parent, prefix, user) {
        // Ours let nobody else in; so nobody else can have put one here that he did not make.
        let private = claim.folder.metadata().is_ok_and(|metadata| metadata.mode() & 0o077 == 0);
        if private {
            clear(&claim.folder.into(), depth);
            let _ = fs::remove_dir(&path);
        }
    }
}

/// Removes the files in an open folder, and in folders within it, no deeper than ours are.
fn clear(folder: &OwnedFd, depth: u32) {
    raw::each_entry(folder, |name: &CStr, kind| {
        if kind != libc::DT_DIR {
            raw::remove_file(folder.as_raw_fd(), name);
        } else if depth > 0
            && let Some(within) = raw::open_folder(folder.as_raw_fd(), name)
        {
            clear(&within, depth - 1);
            raw::remove_folder(folder.as_raw_fd(), name);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fresh_name;
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
        let folder = Folder::new_in(parent.path(), FILES).expect("a folder");
        assert_eq!(fs::metadata(folder.path()).expect("it is there").mode() & 0o777, 0o700);
        let left = left_in(parent.path());
        sweep_in(parent.path(), FILES, me());
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
        sweep_in(parent.path(), FILES, me());
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
        sweep_in(parent.path(), FILES, me());
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
        sweep_in(parent.path(), FILES, me());
        assert!(left.join("deep/file").exists());
    }

    #[test]
    fn a_recording_that_was_left_goes_with_its_tables_and_nothing_deeper() {
        let parent = tempfile::tempdir().expect("a folder");
        let left = parent.path().join(fresh_name_of(RECORDINGS));
        DirBuilder::new().mode(0o700).create(&left).expect("a folder");
        fs::create_dir_all(left.join("20260101-000000-prog/samples")).expect("folders");
        write(left.join("20260101-000000-prog/about.json"), "{}").expect("a file");
        write(left.join("20260101-000000-prog/samples/000001.parquet"), "x").expect("a file");
        let strange = parent.path().join(fresh_name_of(RECORDINGS));
        DirBuilder::new().mode(0o700).create(&strange).expect("a folder");
        fs::create_dir_all(strange.join("a/b/c/d")).expect("folders");
        let treasure = parent.path().join("treasure");
        create_dir(&treasure).expect("a folder");
        write(treasure.join("file"), "mine").expect("a file");
        symlink(&treasure, strange.join("a/link")).expect("a link");
        let living = Folder::of_recordings(parent.path(), me()).expect("a folder");
        assert!(living.path().exists() && !left.exists());
        assert!(strange.join("a/b/c").exists() && treasure.join("file").exists());
    }

    #[test]
    fn another_users_folder_is_left_alone() {
        if me() != 0 {
            eprintln!("SKIPPED another user's folder: only root can make one");
            return;
        }
        let parent = tempfile::tempdir().expect("a folder");
        let left = left_in(parent.path());
        chown(&left, Some(12_345), None).expect("we are root");
        sweep_in(parent.path(), FILES, me());
        assert!(left.join("findings.json").exists());
    }
}
