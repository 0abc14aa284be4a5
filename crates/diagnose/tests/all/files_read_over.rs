//! An open file that is read over and over, on synthetic recordings, at its thresholds.

use crate::traced::{MS, Mode, Traced, US, only, silent};
use slowpath_recording::Recording;

const READ: u32 = 0;
const WRITE: u32 = 1;
const PREAD: u32 = 17;
const OPEN: u32 = 257;
const CLOSE: u32 = 3;
const LSEEK: u32 = 8;
/// The stack of `work` itself.
const IN_WORK: u32 = 1;
const IN_READER: u32 = 2;

/// A file that is opened once and read to its end `times` times, with `seeks` back to its beginning.
fn rewinding(mode: Mode, times: u32, seeks: u32, size: u64) -> Recording {
    let mut traced = Traced::new(mode);
    let file = traced.file("/data/volume.gz", "file", size);
    traced.call(OPEN, Some(file), 3, 10 * US);
    for time in 0..times {
        traced.call(READ, Some(file), size as i64, 100 * US);
        if time < seeks {
            traced.call(LSEEK, Some(file), 0, US);
        }
    }
    traced.call(CLOSE, Some(file), 0, 10 * US);
    traced.recording(u64::from(times) * 200 * US)
}

#[test]
fn a_file_that_is_rewound_and_read_again_is_reported() {
    let finding = only(&rewinding(Mode::Each, 200, 199, 2_000), "redundant-file-access");
    assert_eq!((finding.variant, finding.cost.gain()), ("rewound", 20 * MS / 200 * 199));
    assert!(finding.explanation[0].contains("400,000 bytes of a file of 2,000"), "{:?}", finding.explanation);
    // It must have been rewound, and be read eight times or more.
    silent(&rewinding(Mode::Each, 200, 198, 2_000));
    silent(&rewinding(Mode::Each, 200, 0, 2_000));
    let slower = |times: u32| {
        let mut recording = rewinding(Mode::Each, times, times, 2_000);
        recording.tables.syscalls.iter_mut().for_each(|row| row.duration_ns *= 100);
        recording.about.user_ns *= 100;
        recording
    };
    only(&slower(8), "redundant-file-access");
    silent(&slower(7));
    // What does not fit into memory has to be read again.
    only(&rewinding(Mode::Each, 200, 200, 1 << 30), "redundant-file-access");
    silent(&rewinding(Mode::Each, 200, 200, (1 << 30) + 1));
}

/// A file of 100 pieces that is read by place, `times` as many pieces as it has, in the order of `piece`.
fn by_place(times: u64, piece: impl Fn(u64) -> u64) -> Recording {
    const PIECE: u64 = 4_096;
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/data/logs.7z", "file", 100 * PIECE);
    traced.call(OPEN, Some(file), 3, 10 * US);
    for at in 0..100 * times {
        let from = piece(at) * PIECE;
        traced.call(PREAD, Some(file), PIECE as i64, 100 * US).argument = from;
    }
    traced.call(CLOSE, Some(file), 0, 10 * US);
    traced.recording(times * 12 * MS)
}

#[test]
fn a_file_that_is_read_by_place_as_a_stream_again_and_again_is_reported() {
    let finding = only(&by_place(20, |at| at % 100), "redundant-file-access");
    assert_eq!((finding.variant, finding.cost.gain()), ("rewound", 200 * MS / 20 * 19));
    assert!(finding.explanation[0].contains("from an earlier place on"), "{:?}", finding.explanation);
    only(&by_place(8, |at| at % 100), "redundant-file-access");
    silent(&by_place(7, |at| at % 100));
    // Each fourth read, or more, leads elsewhere: 100 pieces in runs of 4, and of 3.
    let in_runs = |of: u64| move |at: u64| (at / of * 37 % (100 / of)) * of + at % of;
    only(&by_place(20, in_runs(5)), "redundant-file-access");
    silent(&by_place(20, in_runs(3)));
    // Pages of a database.
    silent(&by_place(20, |at| at * 37 % 100));
}

#[test]
fn what_is_made_of_the_bytes_of_a_rewound_file_is_done_again_too() {
    let cost = |stack| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/data/volume.gz", "file", 2_000);
        for _ in 0..100 {
            traced.call(READ, Some(file), 2_000, 400 * US);
            traced.call(LSEEK, Some(file), 0, US);
            traced.compute(stack, 3 * MS);
            traced.now += 3 * MS;
        }
        let finding = only(&traced.recording(350 * MS), "redundant-file-access");
        assert_eq!(finding.variant, "rewound");
        finding.cost.amount() / MS
    };
    // In the library's function that reads; in the program itself, which may do anything.
    assert_eq!((cost(IN_READER), cost(IN_WORK)), (300, 40));
}

#[test]
fn who_reads_long_stretches_of_a_file_here_and_there_reads_it_over() {
    const PART: u64 = 65_536;
    // Ten parts in turn, so that one seek of ten leads back.
    let in_parts = |bytes: u64| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/data/genome", "file", 10 * PART);
        for part in 0..100 * PART / bytes {
            traced.call(LSEEK, Some(file), (part % 10 * PART) as i64, US);
            traced.call(READ, Some(file), bytes as i64, 100 * US);
        }
        traced.recording(20 * MS * PART / bytes)
    };
    assert_eq!(only(&in_parts(PART), "redundant-file-access").variant, "rewound");
    // Pages of a database.
    silent(&in_parts(PART / 2));
}

#[test]
fn a_file_that_grows_or_is_written_to_is_not_read_over() {
    let following = |step: i64, writes: bool| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/var/log/it", "file", 2_000);
        for round in 0..200 {
            traced.call(LSEEK, Some(file), round * step, US);
            traced.call(READ, Some(file), 2_000, 100 * US);
            if writes {
                traced.call(WRITE, Some(file), 10, US);
            }
        }
        traced.recording(40 * MS)
    };
    only(&following(0, false), "redundant-file-access");
    silent(&following(2_000, false));
    silent(&following(0, true));
}

#[test]
fn of_what_reads_several_files_in_the_same_way_a_file_bears_its_part() {
    let mut traced = Traced::new(Mode::Each);
    let (head, data) = (traced.file("/data/head", "file", 1_000), traced.file("/data/all", "file", 1 << 29));
    for _ in 0..100 {
        traced.call(READ, Some(head), 1_000, 400 * US);
        traced.call(LSEEK, Some(head), 0, US);
        traced.call(READ, Some(data), 9_000, 400 * US);
        traced.compute(IN_READER, 3 * MS);
        traced.now += 3 * MS;
    }
    let finding = only(&traced.recording(350 * MS), "redundant-file-access");
    assert_eq!(
        finding.cost.amount(),
        40 * MS,
        "a tenth of what the reader does is less than its own calls: {finding:#?}"
    );
}

/// Archives of `size` bytes. In each, an entry of the index at its end is read, and the head that it tells of, `step` bytes further than the last ones: a buffer of
/// 8 KiB is filled for both.
fn to_and_fro(archives: u32, size: u64, step: u64, read_ns: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for archive in 0..archives {
        let file = traced.file(&format!("/data/{archive}.zip"), "file", size);
        traced.call(OPEN, Some(file), 3, 10 * US);
        for entry in 0..100 {
            for place in [size - 10_000 + entry * step, entry * step] {
                traced.call(LSEEK, Some(file), place as i64, US);
                traced.call(READ, Some(file), 8_192, read_ns);
            }
        }
        traced.call(CLOSE, Some(file), 0, 10 * US);
    }
    traced.recording(u64::from(archives) * 100 * MS)
}

#[test]
fn a_buffer_that_each_seek_throws_away_is_reported() {
    let finding = only(&to_and_fro(1, 140_000, 40, 100 * US), "redundant-file-access");
    assert!(
        finding.explanation[1].contains("a buffer is filled and thrown away"),
        "{:?}",
        finding.explanation
    );
    assert!(finding.advice.contains("seek_relative"), "{}", finding.advice);
    // 11.7 times the file in 20 ms, all but once.
    assert!((18 * MS..20 * MS).contains(&finding.cost.gain()), "{:?}", finding.cost);
    // Whole buffers, each another one: what is read is used. In a small file reads begin within each other by chance.
    for (size, step) in [(140_000, 8_192), (120_000, 40)] {
        let finding = only(&to_and_fro(1, size, step, 100 * US), "redundant-file-access");
        assert!(finding.explanation[1].contains("with the processing"), "{:?}", finding.explanation);
    }
}

#[test]
fn files_that_one_place_reads_over_count_together() {
    // Each takes 1.2 % of the time.
    let finding = only(&to_and_fro(10, 140_000, 40, 60 * US), "redundant-file-access");
    let said = &finding.explanation[0];
    assert!(
        said.starts_with("10 files such as /data/0.zip were opened once and read 12 times over"),
        "{said}"
    );
    assert!((108 * MS..112 * MS).contains(&finding.cost.gain()), "{:?}", finding.cost);
    silent(&to_and_fro(10, 140_000, 40, 50 * US));
}
