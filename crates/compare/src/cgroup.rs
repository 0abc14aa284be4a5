//! CPU time of all that a run starts, by a control group of its own (cgroup v2): daemons that leave the command's process
//! tree are counted as well, and ended with it. Where there is no such tree, or no right to it, `wait4` alone counts.

use slowpath_leftovers::{Claim, fresh_name, group};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The folder of the groups of this comparison.
#[derive(Debug)]
pub(crate) struct Groups {
    folder: PathBuf,
    _claim: Claim,
}

/// The group of one run; it goes when this is dropped, with all that is left in it.
pub(crate) struct Group {
    folder: PathBuf,
    members: File,
}

impl Groups {
    /// Where a folder can be made in our own group; none if there is no tree. What killed comparisons left there is removed.
    pub(crate) fn place() -> Option<PathBuf> {
        let own = group::own()?;
        group::sweep(&own);
        Some(own.join(fresh_name()))
    }

    /// Makes the folder; none if there is no right to it.
    pub(crate) fn new(folder: PathBuf) -> Option<Groups> {
        // Another slowpath that starts may take it for one without an owner before it is claimed.
        let claimed = (0..100).find_map(|tried| {
            if tried > 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            match fs::create_dir(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Some(None),
                _ => Claim::new(&folder).ok().map(Some),
            }
        });
        let groups = Groups { folder, _claim: claimed.flatten()? };
        // Whether it can be used shows only when it is.
        groups.run().ok()?.cpu_ns().ok()?;
        Some(groups)
    }

    /// A group for a run.
    pub(crate) fn run(&self) -> io::Result<Group> {
        let folder = self.folder.join("run");
        fs::create_dir(&folder)?;
        let members = OpenOptions::new().write(true).open(folder.join("cgroup.procs"))?;
        Ok(Group { folder, members })
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        group::remove(&self.folder); // what cannot be removed is for the next sweep
    }
}

impl Group {
    /// Has the command begin in this group, which must be there until it did. A change of groups takes the kernel some ms.
    pub(crate) fn enter(&self, command: &mut Command) {
        let members = self.members.as_raw_fd();
        let enter = move || {
            // SAFETY: write takes a descriptor that is open until the run has ended, and two bytes; it is async-signal-safe.
            match unsafe { libc::write(members, b"0\n".as_ptr().cast(), 2) } {
                2 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        // SAFETY: between fork and exec only that write is made.
        unsafe { command.pre_exec(enter) };
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
}

impl Drop for Group {
    fn drop(&mut self) {
        group::remove(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_leaves_the_tree_is_counted_and_ended() {
        let Some(groups) = Groups::place().and_then(Groups::new) else {
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
        group.enter(&mut command);
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
