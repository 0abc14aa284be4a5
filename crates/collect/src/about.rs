//! What is known of a recording beside its tables: what runs, where, with which collectors, and what that does to its times.

use crate::sampler::Plan;
use crate::tracer::ptrace::{Cost, SAMPLES, Taken};
use crate::weigh::{StandsFor, Together};
use crate::{Options, clock};
use slowpath_recording::About;
use slowpath_recording::about::{Collector, Counter, Format, MAJOR, MINOR, State};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known of a recording before it begins.
pub(crate) fn about(options: &Options, command: &[String], attached: bool) -> About {
    let read =
        |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let cpu = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1))
        .unwrap_or("unknown");
    // That of a removed directory is found too.
    let directory = std::env::current_dir().or_else(|_| std::fs::read_link("/proc/self/cwd"));
    let mut about = About {
        format: Format { major: MAJOR, minor: MINOR },
        slowpath: env!("CARGO_PKG_VERSION").to_owned(),
        id: String::new(),
        state: State::Recording,
        command: if options.redact_arguments {
            command.iter().take(1).cloned().collect()
        } else {
            command.to_vec()
        },
        directory: directory.unwrap_or_default().to_string_lossy().into_owned(),
        host: read("/proc/sys/kernel/hostname"),
        kernel: read("/proc/sys/kernel/osrelease"),
        cpu: cpu.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        started_unix_ns: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as u64),
        start_ns: clock::now_ns(),
        wall_ns: 0,
        user_ns: 0,
        sys_ns: 0,
        exit: None,
        runs: options.repeat.max(1),
        attached,
        collectors: Vec::new(),
        tracer: None,
        counter: None,
        hit_ns: None,
        degraded: Vec::new(),
        lost: BTreeMap::new(),
        sampled_share: 0.0,
        tracing_ns: 0,
        tracing_wall_ns: 0,
        tracing_calls_ns: None,
        tracing_samples_ns: 0,
        traced_share: 1.0,
        instructions: None,
        machine: None,
    };
    about.vouch();
    about
}

/// What samples stand for. Cycles are only proportional to time: each process's scale makes them add up to its CPU time.
/// Without a plan each is taken by a stop, at the end of the CPU time since the last, wherever that was.
pub(crate) fn stands_for(plan: Option<&Plan>) -> StandsFor {
    let (cycles, kernel) = plan.map_or((false, true), |plan| (plan.cycles, plan.kernel));
    let together = match (kernel, cycles) {
        (true, _) => Together::Cpu,
        (false, true) => Together::User,
        (false, false) => Together::Themselves,
    };
    if !cycles {
        return StandsFor { ns_per_period: 1.0, together };
    }
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mhz = text
        .lines()
        .find(|line| line.starts_with("cpu MHz"))
        .and_then(|line| line.split(": ").nth(1)?.parse().ok());
    StandsFor { ns_per_period: 1000.0 / mhz.unwrap_or(2500.0f64), together }
}

/// The sampler that runs.
pub(crate) fn sampler(plan: &Plan, machine: bool) -> Collector {
    let event = if plan.cycles { "cycles" } else { "cpu-clock" };
    let scope = if machine { "per CPU" } else { "per task" };
    let part = if plan.kernel { "user and kernel" } else { "user only" };
    let how = format!("{event} at {} Hz, {scope}, {part}, {} bytes of stack", plan.rate, plan.stack_bytes);
    Collector { name: "sampler".to_owned(), how }
}

/// The tracer by ptrace takes the samples.
pub(crate) fn sampler_by_stops(stack_bytes: u32) -> Collector {
    let how = format!("stops by ptrace at {SAMPLES} Hz, user only, {stack_bytes} bytes of stack");
    Collector { name: "sampler".to_owned(), how }
}

/// Adds the counter of calls: by BPF, or by breakpoints of which a hit takes so many ns; none if there is neither.
pub(crate) fn add_counter(about: &mut About, bpf: bool, hit_ns: Option<u64>) {
    let how = match hit_ns {
        _ if bpf => "uprobes with BPF, in the target's processes only".to_owned(),
        Some(hit_ns) => {
            format!("hardware breakpoints, four at a time in a process; {:.1} µs a hit", hit_ns as f64 / 1e3)
        }
        None => return,
    };
    about.collectors.push(Collector { name: "counter".to_owned(), how });
    about.counter = Some(if bpf { Counter::Bpf } else { Counter::Breakpoints });
    about.hit_ns = hit_ns.filter(|_| !bpf);
}

/// How a tracer by ptrace is described.
pub(crate) fn how_traced(cost: &Cost) -> String {
    format!("ptrace, for the whole run or in windows; {:.1} µs a stop", cost.wall_ns as f64 / 1e3)
}

/// A share of the elapsed time below which times are as good as without tracing: they differ by more from run to run.
const UNNOTICED: f64 = 0.02;

/// What tracing by ptrace does to the target and to its times, and how much of it was traced.
pub(crate) fn distorted(taken: Taken, wall_ns: u64) -> String {
    let stops = taken.stops;
    let share = taken.wall_ns as f64 / wall_ns.max(1) as f64;
    let cost = if share < UNNOTICED {
        format!("{stops} stops, less than {:.0} % of the elapsed time", 100.0 * UNNOTICED)
    } else {
        let ms = |ns: u64| ns as f64 / 1e6;
        format!(
            "{stops} stops of about {:.0} µs took about {:.0} ms of {:.0} ms elapsed time and {:.0} ms of CPU time; the times of \
             this report are corrected for that, so they are less exact",
            taken.wall_ns as f64 / 1e3 / stops.max(1) as f64,
            ms(taken.wall_ns),
            ms(wall_ns),
            ms(taken.cpu_ns)
        )
    };
    let part = match taken.share() {
        1.0 => String::new(),
        share => format!(
            ". To keep this small, calls were traced in windows only, for {} of the CPU time; between them the program was \
             stopped now and then to see in which call it was. Counts, bytes and times of calls are estimates for the whole run",
            percent(share)
        ),
    };
    format!(
        "system calls were traced by ptrace because of insufficient privileges: {cost}{part}; set-uid programs gain no \
         privileges and debuggers do not work meanwhile. --no-trace turns tracing off"
    )
}

/// A share as a person would write it.
fn percent(share: f64) -> String {
    match 100.0 * share {
        less if less < 0.1 => "less than 0.1 %".to_owned(),
        few if few < 10.0 => format!("about {few:.1} %"),
        nearly if nearly >= 99.5 => "nearly all".to_owned(),
        many => format!("about {many:.0} %"),
    }
}
