//! Events that the BPF object sends, from bytes. Mirrors the structs of `bpf/slowpath.bpf.c`.

use crate::counter::origin::ORIGINS;
use crate::sampler::record::Sample;
use crate::tracer::event::{Finished, StackCopy};

/// The length of what could not be read; as in `bpf/walk.h`.
const UNREAD: u64 = u64::MAX;

/// One event. Times are ns of CLOCK_MONOTONIC, pids those of our namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A process of the tree executed a program.
    Exec { pid: u32, time: u64, arguments: Vec<String>, truncated: bool },
    /// A thread of the tree ended; `last` of its process.
    Exit {
        pid: u32,
        tid: u32,
        last: bool,
        time: u64,
        cpu_ns: u64,
        user_ticks_ns: u64,
        sys_ticks_ns: u64,
        peak_pages: u64,
        /// The peak is that of the program itself, not also of what its process was before.
        measured: bool,
        status: i32,
    },
    /// A probe was hit.
    Call { probe: u32, tid: u32, time: u64, count: u64, cpu_ns: u64, under: Vec<(u32, u64)> },
    /// A walk begins.
    Walk(Entered),
    /// A fork, or a new thread where `pid` is the parent. Told by ptrace.
    Fork { pid: u32, parent: u32, tid: u32, time: u64 },
    /// What a process executes now, and in which directory. Told by ptrace.
    Program {
        pid: u32,
        time: u64,
        program: Option<String>,
        directory: Option<String>,
        arguments: Vec<String>,
    },
    /// What is mapped into a process, as in `/proc/PID/maps`. Reported by ptrace.
    Maps { pid: u32, time: u64, text: String },
    /// So many stops of a process since the last such event. Reported by ptrace.
    Stops { pid: u32, time: u64, stops: u64 },
    /// The stack of a place from which system calls are made.
    Stack(StackCopy),
    /// Where a thread was. Reported by ptrace.
    Sample(Box<Sample>),
    /// A system call has returned.
    Syscall(Box<Finished>),
    /// A goroutine that waited runs on.
    Park(Box<Parked>),
}

/// `struct park_event` of `bpf/parks.h`: a wait of a goroutine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parked {
    pub pid: u32,
    /// Where the runtime keeps what it knows of the goroutine: the number of another one once it has ended.
    pub goroutine: u64,
    pub time: u64,
    pub end: u64,
    /// What it waits at.
    pub object: u64,
    /// The goroutine that gave it the lock for which it waited; 0 if it was not that.
    pub waker: u64,
    /// Return addresses, innermost first.
    pub stack: Vec<u64>,
    pub waker_stack: Vec<u64>,
}

impl Parked {
    const FRAMES: usize = 24;

    fn parse(bytes: &[u8]) -> Option<Parked> {
        let u32_at = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let stack = |at: usize, frames: u32| -> Option<Vec<u64>> {
            (0..(frames as usize).min(Self::FRAMES)).map(|frame| u64_at(at + frame * 8)).collect()
        };
        Some(Parked {
            pid: u32_at(4)?,
            goroutine: u64_at(8)?,
            time: u64_at(16)?,
            end: u64_at(24)?,
            object: u64_at(32)?,
            waker: u64_at(40)?,
            stack: stack(56, u32_at(48)?)?,
            waker_stack: stack(56 + Self::FRAMES * 8, u32_at(52)?)?,
        })
    }
}

/// An entry of a walk: a hot loop or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entered {
    pub walk: u32,
    pub tid: u32,
    pub time: u64,
    pub cpu_ns: u64,
    /// The address and a hash of what is there (0: not readable) of each of its pointers, 0 for none.
    pub beginnings: [(u64, u64); ORIGINS],
    /// A bit for each that begins at an item that points to where the one before began.
    pub linked: u64,
    pub length: u64,
    /// When the outermost invocation was entered that this one is part of; 0 if it is one itself, or that was not asked.
    pub within: u64,
    /// How far the stack pointer at entry is below that of this outermost invocation, bytes.
    pub below: u64,
    /// What the first leads to, as far as it was read; none if it cannot be.
    pub text: Option<Vec<u8>>,
}

impl Event {
    pub(crate) fn time(&self) -> u64 {
        match self {
            Event::Exec { time, .. }
            | Event::Exit { time, .. }
            | Event::Call { time, .. }
            | Event::Walk(Entered { time, .. })
            | Event::Fork { time, .. }
            | Event::Program { time, .. }
            | Event::Maps { time, .. }
            | Event::Stops { time, .. } => *time,
            Event::Stack(copy) => copy.time,
            Event::Sample(sample) => sample.time,
            Event::Syscall(call) => call.end,
            Event::Park(park) => park.end,
        }
    }

    /// `None` for what is no event of ours.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Event> {
        let u32_at = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let u64_at = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        Some(match u32_at(0)? {
            1 => {
                let (size, full) = (u32_at(16)? as usize, u32_at(20)? as usize);
                let text = bytes.get(24..24 + size)?;
                let arguments = text
                    .strip_suffix(&[0])
                    .unwrap_or(text)
                    .split(|byte| *byte == 0)
                    .map(|argument| String::from_utf8_lossy(argument).into_owned())
                    .collect();
                Event::Exec { pid: u32_at(4)?, time: u64_at(8)?, arguments, truncated: full > size }
            }
            2 => Event::Exit {
                pid: u32_at(4)?,
                tid: u32_at(8)?,
                last: u32_at(12)? != 0,
                time: u64_at(16)?,
                cpu_ns: u64_at(24)?,
                user_ticks_ns: u64_at(32)?,
                sys_ticks_ns: u64_at(40)?,
                peak_pages: u64_at(48)?,
                status: u32_at(56)? as i32,
                measured: u32_at(60)? != 0,
            },
            3 => {
                let mut under = Vec::new();
                for child in 0..u32_at(40)? as usize {
                    if let Some(probe) = u32_at(48 + child * 16)?.checked_sub(1) {
                        under.push((probe, u64_at(56 + child * 16)?));
                    }
                }
                Event::Call {
                    probe: u32_at(4)?,
                    tid: u32_at(12)?,
                    time: u64_at(16)?,
                    count: u64_at(24)?,
                    cpu_ns: u64_at(32)?,
                    under,
                }
            }
            4 => Event::Stack(StackCopy::parse(bytes)?),
            5 => Event::Syscall(Box::new(Finished::parse(bytes)?)),
            7 => Event::Park(Box::new(Parked::parse(bytes)?)),
            6 => {
                let mut beginnings = [(0, 0); ORIGINS];
                for (number, beginning) in beginnings.iter_mut().enumerate() {
                    let at = 40 + number * 16;
                    *beginning = (u64_at(at)?, u64_at(at + 8)?);
                }
                let length = u64_at(48 + ORIGINS * 16)?;
                let text = bytes.get(72 + ORIGINS * 16..).unwrap_or_default();
                let (length, text) = match length {
                    UNREAD => (0, None),
                    _ => (length, Some(text[..text.len().min(length as usize)].to_vec())),
                };
                Event::Walk(Entered {
                    walk: u32_at(4)?,
                    tid: u32_at(12)?,
                    time: u64_at(16)?,
                    cpu_ns: u64_at(32)?,
                    beginnings,
                    linked: u64_at(40 + ORIGINS * 16)?,
                    length,
                    within: u64_at(56 + ORIGINS * 16)?,
                    below: u64_at(64 + ORIGINS * 16)?,
                    text,
                })
            }
            _ => return None,
        })
    }
}
