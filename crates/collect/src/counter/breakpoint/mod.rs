//! Counting without BPF: hardware breakpoints on the instructions of probes, for a user's own processes.
//!
//! - `event` — one breakpoint of one thread, and what a hit takes.
//! - `merge` — hits of all threads, by slot.
//! - `notes` — what begins at a hit, read while its thread is stopped.
//!
//! A CPU has four, so that no more than [`AT_ONCE`] probes stand at a time in one process; which, the counter decides. Each
//! is one event for each thread; threads that begin are looked for while a probe stands. The kernel stops an event after so many
//! hits that its ring has room for, and it is given more while it stands. When a descriptor is closed, or we are killed, the
//! kernel takes the breakpoint out.

mod event;
mod merge;
pub(crate) mod notes;

use super::Candidate;
use super::hits::Seen;
use crate::bpf::event::Event;
use crate::bpf::{MODE_WALK, SLOTS, Slot};
use crate::clock;
use event::{Breakpoint, HIT_BYTES, Hit, ThreadRing};
pub(crate) use event::{measure, obstacle};
use merge::Merged;
use notes::Notes;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Breakpoints that a thread can have.
pub(crate) const AT_ONCE: usize = 4;
/// Threads of a process that are counted in.
const THREADS: usize = 32;
/// So few of them have large rings: all rings are locked memory, of which a user has little.
const FEW: usize = 8;
/// How often new threads are looked for while a probe stands, ns.
const LOOK_NS: u64 = 20_000_000;
/// Bytes of an instruction that are compared before a breakpoint is put on it.
const COMPARED: usize = 8;

/// A probe that stands.
struct Standing {
    pid: u32,
    address: u64,
    /// What begins at its hits is noted.
    noted: bool,
    /// One for each thread that was found.
    threads: HashMap<u32, Breakpoint>,
}

/// The threads of a process that are counted in.
#[derive(Default)]
struct Process {
    rings: HashMap<u32, ThreadRing>,
    looked_ns: u64,
}

/// All breakpoints of a recording.
pub(crate) struct Breakpoints {
    /// What a hit takes, ns.
    pub hit_ns: u64,
    /// Whether wide accesses take longer while one stands.
    pub slow_moves: bool,
    /// Where a tracer stops threads at hits.
    pub notes: Option<Arc<Notes>>,
    merged: Merged,
    standing: HashMap<usize, Standing>,
    processes: HashMap<u32, Process>,
    /// Hits that may not be the earliest yet.
    pending: Vec<Hit>,
}

impl Breakpoints {
    pub(crate) fn new(hit_ns: u64, notes: Option<Arc<Notes>>) -> Breakpoints {
        Breakpoints {
            hit_ns,
            slow_moves: event::slow_moves().unwrap_or(false),
            notes,
            merged: Merged::new(SLOTS),
            standing: HashMap::new(),
            processes: HashMap::new(),
            pending: Vec::new(),
        }
    }

    /// Puts a probe at `offset` of the candidate's function, in all of its process's threads.
    pub(super) fn open(&mut self, slot: usize, row: Slot, of: &Candidate, offset: u64) -> io::Result<()> {
        let pid = of.pid;
        if self.standing.values().filter(|one| one.pid == pid).count() >= AT_ONCE {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let address = of.live + offset;
        // A program that was executed meanwhile, or a library that was closed, left other code there.
        let expected =
            of.image.code(of.start + offset, COMPARED).or_else(|| of.image.code(of.start + offset, 1));
        if !expected.is_some_and(|expected| is_code(pid, address, expected)) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        self.merged.begin(slot, row, of.live..of.live + (of.end - of.start));
        self.look_for_threads(pid)?;
        let noted = row.mode == MODE_WALK;
        self.notes.iter().filter(|_| noted).for_each(|notes| notes.set(slot, row));
        self.standing.insert(slot, Standing { pid, address, noted, threads: HashMap::new() });
        let placed = self.place(slot);
        let alone = self.standing.get(&slot).is_none_or(|standing| standing.threads.is_empty());
        if let Err(error) =
            placed.and(if alone { Err(io::Error::from_raw_os_error(libc::ESRCH)) } else { Ok(()) })
        {
            self.close(slot);
            return Err(error);
        }
        Ok(())
    }

    /// Finds the threads of a process, and gives each a ring.
    fn look_for_threads(&mut self, pid: u32) -> io::Result<()> {
        let threads: Vec<u32> = std::fs::read_dir(format!("/proc/{pid}/task"))?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        let process = self.processes.entry(pid).or_default();
        process.looked_ns = clock::now_ns();
        if threads.len() > THREADS {
            let why = format!("hardware breakpoints are set in at most {THREADS} threads");
            return Err(io::Error::other(why));
        }
        let few = threads.len() <= FEW;
        for (tid, ring) in &mut process.rings {
            if !threads.contains(tid) {
                ring.drain(&mut self.pending);
            }
        }
        process.rings.retain(|tid, _| threads.contains(tid));
        for standing in self.standing.values_mut().filter(|standing| standing.pid == pid) {
            standing.threads.retain(|tid, _| threads.contains(tid));
        }
        for tid in threads {
            if let std::collections::hash_map::Entry::Vacant(new) = process.rings.entry(tid) {
                match ThreadRing::open(tid, few) {
                    Ok(ring) => drop(new.insert(ring)),
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Puts a standing probe into the threads where it does not stand yet.
    fn place(&mut self, slot: usize) -> io::Result<()> {
        let Some(standing) = self.standing.get_mut(&slot) else { return Ok(()) };
        let Some(process) = self.processes.get(&standing.pid) else { return Ok(()) };
        let mut new = Vec::new();
        for (tid, ring) in process.rings.iter().filter(|(tid, _)| !standing.threads.contains_key(tid)) {
            let noting = self.notes.as_ref().filter(|_| standing.noted);
            let opened = Breakpoint::open(*tid, standing.address, ring).and_then(|mut breakpoint| {
                noting.map_or(Ok(()), |notes| breakpoint.note(notes, *tid, standing.address, slot))?;
                Ok(breakpoint)
            });
            match opened {
                Ok(breakpoint) => new.push((*tid, breakpoint, room(ring))),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
        for (tid, breakpoint, room) in new {
            self.merged.add(breakpoint.id, slot, 0);
            let hits = self.merged.renew(breakpoint.id, room, 0);
            if hits > 0 {
                breakpoint.grant(hits)?;
            }
            standing.threads.insert(tid, breakpoint);
        }
        Ok(())
    }

    pub(super) fn set(&mut self, slot: usize, row: Slot) {
        self.merged.set(slot, row);
    }

    pub(super) fn seen(&self, slot: usize) -> Seen {
        self.merged.seen(slot)
    }

    /// Of a slot in mode [`MODE_LENGTH`](crate::bpf::MODE_LENGTH): hits of its parent up to its first hit and up to its last.
    pub(super) fn of_parent(&self, slot: usize) -> (u64, u64) {
        self.merged.of_parent(slot)
    }

    /// Takes a probe out. What it counted can still be read.
    pub(super) fn close(&mut self, slot: usize) {
        let Some(standing) = self.standing.remove(&slot) else { return };
        for breakpoint in standing.threads.into_values() {
            self.merged.remove(breakpoint.id);
        }
    }

    /// Takes in the hits since the last time, gives probes that stand more of them, and looks for new threads.
    /// Returns entries to be reported.
    pub(super) fn drain(&mut self) -> Vec<Event> {
        // What happened before this moment is in the rings by now.
        let now = clock::now_ns();
        let due: Vec<u32> = self
            .processes
            .iter()
            .filter(|(pid, process)| {
                now - process.looked_ns >= LOOK_NS && self.standing.values().any(|one| one.pid == **pid)
            })
            .map(|(pid, _)| *pid)
            .collect();
        for pid in due {
            // A process that is gone is reported by others; one with too many threads is counted in those that it had.
            if self.look_for_threads(pid).is_ok() {
                let slots: Vec<usize> =
                    self.standing.iter().filter(|(_, one)| one.pid == pid).map(|(slot, _)| *slot).collect();
                for slot in slots {
                    let _ = self.place(slot);
                }
            }
        }
        for ring in self.processes.values_mut().flat_map(|process| process.rings.values_mut()) {
            ring.drain(&mut self.pending);
        }
        self.pending.sort_by_key(|hit| hit.time);
        let ready = self.pending.partition_point(|hit| hit.time <= now);
        for hit in self.pending.drain(..ready) {
            self.merged.take(&hit);
        }
        for standing in self.standing.values() {
            let Some(process) = self.processes.get(&standing.pid) else { continue };
            for (tid, breakpoint) in &standing.threads {
                let Some(ring) = process.rings.get(tid) else { continue };
                let hits = self.merged.renew(breakpoint.id, room(ring), clock::now_ns());
                if hits > 0 {
                    // One that cannot be given more has run out, which its last hit tells.
                    let _ = breakpoint.grant(hits);
                }
            }
        }
        std::mem::take(&mut self.merged.entries)
    }

    /// A process has ended.
    pub(super) fn gone(&mut self, pid: u32) {
        self.processes.remove(&pid);
    }
}

/// Hits ahead for which a ring has room, whatever the other probes of the thread do.
fn room(ring: &ThreadRing) -> u64 {
    (ring.bytes / HIT_BYTES / AT_ONCE) as u64
}

/// Whether a process has this code there. Where its memory may not be read it is taken for granted.
fn is_code(pid: u32, address: u64, expected: &[u8]) -> bool {
    let mut bytes = [0u8; COMPARED];
    let length = expected.len().min(COMPARED);
    let own = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let other = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    // SAFETY: writes at most `length` bytes to `bytes`, which has so many; the other address is only read, in the other process.
    let read = unsafe { libc::process_vm_readv(pid as i32, &own, 1, &other, 1, 0) };
    if read < 0 {
        return io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
    }
    read as usize == length && bytes[..length] == expected[..length]
}

#[cfg(test)]
mod tests;
