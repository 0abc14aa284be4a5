//! Synthetic recordings of a program that computes: time spent on stacks becomes samples.

use slowpath_recording::Tables;
use slowpath_recording::tables::{
    Beginning, Call, Frame, Function, Location, Module, Process, Sample, Stack, Thread, Walk, WalkBurst,
};

/// A millisecond, ns.
pub const MS: f64 = 1e6;

/// Spends time on one stack, and takes the samples that fall into it.
pub struct Run {
    pub tables: Tables,
    pub now: f64,
    next_sample: f64,
    /// A little of chance in when samples come, as in life; from a fixed seed.
    seed: u64,
}

impl Run {
    /// From the first µs on.
    pub fn new(tables: Tables) -> Run {
        Run { tables, now: 1000.0, next_sample: 0.5 * MS, seed: 7 }
    }

    /// Spends so many ns on a stack.
    pub fn spend(&mut self, ns: f64, stack: u32) {
        self.now += ns;
        while self.next_sample <= self.now {
            let time_ns = self.next_sample as u64;
            let row = Sample {
                time_ns,
                thread: 0,
                on_cpu: true,
                weight_ns: MS as u64,
                stack: Some(stack),
                complete: true,
            };
            self.tables.samples.push(row);
            self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            self.next_sample += MS * (0.8 + 0.4 * (self.seed >> 33) as f64 / (1u64 << 31) as f64);
        }
    }

    /// A row of `calls`, now.
    #[allow(dead_code, reason = "not all tests that share this file count calls")]
    pub fn call(&mut self, probe: u32, count: u64, under: Option<u32>) {
        let row = Call { time_ns: self.now as u64, thread: Some(0), probe, count, under, cpu_ns: 0 };
        self.tables.calls.push(row);
    }
}

/// Functions of one program, by name and who calls them: of each a location, a frame and a stack, with the same number.
#[allow(dead_code, reason = "not all tests that share this file need no more than that")]
pub fn functions(source: &str, functions: &[(&str, Option<u32>)]) -> Tables {
    let mut tables = Tables::default();
    let (build_id, path) = (None, "/bin/program".into());
    tables.modules.push(Module { module: 0, path, build_id, device: 0, inode: 1, size: 1, mtime_ns: 0 });
    for (number, (name, parent)) in (0..).zip(functions) {
        let (address, module, line) = (u64::from(number + 1) * 0x1000, Some(0), Some(1));
        let (name, file) = ((*name).to_owned(), Some(source.to_owned()));
        tables.functions.push(Function { function: number, name, module, file: file.clone(), line, address });
        tables.locations.push(Location { location: number, module, address, kind: "native".into() });
        let kind = "native".into();
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
        tables.stacks.push(Stack { stack: number, parent: *parent, location: number });
    }
    tables
}

/// One process with one thread that ran to the end.
pub fn one_thread(tables: &mut Tables, end_ns: u64) {
    tables.processes.push(Process {
        process: 0,
        parent: None,
        pid: 1,
        run: 0,
        program: "/bin/program".into(),
        arguments: Vec::new(),
        directory: None,
        start_ns: 0,
        exec_ns: None,
        end_ns: Some(end_ns),
        exit: Some(0),
        cpu_ns: Some(end_ns),
        user_ns: Some(end_ns),
        peak_memory_bytes: None,
        tracing_ns: 0,
        sample_scale: 1.0,
    });
    let name = "program".to_owned();
    tables.threads.push(Thread {
        thread: 0,
        process: 0,
        tid: 1,
        name,
        start_ns: 0,
        end_ns: None,
        cpu_ns: None,
    });
}

/// A walk of the function that begins at `location`: the addresses that were noted of each entry, in so many bursts.
#[allow(dead_code, reason = "not all tests that share this file look at entries")]
pub fn entered(tables: &mut Tables, location: u32, entries: &[Vec<u64>], bursts: usize) {
    let (walk, strides) = (tables.walks.len() as u32, vec![0; entries.first().map_or(1, Vec::len)]);
    tables.walks.push(Walk { walk, process: 0, location, loop_number: None, strides, arguments: None });
    for (number, burst) in entries.chunks(entries.len().div_ceil(bursts).max(1)).enumerate() {
        let start_ns = (number as u64 + 1) * 100_000_000;
        let (end_ns, entries) = (start_ns + 50_000_000, burst.len() as u64);
        tables.walk_bursts.push(WalkBurst { walk, start_ns, end_ns, entries, rounds: None });
        for (at, addresses) in burst.iter().enumerate() {
            tables.beginnings.push(Beginning {
                walk,
                time_ns: start_ns + 100_000 * at as u64,
                thread: Some(0),
                cpu_ns: 0,
                addresses: addresses.clone(),
                contents: vec![at as u64 + 1; addresses.len()],
                linked: 0,
                length: 0,
                within_ns: 0,
                below: 0,
            });
        }
    }
}
