//! Runs a command and records it.
//!
//! Once the program may run nothing of ours keeps it from running to its end: what cannot be opened, made or written is left out
//! and said.

use crate::about::{about, add_counter, distorted, how_traced, sampler, sampler_by_stops, stands_for};
use crate::bpf::Bpf;
use crate::counter::breakpoint::notes::Notes;
use crate::launch::{self, Command, Ended, Held};
use crate::means::{Means, means, not_sampled};
use crate::resources::{self, why};
use crate::sampler::{Plan, Sampler, Scope};
use crate::session::Session;
use crate::storage::{self, Storage};
use crate::tracer::ptrace::{Cost, Ptrace, Taken};
use crate::{Error, Options, Outcome, clock, crash, signals};
use slowpath_leftovers::Folder;
use slowpath_recording::about::{Collector, State, Tracer};
use slowpath_recording::{About, folder};
use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

/// How long a round waits for what comes, ms.
pub(crate) const TURN_MS: i32 = 10;

/// Runs a command and records it.
///
/// The target's own stdin, stdout, stderr, signals and limits are untouched. Fails before the target runs if it may not be
/// recorded at all; what is short beside that, and trouble afterwards, is reported in the outcome.
pub fn record(words: &[OsString], mut options: Options) -> Result<Outcome, Error> {
    signals::prepare();
    resources::raise();
    let command = Command::new(words, options.user.as_deref())?;
    let Means { plan, mut machine, mut bpf, hit_ns, ptrace, degraded } = means(&options, false)?;
    let texts: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut about = about(&options, &texts, false);
    about.degraded = degraded;
    match &plan {
        Some(plan) => about.collectors.push(sampler(plan, machine.is_some())),
        None if ptrace.is_some() => about.collectors.push(sampler_by_stops(options.stack_bytes)),
        None => {}
    }
    if options.count {
        add_counter(&mut about, bpf.is_some(), hit_ns);
    }
    if let Some(cost) = &ptrace {
        about.collectors.push(Collector { name: "tracer".to_owned(), how: how_traced(cost) });
        about.tracer = Some(Tracer::Ptrace);
    }
    trace(&options, &mut bpf, &mut about);
    signals::install().map_err(Error::system("handle signals"))?;
    let Storage { writer, temporary } = match storage::begin(&options, &mut about, texts.first()) {
        Ok(storage) => storage,
        Err(error) => {
            drop((machine, bpf));
            return unrecorded(&command, options.repeat, &error);
        }
    };
    let folder = writer.folder().clone();
    let mut session = Session::new(writer, bpf, stands_for(plan.as_ref()), options.progress.take());
    session.world.redact = options.redact_arguments;
    session.hit_ns = hit_ns;
    session.notes = ptrace.filter(|_| hit_ns.is_some()).map(|cost| Arc::new(Notes::new(cost.wall_ns)));
    if let Some(sampler) = machine.take() {
        machine = started(sampler, &mut session, &mut about);
    }
    let mut run =
        Run { options: &options, plan, machine, cost: ptrace, session, about, taken: Taken::default() };
    for number in 0..options.repeat.max(1) {
        run.session.world.run = number;
        match run.once(&command) {
            Ok(true) => {}
            Ok(false) => break,
            // The program never ran: its folder is of no use.
            Err(error) if number == 0 => {
                folder::discard(&folder, &options.caller);
                return Err(error);
            }
            Err(error) => {
                run.about.degraded.push(format!("run {} was not started: {error}", number + 1));
                break;
            }
        }
    }
    run.finish(temporary)
}

/// Starts the tracer of system calls.
pub(crate) fn trace(options: &Options, bpf: &mut Option<Bpf>, about: &mut About) {
    let Some(bpf) = bpf.as_mut().filter(|_| options.trace) else { return };
    match bpf.trace() {
        Ok(()) => {
            let how = "BPF at entry and return of every system call, in the target's processes only";
            about.collectors.push(Collector { name: "tracer".to_owned(), how: how.to_owned() });
            about.tracer = Some(Tracer::Bpf);
        }
        Err(error) => {
            about
                .degraded
                .push(format!("system calls were not traced because BPF could not be attached: {error}"));
        }
    }
}

/// Starts the sampler of all CPUs; none if it cannot be.
pub(crate) fn started(sampler: Sampler, session: &mut Session, about: &mut About) -> Option<Sampler> {
    if let Some(bpf) = session.bpf() {
        // Without the filter strangers' samples are dropped a little later, by us.
        let _ = bpf.filter(sampler.events());
    }
    match sampler.enable() {
        Ok(()) => Some(sampler),
        Err(error) => {
            about
                .degraded
                .push(format!("functions were not sampled: cannot start sampling: {}", why(&error)));
            None
        }
    }
}

/// Writes what is left.
pub(crate) fn finish(mut session: Session, mut about: About, temporary: Option<Folder>) -> Outcome {
    if let Some(why) = session.refused.take() {
        about.degraded.push(format!("calls of some functions were not counted: {why}"));
    }
    about.degraded.extend(resources::left_closed());
    let exit = about.exit;
    let held = session.world.held();
    let (folder, trouble) = session.finish(about);
    Outcome { folder: Some(folder), temporary, exit, trouble, held }
}

/// Several runs of a command, recorded together.
struct Run<'o> {
    options: &'o Options,
    plan: Option<Plan>,
    /// The sampler of all CPUs.
    machine: Option<Sampler>,
    /// What a stop takes, if system calls are traced by ptrace.
    cost: Option<Cost>,
    session: Session,
    about: About,
    taken: Taken,
}

impl Run<'_> {
    /// Runs it once. Whether it shall be run again; the error if it did not run.
    fn once(&mut self, command: &Command) -> Result<bool, Error> {
        // Until it is let go the child waits; if we fail before, dropping `held` ends it.
        let held = Held::fork(command)?;
        let pid = held.pid;
        self.session.start(pid);
        let mut own = self.collect(pid);
        let start = clock::now_ns();
        if let Err(error) = held.go(self.session.ptrace.is_some()) {
            // The child has ended by itself.
            match &mut self.session.ptrace {
                Some(ptrace) => self.taken.add(ptrace.finish()),
                None => drop(launch::ended(pid)),
            }
            return Err(error);
        }
        // Without it the end is noticed a little later.
        let pidfd = launch::pidfd(pid).ok();
        let mut sampler = own.as_mut().or(self.machine.as_mut());
        if let (Some(sampler), Some(pidfd)) = (&mut sampler, &pidfd) {
            sampler.watch(pidfd.as_raw_fd());
        }
        let interrupted = signals::interrupts();
        let session = &mut self.session;
        let ended = follow(pid, || {
            match &mut sampler {
                Some(sampler) => sampler.wait(TURN_MS),
                None => launch::wait_for(pidfd.as_ref(), TURN_MS),
            }
            session.turn(sampler.as_deref_mut());
            match &session.ptrace {
                // Only the tracer may ask for a process that it traces; if it ended by a bug nothing is traced any more.
                Some(ptrace) => ptrace.ended().or_else(|_| launch::ended(pid)),
                None => launch::ended(pid),
            }
        });
        self.about.wall_ns += clock::now_ns() - start;
        self.session.stop_counting();
        self.session.stop_looking();
        if let Some(ptrace) = &mut self.session.ptrace {
            if ended.is_none() {
                ptrace.let_go();
            }
            self.taken.add(ptrace.finish());
        }
        // Its end is reported a moment before the scheduler books its last time.
        std::thread::sleep(Duration::from_millis(2));
        self.session.drain(sampler);
        let about = &mut self.about;
        about.runs = self.session.world.run + 1;
        about.state = if ended.is_some() { State::Complete } else { State::CutShort };
        let Some(Ended { exit, user_ns, sys_ns, .. }) = ended else { return Ok(false) };
        about.user_ns += user_ns;
        about.sys_ns += sys_ns;
        about.exit = Some(exit);
        Ok(signals::interrupts() == interrupted)
    }

    /// Sets the collectors on a child that waits; its own sampler, if it has one.
    fn collect(&mut self, pid: u32) -> Option<Sampler> {
        let Run { options, plan, machine, cost, session, about, .. } = self;
        // Collectors that there are not, and why; without a name where there is less of one.
        let mut lacks: Vec<(&str, String)> = Vec::new();
        if let Some(Err(error)) = session.bpf().map(|bpf| bpf.follow(pid).and_then(|()| bpf.root(pid))) {
            let why = format!("BPF cannot follow the program: {error}");
            lacks.push(("counter", format!("calls were not counted: {why}")));
            lacks.push(("tracer", format!("system calls were not traced: {why}")));
            session.without_bpf();
        }
        let (mut own, mut unsampled) = (None, None);
        if let Some(plan) = plan.as_ref().filter(|_| machine.is_none()) {
            match Sampler::open(plan, &[Scope::NextExec(pid)]) {
                Ok(opened) => {
                    lacks.extend(opened.small(plan).map(|small| ("", small)));
                    own = Some(opened);
                }
                Err(why) => unsampled = Some(why),
            }
        }
        session.ptrace = None;
        if let Some(cost) = cost {
            let alone = (machine.is_none() && own.is_none()).then_some(options.stack_bytes);
            let ahead = options.count.then(|| session.asks_tracer());
            match Ptrace::seize(pid, alone, *cost, session.noting(), ahead) {
                Ok(ptrace) => session.ptrace = Some(ptrace),
                Err(error) => {
                    lacks.push(("tracer", format!("system calls were not traced: {}", why(&error))));
                }
            }
        }
        let by_stops = session.ptrace.is_some();
        lacks.extend(unsampled.map(|why| ("sampler", not_sampled(&why, by_stops))));
        for (name, why) in lacks {
            about.collectors.retain(|collector| collector.name != name);
            if name == "sampler" && by_stops {
                about.collectors.push(sampler_by_stops(options.stack_bytes));
            }
            if !about.degraded.contains(&why) {
                about.degraded.push(why); // in the next run it is the same
            }
        }
        if options.count {
            session.count();
            // A tracer does it itself.
            if session.ptrace.is_none() {
                session.look_ahead();
            }
        }
        own
    }

    fn finish(mut self, temporary: Option<Folder>) -> Result<Outcome, Error> {
        if self.taken.stops > 0 {
            self.about.tracing_ns = self.taken.cpu_ns;
            self.about.tracing_wall_ns = self.taken.wall_ns;
            self.about.tracing_calls_ns = Some(self.taken.calls_ns);
            self.about.tracing_samples_ns = self.taken.samples_ns;
            self.about.traced_share = self.taken.share();
            self.about.degraded.push(distorted(self.taken, self.about.wall_ns));
        }
        Ok(finish(self.session, self.about, temporary))
    }
}

/// Does a round after the other until one reports how the program ended, or nothing can report it, or we were interrupted twice.
fn follow(pid: u32, mut round: impl FnMut() -> io::Result<Option<Ended>>) -> Option<Ended> {
    let interrupted = signals::interrupts();
    loop {
        match round() {
            Ok(None) => {}
            Ok(Some(ended)) => {
                crash::ended(ended.exit);
                return Some(ended);
            }
            Err(_) => return None,
        }
        if let Some(signal) = signals::to_pass_on() {
            // SAFETY: a signal to our own child, which was not yet waited for.
            unsafe { libc::kill(pid as i32, signal) };
        }
        if signals::interrupts() >= interrupted + 2 {
            return None;
        }
    }
}

/// Runs a command of which nothing can be recorded, for the reason given.
fn unrecorded(command: &Command, runs: u32, why: &Error) -> Result<Outcome, Error> {
    let mut exit = None;
    let interrupted = signals::interrupts();
    for number in 0..runs.max(1) {
        let held = match Held::fork(command) {
            Err(_) if number > 0 => break,
            held => held?,
        };
        let pid = held.pid;
        held.go(false).inspect_err(|_| drop(launch::ended(pid)))?;
        let pidfd = launch::pidfd(pid).ok();
        let ended = follow(pid, || {
            launch::wait_for(pidfd.as_ref(), TURN_MS);
            launch::ended(pid)
        });
        exit = ended.map(|ended| ended.exit);
        if exit.is_none() || signals::interrupts() > interrupted {
            break;
        }
    }
    Ok(Outcome { folder: None, temporary: None, exit, trouble: Some(why.to_string()), held: Vec::new() })
}
