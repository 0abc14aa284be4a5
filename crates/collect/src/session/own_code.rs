//! Where our own code lies in the kernel: samples there are of watching, not of the target.

use crate::bpf::Bpf;
use slowpath_symbols::kernel::KernelSymbols;
use std::ops::Range;
use std::thread::{Builder, JoinHandle};

/// Our BPF programs, and what of the kernel runs only to call them.
pub(super) struct OwnCode {
    /// In order.
    ranges: Vec<Range<u64>>,
    /// The list of the kernel's functions is long: it is read meanwhile.
    callers: Option<JoinHandle<Vec<Range<u64>>>>,
}

impl OwnCode {
    pub(super) fn of(bpf: Option<&Bpf>) -> OwnCode {
        let mut own = OwnCode { ranges: bpf.map(Bpf::code).unwrap_or_default(), callers: None };
        if bpf.is_some() {
            match Builder::new().spawn(callers) {
                Ok(thread) => own.callers = Some(thread),
                Err(_) => own.add(callers()),
            }
        }
        own
    }

    fn add(&mut self, more: Vec<Range<u64>>) {
        self.ranges.extend(more);
        self.ranges.sort_by_key(|range| range.start);
    }

    /// Whether one of the addresses lies in it, as far as it is known by now.
    pub(super) fn is_on(&mut self, addresses: &[u64]) -> bool {
        if let Some(thread) = self.callers.take_if(|thread| thread.is_finished()) {
            self.add(thread.join().unwrap_or_default());
        }
        addresses.iter().any(|address| {
            let before = self.ranges.partition_point(|range| range.start <= *address);
            before > 0 && *address < self.ranges[before - 1].end
        })
    }
}

/// The functions of the kernel that call BPF programs at trace points and probes, by their names.
fn callers() -> Vec<Range<u64>> {
    let is = |name: &str| {
        name.starts_with("bpf_trace_run")
            || name.starts_with("__bpf_trace_")
            || name.contains("uprobe")
            || matches!(name, "handle_swbp" | "handler_chain" | "exc_int3" | "asm_exc_int3" | "do_int3")
            // Behind an instruction that was stepped.
            || matches!(name, "exc_debug" | "asm_exc_debug" | "exc_debug_user")
    };
    // Users who may not read the list have no BPF programs either.
    KernelSymbols::load().map(|symbols| symbols.ranges(is)).unwrap_or_default()
}
