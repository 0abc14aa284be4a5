//! CPU time of all that a run starts, by a control group of its own (cgroup v2): daemons that leave the command's process
//! tree are counted as well, and ended with it. Where there is no such tree, or no right to it, `wait4` alone counts.

use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The folder of the groups of this comparison.
#[derive(Debug)]
pub(crate) struct Groups {
    folder: PathBuf,
}

/// The group of one run; it goes when this is dropped.
pub(crate) struct Group {
    folder: PathBuf,
    members: File,
    /// Tells when the command begins.
    begun: (PipeReader, PipeWriter),
}

impl Groups {
    /// A folder in our own group of the tree that is mounted; none if there is none, or no right to it.
    pub(crate) fn new() -> Option<Groups> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let folder = folder(&mounts, &own)?.join(format!("slowpath-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let groups = Groups { folder };
        // Whether it can be used shows only when it is.
        groups.run().ok()?.cpu_ns().ok()?;
        Some(groups)
    }

    /// A group for a run.
    pub(crate) fn run(&self) -> io::Result<Group> {
        let folder = self.folder.join("run");
        fs::create_dir(&folder)?;
        let members = OpenOptions::new().write(true).open(folder.join("cgroup.procs"))?;
        Ok(Group { folder, members, begun: io::pipe()? })
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder); // what cannot be removed is empty and costs nothing
    }
}

impl Group {
    /// Has the command begin in this group. When it did, by [`now_ns`], is told by [`Group::begun_ns`] once it was started: a
    /// change of groups takes the kernel some ms, which are none of the command's.
    pub(crate) fn begin(&self, command: &mut Command) {
        let (members, clock) = (self.members.as_raw_fd(), self.begun.1.as_raw_fd());
        let enter = move || {
            // SAFETY: write takes a descriptor that is open until the run has ended, and two bytes; it is async-signal-safe.
            match unsafe { libc::write(members, b"0\n".as_ptr().cast(), 2) } {
                2 => {}
                _ => return Err(io::Error::last_os_error()),
            }
            let now = now_ns().to_ne_bytes();
            // SAFETY: as above.
            match unsafe { libc::write(clock, now.as_ptr().cast(), now.len()) } {
                8 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        // SAFETY: between fork and exec only those writes are made and a clock is read.
        unsafe { command.pre_exec(enter) };
    }

    /// When the command began, ns.
    pub(crate) fn begun_ns(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        (&self.begun.0).read_exact(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    /// User and system time of all that was in it so far, ns.
    pub(crate) fn cpu_ns(&self) -> io::Result<(u64, u64)> {
        let stat = fs::read_to_string(self.folder.join("cpu.stat"))?;
        let ns = |name: &str| {
            let value = stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
            value.map(|us| us * 1_000).ok_or_else(|| io::Error::other(format!("cpu.stat has no {name}")))
        };
        Ok((ns("user_usec ")?, ns("system_usec ")?))
    }

    /// Ends what is left in it.
    pub(crate) fn end(&self) {
        let kill = OpenOptions::new().write(true).open(self.folder.join("cgroup.kill"));
        let _ = kill.and_then(|mut kill| kill.write_all(b"1")); // kernels before 5.14 have none
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
        // A process that was killed leaves its group a moment later.
        for _ in 0..200 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The monotonic clock, ns.
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills one timespec; async-signal-safe. It cannot fail for this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Where our own group is, from `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| place.split(' ').nth(4)).flatten()
    })?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(Path::new(mount).join(path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_daemon_that_leaves_the_tree_is_counted_and_ended() {
        let Some(groups) = Groups::new() else {
            eprintln!("SKIPPED control groups: no cgroup v2 tree here, or no right to it");
            return;
        };
        let group = groups.run().expect("a group");
        let marker = format!("5{}", std::process::id());
        let mut command = Command::new("setsid");
        // The daemon works a little, then sleeps for ever; nobody waits for it.
        let work = format!(
            "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; touch {marker}.done; exec sleep {marker}"
        );
        command.args(["-f", "sh", "-c", &work]).current_dir(std::env::temp_dir());
        group.begin(&mut command);
        assert!(command.status().expect("it runs").success());
        let done = std::env::temp_dir().join(format!("{marker}.done"));
        for _ in 0..2_000 {
            if done.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(done.exists(), "the daemon did its work");
        let _ = fs::remove_file(done);
        let (user, system) = group.cpu_ns().expect("its time");
        assert!(user + system >= 20_000_000, "{user} + {system} ns");
        drop(group);
        let lives = fs::read_dir("/proc").expect("processes").flatten().any(|entry| {
            fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| line == format!("sleep\0{marker}\0").as_bytes())
        });
        assert!(!lives, "the daemon lives on");
    }
}
