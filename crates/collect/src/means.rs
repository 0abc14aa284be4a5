//! What a recording can be made with here: tried, and said where it is less than it could be.
//!
//! If privileges allow nothing of it, nothing is run. Where something is short — descriptors, locked memory, threads — the program
//! runs with what there is, even with nothing.

use crate::bpf::Bpf;
use crate::counter::breakpoint;
use crate::resources::{self, why};
use crate::sampler::{Plan, Sampler, Scope};
use crate::tracer::ptrace::{self, Cost, SAMPLES};
use crate::{Error, Options, rights};
use std::io;

/// Descriptors to be left when the collectors stand: for starting the program, and for the files that it maps.
const FOR_A_RUN: i32 = 8;
/// Those to be left by BPF, for probes too.
const FOR_COUNTING: i32 = 24;
/// So few descriptors that this may be why BPF cannot be loaded, whatever libbpf says.
const FEW: i32 = 64;

/// Why there is less, and what to do.
const UNPRIVILEGED: &str =
    "insufficient privileges: run with sudo, or allow it once with `sudo slowpath setup`";

/// Set in the environment: samples by the CPU clock though there are hardware counters, as on a machine without them.
const CLOCK: &str = "SLOWPATH_CLOCK";
/// Memory to be left for a recording and its report, bytes: with BPF there are more of both.
const MEMORY: usize = 48 << 20;
const MEMORY_TO_COUNT: usize = 256 << 20;

/// What there is.
pub(crate) struct Means {
    /// How to sample; none where it cannot be.
    pub plan: Option<Plan>,
    /// The sampler of all CPUs, where that is allowed; it waits to be started.
    pub machine: Option<Sampler>,
    pub bpf: Option<Bpf>,
    /// Without it calls are counted by hardware breakpoints, and what a hit takes, ns.
    pub hit_ns: Option<u64>,
    /// System calls are traced by ptrace, and what a stop takes.
    pub ptrace: Option<Cost>,
    /// What there is not and why, a sentence each.
    pub degraded: Vec<String>,
}

/// Why there are no samples.
struct Unsampled {
    why: String,
    /// Because of insufficient privileges, not because something is short.
    forbidden: bool,
}

/// That perf gives no samples, and whether the tracer takes some.
pub(crate) fn not_sampled(why: &str, by_stops: bool) -> String {
    if by_stops {
        format!(
            "functions were sampled by stopping the program {SAMPLES} times a second, and the kernel's time was charged to who called it: {why}"
        )
    } else {
        format!("functions were not sampled, so it is unknown where CPU time is spent: {why}")
    }
}

fn kernel_not_sampled(traced: bool) -> String {
    let instead =
        if traced { "is estimated from traced system calls, not sampled" } else { "was not sampled" };
    format!("time in the kernel {instead}, because of {UNPRIVILEGED}")
}

/// Tries what the machine allows. `attach`: to a process that runs already, which takes no filter.
pub(crate) fn means(options: &Options, attach: bool) -> Result<Means, Error> {
    let mut means =
        Means { plan: None, machine: None, bpf: None, hit_ns: None, ptrace: None, degraded: Vec::new() };
    let own = Scope::NextExec(std::process::id());
    let mut plan = Plan { rate: options.rate, stack_bytes: options.stack_bytes, cycles: false, kernel: true };
    let machine = plan.probe(Scope::Machine).is_ok();
    let scope = if machine { Scope::Machine } else { own };
    let sampled = match allowed(&mut plan, scope) {
        Ok(()) => means.sample(plan, scope),
        Err(unsampled) => Err(unsampled),
    };
    if let Err(unsampled) = &sampled
        && unsampled.forbidden
        && (attach || !options.trace)
    {
        let or = if attach {
            ""
        } else {
            "; or count instructions under valgrind, which needs no privileges: --exact"
        };
        return Err(Error::NoRights(format!("{}{or}", unsampled.why)));
    }
    if means.machine.is_some() {
        match load() {
            Ok(bpf) => means.bpf = Some(bpf),
            Err(why) => {
                means.count(options, &format!("because BPF could not be loaded: {why}"));
            }
        }
    } else if machine {
        means
            .degraded
            .push("calls were not counted: samples are needed to choose which ones to count".to_owned());
    } else {
        means.count(options, &format!("because of {UNPRIVILEGED}"));
    }
    if means.bpf.is_none() && options.trace {
        if attach {
            let why = if machine { "BPF is not available".to_owned() } else { format!("of {UNPRIVILEGED}") };
            means.degraded.push(format!("system calls were not traced because {why}"));
        } else {
            means.trace(sampled.as_ref().err(), scope)?;
        }
    }
    match sampled {
        Err(unsampled) => means.degraded.insert(0, not_sampled(&unsampled.why, means.ptrace.is_some())),
        Ok(()) if !plan.kernel => means.degraded.insert(0, kernel_not_sampled(means.ptrace.is_some())),
        Ok(()) => {}
    }
    if means.hit_ns.is_some() && means.ptrace.is_none() {
        let instead = match (attach, options.trace) {
            (true, _) => ", or start the program with slowpath",
            (false, false) => ", or leave out --no-trace",
            (false, true) => "",
        };
        means.degraded.push(format!(
            "repeated work was not looked for, because it takes BPF or tracing by ptrace: run with sudo{instead}"
        ));
    }
    Ok(means)
}

/// Takes from a plan what is not allowed; the error if samples are not.
fn allowed(plan: &mut Plan, scope: Scope) -> Result<(), Unsampled> {
    if plan.probe(scope).is_err() {
        plan.kernel = false;
        if let Err(error) = plan.probe(scope) {
            let forbidden = !resources::is_short(&error);
            let mut why = format!("perf_event_open: {}", why(&error));
            if forbidden {
                let level = rights::paranoid().map_or("unknown".to_owned(), |level| level.to_string());
                why.push_str(&format!(
                    " (kernel.perf_event_paranoid is {level}). Run it with sudo, or allow it with: sudo sysctl \
                     kernel.perf_event_paranoid=2. In a container, allow the system call perf_event_open. `slowpath \
                     doctor` shows more"
                ));
            }
            return Err(Unsampled { why, forbidden });
        }
    }
    plan.cycles = std::env::var_os(CLOCK).is_none() && Plan { cycles: true, ..*plan }.probe(scope).is_ok();
    Ok(())
}

/// Loads the BPF object unless that takes the last descriptors.
fn load() -> Result<Bpf, String> {
    let short = |code| Err(why(&io::Error::from_raw_os_error(code)));
    let few = !resources::have(FEW);
    match Bpf::load() {
        Ok(_) if !resources::have(FOR_COUNTING) => short(libc::EMFILE),
        Ok(_) if !resources::have_memory(MEMORY_TO_COUNT) => short(libc::ENOMEM),
        Ok(bpf) => Ok(bpf),
        Err(_) if few => short(libc::EMFILE),
        Err(_) if !resources::have_memory(MEMORY_TO_COUNT) => short(libc::ENOMEM),
        Err(error) => Err(error.to_string()),
    }
}

impl Means {
    /// Opens the sampler. That of one program is only tried: the program is not there yet.
    fn sample(&mut self, plan: Plan, scope: Scope) -> Result<(), Unsampled> {
        let short = |why| Unsampled { why, forbidden: false };
        let sampler = Sampler::open(&plan, &[scope]).map_err(short)?;
        for (enough, code) in
            [(resources::have(FOR_A_RUN), libc::EMFILE), (resources::have_memory(MEMORY), libc::ENOMEM)]
        {
            if !enough {
                return Err(short(why(&io::Error::from_raw_os_error(code))));
            }
        }
        if let Some(small) = sampler.small(&plan).filter(|small| !self.degraded.contains(small)) {
            self.degraded.push(small);
        }
        self.plan = Some(Plan { stack_bytes: sampler.stack_bytes, ..plan });
        self.machine = (scope == Scope::Machine).then_some(sampler);
        Ok(())
    }

    /// Tries breakpoints for counting calls, where BPF is not there for a reason.
    fn count(&mut self, options: &Options, why: &str) {
        let none = "so growth of a function's cost cannot be detected";
        if self.plan.is_none() || !options.count {
            return self.degraded.push(format!("calls were not counted, {none}, {why}"));
        }
        match breakpoint::measure() {
            // Each of four breakpoints takes a descriptor for each thread, and samples are worth more.
            Ok(_) if !resources::have(FEW) => {
                let short = resources::why(&io::Error::from_raw_os_error(libc::EMFILE));
                self.degraded.push(format!("calls were not counted, {none}: {short}"));
            }
            Ok(hit_ns) => {
                self.hit_ns = Some(hit_ns);
                self.degraded.push(format!(
                    "calls of functions were counted with four hardware breakpoints ({:.1} µs a hit), {why}. In short \
                     runs growth of a function's cost and repeated work may be missed",
                    hit_ns as f64 / 1e3
                ));
            }
            Err(error) => {
                let obstacle = breakpoint::obstacle(&error);
                self.degraded.push(format!("calls were not counted, {none}, {why}. Without it, {obstacle}"));
            }
        }
    }

    /// Tries ptrace for system calls; the error if nothing at all is allowed.
    fn trace(&mut self, unsampled: Option<&Unsampled>, scope: Scope) -> Result<(), Error> {
        match ptrace::measure() {
            Ok(cost) => self.ptrace = Some(cost),
            Err(error) => {
                if let Some(unsampled) = unsampled.filter(|unsampled| unsampled.forbidden)
                    && !matches!(error, Error::Short { .. })
                {
                    let all = [&[not_sampled(&unsampled.why, false)], self.degraded.as_slice()].concat();
                    return Err(Error::NoRights(format!("{}; and {error}", all.join("; "))));
                }
                self.degraded.push(format!("system calls were not traced: {error}"));
            }
        }
        if self.ptrace.is_some()
            && let Some(plan) = self.plan.take_if(|plan| plan.kernel)
        {
            self.degraded
                .push("kernel time was not sampled: it would include the overhead of ptrace".to_owned());
            self.machine = None;
            if let Err(unsampled) = self.sample(Plan { kernel: false, ..plan }, scope) {
                self.degraded.push(not_sampled(&unsampled.why, true));
            }
        }
        Ok(())
    }
}
