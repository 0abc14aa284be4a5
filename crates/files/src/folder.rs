//! An open folder: what is in it is reached by name from its descriptor. Whoever renames the folder, or plants a link in its
//! place or in it, changes nothing of what we touch.

use crate::{Caller, walk};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a socket, a device.
    Other,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
}

/// See the file's head.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

pub(crate) const OPEN: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);
/// What only its owner can use.
pub(crate) const PRIVATE: Mode = Mode::RWXU;

impl Folder {
    /// Opens a folder that the user named; links in the path are the user's own choice.
    ///
    /// # Errors
    ///
    /// If it is not there, is no folder or may not be read.
    pub fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder { fd: rustix::fs::open(path, OPEN, Mode::empty())?, path: path.to_owned() })
    }

    /// Opens a folder that the user named, and makes what is missing of its path, for its owner alone. Unlike [`Folder::open`] it
    /// follows links only where nobody but root and the caller could have put them.
    ///
    /// # Errors
    ///
    /// If it cannot be opened or made, or a link of somebody else is in the path.
    pub fn make(path: &Path, caller: &Caller) -> io::Result<Folder> {
        Ok(Folder { fd: walk::to(path, caller, true)?, path: path.to_owned() })
    }

    /// Opens a folder in this one. A link is refused.
    ///
    /// # Errors
    ///
    /// As [`Folder::open`].
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Folder> {
        let name = plain(name.as_ref())?;
        let fd = rustix::fs::openat(&self.fd, name, OPEN | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder { fd, path: self.path.join(name) })
    }

    /// Makes a folder in this one, which only its owner can use, and opens it.
    ///
    /// # Errors
    ///
    /// If there is something of that name, or if somebody put something else in its place before it was opened.
    pub fn create_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Folder> {
        let name = plain(name.as_ref())?;
        rustix::fs::mkdirat(&self.fd, name, PRIVATE)?;
        let made = self.folder(name)?;
        let (stat, mine) = (rustix::fs::fstat(&made.fd)?, rustix::fs::fstat(&self.fd)?);
        let id = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let same = (stat.st_dev, stat.st_ino) == (id.st_dev, id.st_ino) && stat.st_dev == mine.st_dev;
        if !same || stat.st_mode & 0o077 != 0 || stat.st_uid != file_owner() {
            return Err(io::Error::other("somebody else put a folder in its place"));
        }
        Ok(made)
    }

    /// Makes a file that only its owner can read, and opens it for writing. Fails if there is something of that name, be it a
    /// link that leads nowhere.
    ///
    /// # Errors
    ///
    /// See above.
    pub fn create_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, plain(name.as_ref())?, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(File::from(fd))
    }

    /// Opens a regular file for reading: no link, and nothing that would make us wait, such as a named pipe.
    ///
    /// # Errors
    ///
    /// If it is not there, is no regular file or may not be read.
    pub fn file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, plain(name.as_ref())?, flags, Mode::empty())?;
        if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(File::from(fd))
    }

    /// The content of a regular file, which may have `most` bytes.
    ///
    /// # Errors
    ///
    /// As [`Folder::file`], and if it is larger.
    pub fn read(&self, name: impl AsRef<OsStr>, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file(name)?.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::other(format!("it is larger than {most} bytes")));
        }
        Ok(bytes)
    }

    /// Renames within the folder; what has the new name is replaced, a link itself and not what it leads to.
    ///
    /// # Errors
    ///
    /// The system's answer.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, plain(from.as_ref())?, &self.fd, plain(to.as_ref())?)?)
    }

    /// Removes a file, a link or a pipe, never what a link leads to.
    ///
    /// # Errors
    ///
    /// The system's answer.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, plain(name.as_ref())?, AtFlags::empty())?)
    }

    /// Removes an empty folder.
    ///
    /// # Errors
    ///
    /// The system's answer.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, plain(name.as_ref())?, AtFlags::REMOVEDIR)?)
    }

    /// What is in it, in order of name.
    ///
    /// # Errors
    ///
    /// The system's answer.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let name = entry?.file_name().to_bytes().to_owned();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsString::from(OsStr::from_bytes(&name));
            // It may be gone by now.
            let Ok(stat) = rustix::fs::statat(&self.fd, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                _ => Kind::Other,
            };
            entries.push(Entry { name, kind, bytes: stat.st_blocks as u64 * 512 });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Asks that the names in it are on the disk.
    ///
    /// # Errors
    ///
    /// The system's answer.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    /// Takes the folder's lock, which the kernel frees when we end, however we end. False if another process has it.
    ///
    /// # Errors
    ///
    /// The system's answer, other than that it is taken.
    pub fn try_lock(&self) -> io::Result<bool> {
        match rustix::fs::flock(&self.fd, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whose it is: a user id.
    ///
    /// # Errors
    ///
    /// The system's answer.
    pub fn uid(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(&self.fd)?.st_uid)
    }

    /// Where it was when it was opened; for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both are one folder, by whatever paths they were opened.
    pub fn is_same(&self, other: &Folder) -> bool {
        let id = |folder: &Folder| rustix::fs::fstat(&folder.fd).map(|stat| (stat.st_dev, stat.st_ino));
        matches!((id(self), id(other)), (Ok(a), Ok(b)) if a == b)
    }
}

/// The user whose files this thread makes.
fn file_owner() -> u32 {
    // SAFETY: takes a number; -1 is no user, so that nothing changes.
    unsafe { libc::syscall(libc::SYS_setfsuid, u32::MAX) as u32 }
}

/// A name within a folder: nothing that leads out of it.
fn plain(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.contains(&b'/') || bytes == b"." || bytes == b".." {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn nothing_is_reached_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        symlink(outside.path(), dir.path().join("folder")).unwrap();
        symlink(outside.path().join("secret"), dir.path().join("file")).unwrap();
        symlink(outside.path().join("new"), dir.path().join("dangling")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert!(folder.folder("folder").is_err() && folder.create_folder("folder").is_err());
        assert!(folder.file("file").is_err() && folder.create_file("file").is_err());
        assert!(folder.create_file("dangling").is_err());
        assert!(!outside.path().join("new").exists());
        folder.remove_file("file").unwrap();
        assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "secret");
    }

    #[test]
    fn a_folder_that_is_moved_away_stays_the_one_that_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = Folder::open(dir.path()).unwrap();
        let made = root.create_folder("one").unwrap();
        std::fs::rename(dir.path().join("one"), dir.path().join("moved")).unwrap();
        symlink(outside.path(), dir.path().join("one")).unwrap();
        made.create_file("file").unwrap().write_all(b"x").unwrap();
        assert!(dir.path().join("moved/file").is_file() && !outside.path().join("file").exists());
        assert!(root.folder("moved").unwrap().is_same(&made) && !root.is_same(&made));
    }

    #[test]
    fn a_pipe_in_place_of_a_file_keeps_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap();
        assert!(made.success());
        assert!(Folder::open(dir.path()).unwrap().file("pipe").is_err());
    }

    #[test]
    fn what_is_made_is_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let root = Folder::open(dir.path()).unwrap();
        root.create_folder("folder").unwrap();
        root.create_file("file").unwrap();
        for name in ["folder", "file"] {
            let mode = std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{name}");
        }
        let names: Vec<_> =
            root.entries().unwrap().into_iter().map(|entry| (entry.name, entry.kind)).collect();
        assert_eq!(names, [("file".into(), Kind::File), ("folder".into(), Kind::Folder)]);
    }

    #[test]
    fn names_that_lead_out_of_the_folder_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = Folder::open(dir.path()).unwrap();
        for name in ["..", ".", "", "a/b", "/etc"] {
            assert!(root.folder(name).is_err() && root.remove_file(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_large_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "12345").unwrap();
        let root = Folder::open(dir.path()).unwrap();
        assert_eq!(root.read("file", 5).unwrap(), b"12345");
        assert!(root.read("file", 4).is_err());
    }

    #[test]
    fn one_at_a_time_has_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (Folder::open(dir.path()).unwrap(), Folder::open(dir.path()).unwrap());
        assert!(one.try_lock().unwrap());
        assert!(!other.try_lock().unwrap());
        drop(one);
        assert!(other.try_lock().unwrap());
    }
}
