//! What a thread will do next: now and then one that runs is stopped, and a stretch of its code is run here, on a copy of its memory
//! (`slowpath-emulate`).
//!
//! - `calls` — calls in the stretch that do again what a call before did.
//! - `copies` — copies of objects that a reference would have done for.
//! - `texts` — what becomes of texts that are formatted in it.
//! - `natives` — functions that are done here in place of running their code.
//! - `code` — which functions of a process they are, and where its stacks are.
//! - `rounds` — how many rounds loops make in it.
//! - `stop` — stops a thread for that where nobody traces it, and tells its registers.
//! - `looks` — when, and which thread.
//!
//! Where the program is traced by ptrace the tracer's thread does it at its own stops.

mod calls;
mod code;
mod copies;
mod looks;
mod natives;
mod rounds;
mod stop;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use calls::Again;
pub(crate) use code::Code;
pub(crate) use copies::Copied;
pub(crate) use looks::{Budget, Looks, Wanted};
pub(crate) use rounds::Watched;
pub(crate) use stop::registers;
pub(crate) use texts::Texts;

use calls::Calls;
use code::InStretch;
use rounds::Rounds;
use slowpath_emulate::{Machine, PAGE, Registers, Source};
use std::time::{Duration, Instant};

/// Instructions of a stretch at most, of the first ones and of later ones: several of a short run say more than one that is long, …
const FIRST: u64 = 130_000;
const INSTRUCTIONS: u64 = 400_000;
/// … that are run in so many parts, between which it is looked how long it took, …
const PARTS: u64 = 40;
/// … since the thread must not stand longer than this: 400,000 took 10 to 35 ms.
const MOST: Duration = Duration::from_millis(40);
/// Shorter ones show no function twice.
const LEAST: u64 = 2_000;

/// What a stretch showed.
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    /// So long the thread stood, ns.
    pub took_ns: u64,
    pub instructions: u64,
    /// Functions with calls that may be judged, by their addresses and those of their callers.
    pub functions: Vec<(calls::Key, Again)>,
    /// Functions that had texts formatted.
    pub texts: Vec<(u64, Texts)>,
    /// Functions that copied objects, as `functions`.
    pub copies: Vec<(calls::Key, Copied)>,
    /// Of walks, by their numbers, how often they were entered and how many rounds they made; see [`WalkBurst`](slowpath_recording::tables::WalkBurst).
    pub rounds: Vec<(u32, u64, u64)>,
}

/// Memory of a process.
struct Of<'c>(&'c Code);

impl Source for Of<'_> {
    fn page(&mut self, address: u64, into: &mut [u8; PAGE]) -> bool {
        if natives::is_fresh(address) {
            into.fill(0);
            return true;
        }
        let there = read(self.0.pid(), address, into) == PAGE;
        if there {
            self.0.without_breakpoints(address, into);
        }
        there
    }
}

/// Reads memory of a process: how many bytes could be read.
fn read(pid: u32, address: u64, into: &mut [u8]) -> usize {
    let here = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: into.len() };
    // SAFETY: the local part is a buffer that we hold exclusively; the other is only read, by the kernel.
    let read = unsafe { libc::process_vm_readv(pid as i32, &here, 1, &there, 1, 0) };
    read.max(0) as usize
}

/// Runs a stretch of a thread that is stopped with these registers, one of the first or a later one. None if it came to nothing.
pub(crate) fn stretch(
    code: &Code,
    tid: u32,
    registers: Registers,
    since: Instant,
    is_first: bool,
    watched: &[Watched],
) -> Option<Stretch> {
    let instructions = if is_first { FIRST } else { INSTRUCTIONS };
    let pid = code.pid();
    let stack = code.stack(&registers)?;
    let mut machine = Machine::new(registers, Of(code), Calls::new(InStretch::new(code), stack));
    let rounds = Rounds::new(watched);
    rounds.marks().for_each(|(address, mark)| machine.mark(address, mark));
    machine.watch.rounds = rounds;
    for part in 1..=PARTS {
        if machine.run(part * instructions / PARTS) != slowpath_emulate::End::Limit || since.elapsed() > MOST
        {
            break;
        }
    }
    let instructions = machine.count;
    let rounds = machine.watch.rounds.found();
    let found = machine.watch.found();
    (instructions >= LEAST).then(|| Stretch {
        pid,
        tid,
        time_ns: crate::clock::now_ns(),
        took_ns: since.elapsed().as_nanos() as u64,
        instructions,
        functions: found.functions.into_iter().collect(),
        texts: found.texts.into_iter().collect(),
        copies: found.copies.into_iter().collect(),
        rounds,
    })
}
