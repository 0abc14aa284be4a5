//! The data of one recording as the page wants it: a head in JSON, then columns; both deflated.
//!
//! Bytes: the head's length (4, little-endian), the head, the columns, whose places are in the head. Numbers are not the
//! recording's: only what some row needs is in it, renumbered in the same order. `page/src/data/` reads it.

use crate::columns::Columns;
use crate::lit::Lit;
use crate::{Options, Side, Sources, counted};
use serde_json::{Value, json};
use slowpath_diagnose::Evidence;
use slowpath_diagnose::causes::is_runtime;
use slowpath_recording::tables::{Frame, Syscall};
use slowpath_recording::{About, Recording};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Write;

/// The data's version: the page that is built with this crate reads it and no other.
const VERSION: u32 = 1;
/// Bits of a function's flags.
const RUNTIME: u8 = 1;
const SYSTEM_CALL: u8 = 2;
const KERNEL: u8 = 4;
/// So many of the source files that were left out for one reason are named.
const LISTED: usize = 20;
/// Finest unit of time in the columns, ns.
const UNIT_NS: u64 = 1_000;

/// The deflated data of a side; `first` of those in the file holds what concerns all of it.
pub(crate) fn bytes(side: &Side<'_>, options: &Options<'_>, first: bool) -> std::io::Result<Vec<u8>> {
    let mut builder = Builder::new(side.recording);
    builder.stacks();
    builder.samples();
    builder.syscalls();
    builder.waits();
    let mut head = builder.head(side);
    if let Some(sources) = side.sources {
        head["sources"] = json!(sources.files);
        head["source"] = sources_told(sources);
    }
    if let Some(comparison) = options.comparison.filter(|_| first) {
        head["comparison"] = json!(comparison);
    }
    let (columns, places) = builder.columns.into_parts();
    head["columns"] = json!(places);
    let head = serde_json::to_vec(&head)?;
    let length = u32::try_from(head.len()).map_err(std::io::Error::other)?;
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(&length.to_le_bytes())?;
    encoder.write_all(&head)?;
    encoder.write_all(&columns)?;
    encoder.finish()
}

/// Where sources were taken from, and which were left out: how many for each reason, and the first of them.
fn sources_told(sources: &Sources) -> Value {
    let left_out = sources.left_out_by_reason().into_iter().map(|(why, paths)| {
        json!({ "why": why.words(), "count": paths.len(), "first": paths.iter().take(LISTED).collect::<Vec<_>>() })
    });
    json!({
        "folders": sources.folders.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    /// Counted from 1; 0 is none.
    fn or_none(&mut self, text: Option<&str>) -> u32 {
        text.filter(|text| !text.is_empty()).map_or(0, |text| self.number(text) + 1)
    }
}

struct Builder<'a> {
    recording: &'a Recording,
    evidence: Evidence<'a>,
    columns: Columns,
    texts: Texts,
    /// Ours of the recording's stacks, and functions.
    stack_of: Vec<Option<u32>>,
    function_of: Vec<Option<u32>>,
    /// Our system calls: (32-bit, number), and the function that stands for each.
    calls: Vec<(bool, u32)>,
    unit_ns: u64,
    span_ns: u64,
}

impl<'a> Builder<'a> {
    fn new(recording: &'a Recording) -> Builder<'a> {
        let tables = &recording.tables;
        let start = recording.about.start_ns;
        let ends = (tables.samples.iter().map(|row| row.time_ns))
            .chain(tables.syscalls.iter().map(|row| row.end_ns))
            .chain(tables.waits.iter().map(|row| row.time_ns.saturating_add(row.duration_ns)))
            .chain(tables.processes.iter().filter_map(|row| row.end_ns));
        let span_ns = ends.max().unwrap_or(start).saturating_sub(start).max(recording.about.wall_ns).max(1);
        let calls: BTreeSet<(bool, u32)> = tables
            .syscalls
            .iter()
            .map(|row| (row.compat, row.number))
            .chain(tables.waits.iter().map(|row| (false, row.number)))
            .collect();
        Builder {
            recording,
            evidence: Evidence::new(recording),
            columns: Columns::default(),
            texts: Texts::default(),
            stack_of: Vec::new(),
            function_of: Vec::new(),
            calls: calls.into_iter().collect(),
            unit_ns: UNIT_NS.max(span_ns / u64::from(u32::MAX) + 1),
            span_ns,
        }
    }

    /// A moment or a duration in the columns' unit.
    fn units(&self, ns: u64) -> u32 {
        u32::try_from(ns / self.unit_ns).unwrap_or(u32::MAX)
    }

    fn time(&self, ns: u64) -> u32 {
        self.units(ns.saturating_sub(self.recording.about.start_ns))
    }

    fn call(&self, row: &Syscall) -> u32 {
        self.calls.binary_search(&(row.compat, row.number)).unwrap_or(0) as u32
    }

    /// Stacks that some row has, their locations, frames and functions. Behind them one stack for each place and system call,
    /// whose innermost frame is the call, so that time asleep is seen under its name.
    fn stacks(&mut self) {
        let tables = &self.recording.tables;
        let mut used = vec![false; tables.stacks.len()];
        let rows = (tables.samples.iter().map(|row| row.stack))
            .chain(tables.syscalls.iter().map(|row| row.stack))
            .chain(tables.waits.iter().flat_map(|row| [row.stack, row.waker_stack]));
        for stack in rows.flatten() {
            used[stack as usize] = true;
        }
        for stack in (0..used.len()).rev() {
            if let (true, Some(parent)) = (used[stack], tables.stacks[stack].parent) {
                used[parent as usize] = true;
            }
        }
        let mut location_of: HashMap<u32, u32> = HashMap::new();
        let mut locations = Vec::new();
        let (mut up, mut at) = (Vec::new(), Vec::new());
        self.stack_of = vec![None; used.len()];
        for (stack, row) in tables.stacks.iter().enumerate() {
            if !used[stack] {
                continue;
            }
            let number = up.len() as u32;
            self.stack_of[stack] = Some(number);
            let parent = row.parent.and_then(|parent| self.stack_of[parent as usize]);
            up.push(parent.map_or(0, |parent| number - parent));
            let next = location_of.len() as u32;
            let location = *location_of.entry(row.location).or_insert(next);
            if location == next {
                locations.push(row.location);
            }
            at.push(location);
        }
        self.frames(&locations);
        // Calls behind the places that make them.
        let mut call_stack: HashMap<(Option<u32>, u32), u32> = HashMap::new();
        let mut of_call = Vec::with_capacity(tables.syscalls.len());
        for row in &tables.syscalls {
            let parent = row.stack.and_then(|stack| self.stack_of[stack as usize]);
            let call = self.call(row);
            let stack = *call_stack.entry((parent, call)).or_insert_with(|| {
                let number = up.len() as u32;
                up.push(parent.map_or(0, |parent| number - parent));
                at.push(locations.len() as u32 + call);
                number
            });
            of_call.push(stack);
        }
        self.columns.u32("stack.up", &up);
        self.columns.rising("stack.location", &at);
        self.columns.rising("syscall.stack", &of_call);
    }

    /// Frames of each location, outermost first, and the functions that these name; then one location a system call.
    fn frames(&mut self, locations: &[u32]) {
        let tables = &self.recording.tables;
        self.function_of = vec![None; tables.functions.len()];
        let mut functions = Vec::new();
        let mut in_kernel = Vec::new();
        let (mut count, mut function, mut file, mut line, mut kind) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for location in locations {
            let frames: &[Frame] = self.recording.frames_of(*location);
            count.push(frames.len() as u32);
            for frame in frames.iter().rev() {
                let next = functions.len() as u32;
                let number = *self.function_of[frame.function as usize].get_or_insert(next);
                if number == next {
                    functions.push(frame.function);
                    in_kernel.push(frame.kind == "kernel");
                }
                function.push(number);
                file.push(self.texts.or_none(frame.file.as_deref()));
                line.push(frame.line.unwrap_or(0));
                kind.push(kind_number(&frame.kind));
            }
        }
        for at in 0..self.calls.len() {
            count.push(1);
            function.push((functions.len() + at) as u32);
            file.push(0);
            line.push(0);
            kind.push(kind_number("kernel"));
        }
        self.columns.u32("location.frames", &count);
        self.columns.u32("frame.function", &function);
        self.columns.u32("frame.file", &file);
        self.columns.u32("frame.line", &line);
        self.columns.u8("frame.kind", &kind);
        self.functions(&functions, &in_kernel);
    }

    fn functions(&mut self, functions: &[u32], in_kernel: &[bool]) {
        let tables = &self.recording.tables;
        let (mut name, mut module, mut file, mut line, mut flags) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (function, kernel) in functions.iter().zip(in_kernel) {
            let row = &tables.functions[*function as usize];
            name.push(self.texts.number(&row.name));
            module.push(row.module.map_or(0, |module| module + 1));
            file.push(self.texts.or_none(row.file.as_deref()));
            line.push(row.line.unwrap_or(0));
            let runtime = if is_runtime(&self.evidence.frame(*function)) { RUNTIME } else { 0 };
            flags.push(runtime | if *kernel { KERNEL } else { 0 });
        }
        for call in self.calls.clone() {
            name.push(self.texts.number(&call_name(call)));
            module.push(0);
            file.push(0);
            line.push(0);
            flags.push(RUNTIME | SYSTEM_CALL);
        }
        self.columns.u32("function.name", &name);
        self.columns.u32("function.module", &module);
        self.columns.u32("function.file", &file);
        self.columns.u32("function.line", &line);
        self.columns.u8("function.flags", &flags);
    }

    fn samples(&mut self) {
        let samples = &self.recording.tables.samples;
        // Few weights are different: they are stored once each.
        let mut weights: Vec<f64> = Vec::new();
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let (mut time, mut thread, mut stack, mut weight) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (sample, ns) in samples.iter().zip(&self.evidence.weights) {
            time.push(self.time(sample.time_ns));
            thread.push(sample.thread);
            let of = sample.stack.and_then(|stack| self.stack_of[stack as usize]);
            stack.push(of.map_or(0, |stack| stack + 1));
            weight.push(*numbers.entry(ns.to_bits()).or_insert_with(|| {
                weights.push(*ns);
                weights.len() as u32 - 1
            }));
        }
        self.columns.rising("sample.time", &time);
        self.columns.u32("sample.thread", &thread);
        self.columns.u32("sample.stack", &stack);
        self.columns.u32("sample.weight", &weight);
        // Whether the stack reaches to where its thread began.
        let complete: Vec<u8> = samples.iter().map(|sample| u8::from(sample.complete)).collect();
        self.columns.u8("sample.complete", &complete);
        self.columns.f64("weights", &weights);
    }

    fn syscalls(&mut self) {
        let rows = &self.recording.tables.syscalls;
        let of = |value: &dyn Fn(&Syscall) -> u32| rows.iter().map(value).collect::<Vec<u32>>();
        let long = |value: &dyn Fn(&Syscall) -> u64| rows.iter().map(value).collect::<Vec<u64>>();
        self.columns.rising("syscall.time", &of(&|row| self.time(row.time_ns)));
        self.columns.u32("syscall.span", &of(&|row| self.units(row.end_ns.saturating_sub(row.time_ns))));
        self.columns.u32("syscall.thread", &of(&|row| row.thread));
        self.columns.u32("syscall.call", &of(&|row| self.call(row)));
        self.columns.u32("syscall.file", &of(&|row| row.file.map_or(0, |file| file + 1)));
        let errors: Vec<u32> = of(&|row| u32::try_from(row.result.min(0).unsigned_abs()).unwrap_or(u32::MAX));
        self.columns.u32("syscall.error", &errors);
        self.columns.u64("syscall.count", &long(&|row| row.count));
        self.columns.u64("syscall.duration", &long(&|row| row.duration_ns));
        self.columns.u64("syscall.blocked", &long(&|row| row.blocked_ns.min(row.duration_ns)));
        self.columns.u64("syscall.bytes", &long(&|row| row.bytes));
    }

    fn waits(&mut self) {
        let rows = &self.recording.tables.waits;
        let stack = |stack: Option<u32>| {
            stack.and_then(|stack| self.stack_of[stack as usize]).map_or(0, |stack| stack + 1)
        };
        let time: Vec<u32> = rows.iter().map(|row| self.time(row.time_ns)).collect();
        let thread: Vec<u32> = rows.iter().map(|row| row.thread).collect();
        let call: Vec<u32> = rows
            .iter()
            .map(|row| self.calls.binary_search(&(false, row.number)).unwrap_or(0) as u32)
            .collect();
        let file: Vec<u32> = rows.iter().map(|row| row.file.map_or(0, |file| file + 1)).collect();
        let stacks: Vec<u32> = rows.iter().map(|row| stack(row.stack)).collect();
        let waker: Vec<u32> = rows.iter().map(|row| row.waker.map_or(0, |thread| thread + 1)).collect();
        let waker_stacks: Vec<u32> = rows.iter().map(|row| stack(row.waker_stack)).collect();
        let duration: Vec<u64> = rows.iter().map(|row| row.duration_ns).collect();
        self.columns.rising("wait.time", &time);
        self.columns.u32("wait.thread", &thread);
        self.columns.u32("wait.call", &call);
        self.columns.u32("wait.file", &file);
        self.columns.u32("wait.stack", &stacks);
        self.columns.u32("wait.waker", &waker);
        self.columns.u32("wait.waker_stack", &waker_stacks);
        self.columns.u64("wait.duration", &duration);
    }

    fn head(&mut self, side: &Side<'_>) -> Value {
        let tables = &self.recording.tables;
        let about = &self.recording.about;
        let since = |ns: u64| ns.saturating_sub(about.start_ns);
        let programs: HashSet<&str> =
            tables.processes.iter().map(|process| base_name(&process.program)).collect();
        let modules = tables.modules.iter().map(|module| {
            let name = base_name(&module.path);
            let role = match name {
                _ if module.path.starts_with('[') => "kernel",
                name if programs.contains(name) => "program",
                _ => "library",
            };
            json!({ "path": module.path, "name": name, "role": role, "build": module.build_id })
        });
        let processes = tables.processes.iter().map(|row| {
            json!({
                "parent": row.parent, "pid": row.pid, "run": row.run, "program": row.program,
                "arguments": row.arguments, "directory": row.directory, "start_ns": since(row.start_ns),
                "exec_ns": row.exec_ns.map(since), "end_ns": row.end_ns.map(since), "exit": row.exit,
                "cpu_ns": row.cpu_ns, "user_ns": row.user_ns, "memory": row.peak_memory_bytes,
            })
        });
        let threads = tables.threads.iter().map(|row| {
            json!({
                "process": row.process, "tid": row.tid, "name": row.name, "start_ns": since(row.start_ns),
                "end_ns": row.end_ns.map(since), "cpu_ns": row.cpu_ns,
            })
        });
        let files =
            tables.files.iter().map(|row| json!({ "path": row.path, "kind": row.kind, "size": row.size }));
        let counted = counted::counted(&self.evidence).into_iter().filter_map(|one| {
            let function = self.function_of[one.function as usize]?;
            Some(json!({ "function": function, "calls": one.calls, "covered": one.covered, "inclusive_ns": one.inclusive_ns }))
        });
        let said = slowpath_report::run_said(side.findings);
        let facts: Vec<Value> = said.facts.iter().map(|(name, value)| json!([name, value])).collect();
        let mut head = json!({
            "version": VERSION,
            "name": side.name,
            // What vouches for the recording here is nothing to send around.
            "about": About { machine: None, ..about.clone() },
            "run": {
                "facts": facts, "coverage": said.coverage, "unseen": said.unseen, "nothing": said.nothing, "not_explained": said.not_explained,
                "cut_short": said.cut_short, "cpu_ns": self.evidence.cpu_ns,
            },
            "unit_ns": self.unit_ns,
            "span_ns": self.span_ns,
            "modules": modules.collect::<Vec<_>>(),
            "processes": processes.collect::<Vec<_>>(),
            "threads": threads.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "calls": self.calls.iter().map(|call| call_name(*call)).collect::<Vec<_>>(),
            "counted": counted.collect::<Vec<_>>(),
        });
        head["findings"] = self.findings(side);
        head["texts"] = json!(self.texts.texts);
        head
    }

    /// The findings as `docs/findings-json.md` has them, each with its sentences and what it lights up.
    fn findings(&self, side: &Side<'_>) -> Value {
        // Through the report's JSON: it leaves out what is not a number.
        let json = slowpath_report::json(side.findings);
        let mut findings: Value = serde_json::from_str(&json).unwrap_or_default();
        for (at, finding) in side.findings.findings.iter().enumerate() {
            let said = slowpath_report::said(finding, &side.findings.recording);
            let value = &mut findings["findings"][at];
            value["said"] = json!({
                "title": said.title, "cost": said.cost, "gain": said.gain, "called": said.called,
                "explanation": said.explanation,
                "path": said.path.iter().map(|(frame, times)| json!({ "frame": frame, "times": times })).collect::<Vec<_>>(),
            });
            value["lit"] = json!(self.renumbered(Lit::of(finding)));
        }
        findings
    }

    fn renumbered(&self, lit: Lit) -> Lit {
        let ours = |functions: BTreeSet<u32>| {
            functions
                .into_iter()
                .filter_map(|function| self.function_of.get(function as usize).copied().flatten())
                .collect()
        };
        Lit { guilty: ours(lit.guilty), path: ours(lit.path), files: lit.files }
    }
}

fn call_name((compat, number): (bool, u32)) -> String {
    if compat { format!("32-bit call {number}") } else { slowpath_syscalls::name(number) }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// As `page/src/data/recording.ts` has them.
fn kind_number(kind: &str) -> u8 {
    match kind {
        "kernel" => 1,
        "inlined" => 2,
        "jit" => 3,
        "interpreted" => 4,
        _ => 0,
    }
}
