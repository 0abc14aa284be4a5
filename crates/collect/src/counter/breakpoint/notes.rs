//! What begins at a breakpoint's hit, read while its thread is stopped: what a BPF program does in the kernel (`bpf/walk.h`), for who has none.
//!
//! The kernel sends the thread a signal at each hit. Whoever traces it by ptrace is asked before the signal is delivered: the thread has not
//! executed the instruction yet, so that its registers and memory are those of the entry. The tracer keeps the signal from the program. Should
//! it be delivered after all, because we were killed, it is one that is ignored unless a program handles it.
//!
//! The counter says what is noted where, the tracer's thread takes the notes; both share [`Notes`].

use crate::bpf::event::Entered;
use crate::bpf::{NO_INDEX, Slot, SlotOrigin, TEXT_AS_IT_IS, TEXT_LENGTH, TEXT_TO_ZERO};
use crate::counter::origin::ORIGINS;
use slowpath_recording::{CONTENT_BYTES as CONTENT, LED_TO, content_hash};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a hit sends. Its default is to be ignored, and of who handles it none minds one more, or one instead of two: the size of the terminal is
/// looked up again. SIGURG is not as good: a runtime of Go waits for each that it sends.
pub(crate) const SIGNAL: libc::c_int = libc::SIGWINCH;
/// The reasons (`si_code`) of a descriptor's signal: POLL_IN to POLL_HUP.
const OF_DESCRIPTOR: std::ops::RangeInclusive<libc::c_int> = 1..=6;
/// Bytes of a text with the zero behind it; as in `bpf/walk.h`.
const TEXT: usize = 4096;
const WORD: usize = 8;

/// Registers of a stopped thread as instructions number them; the last one is the instruction pointer.
pub(crate) type Registers = [u64; 17];

/// A breakpoint whose hits are noted.
#[derive(Clone, Copy)]
struct Armed {
    address: u64,
    slot: usize,
    /// The slot's at that time: hits are noted as long as it is.
    generation: u32,
    /// Its descriptor is open.
    stands: bool,
}

#[derive(Default)]
struct State {
    /// A tracer handles stops.
    open: bool,
    /// By descriptor. Those that were closed may have left a signal behind.
    armed: HashMap<i32, Armed>,
    rows: HashMap<usize, Slot>,
}

/// See the file's head.
pub(crate) struct Notes {
    state: Mutex<State>,
    /// Elapsed time that a note takes besides the hit, ns.
    pub wall_ns: u64,
}

/// Keeps a breakpoint's hits noted until it is dropped, which must be before its descriptor is closed.
pub(super) struct Noted {
    notes: Arc<Notes>,
    fd: i32,
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(armed) = self.notes.state().armed.get_mut(&self.fd) {
            armed.stands = false;
        }
    }
}

impl Notes {
    /// `wall_ns`: what a stop takes.
    pub(crate) fn new(wall_ns: u64) -> Notes {
        Notes { state: Mutex::default(), wall_ns }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on a tracer handles stops.
    pub(crate) fn open(&self) {
        self.state().open = true;
    }

    /// Nobody handles stops any more: no breakpoint sends a signal from now on.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.open = false;
        for (fd, armed) in &mut state.armed {
            if std::mem::replace(&mut armed.stands, false) {
                // SAFETY: sets flags of a descriptor that is open: before it is closed it does not stand any more.
                unsafe { libc::fcntl(*fd, libc::F_SETFL, 0) };
            }
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state().open
    }

    /// What a slot's hits are noted for.
    pub(super) fn set(&self, slot: usize, row: Slot) {
        self.state().rows.insert(slot, row);
    }

    /// Has hits of a thread's breakpoint noted. The error if the thread would not be stopped by the signal.
    pub(super) fn arm(
        self: &Arc<Notes>,
        event: &OwnedFd,
        tid: u32,
        address: u64,
        slot: usize,
    ) -> io::Result<Noted> {
        if blocks(tid)? {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let mut state = self.state();
        if !state.open {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let fd = event.as_raw_fd();
        let owner = Owner { kind: F_OWNER_TID, pid: tid as libc::pid_t };
        // SAFETY: requests on a descriptor that is open; the struct is valid while the call lasts.
        let done = unsafe {
            libc::fcntl(fd, F_SETOWN_EX, &raw const owner) == 0
                && libc::fcntl(fd, F_SETSIG, SIGNAL) == 0
                && libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC) == 0
        };
        if !done {
            return Err(io::Error::last_os_error());
        }
        let generation = state.rows.get(&slot).map_or(0, |row| row.generation);
        state.armed.insert(fd, Armed { address, slot, generation, stands: true });
        Ok(Noted { notes: self.clone(), fd })
    }

    /// Whether a signal is one of ours, by its number, its reason and its descriptor.
    pub(crate) fn is_ours(&self, signal: libc::c_int, code: libc::c_int, fd: i32) -> bool {
        signal == SIGNAL && OF_DESCRIPTOR.contains(&code) && self.state().armed.contains_key(&fd)
    }

    /// Notes a hit of a thread that is stopped by such a signal. `read`
    /// reads memory and returns how much of it could be read. None if it has gone on since, or the slot has another breakpoint.
    pub(crate) fn take(
        &self,
        fd: i32,
        registers: &Registers,
        hit: Hit,
        read: impl Fn(u64, &mut [u8]) -> usize,
    ) -> Option<Entered> {
        let (slot, mut row) = {
            let state = self.state();
            let Armed { address, slot, generation, .. } = *state.armed.get(&fd)?;
            let row = *state.rows.get(&slot)?;
            if registers[16] != address || row.generation != generation {
                return None;
            }
            (slot, row)
        };
        // Memory may have to be fetched first: nobody waits for that.
        let mut entered = Entered {
            walk: row.probe,
            tid: hit.tid,
            time: hit.time,
            cpu_ns: hit.cpu_ns,
            beginnings: [(0, 0); ORIGINS],
            linked: 0,
            length: 0,
            within: 0,
            below: 0,
            text: None,
        };
        if row.nests != 0 {
            (entered.within, entered.below) = outer_of(&mut row, registers[4], hit, &read);
        }
        for at in 0..(row.origins_used as usize).min(ORIGINS) {
            let before = (row.last[at], &row.last_words[at]);
            let Some(begins) = begin(&row.origins[at], registers, before, &read) else {
                row.last[at] = 0;
                continue;
            };
            // A variable of an invocation in between: at the same address is another one the next time.
            let is_variable = begins.address.wrapping_sub(registers[4]) < entered.below;
            entered.beginnings[at] = (begins.address, if is_variable { hit.time } else { begins.content });
            entered.linked |= begins.linked << at;
            (row.last[at], row.last_words[at]) = (begins.address, begins.words);
        }
        entered.text = text(entered.beginnings[0].0, row.texts, &read);
        entered.length = entered.text.as_ref().map_or(0, |text| text.len() as u64);
        if let Some(kept) = self.state().rows.get_mut(&slot).filter(|kept| kept.generation == row.generation)
        {
            *kept = row;
        }
        Some(entered)
    }
}

/// A hit, as its thread's tracer sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub tid: u32,
    /// ns of CLOCK_MONOTONIC.
    pub time: u64,
    /// CPU time of the thread so far, without what hits and stops took, ns.
    pub cpu_ns: u64,
}

/// When the invocation was entered that this one is part of: the outermost one on the thread's stack whose entry was noted, and whose return address
/// still stands where it stood; and how far the stack pointer at entry is below that one's, bytes. 0 if there is none; then it is the outermost.
fn outer_of(row: &mut Slot, rsp: u64, hit: Hit, read: &impl Fn(u64, &mut [u8]) -> usize) -> (u64, u64) {
    let sp = rsp.wrapping_add(u64::from(row.sp_adjust));
    let word = |at: u64| {
        let mut bytes = [0; WORD];
        (read(at, &mut bytes) == WORD).then(|| u64::from_ne_bytes(bytes))
    };
    let inside = row.outer_tid == hit.tid && row.outer_sp > sp;
    if inside && word(row.outer_sp) == Some(row.outer_return) {
        return (row.outer_time, row.outer_sp - sp);
    }
    let returns = word(sp);
    row.outer_tid = if returns.is_some() { hit.tid } else { 0 };
    (row.outer_sp, row.outer_return, row.outer_time) = (sp, returns.unwrap_or(0), hit.time);
    (0, 0)
}

/// Where one pointer leads.
struct Begins {
    address: u64,
    /// A hash of what is there, 0 if it cannot be read.
    content: u64,
    /// The first bytes there, 0 if it cannot be read.
    words: [u64; CONTENT / WORD],
    /// Bit 0: what is there points to where the one before began; bit [`LED_TO`]: what was there pointed here.
    linked: u64,
}

/// None if the way there cannot be read.
fn begin(
    origin: &SlotOrigin,
    registers: &Registers,
    (last, last_words): (u64, &[u64; CONTENT / WORD]),
    read: &impl Fn(u64, &mut [u8]) -> usize,
) -> Option<Begins> {
    let register = |number: u8| registers.get(usize::from(number)).copied();
    let mut address = register(origin.register)?.wrapping_add_signed(origin.offsets[0]);
    if origin.index != NO_INDEX {
        address = address.wrapping_add_signed((register(origin.index)? as i64).wrapping_mul(origin.scale));
    }
    for offset in origin.offsets.iter().take(usize::from(origin.steps)).skip(1) {
        let mut next = [0; WORD];
        if read(address, &mut next) < WORD {
            return None;
        }
        address = u64::from_ne_bytes(next).wrapping_add_signed(*offset);
    }
    let mut content = [0; CONTENT];
    let length = read(address, &mut content);
    let mut words = content.as_chunks::<WORD>().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mut words: [u64; CONTENT / WORD] = std::array::from_fn(|_| words.next().unwrap_or(0));
    let content = match length {
        CONTENT => content_hash(words.iter().copied()),
        WORD.. => content_hash(words.iter().copied().take(1)),
        _ => 0,
    };
    if length < CONTENT {
        words = [0; CONTENT / WORD];
    }
    let led_to = last_words.get(usize::from(origin.next)) == Some(&address);
    let points_back = words.contains(&last);
    let others = last != 0 && address != 0 && address != last;
    let linked = u64::from(others && points_back) | u64::from(others && led_to) << LED_TO;
    Some(Begins { address, content, words, linked })
}

/// What an address leads to, as a row's `texts` asks for it; none if it is not asked for or cannot be read.
fn text(address: u64, how: u32, read: &impl Fn(u64, &mut [u8]) -> usize) -> Option<Vec<u8>> {
    if !matches!(how, TEXT_TO_ZERO | TEXT_AS_IT_IS | TEXT_LENGTH) {
        return None;
    }
    let mut bytes = vec![0; TEXT];
    let length = read(address, &mut bytes);
    let length = match how {
        TEXT_TO_ZERO | TEXT_LENGTH => match bytes[..length].iter().position(|byte| *byte == 0) {
            None if length < TEXT => return None,
            zero => zero.unwrap_or(TEXT - 1),
        },
        // Less near the end of what is mapped.
        _ if length >= CONTENT => length,
        _ => return None,
    };
    bytes.truncate(length);
    Some(bytes)
}

/// Whether a thread blocks the signal: it would come later, or be waited for by the program.
fn blocks(tid: u32) -> io::Result<bool> {
    let status = std::fs::read_to_string(format!("/proc/{tid}/status"))?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    Ok(mask.is_none_or(|mask| mask & 1 << (SIGNAL - 1) != 0))
}

/// `struct f_owner_ex` and the requests that it belongs to (`asm-generic/fcntl.h`).
#[repr(C)]
struct Owner {
    kind: libc::c_int,
    pid: libc::pid_t,
}

const F_OWNER_TID: libc::c_int = 0;
const F_SETSIG: libc::c_int = 10;
const F_SETOWN_EX: libc::c_int = 15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::origin::Origin;

    /// Memory at 0x1000, and nothing else.
    fn memory(words: &[u64]) -> impl Fn(u64, &mut [u8]) -> usize {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        move |address, into| {
            let Some(from) = address.checked_sub(0x1000).and_then(|at| bytes.get(at as usize..)) else {
                return 0;
            };
            let length = from.len().min(into.len());
            into[..length].copy_from_slice(&from[..length]);
            length
        }
    }

    fn registers(set: &[(usize, u64)]) -> Registers {
        let mut registers = [0; 17];
        set.iter().for_each(|(register, value)| registers[*register] = *value);
        registers
    }

    fn notes(row: Slot) -> Notes {
        let notes = Notes::new(10_000);
        notes.open();
        let mut state = notes.state();
        state.rows.insert(3, row);
        state.armed.insert(9, Armed { address: 0x400, slot: 3, generation: 0, stands: true });
        state.armed.insert(10, Armed { address: 0x400, slot: 3, generation: 1, stands: false });
        drop(state);
        notes
    }

    fn row(origin: Origin) -> Slot {
        let mut row = Slot { probe: 5, origins_used: 1, ..Slot::default() };
        row.origins[0] = SlotOrigin::from(&origin);
        row
    }

    const HIT: Hit = Hit { tid: 7, time: 1_000, cpu_ns: 50_000 };

    #[test]
    fn the_way_leads_through_registers_an_index_and_memory() {
        // [[rbx + 8 * rcx + 8] + 16]
        let origin = Origin { register: 3, index: Some((1, 8)), offsets: vec![8, 16], next: None };
        let words = [0, 0, 0, 0x1000, 7, 8, 9, 10, 11, 12, 13, 14];
        let notes = notes(row(origin));
        let here = registers(&[(3, 0x1000), (1, 2), (16, 0x400)]);
        let entered = notes.take(9, &here, HIT, memory(&words)).expect("a hit");
        assert_eq!((entered.walk, entered.tid, entered.cpu_ns), (5, 7, 50_000));
        assert_eq!(entered.beginnings[0], (0x1010, content_hash(words[2..10].iter().copied())));
        // It has gone on, or the way cannot be read, or the slot serves another.
        assert!(
            notes.take(9, &registers(&[(3, 0x1000), (1, 2), (16, 0x401)]), HIT, memory(&words)).is_none()
        );
        let nowhere = registers(&[(3, 0x9000), (16, 0x400)]);
        assert_eq!(notes.take(9, &nowhere, HIT, memory(&words)).expect("a hit").beginnings[0], (0, 0));
        assert!(notes.take(10, &here, HIT, memory(&words)).is_none());
    }

    #[test]
    fn an_item_that_points_to_the_one_before_is_linked() {
        let notes = notes(row(Origin { register: 0, index: None, offsets: vec![0], next: Some(0) }));
        let words = [1, 2, 3, 4, 5, 6, 7, 8, 0x1000, 9, 10, 11, 12, 13, 14, 15];
        let at = |address| registers(&[(0, address), (16, 0x400)]);
        let linked = |address| notes.take(9, &at(address), HIT, memory(&words)).map(|one| one.linked);
        assert_eq!(linked(0x1000), Some(0));
        assert_eq!(linked(0x1040), Some(1));
        assert_eq!(linked(0x1040), Some(0), "it is the same one");
        assert_eq!(linked(0x1000), Some(1 << LED_TO), "the one before pointed to it");
    }

    #[test]
    fn texts_end_at_a_zero_or_at_what_is_mapped() {
        let letters = |length: usize| {
            move |_: u64, into: &mut [u8]| {
                let length = length.min(into.len());
                into[..length].fill(b'x');
                length
            }
        };
        let length = |how, mapped: usize| text(0x1000, how, &letters(mapped)).map(|text| text.len());
        assert_eq!(length(TEXT_TO_ZERO, TEXT), Some(TEXT - 1));
        assert_eq!(length(TEXT_TO_ZERO, 100), None);
        assert_eq!(text(0x1000, TEXT_TO_ZERO, &memory(&[0x41_42_43, 0])), Some(b"CBA".to_vec()));
        assert_eq!(length(TEXT_AS_IT_IS, TEXT), Some(TEXT));
        assert_eq!(length(TEXT_AS_IT_IS, TEXT - 1), Some(TEXT - 1));
        assert_eq!(length(TEXT_AS_IT_IS, CONTENT), Some(CONTENT));
        assert_eq!(length(TEXT_LENGTH, 100), None);
        assert_eq!(length(TEXT_LENGTH, TEXT), Some(TEXT - 1));
        assert_eq!(length(TEXT_AS_IT_IS, CONTENT - 1), None);
        assert_eq!(length(0, TEXT), None);
    }

    #[test]
    fn a_signal_is_ours_by_its_number_its_reason_and_its_descriptor() {
        let notes = notes(Slot::default());
        assert!(notes.is_ours(libc::SIGWINCH, 1, 9) && notes.is_ours(libc::SIGWINCH, 6, 10));
        // That of another kind; one that a thread sent; of the terminal; of another descriptor.
        assert!(!notes.is_ours(libc::SIGTRAP, 1, 9));
        assert!(!notes.is_ours(libc::SIGWINCH, -6, 9));
        assert!(!notes.is_ours(libc::SIGWINCH, 0x80, 9));
        assert!(!notes.is_ours(libc::SIGWINCH, 1, 11));
    }
}
