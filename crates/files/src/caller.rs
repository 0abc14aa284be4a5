//! For whom we work, and this thread acting with that user's rights to files.
//!
//! Linux checks access to files against a thread's own file system ids (`setfsuid(2)`, `setfsgid(2)`) and its
//! supplementary groups. While the file system user is not root the kernel also takes the capabilities away that let root
//! ignore permissions. Everything else that needs root (perf, BPF, ptrace) goes on.

use std::ffi::{CStr, OsStr};
use std::io;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The user for whom slowpath runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    uid: u32,
    gid: u32,
    /// Supplementary groups, to be taken on with the ids; none where the ids are our own.
    groups: Option<Vec<u32>>,
    home: Option<PathBuf>,
}

impl Caller {
    /// The user who called sudo, where we are root through sudo; else ourselves.
    pub fn detect() -> Caller {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
        // SAFETY: these have no preconditions.
        let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
        match (uid, number("SUDO_UID"), number("SUDO_GID")) {
            (0, Some(caller), Some(group)) if caller != 0 => Caller::other(caller, group),
            _ => {
                let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
                Caller { uid, gid, groups: None, home: home.or_else(|| account(uid).map(|(_, home)| home)) }
            }
        }
    }

    /// Another user than we are; we must be root to act as one.
    fn other(uid: u32, gid: u32) -> Caller {
        let account = account(uid);
        let groups = account.as_ref().and_then(|(name, _)| groups(name, gid)).unwrap_or_else(|| vec![gid]);
        Caller { uid, gid, groups: Some(groups), home: account.map(|(_, home)| home) }
    }

    /// User id.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Group id.
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// The home folder; none for a user without an account.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Whether that is another user than we are: we run under sudo.
    pub fn is_other(&self) -> bool {
        self.groups.is_some()
    }

    /// Gives this thread the caller's rights to files until the value is dropped. Does nothing where they are our own.
    ///
    /// # Errors
    ///
    /// If the kernel refuses: files must then not be touched.
    pub fn act(&self) -> io::Result<Acting> {
        let Some(groups) = &self.groups else { return Ok(Acting { before: None, thread: PhantomData }) };
        let before = Before { groups: own_groups()?, gid: file_gid(None), uid: file_uid(None) };
        let acting = Acting { before: Some(before), thread: PhantomData };
        set_own_groups(groups)?;
        // The group first: without root's file system id it could not be changed any more.
        file_gid(Some(self.gid));
        file_uid(Some(self.uid));
        if file_uid(None) != self.uid || file_gid(None) != self.gid {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        Ok(acting)
    }
}

/// While it lives this thread has the caller's rights to files; it stays in its thread.
#[must_use = "the rights end when this is dropped"]
pub struct Acting {
    before: Option<Before>,
    thread: PhantomData<*const ()>,
}

struct Before {
    groups: Vec<u32>,
    gid: u32,
    uid: u32,
}

impl Drop for Acting {
    fn drop(&mut self) {
        let Some(before) = &self.before else { return };
        file_uid(Some(before.uid));
        file_gid(Some(before.gid));
        // They were this thread's before: nothing can refuse them but a bug, and then fewer rights stay.
        let _ = set_own_groups(&before.groups);
    }
}

/// Sets the thread's file system user id, or only asks; returns what it was before. It never reports an error.
fn file_uid(id: Option<u32>) -> u32 {
    // SAFETY: takes a number. -1 is no user, so that nothing changes.
    unsafe { libc::syscall(libc::SYS_setfsuid, id.unwrap_or(u32::MAX)) as u32 }
}

/// As [`file_uid`], for the group.
fn file_gid(id: Option<u32>) -> u32 {
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_setfsgid, id.unwrap_or(u32::MAX)) as u32 }
}

/// The supplementary groups of this thread.
fn own_groups() -> io::Result<Vec<u32>> {
    // SAFETY: with a size of 0 nothing is written.
    let size = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let mut groups = vec![0; usize::try_from(size).map_err(|_| io::Error::last_os_error())?];
    // SAFETY: there is room for so many.
    match unsafe { libc::getgroups(size, groups.as_mut_ptr()) } {
        got @ 0.. => {
            groups.truncate(got as usize);
            Ok(groups)
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets the supplementary groups of this thread alone: the C library's function would set those of all threads.
fn set_own_groups(groups: &[u32]) -> io::Result<()> {
    // SAFETY: a number, and a pointer to so many ids.
    match unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Name and home folder of a user.
fn account(uid: u32) -> Option<(std::ffi::CString, PathBuf)> {
    let mut bytes = vec![0; 16 << 10];
    // SAFETY: passwd is plain pointers and numbers that getpwuid_r fills.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: all pointers are valid, and `bytes` is as long as said.
    let error = unsafe { libc::getpwuid_r(uid, &mut entry, bytes.as_mut_ptr(), bytes.len(), &mut found) };
    if error != 0 || found.is_null() {
        return None;
    }
    // SAFETY: both are C strings in `bytes`.
    let (name, home) = unsafe { (CStr::from_ptr(entry.pw_name), CStr::from_ptr(entry.pw_dir)) };
    Some((name.to_owned(), PathBuf::from(OsStr::from_bytes(home.to_bytes()))))
}

/// All groups of a user.
fn groups(name: &CStr, gid: u32) -> Option<Vec<u32>> {
    let mut groups = vec![0; 1024];
    let mut size = groups.len() as libc::c_int;
    // SAFETY: there is room for `size` groups.
    if unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &mut size) } < 0 {
        return None;
    }
    groups.truncate(size as usize);
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn is_root() -> bool {
        // SAFETY: geteuid has no preconditions.
        unsafe { libc::geteuid() == 0 }
    }

    #[test]
    fn acting_as_another_user_gives_that_users_rights_and_ends() {
        if !is_root() {
            eprintln!("SKIPPED acting as another user: it needs root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let secret = dir.path().join("secret");
        fs::write(&secret, "root's").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        let groups = own_groups().unwrap();
        let other = Caller::other(12_345, 23_456);
        {
            let _acting = other.act().unwrap();
            assert_eq!(fs::read(&secret).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            fs::write(dir.path().join("made"), "").unwrap();
            assert_eq!(own_groups().unwrap(), [23_456]);
            // Another thread keeps its own.
            std::thread::scope(|scope| scope.spawn(|| ()).join().unwrap());
        }
        let made = fs::metadata(dir.path().join("made")).unwrap();
        assert_eq!((made.uid(), made.gid()), (12_345, 23_456));
        assert_eq!(fs::read_to_string(&secret).unwrap(), "root's");
        assert_eq!(own_groups().unwrap(), groups);
    }

    #[test]
    fn an_account_has_a_name_a_home_and_groups() {
        let (name, home) = account(0).unwrap();
        assert_eq!((name.to_str(), home.to_str()), (Ok("root"), Some("/root")));
        assert!(groups(&name, 0).unwrap().contains(&0));
        assert_eq!(account(3_999_999_999), None);
    }
}
