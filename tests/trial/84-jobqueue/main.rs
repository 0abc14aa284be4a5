// jobqueue: lists the jobs of a cluster, sorted as asked, and sums up what the users have.
mod job;
mod sort;
mod users;

use std::collections::BTreeMap;
use std::fmt::Write;

use job::Job;
use users::Users;

/// Days, hours, minutes and seconds as the lists of a scheduler show them.
fn elapsed(seconds: u64) -> String {
    let (days, rest) = (seconds / 86400, seconds % 86400);
    let time = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    if days > 0 {
        format!("{days}-{time}")
    } else {
        time
    }
}

/// Cuts a text to a column.
fn column(text: &str, width: usize) -> String {
    if text.len() > width {
        format!("{}+", &text[..width - 1])
    } else {
        format!("{text:<width$}")
    }
}

fn print_jobs(jobs: &[Job], users: &Users, out: &mut String) {
    writeln!(out, "{:>8} {} {} {} ST {:>12} {:>5} NODELIST", "JOBID", column("PARTITION", 9), column("NAME", 10), column("USER", 8), "TIME", "NODES").unwrap();
    for job in jobs {
        let user = users.uid_to_string(job.uid);
        writeln!(
            out,
            "{:>8} {} {} {} {} {:>12} {:>5} {}",
            job.id,
            column(&job.partition, 9),
            column(&job.name, 10),
            column(&user, 8),
            job.state.short(),
            elapsed(job.elapsed),
            job.nodes,
            job.node_list
        )
        .unwrap();
    }
}

/// The nodes that run something, with the number of jobs of each.
fn node_load(jobs: &[Job]) -> BTreeMap<u32, u32> {
    let mut load = BTreeMap::new();
    for job in jobs {
        for node in job::expand_nodes(&job.node_list) {
            *load.entry(node).or_insert(0) += 1;
        }
    }
    load
}

#[derive(Default)]
struct Usage {
    running: u32,
    pending: u32,
    cpu_hours: f64,
}

fn print_usage(jobs: &[Job], users: &Users, out: &mut String) {
    let mut usage: BTreeMap<u32, Usage> = BTreeMap::new();
    for job in jobs {
        let u = usage.entry(job.uid).or_default();
        match job.state {
            job::State::Pending => u.pending += 1,
            _ => {
                u.running += 1;
                u.cpu_hours += job.cpus as f64 * job.elapsed as f64 / 3600.0;
            }
        }
    }
    for (uid, u) in usage {
        writeln!(out, "{} {} running {} pending {:.1} cpu hours", column(&users.uid_to_string(uid), 10), u.running, u.pending, u.cpu_hours).unwrap();
    }
}

/// When each waiting job would start, by priority, if all jobs took as long as their partition lets them.
fn plan_starts(jobs: &[Job], total: usize) -> Vec<(u64, u64)> {
    let mut free_at: Vec<(u64, usize)> = (0..total).map(|node| (0, node)).collect();
    for job in jobs {
        for node in job::expand_nodes(&job.node_list) {
            if let Some(slot) = free_at.get_mut(node as usize) {
                slot.0 = slot.0.max(job.time_limit().saturating_sub(job.elapsed));
            }
        }
    }
    let mut waiting: Vec<&Job> = jobs.iter().filter(|j| j.state == job::State::Pending).collect();
    waiting.sort_by_key(|j| (std::cmp::Reverse(j.priority), j.id));
    let mut starts = Vec::new();
    for job in waiting {
        free_at.sort_unstable();
        let wanted = job.nodes as usize;
        let start = free_at[wanted - 1].0;
        for slot in &mut free_at[..wanted] {
            slot.0 = start + job.time_limit();
        }
        starts.push((job.id, start));
    }
    starts
}

fn main() {
    let order = std::env::args().nth(1).unwrap_or_else(|| "u,P,-p,i".to_string());
    let text = std::fs::read_to_string("data/jobs.txt").expect("data/jobs.txt");
    let users = Users::new("data/passwd");
    let mut jobs = Vec::new();
    for (n, line) in text.lines().enumerate() {
        match Job::parse(line) {
            Ok(job) => jobs.push(job),
            Err(e) => eprintln!("line {}: {e}", n + 1),
        }
    }
    sort::sort_jobs(&mut jobs, &order, &users);
    let mut out = String::new();
    print_jobs(&jobs, &users, &mut out);
    print_usage(&jobs, &users, &mut out);
    let load = node_load(&jobs);
    for (node, n) in load.iter().filter(|(_, n)| **n > 12) {
        writeln!(out, "n{node:03} has {n} jobs").unwrap();
    }
    let starts = plan_starts(&jobs, 4000);
    for (id, start) in starts.iter().take(20) {
        writeln!(out, "{id} starts in {}", elapsed(*start)).unwrap();
    }
    let last = starts.iter().map(|s| s.1).max().unwrap_or(0);
    writeln!(out, "{} jobs, {} wait, the last for {}", jobs.len(), starts.len(), elapsed(last)).unwrap();
    print!("{out}");
}
