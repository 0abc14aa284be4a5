//! Loops that wait without sleeping, on synthetic recordings, at the thresholds of their cause: `main` calls `wait`, which has a loop at 0x10–0x40 and calls the
//! clock from it, and `work`.

use crate::common::about;
use crate::sampled::{MS, Run, one_thread};
use slowpath_diagnose::diagnose;
use slowpath_diagnose::findings::{Basis, Finding};
use slowpath_recording::tables::*;
use slowpath_recording::{Recording, Tables};
use std::path::PathBuf;

const MAIN: u32 = 0;
const IN_LOOP: u32 = 1;
const AT_CALL: u32 = 2;
const BEHIND: u32 = 3;
const CALLED: u32 = 4;
const WORK: u32 = 5;
const START: u32 = 6;
const KERNEL: u32 = 7;

/// Ms in the loop, in what it calls, behind it, and in `work`.
struct Spent {
    work: &'static str,
    called: &'static str,
    called_module: u32,
    in_loop: f64,
    in_called: f64,
    in_kernel: f64,
    behind: f64,
    elsewhere: f64,
    /// Of so many waits.
    turns: u32,
    module: u32,
}

impl Default for Spent {
    fn default() -> Spent {
        Spent {
            work: "spins",
            called: "clock_gettime",
            called_module: 1,
            in_loop: 60.0,
            in_called: 40.0,
            in_kernel: 0.0,
            behind: 0.0,
            elsewhere: 100.0,
            turns: 2,
            module: 0,
        }
    }
}

fn findings(spent: &Spent) -> Vec<Finding> {
    let mut tables = Tables::default();
    let module = |module, path: &str| Module {
        module,
        path: path.into(),
        build_id: None,
        device: 0,
        inode: 1,
        size: 1,
        mtime_ns: 0,
    };
    tables.modules.extend([module(0, "/bin/program"), module(1, "/lib/libc.so.6")]);
    let functions = [
        (0, "main", 0, 0x1000),
        (1, "wait", spent.module, 0x2000),
        (2, spent.called, spent.called_module, 0x500),
        (3, "work", 0, 0x3000),
    ];
    for (function, name, module, address) in functions {
        let file = Some("program.c".to_owned());
        tables.functions.push(Function {
            function,
            name: name.into(),
            module: Some(module),
            file,
            line: Some(1),
            address,
        });
    }
    let places = [
        (MAIN, 0, 0, 0x1000),
        (IN_LOOP, 1, 0, 0x2010),
        (AT_CALL, 1, 0, 0x203f),
        (BEHIND, 1, 0, 0x2040),
        (CALLED, 2, 1, 0x500),
        (WORK, 3, 0, 0x3000),
        (START, 1, 0, 0x2000),
    ];
    for (location, function, module, address) in places {
        let kind = || "native".to_owned();
        tables.locations.push(Location { location, module: Some(module), address, kind: kind() });
        tables.frames.push(Frame {
            location,
            depth: 0,
            function,
            file: Some("program.c".into()),
            line: Some(1),
            kind: kind(),
        });
    }
    // Stack n ends at location n.
    let parents = [None, Some(MAIN), Some(MAIN), Some(MAIN), Some(AT_CALL), Some(MAIN)];
    for (location, parent) in (0..).zip(parents) {
        tables.stacks.push(Stack { stack: location, parent, location });
    }
    tables.locations.push(Location {
        location: KERNEL,
        module: None,
        address: 0x9000,
        kind: "kernel".into(),
    });
    tables.stacks.push(Stack { stack: START, parent: None, location: START });
    tables.stacks.push(Stack { stack: KERNEL, parent: Some(IN_LOOP), location: KERNEL });
    tables.loops.push(Loop {
        loop_number: 0,
        location: START,
        parent: None,
        ranges: vec![0x10, 0x40],
        work: spent.work.into(),
        chases: None,
        usual: None,
        items: None,
    });
    let mut run = Run::new(tables);
    let turns = f64::from(spent.turns);
    for _ in 0..spent.turns {
        run.spend(spent.in_loop * MS / turns, IN_LOOP);
        run.spend(spent.in_called * MS / turns, CALLED);
        run.spend(spent.in_kernel * MS / turns, KERNEL);
        run.spend(spent.behind * MS / turns, BEHIND);
        run.spend(spent.elsewhere * MS / turns, WORK);
    }
    let end_ns = run.now as u64;
    let mut tables = run.tables;
    one_thread(&mut tables, end_ns);
    let recording = Recording::from_tables(PathBuf::from("synthetic"), about(end_ns), tables, Vec::new());
    diagnose(&recording).findings
}

#[test]
fn a_loop_that_waits_is_reported_with_its_time_and_that_of_the_clock() {
    let found = findings(&Spent::default());
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = &found[0];
    assert_eq!(
        (finding.cause.slug(), finding.variant, finding.cost.basis()),
        ("busy-wait", "spins", Basis::Cpu)
    );
    assert_eq!(finding.place.frame.function, "wait");
    assert!((99..=101).contains(&(finding.cost.gain() / 1_000_000)), "{finding:#?}");
}

#[test]
fn what_calls_something_that_works_or_does_something_itself_does_not_wait() {
    assert!(findings(&Spent { called: "parse", ..Spent::default() }).is_empty());
    assert!(findings(&Spent { work: "walks", ..Spent::default() }).is_empty());
    // A stub goes to the library's function; the program's own may do anything.
    let of_program = |called| findings(&Spent { called, called_module: 0, ..Spent::default() }).len();
    assert_eq!((of_program("time@plt"), of_program("time")), (1, 0));
    // One part in twenty may be something else.
    let with = |in_loop, in_called| {
        findings(&Spent { called: "parse", in_loop, in_called, ..Spent::default() }).len()
    };
    assert_eq!((with(191.0, 9.0), with(188.0, 12.0)), (1, 0));
}

#[test]
fn a_tenth_of_the_time_and_50_ms_count() {
    let with = |in_loop, elsewhere| {
        findings(&Spent { in_loop, in_called: 0.0, elsewhere, ..Spent::default() }).len()
    };
    assert_eq!((with(60.0, 500.0), with(60.0, 580.0)), (1, 0));
    assert_eq!((with(52.0, 100.0), with(48.0, 100.0)), (1, 0));
    let behind = Spent { in_loop: 0.0, in_called: 0.0, behind: 100.0, ..Spent::default() };
    assert!(findings(&behind).is_empty(), "outside of the loop");
}

#[test]
fn short_visits_are_no_waits_and_libraries_may_wait_so() {
    let with = |turns| findings(&Spent { turns, ..Spent::default() }).len();
    assert_eq!((with(10), with(50)), (1, 0), "ten or two samples in a row");
    assert!(findings(&Spent { module: 1, ..Spent::default() }).is_empty());
}

#[test]
fn a_loop_that_works_by_the_kernel_does_not_wait() {
    let with = |in_kernel| findings(&Spent { in_kernel, ..Spent::default() }).len();
    assert_eq!((with(10.0), with(13.0)), (1, 0));
}
