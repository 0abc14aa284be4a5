//! Recordings to start from: small ones of every kind, in which each cause is found. What is made wild from there still goes deep
//! into what is concluded, as bytes of chance would not.
//!
//! - `calls` — those whose causes show in system calls.
//! - this file — those whose causes show in samples and in counted calls.

mod calls;

use crate::common::about;
use crate::sampled::{self, MS as MS_F, Run};
use crate::traced::{MS, Mode};
use calls::{
    asking, asking_twice, building, chatty, children, churning, contending, exchanging, needless, parking,
    polling, reading, rewriting, small, spinning, syncing, threading, throwing, unanswered,
};
use slowpath_recording::tables::*;
use slowpath_recording::{About, Recording, Tables};
use std::sync::OnceLock;

/// `about.json` and tables.
pub(crate) type Base = (About, Tables);

/// All of them.
pub(crate) fn all() -> &'static [Base] {
    static ALL: OnceLock<Vec<Base>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = vec![
            (about(1), Tables::default()),
            growing(),
            in_rounds(),
            searching(),
            preparing(),
            copying(),
            allocating(),
            unoptimized(),
            in_slices(),
            unnamed(),
            matching(),
        ];
        for mode in [Mode::Each, Mode::AddedUp] {
            all.extend(
                [reading(mode), asking(mode), asking_twice(mode), small(mode), needless(mode), polling(mode)]
                    .map(apart),
            );
        }
        all.extend(
            [
                building(),
                churning(),
                syncing(),
                rewriting(),
                unanswered(),
                chatty(),
                children(),
                contending(),
                spinning(),
                throwing(),
                threading(),
            ]
            .map(apart),
        );
        all.extend([exchanging(1), exchanging(200), parking()].map(apart));
        all.push(sending());
        all.push(looked_ahead());
        all
    })
}

fn apart(recording: Recording) -> Base {
    (recording.about, recording.tables)
}

/// `main` calls `load`, which calls `parse` and `grow`; each call of `grow` costs more than the one before, and calls `leaf` more
/// often.
fn growing() -> Base {
    let (main, load, grow, leaf, parse) = (0, 1, 2, 3, 4);
    let mut tables = functions(&["main", "load", "grow", "leaf", "parse"]);
    for (stack, parent) in
        [(main, None), (load, Some(main)), (grow, Some(load)), (leaf, Some(grow)), (parse, Some(load))]
    {
        tables.stacks.push(Stack { stack, parent, location: stack });
    }
    for (probe, location) in [(0, grow), (1, leaf), (2, load)] {
        tables.probes.push(Probe { probe, process: 0, location, kind: "function".into(), offset: 0 });
    }
    let (mut run, mut leaves) = (Run::new(tables), 0);
    for round in 1..=120u64 {
        run.call(2, round, None);
        run.spend(MS_F, parse);
        run.call(0, round, None);
        run.call(1, leaves, Some(0));
        leaves += 2 * round;
        run.spend(0.02 * MS_F * round as f64, grow);
        run.spend(0.08 * MS_F * round as f64, leaf);
    }
    sampled_to_the_end(run, &[(0, 120), (1, leaves), (2, 120)])
}

/// The rounds of a loop of `main` that holds an inner one, a call of `memmove` and one of `parse`.
fn in_rounds() -> Base {
    let mut tables = functions(&["main", "memmove", "parse"]);
    let places = [(3u32, 0, 0x30), (4, 0, 0x50), (5, 0, 0x60)];
    for (location, function, address) in places {
        tables.locations.push(Location { location, module: Some(0), address, kind: "native".into() });
        let (file, kind) = (Some("program.c".to_owned()), "native".to_owned());
        tables.frames.push(Frame { location, depth: 0, function, file, line: Some(3), kind });
    }
    for (stack, parent, location) in
        [(0, None, 3), (1, None, 4), (2, None, 5), (3, Some(2), 1), (4, Some(1), 2)]
    {
        tables.stacks.push(Stack { stack, parent, location });
    }
    let whole = |loop_number, parent, ranges, work: &str| Loop {
        loop_number,
        location: 0,
        parent,
        ranges,
        work: work.into(),
        chases: Some(true),
        usual: Some(false),
        items: Some(4),
    };
    tables.loops.push(whole(0, None, vec![0x10, 0x80], "calculates"));
    tables.loops.push(whole(1, Some(0), vec![0x20, 0x40], "walks"));
    tables.probes.push(Probe { probe: 0, process: 0, location: 0, kind: "loop".into(), offset: 0x70 });
    let mut run = Run::new(tables);
    for round in 1..=120u64 {
        run.call(0, round, None);
        run.spend(MS_F, 1);
        run.spend(0.05 * MS_F * round as f64, 3);
        run.spend(0.1 * MS_F * round as f64, 0);
        run.spend(0.5 * MS_F, 4);
    }
    sampled_to_the_end(run, &[(0, 120)])
}

/// `main` calls `regcomp` with the same expression again and again, and `SSL_CTX_new`.
fn preparing() -> Base {
    let (main, compile, context) = (0, 1, 2);
    let mut tables = functions(&["main", "regcomp", "SSL_CTX_new"]);
    for stack in [main, compile, context] {
        tables.stacks.push(Stack { stack, parent: (stack != main).then_some(main), location: stack });
    }
    for (walk, location, inputs) in [(0, compile, 2), (1, context, 1)] {
        tables.walks.push(Walk {
            walk,
            process: 0,
            location,
            loop_number: None,
            strides: vec![0],
            arguments: None,
        });
        for call in 0..40u64 {
            tables.beginnings.push(Beginning {
                walk,
                time_ns: u64::from(walk) * 100_000_000 + call * 10_000,
                thread: Some(0),
                cpu_ns: 0,
                addresses: vec![0],
                contents: vec![1 + call % inputs],
                linked: 0,
                length: 0,
                within_ns: 0,
                below: 0,
            });
        }
    }
    let mut run = Run::new(tables);
    for stack in [compile, context, main] {
        run.spend(200.0 * MS_F, stack);
    }
    sampled_to_the_end(run, &[])
}

/// A walk of a function, all of whose entries have the same addresses and contents.
fn entered(
    tables: &mut Tables,
    location: u32,
    bursts: u64,
    entries: u64,
    (addresses, contents): (&[u64], &[u64]),
) {
    let (walk, strides) = (0, vec![0; addresses.len()]);
    tables.walks.push(Walk { walk, process: 0, location, loop_number: None, strides, arguments: None });
    for burst in 0..bursts {
        let start_ns = (burst + 1) * 100_000_000;
        let end_ns = start_ns + 10_000_000;
        tables.walk_bursts.push(WalkBurst { walk, start_ns, end_ns, entries, rounds: None });
        tables.beginnings.extend((0..entries).map(|entry| Beginning {
            walk,
            time_ns: start_ns + entry * 10_000,
            thread: Some(0),
            cpu_ns: 0,
            addresses: addresses.to_vec(),
            contents: contents.to_vec(),
            linked: 0,
            length: 0,
            within_ns: 0,
            below: 0,
        }));
    }
}

/// `main` copies one document again and again.
fn copying() -> Base {
    let (main, copy) = (0, 1);
    let mut tables = functions(&["main", "xmlCopyDoc"]);
    for stack in [main, copy] {
        tables.stacks.push(Stack { stack, parent: (stack == copy).then_some(main), location: stack });
    }
    entered(&mut tables, copy, 3, 16, (&[0x7000_0000, 1, 0], &[5, 0, 0]));
    let mut run = Run::new(tables);
    for stack in [copy, main] {
        run.spend(200.0 * MS_F, stack);
    }
    sampled_to_the_end(run, &[])
}

/// `main` matches texts of 8 bytes with a regular expression, which takes 10 ms each time.
fn matching() -> Base {
    let (main, matcher) = (0, 1);
    let mut tables = functions(&["main", "pcre2_match_8"]);
    for stack in [main, matcher] {
        tables.stacks.push(Stack { stack, parent: (stack != main).then_some(main), location: stack });
    }
    entered(&mut tables, matcher, 4, 1, (&[0x7000_0000, 8], &[5, 0]));
    let mut run = Run::new(tables);
    run.spend(500.0 * MS_F, matcher);
    run.spend(100.0 * MS_F, main);
    sampled_to_the_end(run, &[])
}

/// `main` takes memory and frees it, again and again.
fn allocating() -> Base {
    let (main, malloc, free) = (0, 1, 2);
    let mut tables = functions(&["main", "malloc", "free"]);
    for stack in [main, malloc, free] {
        tables.stacks.push(Stack { stack, parent: (stack != main).then_some(main), location: stack });
    }
    entered(&mut tables, free, 2, 64, (&[0x7000_0000], &[5]));
    let mut run = Run::new(tables);
    for stack in [malloc, free, main] {
        run.spend(200.0 * MS_F, stack);
    }
    sampled_to_the_end(run, &[])
}

/// `main` calls `find`, whose loop searches one list again and again, `strlen` of one text, `memmove` by one item and `memset` of one block.
fn searching() -> Base {
    let (main, find, strlen, memmove, memset) = (0, 1, 2, 3, 4);
    let mut tables = functions(&["main", "find", "strlen", "memmove", "memset"]);
    for stack in [main, find, strlen, memmove, memset] {
        tables.stacks.push(Stack { stack, parent: (stack != main).then_some(main), location: stack });
    }
    tables.loops.push(Loop {
        loop_number: 0,
        location: find,
        parent: None,
        ranges: vec![0, 0x80],
        work: "walks".into(),
        chases: Some(false),
        usual: Some(true),
        items: Some(4),
    });
    tables.bodies.push(Body { location: find, work: "walks".into() });
    let list = 0x7000_0000;
    let content = |location, address| match location {
        _ if address < list => 0,
        of if of == memset => slowpath_recording::filled_hash(0),
        _ => 1,
    };
    for (walk, location, addresses, strides) in [
        (0, find, vec![list], vec![16]),
        (1, strlen, vec![list, 0, 0], vec![0; 3]),
        (2, memmove, vec![list, list + 8, 80_000], vec![0; 3]),
        (3, memset, vec![list, 0, 80_000], vec![0; 3]),
    ] {
        let loop_number = (location == find).then_some(0);
        tables.walks.push(Walk { walk, process: 0, location, loop_number, strides, arguments: None });
        for burst in 0..3u64 {
            let start_ns = (u64::from(walk) + 1) * 10_000_000 + burst * 100_000_000;
            let (entries, end_ns) = (16, start_ns + 1_000_000);
            for entry in 0..entries {
                tables.beginnings.push(Beginning {
                    walk,
                    time_ns: start_ns + entry * 1_000,
                    thread: Some(0),
                    cpu_ns: 0,
                    contents: addresses.iter().map(|address| content(location, *address)).collect(),
                    addresses: addresses.clone(),
                    linked: 0,
                    length: 400,
                    within_ns: 0,
                    below: 0,
                });
            }
            tables.walk_bursts.push(WalkBurst { walk, start_ns, end_ns, entries, rounds: None });
            let (start_ns, end_ns, rounds) = (end_ns, end_ns + 1_000, Some(9_000));
            tables.walk_bursts.push(WalkBurst { walk, start_ns, end_ns, entries: 9, rounds });
        }
    }
    let mut run = Run::new(tables);
    for stack in [find, strlen, memmove] {
        run.spend(200.0 * MS_F, stack);
    }
    run.spend(300.0 * MS_F, memset);
    sampled_to_the_end(run, &[])
}

/// `main` and `work` were built without optimisation.
fn unoptimized() -> Base {
    let mut tables = functions(&["main", "work"]);
    for stack in [0, 1] {
        tables.stacks.push(Stack { stack, parent: (stack == 1).then_some(0), location: stack });
        let (known_by, compiler) =
            (["compiler", "code"][stack as usize].to_owned(), "GNU C17 12.2.0".to_owned());
        tables.builds.push(Built { function: stack, optimized: false, known_by, compiler });
    }
    let mut run = Run::new(tables);
    run.spend(100.0 * MS_F, 0);
    run.spend(400.0 * MS_F, 1);
    sampled_to_the_end(run, &[])
}

/// `main.main` sends items one by one, and `main.take` takes them.
fn sending() -> Base {
    let (main, send, take, receive) = (0, 1, 2, 3);
    let mut tables = functions(&["main.main", "runtime.chansend1", "main.take", "runtime.chanrecv1"]);
    for (stack, parent) in [(main, None), (send, Some(main)), (take, None), (receive, Some(take))] {
        tables.stacks.push(Stack { stack, parent, location: stack });
    }
    let mut run = Run::new(tables);
    for stack in [main, send, take, receive] {
        run.spend(100.0 * MS_F, stack);
    }
    sampled_to_the_end(run, &[])
}

/// A program in which a function does again what it did before, as stretches of it show.
fn looked_ahead() -> Base {
    let (main, price, make) = (0, 1, 2);
    let mut tables = functions(&["main", "price", "make_plan"]);
    for (stack, parent) in [(main, None), (price, Some(main)), (make, Some(price))] {
        tables.stacks.push(Stack { stack, parent, location: stack });
    }
    for stretch in 0..4 {
        let time_ns = u64::from(stretch + 1) * 100_000_000;
        let (instructions, stopped_ns) = (400_000, 20_000_000);
        tables.stretches.push(Stretch { stretch, time_ns, thread: 0, instructions, stopped_ns });
        tables.repeats.push(Repeat {
            stretch,
            location: make,
            caller: Some(price),
            calls: 50,
            again: 40,
            instructions: 160_000,
            all_instructions: 200_000,
            span: 390_000,
            nested: 0,
            different: 2,
        });
        tables.formatted.push(Formatted {
            stretch,
            location: price,
            formatted: 60,
            read: 0,
            unread: 60,
            bytes: Some(600),
        });
        tables.copied.push(Copied {
            stretch,
            location: price,
            caller: None,
            calls: 40,
            dropped: 30,
            unchanged: 30,
        });
    }
    let mut run = Run::new(tables);
    run.spend(200.0 * MS_F, price);
    run.spend(300.0 * MS_F, make);
    sampled_to_the_end(run, &[])
}

/// Ends a sampled run: its windows, with the hits of each probe, its process and its time.
fn sampled_to_the_end(run: Run, hits: &[(u32, u64)]) -> Base {
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    for (probe, hits) in hits {
        let (probe, hits, reason) = (*probe, *hits, "end".to_owned());
        tables.windows.push(Window { probe, start_ns: 0, end_ns, hits, reason });
    }
    sampled::one_thread(&mut tables, end_ns);
    (about(end_ns), tables)
}

/// Functions of one program, a location and a frame each.
fn functions(names: &[&str]) -> Tables {
    let mut tables = Tables::default();
    let path = "/nonexistent/program".to_owned();
    tables.modules.push(Module {
        module: 0,
        path,
        build_id: None,
        device: 0,
        inode: 1,
        size: 1,
        mtime_ns: 0,
    });
    for (number, name) in (0..).zip(names) {
        let (address, module) = (u64::from(number) * 0x100, Some(0));
        let (file, line, kind) = (Some("program.c".to_owned()), Some(number + 10), "native".to_owned());
        tables.locations.push(Location { location: number, module, address, kind: kind.clone() });
        let name = (*name).to_owned();
        tables.functions.push(Function { function: number, name, module, file: file.clone(), line, address });
        tables.frames.push(Frame { location: number, depth: 0, function: number, file, line, kind });
    }
    tables
}

/// A run under callgrind: `main` calls `insert`, whose calls cost ever more.
fn in_slices() -> Base {
    let mut tables = functions(&["main", "insert", "compare"]);
    tables.frames.clear();
    tables.locations.clear();
    sampled::one_thread(&mut tables, MS);
    let mut all = 0;
    for slice in 0..48u32 {
        let own = [500, 100 + 40 * u64::from(slice), 20 * u64::from(slice)];
        for (function, own_instructions) in (0..).zip(own) {
            let instructions = own[function as usize..].iter().sum::<u64>() * 10;
            let self_instructions = own_instructions * 10;
            all += self_instructions;
            tables.slices.push(Slice {
                process: 0,
                slice,
                function,
                calls: 10,
                self_instructions,
                instructions,
            });
            if let Some(caller) = function.checked_sub(1) {
                let calls = 10 * u64::from(slice + 1);
                tables.slice_calls.push(SliceCall {
                    process: 0,
                    slice,
                    caller,
                    callee: function,
                    calls,
                    instructions,
                });
            }
        }
    }
    (About { instructions: Some(all), ..about(MS) }, tables)
}

/// Samples whose addresses have no names as yet, in modules of every kind.
fn unnamed() -> Base {
    let mut tables = Tables::default();
    let paths = ["/nonexistent/program", "[vdso]", "/dev/zero", "/", "", "/proc/self/mem"];
    for (module, path) in (0..).zip(paths) {
        let path = path.to_owned();
        let build_id = (module % 2 == 0).then(|| "00ff".to_owned());
        tables.modules.push(Module { module, path, build_id, device: 0, inode: 1, size: 1, mtime_ns: 0 });
        let (module, kind) = (Some(module), "native".to_owned());
        let location = tables.locations.len() as u32;
        tables.locations.push(Location { location, module, address: 0x1010, kind });
        tables.stacks.push(Stack { stack: location, parent: location.checked_sub(1), location });
    }
    let kind = "jit".to_owned();
    tables.locations.push(Location { location: 6, module: None, address: 0x1010, kind });
    tables.stacks.push(Stack { stack: 6, parent: Some(5), location: 6 });
    let mut run = Run::new(tables);
    (0..7).for_each(|stack| run.spend(3.0 * MS_F, stack));
    sampled_to_the_end(run, &[])
}

#[cfg(test)]
mod tests {
    use slowpath_diagnose::causes::Find;
    use slowpath_diagnose::findings::Cause;
    use slowpath_recording::Recording;
    use std::collections::BTreeSet;

    /// What is changed of a recording without findings would not go deep.
    #[test]
    fn each_cause_that_is_looked_for_is_found_in_one() {
        let mut found: BTreeSet<Cause> = BTreeSet::new();
        for (about, tables) in super::all() {
            let recording = Recording::from_tables("/".into(), about.clone(), tables.clone(), Vec::new());
            assert_eq!(recording.dangling, 0);
            crate::whole::assert_whole(&recording);
            found.extend(slowpath_diagnose::diagnose(&recording).findings.iter().map(|one| one.cause));
        }
        let wanted: BTreeSet<Cause> = slowpath_diagnose::causes::ALL
            .iter()
            .filter(|spec| matches!(spec.find, Find::InRecording(_)))
            .map(|spec| spec.cause())
            .collect();
        assert_eq!(found, wanted);
    }
}
