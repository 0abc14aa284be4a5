//! The BPF object in user space: loading and attaching it, its events, and its tables for probes.

mod alarm;
pub(crate) mod event;
#[cfg(test)]
mod frames;

use crate::counter::origin::{ORIGINS, Origin};
use crate::tracer::LONG_WAIT_NS;
use crate::tracer::event::{Tally, TallyKey};
use alarm::Alarm;
use event::Event;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{
    Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject, ProgramInput, RingBuffer,
    RingBufferBuilder,
};
use slowpath_leftovers::Keeper;
use slowpath_recording::CONTENT_BYTES;
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slowpath.bpf.o"));

/// Calls of one thread in 10 ms that are recorded one by one, at first: beyond them recording would cost more than many calls take.
const SLICE_EVENTS: u64 = 100;
/// Room for calls that the kernel adds up, as in `bpf/tracer.h`.
pub(crate) const TALLIES: usize = 32_768;
/// Slots for probes in the object's tables.
pub(crate) const SLOTS: usize = 64;
/// Probes whose counts one entry of another can carry.
pub(crate) const CHILDREN: usize = 6;

/// The object, loaded and attached. Detached when dropped; if we are killed, by the kernel.
pub(crate) struct Bpf {
    ring: RingBuffer<'static>,
    received: Rc<RefCell<Received>>,
    links: Vec<Link>,
    object: Object,
    /// The kernel has uprobe_multi links.
    multi: bool,
    /// See [`OnHit::keeper`]; started when the first probe is near.
    keeper: OnceCell<Option<Arc<Keeper>>>,
    /// System calls are traced, and so what goroutines wait for.
    pub traces: bool,
}

/// Events that were taken out of the ring, and for how many bytes more there is room.
#[derive(Default)]
struct Received {
    events: Vec<Event>,
    room: usize,
}

fn open(multi: bool) -> Result<OpenObject, libbpf_rs::Error> {
    let mut object = ObjectBuilder::default().open_memory(OBJECT)?;
    for mut program in object.progs_mut() {
        if matches!(program.name().to_str(), Some("hit_multi" | "go_multi")) && !multi {
            program.set_autoload(false);
        }
    }
    Ok(object)
}

impl Bpf {
    /// Loads the object and follows forks, execs and exits. Needs CAP_BPF and CAP_PERFMON, or root.
    pub(crate) fn load() -> Result<Bpf, libbpf_rs::Error> {
        libbpf_rs::set_print(None); // its complaints go to stderr, which is the target's
        // Kernels before 6.6 refuse the program for several probes a link.
        let (object, multi) = match open(true)?.load() {
            Ok(object) => (object, true),
            Err(_) => (open(false)?.load()?, false),
        };
        let mut links = Vec::new();
        for program in object.progs_mut() {
            match program.name().to_str() {
                Some("whoami") => {
                    program.test_run(ProgramInput::default())?;
                }
                Some("on_fork" | "on_exec" | "on_exit" | "on_switch") => links.push(program.attach_trace()?),
                _ => {}
            }
        }
        let received = Rc::new(RefCell::new(Received::default()));
        let sink = received.clone();
        let mut builder = RingBufferBuilder::new();
        let events = map(&object, "events")?;
        builder.add(&events, move |bytes| {
            let mut received = sink.borrow_mut();
            received.events.extend(Event::parse(bytes));
            received.room = received.room.saturating_sub(bytes.len());
            // What is negative ends the reading, behind this event.
            if received.room > 0 { 0 } else { -1 }
        })?;
        let ring = builder.build()?;
        Ok(Bpf { ring, received, links, object, multi, keeper: OnceCell::new(), traces: false })
    }

    /// Adds a process to the tree that is followed.
    pub(crate) fn follow(&self, pid: u32) -> Result<(), libbpf_rs::Error> {
        map(&self.object, "tree")?.update(&pid.to_ne_bytes(), &[1], MapFlags::ANY)
    }

    /// Has samples of events on all CPUs dropped where they are not of the tree.
    pub(crate) fn filter(&mut self, events: impl Iterator<Item = i32>) -> Result<(), libbpf_rs::Error> {
        for event in events {
            for program in self.object.progs_mut() {
                if program.name() == "keep_sample" {
                    self.links.push(program.attach_perf_event(event)?);
                }
            }
        }
        Ok(())
    }

    /// Moves events that came since the last call to `into`: all of them, or the first ones, of `most` bytes. Then returns the time of the last.
    pub(crate) fn drain(&mut self, into: &mut Vec<Event>, most: usize) -> Option<u64> {
        self.received.borrow_mut().room = most;
        // An error is the end of what is taken at once, or a broken descriptor; what was received before is not lost by it.
        let _ = self.ring.consume();
        let mut received = self.received.borrow_mut();
        let last = received.events.iter().map(Event::time).max().filter(|_| received.room == 0);
        into.append(&mut received.events);
        last
    }

    /// Has system calls of the tree traced from now on.
    pub(crate) fn trace(&mut self) -> Result<(), libbpf_rs::Error> {
        self.coarser(0)?;
        self.traces = true;
        for program in self.object.progs_mut() {
            if matches!(program.name().to_str(), Some("on_enter" | "on_return" | "on_waking")) {
                self.links.push(program.attach_trace()?);
            }
        }
        Ok(())
    }

    /// Records single calls only so often (halved with each level), and waits only from such a length on (doubled): `struct
    /// grain` of the BPF object.
    pub(crate) fn coarser(&self, level: u32) -> Result<(), libbpf_rs::Error> {
        let values = [SLICE_EVENTS >> level, LONG_WAIT_NS << level];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        map(&self.object, "grains")?.update(&0u32.to_ne_bytes(), &bytes, MapFlags::ANY)
    }

    /// Has the stack of a place copied again at its next call, the second half of it from an offset on.
    pub(crate) fn copy_again(&self, pid: u32, site: u64, far: u64) -> Result<(), libbpf_rs::Error> {
        let key: Vec<u8> =
            [pid.to_ne_bytes(), [0; 4]].concat().into_iter().chain(site.to_ne_bytes()).collect();
        map(&self.object, "far_frames")?.update(&key, &far.to_ne_bytes(), MapFlags::ANY)?;
        // It may be gone, or not be there yet.
        let _ = map(&self.object, "sites")?.delete(&key);
        let asked = map(&self.object, "asked_again")?;
        let first = 0u32.to_ne_bytes();
        let before = asked
            .lookup(&first, MapFlags::ANY)?
            .and_then(|value| Some(u64::from_ne_bytes(value.try_into().ok()?)));
        asked.update(&first, &(before.unwrap_or(0) + 1).to_ne_bytes(), MapFlags::ANY)
    }

    /// Names the command's own process.
    pub(crate) fn root(&self, pid: u32) -> Result<(), libbpf_rs::Error> {
        map(&self.object, "root")?.update(&0u32.to_ne_bytes(), &pid.to_ne_bytes(), MapFlags::ANY)
    }

    /// Calls that the kernel has added up so far.
    pub(crate) fn tallies(&self) -> Vec<(TallyKey, Tally)> {
        let mut all: Vec<(TallyKey, Tally)> = Vec::new();
        for tallies in self.tally_maps() {
            // All in one batch: the kernel ends a batch before the first bucket that has more keys than there is room for, and libbpf-rs takes one
            // that is not full for the last. With some more room, since the kernel counts the keys of many CPUs by estimate.
            let room = tallies.max_entries() + tallies.max_entries() / 8;
            let Ok(batches) = tallies.lookup_batch(room, MapFlags::ANY, MapFlags::ANY) else { continue };
            all.extend(
                batches.filter_map(|(key, value)| Some((TallyKey::parse(&key)?, Tally::parse(&value)?))),
            );
        }
        // While the kernel adds keys a batch can report one of them twice.
        all.sort_by_key(|(key, tally)| {
            (key.pid, key.number, key.site, key.inode, key.path_hash, tally.count)
        });
        all
    }

    /// Calls of few keys, and those that were put together for there are ever new ones.
    fn tally_maps(&self) -> impl Iterator<Item = MapHandle> {
        ["tallies", "folded"].into_iter().filter_map(|name| map(&self.object, name).ok())
    }

    /// Forgets calls that were added up.
    pub(crate) fn forget(&self, keys: &[TallyKey]) {
        for tallies in self.tally_maps() {
            for key in keys {
                // One that is gone already, or is in the other table, is as well.
                let _ = tallies.delete(&key.bytes());
            }
        }
    }

    /// Takes calls that were added up out of the table, with what they came to.
    pub(crate) fn take(&self, keys: &[TallyKey]) -> Vec<(TallyKey, Tally)> {
        let mut taken = Vec::new();
        for tallies in self.tally_maps() {
            let take = |key: &TallyKey| {
                let value = tallies.lookup_and_delete(&key.bytes()).ok()??;
                Some((*key, Tally::parse(&value)?))
            };
            taken.extend(keys.iter().filter_map(take));
        }
        taken
    }

    /// Events that found no room: execs, exits, calls, stacks, system calls, waits of goroutines.
    pub(crate) fn lost(&self) -> [u64; 6] {
        [0, 1, 2, 3, 4, 5].map(|key| self.counted(key))
    }

    /// Programs that were not recorded because they have rights that the user has not.
    pub(crate) fn strangers(&self) -> u64 {
        self.counted(6)
    }

    /// One of the numbers that the kernel's part keeps.
    fn counted(&self, key: u32) -> u64 {
        let read = || {
            let value = map(&self.object, "lost").ok()?.lookup(&key.to_ne_bytes(), MapFlags::ANY).ok()??;
            Some(u64::from_ne_bytes(value.try_into().ok()?))
        };
        read().unwrap_or(0)
    }

    /// Where the object's own compiled code lies in the kernel, in order: samples there are of watching, not of the target.
    /// Empty if the kernel does not report it.
    pub(crate) fn code(&self) -> Vec<Range<u64>> {
        let of_map = |map: libbpf_rs::Map<'_>| Some(map.info().ok()?.info.id);
        let maps: Vec<u32> = self.object.maps().filter_map(of_map).collect();
        let options = ProgInfoQueryOptions::default()
            .include_map_ids(true)
            .include_jited_ksyms(true)
            .include_jited_func_lens(true);
        let programs = ProgInfoIter::with_query_opts(options);
        let mut code: Vec<Range<u64>> = programs
            .filter(|program| program.map_ids.iter().any(|map| maps.contains(map)))
            .flat_map(|program| {
                let starts = program.jited_ksyms.iter().map(|start| *start as u64).collect::<Vec<_>>();
                starts.into_iter().zip(program.jited_func_lens)
            })
            .filter(|(start, _)| *start != 0)
            .map(|(start, length)| start..start + u64::from(length))
            .collect();
        code.sort_by_key(|range| range.start);
        code
    }

    /// What the counter needs: the probe program and its tables.
    pub(crate) fn probes(&self) -> Result<ProbeTables, libbpf_rs::Error> {
        let totals = map(&self.object, "totals")?;
        Ok(ProbeTables {
            on_hit: self.on_hit("hit_multi", "hit")?,
            slots: map(&self.object, "slots")?,
            totals: Totals::map(totals.as_fd().as_raw_fd())?,
            alarm: map(&self.object, "limits").and_then(|limits| Alarm::of(&limits)).ok(),
        })
    }

    /// What runs where Go's scheduler parks a goroutine and runs another.
    pub(crate) fn of_goroutines(&self) -> Result<OnHit, libbpf_rs::Error> {
        self.on_hit("go_multi", "go_single")
    }

    /// Has hits of a process's probes on Go's scheduler counted, or no longer.
    pub(crate) fn watch_goroutines(&self, pid: u32, watch: bool) -> Result<(), libbpf_rs::Error> {
        let (hits, pid) = (map(&self.object, "park_hits")?, pid.to_ne_bytes());
        match watch {
            true => hits.update(&pid, &0u64.to_ne_bytes(), MapFlags::ANY),
            false => hits.delete(&pid),
        }
    }

    /// How often they were hit since then.
    pub(crate) fn park_hits(&self, pid: u32) -> u64 {
        let read = || {
            let hits = map(&self.object, "park_hits").ok()?;
            let value = hits.lookup(&pid.to_ne_bytes(), MapFlags::ANY).ok()??;
            Some(u64::from_ne_bytes(value.try_into().ok()?))
        };
        read().unwrap_or(0)
    }

    fn on_hit(&self, multi: &str, single: &str) -> Result<OnHit, libbpf_rs::Error> {
        let name = if self.multi { multi } else { single };
        let program = self.object.progs().find(|program| program.name() == name);
        let program = program.ok_or_else(|| libbpf_rs::Error::from_raw_os_error(libc::ENOENT))?;
        let program = program.as_fd().try_clone_to_owned().map_err(libbpf_rs::Error::from)?;
        let keeper = self.keeper.get_or_init(|| Keeper::start().ok()).clone();
        Ok(OnHit { program, multi: self.multi, keeper })
    }
}

fn map(object: &Object, name: &str) -> Result<MapHandle, libbpf_rs::Error> {
    let map = object.maps().find(|map| map.name() == name);
    MapHandle::try_from(&map.ok_or_else(|| libbpf_rs::Error::from_raw_os_error(libc::ENOENT))?)
}

/// A program that runs when a probe is hit.
pub(crate) struct OnHit {
    pub program: OwnedFd,
    /// It is for uprobe_multi links.
    pub multi: bool,
    /// Keeps the links; none where there can be no further process.
    pub keeper: Option<Arc<Keeper>>,
}

/// The probe program and the tables that steer and read it.
pub(crate) struct ProbeTables {
    pub on_hit: OnHit,
    pub slots: MapHandle,
    pub totals: Totals,
    /// Rung by a probe that has reached a limit.
    pub alarm: Option<Alarm>,
}

/// Up to a zero byte, and all that can be read; as in `bpf/walk.h`.
pub(crate) const TEXT_TO_ZERO: u32 = 1;
pub(crate) const TEXT_AS_IT_IS: u32 = 2;
/// [`Slot::texts`]: only how long a text is that ends at a zero.
pub(crate) const TEXT_LENGTH: u32 = 3;

/// What a probe does when it is hit; `struct slot` of the BPF object.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub mode: u32,
    pub generation: u32,
    pub probe: u32,
    /// Slot of the caller whose invocations hits are counted under, plus 1; 0 for none.
    pub parent: u32,
    pub sp_adjust: u32,
    pub children_used: u32,
    pub children: [u32; CHILDREN],
    /// At so many hits the probe counts no more.
    pub stop_at: u64,
    /// At so many it goes on, but whoever waits for the [`Alarm`] is woken; 0 for never.
    pub tell_at: u64,
    pub origins_used: u32,
    /// How what the first leads to is read: 0 for not at all, [`TEXT_TO_ZERO`], [`TEXT_AS_IT_IS`] or [`TEXT_LENGTH`].
    pub texts: u32,
    pub origins: [SlotOrigin; ORIGINS],
    /// Kept by the object: where the walk before began.
    pub last: [u64; ORIGINS],
    /// Kept by the object: and what was there.
    pub last_words: [[u64; CONTENT_BYTES / 8]; ORIGINS],
    /// Not 0: it is noted which entries an invocation makes that has not returned; `sp_adjust` must be right.
    pub nests: u32,
    /// Kept by the object: the outermost of these invocations, its thread, its stack pointer at entry, what is there, and when that was.
    pub outer_tid: u32,
    pub outer_sp: u64,
    pub outer_return: u64,
    pub outer_time: u64,
}

/// [`SlotOrigin::next`]: it is not known. More than there are.
const NO_WORD: u8 = 255;

/// Where a walk begins; `struct origin` of the BPF object. See [`Origin`].
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SlotOrigin {
    pub register: u8,
    pub index: u8,
    pub steps: u8,
    /// Which of the words there points to the next item; [`NO_WORD`] for none.
    pub next: u8,
    _pad: [u8; 4],
    pub scale: i64,
    pub offsets: [i64; 3],
}

/// [`SlotOrigin::index`]: there is none.
pub(crate) const NO_INDEX: u8 = 255;

impl From<&Origin> for SlotOrigin {
    fn from(origin: &Origin) -> SlotOrigin {
        let (index, scale) = origin.index.unwrap_or((NO_INDEX, 0));
        let word = |bytes: i64| (bytes % 8 == 0).then(|| u8::try_from(bytes / 8).ok())?;
        let mut offsets = [0; 3];
        offsets.iter_mut().zip(&origin.offsets).for_each(|(to, from)| *to = *from);
        SlotOrigin {
            register: origin.register,
            index,
            steps: origin.offsets.len() as u8,
            next: origin.next.and_then(word).unwrap_or(NO_WORD),
            _pad: [0; 4],
            scale,
            offsets,
        }
    }
}

/// [`Slot::mode`]: count nothing but that there was a hit too late.
pub(crate) const MODE_OFF: u32 = 0;
/// [`Slot::mode`]: count hits.
pub(crate) const MODE_COUNT: u32 = 1;
/// [`Slot::mode`]: count hits and send an event for each.
pub(crate) const MODE_RECORD: u32 = 2;
/// [`Slot::mode`]: count hits and send an event with what begins there for each.
pub(crate) const MODE_WALK: u32 = 3;
/// [`Slot::mode`]: count hits, and note how many the parent has.
pub(crate) const MODE_LENGTH: u32 = 4;

impl ProbeTables {
    /// Writes a slot.
    pub(crate) fn set(&self, index: usize, slot: Slot) -> Result<(), libbpf_rs::Error> {
        // SAFETY: Slot is plain integers without padding.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const slot).cast::<u8>(), size_of::<Slot>()) };
        self.slots.update(&(index as u32).to_ne_bytes(), bytes, MapFlags::ANY)
    }
}

/// Hits of a slot, and when it reached its limit (0: it did not); `struct total` of the BPF object.
#[repr(C)]
pub(crate) struct Total {
    pub count: AtomicU64,
    pub stopped_ns: AtomicU64,
    /// When it was hit first, 0 if not yet.
    pub first_ns: AtomicU64,
    /// Once stopped: how long the thread stood in line for a CPU between the two, ns; 0 if they were two threads.
    pub delay_ns: AtomicU64,
    _tid: AtomicU64,
    /// [`MODE_LENGTH`]: hits of the parent at the first of these and at the last.
    pub rounds_first: AtomicU64,
    pub rounds_last: AtomicU64,
    /// Since slowpath began: hits of probes that were taken out, …
    pub late: AtomicU64,
    /// … and of those that had reached their limit.
    pub over: AtomicU64,
}

/// The running counts of all slots, in memory shared with the kernel.
pub(crate) struct Totals(*mut Total);

// SAFETY: shared memory of atomics; the mapping belongs to this value.
unsafe impl Send for Totals {}

impl Totals {
    const BYTES: usize = SLOTS * size_of::<Total>();

    fn map(fd: i32) -> Result<Totals, libbpf_rs::Error> {
        // SAFETY: a new shared mapping of a map made for it, of just this size.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Totals(base.cast()))
    }

    /// The counts of one slot.
    pub(crate) fn get(&self, index: usize) -> &Total {
        assert!(index < SLOTS);
        // SAFETY: inside the mapping, aligned, and shared with the kernel only by atomic operations.
        unsafe { &*self.0.add(index) }
    }
}

impl Drop for Totals {
    fn drop(&mut self) {
        // SAFETY: our own mapping; references to it borrow self.
        unsafe { libc::munmap(self.0.cast(), Self::BYTES) };
    }
}
