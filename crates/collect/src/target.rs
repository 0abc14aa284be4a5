//! The two ways in: run a command, or attach to a process. Chooses how to record from what the machine allows, and says
//! what it could not do.

use crate::bpf::Bpf;
use crate::launch::{self, Ended, Held, User};
use crate::sampler::{Plan, Sampler, Scope};
use crate::session::Session;
use crate::storage::{self, Storage};
use crate::tracer::ptrace::{self, Cost, Filter, Ptrace, Taken};
use crate::{Error, Options, Outcome, clock, rights, signals};
use slowpath_recording::about::{Collector, Format, MAJOR, MINOR, State};
use slowpath_recording::{About, folder};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// How long a round waits for what comes, ms.
const TURN_MS: i32 = 10;
/// Ring of each CPU where locked memory is not limited, bytes.
const RING_BYTES: usize = 4 << 20;

/// What can be done here.
struct Means {
    /// How to sample; none where perf is refused.
    plan: Option<Plan>,
    machine: bool,
    bpf: Option<Bpf>,
    /// System calls are traced by ptrace, and what a stop takes.
    ptrace: Option<Cost>,
    degraded: Vec<String>,
}

/// Tries what the machine allows. `attach`: to a process that runs already, which takes no filter.
fn means(options: &Options, attach: bool) -> Result<Means, Error> {
    let own = Scope::NextExec(std::process::id());
    let mut plan = Plan { rate: options.rate, stack_bytes: options.stack_bytes, cycles: false, kernel: true };
    let mut degraded = Vec::new();
    let machine = plan.probe(Scope::Machine).is_ok();
    let mut sampled = true;
    if !machine && plan.probe(own).is_err() {
        plan.kernel = false;
        if let Err(error) = plan.probe(own) {
            let level = rights::paranoid().map_or("unknown".to_owned(), |level| level.to_string());
            let why = format!(
                "perf_event_open: {error} (kernel.perf_event_paranoid is {level}). Run it with sudo, or allow it with: \
                 sudo sysctl kernel.perf_event_paranoid=2. In a container, allow the system call perf_event_open. \
                 `slowpath doctor` tells more"
            );
            if attach || !options.trace {
                let or = if attach {
                    ""
                } else {
                    "; or count instructions under valgrind, which needs no rights: --exact"
                };
                return Err(Error::NoRights(why + or));
            }
            sampled = false;
            degraded.push(format!(
                "functions were not sampled, so that where the CPU time goes is not known: {why}"
            ));
        } else {
            degraded.push(
                "time in the kernel was not sampled, for want of rights: run with sudo, or sudo sysctl kernel.perf_event_paranoid=1"
                    .to_owned(),
            );
        }
    }
    plan.cycles =
        sampled && Plan { cycles: true, ..plan }.probe(if machine { Scope::Machine } else { own }).is_ok();
    let mut bpf = None;
    if machine {
        match Bpf::load() {
            Ok(loaded) => bpf = Some(loaded),
            Err(error) => {
                degraded.push(format!("calls were not counted, for BPF could not be loaded: {error}"))
            }
        }
    } else {
        degraded.push(
            "calls were not counted, for want of rights, so growth of a function's cost cannot be told: run with sudo".to_owned(),
        );
    }
    let mut tracer = None;
    if bpf.is_none() && options.trace {
        match ptrace::measure() {
            _ if attach => {
                degraded.push("system calls were not traced, for want of rights: run with sudo".to_owned());
            }
            Ok(cost) => {
                if std::mem::take(&mut plan.kernel) && sampled {
                    degraded.push(
                        "time in the kernel was not sampled: it would hold what ptrace takes".to_owned(),
                    );
                }
                tracer = Some(cost);
            }
            Err(error) if sampled => degraded.push(format!("system calls were not traced: {error}")),
            Err(error) => {
                return Err(Error::NoRights(format!("{}; and {error}", degraded.join("; "))));
            }
        }
    }
    let plan = sampled.then_some(plan);
    Ok(Means { plan, machine, bpf, ptrace: tracer, degraded })
}

/// Runs a command and records it.
///
/// The target's own stdin, stdout and stderr are untouched. Fails before the target runs if it cannot be recorded at
/// all; afterwards what was recorded is kept, and trouble is told in the outcome.
pub fn record(command: &[OsString], mut options: Options) -> Result<Outcome, Error> {
    let program = command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
    let user = options.user.as_deref().map(User::named).transpose()?;
    let Means { plan, machine, mut bpf, ptrace, degraded } = means(&options, false)?;
    let command_text: Vec<String> = command.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let mut about = about(&options, &command_text, false)?;
    about.degraded = degraded;
    if let Some(plan) = &plan {
        about.collectors = collectors(plan, machine, options.count && bpf.is_some());
    }
    if let Some(cost) = &ptrace {
        about.collectors.push(Collector { name: "tracer".to_owned(), how: how_traced(cost) });
    }
    let filter = ptrace.map(|_| Filter::new());
    trace(&options, &mut bpf, &mut about);

    let Storage { writer, temporary } = storage::begin(&options, &mut about, &program)?;
    let folder = writer.folder().clone();
    let ns_per_period = plan.as_ref().map_or(1.0, ns_per_period);
    let mut session = Session::new(writer, bpf, ns_per_period, options.progress.take());
    signals::install().map_err(Error::system("handle signals"))?;

    let mut machine_sampler = None;
    if let Some(plan) = plan.as_ref().filter(|_| machine) {
        machine_sampler = Some(open_machine(plan, &mut session)?);
    }
    let mut ended = None;
    let mut taken = Taken::default();
    for run in 0..options.repeat.max(1) {
        // Until it is let go the child waits; if we fail before, dropping `held` ends it.
        let held = Held::fork(command, user.as_ref(), filter.as_ref())?;
        session.world.run = run;
        session.world.redact = options.redact_arguments;
        let pid = held.pid;
        session.start(pid, false);
        let mut own_sampler = None;
        match &machine_sampler {
            Some(_) => {
                if let Some(bpf) = session.bpf() {
                    bpf.follow(pid).and_then(|()| bpf.root(pid)).map_err(|error| Error::System {
                        what: "follow the program",
                        source: std::io::Error::other(error),
                    })?;
                }
            }
            None => {
                if let Some(plan) = &plan {
                    let opened = Sampler::open(plan, &[Scope::NextExec(pid)], RING_BYTES);
                    own_sampler = Some(opened.map_err(Error::system("open the sampler"))?);
                }
            }
        }
        if let Some(cost) = &ptrace {
            let seized = Ptrace::seize(pid, plan.is_none(), cost.floor);
            session.ptrace = Some(seized.map_err(Error::system("trace the program (ptrace)"))?);
        }
        if options.count {
            session.count();
        }
        let start = clock::now_ns();
        let started = held.go(&program);
        if let Err(error) = started {
            // The child has ended by itself; the folder of a program that never ran is of no use.
            match &mut session.ptrace {
                Some(ptrace) => taken.add(ptrace.finish()),
                None => drop(launch::ended(pid)),
            }
            folder::discard(&folder, &options.caller);
            return Err(error);
        }
        let mut sampler = own_sampler.as_mut().or(machine_sampler.as_mut());
        let pidfd = launch::pidfd(pid).map_err(Error::system("watch the program"))?;
        if let Some(sampler) = &mut sampler {
            sampler.watch(pidfd.as_raw_fd());
        }
        let interrupted = signals::interrupts();
        ended = None;
        while ended.is_none() {
            match &mut sampler {
                Some(sampler) => sampler.wait(TURN_MS),
                None => launch::wait_for(&pidfd, TURN_MS),
            }
            session.turn(sampler.as_deref_mut());
            // Only the tracer may ask for a process that it traces.
            ended = match &session.ptrace {
                Some(ptrace) => ptrace.ended(),
                None => launch::ended(pid).map_err(Error::system("wait for the program"))?,
            };
            if let Some(signal) = signals::to_pass_on() {
                // SAFETY: a signal to our own child, which was not yet waited for.
                unsafe { libc::kill(pid as i32, signal) };
            }
            if signals::interrupts() >= interrupted + 2 {
                break;
            }
        }
        about.wall_ns += clock::now_ns() - start;
        session.stop_counting();
        if let Some(ptrace) = &mut session.ptrace {
            if ended.is_none() {
                // Without its tracer it could open no file any more.
                ptrace.hurry();
                // SAFETY: a signal to our own child, which was not yet waited for.
                unsafe { libc::kill(pid as i32, libc::SIGKILL) };
            }
            taken.add(ptrace.finish());
        }
        // Its end is told to us a moment before the scheduler books its last time.
        std::thread::sleep(Duration::from_millis(2));
        session.drain(sampler);
        about.runs = run + 1;
        let Some(Ended { exit, user_ns, sys_ns, .. }) = ended else {
            let (user_ns, sys_ns) = cpu_time_ns(&descendants(pid));
            about.user_ns += user_ns;
            about.sys_ns += sys_ns;
            break;
        };
        about.user_ns += user_ns;
        about.sys_ns += sys_ns;
        about.exit = Some(exit);
        if signals::interrupts() > interrupted {
            break;
        }
    }
    about.state = if ended.is_some() { State::Complete } else { State::CutShort };
    if ptrace.is_some() {
        about.tracing_ns = taken.cpu_ns.min(about.user_ns + about.sys_ns);
        about.tracing_wall_ns = taken.wall_ns;
        about.degraded.push(distorted(taken, about.wall_ns));
    }
    Ok(finish(session, about, temporary))
}

/// Attaches to a running process, its threads and its descendants, until it ends, `duration` is over, or Ctrl-C.
pub fn attach(pid: u32, duration: Option<Duration>, mut options: Options) -> Result<Outcome, Error> {
    let cannot = |why: String| Error::Attach { pid, why };
    let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => cannot("there is no such process".to_owned()),
        _ => cannot(error.to_string()),
    })?;
    let command: Vec<String> = cmdline
        .strip_suffix(&[0])
        .unwrap_or(&cmdline)
        .split(|byte| *byte == 0)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    let Means { plan, machine, mut bpf, degraded, .. } = means(&options, true)?;
    let Some(plan) = plan else { return Err(cannot("it cannot be sampled".to_owned())) };
    let mut about = about(&options, &command, true)?;
    about.degraded = degraded;
    about.collectors = collectors(&plan, machine, options.count && bpf.is_some());
    trace(&options, &mut bpf, &mut about);
    let Storage { writer, temporary } = storage::begin(&options, &mut about, &command[0])?;
    let mut session = Session::new(writer, bpf, ns_per_period(&plan), options.progress.take());
    signals::install().map_err(Error::system("handle signals"))?;

    let pids = descendants(pid);
    let before = cpu_time_ns(&pids);
    let mut sampler = if machine {
        for pid in &pids {
            if let Some(bpf) = session.bpf() {
                bpf.follow(*pid)
                    .and_then(|()| bpf.root(pids[0]))
                    .map_err(|error| cannot(error.to_string()))?;
            }
        }
        open_machine(&plan, &mut session)?
    } else {
        let scopes: Vec<Scope> = pids.iter().flat_map(|pid| threads(*pid)).map(Scope::Thread).collect();
        let sampler = Sampler::open(&plan, &scopes, RING_BYTES).map_err(|error| cannot(error.to_string()))?;
        sampler.enable().map_err(Error::system("start sampling"))?;
        sampler
    };
    session.world.redact = options.redact_arguments;
    for pid in &pids {
        session.start(*pid, true);
        session.map_running(*pid);
    }
    if options.count {
        session.count();
    }
    let start = clock::now_ns();
    // One that has ended stays in the list until its parent asks for its exit status.
    let alive = || state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'));
    let mut after = before;
    while alive() && signals::interrupts() == 0 && signals::to_pass_on().is_none() {
        sampler.wait(TURN_MS);
        session.turn(Some(&mut sampler));
        let now = clock::now_ns();
        after = after.max(cpu_time_ns(&pids));
        if duration.is_some_and(|duration| now - start >= duration.as_nanos() as u64) {
            break;
        }
    }
    about.wall_ns = clock::now_ns() - start;
    (about.user_ns, about.sys_ns) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
    session.stop_counting();
    session.drain(Some(&mut sampler));
    about.state = State::Complete;
    Ok(finish(session, about, temporary))
}

fn how_traced(cost: &Cost) -> String {
    format!(
        "{} open, stat, exec, fork, wait, sync, sleep and connect; {:.1} µs a stop",
        slowpath_recording::about::BY_PTRACE,
        cost.wall_ns as f64 / 1e3
    )
}

/// What tracing by ptrace does to the target and to its times.
fn distorted(taken: Taken, wall_ns: u64) -> String {
    let Taken { stops, left, .. } = taken;
    let ms = |ns: u64| ns as f64 / 1e6;
    let mut said = format!(
        "system calls were traced by ptrace, for want of rights: {stops} stops of about {:.0} µs took some {:.0} ms of {:.0} ms \
         elapsed time and {:.0} ms of CPU time, so that all times are distorted; reads and writes are not seen, set-uid \
         programs gain no rights and debuggers fail. Run with sudo, or leave it out with --no-trace",
        taken.wall_ns as f64 / 1e3 / stops.max(1) as f64,
        ms(taken.wall_ns),
        ms(wall_ns),
        ms(taken.cpu_ns)
    );
    if left > 0 {
        said.push_str(&format!("; {left} processes that outlived the command were ended with the recording"));
    }
    said
}

/// Starts the tracer of system calls.
fn trace(options: &Options, bpf: &mut Option<Bpf>, about: &mut About) {
    let Some(bpf) = bpf.as_mut().filter(|_| options.trace) else { return };
    match bpf.trace() {
        Ok(()) => {
            let how = "BPF at entry and return of every system call, the processes of the target only";
            about.collectors.push(Collector { name: "tracer".to_owned(), how: how.to_owned() });
        }
        Err(error) => {
            about
                .degraded
                .push(format!("system calls were not traced, for BPF could not be attached: {error}"));
        }
    }
}

fn open_machine(plan: &Plan, session: &mut Session) -> Result<Sampler, Error> {
    let sampler =
        Sampler::open(plan, &[Scope::Machine], RING_BYTES).map_err(Error::system("open the sampler"))?;
    if let Some(bpf) = session.bpf() {
        // Without the filter strangers' samples are dropped a little later, by us.
        let _ = bpf.filter(sampler.events());
    }
    sampler.enable().map_err(Error::system("start sampling"))?;
    Ok(sampler)
}

fn finish(mut session: Session, mut about: About, temporary: Option<TempDir>) -> Outcome {
    if let Some(why) = session.refused.take() {
        about.degraded.push(format!("calls of some functions were not counted: {why}"));
    }
    let exit = about.exit;
    let held = session.world.held();
    let (folder, trouble) = session.finish(about);
    Outcome { folder, temporary, exit, trouble, held }
}

/// What a unit of a sample's period is worth. Cycles are only proportional to time: each process's scale makes them add
/// up to its CPU time.
fn ns_per_period(plan: &Plan) -> f64 {
    if !plan.cycles {
        return 1.0;
    }
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mhz = text
        .lines()
        .find(|line| line.starts_with("cpu MHz"))
        .and_then(|line| line.split(": ").nth(1)?.parse().ok());
    1000.0 / mhz.unwrap_or(2500.0f64)
}

fn collectors(plan: &Plan, machine: bool, count: bool) -> Vec<Collector> {
    let event = if plan.cycles { "cycles" } else { "cpu-clock" };
    let scope = if machine { "per CPU" } else { "per task" };
    let part = if plan.kernel { "user and kernel" } else { "user only" };
    let how = format!("{event} at {} Hz, {scope}, {part}, {} bytes of stack", plan.rate, plan.stack_bytes);
    let mut all = vec![Collector { name: "sampler".to_owned(), how }];
    if count {
        all.push(Collector {
            name: "counter".to_owned(),
            how: "uprobes with BPF, in the target's processes only".to_owned(),
        });
    }
    all
}

/// What is known of a recording before it begins.
pub(crate) fn about(options: &Options, command: &[String], attached: bool) -> Result<About, Error> {
    let read =
        |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let cpu = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1))
        .unwrap_or("unknown");
    let directory = std::env::current_dir().map_err(Error::system("tell the working directory"))?;
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
        directory: directory.to_string_lossy().into_owned(),
        machine: None,
        host: read("/proc/sys/kernel/hostname"),
        kernel: read("/proc/sys/kernel/osrelease"),
        cpu: cpu.to_owned(),
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
        degraded: Vec::new(),
        lost: BTreeMap::new(),
        sampled_share: 0.0,
        tracing_ns: 0,
        tracing_wall_ns: 0,
        instructions: None,
    };
    about.vouch();
    Ok(about)
}

/// A process and all that descend from it, now.
fn descendants(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        for thread in threads(pid) {
            let children =
                std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        at += 1;
    }
    found
}

fn threads(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The state of a process, as `/proc/PID/stat` has it.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// User and kernel CPU time so far of processes, ns, as `/proc/PID/stat` counts it, in clock ticks.
fn cpu_time_ns(pids: &[u32]) -> (u64, u64) {
    // SAFETY: sysconf has no preconditions.
    let tick_ns = 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    let mut sum = (0, 0);
    for pid in pids {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in parentheses may hold anything; fields are counted behind it. utime is field 14, stime 15.
        let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
        let mut fields = rest.split(' ').skip(11).map(|field| field.parse::<u64>().unwrap_or(0));
        sum.0 += fields.next().unwrap_or(0) * tick_ns;
        sum.1 += fields.next().unwrap_or(0) * tick_ns;
    }
    sum
}
