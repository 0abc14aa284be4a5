//! The cause `rewritten-file`, on synthetic recordings, at its thresholds.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;

const WRITE: u32 = 1;
const OPEN: u32 = 2;
const CLOSE: u32 = 3;
const RENAME: u32 = 82;
const UNLINK: u32 = 87;
const EMPTIED: u64 = 0o1101; // O_WRONLY | O_CREAT | O_TRUNC
/// `work` itself, without the library's function.
const IN_WORK: u32 = 1;

/// A program that saves a state; each time takes 400 µs in the kernel.
struct Saves {
    times: u32,
    /// Bytes of the k-th time.
    size: fn(u32) -> i64,
    /// Names of the temporary file, and of what it is renamed to, if there is one.
    temporary: Option<fn(u32) -> String>,
    target: fn(u32) -> String,
    /// How many of the times somebody reads it, or removes it.
    read: u32,
    removed: u32,
    /// Part of the writing that is waiting, µs.
    waits: u64,
    /// What `work` computes before it saves, and what `other` does after it, ns.
    prepares: u64,
    elsewhere: u64,
}

impl Default for Saves {
    fn default() -> Saves {
        Saves {
            times: 100,
            size: |_| 5_000,
            temporary: None,
            target: |_| "state/settings".to_owned(),
            read: 0,
            removed: 0,
            waits: 0,
            prepares: 0,
            elsewhere: 0,
        }
    }
}

fn recording(saves: &Saves) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for k in 0..saves.times {
        traced.compute(IN_WORK, saves.prepares);
        let target = (saves.target)(k);
        let path = saves.temporary.map_or_else(|| target.clone(), |of| of(k));
        // It is another state of the file each time.
        let file = traced.file(&path, "file", 0);
        traced.call(OPEN, Some(file), 3, 100 * US).argument = EMPTIED;
        let write = traced.call(WRITE, Some(file), (saves.size)(k), 200 * US);
        write.blocked_ns = saves.waits * US;
        traced.call(CLOSE, Some(file), 0, 50 * US);
        let named = traced.file(&target, "path", 0);
        if saves.temporary.is_some() {
            traced.call(RENAME, Some(named), 0, 50 * US);
        }
        if k < saves.read {
            let read = traced.file(&target, "file", 5_000);
            traced.call(OPEN, Some(read), 3, US).stack = Some(OTHER);
        }
        if k < saves.removed {
            traced.call(UNLINK, Some(named), 0, US);
        }
        traced.compute(OTHER, saves.elsewhere);
    }
    let cpu_ns = u64::from(saves.times) * (400 * US + saves.prepares + saves.elsewhere);
    traced.recording(cpu_ns)
}

#[test]
fn a_state_that_is_saved_each_time_is_reported_with_its_system_calls() {
    let finding = only(&recording(&Saves::default()), "rewritten-file");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.basis()), ("work", Basis::Cpu));
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (35 * MS, 34_650 * US));
    let said = &finding.explanation[0];
    assert!(said.contains("state/settings was written 100 times from work"), "{said}");
    // Safely, by way of another name, which may differ each time.
    for temporary in [|_| "state/settings.tmp".to_owned(), |k| format!("state/.settings.{k}")] {
        let finding =
            only(&recording(&Saves { temporary: Some(temporary), ..Saves::default() }), "rewritten-file");
        assert_eq!(finding.cost.amount(), 40 * MS);
        assert!(finding.explanation[0].contains("by renaming"), "{:?}", finding.explanation);
    }
}

#[test]
fn what_makes_the_contents_counts_where_the_function_is_called_for_each_time() {
    let cost = |elsewhere| {
        let saves = Saves { prepares: 2 * MS, elsewhere, ..Saves::default() };
        only(&recording(&saves), "rewritten-file").cost.amount() / MS
    };
    // Its thread is seen elsewhere in between; or never, so that a loop in it may do other things.
    assert_eq!((cost(MS), cost(0)), (200, 35));
}

#[test]
fn where_a_quarter_is_waiting_it_is_elapsed_time() {
    let basis = |waits| {
        only(&recording(&Saves { times: 400, waits, ..Saves::default() }), "rewritten-file").cost.basis()
    };
    assert_eq!((basis(90), basis(80)), (Basis::Wall, Basis::Cpu));
}

#[test]
fn a_file_that_is_needed_each_time_is_no_finding() {
    let of = |read, removed| recording(&Saves { read, removed, ..Saves::default() });
    only(&of(10, 0), "rewritten-file");
    only(&of(0, 10), "rewritten-file");
    silent(&of(11, 0));
    silent(&of(0, 11));
}

#[test]
fn less_than_twenty_times_are_none() {
    only(&recording(&Saves { times: 20, ..Saves::default() }), "rewritten-file");
    silent(&recording(&Saves { times: 19, ..Saves::default() }));
}

#[test]
fn other_contents_each_time_are_none() {
    // A state that grows; 24 % or 26 % more every other time; and sizes of all kinds.
    only(&recording(&Saves { size: |k| 100 + 50 * i64::from(k), ..Saves::default() }), "rewritten-file");
    only(
        &recording(&Saves { size: |k| 7_600 + i64::from(k % 2) * 2_400, ..Saves::default() }),
        "rewritten-file",
    );
    silent(&recording(&Saves { size: |k| 7_400 + i64::from(k % 2) * 2_600, ..Saves::default() }));
    silent(&recording(&Saves { size: |k| 100 + i64::from(k) * 7_919 % 9_000, ..Saves::default() }));
    silent(&recording(&Saves { size: |_| 0, ..Saves::default() }));
}

#[test]
fn files_that_are_unpacked_are_none() {
    let unpacked = Saves {
        temporary: Some(|_| "usr/share/.new".to_owned()),
        target: |k| format!("usr/share/file{k}"),
        ..Saves::default()
    };
    silent(&recording(&unpacked));
}

#[test]
fn it_must_be_one_function_that_writes_it() {
    let mut twice = recording(&Saves::default());
    for (at, row) in twice.tables.syscalls.iter_mut().filter(|row| row.number == OPEN).enumerate() {
        row.stack = [Some(WORK), Some(OTHER), None][at % 3];
    }
    silent(&twice);
}
