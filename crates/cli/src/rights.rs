//! The rights to look at programs, where `slowpath setup` has given them to the user's group: commands that record are executed
//! again as the installed copy, which has the capabilities; all other commands, which read files from elsewhere, give them up.
//! What is installed, and how, is left to `setup`.

use crate::complain::complain;
use crate::setup::{INSTALLED, setup_command};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use slowpath_collect::signals;
use slowpath_report::shown;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;

/// Set for the installed copy: the number of a descriptor with the environment. The dynamic linker removes variables such as `LD_PRELOAD`
/// and `TMPDIR` from a program with capabilities, but the recorded program shall have them.
const ENVIRONMENT: &str = "SLOWPATH_ENVIRONMENT";
/// More than Linux passes to a program, bytes: a quarter of the stack's limit, and 6 MiB where that is unlimited.
const MOST_ENVIRONMENT: u64 = 64 << 20;

/// What a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// To look at programs.
    Recording,
    /// Nothing that the user has not.
    Nothing,
}

/// Takes the installed rights for a command that records, and gives up those that others do not need. To be called while there is one thread.
pub fn settle(needs: Needs) {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let entered = restore_environment();
    match needs {
        Needs::Nothing => give_up(),
        Needs::Recording if entered || can_look() => {}
        Needs::Recording => enter(),
    }
}

/// Whether this process can sample and load BPF.
fn can_look() -> bool {
    let all = CapabilitySet::PERFMON | CapabilitySet::BPF;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(all))
}

fn give_up() {
    let none = CapabilitySet::empty();
    if capabilities(None).is_ok_and(|sets| !sets.permitted.is_empty()) {
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        // The kernel refuses no process that asks for less.
        let _ = set_capabilities(None, sets);
    }
}

/// Executes the installed copy in place of this process, if there is one for this user and it is of this build; else returns.
fn enter() {
    let (Ok(installed), Ok(own)) = (std::fs::metadata(INSTALLED), std::fs::metadata("/proc/self/exe")) else {
        return;
    };
    if rustix::fs::access(INSTALLED, rustix::fs::Access::EXEC_OK).is_err() {
        return;
    }
    if !is_same_build(&installed, &own) {
        complain(&shown!(
            "another build of slowpath was set up to record without sudo; to set up this one: {}",
            setup_command("")
        ));
        return;
    }
    let Ok(environment) = kept_environment() else { return };
    let arguments: Result<Vec<CString>, _> =
        std::env::args_os().map(|argument| CString::new(argument.into_vec())).collect();
    let (Ok(arguments), Ok(installed)) = (arguments, CString::new(INSTALLED)) else { return };
    let mut pointers: Vec<*const libc::c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(std::ptr::null());
    signals::give_back();
    // SAFETY: there is one thread.
    unsafe { std::env::set_var(ENVIRONMENT, environment.as_raw_fd().to_string()) };
    // The standard library's way would change signals, which are the target's.
    // SAFETY: C strings, and an array of such with a null at its end.
    unsafe { libc::execv(installed.as_ptr(), pointers.as_ptr()) };
    // It failed, for example where no program may gain rights: then this one goes on with what it has.
    signals::prepare();
    signals::ignore_pipe();
    // SAFETY: there is one thread.
    unsafe { std::env::remove_var(ENVIRONMENT) };
}

/// `setup` copies the time of the last change, too.
fn is_same_build(installed: &Metadata, own: &Metadata) -> bool {
    let of = |metadata: &Metadata| (metadata.size(), metadata.mtime(), metadata.mtime_nsec());
    of(installed) == of(own)
}

/// The environment in a file without a name, which the copy inherits.
fn kept_environment() -> std::io::Result<File> {
    let mut file = File::from(memfd_create("slowpath-environment", MemfdFlags::CLOEXEC)?);
    let mut bytes = Vec::new();
    for (name, value) in std::env::vars_os() {
        bytes.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    file.write_all(&bytes)?;
    file.rewind()?;
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

/// Puts back what the dynamic linker removed. Returns whether this is the installed copy, called by [`enter`].
fn restore_environment() -> bool {
    let Some(number) = std::env::var_os(ENVIRONMENT) else { return false };
    // SAFETY: there is one thread.
    unsafe { std::env::remove_var(ENVIRONMENT) };
    let Some(descriptor) =
        number.to_str().and_then(|number| number.parse().ok()).filter(|number| *number > 2)
    else {
        return true;
    };
    // Whoever set the variable by hand may have named no descriptor at all.
    // SAFETY: fcntl takes any number.
    if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
        return true;
    }
    let mut bytes = Vec::new();
    // SAFETY: it is open, was passed to us for this, and nothing of ours has opened a file yet.
    let file = unsafe { File::from_raw_fd(descriptor) };
    if file.take(MOST_ENVIRONMENT).read_to_end(&mut bytes).is_err() {
        return true;
    }
    for (name, value) in parsed(&bytes) {
        if std::env::var_os(name).is_none() {
            // SAFETY: as above. The C library takes nothing that it removed from a variable that comes back: it asks whether it runs with rights.
            unsafe { std::env::set_var(name, OsString::from_vec(value.to_vec())) };
        }
    }
    true
}

/// The variables of an environment: names and values.
fn parsed(bytes: &[u8]) -> impl Iterator<Item = (&OsStr, &[u8])> {
    bytes.split(|byte| *byte == 0).filter_map(|variable| {
        let at = variable.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        Some((OsStr::from_bytes(&variable[..at]), &variable[at + 1..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_read_as_it_was_written() {
        let all: Vec<(&OsStr, &[u8])> = parsed(b"A=1\0B=x=y\0=odd\0none\0C=\0").collect();
        let expected: [(&OsStr, &[u8]); 3] =
            [(OsStr::new("A"), b"1"), (OsStr::new("B"), b"x=y"), (OsStr::new("C"), b"")];
        assert_eq!(all, expected);
    }
}
