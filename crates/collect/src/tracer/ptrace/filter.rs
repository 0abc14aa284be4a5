//! Which system calls stop the target: a seccomp filter that it installs before its exec and all its descendants inherit.
//!
//! Few calls, and never reads and writes one by one: a stop costs many times what these do.

use libc::{sock_filter, sock_fprog};
use std::io;

/// open, openat, openat2, creat.
pub(super) const OPENS: [u32; 4] = [2, 257, 437, 85];
/// execve, execveat: their path is read before, for there is another memory after.
pub(super) const EXECS: [u32; 2] = [59, 322];
/// wait4, waitid.
pub(super) const WAITS: [u32; 2] = [61, 247];
/// fsync, fdatasync, msync, sync, syncfs, sync_file_range.
pub(super) const SYNCS: [u32; 6] = [74, 75, 26, 162, 306, 277];
pub(super) const MSYNC: u32 = 26;
/// stat, lstat, access, readlink, readlinkat, faccessat, faccessat2.
const LOOKS: [u32; 7] = [4, 6, 21, 89, 267, 269, 439];
/// nanosleep, clock_nanosleep.
const SLEEPS: [u32; 2] = [35, 230];
pub(super) const CONNECT: u32 = 42;
/// newfstatat and statx, and the argument with their flags: of an open file (`AT_EMPTY_PATH`), which is asked after each
/// open, they do not stop.
const BY_FLAGS: [(u32, u32); 2] = [(262, 3), (332, 2)];
/// select and pselect6: they stop where they look at no descriptor, which is a sleep.
const SELECTS: [u32; 2] = [23, 270];

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;

/// The path's place among a call's arguments, if it has one.
pub(super) fn path_argument(number: u32) -> Option<usize> {
    match number {
        2 | 85 | 4 | 6 | 21 | 89 | 59 => Some(0),
        257 | 437 | 262 | 332 | 267 | 269 | 439 | 322 => Some(1),
        _ => None,
    }
}

/// The filter's program.
pub(crate) struct Filter(Vec<sock_filter>);

impl Filter {
    pub(crate) fn new() -> Filter {
        use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W};
        let one = |code: u32, jt: u8, jf: u8, k: u32| sock_filter { code: code as u16, jt, jf, k };
        let load = |k| one(BPF_LD | BPF_W | BPF_ABS, 0, 0, k);
        let equal = |k, jt, jf| one(BPF_JMP | BPF_JEQ | BPF_K, jt, jf, k);
        let allow = one(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW);
        let trace = one(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_TRACE);
        // The 32-bit interface has other numbers: its calls are not looked at.
        let mut all = vec![load(ARCH), equal(AUDIT_ARCH_X86_64, 1, 0), allow, load(NUMBER)];
        let always = [&OPENS[..], &EXECS, &WAITS, &SYNCS, &LOOKS, &SLEEPS, &[CONNECT]];
        for number in always.concat() {
            all.extend([equal(number, 0, 1), trace]);
        }
        for (number, flags) in BY_FLAGS {
            let empty = one(BPF_JMP | BPF_JSET | BPF_K, 0, 1, libc::AT_EMPTY_PATH as u32);
            all.extend([equal(number, 0, 4), load(ARGUMENTS + 8 * flags), empty, allow, trace]);
        }
        for number in SELECTS {
            all.extend([equal(number, 0, 4), load(ARGUMENTS), equal(0, 1, 0), allow, trace]);
        }
        all.push(allow);
        Filter(all)
    }

    /// Installs the filter in the calling thread and all that it will start. May be called between fork and exec.
    pub(crate) fn install(&self) -> io::Result<()> {
        let program = sock_fprog { len: self.0.len() as u16, filter: self.0.as_ptr().cast_mut() };
        // SAFETY: plain system calls; the program outlives the call, and the kernel copies it.
        unsafe {
            let filter =
                || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0);
            // Whoever has no rights may filter only what will never gain any.
            if filter() == 0 || libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && filter() == 0 {
                return Ok(());
            }
        }
        Err(io::Error::last_os_error())
    }
}
