//! The kernel: a system call, a change between two threads, a wait for the disk, a process.

use crate::best;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write, pipe};
use std::path::Path;
use std::process::{Command, Stdio};

/// System calls in a piece, and changes between threads.
const CALLS: usize = 2_000;
const TURNS: usize = 200;

/// Time of a system call that does nothing, ns.
pub(crate) fn syscall_ns() -> Result<f64, String> {
    let piece = best::ns(|| {
        for _ in 0..CALLS {
            // SAFETY: takes nothing, always succeeds; the C library does not answer it by itself.
            unsafe { libc::syscall(libc::SYS_getppid) };
        }
    });
    Ok(piece / CALLS as f64)
}

/// Time from one thread to another and back, ns.
pub(crate) fn switch_ns() -> Result<f64, String> {
    let failed = |error: std::io::Error| error.to_string();
    let (mut there, mut to_there) = pipe().map_err(failed)?;
    let (mut back, mut to_back) = pipe().map_err(failed)?;
    let other = std::thread::Builder::new().spawn(move || {
        let mut byte = [0];
        while there.read_exact(&mut byte).is_ok() && to_back.write_all(&byte).is_ok() {}
    });
    let other = other.map_err(failed)?;
    let mut trouble = None;
    let piece = best::ns(|| {
        for _ in 0..TURNS {
            let turn = to_there.write_all(&[1]).and_then(|()| back.read_exact(&mut [0]));
            trouble = turn.err().or(trouble.take());
        }
    });
    drop(to_there); // ends the other thread
    let _ = other.join();
    trouble.map_or(Ok(piece / TURNS as f64), |error| Err(failed(error)))
}

/// Time until a changed page of a file is on the disk, ns.
pub(crate) fn fsync_ns(directory: &Path) -> Result<f64, String> {
    let failed = |error: std::io::Error| error.to_string();
    let path = tempfile::Builder::new().prefix(".slowpath-limits").tempfile_in(directory).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).open(path.path()).map_err(failed)?;
    let mut trouble = None;
    let piece = best::ns(|| {
        let synced = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.write_all(&[1; 4096]))
            .and_then(|()| file.sync_all());
        trouble = synced.err().or(trouble.take());
    });
    trouble.map_or(Ok(piece), |error| Err(failed(error)))
}

/// Time of starting a program that does nothing, to its end, ns.
pub(crate) fn process_ns() -> Result<f64, String> {
    let mut trouble = None;
    let piece = best::ns(|| {
        let ended = Command::new("true").stdin(Stdio::null()).stdout(Stdio::null()).status();
        trouble = ended.err().or(trouble.take());
    });
    trouble.map_or(Ok(piece), |error| Err(error.to_string()))
}
