//! Limits on what we may use: descriptors, locked memory, address space, processes.
//!
//! Soft limits are raised to the hard ones, and the target gets its own back. What is short in spite of that is named here, with
//! its limit and the way out; what to do without it is left to whoever asked for it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Limits that would hold us up rather than what the user meant by them.
const RAISED: [Resource; 4] = [libc::RLIMIT_NOFILE, libc::RLIMIT_MEMLOCK, libc::RLIMIT_AS, libc::RLIMIT_DATA];

type Resource = libc::__rlimit_resource_t;

/// The limits that we were started with, in the order of [`RAISED`]; none for one that cannot be read.
static INHERITED: OnceLock<[Option<libc::rlimit>; 4]> = OnceLock::new();
/// Descriptors that may be open.
static DESCRIPTORS: AtomicI32 = AtomicI32::new(i32::MAX);
/// A file was left closed so that others may be opened.
static LEFT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Descriptors that are kept for what must not fail once the target runs: its pidfd, segments, `/proc`.
const KEPT: i32 = 6;

fn limit(resource: Resource) -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the out-pointer is valid.
    (unsafe { libc::getrlimit(resource, &mut limit) } == 0).then_some(limit)
}

/// Raises soft limits to the hard ones. To be called before anything is opened.
pub(crate) fn raise() {
    let inherited = INHERITED.get_or_init(|| RAISED.map(limit));
    for (resource, limit) in RAISED.into_iter().zip(inherited) {
        if let Some(limit) = limit.filter(|limit| limit.rlim_cur < limit.rlim_max) {
            // SAFETY: a valid limit; one that the kernel does not take changes nothing.
            unsafe { libc::setrlimit(resource, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit }) };
        }
    }
    let most = limit(libc::RLIMIT_NOFILE).map_or(libc::RLIM_INFINITY, |limit| limit.rlim_cur);
    DESCRIPTORS.store(i32::try_from(most).unwrap_or(i32::MAX), Ordering::Relaxed);
}

/// Puts the limits back that we were started with; what loads BPF programs may have raised more than we did. May be called
/// between fork and exec.
pub(crate) fn give_back() {
    for (resource, limit) in RAISED.into_iter().zip(INHERITED.get().into_iter().flatten()) {
        if let Some(limit) = limit {
            // SAFETY: a limit that was in force before.
            unsafe { libc::setrlimit(resource, limit) };
        }
    }
}

/// Whether a new descriptor of this number leaves fewer than `more` besides those that are kept, of `most`: the kernel gives the
/// lowest number that is free.
fn is_one_of_the_last(number: i32, more: i32, most: i32) -> bool {
    number >= most.saturating_sub(KEPT + more)
}

fn leaves_fewer_than(new: &impl AsRawFd, more: i32) -> bool {
    is_one_of_the_last(new.as_raw_fd(), more, DESCRIPTORS.load(Ordering::Relaxed))
}

/// Whether so many more descriptors may be opened now.
pub(crate) fn have(more: i32) -> bool {
    // SAFETY: makes a new descriptor of nothing else.
    let new = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if new < 0 {
        return false;
    }
    // SAFETY: the kernel just gave this descriptor to us alone.
    let new = unsafe { OwnedFd::from_raw_fd(new) };
    !leaves_fewer_than(&new, more)
}

/// Whether so many more bytes of memory may be had now.
pub(crate) fn have_memory(bytes: usize) -> bool {
    let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, which is not touched and goes at once.
    unsafe {
        let base = libc::mmap(std::ptr::null_mut(), bytes, rights, flags | libc::MAP_NORESERVE, -1, 0);
        base != libc::MAP_FAILED && libc::munmap(base, bytes) == 0
    }
}

/// Keeps what was opened unless it is one of the last `more` descriptors that may be; then it is closed, and
/// [`left_closed`] says so.
pub(crate) fn keep<F: AsRawFd>(new: F, more: i32) -> Option<F> {
    if leaves_fewer_than(&new, more) {
        LEFT_CLOSED.store(true, Ordering::Relaxed);
        return None;
    }
    Some(new)
}

/// Says so if a file was left closed so that others may be opened.
pub(crate) fn left_closed() -> Option<String> {
    LEFT_CLOSED.load(Ordering::Relaxed).then(|| {
        format!(
            "not every file of the program could be kept open, so some of its stacks end early and some functions \
             have no names: {}",
            why(&io::Error::from_raw_os_error(libc::EMFILE))
        )
    })
}

/// Whether an error says that something is short rather than forbidden or wrong.
pub(crate) fn is_short(error: &io::Error) -> bool {
    const SHORT: [i32; 8] = [
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOMEM,
        libc::EAGAIN,
        libc::ENOSPC,
        libc::EDQUOT,
        libc::EFBIG,
        libc::EIO,
    ];
    error.raw_os_error().is_some_and(|code| SHORT.contains(&code))
}

/// The error, and of what is short how much of it there may be and who says so.
pub(crate) fn why(error: &io::Error) -> String {
    let soft = |resource| match limit(resource).map(|limit| limit.rlim_cur) {
        None | Some(libc::RLIM_INFINITY) => None,
        Some(limit) => Some(limit),
    };
    let way_out = match error.raw_os_error() {
        Some(libc::EMFILE) => {
            soft(libc::RLIMIT_NOFILE).map(|most| format!("at most {most} files may be open (ulimit -n)"))
        }
        Some(libc::EAGAIN) => Some(match soft(libc::RLIMIT_NPROC) {
            Some(most) => {
                format!(
                    "at most {most} processes and threads of a user (ulimit -u), or pids.max of the control group"
                )
            }
            None => "see pids.max of the control group".to_owned(),
        }),
        Some(libc::ENOMEM) => soft(libc::RLIMIT_AS)
            .map(|most| format!("at most {} MiB of address space (ulimit -v)", most >> 20)),
        _ => None,
    };
    match way_out {
        Some(way_out) => format!("{error}: {way_out}"),
        None => error.to_string(),
    }
}

/// How much memory the limit lets us lock, bytes.
pub(crate) fn may_lock() -> u64 {
    limit(libc::RLIMIT_MEMLOCK).map_or(u64::MAX, |limit| limit.rlim_cur)
}

/// Why memory cannot be locked any more, which the kernel reports as insufficient privileges.
pub(crate) fn why_not_locked() -> String {
    let each = std::fs::read_to_string("/proc/sys/kernel/perf_event_mlock_kb").unwrap_or_default();
    let own = match may_lock() {
        libc::RLIM_INFINITY => String::new(),
        bytes => format!("{} KiB (ulimit -l) plus ", bytes >> 10),
    };
    format!(
        "locked memory is limited to {own}{} KiB per CPU for all of a user's processes together \
         (kernel.perf_event_mlock_kb). Raise either limit, wait until other recordings of this user have ended, or \
         run with sudo",
        each.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_descriptors_are_left_for_what_must_not_fail() {
        assert!(!is_one_of_the_last(3, 4, 3 + 4 + KEPT + 1));
        assert!(is_one_of_the_last(3, 4, 3 + 4 + KEPT));
        assert!(is_one_of_the_last(3, i32::MAX - KEPT, i32::MAX));
        assert!(have(0), "there is no limit before it was read");
    }

    #[test]
    fn what_is_short_is_told_with_its_limit() {
        let told = why(&io::Error::from_raw_os_error(libc::EMFILE));
        assert!(told.starts_with("Too many open files") && told.contains("(ulimit -n)"), "{told}");
        assert!(is_short(&io::Error::from_raw_os_error(libc::ENOSPC)));
        assert!(!is_short(&io::Error::from_raw_os_error(libc::EACCES)));
        assert!(why_not_locked().contains("kernel.perf_event_mlock_kb"));
    }
}
