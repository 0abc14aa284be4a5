//! System calls that are not needed: the kernel is asked again and again for what the program could know, or a call is repeated that fails each
//! time.
//!
//! Only what cannot be worth its price is listed: questions whose answer changes by the program's own doing at most, options of a socket that are set again and again, and errors that say that
//! the call is wrong as it stands, not that it came too early; and polls that go through very many descriptors. Questions about paths belong to `redundant_file_access`, lookups that miss to
//! `failed_lookups`, looks at what is not there yet to `busy_wait`.

use super::words::{count, time};
use super::{Find, Needs, Spec, runtime};
use crate::Evidence;
use crate::calls::{CallSite, Calls, Sum, fact, from, is_met, place, some};
use crate::candidate::Candidate;
use crate::draft::Draft;
use crate::findings::{Basis, Confidence, Cost, Sure};
use crate::gate::Gate;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};

mod polls;

/// See the file's head.
pub(super) const CAUSE: Spec = Spec {
    slug: "needless-system-calls",
    title: "system calls that are not needed",
    symptom: "the kernel is asked the same question again and again, or a call is repeated that always fails",
    not_known: "whether the program can do without these calls",
    page: include_str!("../../../../docs/causes/needless-system-calls.md"),
    needs: &[Needs::Syscalls],
    find: Find::InRecording(find),
};

/// Calls from one place before they count: at 0.1 to 1 µs each, fewer cost nothing that can be seen.
const CALLS: u64 = 1_000;
/// Share of one place's calls that must be of that kind. The rest is left for a descriptor that was open.
const NEARLY_ALL: f64 = 0.9;
/// Options that are set for each socket, on average, before they are set again and again: one that is switched on and off around each message is set ten times for five
/// messages, and a server sets several when somebody connects.
const SET: f64 = 100.0;
/// Setting an option took 0.36 µs of kernel time in a program that did so for each byte. What takes several times as long may have sent what was held back (TCP_CORK, TCP_NODELAY), ns.
const SETS_NS: f64 = 1_000.0;
/// Questions for the place in a file that were recorded one by one, before they say something of all.
const KNOWN: u64 = 50;
/// What it takes to ask less often is to be thought over.
const GATE: Gate = Gate::TENTH_OF_CPU;

/// TCGETS, TIOCGWINSZ.
const OF_TERMINAL: u64 = 0x5401;
const OF_WINDOW: u64 = 0x5413;
/// F_GETFD, F_GETFL.
const OF_FLAGS: [u64; 2] = [1, 3];
/// What makes a socket: its number says little, for it is given again.
const MAKES_A_SOCKET: [u32; 3] = [SOCKET, ACCEPT, ACCEPT4];
const OF_CPU_TIME: [u32; 2] = [GETRUSAGE, TIMES];
const OF_TIME: [u32; 3] = [GETTIMEOFDAY, TIME, CLOCK_GETTIME];
const EXISTS: i64 = -17;
/// EBADF, EINVAL, ENOSYS, EOPNOTSUPP: the call is wrong, or unknown here, now and later.
const NOT_OPEN: i64 = -9;
const INVALID: i64 = -22;
const UNKNOWN: [i64; 2] = [-38, -95];

/// What a call asks for, if it is a question: what it wants to know.
fn question(row: &Syscall) -> Option<&'static str> {
    Some(match row.number {
        IOCTL if row.argument == OF_TERMINAL => "whether this is a terminal",
        IOCTL if row.argument == OF_WINDOW => "how large the terminal's window is",
        LSEEK => "at which position the file is",
        FCNTL if OF_FLAGS.contains(&row.argument) => "for the flags of a descriptor",
        GETPID => "for its process id",
        GETTID => "for the id of its thread",
        // Signal 0 is none: nothing is sent.
        TGKILL | TKILL if row.argument == 0 => "whether a thread is there (signal 0, which sends nothing)",
        GETPPID => "for its parent's process id",
        GETUID | GETGID | GETEUID | GETEGID | GETRESUID | GETRESGID => "as which user and group it runs",
        UNAME => "for the name of the system",
        GETRLIMIT | PRLIMIT64 => "for its limits",
        SCHED_GETAFFINITY => "on which CPUs it may run",
        SYSINFO => "how much memory there is",
        GETSOCKNAME | GETPEERNAME => "for the address of a connection",
        GETSOCKOPT => "for an option of a socket",
        number if OF_CPU_TIME.contains(&number) => "how much CPU time it has used",
        number if OF_TIME.contains(&number) => "for the time",
        _ => return None,
    })
}

/// Calls of one kind from one place.
#[derive(Default)]
struct Calling<'a> {
    sum: Sum,
    files: BTreeSet<&'a str>,
    /// Calls on a file that is not known, as where there were very many.
    elsewhere: u64,
}

impl<'a> Calling<'a> {
    fn add(&mut self, row: &Syscall, path: Option<&'a str>) {
        self.sum.add(row);
        self.files.extend(path);
        self.elsewhere += if path.is_none() { row.count } else { 0 };
    }

    /// One call for each file is needed.
    fn needed(&self) -> f64 {
        (self.files.len() as u64 + self.elsewhere) as f64
    }
}

/// Seeks from one place that were recorded one by one.
#[derive(Default)]
struct Seeks {
    /// Those which had one before them in the same file.
    known: u64,
    /// … and led to where that had led, with nothing done to the file in between.
    stayed: u64,
}

/// Where a call was made, and its number.
type Made = (CallSite, u32);

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Candidate> {
    let calls = Calls::new(evidence);
    let mut asked: BTreeMap<(Made, &str), Calling<'_>> = BTreeMap::new();
    let mut set: BTreeMap<Made, Calling<'_>> = BTreeMap::new();
    let mut sockets: BTreeMap<u32, u64> = BTreeMap::new();
    let mut failed: BTreeMap<(Made, i64), Calling<'_>> = BTreeMap::new();
    let mut all: BTreeMap<Made, u64> = BTreeMap::new();
    let mut seeks: BTreeMap<CallSite, Seeks> = BTreeMap::new();
    // By process and file: where the last seek led, and whether anything was done to the file since.
    let mut at: BTreeMap<(u32, u32), (i64, bool)> = BTreeMap::new();
    for (row, process) in calls.all() {
        // Whoever asks a library may ask it less often.
        let site = (process, calls.asks(row));
        let path = calls.file(row).map(|file| file.path.as_str()).filter(|path| !path.is_empty());
        *all.entry((site, row.number)).or_default() += row.count;
        if let Some(file) = row.file {
            let seeks = seeks.entry(site).or_default();
            note_position(row, (process, file), &mut at, seeks, evidence.by_ptrace);
        }
        if is_wrong(row) {
            failed.entry(((site, row.number), row.result)).or_default().add(row, path);
        } else if let Some(what) = question(row) {
            asked.entry(((site, row.number), what)).or_default().add(row, path);
        } else if row.number == SETSOCKOPT {
            set.entry((site, row.number)).or_default().add(row, path);
        } else if MAKES_A_SOCKET.contains(&row.number) && row.result >= 0 {
            *sockets.entry(process).or_default() += row.count;
        }
    }
    // A seek is a question only where it leads nowhere.
    let stays = |site: &CallSite| {
        seeks.get(site).is_some_and(|seeks| {
            seeks.known >= KNOWN && seeks.stayed as f64 >= NEARLY_ALL * seeks.known as f64
        })
    };
    let questions = asked.iter().filter(|(((site, number), _), _)| *number != LSEEK || stays(site));
    let questions =
        questions.filter_map(|((made, what), asked)| of_questions(evidence, &calls, *made, what, asked));
    let settings = set.iter().filter_map(|(made, set)| {
        // Those that were handed over are not known.
        let sockets = sockets.get(&made.0.0).copied()?;
        of_settings(evidence, &calls, *made, set, sockets as f64)
    });
    let failures =
        failed.iter().filter(|((made, _), failed)| failed.sum.count as f64 >= NEARLY_ALL * all[made] as f64);
    let failures =
        failures.filter_map(|((made, error), failed)| of_failures(evidence, &calls, *made, *error, failed));
    questions.chain(settings).chain(failures).chain(polls::find(evidence, &calls)).collect()
}

/// Follows the position in a file. A row of calls that were added up says of none where it led; each row of a tracer by ptrace is one call.
fn note_position(
    row: &Syscall,
    of: (u32, u32),
    at: &mut BTreeMap<(u32, u32), (i64, bool)>,
    seeks: &mut Seeks,
    by_ptrace: bool,
) {
    if row.number != LSEEK {
        if let Some((_, used)) = at.get_mut(&of) {
            *used = true;
        }
    } else if (row.count == 1 || by_ptrace)
        && !is_met(row)
        && let Some((last, used)) = at.insert(of, (row.result, false))
    {
        seeks.known += 1;
        seeks.stayed += u64::from(last == row.result && !used);
    }
}

/// Whether a call fails in a way that trying again does not change.
fn is_wrong(row: &Syscall) -> bool {
    let exists = row.result == EXISTS && MKDIRS.contains(&row.number);
    exists || row.result == NOT_OPEN || row.result == INVALID || UNKNOWN.contains(&row.result)
}

fn of_questions(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    made: Made,
    what: &str,
    asked: &Calling<'_>,
) -> Option<Candidate> {
    let (_, number) = made;
    let advice = match number {
        LSEEK => {
            "Keep the position in a variable and add what was read or written to it, instead of asking for it each time (ftell, tell, lseek)"
        }
        number if OF_TIME.contains(&number) || OF_CPU_TIME.contains(&number) => {
            "Ask for the time less often, such as once for many items. If a clock that usually needs no system call does, choose \
             another clock source for the machine"
        }
        TGKILL | TKILL => {
            "Signal 0 sends nothing: make the call only when there is a signal to send. To know whether a thread has ended, join it or let it set a flag"
        }
        _ => "Ask once and keep the answer",
    };
    let title = "the kernel is asked the same question again and again";
    let says = |times: &str, from: &str| {
        format!("the kernel was asked {what} {times} times{from}: {}", name(number))
    };
    candidate(evidence, calls, made, asked, 1.0, ("question", title, advice), says)
}

fn of_settings(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    made: Made,
    set: &Calling<'_>,
    sockets: f64,
) -> Option<Candidate> {
    let each = set.sum.count as f64 / sockets;
    if each < SET || set.sum.working_ns() > SETS_NS * set.sum.count as f64 {
        return None;
    }
    let says = |times: &str, from: &str| {
        let (name, sockets) = (name(SETSOCKOPT), some_sockets(sockets));
        format!("{name} was called {times} times{from}, but {sockets} in all")
    };
    let title = "an option of a socket is set again and again";
    let advice = "If this is done for each byte or message, handle many at a time (read through a buffer). Else set the option only when its value changes";
    candidate(evidence, calls, made, set, sockets, ("setting", title, advice), says)
}

fn some_sockets(sockets: f64) -> String {
    match sockets {
        1.0 => "there was one socket".to_owned(),
        more => format!("there were {} sockets", count(more)),
    }
}

fn of_failures(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    made: Made,
    error: i64,
    failed: &Calling<'_>,
) -> Option<Candidate> {
    let (_, number) = made;
    let (why, advice) = match error {
        NOT_OPEN if number == CLOSE => (
            "descriptors that are not open",
            "Close only what is open: call close_range, or go through /proc/self/fd, or open files with O_CLOEXEC so that nothing is left to close",
        ),
        NOT_OPEN if number == FCNTL => (
            "descriptors that are not open",
            "Go only through those that are open: take them from /proc/self/fd, or call close_range (with CLOSE_RANGE_CLOEXEC to have them closed when a \
             program is executed), or open files with O_CLOEXEC",
        ),
        NOT_OPEN => (
            "a descriptor that is not open",
            "Do not call it with a descriptor that was closed or never opened",
        ),
        EXISTS => (
            "a directory that exists already",
            "Create the directory once, or only when a file in it could not be created",
        ),
        INVALID => (
            "arguments that the kernel refuses",
            "The call can never succeed as it is made: fix its arguments, or remove it",
        ),
        _ => ("not supported here", "Remember that it is not supported, and use the other way from then on"),
    };
    let title = "a system call fails again and again";
    let says = |times: &str, from: &str| {
        format!("{} failed {times} times{from}, each time for the same reason: {why}", name(number))
    };
    // Each directory may have to be there: the first time it must be asked for.
    let needed = if error == EXISTS { failed.needed() } else { 0.0 };
    candidate(evidence, calls, made, failed, needed, ("failure", title, advice), says)
}

/// A finding of calls of which so many are `needed`. `words`: its variant, title and advice; `says` makes the first sentence, of how often and
/// from where.
fn candidate(
    evidence: &Evidence<'_>,
    calls: &Calls<'_>,
    ((process, own), _): Made,
    made: &Calling<'_>,
    needed: f64,
    words: (&'static str, &str, &str),
    says: impl Fn(&str, &str) -> String,
) -> Option<Candidate> {
    let (variant, title, advice) = words;
    let sum = &made.sum;
    if sum.count < CALLS {
        return None;
    }
    let kernel = sum.working_ns();
    let cost = kernel.max(within(evidence, calls, process, sum)).min(evidence.cpu_ns);
    let gain = cost * (1.0 - needed / sum.count.max(1) as f64);
    if !GATE.may_pass(evidence, gain) {
        return None;
    }
    let stack = sum.stack();
    let files: Vec<String> = made.files.iter().map(|path| (*path).to_owned()).collect();
    let about = if files.is_empty() { String::new() } else { format!(" ({})", some(&files, 3)) };
    let says = says(&count(sum.count as f64), &from(evidence, stack, own));
    let took = match cost > 1.05 * kernel {
        true => {
            format!(
                "this took {} in the kernel, {} with the library's function around it",
                time(kernel),
                time(cost)
            )
        }
        false => format!("this took {} in the kernel alone", time(kernel)),
    };
    let draft = Draft {
        variant,
        explanation: vec![format!("{says}{about}"), took],
        facts: vec![
            fact("calls", sum.count as f64, "calls", Sure::Exact),
            fact("time in the kernel", kernel, "ns", Sure::Exact),
            fact("time of the calls", cost, "ns", Sure::Sampled),
        ],
        files: evidence.concerned(files),
        advice: advice.to_owned(),
        ..Draft::new(
            &CAUSE,
            title,
            Confidence::Likely,
            Cost::new(Basis::Cpu, cost, gain),
            place(evidence, stack, own, process),
        )
    };
    Some(draft.candidate(evidence, GATE, process))
}

/// CPU time of the samples in the functions of the C library that make these calls, under the same callers, ns: entering the kernel and leaving it
/// takes longer than what short calls do there. Not all of what a library does on the way to them, as `Calls::sampled_ns` says: it may ask for something else
/// that is needed. Of functions that make other calls too it is the part that these have. Where samples are of user code
/// alone the time of the calls is added. 0 where samples are of a tracer's stops as well, or the program makes the calls itself: what else its function does is not known.
fn within(evidence: &Evidence<'_>, calls: &Calls<'_>, process: u32, sum: &Sum) -> f64 {
    let of_user = evidence.is_kernel_unseen();
    if evidence.by_ptrace && !of_user {
        return 0.0;
    }
    let tables = &evidence.recording.tables;
    let key = |stack: u32| {
        let row = &tables.stacks[stack as usize];
        evidence.function_at(row.location).map(|function| (row.parent, function))
    };
    let of_library = |stack: &u32| {
        let function = evidence.function_at(tables.stacks[*stack as usize].location);
        function.is_some_and(|function| runtime::is_name(&evidence.frame(function)))
    };
    let wrappers: HashSet<(Option<u32>, u32)> = sum.stacks().filter(of_library).filter_map(key).collect();
    let is_wrapped = |row: &&Syscall| row.stack.and_then(key).is_some_and(|key| wrappers.contains(&key));
    let mut others = Sum::default();
    calls
        .all()
        .filter(|(_, of)| *of == process)
        .map(|(row, _)| row)
        .filter(is_wrapped)
        .for_each(|row| others.add(row));
    let part = (sum.working_ns() / others.working_ns().max(1.0)).min(1.0);
    let mut inside: Vec<bool> = Vec::with_capacity(tables.stacks.len());
    for (stack, row) in (0..).zip(&tables.stacks) {
        let outer = row.parent.is_some_and(|parent| inside[parent as usize]);
        inside.push(outer || key(stack).is_some_and(|key| wrappers.contains(&key)));
    }
    let samples = tables.samples.iter().zip(&evidence.weights);
    let of_it = samples.filter(|(sample, _)| {
        sample.stack.is_some_and(|stack| inside[stack as usize]) && evidence.process_of(sample) == process
    });
    part * (of_it.map(|(_, weight)| weight).sum::<f64>() + if of_user { others.working_ns() } else { 0.0 })
}
