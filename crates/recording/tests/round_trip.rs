//! What was written is read back equal, whatever the rows; and what points to nothing is dropped and counted.

use proptest::prelude::*;
use slowpath_files::{Caller, Folder};
use slowpath_recording::about::{Format, MAJOR, State};
use slowpath_recording::tables::*;
use slowpath_recording::{About, Recording, Writer};
use std::sync::Arc;

fn about() -> About {
    serde_json::from_value(serde_json::json!({
        "format": {"major": 1, "minor": 0}, "slowpath": "0", "id": "x", "state": "complete", "command": ["a", "b c"],
        "directory": "/", "host": "h", "kernel": "k", "cpu": "c", "cpus": 1, "started_unix_ns": 1, "start_ns": 0,
        "wall_ns": 5, "user_ns": 3, "sys_ns": 1, "exit": null, "runs": 1, "attached": false, "collectors": [],
        "degraded": ["é"], "lost": {"samples": 2}, "sampled_share": 0.5
    }))
    .expect("about.json as documented")
}

fn process(number: u32, program: String, arguments: Vec<String>, cpu_ns: Option<u64>) -> Process {
    Process {
        process: number,
        parent: number.checked_sub(1),
        pid: 100 + number,
        run: 0,
        program,
        arguments,
        directory: None,
        start_ns: 0,
        exec_ns: None,
        end_ns: cpu_ns,
        exit: Some(-1),
        cpu_ns,
        user_ns: None,
        peak_memory_bytes: None,
        tracing_ns: 3,
        sample_scale: 1.5,
    }
}

/// So much can be a moment, and can be added up a few hundred times.
const AMOUNT: u64 = 1 << 53;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_recording_written_in_segments_is_read_back_equal(
        programs in prop::collection::vec((".*", prop::collection::vec(".*", 0..4), prop::option::of(0..AMOUNT)), 1..6),
        times in prop::collection::vec(0..AMOUNT, 0..200),
        cut in 0usize..200,
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::create(Arc::new(Folder::open(dir.path()).expect("a folder")), &about(), &Caller::detect()).expect("it is created");
        let processes: Vec<Process> = (0..)
            .zip(programs)
            .map(|(number, (program, arguments, cpu))| process(number, program, arguments, cpu))
            .collect();
        writer.tables.processes.clone_from(&processes);
        let name = "t".to_owned();
        writer.tables.threads.push(Thread { thread: 0, process: 0, tid: 1, name, start_ns: 0, end_ns: None, cpu_ns: None });
        let mut samples: Vec<Sample> = times
            .iter()
            .map(|time| Sample { time_ns: *time, thread: 0, on_cpu: time % 2 == 0, weight_ns: *time, stack: None, complete: true })
            .collect();
        let cut = cut.min(samples.len());
        writer.tables.samples.extend_from_slice(&samples[..cut]);
        writer.flush().expect("the first segment is written");
        writer.tables.samples.extend_from_slice(&samples[cut..]);
        writer.finish(about()).expect("the rest is written");

        let recording = Recording::open(dir.path()).expect("it opens");
        prop_assert!(!recording.cut_short());
        prop_assert_eq!(&recording.about, &about());
        prop_assert_eq!(&recording.tables.processes, &processes);
        samples.sort_by_key(|sample| sample.time_ns);
        prop_assert_eq!(&recording.tables.samples, &samples);
    }
}

#[test]
fn rows_that_point_to_nothing_are_dropped_and_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer =
        Writer::create(Arc::new(Folder::open(dir.path()).expect("a folder")), &about(), &Caller::detect())
            .expect("it is created");
    writer.tables.samples.push(Sample {
        time_ns: 1,
        thread: 7,
        on_cpu: true,
        weight_ns: 1,
        stack: Some(9),
        complete: true,
    });
    writer.finish(about()).expect("it is written");
    let recording = Recording::open(dir.path()).expect("it opens");
    assert_eq!((recording.dangling, recording.tables.samples.len()), (1, 0));
    assert!(recording.cut_short());
}

#[test]
fn of_several_rows_with_one_number_the_last_holds() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer =
        Writer::create(Arc::new(Folder::open(dir.path()).expect("a folder")), &about(), &Caller::detect())
            .expect("it is created");
    writer.tables.processes.push(process(0, "first".into(), Vec::new(), None));
    writer.flush().expect("it is written");
    writer.tables.processes.push(process(0, "last".into(), Vec::new(), Some(5)));
    writer.finish(about()).expect("it is written");
    let recording = Recording::open(dir.path()).expect("it opens");
    assert_eq!(recording.tables.processes, [process(0, "last".into(), Vec::new(), Some(5))]);
    assert!(!recording.cut_short());
}

#[test]
fn a_recording_whose_writer_was_killed_opens_and_is_cut_short() {
    let dir = tempfile::tempdir().expect("a folder");
    let running = About { state: State::Recording, format: Format { major: MAJOR, minor: 0 }, ..about() };
    let mut writer =
        Writer::create(Arc::new(Folder::open(dir.path()).expect("a folder")), &running, &Caller::detect())
            .expect("it is created");
    writer.tables.processes.push(process(0, "p".into(), Vec::new(), None));
    writer.flush().expect("it is written");
    drop(writer);
    let recording = Recording::open(dir.path()).expect("it opens");
    assert!(recording.cut_short());
    assert_eq!(recording.tables.processes.len(), 1);
}

/// A segment of a table that asks for far more memory than its size: `rows` times the same text, or the same numbers.
fn unfolding(rows: usize, text: &str) -> (tempfile::TempDir, u64) {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = Arc::new(Folder::open(dir.path()).expect("a folder"));
    let mut writer = Writer::create(folder, &about(), &Caller::detect()).expect("it is created");
    let path = text.to_owned();
    let row = Module { module: 0, path, build_id: None, device: 0, inode: 0, size: 0, mtime_ns: 0 };
    writer.tables.modules = vec![row; rows];
    writer.finish(about()).expect("it is written");
    let size = std::fs::metadata(dir.path().join("modules/000001.parquet")).expect("a segment").len();
    (dir, size)
}

#[test]
fn a_small_segment_that_unfolds_to_gigabytes_is_left_out_and_said() {
    // 20,000 times one text of 5 KB: 100 MB out of a dictionary.
    let (dir, size) = unfolding(20_000, &"x".repeat(5_000));
    assert!(size < 100_000, "{size} bytes");
    let recording = Recording::open(dir.path()).expect("it opens");
    assert!(recording.tables.modules.is_empty() && recording.cut_short());
    assert!(recording.damaged[0].contains("too much for its size"), "{:?}", recording.damaged);
}

#[test]
fn rows_that_are_alike_are_no_reason_to_leave_a_segment_out() {
    let (dir, _) = unfolding(20_000, "/usr/bin/true");
    let recording = Recording::open(dir.path()).expect("it opens");
    assert!(recording.damaged.is_empty(), "{:?}", recording.damaged);
    assert_eq!(recording.tables.modules.len(), 1);
}
