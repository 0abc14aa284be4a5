//! Makes tables from outside safe to walk and to add up. A recording may be cut short, damaged or made by hand; behind this
//! nobody needs to check its numbers again:
//!
//! - every number that refers to a row of a table refers to one that is there: a row without what it needs is dropped, what is
//!   optional becomes none;
//! - parents stand before their children, and no path is longer than [`DEEPEST`] frames;
//! - moments lie in order: what ends does so when it began, or later. None lies beyond [`LAST_MOMENT`], so that two of them, or
//!   ten times one, can be added;
//! - what can be added up (times, counts, bytes) can be so over all rows of its table;
//! - scales and shares are finite numbers that are not negative.

use crate::About;
use crate::writer::Tables;
use std::collections::HashMap;

/// Moments and durations beyond this are damage: 18 years since the machine was started, ns.
const LAST_MOMENT: u64 = 1 << 59;
/// A column of amounts adds up to no more than this.
const LARGEST_SUM: u64 = 1 << 62;
/// Frames of a stack, inlined ones included: further out ones are cut off. The recorder keeps 1,024 and those of the kernel.
const DEEPEST: u32 = 4_096;
/// Frames of one location, so many functions inlined into each other.
const MOST_INLINED: usize = 512;
/// Slices of a process. The recorder joins them before there are more than 256.
const MOST_SLICES: u32 = 1_024;
/// A process's samples are scaled by this at most: one sample then stands for as long as a billion.
const LARGEST_SCALE: f64 = 1e9;
/// Names of functions and paths of sources longer than this are cut, bytes: a path of 4,096 frames may repeat one.
const LONGEST_NAME: usize = 32 << 10;

/// Makes the tables whole, and says how many rows were dropped, or lost a part, because what they point to is missing or what they
/// say cannot be. Rows that were replaced by later ones with the same number are none of these.
pub(crate) fn make_whole(about: &mut About, tables: &mut Tables) -> u64 {
    let before = tables.rows();
    let replaced = number_rows(tables);
    let mut odd = Odd(0);
    bound_about(about);
    refer(tables);
    bound_times(tables, &mut odd);
    bound_amounts(tables, &mut odd);
    bound_shapes(tables, &mut odd);
    sort(tables);
    (before - replaced - tables.rows()) as u64 + odd.0
}

/// Counts what was changed.
struct Odd(u64);

impl Odd {
    /// `value` made into what `to` gives for it.
    fn set<T: PartialEq>(&mut self, value: &mut T, to: T) {
        if *value != to {
            *value = to;
            self.0 += 1;
        }
    }

    fn moment(&mut self, ns: &mut u64) {
        self.set(ns, (*ns).min(LAST_MOMENT));
    }

    /// Two moments of which the second is not before the first.
    fn stretch(&mut self, start: &mut u64, end: &mut u64) {
        self.moment(start);
        self.moment(end);
        *end = (*end).max(*start);
    }

    /// Values that may be added up: the first that do not fit, and what comes behind them and does not either, become 0.
    fn amounts<'a>(&mut self, values: impl Iterator<Item = &'a mut u64>) {
        let mut left = LARGEST_SUM;
        for value in values {
            match left.checked_sub(*value) {
                Some(rest) => left = rest,
                None => self.set(value, 0),
            }
        }
    }
}

impl Odd {
    /// Stretches whose lengths may be added up: those that do not fit end when they began.
    fn stretches<'a>(&mut self, stretches: impl Iterator<Item = (u64, &'a mut u64)>) {
        let mut left = LARGEST_SUM;
        for (start, end) in stretches {
            match left.checked_sub(*end - start) {
                Some(rest) => left = rest,
                None => self.set(end, start),
            }
        }
    }
}

fn bound_about(about: &mut About) {
    about.start_ns = about.start_ns.min(LAST_MOMENT);
    for ns in [
        &mut about.wall_ns,
        &mut about.user_ns,
        &mut about.sys_ns,
        &mut about.tracing_ns,
        &mut about.tracing_wall_ns,
    ] {
        *ns = (*ns).min(LAST_MOMENT);
    }
    about.tracing_calls_ns = about.tracing_calls_ns.map(|ns| ns.min(LAST_MOMENT));
    about.tracing_samples_ns = about.tracing_samples_ns.min(LAST_MOMENT);
    about.instructions = about.instructions.map(|instructions| instructions.min(LARGEST_SUM));
    let share = about.sampled_share;
    about.sampled_share = if share.is_finite() { share.max(0.0) } else { 0.0 };
    let share = about.traced_share;
    about.traced_share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 };
}

/// Puts rows with a number of their own in its order, one each. Returns how many were replaced.
fn number_rows(tables: &mut Tables) -> usize {
    let replaced = last_of_each(&mut tables.processes, |row| row.process)
        + last_of_each(&mut tables.threads, |row| row.thread)
        + last_of_each(&mut tables.files, |row| row.file);
    last_of_each(&mut tables.modules, |row| row.module);
    last_of_each(&mut tables.locations, |row| row.location);
    last_of_each(&mut tables.functions, |row| row.function);
    last_of_each(&mut tables.probes, |row| row.probe);
    last_of_each(&mut tables.loops, |row| row.loop_number);
    last_of_each(&mut tables.walks, |row| row.walk);
    tables.stacks.sort_by_key(|row| row.stack);
    replaced
}

/// Drops or mends what refers to rows that are not there. Tables that others refer to come first, in the order in which they refer
/// to each other.
fn refer(tables: &mut Tables) {
    fn within(rows: u32) -> impl Fn(&u32) -> bool + Copy {
        move |number| *number < rows
    }
    fn length<R>(rows: &[R]) -> u32 {
        u32::try_from(rows.len()).unwrap_or(u32::MAX)
    }
    let module = within(length(&tables.modules));
    let process = within(length(&tables.processes));
    let location = within(length(&tables.locations));
    let function = within(length(&tables.functions));
    let file = within(length(&tables.files));
    for row in &mut tables.processes {
        row.parent = row.parent.filter(|parent| *parent < row.process);
    }
    for row in &mut tables.locations {
        row.module = row.module.filter(module);
    }
    for row in &mut tables.functions {
        row.module = row.module.filter(module);
    }
    let mut stacks: u32 = 0;
    tables.stacks.retain(|row| {
        let whole = row.stack == stacks
            && location(&row.location)
            && row.parent.is_none_or(|parent| parent < row.stack);
        stacks += u32::from(whole);
        whole
    });
    let stack = within(stacks);
    truncate_at(&mut tables.threads, |row| process(&row.process));
    let thread = within(length(&tables.threads));
    truncate_at(&mut tables.probes, |row| process(&row.process) && location(&row.location));
    let probe = within(length(&tables.probes));
    truncate_at(&mut tables.loops, |row| {
        location(&row.location) && row.parent.is_none_or(|parent| parent < row.loop_number)
    });
    tables.bodies.retain(|row| location(&row.location));
    let one_loop = within(length(&tables.loops));
    truncate_at(&mut tables.walks, |row| {
        process(&row.process) && location(&row.location) && row.loop_number.as_ref().is_none_or(one_loop)
    });
    let walk = within(length(&tables.walks));
    tables.walk_bursts.retain(|row| walk(&row.walk));
    tables.beginnings.retain(|row| {
        let ends = row.addresses.len();
        walk(&row.walk)
            && row.thread.as_ref().is_none_or(thread)
            && ends == row.contents.len()
            && ends <= MOST_POINTERS
    });
    truncate_at(&mut tables.stretches, |row| thread(&row.thread));
    let stretch = within(length(&tables.stretches));
    tables.repeats.retain(|row| stretch(&row.stretch) && location(&row.location));
    for row in &mut tables.repeats {
        row.caller = row.caller.filter(location);
    }
    tables.formatted.retain(|row| stretch(&row.stretch) && location(&row.location));
    tables.copied.retain(|row| stretch(&row.stretch) && location(&row.location));
    for row in &mut tables.copied {
        row.caller = row.caller.filter(location);
    }
    tables.mappings.retain(|row| process(&row.process) && module(&row.module));
    tables.frames.retain(|row| location(&row.location) && function(&row.function));
    tables.builds.retain(|row| function(&row.function));
    tables.samples.retain(|row| thread(&row.thread) && row.stack.as_ref().is_none_or(stack));
    tables.windows.retain(|row| probe(&row.probe));
    tables.calls.retain(|row| {
        probe(&row.probe) && row.thread.as_ref().is_none_or(thread) && row.under.as_ref().is_none_or(probe)
    });
    tables.syscalls.retain(|row| thread(&row.thread) && row.file.as_ref().is_none_or(file));
    for row in &mut tables.syscalls {
        row.stack = row.stack.filter(stack);
    }
    tables.waits.retain(|row| thread(&row.thread) && row.file.as_ref().is_none_or(file));
    for row in &mut tables.waits {
        row.stack = row.stack.filter(stack);
        row.waker = row.waker.filter(thread);
        row.waker_stack = row.waker_stack.filter(stack);
    }
    tables.park_windows.retain(|row| process(&row.process));
    tables.parks.retain(|row| process(&row.process));
    for row in &mut tables.parks {
        row.stack = row.stack.filter(stack);
        row.waker_stack = row.waker_stack.filter(stack);
    }
    let in_time = |slice: u32| slice < MOST_SLICES;
    tables.slices.retain(|row| process(&row.process) && function(&row.function) && in_time(row.slice));
    tables.slice_calls.retain(|row| {
        process(&row.process) && function(&row.caller) && function(&row.callee) && in_time(row.slice)
    });
}

/// Pointers of a walk: each has a bit.
const MOST_POINTERS: usize = 64;

fn bound_times(tables: &mut Tables, odd: &mut Odd) {
    for row in &mut tables.processes {
        odd.moment(&mut row.start_ns);
        let start = row.start_ns;
        for moment in [&mut row.exec_ns, &mut row.end_ns].into_iter().flatten() {
            odd.moment(moment);
            *moment = (*moment).max(start);
        }
    }
    for row in &mut tables.threads {
        odd.moment(&mut row.start_ns);
        if let Some(end) = &mut row.end_ns {
            odd.moment(end);
            *end = (*end).max(row.start_ns);
        }
    }
    tables.mappings.iter_mut().for_each(|row| odd.moment(&mut row.time_ns));
    tables.samples.iter_mut().for_each(|row| odd.moment(&mut row.time_ns));
    tables.windows.iter_mut().for_each(|row| odd.stretch(&mut row.start_ns, &mut row.end_ns));
    tables.walk_bursts.iter_mut().for_each(|row| odd.stretch(&mut row.start_ns, &mut row.end_ns));
    tables.beginnings.iter_mut().for_each(|row| odd.moment(&mut row.time_ns));
    tables.stretches.iter_mut().for_each(|row| odd.moment(&mut row.time_ns));
    tables.calls.iter_mut().for_each(|row| odd.moment(&mut row.time_ns));
    tables.syscalls.iter_mut().for_each(|row| odd.stretch(&mut row.time_ns, &mut row.end_ns));
    for row in &mut tables.waits {
        odd.moment(&mut row.time_ns);
        odd.moment(&mut row.duration_ns);
    }
    tables.parks.iter_mut().for_each(|row| odd.stretch(&mut row.time_ns, &mut row.end_ns));
    tables.park_windows.iter_mut().for_each(|row| odd.stretch(&mut row.start_ns, &mut row.end_ns));
}

fn bound_amounts(tables: &mut Tables, odd: &mut Odd) {
    macro_rules! amounts {
        ($($table:ident: $($column:ident)*;)*) => {
            $($(odd.amounts(tables.$table.iter_mut().map(|row| &mut row.$column));)*)*
        };
    }
    amounts! {
        processes: tracing_ns;
        samples: weight_ns;
        windows: hits;
        walk_bursts: entries;
        beginnings: length;
        stretches: instructions stopped_ns;
        formatted: formatted read unread;
        copied: calls dropped unchanged;
        repeats: calls again instructions all_instructions span nested different;
        syscalls: count duration_ns blocked_ns bytes;
        waits: duration_ns;
        slices: calls self_instructions instructions;
        slice_calls: calls instructions;
    }
    // Stretches are added up as well.
    odd.stretches(tables.syscalls.iter_mut().map(|row| (row.time_ns, &mut row.end_ns)));
    odd.stretches(tables.parks.iter_mut().map(|row| (row.time_ns, &mut row.end_ns)));
    odd.stretches(tables.park_windows.iter_mut().map(|row| (row.start_ns, &mut row.end_ns)));
    odd.amounts(tables.walk_bursts.iter_mut().filter_map(|row| row.rounds.as_mut()));
    odd.amounts(tables.formatted.iter_mut().filter_map(|row| row.bytes.as_mut()));
    odd.amounts(tables.processes.iter_mut().filter_map(|row| row.cpu_ns.as_mut()));
    odd.amounts(tables.processes.iter_mut().filter_map(|row| row.user_ns.as_mut()));
    odd.amounts(tables.threads.iter_mut().filter_map(|row| row.cpu_ns.as_mut()));
    for row in &mut tables.processes {
        let scale = row.sample_scale;
        if !(0.0..=LARGEST_SCALE).contains(&scale) {
            row.sample_scale = 1.0;
            odd.0 += 1;
        }
    }
}

fn bound_shapes(tables: &mut Tables, odd: &mut Odd) {
    tables.frames.sort_by_key(|row| (row.location, row.depth));
    let mut frames: HashMap<u32, u32> = HashMap::new();
    tables.frames.retain(|row| {
        let count = frames.entry(row.location).or_default();
        *count += 1;
        *count as usize <= MOST_INLINED
    });
    let mut depths: Vec<u32> = Vec::with_capacity(tables.stacks.len());
    for row in &mut tables.stacks {
        let own = frames.get(&row.location).map_or(1, |count| (*count).min(MOST_INLINED as u32));
        let outer = row.parent.and_then(|parent| depths.get(parent as usize)).copied().unwrap_or(0);
        let depth = outer + own;
        if depth > DEEPEST {
            odd.set(&mut row.parent, None);
        }
        depths.push(if row.parent.is_some() { depth } else { own });
    }
    for text in tables
        .functions
        .iter_mut()
        .flat_map(|row| [Some(&mut row.name), row.file.as_mut()])
        .chain(tables.frames.iter_mut().map(|row| row.file.as_mut()))
        .flatten()
    {
        if text.len() > LONGEST_NAME {
            let end = (0..=LONGEST_NAME).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or(0));
            odd.0 += 1;
        }
    }
}

fn sort(tables: &mut Tables) {
    tables.slices.sort_by_key(|row| (row.process, row.slice));
    tables.slice_calls.sort_by_key(|row| (row.process, row.slice));
    // In place: of the longest table there is no room for half a second one.
    tables.syscalls.sort_unstable_by_key(|row| (row.time_ns, row.end_ns, row.thread, row.number));
    tables.waits.sort_by_key(|row| row.time_ns);
    tables.parks.sort_by_key(|row| row.time_ns);
    tables.park_windows.sort_by_key(|row| row.start_ns);
    tables.samples.sort_by_key(|row| row.time_ns);
    tables.calls.sort_by_key(|row| row.time_ns);
    tables.walk_bursts.sort_by_key(|row| row.start_ns);
    tables.beginnings.sort_by_key(|row| row.time_ns);
}

/// Keeps the last row of each number, in order of number, up to the first number that is missing. Returns how many
/// rows were replaced by later ones.
fn last_of_each<R>(rows: &mut Vec<R>, number: impl Fn(&R) -> u32) -> usize {
    let before = rows.len();
    // In place: of a long list of processes there is no room for a second one. Rows of one number keep their order.
    rows.reverse();
    rows.sort_by_key(&number);
    rows.dedup_by_key(|row| number(row));
    let replaced = before - rows.len();
    let gap = rows.iter().zip(0u32..).position(|(row, wanted)| number(row) != wanted);
    rows.truncate(gap.unwrap_or(rows.len()));
    rows.shrink_to_fit();
    replaced
}

/// Cuts an indexed table at the first row that is not whole: later numbers would not match their index.
fn truncate_at<R>(rows: &mut Vec<R>, whole: impl Fn(&R) -> bool) {
    if let Some(first) = rows.iter().position(|row| !whole(row)) {
        rows.truncate(first);
    }
}
