//! `setup`: lets the members of a group record without sudo, and takes that back.
//!
//! A copy of slowpath is installed with file capabilities, executable by root and the group only, as the kernel's documentation
//! recommends for perf (Documentation/admin-guide/perf-security.rst). `docs/security.md` says what members can learn. When the copy is
//! used is left to `rights`.

use crate::args::Setup;
use crate::run::{Done, failed, say};
use rustix::fs::{Gid, Uid, XattrFlags, fchown, fsetxattr};
use rustix::thread::CapabilitySet;
use slowpath_report::shown;
use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "/usr/local/lib/slowpath";
/// The copy with capabilities.
pub const INSTALLED: &str = "/usr/local/lib/slowpath/slowpath";
/// Where it is written before it takes that name.
const NEW: &str = "/usr/local/lib/slowpath/slowpath.new";
const GROUP: &str = "slowpath";
/// Stands beside the copy where the group was made by us, and not there before.
const GROUP_IS_OURS: &str = "/usr/local/lib/slowpath/group-is-ours";
/// To sample all CPUs and set probes, to load BPF, and to read the kernel's symbols. It gets no right to trace, or to access the files of, others.
const CAPABILITIES: CapabilitySet =
    CapabilitySet::PERFMON.union(CapabilitySet::BPF).union(CapabilitySet::SYSLOG);
const NAMES: &str = "cap_perfmon, cap_bpf and cap_syslog";

/// How to run `setup` with sudo, whose PATH is not the user's.
pub fn setup_command(rest: &str) -> String {
    let own = std::env::current_exe().map_or("slowpath".into(), |path| path.display().to_string());
    format!("sudo {} setup{rest}", shell_words::quote(&own))
}

/// `slowpath setup`.
pub fn setup(setup: &Setup) -> Done {
    if !rustix::process::geteuid().is_root() {
        let rest = if setup.remove { " --remove" } else { "" };
        return Err(failed(format!("this changes the system, so it needs root: {}", setup_command(rest))));
    }
    if setup.remove { remove() } else { install(&users(setup)) }
}

/// Whom to add to the group: those named, else the user who called sudo.
fn users(setup: &Setup) -> Vec<String> {
    if !setup.users.is_empty() {
        return setup.users.clone();
    }
    std::env::var("SUDO_USER").into_iter().filter(|user| user != "root").collect()
}

fn install(users: &[String]) -> Done {
    for user in users {
        if entry("passwd", user).is_none() {
            return Err(failed(format!("there is no user {user}")));
        }
    }
    let cannot = |error: io::Error| failed(format!("cannot install {INSTALLED}: {error}"));
    make_folder().map_err(cannot)?;
    if entry("group", GROUP).is_none() {
        run("groupadd", &["--system", GROUP])?;
        File::create(GROUP_IS_OURS).map_err(cannot)?;
        say(&shown!("made the group {}\n", GROUP))?;
    }
    let group = entry("group", GROUP).and_then(|entry| entry.split(':').nth(2)?.parse().ok());
    let group: u32 = group.ok_or_else(|| failed(format!("the group {GROUP} was made, but is not found")))?;
    copy(group).map_err(|error| {
        // What was written so far helps nobody.
        let _ = remove_file(NEW);
        cannot(error)
    })?;
    say(&shown!("installed {}: owner root, group {}, mode 0750, with {}\n", INSTALLED, GROUP, NAMES))?;
    for user in users {
        run("usermod", &["--append", "--groups", GROUP, user])?;
        say(&shown!(
            "added {} to the group {}; it counts from the next login on, or in a shell of: newgrp {}\n",
            user,
            GROUP,
            GROUP
        ))?;
    }
    if users.is_empty() {
        say(&shown!("nobody was added to the group {}: {}\n", GROUP, setup_command(" --user NAME")))?;
    }
    say(&shown!(
        "Members of the group now record their own programs as root does, without sudo. Add only users whom you trust: an error\n\
         in slowpath could show them what the kernel and other users do. To undo this: {}\n",
        setup_command(" --remove")
    ))?;
    Ok(0)
}

/// A folder that only root can change.
fn make_folder() -> io::Result<()> {
    match DirBuilder::new().mode(0o755).create(FOLDER) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let folder = fs::symlink_metadata(FOLDER)?;
    if !folder.is_dir() || folder.uid() != 0 || folder.mode() & 0o022 != 0 {
        return Err(io::Error::other(format!("{FOLDER} must be a folder that only root can change")));
    }
    Ok(())
}

/// Installs this program. It replaces an installed one at once: no moment has a file with rights and other contents.
fn copy(group: u32) -> io::Result<()> {
    let mut own = File::open("/proc/self/exe")?;
    let times = own.metadata()?;
    remove_file(NEW)?;
    let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(NEW)?;
    io::copy(&mut own, &mut new)?;
    fchown(&new, Some(Uid::ROOT), Some(Gid::from_raw(group)))?;
    new.set_permissions(Permissions::from_mode(0o750))?;
    // By the time of its last change a copy is known to be of this build.
    new.set_times(FileTimes::new().set_modified(times.modified()?))?;
    // Last, for a change of owner takes capabilities away.
    fsetxattr(&new, "security.capability", &attribute(), XattrFlags::empty())?;
    new.sync_all()?;
    fs::rename(NEW, INSTALLED)
}

/// `struct vfs_cap_data` of linux/capability.h, revision 2: permitted and effective at once.
fn attribute() -> [u8; 20] {
    const REVISION_2: u32 = 0x0200_0000;
    const EFFECTIVE: u32 = 1;
    let permitted = CAPABILITIES.bits();
    let words = [REVISION_2 | EFFECTIVE, permitted as u32, 0, (permitted >> 32) as u32, 0];
    let mut bytes = [0; 20];
    for (at, word) in words.into_iter().enumerate() {
        bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn remove() -> Done {
    let (installed, ours) = (Path::new(INSTALLED).exists(), Path::new(GROUP_IS_OURS).exists());
    if ours && entry("group", GROUP).is_some() {
        run("groupdel", &[GROUP])?;
        say(&shown!("removed the group {}\n", GROUP))?;
    }
    for file in [NEW, INSTALLED, GROUP_IS_OURS] {
        remove_file(file).map_err(|error| failed(format!("cannot remove {file}: {error}")))?;
    }
    match fs::remove_dir(FOLDER) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed(format!("cannot remove {FOLDER}: {error}")));
        }
        _ => {}
    }
    if installed {
        say(&shown!("removed {}\n", INSTALLED))?;
    }
    if !installed && !ours {
        say(&shown!("nothing was set up\n"))?;
    } else if !ours {
        say(&shown!("the group {} was there before, and is left\n", GROUP))?;
    }
    Ok(0)
}

fn remove_file(path: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A line of an account database.
fn entry(database: &str, name: &str) -> Option<String> {
    let output = Command::new("getent").args([database, "--", name]).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && line.starts_with(&format!("{name}:"))).then(|| line.trim_end().to_owned())
}

fn run(program: &str, arguments: &[&str]) -> Result<(), (String, u8)> {
    let path = "/usr/sbin:/usr/bin:/sbin:/bin";
    let output = Command::new(program).args(arguments).env("PATH", path).output();
    let output = output.map_err(|error| {
        failed(format!("cannot run {program}: {error}. It is part of the package passwd, or shadow"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(format!("{program} {} failed: {said}", arguments.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_holds_three_capabilities_and_nothing_else() {
        // As `setcap cap_syslog,cap_perfmon,cap_bpf=ep` writes it.
        let expected = [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xc4, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(attribute(), expected);
    }
}
