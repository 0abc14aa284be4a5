//! What the terminal report and the Markdown report say alike: costs, gains, places, what could not be seen.
//!
//! Plain text with signs such as `→`; each report escapes and lays it out for itself.

use crate::{names, path, units};
use slowpath_diagnose::findings::{
    Basis, BusyLoop, Confidence, Finding, Findings, Frame, Hot, RecordingSummary, Sure, Wait,
};
use std::fmt::Write;

/// Said first if the recording ends before the program.
pub(crate) const CUT_SHORT: &str = "The recording is incomplete: it ends before the program did. This report covers \
                                    only part of the run.";
/// Said if there are no findings.
pub(crate) const NOTHING_FOUND: &str = "No known cause of slowness found.";
/// … beside what is said before it.
pub(crate) const NOTHING_ELSE_FOUND: &str = "Apart from that, no known cause of slowness found.";

/// Above the table of hot functions.
pub(crate) fn hot_head(recording: &RecordingSummary) -> &'static str {
    match hot_basis(recording) {
        Basis::Instructions => "where instructions are executed:",
        _ => "where CPU time is spent:",
    }
}

/// The unit of hot functions.
pub(crate) fn hot_basis(recording: &RecordingSummary) -> Basis {
    if recording.instructions.is_some() { Basis::Instructions } else { Basis::Cpu }
}

/// So many samples in a function itself are more than chance.
const SAMPLES_OF_A_ROW: u64 = 3;

/// A program that computed for less than this share of the elapsed time is not slow because of that.
const LITTLE_CPU: f64 = 0.1;

/// Whether where CPU time is spent is worth a table: not where there is hardly any, unless a cause is about it.
pub(crate) fn shows_hot(findings: &Findings) -> bool {
    let recording = &findings.recording;
    let little = (recording.cpu_ns as f64) < LITTLE_CPU * recording.undisturbed_wall_ns as f64;
    let of_cpu = findings.findings.iter().any(|one| one.cost.basis() != Basis::Wall);
    !findings.hot.is_empty() && (of_cpu || !little || recording.instructions.is_some())
}

/// The first `most` hot functions that are worth a row; none where all were met by a sample or two, as in a short run.
pub(crate) fn hot_rows(findings: &Findings, most: usize) -> Vec<&Hot> {
    let recording = &findings.recording;
    let one_sample = recording.cpu_ns.checked_div(recording.samples).unwrap_or(0);
    let seen = |hot: &&Hot| {
        // Half a sample less, for samples differ in weight.
        hot.self_instructions.is_some() || 2 * hot.self_ns >= (2 * SAMPLES_OF_A_ROW - 1) * one_sample
    };
    findings.hot.iter().filter(seen).take(most).collect()
}

/// Said in place of the table where no function has enough samples.
pub(crate) const TOO_SHORT: &str = "Too few samples to show where CPU time is spent.";

/// What a hot function costs by itself, its share of the run, and what it costs with all that it calls.
pub(crate) fn hot_costs(hot: &Hot, recording: &RecordingSummary) -> [String; 3] {
    let basis = hot_basis(recording);
    let own = hot.self_instructions.unwrap_or(hot.self_ns);
    let share = match total(recording, basis) {
        0 => "?".to_owned(),
        total => units::share(own as f64 / total as f64),
    };
    [amount(own, basis), share, amount(hot.total_instructions.unwrap_or(hot.total_ns), basis)]
}

/// The run's total of `basis`, ns or instructions; 0 if it is not known.
pub(crate) fn total(recording: &RecordingSummary, basis: Basis) -> u64 {
    match basis {
        Basis::Cpu => recording.cpu_ns,
        Basis::Wall => recording.undisturbed_wall_ns,
        Basis::Instructions => recording.instructions.unwrap_or(0),
    }
}

/// A cost in few digits, without the name of its basis: `6.3 s`, `1.2 million`.
pub(crate) fn amount(cost: u64, basis: Basis) -> String {
    match basis {
        Basis::Cpu | Basis::Wall => units::rough(cost),
        Basis::Instructions => units::large(cost),
    }
}

fn basis_word(basis: Basis) -> &'static str {
    match basis {
        Basis::Cpu => "CPU",
        Basis::Wall => "wall",
        Basis::Instructions => "instructions",
    }
}

/// Times, exit status and number of runs.
pub(crate) fn run_facts(recording: &RecordingSummary) -> Vec<(&'static str, String)> {
    // One unit for all three if they are of seconds, so that they can be compared at a glance.
    let long = recording.wall_ns.max(recording.cpu_ns) >= 1_000_000_000;
    let time = |ns| if long && ns < 100_000_000_000 { units::seconds(ns) } else { units::time(ns) };
    let exit = match recording.exit {
        None => "unknown".to_owned(),
        Some(code @ 129..=192) => format!("{code} (128 + signal {})", code - 128),
        Some(code) => code.to_string(),
    };
    if let Some(instructions) = recording.instructions {
        return vec![("instructions", units::large(instructions)), ("exit", exit)];
    }
    let traced = recording.wall_ns - recording.undisturbed_wall_ns.min(recording.wall_ns);
    let mut wall = time(recording.wall_ns);
    if traced as f64 >= TRACING_TOLD * recording.wall_ns as f64 && traced > 0 {
        let _ = write!(wall, " ({} without recording)", time(recording.undisturbed_wall_ns));
    }
    let mut facts = vec![
        ("wall", wall),
        ("user", time(recording.user_ns)),
        ("sys", time(recording.sys_ns)),
        ("exit", exit),
    ];
    if recording.runs > 1 {
        facts.push(("runs merged", units::count(u64::from(recording.runs))));
    }
    facts
}

/// A share of the time from which on the recording overhead is shown.
const TRACING_TOLD: f64 = 0.01;

/// What the samples cover.
pub(crate) fn coverage(recording: &RecordingSummary) -> String {
    if let Some(instructions) = recording.instructions {
        return format!(
            "{} counted exactly; no times are reported",
            units::counted(instructions, "instruction")
        );
    }
    if recording.samples == 0 {
        return "no CPU samples".to_owned();
    }
    let whole = recording.user_ns.saturating_add(recording.sys_ns);
    let tracing = recording.tracing_ns as f64 / whole.max(1) as f64;
    let tracing = if tracing < TRACING_TOLD {
        String::new()
    } else {
        format!("; recording overhead was {} of user and sys, excluded below", units::share(tracing))
    };
    format!(
        "{}, {} of CPU time sampled, {} of stacks complete{tracing}",
        units::counted(recording.samples, "sample"),
        units::share(recording.sampled_share),
        units::share(recording.complete_stacks_share)
    )
}

/// What could not be seen: how collectors were degraded, and what was lost.
pub(crate) fn unseen(recording: &RecordingSummary) -> Vec<String> {
    let lost = recording.lost.iter().filter(|(_, n)| **n > 0);
    let lost = lost.map(|(kind, n)| format!("lost: {} {}", units::count(*n), kind.replace(['_', '-'], " ")));
    recording.degraded.iter().cloned().chain(lost).collect()
}

/// A sentence of what could not be seen that is no longer than this, in bytes, is its own short form: half a line or so.
const SHORT: usize = 60;
/// What all of them may take together, in bytes, to be shown before the findings: some three lines.
const BEFORE_FINDINGS: usize = 240;
/// What the collectors say to whoever lacks rights.
const SETUP: &str = "`sudo slowpath setup`";

/// What could not be seen in a few words, where there is too much of it to be read before the findings.
pub(crate) fn unseen_in_short(unseen: &[String]) -> Option<String> {
    if unseen.iter().map(String::len).sum::<usize>() <= BEFORE_FINDINGS {
        return None;
    }
    let mut said = unseen.iter().map(|sentence| first_clause(sentence)).collect::<Vec<_>>().join("; ");
    if unseen.iter().any(|sentence| sentence.contains(SETUP)) {
        let _ = write!(said, ". More can be seen with sudo, or after {SETUP}");
    }
    Some(said + ". Details are at the end")
}

/// What collectors give as the reason where rights are lacking, the whole of it first.
const REASONS: [&str; 2] = [
    ", because of insufficient privileges: run with sudo, or allow it once with `sudo slowpath setup`",
    " because of insufficient privileges",
];

/// What could not be seen in detail; what all of it has in common is said once, at the end.
pub(crate) fn unseen_in_detail(unseen: &[String]) -> Vec<String> {
    let shorter = |sentence: &String| {
        REASONS.iter().fold(sentence.clone(), |sentence, reason| sentence.replace(reason, ""))
    };
    let mut said: Vec<String> = unseen.iter().map(shorter).collect();
    if said.iter().zip(unseen).any(|(shorter, whole)| shorter != whole) {
        said.push(format!(
            "the reason is missing privileges: run `sudo slowpath …` for all of this, or allow it once for all users with {SETUP}"
        ));
    }
    said
}

/// A sentence up to its reasons and details.
fn first_clause(sentence: &str) -> &str {
    if sentence.len() <= SHORT {
        return sentence;
    }
    let ends =
        [" because", ", because", " (", ": ", "; ", ". "].into_iter().filter_map(|end| sentence.find(end));
    &sentence[..ends.min().unwrap_or(sentence.len())]
}

/// The title, with how sure it is unless it is certain.
pub(crate) fn title(finding: &Finding) -> String {
    match finding.confidence {
        Confidence::Certain => finding.title.clone(),
        Confidence::Likely => format!("likely: {}", finding.title),
        Confidence::Hint => format!("hint: {}", finding.title),
    }
}

/// What the words before titles mean, of those that are used.
pub(crate) fn legend(findings: &Findings) -> Vec<(&'static str, &'static str)> {
    let used = |confidence| findings.findings.iter().any(|finding| finding.confidence == confidence);
    let words = [
        (
            Confidence::Likely,
            "likely",
            "the cause is concluded from what was measured; \"not known\" says what could be otherwise. Look at the named place first, or try a change \
             there and let `slowpath compare` tell whether it helps",
        ),
        (Confidence::Hint, "hint", "another explanation is possible"),
    ];
    words
        .into_iter()
        .filter(|(confidence, ..)| used(*confidence))
        .map(|(_, word, means)| (word, means))
        .collect()
}

/// Where the cause is explained.
pub(crate) fn more(finding: &Finding) -> String {
    format!("slowpath causes {}", finding.cause.slug())
}

/// `6.1 s of 6.3 s CPU, 97 %`.
pub(crate) fn cost(finding: &Finding, recording: &RecordingSummary) -> String {
    let of = finding.cost.basis();
    let basis = basis_word(of);
    let amount = |cost| amount(cost, of);
    let cost = amount(finding.cost.amount());
    match total(recording, of) {
        0 => format!("{cost} {basis}"),
        total => format!("{cost} of {} {basis}, {}", amount(total), units::share(finding.share)),
    }
}

/// A gain below this share of the cost looks like a contradiction to it.
const NOT_ALL: f64 = 0.9;

/// `6.3 s CPU → about 0.2 s if this goes`; none if nothing is gained. A small gain is named itself, since the two
/// times would look the same.
pub(crate) fn gain(finding: &Finding, recording: &RecordingSummary) -> Option<String> {
    let gain = finding.cost.gain();
    if gain == 0 {
        return None;
    }
    let of = finding.cost.basis();
    let basis = basis_word(of);
    let amount = |cost| amount(cost, of);
    let total = total(recording, of);
    let about = if finding.gain_is_least { "at least" } else { "about" };
    let cost = finding.cost.amount();
    let rest = match (gain as f64) < NOT_ALL * cost as f64 {
        true if finding.gain_is_least => {
            format!(": at most {} of the {} would remain", amount(cost - gain), amount(cost))
        }
        true => format!(": {} of the {} would remain", amount(cost - gain), amount(cost)),
        false => String::new(),
    };
    let saved = match total.saturating_sub(gain) {
        _ if total == 0 => format!("{about} {} {basis} if this is fixed", amount(gain)),
        _ if gain < total / 10 => {
            format!("{about} {} of {} {basis} if this is fixed", amount(gain), amount(total))
        }
        // What a hundredth is of cannot be known: no gain is that exact.
        left if left < total / 100 => format!("nearly all of {} {basis} if this is fixed", amount(total)),
        left if finding.gain_is_least => {
            format!("{} {basis} → {} or less if this is fixed", amount(total), amount(left))
        }
        left => format!("{} {basis} → about {} if this is fixed", amount(total), amount(left)),
    };
    Some(saved + &rest)
}

/// How often and from where the guilty function was called, as far as that is known.
pub(crate) fn called(finding: &Finding) -> Option<String> {
    let times = finding.calls.map(|calls| {
        let about = if calls.sure == Sure::Exact { "" } else { "about " };
        format!("called {about}{}", units::counted(calls.count, "time"))
    });
    let caller = match path::steps(&finding.place.path).as_slice() {
        [.., caller, _] => {
            let place = place(caller.frame.file.as_deref().map(base_name), caller.frame.line);
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            let function = names::fitted(&caller.frame.function, names::IN_A_SENTENCE, "…");
            Some(format!("from {function}{place}"))
        }
        _ => None,
    };
    let parts: Vec<String> = times.into_iter().chain(caller).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The file's own name.
pub(crate) fn base_name(file: &str) -> &str {
    file.rsplit('/').find(|part| !part.is_empty()).unwrap_or(file)
}

/// `file:line`, as much of it as is known.
pub(crate) fn place(file: Option<&str>, line: Option<u32>) -> Option<String> {
    let file = file.filter(|file| !file.is_empty())?;
    Some(match line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    })
}

/// Where a program without findings spent its time if that was not on the CPU.
fn off_cpu(findings: &Findings) -> Option<String> {
    let recording = &findings.recording;
    if recording.instructions.is_some() {
        return None; // valgrind's times are not the program's
    }
    // A tracer by ptrace keeps threads stopped.
    let (cpu, elapsed) = (recording.cpu_ns, recording.undisturbed_wall_ns);
    if elapsed == 0 || cpu >= elapsed / 2 {
        return None;
    }
    // At least: threads that ran at the same time used more CPU time than the clock passed.
    Some(format!(
        "For at least {} of the {} elapsed the program did not run: it waited, or no CPU was free.",
        units::rough(elapsed - cpu),
        units::rough(elapsed)
    ))
}

fn at(frame: &Frame) -> String {
    let place = place(frame.file.as_deref().map(base_name), frame.line);
    place.map_or_else(|| frame.function.clone(), |place| format!("{} ({place})", frame.function))
}

fn called_from(wait: &Wait) -> String {
    wait.function.as_ref().map_or(String::new(), |frame| format!(", called from {}", at(frame)))
}

/// The longest wait of the program.
fn longest_wait(findings: &Findings) -> Option<String> {
    let wait = findings.leads.wait.as_ref()?;
    let from = called_from(wait);
    let (program, total) = (&wait.program, units::rough(wait.total_ns));
    if wait.asleep {
        let times = units::counted(wait.calls, "time");
        return Some(format!("The longest wait: {program} slept for {total} ({times}){from}."));
    }
    let (call, calls) = (&wait.call, units::counted(wait.calls, "call"));
    let what = what_for(call, wait.file.as_deref());
    Some(match what {
        Some(what) => format!("The longest wait: {program} waited {total} {what} ({call}, {calls}){from}."),
        None => {
            let on = wait.file.as_ref().map_or(String::new(), |file| format!(" on {file}"));
            format!("The longest wait: {program} waited {total} in {call}{on} ({calls}){from}.")
        }
    })
}

/// What a call on a file waits for: `for data from a pipe`.
fn what_for(call: &str, file: Option<&str>) -> Option<String> {
    let with = |what: &str, word: &str| file.map_or(what.to_owned(), |file| format!("{what} {word} {file}"));
    Some(match call {
        "futex" => "for another thread or process".to_owned(),
        "wait4" | "waitid" => "for a child process".to_owned(),
        "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
            "for events".to_owned()
        }
        "read" | "readv" | "recvfrom" | "recvmsg" | "recvmmsg" => with("for data", "from"),
        "write" | "writev" | "sendto" | "sendmsg" | "sendmmsg" => with("to write", "to"),
        "connect" => with("for a connection", "to"),
        "accept" | "accept4" => "for a client".to_owned(),
        "fsync" | "fdatasync" | "msync" | "sync" | "syncfs" | "sync_file_range" => {
            format!("for {} to be written to disk", file.unwrap_or("data"))
        }
        "flock" => with("for a lock", "on"),
        _ => return None,
    })
}

/// What is said below findings of a program that mostly did not run, where they do not explain half of that time.
pub(crate) fn not_explained(findings: &Findings) -> Vec<String> {
    let recording = &findings.recording;
    let Some(said) = off_cpu(findings).filter(|_| !findings.findings.is_empty()) else { return Vec::new() };
    let waits = findings.findings.iter().filter(|one| one.cost.basis() == Basis::Wall);
    // They may be of the same time.
    let explained = waits.map(|one| one.cost.amount()).max().unwrap_or(0);
    if 2 * explained >= recording.undisturbed_wall_ns.saturating_sub(recording.cpu_ns) {
        return Vec::new();
    }
    let said = format!("Much of the elapsed time is not explained above. {said}");
    // The longest wait may be what was found.
    let wait = longest_wait(findings).filter(|_| explained == 0);
    std::iter::once(said).chain(wait).collect()
}

/// A program slept for most of the time if it was for this share of it: then that is the first to be said.
const MOSTLY: f64 = 0.5;

/// What whoever lacks rights cannot know of sleeps.
const UNSEEN_LOOKS: &str =
    " Without privileges it is not seen whether a thread looks into memory between its sleeps.";

/// What is said where no cause was found: that, and where to look.
pub(crate) fn nothing_found(findings: &Findings) -> Vec<String> {
    let leads = &findings.leads;
    let elapsed = findings.recording.undisturbed_wall_ns;
    let busiest = leads.busiest.as_ref().map(|busiest| {
        format!(
            "Most CPU time, {} or {}, is spent in {} and the functions it calls: look there first.",
            units::rough(busiest.total_ns),
            units::share(busiest.share),
            at(&busiest.function)
        )
    });
    let busiest = busiest.into_iter().chain(leads.busy_loop.as_ref().map(busy_loop));
    let is_most = |wait: &&Wait| wait.asleep && wait.total_ns as f64 >= MOSTLY * elapsed as f64;
    // Other threads may compute meanwhile.
    let slept = leads.wait.as_ref().filter(is_most).filter(|_| off_cpu(findings).is_some());
    if let Some(wait) = slept {
        let said = format!(
            "Most of the time the program slept: {} slept for {} of {} ({}, {} each on average){}. If it waits for \
             another thread or an event, wait for that directly (a condition variable, a blocking read). An intended pause is no fault.{}",
            wait.program,
            units::rough(wait.total_ns),
            units::rough(elapsed),
            units::counted(wait.calls, "time"),
            units::rough(wait.total_ns / wait.calls.max(1)),
            called_from(wait),
            if unseen(&findings.recording).iter().any(|sentence| sentence.contains(SETUP)) {
                UNSEEN_LOOKS
            } else {
                ""
            }
        );
        return vec![said, NOTHING_ELSE_FOUND.to_owned()].into_iter().chain(busiest).collect();
    }
    let first = std::iter::once(NOTHING_FOUND.to_owned());
    first.chain(off_cpu(findings)).chain(longest_wait(findings)).chain(busiest).collect()
}

/// The loop that takes most of the time, and how far it goes.
fn busy_loop(one: &BusyLoop) -> String {
    let again = match one.again {
        true => {
            " Most times it starts where it started before and finds the same data there. It does more than look for something, so it may be \
             needed each time; if not, keep its result."
        }
        false => "",
    };
    format!(
        "A loop in {} takes {}, {}, and goes through about {} each time it is entered.{again}",
        at(&one.function),
        units::rough(one.total_ns),
        units::share(one.share),
        units::counted(one.rounds.round() as u64, "item"),
    )
}
