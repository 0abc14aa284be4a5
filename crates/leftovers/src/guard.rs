//! A small process that outlives slowpath, and ends what slowpath ran if slowpath dies, however that happens.
//!
//! It sleeps until a pipe ends that only slowpath holds, so that it takes no time from what is measured: nothing is sent to it
//! while it sleeps. Each command puts a descriptor of itself (a pidfd) into a mailbox before it begins, and slowpath takes it
//! out before it asks for the command's exit status; what the guard finds there is what ran. The pidfd stands for that process
//! even if its number was reused. Children of slowpath hold the pipe until their exec, so that none can be missed.

use crate::{apart, group, raw};
use std::ffi::{CStr, CString, OsStr};
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// How it is called where processes are listed: not slowpath, so that who kills all of that name leaves it.
const NAME: &CStr = c"sp-guard";
/// Looks through all processes, and how long between: one that is killed takes a moment.
const TRIES: u32 = 2_000;
const BETWEEN_MS: u32 = 5;
/// Looks in a row at processes without arguments: one that rubbed out its own has none for ever, one that executes for a moment.
const TRIES_UNSURE: u32 = 200;

/// What a guard ends beside the process groups of commands that [`Guard::watch`] knows.
#[derive(Debug, Default, Clone, Copy)]
pub struct Wards<'w> {
    /// A control group, which need not be there yet, with all in it; it is removed as well.
    pub group: Option<&'w Path>,
    /// Every process with this argument, which nobody else's process has.
    pub argument: Option<&'w OsStr>,
}

/// A guard; when this is dropped it ends and leaves all as it is, but not while a thread panics.
#[derive(Debug)]
pub struct Guard {
    pid: libc::pid_t,
    /// The guard sleeps on the other end.
    alive: Option<PipeWriter>,
    /// Where commands put themselves, and where they are taken out.
    mailbox: (Arc<OwnedFd>, OwnedFd),
}

impl Guard {
    /// Starts a guard. An error if there can be no further process or descriptor.
    pub fn start(wards: Wards<'_>) -> io::Result<Guard> {
        let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
        let group = wards.group.map(|path| text(path.as_os_str())).transpose()?;
        let argument = wards.argument.map(text).transpose()?;
        let (ended, alive) = io::pipe()?;
        // It closes this as it closes all else; then it is out of the way of what is measured, and of signals to our group.
        let (mut standing, stands) = io::pipe()?;
        let (put, take) = raw::mailbox()?;
        // SAFETY: the child makes only the calls of `raw`, on memory that was prepared before.
        let pid = unsafe {
            apart::start(NAME, [ended.as_raw_fd(), take.as_raw_fd()], || {
                run(group.as_deref(), argument.as_deref())
            })
        }?;
        drop(stands);
        let _ = standing.read(&mut [0]); // it ends, and sends nothing
        Ok(Guard { pid, alive: Some(alive), mailbox: (Arc::new(put), take) })
    }

    /// Has the command, which begins as a process group of its own, ended with this process, until [`Guard::over`].
    pub fn watch(&self, command: &mut Command) {
        let mailbox = Arc::clone(&self.mailbox.0);
        let tell = move || {
            // SAFETY: getpid has no preconditions; it is async-signal-safe.
            let pid = unsafe { libc::getpid() };
            let pidfd = raw::pidfd(pid).ok_or_else(io::Error::last_os_error)?;
            let _ = raw::send(mailbox.as_raw_fd(), pid, pidfd.as_fd()); // nobody takes it if the guard was killed
            Ok(())
        };
        // SAFETY: between fork and exec only the calls of `raw` are made, on a descriptor that the command holds.
        unsafe { command.pre_exec(tell) };
    }

    /// The command that was watched has ended, and nothing of its process group is left. To be called before its exit status is
    /// asked for: then its number can be reused.
    pub fn over(&self) {
        raw::discard(self.mailbox.1.as_raw_fd());
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut alive) = self.alive.take()
            && !std::thread::panicking()
        {
            let _ = alive.write_all(b"."); // a guard that was killed needs no message
        }
        apart::wait(self.pid);
    }
}

/// What the guard does; its descriptors are the pipe and the mailbox.
fn run(group: Option<&CStr>, argument: Option<&CStr>) {
    let mut byte = 0u8;
    let got = loop {
        // SAFETY: there is room for one byte.
        match unsafe { libc::read(0, (&raw mut byte).cast(), 1) } {
            -1 if raw::errno() == libc::EINTR => {}
            got => break got,
        }
    };
    if got == 0 {
        end_all(1, group, argument);
    }
}

fn end_all(mailbox: RawFd, group: Option<&CStr>, argument: Option<&CStr>) {
    while let Some((pgid, leader)) = raw::receive(mailbox) {
        raw::kill_group(&leader, pgid);
    }
    if let Some(argument) = argument {
        end_with_argument(argument.to_bytes());
    }
    if let Some(folder) = group {
        group::emptied(folder);
    }
}

/// Kills every process with an argument among its first 16 KB of arguments, until there is none. One that executes a program just
/// now has no arguments for a moment, so that is looked at again.
fn end_with_argument(argument: &[u8]) {
    let mut unsure = 0;
    for _ in 0..TRIES {
        let (mut found, mut between) = (false, false);
        let Some(all) = raw::open_folder(raw::ANYWHERE, c"/proc") else { return };
        raw::each_entry(&all, |name, _| {
            let Some(pid) = raw::number(name.to_bytes()) else { return };
            // What is opened before its arguments are read, and there when it is killed, had its number all the time.
            let Some(process) = raw::pidfd(pid) else { return };
            let mut line = [0; 16_384];
            let Some(folder) = raw::open_folder(all.as_raw_fd(), name) else { return };
            let arguments = raw::open(folder.as_raw_fd(), c"cmdline", libc::O_RDONLY);
            let Some(arguments) = arguments else { return };
            let words = raw::read(&arguments, &mut line);
            if words.split(|byte| *byte == 0).any(|one| one == argument) {
                raw::kill(&process);
                found = true;
            }
            // The kernel's own threads, and what has ended, have no arguments either, but no program.
            between |= words.is_empty() && raw::is_link(folder.as_raw_fd(), c"exe");
        });
        unsure = if between { unsure + 1 } else { 0 };
        if !found && (!between || unsure > TRIES_UNSURE) {
            return;
        }
        raw::pause(BETWEEN_MS);
    }
}
