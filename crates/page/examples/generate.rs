//! Writes a large recording for the page's benchmark, and the same samples as collapsed stacks for other tools.
//!
//! `generate FOLDER [SAMPLES [STACKS]]`: by default 1,000,000 samples on 100,000 different stacks, of 8,000 functions in 40 modules.

use slowpath_files::{Caller, Folder};
use slowpath_recording::tables::*;
use slowpath_recording::{About, Recording, Writer};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

const FUNCTIONS: u32 = 8_000;
const MODULES: u32 = 40;
const DEEPEST: u32 = 60;
const THREADS: u32 = 8;
/// Between two samples, ns.
const PERIOD: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().ok_or("usage: generate FOLDER [SAMPLES [STACKS]]")?;
    let mut number = |otherwise: u32| words.next().map_or(Ok(otherwise), |word| word.parse());
    let (samples, stacks) = (number(1_000_000)?, number(100_000)?);
    generate(Path::new(&folder), samples, stacks)
}

fn generate(folder: &Path, samples: u32, stacks: u32) -> Result<(), Box<dyn Error>> {
    let mut random = fastrand::Rng::with_seed(1);
    let path = folder.join("recording");
    std::fs::create_dir_all(&path)?;
    let about = about(samples)?;
    let mut writer = Writer::create(Arc::new(Folder::open(&path)?), &about, &Caller::detect())?;
    let tables = &mut writer.tables;
    for module in 0..MODULES {
        let path =
            if module == 0 { "/opt/service".to_owned() } else { format!("/usr/lib/libpart{module}.so.1") };
        tables.modules.push(Module {
            module,
            path,
            build_id: None,
            device: 1,
            inode: 1,
            size: 1,
            mtime_ns: 0,
        });
    }
    for function in 0..FUNCTIONS {
        let module = function % MODULES;
        let name = format!("part{module}::Subsystem::operation_{function}(Request const&)");
        let (file, line) = (Some(format!("src/part{module}.cc")), Some(function));
        tables.functions.push(Function {
            function,
            name,
            module: Some(module),
            file: file.clone(),
            line,
            address: 0,
        });
        // Each function is called in one place of it: the location has its number.
        let kind = "native".to_owned();
        tables.locations.push(Location {
            location: function,
            module: Some(module),
            address: u64::from(function),
            kind: kind.clone(),
        });
        tables.frames.push(Frame { location: function, depth: 0, function, file, line, kind });
    }
    let arguments = vec!["/opt/service".to_owned()];
    let process = Process {
        process: 0,
        parent: None,
        pid: 1000,
        run: 0,
        program: "/opt/service".to_owned(),
        arguments,
        directory: None,
        start_ns: 0,
        exec_ns: Some(0),
        end_ns: Some(about.wall_ns),
        exit: Some(0),
        cpu_ns: None,
        user_ns: None,
        peak_memory_bytes: None,
        tracing_ns: 0,
        sample_scale: 1.0,
    };
    tables.processes.push(process);
    for thread in 0..THREADS {
        let (name, start_ns) = (format!("worker-{thread}"), 0);
        tables.threads.push(Thread {
            thread,
            process: 0,
            tid: 1000 + thread,
            name,
            start_ns,
            end_ns: None,
            cpu_ns: None,
        });
    }
    // A trie that goes deep and branches everywhere; every sampled stack is a node of its own.
    let nodes = stacks + stacks / 2;
    let mut depth = vec![1; nodes as usize];
    for stack in 0..nodes {
        let parent = match stack {
            0 => None,
            _ if random.f32() < 0.8 && depth[stack as usize - 1] < DEEPEST => Some(stack - 1),
            _ => Some(random.u32(0..stack)).filter(|parent| depth[*parent as usize] < DEEPEST).or(Some(0)),
        };
        depth[stack as usize] = parent.map_or(1, |parent| depth[parent as usize] + 1);
        tables.stacks.push(Stack { stack, parent, location: random.u32(0..FUNCTIONS) });
    }
    let mut counts = vec![0u32; nodes as usize];
    let mut sampled: Vec<u32> = (0..nodes).collect();
    random.shuffle(&mut sampled);
    sampled.truncate(stacks as usize);
    for sample in 0..samples {
        // Each stack once, then few of them often.
        let stack = match sample {
            sample if sample < stacks => sampled[sample as usize],
            _ => sampled[(random.f64().powi(3) * f64::from(stacks)) as usize],
        };
        counts[stack as usize] += 1;
        let (thread, time_ns) = (sample % THREADS, u64::from(sample) * PERIOD / u64::from(THREADS));
        let row =
            Sample { time_ns, thread, on_cpu: true, weight_ns: PERIOD, stack: Some(stack), complete: true };
        tables.samples.push(row);
    }
    writer.finish(about)?;
    collapsed(&path, &folder.join("collapsed"), &counts)
}

/// One line a stack, `outermost;…;innermost count`.
fn collapsed(recording: &Path, path: &Path, counts: &[u32]) -> Result<(), Box<dyn Error>> {
    let recording = Recording::open(recording)?;
    let tables = &recording.tables;
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    for (stack, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let mut names = Vec::new();
        let mut at = Some(stack as u32);
        while let Some(stack) = at {
            let row = &tables.stacks[stack as usize];
            names.push(tables.functions[row.location as usize].name.as_str());
            at = row.parent;
        }
        names.reverse();
        writeln!(out, "{} {count}", names.join(";"))?;
    }
    Ok(out.flush()?)
}

fn about(samples: u32) -> Result<About, serde_json::Error> {
    let cpu_ns = u64::from(samples) * PERIOD;
    serde_json::from_value(serde_json::json!({
        "format": { "major": 1, "minor": 1 }, "slowpath": "generated", "id": "generated", "state": "complete",
        "command": ["/opt/service"], "directory": "/", "host": "generated", "kernel": "", "cpu": "", "cpus": THREADS,
        "started_unix_ns": 0, "start_ns": 0, "wall_ns": cpu_ns / u64::from(THREADS), "user_ns": cpu_ns, "sys_ns": 0, "exit": 0,
        "runs": 1, "attached": false, "collectors": [], "degraded": [], "lost": {}, "sampled_share": 1.0
    }))
}
