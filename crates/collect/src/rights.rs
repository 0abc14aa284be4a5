//! What this machine and user allow: tried, not guessed. For choosing how to record, and for `slowpath doctor`.

use crate::bpf::Bpf;
use crate::counter::breakpoint;
use crate::sampler::{Plan, Scope};

/// What gives every right.
const ALLOW: &str = "run with sudo, or allow it once: sudo slowpath setup";

/// What was tried, and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// What it is for.
    pub name: &'static str,
    /// What stands in the way; none if it works.
    pub obstacle: Option<String>,
    /// What would give it.
    pub remedy: &'static str,
}

/// Tries everything that recording uses.
pub fn abilities() -> Vec<Ability> {
    let plan = |cycles, kernel| Plan { rate: 1000, stack_bytes: 16 << 10, cycles, kernel };
    let own = Scope::NextExec(std::process::id());
    let tried = |result: std::io::Result<()>| result.err().map(|error| error.to_string());
    vec![
        Ability {
            name: "sample own programs (user code)",
            obstacle: tried(plan(false, false).probe(own)),
            remedy: "sudo sysctl kernel.perf_event_paranoid=2; in a container, allow perf_event_open",
        },
        Ability {
            name: "sample kernel code too",
            obstacle: tried(plan(false, true).probe(own)),
            remedy: "run with sudo, or allow it once: sudo slowpath setup; or: sudo sysctl kernel.perf_event_paranoid=1",
        },
        Ability {
            name: "sample every CPU (needed for programs that fork all the time)",
            obstacle: tried(plan(false, true).probe(Scope::Machine)),
            remedy: ALLOW,
        },
        Ability {
            name: "hardware cycle counter",
            obstacle: tried(plan(true, false).probe(own)),
            remedy: "not needed: the CPU clock is used where a virtual machine hides the counters",
        },
        Ability {
            name: "BPF (exact call counts, exact CPU time of every process)",
            obstacle: Bpf::load().err().map(|error| error.to_string()),
            remedy: ALLOW,
        },
        Ability {
            name: "hardware breakpoints (calls and repeated work without BPF, four places at a time)",
            obstacle: breakpoint::measure().err().map(|error| breakpoint::obstacle(&error)),
            remedy: "not needed with BPF; else: sudo sysctl kernel.perf_event_paranoid=2, and no debugger on the program",
        },
        Ability {
            name: "ptrace (system calls, and samples of user code, without any of these privileges)",
            obstacle: crate::tracer::ptrace::measure().err().map(|error| error.to_string()),
            remedy: "not needed with BPF; else: sudo sysctl kernel.yama.ptrace_scope=1; in a container, allow ptrace (--cap-add SYS_PTRACE)",
        },
        Ability {
            name: "valgrind (--exact: instructions and calls, without any of these privileges)",
            obstacle: slowpath_formats::callgrind::tool::words(std::path::Path::new("/"), &[])
                .err()
                .map(|_| "it is not installed".to_owned()),
            remedy: "on Debian and Ubuntu: sudo apt-get install valgrind",
        },
        Ability {
            name: "kernel symbols",
            obstacle: kernel_symbols(),
            remedy: "run with sudo, or allow it once: sudo slowpath setup; or: sudo sysctl kernel.kptr_restrict=0",
        },
    ]
}

fn kernel_symbols() -> Option<String> {
    slowpath_symbols::kernel::KernelSymbols::load().err().map(|error| error.to_string())
}

/// `kernel.perf_event_paranoid`, if it can be read.
pub fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}
