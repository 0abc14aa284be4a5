//! `compare`: two commands timed bare to a verdict, each recorded once to say why; or two recordings and what changed.

use crate::FAILED;
use crate::args::Compare;
use crate::progress::spinner;
use crate::recorded::{Within, opened, recorded};
use crate::run::{Done, failed, say, write_file};
use crate::tally::of_side;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use slowpath_compare::values::{Comparison, Estimate, Verdict, Why};
use slowpath_compare::{
    Daemons, Enclosure, Expectation, Options, Outcome, Progress, Shell, Stop, entries, timed, why, words,
};
use slowpath_diagnose::findings::Findings;
use slowpath_files::Caller;
use slowpath_recording::Recording;
use slowpath_report::{Shown, Style, shown};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Exit codes: a side or slowpath failed, not as expected, no clear result, wrong usage (`EX_USAGE` of sysexits.h).
const SIDE_FAILED: u8 = 1;
const MISSED: u8 = 2;
const UNKNOWN: u8 = 3;
pub const USAGE: u8 = 64;
/// As a shell says of a command that SIGINT ended.
const INTERRUPTED: u8 = 130;
/// A side that used less CPU time than this is recorded several times, joined, ns.
const SHORT_NS: u64 = 300_000_000;
const REPEAT_MOST: u64 = 10;
/// A side that takes at least so many times as long as the other is recorded once more if nothing was found in it: below that, there may be no cause.
const MUCH: f64 = 1.5;

/// `slowpath compare`.
pub fn compare(compare: &Compare) -> Done {
    // Its exit codes are its own: slowpath's failure is that of a comparison.
    let own = |(error, code)| (error, if code == FAILED { SIDE_FAILED } else { code });
    compared(compare).map_err(own)
}

fn compared(compare: &Compare) -> Done {
    if let [a, b] = compare.recordings.as_slice() {
        return recordings(compare, [a, b]);
    }
    let options = options(compare)?;
    let stop = options.stop.clone();
    let enclosure = Enclosure::new().map_err(failed)?;
    let bar = spinner();
    let result = timed(&options, &enclosure, |progress| {
        if let Some(bar) = &bar {
            bar.set_message(Shown::text(told(progress)).to_string());
            bar.tick();
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let mut comparison = result.map_err(|error| match stop.is_set() {
        true => (format!("{error} before the first pair was complete: nothing was measured"), INTERRUPTED),
        false => failed(error),
    })?;
    if compare.self_check {
        export(compare, &comparison)?;
        return self_check(&comparison);
    }
    if !compare.no_why && comparison.failure.is_none() {
        match recorded_sides(compare, &options, &enclosure, &comparison) {
            Ok(why) => comparison.why = Some(why),
            Err((error, _)) => comparison.notes.push(format!("the reason is unknown: {error}")),
        }
    }
    export(compare, &comparison)?;
    say(&slowpath_report::comparison(&comparison, &Style::detect(std::io::stdout())))?;
    Ok(code(compare, &comparison, stop.is_set()))
}

fn code(compare: &Compare, comparison: &Comparison, interrupted: bool) -> u8 {
    if interrupted {
        return INTERRUPTED;
    }
    if comparison.failure.is_some() {
        return SIDE_FAILED;
    }
    let unknown = if compare.strict { UNKNOWN } else { 0 };
    match comparison.outcome {
        Outcome::None if comparison.verdict == Verdict::Unknown => unknown,
        Outcome::None | Outcome::Met => 0,
        Outcome::Missed => MISSED,
        Outcome::Unknown => unknown,
    }
}

/// What Ctrl-C and a request to end stop: the run that is on, and all that would follow. A second one ends slowpath as ever.
pub(crate) fn stopped_by_signals() -> Stop {
    let stop = Stop::default();
    for signal in [SIGINT, SIGTERM] {
        // It fails only for signals that cannot be caught.
        let _ = flag::register_conditional_default(signal, stop.0.clone());
        let _ = flag::register(signal, stop.0.clone());
    }
    stop
}

fn options(compare: &Compare) -> Result<Options, (String, u8)> {
    let usage = |what: &str| (what.to_owned(), USAGE);
    let commands = match (compare.commands.as_slice(), compare.self_check) {
        ([a, b], false) => [a.clone(), b.clone()],
        ([one], true) => [one.clone(), one.clone()],
        (_, true) => return Err(usage("--self-check takes one command")),
        _ => {
            return Err(usage(
                "compare takes two commands, each quoted as one argument: slowpath compare -- 'old ARGS' 'new ARGS'",
            ));
        }
    };
    let names = match compare.name.as_slice() {
        [] => names(&commands),
        [a, b] => [a.clone(), b.clone()],
        _ => return Err(usage("give --name twice or not at all")),
    };
    let prepare = match compare.prepare.as_slice() {
        [] => [None, None],
        [both] => [Some(both.clone()), Some(both.clone())],
        [a, b] => [Some(a.clone()), Some(b.clone())],
        _ => return Err(usage("give --prepare once or twice")),
    };
    let shell = match &compare.shell {
        Some(name) => Shell::Named(name.clone()),
        None if compare.no_shell => Shell::None,
        None => Shell::Auto,
    };
    let not_slower = |percent: f64| Expectation::NotSlowerThan {
        share: percent / 100.0,
        least_ns: compare.and_by_ms.map(|ms| (ms * 1e6) as u64),
    };
    let limit = Duration::try_from_secs_f64(compare.time_limit);
    Ok(Options {
        commands,
        names,
        shell,
        setup: compare.setup.clone(),
        prepare,
        cleanup: compare.cleanup.clone(),
        warmup: compare.warmup,
        min_pairs: compare.min_pairs,
        max_pairs: compare.max_pairs.max(compare.min_pairs),
        time_limit: limit.map_err(|error| usage(&format!("--time-limit: {error}")))?,
        input: compare.input.clone(),
        same_output: compare.same_output,
        ignore_failure: compare.ignore_failure,
        indifferent: compare.indifferent / 100.0,
        tolerance: 0.1,
        cpu_decides: compare.cpu,
        expectation: compare
            .fail_if_slower_than
            .map(not_slower)
            .or(compare.expect_faster_than.map(Expectation::FasterThan)),
        loud: compare.show_stderr,
        stop: stopped_by_signals(),
    })
}

/// The most columns of a name that has a second word.
const LONGEST_NAME: usize = 24;

/// The programs' names where they differ; of one program with different arguments the first of these as well (`sh a.sh`); else
/// the first two letters of the alphabet.
fn names(commands: &[String; 2]) -> [String; 2] {
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    let words = |command: &String| -> Vec<String> {
        let words = shell_words::split(command).unwrap_or_default();
        words.into_iter().skip_while(|word| word.contains('=')).collect()
    };
    let [first, second] = [words(&commands[0]), words(&commands[1])];
    let name = |words: &[String]| words.first().map(|word| base(word)).unwrap_or_default();
    let differing = first.iter().zip(&second).position(|(a, b)| a != b);
    let found = match differing {
        Some(at) if name(&first) == name(&second) && at > 0 => {
            [&first, &second].map(|words| format!("{} {}", name(words), base(&words[at])))
        }
        // One has an argument more.
        None if first.len() != second.len() && name(&first) == name(&second) => {
            let at = first.len().min(second.len());
            [&first, &second].map(|words| {
                let more = words.get(at).map_or(String::new(), |word| format!(" {}", base(word)));
                format!("{}{more}", name(words))
            })
        }
        _ => [name(&first), name(&second)],
    };
    let is_name = |name: &String| {
        let plain = || {
            name.chars().count() <= LONGEST_NAME
                && name.chars().all(|c| c.is_alphanumeric() || " ._+-=".contains(c))
                && name.matches(' ').count() == 1
        };
        !name.is_empty() && (!name.contains(' ') || plain())
    };
    if found[0] != found[1] && found.iter().all(is_name) {
        return found;
    }
    ["A".to_owned(), "B".to_owned()]
}

fn told(progress: &Progress) -> String {
    let estimate = |one: Estimate| format!(", ratio {:.3} ({:.3}–{:.3})", one.ratio, one.low, one.high);
    format!(
        "comparing: {} of at most {} pairs{}",
        progress.pairs,
        progress.max_pairs,
        progress.estimate.map_or(String::new(), estimate)
    )
}

/// Records each side once, as a user would, and compares what was recorded.
fn recorded_sides(
    compare: &Compare,
    options: &Options,
    enclosure: &Enclosure,
    comparison: &Comparison,
) -> Result<Why, (String, u8)> {
    let mut sides = Vec::new();
    for (at, command) in options.commands.iter().enumerate() {
        prepare(options, enclosure, at)?;
        let cpu = comparison.sides[at].median.cpu_ns().max(1);
        let repeat = (SHORT_NS / cpu).clamp(1, REPEAT_MOST);
        let words = words(command, &options.shell).map_err(failed)?;
        let repeat = ["--repeat", &repeat.to_string()];
        let within = Within { enclosure, stop: &options.stop, at: &compare.at };
        let again = || recorded(&words, &repeat, options.input.as_deref(), &within);
        let mut side = again()?;
        // What is seen in samples is missed by chance now and then. Of the slower side a cause is known to be there.
        if side.1.findings.is_empty() && is_much_slower(comparison, at) {
            prepare(options, enclosure, at)?;
            side = again()?;
        }
        sides.push(side);
    }
    let [(a, of_a), (b, of_b)] = sides.as_slice() else { return Err(failed("a side was not recorded")) };
    if let Some(path) = &compare.html {
        write_page(path, [(a, of_a), (b, of_b)], Some(comparison))?;
    }
    let mut why = why([a, b], [of_a, of_b]);
    let wanted = entries::wanted([a, b], [of_a, of_b], &why);
    if !wanted.is_empty() {
        let count = |side: usize| {
            prepare(options, enclosure, side)?;
            let words = words(&options.commands[side], &options.shell).map_err(failed)?;
            of_side(&wanted, side, &words, options.input.as_deref(), enclosure, &options.stop)
        };
        // Where they cannot be counted the rest is still worth reporting.
        if let (Ok(a), Ok(b)) = (count(0), count(1)) {
            entries::add(&mut why, &wanted, [&a, &b]);
        }
    }
    Ok(why)
}

/// Whether a side takes [`MUCH`] times as long as the other, or as much CPU time.
fn is_much_slower(comparison: &Comparison, side: usize) -> bool {
    let sure = |estimate: &Option<Estimate>| {
        estimate.is_some_and(|one| if side == 0 { one.low >= MUCH } else { one.high * MUCH <= 1.0 })
    };
    sure(&comparison.wall) || sure(&comparison.cpu)
}

/// What the user has done before each run of a side.
fn prepare(options: &Options, enclosure: &Enclosure, side: usize) -> Result<(), (String, u8)> {
    let Some(prepare) = &options.prepare[side] else { return Ok(()) };
    let mut run = Command::new("sh");
    run.args(["-c", prepare]).stdin(Stdio::null()).stdout(Stdio::null());
    enclosure.output(&mut run, Daemons::Kept, &options.stop).map(drop).map_err(failed)
}

fn recordings(compare: &Compare, [a, b]: [&String; 2]) -> Done {
    let root = compare.at.known()?;
    let ((one, of_one), (other, of_other)) = (opened(&root, a)?, opened(&root, b)?);
    let why = why([&one, &other], [&of_one, &of_other]);
    if let Some(path) = &compare.html {
        write_page(path, [(&one, &of_one), (&other, &of_other)], None)?;
    }
    say(&slowpath_report::difference(&why, [a, b], &Style::detect(std::io::stdout())))?;
    Ok(0)
}

fn write_page(
    path: &Path,
    sides: [(&Recording, &Findings); 2],
    comparison: Option<&Comparison>,
) -> Result<(), (String, u8)> {
    let page = crate::view::page(&sides, comparison)?;
    write_file(path, &page).map_err(|error| failed(format!("cannot write {}: {error}", path.display())))
}

/// What difference could have been seen: half of the interval that a command has with itself.
fn self_check(comparison: &Comparison) -> Done {
    if let Some(failure) = &comparison.failure {
        return Err((failure.clone(), SIDE_FAILED));
    }
    let reach = |estimate: &Option<Estimate>| {
        estimate.map_or("?".to_owned(), |one| format!("{:.1} %", 100.0 * (one.high / one.low - 1.0) / 2.0))
    };
    let verdict = match comparison.verdict {
        Verdict::Faster | Verdict::Slower => {
            "a difference was reported, which happens in at most 1 of 20 checks"
        }
        _ => "no difference was reported, as it should be",
    };
    say(&shown!(
        "{} against itself, {} pairs: {}\n  on this machine, in this time, a difference of about {} in elapsed time \
         or {} in CPU time can be detected\n",
        comparison.sides[0].command,
        comparison.pairs.len(),
        verdict,
        reach(&comparison.wall),
        reach(&comparison.cpu)
    ))?;
    Ok(0)
}

fn export(compare: &Compare, comparison: &Comparison) -> Result<(), (String, u8)> {
    let write = |path: &Path, text: Shown| {
        write_file(path, &text)
            .map_err(|error| (format!("cannot write {}: {error}", path.display()), SIDE_FAILED))
    };
    if let Some(path) = &compare.export_json {
        write(path, slowpath_report::comparison_json(comparison))?;
    }
    let markdown = || slowpath_report::comparison_markdown(comparison);
    if let Some(path) = &compare.export_markdown {
        write(path, markdown())?;
    }
    // GitHub Actions shows this file's text with the job.
    if let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY") {
        let written = Caller::detect().act().and_then(|_acting| {
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&path)?;
            file.write_all(markdown().as_bytes())
        });
        written.map_err(|error| {
            (format!("cannot write {}: {error}", Path::new(&path).display()), SIDE_FAILED)
        })?;
        if comparison.outcome == Outcome::Missed || comparison.failure.is_some() {
            let plain = Style { color: false, width: 4096, unicode: true };
            let text = slowpath_report::comparison(comparison, &plain);
            say(&shown!("::warning title=slowpath::{}\n", text.lines().next().unwrap_or_default()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn sides_are_named_by_what_differs() {
        let of = |a: &str, b: &str| names(&[a.to_owned(), b.to_owned()]);
        assert_eq!(of("./old file", "./new file"), ["old", "new"]);
        assert_eq!(of("sh a.sh", "sh b.sh"), ["sh a.sh", "sh b.sh"]);
        assert_eq!(of("X=1 ./a.sh", "bin/b.sh -v"), ["a.sh", "b.sh"]);
        assert_eq!(of("./orders", "./orders spawn"), ["orders", "orders spawn"]);
        assert_eq!(of("./orders --fast 3", "./orders"), ["orders --fast", "orders"]);
        assert_eq!(of("dd bs=1", "dd bs=65536"), ["dd bs=1", "dd bs=65536"]);
        // Nothing that tells them apart in a few letters.
        for (a, b) in [("./same x", "./same x"), ("sh -c 'a; b'", "sh -c 'c; d'")] {
            assert_eq!(of(a, b), ["A", "B"], "{a}, {b}");
        }
    }
}
