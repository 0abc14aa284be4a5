//! The cause `rewritten-file`, on synthetic recordings, at its thresholds.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::tables::Syscall;

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
    /// What `work` computes while the file is open, and before it opens it, ns.
    within: u64,
    before: u64,
    /// Who writes.
    writer: u32,
}

impl Default for Saves {
    fn default() -> Saves {
        Saves {
            times: 100,
            size: |_| 5_000,
            temporary: None,
            target: |_| "/var/state/settings".to_owned(),
            read: 0,
            removed: 0,
            waits: 0,
            within: 0,
            before: 0,
            writer: WORK,
        }
    }
}

fn recording(saves: &Saves) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for k in 0..saves.times {
        traced.compute(IN_WORK, saves.before);
        let target = (saves.target)(k);
        let path = saves.temporary.map_or_else(|| target.clone(), |of| of(k));
        // It is another state of the file each time.
        let file = traced.file(&path, "file", 0);
        traced.call(OPEN, Some(file), 3, 100 * US).argument = EMPTIED;
        traced.compute(IN_WORK, saves.within);
        let write = traced.call(WRITE, Some(file), (saves.size)(k), 200 * US);
        (write.blocked_ns, write.stack) = (saves.waits * US, Some(saves.writer));
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
    }
    let cpu_ns = u64::from(saves.times) * (400 * US + saves.before + saves.within);
    let mut recording = traced.recording(cpu_ns);
    recording.about.format.minor = 12;
    recording
}

#[test]
fn a_state_that_is_saved_each_time_is_reported_with_its_system_calls() {
    let finding = only(&recording(&Saves::default()), "rewritten-file");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.basis()), ("work", Basis::Cpu));
    assert_eq!((finding.cost.amount(), finding.cost.gain()), (35 * MS, 34_650 * US));
    let said = &finding.explanation[0];
    assert!(said.contains("/var/state/settings was written 100 times from work"), "{said}");
    // Safely, by way of another name, which may differ each time.
    for temporary in [|_| "/var/state/settings.tmp".to_owned(), |k| format!("/var/state/.settings.{k}")] {
        let finding =
            only(&recording(&Saves { temporary: Some(temporary), ..Saves::default() }), "rewritten-file");
        assert_eq!(finding.cost.amount(), 40 * MS);
        assert!(finding.explanation[0].contains("by renaming"), "{:?}", finding.explanation);
    }
}

#[test]
fn what_is_done_while_it_is_open_counts_and_nothing_before() {
    let cost = |within, before| {
        only(&recording(&Saves { within, before, ..Saves::default() }), "rewritten-file").cost.amount() / MS
    };
    assert_eq!((cost(2 * MS, 0), cost(0, MS / 5)), (235, 35));
    // Too few samples.
    assert_eq!(
        only(&recording(&Saves { times: 8 + 12, ..Saves::default() }), "rewritten-file").cost.amount(),
        7 * MS
    );
}

#[test]
fn a_log_that_others_write_to_is_none() {
    silent(&recording(&Saves { writer: OTHER, ..Saves::default() }));
}

#[test]
fn a_relative_name_must_lead_to_the_same_file() {
    let mut relative = recording(&Saves { target: |_| "index.html".to_owned(), ..Saves::default() });
    silent(&relative);
    // A file system takes the place of the file that was replaced.
    relative.tables.files.iter_mut().for_each(|file| file.inode = 40 + file.inode % 7);
    only(&relative, "rewritten-file");
    // Before minor version 12 a rename has the old name.
    relative.about.format.minor = 11;
    silent(&relative);
}

#[test]
fn what_is_read_back_through_the_same_descriptor_is_needed() {
    let mut spilled = recording(&Saves::default());
    for row in spilled.tables.syscalls.iter_mut().filter(|row| row.number == OPEN) {
        row.argument = EMPTIED + 1; // O_RDWR
    }
    only(&spilled, "rewritten-file");
    let reads: Vec<_> = spilled.tables.syscalls.iter().filter(|row| row.number == WRITE).cloned().collect();
    spilled.tables.syscalls.extend(reads.into_iter().map(|row| Syscall { number: 0, ..row }));
    spilled.tables.syscalls.sort_by_key(|row| row.time_ns);
    silent(&spilled);
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
        temporary: Some(|_| "/usr/share/.new".to_owned()),
        target: |k| format!("/usr/share/{}/file{k}", k % 7),
        ..Saves::default()
    };
    silent(&recording(&unpacked));
    // A copy of the last contents is kept beside those that others read.
    let backup = Saves {
        temporary: Some(|_| "/var/state/settings".to_owned()),
        target: |_| "/var/state/settings~".to_owned(),
        ..Saves::default()
    };
    let mut backup = recording(&backup);
    only(&backup, "rewritten-file");
    let mut read = backup.tables.syscalls.iter().find(|row| row.number == OPEN).cloned().expect("opened");
    (read.argument, read.stack, read.count) = (0, Some(OTHER), 11);
    backup.tables.syscalls.push(read);
    silent(&backup);
}

#[test]
fn it_must_be_one_function_that_writes_it() {
    let mut twice = recording(&Saves::default());
    for (at, row) in twice.tables.syscalls.iter_mut().filter(|row| row.number == OPEN).enumerate() {
        row.stack = [Some(WORK), Some(OTHER), None][at % 3];
    }
    silent(&twice);
}
