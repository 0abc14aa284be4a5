//! When a thread's calls are traced and when it runs undisturbed: the budget, the beginning and end of each window, and how a
//! thread that runs is stopped for the next one.
//!
//! A thread is stopped only where that makes no difference to it: while it runs, or in a call that goes on afterwards. What the stop does to
//! other calls, which it may be in or enter meanwhile, is `cut_short`'s business.

use super::Watch;
use super::legs::Legs;
use super::quiet::Quiet;
use crate::bpf::event::Event;
use crate::clock::now_ns;
use crate::tracer::event::Finished;
use crate::tracer::ptrace::Cost;
use crate::tracer::ptrace::budget::{self, Budget};
use crate::tracer::ptrace::facts::{self, Ran};
use crate::tracer::ptrace::met::Met;
use crate::tracer::ptrace::sys;
use crate::tracer::ptrace::window::{self, LEAST, Own, Window};
use std::sync::atomic::Ordering;

/// Threads that are looked at in a tick.
const LOOKS: usize = 64;
/// CPU time from which on clock ticks say how much of it was in the kernel, ns.
const ENOUGH_TICKS_NS: u64 = 50_000_000;

/// A call that looks up no path takes about such a part of one that does.
const SHORTER: u64 = 2;
/// Clock ticks do not show a smaller share of a gap well.
const LEAST_IN_KERNEL: f64 = 0.05;

/// What is known of a thread in its present window, or since the last one.
#[derive(Default)]
pub(super) struct View {
    /// Its calls stop it.
    pub traced: bool,
    /// It was not seen to stop as yet.
    pub fresh: bool,
    /// It is to stop for a window.
    pub asked: bool,
    /// It seldom calls: what its stops take is reckoned apart.
    pub quiet: Quiet,
    /// It waits among those to be looked at.
    pub queued: bool,
    since: u64,
    ran: Option<Ran>,
    /// What stopping it took since then: elapsed, and its own CPU time, ns.
    took: u64,
    took_cpu: u64,
    /// Its own CPU time that stops, and hits of breakpoints at which it stopped, took since it began, ns.
    all_cpu: u64,
    /// How often it stopped, as far as that has not been reported.
    stops: u64,
    asleep: u64,
    pub calls: u64,
    /// Calls, each with the number of its leg.
    seen: Vec<(Finished, Option<usize>)>,
    pub legs: Legs,
    gap: Own,
    gap_sys: u64,
    /// Reads and writes when the gap began, and in it.
    moves: Option<[u64; 2]>,
    gap_moves: Option<[u64; 2]>,
    /// User and kernel time when the gap began, as clock ticks saw it, ns.
    ticks: (u64, u64),
    /// What was met of it in the gap, and its own CPU time by the last such stop or the end of the window, ns.
    met: Met,
    met_until: u64,
    in_kernel: InKernel,
    /// The window before, as long as it may have to stand for what follows it.
    held: Option<Window>,
    /// Since its calls stop it: when that was, what it took, and how many calls there were and must be.
    opened: u64,
    opened_took: u64,
    opened_calls: u64,
    least: u64,
}

/// What is known of all gaps so far, ns: user and kernel time by clock ticks, and what stops stand for, all of them and those in calls.
///
/// A thread that is asked to stop while it computes may enter a call before it hears of that, and is met in it. Ticks, though they are coarse, say how much there
/// is of calls at most.
#[derive(Debug)]
struct InKernel {
    user: u64,
    sys: u64,
    covered: u64,
    called: u64,
    /// The part of what was met in the last gap that was in calls by the ticks.
    part: f64,
}

impl Default for InKernel {
    fn default() -> InKernel {
        InKernel { user: 0, sys: 0, covered: 0, called: 0, part: 1.0 }
    }
}

impl InKernel {
    /// Adds a gap of which ticks say so much, and takes from what was met in it as much as there is too much in all.
    fn correct(&mut self, (user, sys): (u64, u64), met: &mut Met) {
        let (covered, called) = met.times();
        self.user += user;
        self.sys += sys;
        self.covered += covered;
        self.called += called;
        let ticks = self.user + self.sys;
        if ticks < ENOUGH_TICKS_NS || self.called == 0 {
            return;
        }
        let most = self.sys as f64 / ticks as f64 * self.covered as f64;
        self.part = (most / self.called as f64).min(1.0);
        if self.part < 1.0 {
            met.scale(self.part);
        }
    }
}

impl View {
    /// `alone_ns`: what a leg without work took last, of any thread.
    pub(super) fn new(now: u64, alone_ns: u64) -> View {
        let legs = Legs::new(alone_ns);
        let moves = Some([0, 0]);
        View { fresh: true, since: now, ran: Some(Ran::default()), moves, legs, ..View::default() }
    }

    /// A stop took so much.
    pub(super) fn took(&mut self, wall: u64, cpu: u64) {
        self.took += wall;
        self.took_cpu += cpu;
        self.all_cpu += cpu;
        self.opened_took += wall;
        self.quiet.add(wall);
        self.stops += 1;
    }

    /// CPU time without what stops and hits took.
    pub(super) fn without_stops(&self, ran_ns: u64) -> u64 {
        ran_ns.saturating_sub(self.all_cpu)
    }

    /// It has stopped at a hit of a breakpoint, which took `hit_ns`. What it ran so far, of `ran_ns`, without all such hits and all stops.
    pub(super) fn hit(&mut self, ran_ns: u64, hit_ns: u64) -> u64 {
        self.all_cpu += hit_ns;
        ran_ns.saturating_sub(self.all_cpu)
    }

    /// It was stopped while it ran undisturbed, in a call or not, and had run `ran_ns`. `part`: how likely it was in the call before it was asked to stop.
    pub(super) fn meet(&mut self, call: Option<Finished>, part: f64, ran_ns: u64) {
        let own_ns = self.without_stops(ran_ns);
        self.met.add(call, part, own_ns.saturating_sub(self.met_until));
        self.met_until = self.met_until.max(own_ns);
    }

    /// The part of what is met in calls that is in them, as far as clock ticks have shown.
    pub(super) fn kept_of_calls(&self) -> f64 {
        self.in_kernel.part
    }

    /// Whether it has slept for most of the time since its window or gap began.
    fn sleeps(&self, now: u64, ran: Ran) -> bool {
        let own =
            ran.cpu_ns.saturating_sub(self.ran.unwrap_or_default().cpu_ns).saturating_sub(self.took_cpu);
        Budget::seldom_runs(own, now.saturating_sub(self.since))
    }

    /// It has slept for so long until now: a part of that may have been before the window.
    pub(super) fn slept(&mut self, ns: u64, now: u64) {
        self.asleep += ns.min(now.saturating_sub(self.since));
    }

    /// So much of a sleep was before the window, and belongs to it nevertheless.
    pub(super) fn began_to_sleep_before(&mut self, ns: u64) {
        self.gap.asleep_ns = self.gap.asleep_ns.saturating_sub(ns);
    }

    pub(super) fn called(&mut self) {
        self.calls += 1;
        self.opened_calls += 1;
    }

    pub(super) fn see(&mut self, call: Finished, leg: Option<usize>) {
        self.seen.push((call, leg));
    }

    /// What the thread did itself since `since`.
    fn own(&self, now: u64, ran: Option<Ran>) -> Own {
        let wall = now.saturating_sub(self.since).saturating_sub(self.took);
        match self.ran.zip(ran) {
            Some((before, after)) => {
                let cpu = after.cpu_ns.saturating_sub(before.cpu_ns).saturating_sub(self.took_cpu);
                let delay = after.delay_ns.saturating_sub(before.delay_ns);
                Own { cpu_ns: cpu, asleep_ns: wall.saturating_sub(cpu + delay) }
            }
            // It is gone.
            None if self.ran.is_some() => Own::default(),
            None => Own { cpu_ns: wall.saturating_sub(self.asleep), asleep_ns: 0 },
        }
    }

    /// Starts a window or a gap.
    fn begin(&mut self, now: u64, ran: Option<Ran>) {
        (self.since, self.ran) = (now, ran);
        (self.took, self.took_cpu, self.asleep, self.calls) = (0, 0, 0, 0);
        self.legs = Legs::new(self.legs.last_alone());
    }

    /// User and kernel ticks of a gap, when there are now so many, ns.
    fn ticked(&self, now: (u64, u64)) -> (u64, u64) {
        (now.0.saturating_sub(self.ticks.0), now.1.saturating_sub(self.ticks.1))
    }

    /// How much of a gap was in the kernel at most, when clock ticks are now so many: a few ticks say nothing.
    fn sys(&self, gap: Own, ticks: (u64, u64)) -> u64 {
        let (user, sys) = self.ticked(ticks);
        if user + sys < ENOUGH_TICKS_NS {
            return gap.cpu_ns;
        }
        (gap.cpu_ns as f64 * sys as f64 / (user + sys) as f64) as u64
    }

    /// Reads and writes of a gap, when there are now so many.
    fn moved(&self, now: Option<[u64; 2]>) -> Option<[u64; 2]> {
        let (before, now) = self.moves.zip(now)?;
        Some([now[0].saturating_sub(before[0]), now[1].saturating_sub(before[1])])
    }

    /// What so many calls usually take with what lies between them, ns: such a part of that is in the kernel as of the time before.
    fn usual(&self, bare_ns: u64) -> u64 {
        let lookups = self.seen.iter().filter(|(call, _)| !call.path.is_empty()).count() as u64;
        let in_kernel = lookups * bare_ns + self.calls.saturating_sub(lookups) * bare_ns / SHORTER;
        let share = match self.gap.cpu_ns {
            0 => 1.0,
            gap => (self.gap_sys as f64 / gap as f64).clamp(LEAST_IN_KERNEL, 1.0),
        };
        (in_kernel as f64 / share) as u64
    }

    /// Ends a window.
    fn window(&mut self, now: u64, ran: Option<Ran>, cost: Cost) -> Window {
        let whole = self.legs.whole(cost.entry_ns);
        let cpu_ns = match whole.works.is_empty() {
            true => self.own(now, ran).cpu_ns,
            false => whole.nearest_to(self.usual(cost.bare_ns)),
        };
        // No call takes less than nothing: an overestimate of what tracing took would make few calls stand for very many.
        let cpu_ns = cpu_ns.max(self.calls * (cost.bare_ns / LEAST));
        let work = |leg: Option<usize>| {
            leg.and_then(|leg| whole.works.get(leg)).map_or(0, |work| (*work).max(0) as u64)
        };
        let seen = std::mem::take(&mut self.seen);
        let before = seen.iter().map(|(_, leg)| work(leg.and_then(|leg| self.legs.before(leg)))).collect();
        let calls = seen.into_iter().map(|(mut call, leg)| {
            call.end += work(leg);
            call
        });
        let window = Window {
            own: Own { cpu_ns, asleep_ns: self.asleep },
            gap: std::mem::take(&mut self.gap),
            gap_sys_ns: std::mem::take(&mut self.gap_sys),
            gap_moves: self.gap_moves.take(),
            bare_ns: cost.bare_ns,
            calls: calls.collect(),
            before,
            met: std::mem::take(&mut self.met),
        };
        self.met_until = self.without_stops(ran.map_or(0, |ran| ran.cpu_ns)).max(self.met_until);
        self.begin(now, ran);
        window
    }
}

impl Watch {
    /// What it has run, while it is stopped.
    fn ran(&self, tid: u32) -> Option<Ran> {
        self.threads.get(&tid)?.account.as_ref().and_then(facts::ran)
    }

    /// From now on its calls stop it, `least` of them at least.
    pub(super) fn open(&mut self, tid: u32, least: u64) {
        let (now, ran) = (now_ns(), self.ran(tid));
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let view = &mut thread.view;
        if view.traced {
            return;
        }
        if !std::mem::take(&mut view.fresh) {
            view.gap = view.own(now, ran);
            let ticks = facts::ticks(thread.pid, tid);
            view.gap_sys = view.sys(view.gap, ticks);
            let ticked = view.ticked(ticks);
            view.in_kernel.correct(ticked, &mut view.met);
            view.gap_moves = view.moved(facts::moves(thread.pid, tid));
            self.shared.missed_ns.fetch_add(view.gap.cpu_ns, Ordering::Relaxed);
        }
        view.begin(now, ran);
        (view.traced, view.least) = (true, least);
        (view.opened, view.opened_took, view.opened_calls) = (now, 0, 0);
        view.quiet.begin(now);
        let pid = thread.pid;
        if let Some(process) = self.processes.get_mut(&pid) {
            process.heap_end = 0;
        }
    }

    /// A stop at which a window may be opened: the beginning of a thread or of a program.
    pub(super) fn may_open(&mut self, tid: u32) {
        let over = self.budget.is_over(now_ns());
        match self.threads.get_mut(&tid) {
            Some(_) if !over => self.open(tid, budget::FIRST_CALLS),
            Some(_) => self.begins_undisturbed(tid),
            None => {}
        }
    }

    /// A thread or a program begins without a window.
    pub(super) fn begins_undisturbed(&mut self, tid: u32) {
        if let Some(thread) = self.threads.get_mut(&tid).filter(|thread| !thread.view.traced) {
            thread.view.fresh = false;
            self.queue(tid);
        }
    }

    /// A thread has stopped for no reason of its own: we asked it to, or it begins.
    pub(super) fn arrived(&mut self, tid: u32) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        if std::mem::take(&mut thread.view.asked) {
            self.open(tid, 0);
        } else if thread.view.fresh {
            self.may_open(tid);
        }
    }

    /// A call has returned: whether the window goes on.
    pub(super) fn after_call(&mut self, tid: u32) {
        let (now, over, threads) = (now_ns(), self.budget.is_over(now_ns()), self.threads.len());
        let ran = if over { self.ran(tid) } else { None };
        let Some(view) = self.threads.get_mut(&tid).map(|thread| &mut thread.view) else { return };
        view.quiet.fade(now);
        let full = view.calls >= window::CALLS || now.saturating_sub(view.since) >= window::LENGTH_NS;
        let elapsed = now.saturating_sub(view.opened);
        let sleeps = ran.is_some_and(|ran| view.sleeps(now, ran));
        let close = (over || view.quiet.is())
            && (full || view.calls >= budget::CALLS)
            && view.opened_calls >= view.least
            && !Budget::is_frugal(view.opened_took, elapsed, threads)
            && !view.quiet.goes_on(now, sleeps, &self.budget);
        if close {
            self.close(tid);
        } else if full {
            let (ran, cost) = (self.ran(tid), self.cost);
            let Some(view) = self.threads.get_mut(&tid).map(|thread| &mut thread.view) else { return };
            let window = view.window(now, ran, cost);
            // What is held was counted when its window ended.
            let held = view.held.take();
            held.into_iter().for_each(|held| self.send_counted(tid, held));
            self.send(tid, window);
        }
    }

    /// From now on it runs undisturbed.
    fn close(&mut self, tid: u32) {
        let (now, ran, cost) = (now_ns(), self.ran(tid), self.cost);
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let view = &mut thread.view;
        let window = view.window(now, ran, cost);
        (view.traced, view.ticks) = (false, facts::ticks(thread.pid, tid));
        view.quiet.set(false);
        view.moves = facts::moves(thread.pid, tid);
        self.shared.traced_ns.fetch_add(window.own.cpu_ns, Ordering::Relaxed);
        if let Some(before) = view.held.replace(window) {
            self.send_counted(tid, before);
        }
        self.queue(tid);
    }

    /// The end of a thread or of its program: what was seen and not sent is sent.
    pub(super) fn settle(&mut self, tid: u32) {
        let (now, ran, cost) = (now_ns(), self.ran(tid), self.cost);
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let view = &mut thread.view;
        view.quiet.set(false);
        let held = view.held.take();
        if view.traced {
            let last = view.window(now, ran, cost);
            match held {
                // Few calls say little of what was before.
                Some(mut held) if (last.calls.len() as u64) < budget::CALLS => {
                    self.shared.traced_ns.fetch_add(last.own.cpu_ns, Ordering::Relaxed);
                    held.join(last);
                    self.send_counted(tid, held);
                }
                held => {
                    held.into_iter().for_each(|held| self.send_counted(tid, held));
                    self.send(tid, last);
                }
            }
        } else {
            let after = view.own(now, ran);
            let ticks = facts::ticks(thread.pid, tid);
            let gap_sys_ns = view.sys(after, ticks);
            let ticked = view.ticked(ticks);
            view.in_kernel.correct(ticked, &mut view.met);
            let moves = facts::moves(thread.pid, tid);
            let gap_moves = view.moved(moves);
            // Its program may be another one from here on.
            (view.moves, view.ticks) = (moves, facts::ticks(thread.pid, tid));
            let met = std::mem::take(&mut view.met);
            view.met_until = view.without_stops(ran.map_or(0, |ran| ran.cpu_ns)).max(view.met_until);
            view.begin(now, ran);
            self.shared.missed_ns.fetch_add(after.cpu_ns, Ordering::Relaxed);
            let mut held = held.unwrap_or_default();
            held.join(Window { gap: after, gap_sys_ns, gap_moves, met, ..Window::default() });
            self.send_counted(tid, held);
        }
        self.tell_stops(tid);
    }

    fn send(&mut self, tid: u32, window: Window) {
        self.shared.traced_ns.fetch_add(window.own.cpu_ns, Ordering::Relaxed);
        self.send_counted(tid, window);
    }

    fn send_counted(&mut self, tid: u32, window: Window) {
        let Some(pid) = self.threads.get(&tid).map(|thread| thread.pid) else { return };
        let Some(process) = self.processes.get_mut(&pid) else { return };
        for call in window.scaled(&mut process.files, &mut self.costs) {
            let _ = self.tell.send(Event::Syscall(Box::new(call)));
        }
        self.tell_stops(tid);
    }

    fn tell_stops(&mut self, tid: u32) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        let (pid, stops) = (thread.pid, std::mem::take(&mut thread.view.stops));
        if stops > 0 {
            self.say(Event::Stops { pid, time: now_ns(), stops });
        }
    }

    /// It is looked at, in its turn, whether a window may be opened.
    fn queue(&mut self, tid: u32) {
        if let Some(thread) = self.threads.get_mut(&tid)
            && !std::mem::replace(&mut thread.view.queued, true)
        {
            self.undisturbed.push_back(tid);
        }
    }

    /// Has threads stop for a window, those first that have run undisturbed for longest.
    pub(super) fn look(&mut self) {
        let now = now_ns();
        let mut room = self.budget.windows(now);
        let quiet = self.budget.has_room_for_quiet(now);
        for _ in 0..self.undisturbed.len().min(LOOKS) {
            if room == 0 && !quiet {
                return;
            }
            let Some(tid) = self.undisturbed.pop_front() else { return };
            let Some(thread) = self.threads.get_mut(&tid) else { continue };
            thread.view.queued = false;
            if thread.view.traced || thread.view.asked || thread.exited {
                continue;
            }
            let ran = thread.account.as_ref().and_then(facts::ran);
            if let Some(ran) = ran.filter(|ran| ran.turns != thread.idle.0) {
                thread.idle = (ran.turns, now);
            }
            let view = &thread.view;
            let sleeps = || ran.is_some_and(|ran| view.sleeps(now, ran));
            let may_be_quiet = || quiet && view.quiet.has_rested(now) && sleeps();
            let as_quiet = room == 0;
            if (!as_quiet || may_be_quiet())
                && facts::may_be_stopped(thread.pid, tid)
                && sys::interrupt(tid).is_ok()
            {
                thread.view.asked = true;
                thread.view.quiet.set(as_quiet);
                thread.asleep_since = Some(thread.idle.1).filter(|since| *since < now);
                room -= u64::from(!as_quiet);
            } else {
                self.queue(tid);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn calls_that_were_met_take_no_more_than_clock_ticks_show_in_all() {
        // Half of the stops were in calls; of each gap of 40 ms a tenth was in the kernel.
        let gap = |called: u32, known: &mut InKernel, ticks: (u64, u64)| {
            let mut met = Met::default();
            for stop in 0..10 {
                met.add((stop < called).then(Finished::default), 1.0, 4 * MS);
            }
            known.correct(ticks, &mut met);
            met.times().1 / MS
        };
        let mut known = InKernel::default();
        assert_eq!(gap(5, &mut known, (36 * MS, 4 * MS)), 20, "40 ms of ticks are too few");
        assert_eq!(gap(5, &mut known, (36 * MS, 4 * MS)), 4);
        assert_eq!(gap(1, &mut InKernel::default(), (60 * MS, 60 * MS)), 4, "less is as it was met");
    }
}
