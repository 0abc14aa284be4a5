//! One breakpoint event of one thread, the ring of a thread, and what a hit takes, or one that only stands.
//!
//! An event belongs to one thread rather than to a process and its later threads (`inherit`): only such a one has a ring
//! without a CPU of its own, and only such a one is stopped by the kernel after so many hits (`PERF_EVENT_IOC_REFRESH`).

use super::notes::{Noted, Notes};
use crate::resources;
use crate::sampler::abi::{self, Attr};
use crate::sampler::ring::Ring;
use std::hint::black_box;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Descriptors that events leave for the files of modules.
const FOR_MODULES: i32 = 6;
/// Pages of a thread's ring: as many as there may be, down to the last; where there are many threads the last two.
const PAGES: [usize; 4] = [16, 8, 4, 2];
/// Bytes of a hit's record: header, thread, time, id, count with time, stack pointer, a word of the stack.
pub(super) const HIT_BYTES: usize = 88;
/// Hits that are timed, after so many that warm up.
const TIMED: u64 = 40;
const WARM: u64 = 5;

/// One hit. Times are ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// The event's number, unique while the machine runs.
    pub event: u64,
    pub tid: u32,
    pub time: u64,
    /// Hits of the event so far, this one included.
    pub number: u64,
    /// CPU time of the thread since the event was started, ns.
    pub ran_ns: u64,
    /// What the stack pointer points to: at a function's first instruction, where it returns to. 0 if it cannot be read.
    pub top: u64,
}

fn attr(kind: u32) -> Attr {
    Attr {
        kind,
        size: size_of::<Attr>() as u32,
        period_or_freq: 1,
        sample_type: abi::SAMPLE_TID
            | abi::SAMPLE_TIME
            | abi::SAMPLE_ID
            | abi::SAMPLE_READ
            | abi::SAMPLE_REGS_USER
            | abi::SAMPLE_STACK_USER,
        read_format: abi::FORMAT_TOTAL_TIME_ENABLED,
        flags: abi::FLAG_DISABLED | abi::FLAG_EXCLUDE_KERNEL | abi::FLAG_EXCLUDE_HV | abi::FLAG_USE_CLOCKID,
        sample_regs_user: abi::REGS_SP,
        sample_stack_user: 8,
        clockid: libc::CLOCK_MONOTONIC,
        ..Attr::default()
    }
}

fn open(attr: &Attr, tid: u32) -> io::Result<OwnedFd> {
    let event = abi::open(attr, tid as i32, -1)?;
    resources::keep(event, FOR_MODULES).ok_or_else(|| io::Error::from_raw_os_error(libc::EMFILE))
}

/// The ring of a thread. It belongs to an event that counts nothing, so that it stays while breakpoints come and go.
pub(super) struct ThreadRing {
    ring: Ring,
    owner: OwnedFd,
    pub bytes: usize,
}

impl ThreadRing {
    /// `few`: there are few threads, so that it may be large.
    pub(super) fn open(tid: u32, few: bool) -> io::Result<ThreadRing> {
        let owner = open(&Attr { config: abi::SW_DUMMY, ..attr(abi::TYPE_SOFTWARE) }, tid)?;
        // SAFETY: sysconf has no preconditions.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let mut refused = io::Error::from_raw_os_error(libc::ENOMEM);
        for &pages in if few { &PAGES[..] } else { &PAGES[2..] } {
            match Ring::new(&owner, pages, page) {
                Ok(ring) => return Ok(ThreadRing { ring, owner, bytes: pages * page }),
                Err(error) => refused = error,
            }
        }
        Err(refused)
    }

    /// Every hit that is complete now.
    pub(super) fn drain(&mut self, into: &mut Vec<Hit>) {
        self.ring.read(usize::MAX, |bytes| into.extend(parse(bytes)));
    }
}

/// A breakpoint in one thread.
pub(super) struct Breakpoint {
    /// Goes before its event.
    noted: Option<Noted>,
    event: OwnedFd,
    pub id: u64,
}

impl Breakpoint {
    /// At the instruction at `address` in a thread, writing to the thread's ring; without a hit until [`Breakpoint::grant`].
    /// The error is ENOSPC if four stand already.
    pub(super) fn open(tid: u32, address: u64, ring: &ThreadRing) -> io::Result<Breakpoint> {
        let attr = attr(abi::TYPE_BREAKPOINT);
        let attr = Attr {
            // Behind an exec other code is there.
            flags: attr.flags | abi::FLAG_REMOVE_ON_EXEC,
            bp_type: abi::BREAKPOINT_EXECUTE,
            config1: address,
            config2: size_of::<libc::c_long>() as u64,
            ..attr
        };
        let event = open(&attr, tid)?;
        abi::write_to(&event, &ring.owner)?;
        let id = abi::id(&event)?;
        Ok(Breakpoint { noted: None, event, id })
    }

    /// Has what begins at its hits noted.
    pub(super) fn note(&mut self, notes: &Arc<Notes>, tid: u32, address: u64, slot: usize) -> io::Result<()> {
        self.noted = Some(notes.arm(&self.event, tid, address, slot)?);
        Ok(())
    }

    /// Lets it count so many hits more; the kernel stops it then.
    pub(super) fn grant(&self, hits: u64) -> io::Result<()> {
        abi::refresh(&self.event, i32::try_from(hits).unwrap_or(i32::MAX))
    }
}

/// `None` for records of other kinds, and those too short.
fn parse(bytes: &[u8]) -> Option<Hit> {
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(8 * at..8 * at + 8)?.try_into().ok()?));
    if word(0)? as u32 != abi::RECORD_SAMPLE {
        return None;
    }
    let (tid, time, event, number, ran_ns) =
        ((word(1)? >> 32) as u32, word(2)?, word(3)?, word(4)?, word(5)?);
    // Without user registers there is neither a stack pointer nor a stack.
    let stack = if word(6)? == 0 { 7 } else { 8 };
    let top = if word(stack)? >= 8 && word(stack + 2)? >= 8 { word(stack + 1)? } else { 0 };
    Some(Hit { event, tid, time, number, ran_ns, top })
}

/// Nothing, at an address of its own.
#[inline(never)]
fn nothing(round: u64) -> u64 {
    black_box(round)
}

/// What a hit takes of this machine's CPU time, ns: tried on ourselves. The error is that of the kernel if there are no
/// breakpoints, or they may not be used.
pub(crate) fn measure() -> io::Result<u64> {
    // SAFETY: takes nothing, always succeeds.
    let own = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    let mut ring = ThreadRing::open(own, true)?;
    let at: fn(u64) -> u64 = black_box(nothing);
    let breakpoint = Breakpoint::open(own, at as usize as u64, &ring)?;
    breakpoint.grant(WARM + TIMED)?;
    for round in 0..WARM + TIMED {
        black_box(at(round));
    }
    let mut hits = Vec::new();
    ring.drain(&mut hits);
    if hits.len() as u64 != WARM + TIMED {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    // The median, since some are held up by interrupts.
    let mut times: Vec<u64> = hits
        .windows(2)
        .skip(WARM as usize)
        .map(|pair| pair[1].ran_ns.saturating_sub(pair[0].ran_ns))
        .collect();
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Bytes of a move that is tried, and by how many they are moved: of 64 to 8,000 bytes those of 300 to 500 are slowed down most.
const MOVED: usize = 500;
const BY: usize = 8;
/// How many are timed together, how often, and how many times as long they take if breakpoints matter: 1.0 or 5 times was measured.
const MOVES: usize = 200;
const TRIES: usize = 9;
const SLOWER: u32 = 2;

/// Whether moves within memory take longer while a breakpoint stands that is never hit, as on some processors: tried on ourselves.
pub(super) fn slow_moves() -> io::Result<bool> {
    // SAFETY: takes nothing, always succeeds.
    let own = unsafe { libc::syscall(libc::SYS_gettid) } as u32;
    let without = moving();
    let ring = ThreadRing::open(own, true)?;
    let at: fn(u64) -> u64 = black_box(nothing);
    let breakpoint = Breakpoint::open(own, at as usize as u64, &ring)?;
    breakpoint.grant(1)?;
    Ok(moving() > SLOWER * without)
}

/// The least time that moves took: others were held up.
fn moving() -> Duration {
    let mut bytes = black_box([1u8; MOVED + BY]);
    let mut timed = || {
        let begun = Instant::now();
        for _ in 0..MOVES {
            black_box(&mut bytes).copy_within(..black_box(MOVED), BY);
        }
        begun.elapsed()
    };
    (0..TRIES).map(|_| timed()).min().unwrap_or_default()
}

/// What stands in the way of a breakpoint.
pub(crate) fn obstacle(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EBUSY) => {
            format!("no hardware breakpoint is free: a debugger or another recording uses them ({error})")
        }
        Some(libc::EOPNOTSUPP | libc::ENODEV | libc::ENOENT | libc::EINVAL) => {
            format!("this machine has no hardware breakpoints, as some virtual machines do ({error})")
        }
        Some(libc::EPERM) => format!("a ring cannot be mapped: {}", resources::why_not_locked()),
        _ => resources::why(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, words: &[u64]) -> Vec<u8> {
        let size = 8 + 8 * words.len() as u64;
        let header = u64::from(kind) | size << 48;
        [header].iter().chain(words).flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_hit_has_its_thread_time_number_and_where_the_function_returns_to() {
        let bytes = record(abi::RECORD_SAMPLE, &[7 << 32 | 5, 1000, 42, 3, 900, 2, 0x7fff, 8, 0x1234, 8]);
        assert_eq!(bytes.len(), HIT_BYTES);
        let hit = Hit { event: 42, tid: 7, time: 1000, number: 3, ran_ns: 900, top: 0x1234 };
        assert_eq!(parse(&bytes), Some(hit));
        for length in 0..bytes.len() {
            assert_eq!(parse(&bytes[..length]), None, "{length} bytes");
        }
        let unread = record(abi::RECORD_SAMPLE, &[7 << 32 | 5, 1000, 42, 3, 900, 2, 0x7fff, 8, 0x1234, 0]);
        assert_eq!(parse(&unread), Some(Hit { top: 0, ..hit }));
        assert_eq!(parse(&record(abi::RECORD_LOST, &[42, 3])), None);
    }

    #[test]
    fn an_obstacle_is_told_by_what_it_is() {
        let told = |code| obstacle(&io::Error::from_raw_os_error(code));
        assert!(told(libc::ENOSPC).contains("a debugger or another recording"));
        assert!(told(libc::EOPNOTSUPP).contains("no hardware breakpoints"));
        assert!(told(libc::EPERM).contains("perf_event_mlock_kb"));
    }
}
