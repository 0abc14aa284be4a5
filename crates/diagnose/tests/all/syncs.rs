//! The cause in calls that wait for the disk, on synthetic recordings, at its thresholds, with calls recorded one by one and added up.

use crate::traced::{MS, Mode, OTHER, Traced, US, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::tables::Syscall;

const READ: u32 = 0;
const WRITE: u32 = 1;
const CONNECT: u32 = 42;
const FSYNC: u32 = 74;

/// `times` records of `bytes`, each written and then waited for.
fn syncing(times: u32, bytes: i64, wait: u64, other_ms: u64) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/var/log/journal", "file", 0);
    for _ in 0..times {
        traced.call(WRITE, Some(file), bytes, 10 * US);
        traced.sleep(FSYNC, Some(file), 0, wait);
    }
    traced.compute(OTHER, other_ms * MS);
    traced.recording((times as u64 * 20 * US) + other_ms * MS)
}

#[test]
fn a_sync_for_every_record_is_told_in_elapsed_time() {
    let finding = only(&syncing(100, 200, 3 * MS, 0), "sync-per-operation");
    assert_eq!((finding.cost.basis(), finding.cost.amount()), (Basis::Wall, 300 * MS));
    assert_eq!(finding.files[0].path, "/var/log/journal");
    assert!(
        finding.explanation[1].contains("on average 200 bytes were written"),
        "{:?}",
        finding.explanation
    );
}

#[test]
fn syncs_count_from_twenty_on_below_16_kib_and_from_a_tenth_of_the_time() {
    silent(&syncing(19, 200, 3 * MS, 0));
    only(&syncing(20, 200, 3 * MS, 0), "sync-per-operation");
    silent(&syncing(100, 16_385, 3 * MS, 0));
    only(&syncing(100, 16_384, 3 * MS, 0), "sync-per-operation");
    silent(&syncing(100, 200, 3 * MS, 2_800));
    only(&syncing(100, 200, 3 * MS, 2_500), "sync-per-operation");
}

/// 100 records, each written, synced `syncs` times and confirmed to a peer, which then sends the next one. `peers` threads do so one after the
/// other, each with a socket of its own.
fn confirmed(syncs: u32, peers: u32, asks: bool) -> Traced {
    let mut traced = Traced::new(Mode::Each);
    traced.threads(peers);
    let file = traced.file("/var/spool/queue", "file", 0);
    let sockets: Vec<u32> = (0..peers).map(|_| traced.file("", "socket", 0)).collect();
    for turn in 0..100 {
        let thread = turn % peers;
        let socket = Some(sockets[thread as usize]);
        if asks {
            traced.call(READ, socket, 200, 10 * US).thread = thread;
        }
        traced.call(WRITE, Some(file), 200, 10 * US).thread = thread;
        for _ in 0..syncs {
            traced.sleep(FSYNC, Some(file), 0, 3 * MS).thread = thread;
        }
        traced.call(WRITE, socket, 8, 10 * US).thread = thread;
    }
    traced
}

#[test]
fn records_that_one_peer_waits_for_are_silent() {
    let recorded = |traced: Traced| traced.recording(10 * MS);
    silent(&recorded(confirmed(1, 1, true)));
    silent(&recorded(confirmed(4, 1, true)));
    only(&recorded(confirmed(5, 1, true)), "sync-per-operation");
    // The peer is answered, and sends nothing in return. Or there is another peer.
    only(&recorded(confirmed(1, 1, false)), "sync-per-operation");
    only(&recorded(confirmed(1, 2, true)), "sync-per-operation");
    // Of the second half of the turns only sums are known.
    let in_part = |syncs: u32| {
        let mut recording = recorded(confirmed(syncs, 1, true));
        let rows = &mut recording.tables.syscalls;
        let late = rows[rows.len() / 2].time_ns;
        let talk = |row: &&mut Syscall| row.number != FSYNC && row.bytes != 0 && row.file == Some(1);
        rows.iter_mut().filter(talk).filter(|row| row.time_ns >= late).for_each(|row| row.count = 2);
        recording
    };
    silent(&in_part(4));
    only(&in_part(8), "sync-per-operation");
    // A read that finds nothing is no request.
    let mut nothing = recorded(confirmed(1, 1, true));
    nothing.tables.syscalls.iter_mut().filter(|row| row.number == READ).for_each(|row| row.result = -11);
    only(&nothing, "sync-per-operation");
    // Each place counts the turn: the file is synced in one function, and its folder in another.
    let mut two = recorded(confirmed(2, 1, true));
    let syncs = two.tables.syscalls.iter_mut().filter(|row| row.number == FSYNC);
    syncs.skip(1).step_by(2).for_each(|row| row.stack = Some(OTHER));
    silent(&two);
}

#[test]
fn who_asks_others_and_syncs_what_it_got_is_reported() {
    let to = |address: &str| {
        let mut traced = confirmed(1, 1, true);
        let server = traced.file(address, "socket", 0);
        let now = std::mem::replace(&mut traced.now, 0);
        traced.call(CONNECT, Some(server), 0, 10 * US);
        traced.now = now;
        let findings = slowpath_diagnose::diagnose(&traced.recording(10 * MS)).findings;
        findings.iter().any(|one| one.cause == "sync-per-operation")
    };
    assert!(to("192.0.2.1:5432") && !to("/dev/log"));
}

/// Syncs of 3 ms during which a thread uses the CPU.
fn syncs_beside(thread: u32) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(Some(0), "/bin/program", 300 * MS);
    let file = traced.file("/var/log/journal", "file", 0);
    for _ in 0..100 {
        let from = traced.now;
        traced.sleep(FSYNC, Some(file), 0, 3 * MS);
        let until = std::mem::replace(&mut traced.now, from);
        traced.compute(OTHER, 3 * MS);
        traced.now = until;
    }
    traced.tables.samples.iter_mut().for_each(|sample| sample.thread = thread);
    traced.recording(310 * MS)
}

#[test]
fn syncs_beside_other_work_are_silent() {
    silent(&syncs_beside(1));
}

#[test]
fn what_the_sync_itself_computes_is_no_other_work() {
    // On a fast disk that is most of it.
    only(&syncs_beside(0), "sync-per-operation");
}

#[test]
fn a_file_opened_for_synchronous_writes_is_told_too() {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/var/log/journal", "file", 0);
    for _ in 0..100 {
        traced.sleep(WRITE, Some(file), 200, 3 * MS).sync = true;
    }
    only(&traced.recording(MS), "sync-per-operation");
}

#[test]
fn opening_a_file_for_each_record_is_part_of_what_a_sync_for_each_costs() {
    const OPEN: u32 = 257;
    let opening = |syncs: bool| {
        let mut traced = Traced::new(Mode::Each);
        let file = traced.file("/var/lib/db-journal", "file", 0);
        for _ in 0..100 {
            traced.call(OPEN, Some(file), 3, 2 * MS).argument = 0x42; // O_RDWR, O_CREAT
            traced.call(WRITE, Some(file), 100, 10 * US);
            if syncs {
                traced.sleep(FSYNC, Some(file), 0, 3 * MS);
            }
        }
        traced.recording(210 * MS)
    };
    let finding = only(&opening(true), "sync-per-operation");
    assert_eq!(finding.cost.amount(), 500 * MS);
    assert!(finding.explanation.iter().any(|said| said.contains("took 200 ms more")), "{finding:#?}");
    assert_eq!(only(&opening(false), "redundant-file-access").variant, "reopened");
}
