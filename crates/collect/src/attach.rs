//! Attaches to a process that runs already. It is never stopped, and nothing of it is ours to end.

use crate::about::{about, add_counter, sampler, stands_for};
use crate::means::{Means, means};
use crate::resources::{self, why};
use crate::sampler::{Sampler, Scope};
use crate::session::Session;
use crate::storage::{self, Storage};
use crate::target::{TURN_MS, finish, started, trace};
use crate::{Error, Options, Outcome, clock, signals};
use slowpath_recording::about::State;
use std::time::Duration;

/// How often it is looked what each process has used, where nothing reports that at its end.
const LOOK_NS: u64 = 100_000_000;

/// Attaches to a running process, its threads and its descendants, until it ends, `duration` is over, or Ctrl-C.
pub fn attach(pid: u32, duration: Option<Duration>, mut options: Options) -> Result<Outcome, Error> {
    let cannot = |why: String| Error::Attach { pid, why };
    signals::prepare();
    resources::raise();
    let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => cannot("there is no such process".to_owned()),
        _ => cannot(why(&error)),
    })?;
    let command: Vec<String> = cmdline
        .strip_suffix(&[0])
        .unwrap_or(&cmdline)
        .split(|byte| *byte == 0)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    let refused =
        || cannot("it is another user's, or has rights that you have not: run with sudo".to_owned());
    if !may_be_looked_at(pid) {
        return Err(refused());
    }
    let Means { plan, mut machine, mut bpf, hit_ns, degraded, .. } = means(&options, true)?;
    let Some(plan) = plan else { return Err(cannot(degraded.join("; "))) };
    let mut about = about(&options, &command, true);
    about.degraded = degraded;
    about.collectors.push(sampler(&plan, machine.is_some()));
    if options.count {
        add_counter(&mut about, bpf.is_some(), hit_ns);
    }
    trace(&options, &mut bpf, &mut about);
    let Storage { writer, temporary } = storage::begin(&options, &mut about, command.first())?;
    let mut session = Session::new(writer, bpf, stands_for(Some(&plan)), options.progress.take());
    signals::install().map_err(Error::system("handle signals"))?;
    session.world.redact = options.redact_arguments;
    session.hit_ns = hit_ns;

    let pids: Vec<u32> = descendants(pid).into_iter().filter(|pid| may_be_looked_at(*pid)).collect();
    session.world.looks = session.bpf().is_none();
    // Before the first sample, or samples would stand for time that does not count.
    for pid in &pids {
        session.take_up(*pid, &threads(*pid));
    }
    let sampler = match machine.take() {
        Some(sampler) => {
            for pid in &pids {
                if let Some(bpf) = session.bpf() {
                    let followed = bpf.follow(*pid).and_then(|()| bpf.root(pids[0]));
                    followed.map_err(|error| cannot(error.to_string()))?;
                }
            }
            started(sampler, &mut session, &mut about)
        }
        None => {
            let scopes: Vec<Scope> = pids.iter().flat_map(|pid| threads(*pid)).map(Scope::Thread).collect();
            let sampler = Sampler::open(&plan, &scopes).map_err(cannot)?;
            if sampler.scopes < scopes.len() {
                about.degraded.push(format!(
                    "only {} of {} threads, and what they start, were sampled: {}",
                    sampler.scopes,
                    scopes.len(),
                    why(&std::io::Error::from_raw_os_error(libc::EMFILE))
                ));
            }
            sampler.enable().map_err(Error::system("start sampling"))?;
            Some(sampler)
        }
    };
    let Some(mut sampler) = sampler else { return Err(cannot(about.degraded.join("; "))) };
    // What was mapped meanwhile is in both accounts, and what is mapped from now on in the sampler's.
    for pid in &pids {
        session.map_running(*pid);
    }
    if options.count {
        session.count();
    }
    let start = clock::now_ns();
    // One that has ended stays in the list until its parent asks for its exit status.
    let alive = || state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'));
    let mut looked = start;
    while alive() && signals::interrupts() == 0 && signals::to_pass_on().is_none() {
        sampler.wait(TURN_MS);
        session.turn(Some(&mut sampler));
        let now = clock::now_ns();
        if session.world.looks && now - looked >= LOOK_NS {
            looked = now;
            session.world.look();
        }
        if duration.is_some_and(|duration| now - start >= duration.as_nanos() as u64) {
            break;
        }
    }
    about.wall_ns = clock::now_ns() - start;
    session.stop_counting();
    session.drain(Some(&mut sampler));
    about.state = State::Complete;
    Ok(finish(session, about, temporary))
}

/// Whether the kernel lets us look into a process: it is our user's and has no other rights, or we are root. It asks neither for the capabilities
/// to sample nor for those to load BPF.
fn may_be_looked_at(pid: u32) -> bool {
    let exe = std::fs::read_link(format!("/proc/{pid}/exe"));
    !exe.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
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

/// The state of a process, as in `/proc/PID/stat`.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}
