//! Control groups (version 2): how one is emptied and removed with all below it, and those that a killed slowpath left.
//! What they are for is left to those who make them.

use crate::raw;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Groups within groups, at most.
const DEPTH: u32 = 16;
/// How long it is tried, and how long between: a process that was killed leaves its group a moment later, and one that waits
/// for a disk leaves it when that answers.
const TRIES: u32 = 2_000;
const BETWEEN_MS: u32 = 5;

/// Our own group in the tree that is mounted; none if there is no such tree.
pub fn own() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    folder(&mounts, &std::fs::read_to_string("/proc/self/cgroup").ok()?)
}

fn folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| place.split(' ').nth(4)).flatten()
    })?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(Path::new(mount).join(path.trim_start_matches('/')))
}

/// Kills all that is in a group and in those below it, and removes them. Tries it for 10 seconds; whether it is gone.
pub fn remove(folder: &Path) -> bool {
    CString::new(folder.as_os_str().as_bytes()).is_ok_and(|folder| emptied(&folder))
}

/// The same, by the system calls of `raw`.
pub(crate) fn emptied(folder: &CStr) -> bool {
    for _ in 0..TRIES {
        if !clear(raw::ANYWHERE, folder, DEPTH) || raw::remove_folder(raw::ANYWHERE, folder) {
            return true;
        }
        raw::pause(BETWEEN_MS);
    }
    false
}

/// Removes the groups in `parent` that dead processes of this user left, with all that still runs in them.
pub fn sweep(parent: &Path) {
    for (path, _claim) in crate::claim::left(parent, crate::claim::FILES, crate::claim::me()) {
        remove(&path);
    }
}

/// Kills what is in a group, and removes the groups below it. False if there is no such group.
fn clear(at: i32, name: &CStr, depth: u32) -> bool {
    let Some(group) = raw::open_folder(at, name) else { return raw::errno() != libc::ENOENT };
    end(&group);
    if depth > 0 {
        raw::each_entry(&group, |below, kind| {
            if kind == libc::DT_DIR {
                clear(group.as_raw_fd(), below, depth - 1);
                raw::remove_folder(group.as_raw_fd(), below);
            }
        });
    }
    true
}

fn end(group: &OwnedFd) {
    match raw::open(group.as_raw_fd(), c"cgroup.kill", libc::O_WRONLY) {
        Some(kill) => drop(raw::write(&kill, b"1")),
        None => end_each(group), // kernels before 5.14
    }
}

/// Kills the members one by one; who was forked meanwhile is for the next try.
fn end_each(group: &OwnedFd) {
    let Some(members) = raw::open(group.as_raw_fd(), c"cgroup.procs", libc::O_RDONLY) else { return };
    let (mut before, mut now) = ([0; 4096], [0; 4096]);
    // A line that is not whole is no number of a member.
    let numbers = |text: &[u8], see: &mut dyn FnMut(i32)| {
        let lines = text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
        lines.filter_map(raw::number).for_each(see);
    };
    numbers(raw::read(&members, &mut before), &mut |pid| {
        let Some(pidfd) = raw::pidfd(pid) else { return };
        // Only if it is still listed is what we opened a member: the number may have been reused before.
        let mut listed = false;
        if let Some(members) = raw::open(group.as_raw_fd(), c"cgroup.procs", libc::O_RDONLY) {
            numbers(raw::read(&members, &mut now), &mut |member| listed |= member == pid);
        }
        if listed {
            raw::kill(&pidfd);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claim, fresh_name};
    use std::fs;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    #[test]
    fn our_own_group_is_found_in_either_kind_of_tree() {
        let mixed = "30 24 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                     42 24 0:27 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let of = "4:cpu:/\n0::/user.slice/session-1.scope\n";
        assert_eq!(folder(mixed, of), Some("/sys/fs/cgroup/unified/user.slice/session-1.scope".into()));
        assert_eq!(folder("30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", of), None);
        assert_eq!(folder(mixed, "4:cpu:/\n"), None);
        assert_eq!(folder(mixed, "0::/\n"), Some("/sys/fs/cgroup/unified/".into()));
    }

    /// A group to test in, claimed, with others below it; none if this user may make none. Says SKIPPED then.
    fn made(test: &str) -> Option<(PathBuf, Claim)> {
        let made = own().and_then(|own| {
            let folder = own.join(fresh_name());
            fs::create_dir(&folder).ok()?;
            let claim = Claim::new(&folder).ok()?; // another test sweeps
            fs::create_dir_all(folder.join("below/deeper")).ok()?;
            Some((folder, claim))
        });
        if made.is_none() {
            eprintln!("SKIPPED {test}: no cgroup v2 tree here, or no right to it");
        }
        made
    }

    /// A process in a group, which it shares with another.
    fn member(folder: &Path) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 0 > \"$1/cgroup.procs\" && setsid -f sleep 1000 && exec sleep 1000", "--"]);
        // The shell and what detaches the other are members too, for a while.
        let asleep = || {
            let listed = fs::read_to_string(folder.join("cgroup.procs")).expect("members");
            let name = |pid: &str| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            listed.lines().filter(|pid| name(pid) == "sleep\n").count()
        };
        let (before, child) = (asleep(), command.arg(folder).spawn().expect("sh runs"));
        while asleep() < before + 2 {
            std::thread::yield_now();
        }
        child
    }

    fn members(folder: &Path) -> usize {
        fs::read_to_string(folder.join("cgroup.procs")).expect("members").lines().count()
    }

    fn killed(mut child: Child) -> bool {
        child.wait().expect("our child").signal() == Some(libc::SIGKILL)
    }

    #[test]
    fn a_group_goes_with_all_below_it_and_all_that_runs_there() {
        let Some((folder, _claim)) = made("removing groups") else { return };
        let members = [member(&folder), member(&folder.join("below/deeper"))];
        assert!(remove(&folder) && !folder.exists());
        assert!(members.into_iter().all(killed));
        assert!(remove(&folder), "one that is gone already");
    }

    #[test]
    fn members_are_killed_one_by_one_where_a_group_cannot_be_killed() {
        let Some((folder, _claim)) = made("killing each member") else { return };
        let all = [member(&folder), member(&folder)];
        let path = CString::new(folder.as_os_str().as_bytes()).expect("a path");
        let group = raw::open_folder(raw::ANYWHERE, &path).expect("it is there");
        while members(&folder) > 0 {
            end_each(&group); // who was just being forked is for the next time
        }
        assert!(all.into_iter().all(killed));
        assert!(remove(&folder));
    }

    #[test]
    fn groups_are_swept_once_their_owner_is_dead() {
        let Some((folder, claim)) = made("sweeping groups") else { return };
        let member = member(&folder.join("below"));
        sweep(folder.parent().expect("our own group"));
        assert!(folder.exists(), "its owner lives");
        drop(claim);
        // A child that another test is just forking holds the claim, too, until it executes its program.
        let since = std::time::Instant::now();
        while folder.exists() && since.elapsed() < std::time::Duration::from_secs(10) {
            sweep(folder.parent().expect("our own group"));
        }
        assert!(!folder.exists() && killed(member));
    }
}
