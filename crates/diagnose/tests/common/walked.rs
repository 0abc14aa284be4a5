//! Synthetic recordings of walks: of a `main` that calls `find`, whose loop at 0x10–0x30 calls the C library's `strcmp`, and the C library's `strlen` and
//! `memmove`.

use crate::common::about;
use crate::sampled::{self, MS, Run};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::Finding;
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

/// Locations; stack n ends at location n.
pub const MAIN: u32 = 0;
pub const SEARCH: u32 = 1;
pub const STRCMP: u32 = 2;
pub const STRLEN: u32 = 3;
pub const MEMMOVE: u32 = 4;
pub const PARSE: u32 = 5;
/// The stack of the second loop.
pub const BESIDE: u32 = 6;

/// A list somewhere in memory.
pub const LIST: u64 = 0x7000_0000;
pub const BURSTS: u64 = 4;

/// Addresses, contents and length of the n-th entry of a burst.
pub type Entry = fn(u64) -> (Vec<u64>, Vec<u64>, u64);

/// What the entries of a walk are like.
pub struct Walked {
    /// Where the time goes: stack and share of a second.
    pub time: Vec<(u32, f64)>,
    /// The function that the walk is of, and whether it is its loop that is.
    pub at: u32,
    pub in_loop: bool,
    /// Work of the loop.
    pub work: &'static str,
    pub entries: u64,
    pub strides: Vec<u64>,
    pub entry: Entry,
    /// Each begins at an item that leads to where the one before began.
    pub linked: u64,
    /// Entries and rounds counted in a burst of lengths.
    pub counted: (u64, u64),
    /// By how many rounds the next burst of lengths has more.
    pub further: u64,
    /// Reads of the process.
    pub reads: u64,
    /// CPU time from one entry to the next, ns, in each burst; not known where there are none.
    pub each_ns: &'static [u64],
    /// The same where it is not given for each burst; what part of it the thread is on a CPU.
    pub usual_ns: u64,
    pub on_cpu: f64,
    /// What the code of `find` does as a whole.
    pub body: &'static str,
    /// Share of a second in a second loop of the same kind, at 0x40–0x60, or, if so, in the first.
    pub beside: f64,
    pub within: bool,
    /// The function with the loop.
    pub name: &'static str,
    /// The loops go to where memory says.
    pub chases: Option<bool>,
    /// Items that the loops look at in a round.
    pub items: Option<u32>,
}

impl Default for Walked {
    fn default() -> Walked {
        Walked {
            time: vec![(STRCMP, 0.7), (SEARCH, 0.1), (PARSE, 0.2)],
            at: SEARCH,
            in_loop: true,
            work: "walks",
            entries: 64,
            strides: vec![0],
            entry: |_| (vec![LIST], vec![77], 0),
            linked: 0,
            counted: (10, 2_000),
            further: 0,
            reads: 0,
            each_ns: &[],
            usual_ns: 10_000,
            on_cpu: 1.0,
            body: "calculates",
            beside: 0.0,
            within: false,
            name: "find",
            chases: None,
            items: None,
        }
    }
}

pub fn recording(walked: &Walked) -> Recording {
    let mut tables = Tables::default();
    for (number, path) in [(0, "/bin/program"), (1, "/lib/libc.so.6")] {
        let module = Module {
            module: number,
            path: path.into(),
            build_id: None,
            device: 0,
            inode: 1,
            size: 1,
            mtime_ns: 0,
        };
        tables.modules.push(module);
    }
    let places = [
        (MAIN, "main", 0, 0x1000, None),
        (SEARCH, walked.name, 0, 0x2020, Some(MAIN)),
        (STRCMP, "strcmp", 1, 0x500, Some(SEARCH)),
        (STRLEN, "__strlen_avx2", 1, 0x600, Some(MAIN)),
        (MEMMOVE, "__memmove_avx_unaligned_erms", 1, 0x700, Some(MAIN)),
        (PARSE, "parse", 0, 0x3000, Some(MAIN)),
    ];
    for (number, name, module, address, parent) in places {
        let (name, file) = (name.to_owned(), Some("program.c".to_owned()));
        let first = address & !0xff;
        let function = Function {
            function: number,
            name,
            module: Some(module),
            file: file.clone(),
            line: Some(1),
            address: first,
        };
        tables.functions.push(function);
        tables.locations.push(Location {
            location: number,
            module: Some(module),
            address,
            kind: "native".into(),
        });
        let frame = Frame {
            location: number,
            depth: 0,
            function: number,
            file,
            line: Some(number + 10),
            kind: "native".into(),
        };
        tables.frames.push(frame);
        tables.stacks.push(Stack { stack: number, parent, location: number });
    }
    // The first addresses of functions, as walks and loops name them.
    for (number, function) in (6..).zip([MAIN, SEARCH, STRCMP, STRLEN, MEMMOVE, PARSE]) {
        let of = &tables.functions[function as usize];
        let first =
            Location { location: number, module: of.module, address: of.address, kind: "native".into() };
        tables.locations.push(first);
        let frame =
            Frame { location: number, depth: 0, function, file: None, line: None, kind: "native".into() };
        tables.frames.push(frame);
    }
    let location = walked.at + 6;
    let second = if walked.within { vec![0x18, 0x28] } else { vec![0x40, 0x60] };
    for (loop_number, ranges) in [(0, vec![0x10, 0x30]), (1, second)] {
        let (work, parent) = (walked.work.into(), (loop_number == 1 && walked.within).then_some(0));
        tables.loops.push(Loop {
            loop_number,
            location: SEARCH + 6,
            parent,
            ranges,
            work,
            chases: walked.chases,
            usual: None,
            items: walked.items,
        });
    }
    let (number, module) = (12, Some(0));
    let address = if walked.within { 0x2020 } else { 0x2050 };
    tables.locations.push(Location { location: number, module, address, kind: "native".into() });
    let (file, line, kind) = (Some("program.c".to_owned()), Some(21), "native".to_owned());
    tables.frames.push(Frame { location: number, depth: 0, function: SEARCH, file, line, kind });
    tables.stacks.push(Stack { stack: BESIDE, parent: Some(MAIN), location: number });
    tables.bodies.push(Body { location: SEARCH + 6, work: walked.body.into() });
    let loop_number = walked.in_loop.then_some(0);
    let strides = || walked.strides.clone();
    tables.walks.push(Walk {
        walk: 0,
        process: 0,
        location,
        loop_number,
        strides: strides(),
        arguments: None,
    });
    if walked.beside > 0.0 {
        tables.walks.push(Walk {
            walk: 1,
            process: 0,
            location,
            loop_number: Some(1),
            strides: strides(),
            arguments: None,
        });
    }
    let mut run = Run::new(tables);
    for (stack, share) in &walked.time {
        run.spend(share * 1000.0 * MS, *stack);
    }
    run.spend(walked.beside * 1000.0 * MS, BESIDE);
    let stretched = |ns: u64| (ns as f64 / walked.on_cpu) as u64;
    let end_ns = stretched(run.now as u64);
    let mut tables = run.tables;
    // A thread that waits is sampled at longer intervals.
    tables.samples.iter_mut().for_each(|sample| sample.time_ns = stretched(sample.time_ns));
    sampled::one_thread(&mut tables, end_ns);
    let bursts = BURSTS.max(walked.each_ns.len() as u64);
    for burst in 0..bursts {
        let start_ns = (burst + 1) * 100_000_000;
        let each = walked.entries / BURSTS;
        let each_ns = walked.each_ns.get(burst as usize).copied().unwrap_or(walked.usual_ns);
        // In the middle of such a burst another thread has the CPU for a while.
        let pause = if walked.each_ns.is_empty() { 0 } else { 3_000_000 };
        let at = |n: u64| start_ns + n * each_ns + if 2 * n > each { pause } else { 0 };
        for n in 0..each {
            let (addresses, contents, length) = (walked.entry)(n);
            let time_ns = at(n);
            tables.beginnings.push(Beginning {
                walk: 0,
                time_ns,
                thread: Some(0),
                cpu_ns: (n as f64 * each_ns as f64 * walked.on_cpu) as u64,
                addresses,
                contents,
                linked: walked.linked,
                length,
                within_ns: 0,
                below: 0,
            });
        }
        let end_ns = at(each);
        tables.walk_bursts.push(WalkBurst { walk: 0, start_ns, end_ns, entries: each, rounds: None });
        let (entries, rounds) = (walked.counted.0, walked.counted.1 + burst * walked.further);
        let counted =
            WalkBurst { walk: 0, start_ns: end_ns, end_ns: end_ns + 1_000, entries, rounds: Some(rounds) };
        tables.walk_bursts.push(counted);
    }
    if walked.beside > 0.0 {
        let again: Vec<Beginning> =
            tables.beginnings.iter().map(|row| Beginning { walk: 1, ..row.clone() }).collect();
        let bursts: Vec<WalkBurst> =
            tables.walk_bursts.iter().map(|burst| WalkBurst { walk: 1, ..burst.clone() }).collect();
        tables.beginnings.extend(again);
        tables.walk_bursts.extend(bursts);
    }
    if walked.reads > 0 {
        tables.syscalls.push(Syscall {
            time_ns: 0,
            end_ns,
            thread: 0,
            number: 0,
            compat: false,
            count: walked.reads,
            duration_ns: 1,
            blocked_ns: 0,
            result: 0,
            bytes: walked.reads * 4096,
            argument: 4096,
            file: None,
            sync: false,
            stack: None,
            goroutine: None,
            met: None,
        });
    }
    Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new())
}

pub fn findings(walked: Walked) -> Vec<Finding> {
    let recording = recording(&walked);
    assert_eq!(recording.dangling, 0, "the synthetic recording is whole");
    diagnose(&recording).findings
}

pub fn only(walked: Walked) -> Finding {
    let mut findings = findings(walked);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

pub fn silent(walked: Walked) {
    let findings = findings(walked);
    assert!(findings.is_empty(), "{findings:#?}");
}
