//! A thread that is traced: the call that it is in, its window, and what it has run.

use super::cut_short;
use super::sampled::Spared;
use super::windows::View;
use crate::tracer::ptrace::call::{Entry, Inside};
use crate::tracer::ptrace::facts::{self, Ran};
use std::fs::File;

/// See the file's head.
pub(super) struct Tracee {
    pub pid: u32,
    pub inside: Inside,
    /// The call that it goes on with when it makes the one to go on.
    pub restarts: Option<u32>,
    /// A call that a signal has interrupted, as those do that the program ignores, where it is traced; the kernel makes it again.
    pub interrupted: Option<Box<Entry>>,
    /// How often it had been given a CPU when it was looked at last, and since when that is so: it has slept since then, or stood in line.
    pub idle: (u64, u64),
    /// It has slept since then in the call that it was stopped in for a window.
    pub asleep_since: Option<u64>,
    /// What is left of a call that we cut short.
    pub rest: Option<cut_short::Rest>,
    pub view: View,
    pub account: Option<File>,
    /// Its exit was reported.
    pub exited: bool,
    /// When it was first seen.
    pub since: u64,
    pub calls: u32,
    /// It is to stop for a sample.
    pub to_sample: bool,
    /// … and since it was asked to it has not left a call.
    pub may_be_cut: bool,
    pub spared: Spared,
    /// How long it had stood in line for a CPU in all when it was asked to stop for a sample, ns.
    pub delay_ns: u64,
    /// CPU time that its samples stand for so far, ns.
    pub sampled_ns: u64,
    /// When it was let go on to stop again at once, and what it had run by then.
    pub probe: Option<(u64, Ran)>,
    /// What it had run when it was let go at its last stop, if its calls stop it; and at this one.
    pub left: Option<Ran>,
    here: Option<Ran>,
}

impl Tracee {
    /// `alone_ns`: what a leg without work took last, of any thread.
    pub(super) fn new(tid: u32, pid: u32, since: u64, alone_ns: u64) -> Tracee {
        let account = facts::account(tid);
        Tracee {
            pid,
            inside: Inside::Nothing,
            restarts: None,
            interrupted: None,
            idle: (0, since),
            asleep_since: None,
            rest: None,
            view: View::new(since, alone_ns),
            account,
            exited: false,
            since,
            calls: 0,
            to_sample: false,
            may_be_cut: false,
            spared: Spared::default(),
            delay_ns: 0,
            sampled_ns: 0,
            probe: None,
            left: None,
            here: None,
        }
    }

    /// What it has run by now. It must be stopped, and off its CPU: the kernel waits for that before it tells its registers.
    fn ran(&mut self) -> Option<Ran> {
        if self.here.is_none() {
            self.here = self.account.as_ref().and_then(facts::ran);
        }
        self.here
    }

    /// What it ran since it was let go at its last stop, if its calls stopped it, ns.
    pub(super) fn leg(&mut self) -> Option<u64> {
        let before = self.left?;
        let after = self.ran()?;
        self.left = None;
        Some(after.cpu_ns.saturating_sub(before.cpu_ns))
    }

    /// It is let go.
    pub(super) fn leave(&mut self) {
        self.left = if self.view.traced { self.ran() } else { None };
        self.here = None;
    }
}
