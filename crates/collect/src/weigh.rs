//! What samples stand for: each process's scale, by which its samples add up to its CPU time, and what all of it comes to.

use crate::cpu::Cpu;
use slowpath_recording::tables::Process;
use std::collections::HashMap;

/// What was seen of a process, by which it is weighed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub samples: u64,
    /// What the samples stand for, those in recording itself too, ns.
    pub sampled_ns: u64,
    /// How often a tracer by ptrace stopped it.
    pub stops: u64,
}

/// What a sample stands for before it is weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StandsFor {
    /// CPU time of one period of its event, ns.
    pub ns_per_period: f64,
    pub together: Together,
}

/// What all samples of a process stand for together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Together {
    /// Its CPU time.
    Cpu,
    /// What they say, of user code alone; at most its CPU time.
    Themselves,
    /// Its CPU time in user code.
    User,
}

/// What a recording comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighed {
    /// CPU time of all processes while they were recorded.
    pub cpu: Cpu,
    /// The part of it that samples found in recording itself, ns.
    pub tracing_ns: u64,
    /// The share of it that samples stood for before they were weighed, 0 to 1.
    pub sampled_share: f64,
}

/// A process with fewer samples is weighed together with others.
const OWN: u64 = 30;

/// Weighs the processes that have ended and those that still run, and adds their rows to `rows`. `waited` is what the command used
/// with all that it waited for, as far as that was reported.
///
/// A process with few samples has a share of luck; those of one parent that ran the same program are weighed
/// together, so that thousands of short children count for what they took. What a tracer by ptrace took,
/// `stopped_ns`, no sample of user code shows: each process has its part by its stops.
///
/// To weigh samples of user code up to all CPU time would give it the kernel's as well, in a program that is mostly in system
/// calls several times what is its own. The kernel's account of user time is by ticks of 1 to 10 ms, coarser than samples by a clock.
pub(crate) fn weigh(
    ended: Vec<(Process, Seen)>,
    running: Vec<(Process, Seen)>,
    waited: Cpu,
    stopped_ns: u64,
    together: Together,
    rows: &mut Vec<Process>,
) -> Weighed {
    let most = if together == Together::Themselves { 1.0 } else { f64::INFINITY };
    let reported = |row: &Process, stopped: u64| match (row.cpu_ns?.saturating_sub(stopped), row.user_ns) {
        (cpu, Some(user)) if together == Together::User => Some(user.min(cpu)),
        (cpu, _) => Some(cpu),
    };
    let (of_ended, of_running) = (Sums::of(&ended), Sums::of(&running));
    // What no process is known to have taken was taken by those whose end was not seen. What still runs nobody has waited for.
    let rest_ns = waited.total().saturating_sub(of_ended.known.total());
    let unknown_ns = of_ended.unknown_ns + of_running.unknown_ns;
    let rest = rest_ns as f64 / unknown_ns.max(1) as f64;
    let mut cpu = if rest_ns > 0 { waited } else { of_ended.known };
    cpu.add(of_running.known);

    let all: Vec<(Process, Seen)> = ended.into_iter().chain(running).collect();
    let stops: u64 = all.iter().map(|(_, seen)| seen.stops).sum();
    let stopped = |seen: &Seen| (stopped_ns as f64 * seen.stops as f64 / stops.max(1) as f64) as u64;
    let mut pools: HashMap<(Option<u32>, String), (u64, u64)> = HashMap::new();
    for (row, seen) in all.iter().filter(|(_, seen)| seen.samples < OWN) {
        if let Some(cpu) = reported(row, stopped(seen)) {
            let pool = pools.entry((row.parent, row.program.clone())).or_default();
            pool.0 += cpu;
            pool.1 += seen.sampled_ns;
        }
    }
    let mut tracing_ns = 0.0;
    for (mut row, seen) in all {
        let stopped = stopped(&seen);
        let (cpu, of) = match reported(&row, stopped) {
            Some(cpu) if seen.samples >= OWN => (cpu, seen.sampled_ns),
            Some(_) => pools[&(row.parent, row.program.clone())],
            None => (0, 0),
        };
        if of > 0 {
            row.sample_scale = (cpu as f64 / of as f64).min(most);
        } else if row.cpu_ns.is_none() && rest > 0.0 && rest < 10.0 {
            row.sample_scale = rest.min(most);
        }
        tracing_ns += row.tracing_ns as f64 * row.sample_scale;
        if of > 0 {
            row.tracing_ns += (stopped as f64 / row.sample_scale.max(1e-3)) as u64;
        }
        rows.push(row);
    }
    // Processes whose time nobody reported used at least what their samples stand for.
    let untold_ns = unknown_ns.saturating_sub(rest_ns);
    let whole = (cpu.total() + untold_ns).saturating_sub(stopped_ns).max(1);
    let sampled = of_ended.sampled_ns + of_running.sampled_ns;
    // Samples are taken by the clock on the wall, which goes on while a hypervisor has taken the CPU away: a little over is whole.
    Weighed { cpu, tracing_ns: tracing_ns as u64, sampled_share: (sampled as f64 / whole as f64).min(1.0) }
}

/// Sums over processes, ns.
#[derive(Default)]
struct Sums {
    known: Cpu,
    sampled_ns: u64,
    /// What the samples of those stand for whose CPU time is not known.
    unknown_ns: u64,
}

impl Sums {
    fn of(processes: &[(Process, Seen)]) -> Sums {
        let mut sums = Sums::default();
        for (row, seen) in processes {
            sums.sampled_ns += seen.sampled_ns;
            match row.cpu_ns {
                Some(cpu_ns) => {
                    let user_ns = row.user_ns.unwrap_or(0).min(cpu_ns);
                    sums.known.add(Cpu { user_ns, sys_ns: cpu_ns - user_ns });
                }
                None => sums.unknown_ns += seen.sampled_ns,
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A process that used so much CPU time, and of which so many samples of 1 ms were taken.
    fn process(number: u32, cpu_ms: Option<u64>, samples: u64) -> (Process, Seen) {
        let row = Process {
            process: number,
            parent: None,
            pid: 100 + number,
            run: 0,
            program: number.to_string(),
            arguments: Vec::new(),
            directory: None,
            start_ns: 0,
            exec_ns: None,
            end_ns: None,
            exit: None,
            cpu_ns: cpu_ms.map(|ms| ms * MS),
            user_ns: cpu_ms.map(|ms| ms * MS),
            peak_memory_bytes: None,
            tracing_ns: 0,
            sample_scale: 1.0,
        };
        (row, Seen { samples, sampled_ns: samples * MS, stops: 0 })
    }

    fn user(ms: u64) -> Cpu {
        Cpu { user_ns: ms * MS, sys_ns: 0 }
    }

    fn weighed(ended: Vec<(Process, Seen)>, running: Vec<(Process, Seen)>, waited_ms: u64) -> Weighed {
        weigh(ended, running, user(waited_ms), 0, Together::Cpu, &mut Vec::new())
    }

    #[test]
    fn what_the_command_did_not_wait_for_is_in_the_whole() {
        // The command took 4 ms; a child in the background that nobody waited for 300, and another still runs.
        let ended = vec![process(0, Some(4), 4), process(1, Some(300), 270)];
        let found = weighed(ended, vec![process(2, Some(100), 90)], 4);
        assert_eq!(found.cpu, user(404));
        assert!((found.sampled_share - 364.0 / 404.0).abs() < 1e-9, "{}", found.sampled_share);
    }

    #[test]
    fn processes_whose_time_is_not_known_have_what_is_left_and_are_no_less_than_their_samples() {
        let unknown = || vec![process(0, None, 90)];
        assert!((weighed(unknown(), vec![], 100).sampled_share - 0.9).abs() < 1e-9);
        assert_eq!(weighed(unknown(), vec![], 100).cpu, user(100));
        // Not waited for, so that nothing reports its time.
        assert_eq!(weighed(unknown(), vec![process(1, Some(10), 10)], 4).sampled_share, 1.0);
    }

    #[test]
    fn it_is_a_share_whatever_the_clock_did() {
        assert_eq!(weighed(vec![process(0, Some(100), 104)], vec![], 100).sampled_share, 1.0);
        assert_eq!(weighed(vec![], vec![], 0).sampled_share, 0.0);
        assert_eq!(weighed(vec![process(0, None, 1)], vec![], 0).sampled_share, 1.0);
    }

    #[test]
    fn samples_of_user_code_are_not_given_the_time_of_the_kernel() {
        let scales = |together| {
            let mut rows = Vec::new();
            // 40 of 400 ms in user code; ended unseen; and one whose samples are more than it took.
            let mut ended = vec![process(0, Some(400), 40), process(1, None, 50), process(2, Some(30), 40)];
            ended[0].0.user_ns = Some(60 * MS);
            weigh(ended, vec![], user(580), 0, together, &mut rows);
            rows.iter().map(|row| row.sample_scale).collect::<Vec<f64>>()
        };
        assert_eq!(scales(Together::Cpu), [10.0, 3.0, 0.75]);
        assert_eq!(scales(Together::Themselves), [1.0, 1.0, 0.75]);
        assert_eq!(scales(Together::User), [1.5, 3.0, 0.75]);
    }

    #[test]
    fn what_recording_took_is_weighed_like_all_samples() {
        // One sample fell into a process that took 50 µs in all: recording did not take 1 ms of these.
        let (mut row, seen) = process(0, None, 1);
        (row.cpu_ns, row.user_ns, row.tracing_ns) = (Some(50_000), Some(0), MS);
        let found = weighed(vec![(row, seen)], vec![], 0);
        assert_eq!((found.tracing_ns, found.cpu.total()), (50_000, 50_000));
    }
}
