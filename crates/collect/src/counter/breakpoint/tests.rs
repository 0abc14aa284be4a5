//! Breakpoints on ourselves.

use super::*;
use crate::bpf::{MODE_COUNT, MODE_RECORD};
use crate::image::Image;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

#[inline(never)]
fn counted(number: u64) -> u64 {
    black_box(number) + 1
}

/// A function of ours as a candidate, in the process `pid`.
fn candidate() -> Candidate {
    let live = counted as fn(u64) -> u64 as usize as u64;
    let path = Path::new("/proc/self/exe");
    let image = Arc::new(Image::open(path, path, |_| true).expect("ourselves"));
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    let place = maps.lines().find_map(|line| {
        let (range, offset, ..) = crate::session::executable_mapping(line)?;
        range.contains(&live).then_some((range.start, offset))
    });
    let (start, offset) = place.expect("it is mapped");
    let svma = image.svma_of_offset(offset).expect("a segment") + (live - start);
    Candidate {
        process: 0,
        pid: std::process::id(),
        function: 0,
        caller: None,
        share: 1.0,
        samples: 100.0,
        innermost: 1.0,
        recursive: false,
        calls_itself: false,
        image,
        file: path.to_owned(),
        start: svma,
        end: svma + 16,
        live,
        places: Vec::new(),
    }
}

/// What a hit takes here, ns. None if breakpoints may not be used; says SKIPPED.
#[allow(clippy::print_stderr)] // what was skipped is said
fn hit_ns() -> Option<u64> {
    measure().inspect_err(|error| eprintln!("SKIPPED: {}", obstacle(error))).ok()
}

/// Descriptors of perf events that we have.
fn events() -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").expect("our descriptors").flatten();
    let names = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    names.filter(|name| name.to_string_lossy().contains("perf_event")).count()
}

fn row(mode: u32, stop_at: u64) -> Slot {
    Slot { mode, stop_at, probe: 7, generation: 1, ..Slot::default() }
}

// One test, since all share the four breakpoints of their threads and the descriptors of the process.
#[test]
fn hits_are_counted_exactly_up_to_the_limit_in_at_most_four_places_and_nothing_is_left() {
    let Some(hit_ns) = hit_ns() else { return };
    assert!((100..10_000_000).contains(&hit_ns), "a hit is not for nothing: {hit_ns} ns");
    let before = events();
    let of = candidate();
    let mut all = Breakpoints::new(1000, None);
    all.open(0, row(MODE_RECORD, 10), &of, 0).expect("it opens");
    let call: fn(u64) -> u64 = black_box(counted);
    (0..6).for_each(|number| assert_eq!(call(number), number + 1));
    let entries = all.drain();
    assert_eq!((entries.len(), all.seen(0).count, all.seen(0).stopped_ns), (6, 6, None));
    // In a thread that begins later too, once it was looked for.
    let (ready, go) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
    let thread = std::thread::Builder::new().spawn(move || {
        ready.0.send(()).expect("it listens");
        go.1.recv().expect("it is told");
        (0..3).for_each(|number| assert_eq!(call(number), number + 1));
    });
    let thread = thread.expect("a thread can be made");
    ready.1.recv().expect("it begins");
    all.processes.values_mut().for_each(|process| process.looked_ns = 0);
    all.drain();
    go.0.send(()).expect("it listens");
    thread.join().expect("it ends");
    all.drain();
    assert_eq!(all.seen(0).count, 9);
    // The tenth is the last.
    (0..50).for_each(|number| assert_eq!(call(number), number + 1));
    assert_eq!(all.drain().len(), 1);
    let seen = all.seen(0);
    assert_eq!(seen.count, 10);
    assert!(seen.stopped_ns.is_some_and(|at| at > seen.first_ns), "{seen:?}");
    // Three more, and no fifth.
    for slot in 1..AT_ONCE {
        all.open(slot, row(MODE_COUNT, 10), &of, 0).expect("it opens");
    }
    let fifth = all.open(AT_ONCE, row(MODE_COUNT, 10), &of, 0).map_err(|error| error.raw_os_error());
    assert_eq!(fifth, Err(Some(libc::ENOSPC)));
    all.close(0);
    // A process that another test forks has a copy of the descriptor until it executes its program.
    let again = (0..1_000).any(|_| {
        let opened = all.open(AT_ONCE, row(MODE_COUNT, 10), &of, 0);
        let full = opened.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::ENOSPC));
        if full {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        !full && opened.map(|()| true).expect("it opens")
    });
    assert!(again, "there is a place again");
    // Code that is not what it should be is left alone.
    all.close(1);
    let elsewhere = Candidate { live: of.live + 1, ..of.clone() };
    let wrong = all.open(1, row(MODE_COUNT, 10), &elsewhere, 0).map_err(|error| error.raw_os_error());
    assert_eq!(wrong, Err(Some(libc::ESRCH)));
    assert!(events() > before);
    for slot in 0..=AT_ONCE {
        all.close(slot);
    }
    all.gone(std::process::id());
    assert_eq!(events(), before);
}
