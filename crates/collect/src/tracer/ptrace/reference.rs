//! A small child that makes calls which do nothing, traced like the target: what these take is what tracing takes, on this
//! machine and under its load at that moment.

use super::{Filter, Floor};
use crate::Error;
use crate::launch;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

/// Calls in a batch, of which the median counts.
pub(super) const BATCH: usize = 30;

/// The child, which makes a batch of calls on request and ends when this is dropped.
pub(super) struct Reference {
    pub pid: u32,
    go: File,
    results: File,
    /// The result of the last batch was not taken.
    unread: bool,
    /// CPU time and sleep of the calls of this batch so far.
    calls: Vec<(u64, u64)>,
}

impl Reference {
    /// Forks the child. It must be traced before it begins.
    pub(super) fn fork(filter: &Filter) -> Result<Reference, Error> {
        let (wait, go) = launch::pipe().map_err(Error::system("make a pipe"))?;
        let (results, tell) = launch::pipe().map_err(Error::system("make a pipe"))?;
        // SAFETY: the child calls only what may be called after fork, on memory prepared before.
        match unsafe { libc::fork() } {
            -1 => Err(Error::system("fork")(io::Error::last_os_error())),
            0 => {
                // SAFETY: as above; `_exit` ends the child without running anything of the parent's.
                unsafe {
                    libc::close(go.as_raw_fd());
                    child(filter, wait.as_raw_fd(), tell.as_raw_fd());
                    libc::_exit(0)
                }
            }
            pid => Ok(Reference {
                pid: pid as u32,
                go: go.into(),
                results: results.into(),
                unread: false,
                calls: Vec::new(),
            }),
        }
    }

    /// Has it make a batch of calls.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        if self.unread {
            self.took()?; // or the pipe would be full some time
        }
        self.unread = true;
        self.go.write_all(b"!")
    }

    /// Elapsed and CPU time of the last batch, ns.
    pub(super) fn took(&mut self) -> io::Result<[u64; 2]> {
        let (mut wall, mut cpu) = ([0; 8], [0; 8]);
        self.results.read_exact(&mut wall)?;
        self.results.read_exact(&mut cpu)?;
        self.unread = false;
        Ok([u64::from_ne_bytes(wall), u64::from_ne_bytes(cpu)])
    }

    /// A call of it has returned; the floor, once that was the last of a batch.
    pub(super) fn call(&mut self, cpu_ns: u64, asleep_ns: u64) -> Option<Floor> {
        self.calls.push((cpu_ns, asleep_ns));
        if self.calls.len() < BATCH {
            return None;
        }
        let (cpu, asleep) = std::mem::take(&mut self.calls).into_iter().unzip();
        Some(Floor { cpu_ns: median(cpu)?, asleep_ns: median(asleep)? })
    }
}

pub(super) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Runs in the child.
///
/// # Safety
/// Only after fork.
unsafe fn child(filter: &Filter, wait: RawFd, tell: RawFd) {
    let now = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid timespec.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let both = || [now(libc::CLOCK_MONOTONIC), now(libc::CLOCK_THREAD_CPUTIME_ID)];
    let mut byte = 0u8;
    // SAFETY: system calls on our own descriptors and memory; access fails on its null pointer.
    unsafe {
        libc::setpgid(0, 0); // a Ctrl-C is not for it
        let mut filtered = false;
        while libc::read(wait, (&raw mut byte).cast(), 1) == 1 {
            filtered = filtered || filter.install().is_ok();
            if !filtered {
                return;
            }
            let before = both();
            for _ in 0..BATCH {
                libc::syscall(libc::SYS_access, std::ptr::null::<libc::c_char>(), 0);
            }
            let after = both();
            let took = [after[0] - before[0], after[1] - before[1]];
            libc::write(tell, took.as_ptr().cast(), 16);
        }
    }
}
