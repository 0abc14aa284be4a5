//! A recording with the indexes that causes share: which functions are on which stack, and what each sample weighs.

use crate::calls::is_met;
use crate::causes::runtime;
use crate::causes::words::base_name;
use crate::findings::{Basis, Concerned, Frame, Place};
use crate::scripts;
use slowpath_recording::about::Counter;
use slowpath_recording::tables::{Sample, Syscall};
use slowpath_recording::{Recording, Tables};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// See the file's head. Functions are numbers of the recording's `functions` table.
pub struct Evidence<'a> {
    /// The recording.
    pub recording: &'a Recording,
    /// Weight of each sample, ns of CPU time, in the order of the `samples` table.
    pub weights: Vec<f64>,
    /// CPU time of the whole run without what recording took, ns.
    pub cpu_ns: f64,
    /// Elapsed time of the whole run without what recording took of it, ns.
    pub elapsed_ns: f64,
    /// System calls were traced by ptrace: only some of them, and their times are estimates.
    pub by_ptrace: bool,
    /// What tracing a call took by ptrace, elapsed ns; 0 otherwise.
    pub tracing_a_call: f64,
    /// … and of a thread that it began, executed a program and ended.
    pub tracing_a_thread: f64,
    /// For each location the real function it is in, not those inlined there.
    real: Vec<Option<u32>>,
    /// Names of the programs that ran, without their folders.
    programs: HashSet<&'a str>,
    /// Scripts by the file names of the interpreters that ran them.
    scripts: HashMap<&'a str, String>,
    /// Numbers of files by path.
    files: HashMap<&'a str, Vec<u32>>,
    /// See [`Evidence::occupied_ns`]: asked for by many candidates.
    occupied: OnceCell<Option<f64>>,
}

/// Least share of the elapsed time for which a thread is known to be on a CPU or blocked. What is less is no busy machine, but waits that are not in the table of system calls: for pages
/// from a disk, or of a call that had not returned when recording ended.
const OCCUPIED: f64 = 1.0 / 3.0;

impl<'a> Evidence<'a> {
    /// Indexes a recording whose symbols were resolved.
    pub fn new(recording: &'a Recording) -> Evidence<'a> {
        let tables = &recording.tables;
        let weights: Vec<f64> = tables.samples.iter().map(|sample| recording.weight_ns(sample)).collect();
        let real = (0..tables.locations.len() as u32)
            .map(|location| recording.frames_of(location).last().map(|frame| frame.function))
            .collect();
        let sampled: f64 = weights.iter().sum();
        let about = &recording.about;
        let cpu_ns =
            sampled.max((about.user_ns.saturating_add(about.sys_ns)).saturating_sub(about.tracing_ns) as f64);
        let by_ptrace = about.by_ptrace();
        // The kernel's tracer runs in the threads themselves, in their CPU time.
        let stopped =
            if by_ptrace { about.tracing_wall_ns as f64 } else { about.tracing_ns as f64 + stood(tables) };
        let (tracing_a_call, tracing_a_thread) = if by_ptrace { tracing(recording) } else { (0.0, 0.0) };
        let programs = tables.processes.iter().map(|process| base_name(&process.program)).collect();
        let mut files: HashMap<&str, Vec<u32>> = HashMap::new();
        for file in &tables.files {
            files.entry(&file.path).or_default().push(file.file);
        }
        Evidence {
            recording,
            weights,
            cpu_ns,
            elapsed_ns: elapsed(about.wall_ns as f64, stopped, cpu_ns),
            by_ptrace,
            tracing_a_call,
            tracing_a_thread,
            real,
            programs,
            scripts: scripts::by_interpreter(&tables.processes),
            files,
            occupied: OnceCell::new(),
        }
    }

    /// The run's total of a basis: ns, or instructions.
    pub fn total(&self, basis: Basis) -> u64 {
        match basis {
            Basis::Cpu => self.cpu_ns as u64,
            Basis::Wall => self.elapsed_ns as u64,
            Basis::Instructions => self.recording.about.instructions.unwrap_or(0),
        }
    }

    /// For how long the thread that did so longest was on a CPU or blocked, ns: elapsed time without what it waited for a CPU, on a busy machine. None where
    /// that is not known: not all system calls were traced, several runs were joined, or too much is missing.
    pub(crate) fn occupied_ns(&self) -> Option<f64> {
        *self.occupied.get_or_init(|| self.occupied_by_threads())
    }

    fn occupied_by_threads(&self) -> Option<f64> {
        let tables = &self.recording.tables;
        let about = &self.recording.about;
        if !self.knows_blocked() || about.runs > 1 || about.attached || self.recording.cut_short() {
            return None;
        }
        let mut threads = vec![0.0; tables.threads.len()];
        for (sample, ns) in tables.samples.iter().zip(&self.weights).filter(|(sample, _)| sample.on_cpu) {
            threads[sample.thread as usize] += ns;
        }
        for row in &tables.syscalls {
            threads[row.thread as usize] += row.blocked_ns as f64;
        }
        let (most, wall) = (threads.into_iter().fold(0.0, f64::max), about.wall_ns as f64);
        (most >= OCCUPIED * wall).then_some(most.min(wall))
    }

    /// For how long a thread that was on a CPU for `cpu_ns` was so, or blocked in system calls, between two moments, ns. None as for [`Evidence::occupied_ns`].
    pub(crate) fn occupied_between(&self, thread: u32, cpu_ns: f64, from_ns: u64, to_ns: u64) -> Option<f64> {
        let part = |row: &Syscall| {
            let (begin, end) = (row.time_ns.max(from_ns), row.end_ns.min(to_ns));
            let whole = row.end_ns.saturating_sub(row.time_ns).max(1) as f64;
            row.blocked_ns as f64 * (end.saturating_sub(begin) as f64 / whole).min(1.0)
        };
        let rows = self.recording.tables.syscalls.iter().filter(|row| row.thread == thread);
        let elapsed = to_ns.saturating_sub(from_ns) as f64;
        let occupied = cpu_ns + self.knows_blocked().then(|| rows.map(part).sum::<f64>())?;
        (occupied >= OCCUPIED * elapsed).then_some(occupied.min(elapsed))
    }

    /// All system calls were traced.
    fn knows_blocked(&self) -> bool {
        self.recording.about.tracer.is_some() && !self.by_ptrace
    }

    /// Whether a module's file name is that of a program that ran.
    pub fn is_program(&self, module: &str) -> bool {
        self.programs.contains(module)
    }

    /// Files by their paths.
    pub fn concerned(&self, paths: impl IntoIterator<Item = String>) -> Vec<Concerned> {
        let ids = |path: &str| self.files.get(path).cloned().unwrap_or_default();
        paths.into_iter().map(|path| Concerned { ids: ids(&path), path }).collect()
    }

    /// A process as a whole, in place of a function where no stack is known.
    pub fn whole_process(&self, process: u32) -> Frame {
        let program = base_name(&self.recording.tables.processes[process as usize].program).to_owned();
        Frame { function_id: None, function: program.clone(), module: program, file: None, line: None }
    }

    /// The place of `function` on a stack: the innermost frame of it, or inlined there, of which `is_own` is true. Without a stack the process.
    pub(crate) fn place(
        &self,
        stack: Option<u32>,
        function: u32,
        process: u32,
        is_own: impl Fn(&Frame) -> bool,
    ) -> Place {
        let mut path = stack.map_or_else(Vec::new, |stack| self.path_at(stack, function));
        path.truncate(path.iter().rposition(is_own).map_or(0, |last| last + 1));
        Place::at_end_of(path, || self.whole_process(process))
    }

    /// In place of a path through an interpreter the script that it runs, if there is but one.
    pub(crate) fn script_on(&self, path: &[Frame]) -> Option<Frame> {
        let of = |frame: &Frame| Some((frame.clone(), scripts::at(&self.scripts, &frame.module)?));
        let (frame, script) = path.iter().find_map(of)?;
        Some(Frame { function_id: None, function: script.clone(), file: None, line: None, ..frame })
    }

    /// The real function that a location is in.
    pub fn function_at(&self, location: u32) -> Option<u32> {
        self.real.get(location as usize).copied().flatten()
    }

    /// For each stack whether a frame of it satisfies `is`, given the real function of the frame.
    pub fn stacks_with(&self, is: impl Fn(u32) -> bool) -> Vec<bool> {
        let stacks = &self.recording.tables.stacks;
        let mut with: Vec<bool> = Vec::with_capacity(stacks.len());
        for stack in stacks {
            let above = stack.parent.is_some_and(|parent| with[parent as usize]);
            with.push(above || self.function_at(stack.location).is_some_and(&is));
        }
        with
    }

    /// CPU time of the samples on some of the stacks, ns.
    pub fn time_where(&self, on: impl Fn(usize) -> bool) -> f64 {
        let samples = self.recording.tables.samples.iter().zip(&self.weights);
        let on = |stack: Option<u32>| stack.is_some_and(|stack| on(stack as usize));
        samples.filter(|(sample, _)| on(sample.stack)).map(|(_, weight)| weight).sum()
    }

    /// CPU time by thread, ns: what the kernel reported, else what was sampled.
    pub fn cpu_of_threads(&self) -> BTreeMap<u32, f64> {
        let tables = &self.recording.tables;
        let mut sampled: HashMap<u32, f64> = HashMap::new();
        for (sample, weight) in tables.samples.iter().zip(&self.weights) {
            *sampled.entry(sample.thread).or_default() += weight;
        }
        let threads = tables.threads.iter();
        threads
            .map(|thread| {
                let sampled = sampled.get(&thread.thread).copied().unwrap_or_default();
                (thread.thread, thread.cpu_ns.map_or(sampled, |ns| ns as f64))
            })
            .collect()
    }

    /// Whether samples are of user code alone, and system calls are known at least in windows.
    pub(crate) fn is_kernel_unseen(&self) -> bool {
        // Breakpoints are set where samples are by perf.
        let by_perf = self.recording.about.counter == Some(Counter::Breakpoints);
        let in_samples = self.recording.tables.locations.iter().any(|location| location.kind == "kernel");
        self.by_ptrace && by_perf && !in_samples
    }

    /// The part of a process's CPU time that recording took, ns.
    pub(crate) fn recorded_ns(&self, process: u32) -> f64 {
        let of = &self.recording.tables.processes[process as usize];
        of.tracing_ns as f64 * of.sample_scale
    }

    /// The process of a sample.
    pub fn process_of(&self, sample: &Sample) -> u32 {
        self.recording.tables.threads[sample.thread as usize].process
    }

    /// The name of a function.
    pub fn name(&self, function: u32) -> &str {
        &self.recording.tables.functions[function as usize].name
    }

    /// The file name of a function's module, empty for none.
    pub fn module(&self, function: u32) -> String {
        let module = self.recording.tables.functions[function as usize].module;
        let path = module.map_or("", |module| &self.recording.tables.modules[module as usize].path);
        Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Locations of a stack, innermost first.
    pub fn locations(&self, stack: u32) -> impl Iterator<Item = u32> + '_ {
        let stacks = &self.recording.tables.stacks;
        let mut at = Some(stack);
        std::iter::from_fn(move || {
            let node = &stacks[at? as usize];
            at = node.parent;
            Some(node.location)
        })
    }

    /// A function as a frame, at its first line.
    pub fn frame(&self, function: u32) -> Frame {
        let row = &self.recording.tables.functions[function as usize];
        Frame {
            function_id: Some(function),
            function: row.name.clone(),
            module: self.module(function),
            file: row.file.clone(),
            line: row.line,
        }
    }

    /// The call path of a stack down to the innermost frame of `function`, outermost first, each frame at the line of its
    /// call, inlined frames included.
    pub fn path_to(&self, stack: u32, function: u32) -> Vec<Frame> {
        let locations: Vec<u32> = self.locations(stack).collect();
        let inner =
            locations.iter().position(|location| self.function_at(*location) == Some(function)).unwrap_or(0);
        let mut path = Vec::new();
        for (at, location) in locations.iter().enumerate().skip(inner).rev() {
            for frame in self.recording.frames_of(*location).iter().rev() {
                let own = at == inner;
                let mut shown = self.frame(frame.function);
                if own && frame.function == function {
                    path.push(shown); // the guilty function itself, at its first line
                    return path;
                }
                shown.file = frame.file.clone();
                shown.line = frame.line;
                path.push(shown);
            }
        }
        path
    }

    /// The call path of a stack down to the innermost function of the program itself that is `function`, was inlined into it there, or called
    /// it; and the frame that follows, the runtime's that does the work. What a runtime calls back, to compare, is no such function.
    pub fn path_to_own(&self, stack: u32, function: u32) -> (Vec<Frame>, Option<Frame>) {
        let mut path = self.path_at(stack, function);
        let host = self.locations(stack).find(|at| self.function_at(*at) == Some(function));
        let inlined = host.map_or(1, |location| self.recording.frames_of(location).len()).max(1);
        let first = path.len().saturating_sub(inlined);
        let behind = path[first..].iter().position(runtime::is_name).map_or(path.len(), |at| first + at);
        let own = path[..behind].iter().rposition(|frame| !runtime::is_name(frame));
        let end = own.map_or(path.len(), |own| own + 1);
        let follows = path.get(end).cloned();
        path.truncate(end);
        (path, follows)
    }

    /// The call path of a stack down to the innermost frame of `function`, outermost first, each frame at the line of its
    /// call, the last one as well.
    pub fn path_at(&self, stack: u32, function: u32) -> Vec<Frame> {
        let locations: Vec<u32> = self.locations(stack).collect();
        let inner =
            locations.iter().position(|location| self.function_at(*location) == Some(function)).unwrap_or(0);
        let frames = locations[inner..]
            .iter()
            .rev()
            .flat_map(|location| self.recording.frames_of(*location).iter().rev());
        frames
            .map(|frame| Frame { file: frame.file.clone(), line: frame.line, ..self.frame(frame.function) })
            .collect()
    }
}

/// How long threads stood for looks ahead that no other thread of their process goes on beside, ns.
fn stood(tables: &Tables) -> f64 {
    let process_of = |thread: u32| tables.threads[thread as usize].process;
    let mut threads: HashMap<u32, usize> = HashMap::new();
    tables.threads.iter().for_each(|thread| *threads.entry(thread.process).or_default() += 1);
    let alone =
        tables.stretches.iter().filter(|stretch| threads.get(&process_of(stretch.thread)) == Some(&1));
    alone.map(|stretch| stretch.stopped_ns as f64).sum()
}

/// What tracing by ptrace took of a call, and of a thread for beginning, executing a program and ending, elapsed ns. A row is a call that was
/// traced, whatever it stands for, if it was not met by chance.
fn tracing(recording: &Recording) -> (f64, f64) {
    let (about, tables) = (&recording.about, &recording.tables);
    let traced = tables.syscalls.iter().filter(|row| !is_met(row)).count();
    let (calls, threads) = (traced as f64, tables.threads.len() as f64);
    let whole = about.tracing_wall_ns.saturating_sub(about.tracing_samples_ns) as f64;
    match about.tracing_calls_ns.map(|ns| ns as f64) {
        Some(of_calls) => (of_calls / calls.max(1.0), (whole - of_calls).max(0.0) / threads.max(1.0)),
        // Each thread as one more call.
        None => (whole / (calls + threads).max(1.0), whole / (calls + threads).max(1.0)),
    }
}

/// No run took more than four times as long for being traced: processes that start others all the time took twice as long. Of threads that sleep side by side the sum says more.
const LEAST_OF_WALL: f64 = 0.25;

/// Elapsed time of the run without what tracing took of it, ns. That is known of all threads together: where several run at a time, they
/// were also held up at a time.
fn elapsed(wall: f64, tracing: f64, cpu_ns: f64) -> f64 {
    let at_a_time = ((cpu_ns + tracing) / wall.max(1.0)).max(1.0);
    (wall - tracing / at_a_time).max(LEAST_OF_WALL * wall)
}

/// The stack (or function) with most of the time.
pub(crate) fn heaviest<'a>(times: impl IntoIterator<Item = (&'a u32, &'a f64)>) -> Option<u32> {
    times.into_iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::elapsed;

    #[test]
    fn threads_that_run_at_a_time_are_stopped_at_a_time() {
        assert!((elapsed(10.0, 3.0, 2.0) - 7.0).abs() < 1e-9, "one after the other");
        assert!((elapsed(10.0, 3.0, 17.0) - 8.5).abs() < 1e-9, "two at a time");
        assert!(elapsed(10.0, 0.0, 17.0) == 10.0 && elapsed(0.0, 3.0, 0.0) == 0.0);
        assert!((elapsed(10.0, 30.0, 0.5) - 2.5).abs() < 1e-9, "asleep side by side: a quarter is left");
    }
}
