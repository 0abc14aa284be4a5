//! One call of a stopped thread: where it was made, its path and arguments, and the event that it becomes. When a thread stops
//! and how it goes on is `watch`'s.

use super::facts::Ran;
use super::sys;
use crate::bpf::event::Event;
use crate::tracer::event::{FileId, Finished};
use slowpath_syscalls::{
    BRK, FUTEX, MADVISE, NEWFSTATAT, OPEN, OPENAT, POLL, PPOLL, PSELECT6, SELECT, STATX, telling,
};

const PATH_MAX: usize = 4096;

/// A call that is under way.
pub(super) struct Entry {
    pub number: u32,
    pub arguments: [u64; 6],
    pub time: u64,
    pub site: u64,
    pub path: Vec<u8>,
    /// What the file behind a descriptor is called.
    pub link: Vec<u8>,
    pub ran: Option<Ran>,
    pub file: FileId,
}

impl Entry {
    /// Whether it is one that was begun before, made again.
    pub(super) fn goes_on(&self, before: &Entry) -> bool {
        (self.number, self.site, self.arguments) == (before.number, before.site, before.arguments)
    }
}

/// Where a call is made: its instruction, its stack pointer, and which call it is.
pub(super) struct Place {
    pub ip: u64,
    pub sp: u64,
    pub number: u32,
}

/// What a thread is in.
pub(super) enum Inside {
    /// Its own code, or a call of which only that is known.
    Nothing,
    /// A call that becomes no event: since when, and what the thread had run.
    Unwanted(u32, u64, Option<Ran>),
    Wanted(Box<Entry>),
}

/// A place by its instruction, its stack pointer and the word on the stack there, the return address; as `bpf/tracer.h` has
/// it. Fills `path`, if there is one, from its address in the same call.
pub(super) fn site(tid: u32, place: &Place, path: &mut [(u64, &mut Vec<u8>)]) -> u64 {
    let Place { ip, sp, number } = *place;
    let mut back = [0; 8];
    match path {
        [(address, path)] => {
            let read = sys::read(tid, [(sp, &mut back), (*address, path.as_mut_slice())]);
            path.truncate(read.saturating_sub(back.len()));
        }
        _ => {
            sys::read(tid, [(sp, &mut back)]);
        }
    }
    let mix = (ip.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ sp).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    let mix = (mix ^ u64::from_ne_bytes(back)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mix.wrapping_add(u64::from(number))
}

/// Goes on with a path to its end, and cuts it there.
pub(super) fn rest_of_path(tid: u32, address: u64, path: &mut Vec<u8>) {
    loop {
        if let Some(end) = path.iter().position(|byte| *byte == 0) {
            return path.truncate(end);
        }
        let at = address.wrapping_add(path.len() as u64);
        if path.is_empty() || path.len() >= PATH_MAX {
            return path.clear(); // no path that the kernel would take
        }
        let mut more = vec![0; sys::to_page_end(at)];
        let read = sys::read(tid, [(at, &mut more)]);
        if read == 0 {
            return path.clear();
        }
        path.extend_from_slice(&more[..read]);
    }
}

pub(super) fn open_flags(entry: &Entry) -> u64 {
    match entry.number {
        OPEN | OPENAT => argument(entry),
        _ => 0,
    }
}

/// The argument that says most, as in `bpf/tracer.h`.
fn argument(entry: &Entry) -> u64 {
    let arguments = &entry.arguments;
    match entry.number {
        MADVISE if arguments[2] == libc::MADV_DONTNEED as u64 => arguments[1],
        MADVISE | BRK => 0, // what a brk gives back is known when it returns
        // Whether there is a timeout (2 if there is nothing else), and how many descriptors.
        SELECT | PSELECT6 if arguments[4] == 0 => arguments[0] << 32,
        SELECT | PSELECT6 if arguments[0] as u32 != 0 => 1 | arguments[0] << 32,
        SELECT | PSELECT6 => 2,
        PPOLL => u64::from(arguments[2] != 0) | arguments[1] << 32,
        // The timeout and how many; the operation and its number; where from and the flags.
        POLL => arguments[2] & u64::from(u32::MAX) | arguments[1] << 32,
        FUTEX => arguments[1] & u64::from(u32::MAX) | arguments[2] << 32,
        NEWFSTATAT => arguments[0] & u64::from(u32::MAX) | arguments[3] << 32,
        STATX => arguments[0] & u64::from(u32::MAX) | arguments[2] << 32,
        number => telling(number).and_then(|at| arguments.get(at)).copied().unwrap_or_default(),
    }
}

pub(super) fn finished_call(
    tid: u32,
    pid: u32,
    entry: Entry,
    duration: u64,
    asleep: u64,
    result: i64,
) -> Finished {
    Finished {
        pid,
        tid,
        number: entry.number,
        count: 1,
        time: entry.time,
        end: entry.time + duration,
        blocked: asleep,
        goroutine: 0,
        met: false,
        in_line: 0, // its end is reckoned without
        result,
        argument: argument(&entry),
        site: entry.site,
        path_hash: 0,
        // The word in memory takes the place of a file, as in `bpf/tracer.h`: calls at one lock belong together.
        file: match entry.number {
            FUTEX => FileId { inode: entry.arguments[0], ..FileId::default() },
            _ => entry.file,
        },
        waker: (0, 0, 0),
        compat: false,
        tallied: false,
        path: entry.path,
        link: entry.link,
    }
}

pub(super) fn finished(tid: u32, pid: u32, entry: Entry, end: u64, asleep: u64, result: i64) -> Event {
    let duration = end.saturating_sub(entry.time);
    Event::Syscall(Box::new(finished_call(tid, pid, entry, duration, asleep, result)))
}
