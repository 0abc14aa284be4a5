//! Where our own code lies in the kernel: samples there are of watching, not of the target.

use crate::bpf::Bpf;
use slowpath_symbols::kernel::KernelSymbols;
use std::ops::Range;
use std::thread::{Builder, JoinHandle};

/// Our BPF programs, and what of the kernel runs only to call them.
pub(super) struct OwnCode {
    /// In order.
    ranges: Vec<Range<u64>>,
    /// What the kernel does of its own for our sake: it may call other things as well, so that only samples in the function itself are ours.
    around: Vec<Range<u64>>,
    /// The list of the kernel's functions is long: it is read while the rest is made ready.
    callers: Option<JoinHandle<Found>>,
}

/// Of the list: what calls our programs, and what is around that.
type Found = [Vec<Range<u64>>; 2];

impl OwnCode {
    pub(super) fn of(bpf: Option<&Bpf>) -> OwnCode {
        let mut own =
            OwnCode { ranges: bpf.map(Bpf::code).unwrap_or_default(), around: Vec::new(), callers: None };
        if bpf.is_some() {
            match Builder::new().spawn(callers) {
                Ok(thread) => own.callers = Some(thread),
                Err(_) => own.add(callers()),
            }
        }
        own
    }

    fn add(&mut self, [callers, around]: Found) {
        self.ranges.extend(callers);
        self.ranges.sort_by_key(|range| range.start);
        self.around = around;
    }

    /// Waits until the list was read: on a busy machine that can take longer than many a program.
    pub(super) fn wait(&mut self) {
        if let Some(thread) = self.callers.take() {
            self.add(thread.join().unwrap_or_default());
        }
    }

    /// Whether one of the addresses (the innermost first) lies in it.
    pub(super) fn is_on(&self, addresses: &[u64]) -> bool {
        let in_one = |ranges: &[Range<u64>], address: &u64| {
            let before = ranges.partition_point(|range| range.start <= *address);
            before > 0 && *address < ranges[before - 1].end
        };
        addresses.iter().any(|address| in_one(&self.ranges, address))
            || addresses.first().is_some_and(|address| in_one(&self.around, address))
    }
}

/// The functions of the kernel that call BPF programs at trace points and probes, by their names; and those on the way from a system call to its trace
/// points, which a program that nobody traces does not go (but for one under seccomp, where little is spent in them). Of 3 million calls the latter took 5 % of the CPU time.
fn callers() -> Found {
    let is = |name: &str| {
        name.starts_with("bpf_trace_run")
            || name.starts_with("__bpf_trace_")
            || name.contains("uprobe")
            || matches!(name, "handle_swbp" | "handler_chain" | "exc_int3" | "asm_exc_int3" | "do_int3")
            // Behind an instruction that was stepped.
            || matches!(name, "exc_debug" | "asm_exc_debug" | "exc_debug_user")
    };
    let is_around = |name: &str| {
        matches!(
            name,
            "syscall_trace_enter"
                | "syscall_exit_work"
                | "rcu_read_unlock_trace_special"
                | "__rcu_read_unlock_trace"
        )
    };
    // Users who may not read the list have no BPF programs either.
    KernelSymbols::load()
        .map_or_else(|_| Found::default(), |symbols| [symbols.ranges(is), symbols.ranges(is_around)])
}
