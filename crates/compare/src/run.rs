//! Runs one command bare: started, waited for with its usage, ended with its whole process group if it takes too long.

use crate::Error;
use crate::enclosure::{Daemons, Enclosure, Running, now_ns};
use crate::values::Run;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How a command line becomes a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// `sh -c` where the line needs a shell, else none.
    Auto,
    /// No shell: words and quotes only.
    None,
    /// This shell with `-c`.
    Named(String),
}

/// The program and arguments of a command line.
pub fn words(command: &str, shell: &Shell) -> Result<Vec<String>, Error> {
    // What a shell would do more with than take words and quotes apart.
    let needs_shell = || command.contains(|c: char| "|&;<>()$`*?[]{}~!\n".contains(c)) || assigns(command);
    let through = |shell: &str| vec![shell.to_owned(), "-c".to_owned(), command.to_owned()];
    match shell {
        Shell::Named(name) => Ok(through(name)),
        Shell::Auto if needs_shell() => Ok(through("sh")),
        Shell::Auto | Shell::None => {
            let failed = |why: String| Error::Command { command: command.to_owned(), why };
            let words = shell_words::split(command).map_err(|error| failed(error.to_string()))?;
            if words.is_empty() { Err(failed("it is empty".to_owned())) } else { Ok(words) }
        }
    }
}

/// `NAME=value program`
fn assigns(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    first.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
}

/// How often a run is looked at for whether it shall be stopped.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// Stops what runs, and what would run next, once it is set: by a handler of signals, say.
#[derive(Debug, Clone, Default)]
pub struct Stop(pub Arc<AtomicBool>);

impl Stop {
    /// Whether it was set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A command that can be run again and again.
#[derive(Debug, Clone)]
pub(crate) struct Runner<'e> {
    pub command: String,
    words: Vec<String>,
    input: Option<PathBuf>,
    hash: bool,
    daemons: Daemons,
    enclosure: &'e Enclosure,
    stop: Stop,
}

/// How a run ended.
pub(crate) enum Ended {
    Done(Run),
    /// It was ended at the deadline.
    TooLong,
    /// It was stopped.
    Stopped,
}

impl<'e> Runner<'e> {
    pub(crate) fn new(
        command: &str,
        shell: &Shell,
        enclosure: &'e Enclosure,
        stop: &Stop,
    ) -> Result<Runner<'e>, Error> {
        Ok(Runner::of_words(command, words(command, shell)?, enclosure, stop))
    }

    /// A command that is known under another name than the words that are run.
    pub(crate) fn of_words(
        command: &str,
        words: Vec<String>,
        enclosure: &'e Enclosure,
        stop: &Stop,
    ) -> Runner<'e> {
        let (command, stop) = (command.to_owned(), stop.clone());
        Runner { command, words, input: None, hash: false, daemons: Daemons::Ended, enclosure, stop }
    }

    /// Reads this file from stdin, not nothing.
    pub(crate) fn reading(self, input: Option<PathBuf>) -> Runner<'e> {
        Runner { input, ..self }
    }

    /// Whether its stdout is hashed.
    pub(crate) fn hashed(self, hash: bool) -> Runner<'e> {
        Runner { hash, ..self }
    }

    /// Lets its daemons live on.
    pub(crate) fn keeping_daemons(self) -> Runner<'e> {
        Runner { daemons: Daemons::Kept, ..self }
    }

    /// Runs it once. Its stdout goes nowhere, or is hashed; its stderr stays where ours goes if `loud`.
    pub(crate) fn run(&self, limit: Duration, loud: bool) -> Result<Ended, Error> {
        let failed =
            |why: std::io::Error| Error::Command { command: self.command.clone(), why: why.to_string() };
        let input = match &self.input {
            None => Stdio::null(),
            Some(path) => {
                File::open(path).map_err(|source| Error::Input { path: path.clone(), source })?.into()
            }
        };
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(input);
        command.stdout(if self.hash { Stdio::piped() } else { Stdio::null() });
        command.stderr(if loud { Stdio::inherit() } else { Stdio::null() });
        let mut running = self.enclosure.start(&mut command, self.daemons).map_err(failed)?;
        let hasher = |output| std::thread::Builder::new().spawn(move || hash(output));
        let hashed = running.child.stdout.take().map(hasher).transpose().map_err(failed)?; // it ends with `running`
        let Some(wall) = wait(&running, limit, &self.stop) else {
            drop(running);
            if let Some(hashed) = hashed {
                let _ = hashed.join(); // the pipe ended with the group
            }
            return Ok(if self.stop.is_set() { Ended::Stopped } else { Ended::TooLong });
        };
        // What the command left behind in its group must not run on beside the next run.
        let (status, usage) = running.finish().map_err(failed)?;
        let counted = running.cpu_ns().map_err(failed)?;
        drop(running); // daemons may hold stdout
        let output = hashed.and_then(|hashed| hashed.join().ok());
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
        Ok(Ended::Done(Run {
            wall_ns: wall.as_nanos() as u64,
            user_ns: counted.map_or(ns(usage.ru_utime), |(user, _)| user),
            sys_ns: counted.map_or(ns(usage.ru_stime), |(_, system)| system),
            peak_memory_bytes: beyond_ours(usage.ru_maxrss),
            exit: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            output,
        }))
    }
}

/// The peak of a child, bytes; 0 if it is no larger than ours, with which it began (the kernel counts from before the exec).
fn beyond_ours(peak_kib: libc::c_long) -> u64 {
    // SAFETY: rusage is plain numbers that getrusage fills.
    let own = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_maxrss
    };
    if peak_kib > own { peak_kib as u64 * 1024 } else { 0 }
}

/// Waits for the command's end, and returns how long it ran. None if the limit passed first or it was stopped.
fn wait(running: &Running<'_>, limit: Duration, stop: &Stop) -> Option<Duration> {
    loop {
        let left = limit.saturating_sub(since(running.begun_ns));
        if running.ends_within(left.min(LOOK)) {
            return Some(since(running.begun_ns));
        }
        if left.is_zero() || stop.is_set() {
            return None;
        }
    }
}

fn since(started: u64) -> Duration {
    Duration::from_nanos(now_ns().saturating_sub(started))
}

fn hash(mut output: impl Read) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut bytes = [0; 65_536];
    while let Ok(size) = output.read(&mut bytes) {
        if size == 0 {
            break;
        }
        hasher.write(&bytes[..size]);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn run(command: &str, hash: bool) -> Run {
        let enclosure = Enclosure::new().expect("a guard");
        let runner = Runner::new(command, &Shell::Auto, &enclosure, &Stop::default()).expect("a command");
        match runner.hashed(hash).run(Duration::from_secs(20), true).expect("it runs") {
            Ended::Done(run) => run,
            Ended::TooLong | Ended::Stopped => panic!("{command} took too long"),
        }
    }

    #[test]
    fn a_shell_is_taken_only_where_it_is_needed() {
        let auto = |command| words(command, &Shell::Auto).expect("words");
        assert_eq!(auto("prog 'a b' c"), ["prog", "a b", "c"]);
        assert_eq!(auto("a | b"), ["sh", "-c", "a | b"]);
        assert_eq!(auto("X=1 prog"), ["sh", "-c", "X=1 prog"]);
        assert_eq!(words("a | b", &Shell::None).expect("words"), ["a", "|", "b"]);
        assert_eq!(words("a", &Shell::Named("bash".into())).expect("words"), ["bash", "-c", "a"]);
        assert!(words("  ", &Shell::Auto).is_err());
        assert!(words("'unclosed", &Shell::Auto).is_err());
    }

    #[test]
    fn time_memory_and_exit_are_the_commands_own() {
        let slept = run("sleep 0.1; exit 3", false);
        assert_eq!(slept.exit, 3);
        assert!(slept.wall_ns >= 100_000_000 && slept.cpu_ns() < slept.wall_ns, "{slept:?}");
        // Far beyond what this test itself takes.
        let large = run("head -c 200000000 /dev/zero | tail -n 1 >/dev/null", false);
        assert!(large.peak_memory_bytes >= 150_000_000, "{large:?}");
    }

    #[test]
    fn a_signal_is_told_as_shells_do() {
        assert_eq!(run("kill -TERM $$", false).exit, 128 + libc::SIGTERM);
    }

    #[test]
    fn outputs_are_compared_by_their_hash_whatever_their_size() {
        assert_eq!(run("yes | head -c 3000000", true).output, run("yes | head -c 3000000", true).output);
        assert_ne!(run("echo a", true).output, run("echo b", true).output);
        assert_eq!(run("echo a", false).output, None);
    }

    #[test]
    fn what_hangs_is_ended_with_all_its_children() {
        let marker = format!("3{}", std::process::id());
        let command = format!("sleep {marker} & sleep {marker}");
        let enclosure = Enclosure::new().expect("a guard");
        let runner = Runner::new(&command, &Shell::Auto, &enclosure, &Stop::default()).expect("a command");
        let runner = runner.hashed(true);
        let started = Instant::now();
        assert!(matches!(runner.run(Duration::from_millis(200), true), Ok(Ended::TooLong)));
        assert!(started.elapsed() < Duration::from_secs(5));
        let lives = |entry: std::fs::DirEntry| {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            command == format!("sleep\0{marker}\0").as_bytes()
        };
        let processes = std::fs::read_dir("/proc").expect("processes");
        assert!(!processes.flatten().any(lives), "children live on");
    }

    #[test]
    fn what_is_stopped_ends_at_once() {
        let stop = Stop::default();
        let enclosure = Enclosure::new().expect("a guard");
        let runner = Runner::new("sleep 30", &Shell::Auto, &enclosure, &stop).expect("a command");
        let started = Instant::now();
        let later = std::thread::Builder::new().spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            stop.0.store(true, Ordering::Relaxed);
        });
        later.expect("a thread");
        assert!(matches!(runner.run(Duration::from_secs(60), true), Ok(Ended::Stopped)));
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let enclosure = Enclosure::new().expect("a guard");
        let runner =
            Runner::new("/no/such/program", &Shell::Auto, &enclosure, &Stop::default()).expect("a command");
        let said =
            runner.run(Duration::from_secs(1), true).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("/no/such/program"), "{said}");
    }
}
