//! A small child that looks up a path in vain, traced like the target: what that takes more than where it is not traced is what
//! tracing takes, on this machine and under its load at that moment. A call that does nothing at all would not show how cold a
//! stop leaves the caches.

use super::Floor;
use crate::Error;
use crate::launch;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};

/// Calls in a batch, of which the median counts.
pub(super) const BATCH: usize = 30;
/// Batches before it is traced, of which the shortest counts.
const UNTRACED: usize = 8;
/// What is looked up.
const PATH: &CStr = c"/usr/lib/slowpath-looks-for-nothing/here";

/// The child, which makes a batch of calls on request and ends when this is dropped.
pub(super) struct Reference {
    pub pid: u32,
    /// What one of its calls takes where it is not traced, ns.
    pub bare_ns: u64,
    go: File,
    results: File,
    /// The result of the last batch was not taken.
    unread: bool,
    /// CPU time and sleep of the calls of this batch so far.
    calls: Vec<(u64, u64)>,
}

impl Reference {
    /// Forks the child. It must be traced before it begins.
    pub(super) fn fork() -> Result<Reference, Error> {
        let (wait, go) = launch::pipe().map_err(Error::system("make a pipe"))?;
        let (results, tell) = launch::pipe().map_err(Error::system("make a pipe"))?;
        // SAFETY: the child calls only what may be called after fork, on memory prepared before.
        match unsafe { libc::fork() } {
            -1 => Err(Error::system("fork")(io::Error::last_os_error())),
            0 => {
                // SAFETY: as above; `_exit` ends the child without running anything of the parent's.
                unsafe {
                    libc::close(go.as_raw_fd());
                    child(wait.as_raw_fd(), tell.as_raw_fd());
                    libc::_exit(0)
                }
            }
            pid => {
                drop(tell); // so that the end of the child is seen
                let mut reference = Reference {
                    pid: pid as u32,
                    bare_ns: 0,
                    go: go.into(),
                    results: results.into(),
                    unread: false,
                    calls: Vec::new(),
                };
                reference.bare_ns =
                    reference.told().map_err(Error::system("measure a child of one's own"))? / BATCH as u64;
                Ok(reference)
            }
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
        let took = [self.told()?, self.told()?];
        self.unread = false;
        Ok(took)
    }

    fn told(&mut self) -> io::Result<u64> {
        let mut number = [0; 8];
        self.results.read_exact(&mut number)?;
        Ok(u64::from_ne_bytes(number))
    }

    /// A call of it has returned; the floor, once that was the last of a batch.
    pub(super) fn call(&mut self, cpu_ns: u64, asleep_ns: u64) -> Option<Floor> {
        self.calls.push((cpu_ns.saturating_sub(self.bare_ns), asleep_ns));
        if self.calls.len() < BATCH {
            return None;
        }
        let (cpu, asleep) = std::mem::take(&mut self.calls).into_iter().unzip();
        Some(Floor { cpu_ns: median(cpu)?, asleep_ns: median(asleep)? })
    }
}

/// The value in the middle; of two the higher.
pub(super) fn median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Runs in the child.
///
/// # Safety
/// Only after fork.
unsafe fn child(wait: RawFd, tell: RawFd) {
    let now = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid timespec.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let both = || [now(libc::CLOCK_MONOTONIC), now(libc::CLOCK_THREAD_CPUTIME_ID)];
    let batch = || {
        let before = both();
        for _ in 0..BATCH {
            // SAFETY: the path is a C string.
            unsafe { libc::syscall(libc::SYS_access, PATH.as_ptr(), 0) };
        }
        let after = both();
        [after[0] - before[0], after[1] - before[1]]
    };
    let mut byte = 0u8;
    // SAFETY: system calls on our own descriptors and memory.
    unsafe {
        libc::setpgid(0, 0); // a Ctrl-C is not for it
        let bare = (0..UNTRACED).map(|_| batch()[0]).min().unwrap_or(0);
        libc::write(tell, (&raw const bare).cast(), 8);
        while libc::read(wait, (&raw mut byte).cast(), 1) == 1 {
            let took = batch();
            libc::write(tell, took.as_ptr().cast(), 16);
        }
    }
}
