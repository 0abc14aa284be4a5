//! Items that are handed to another thread one by one, on synthetic recordings: who gives, who takes, and what Go's scheduler does meanwhile.

use crate::costly_calls::{CAUSE, called, findings, moved, run};
use crate::traced::{MS, OTHER, WORK, only, silent};
use slowpath_diagnose::findings::Finding;
use slowpath_recording::Recording;

#[test]
fn who_hands_items_over_is_named_before_who_takes_more_time_to_take_them() {
    // `work` takes them for 200 ms, `other` gives them for some of its time, and `work` gives some as well.
    let reported = |gives: usize, gives_too: usize| {
        let mut recording = run("g_async_queue_pop", 200, 100);
        let push = called(&mut recording, "g_async_queue_push", 1, OTHER);
        moved(&mut recording, OTHER, push, gives);
        let push = called(&mut recording, "g_async_queue_push", 1, 1);
        moved(&mut recording, OTHER, push, gives_too);
        findings(&recording)
    };
    let one = |gives, gives_too| {
        let found = reported(gives, gives_too);
        assert_eq!(found.len(), 1);
        (found[0].place.frame.function.clone(), found[0].cost.gain() / MS)
    };
    // What taking takes counts up to twice what giving takes: who waits for more may spin.
    assert_eq!(one(30, 0), ("other".to_owned(), 90));
    assert_eq!(one(23, 0), ("other".to_owned(), 69));
    assert_eq!(one(100, 0), ("other".to_owned(), 300));
    assert_eq!(one(20, 80), ("work".to_owned(), 300));
    // Nine tenths of it and more is waiting.
    assert!(reported(22, 0).is_empty());
}

#[test]
fn a_connection_of_the_library_has_channels_of_its_own() {
    let mut recording = run("runtime.chansend1", 200, 100);
    recording.tables.functions[WORK as usize].module = Some(0);
    only(&recording, CAUSE);
    let library = called(&mut recording, "net/http.(*persistConn).roundTrip", 0, 1);
    let sends = called(&mut recording, "runtime.chansend1", 0, library);
    moved(&mut recording, WORK, sends, 200);
    silent(&recording);
}

/// A function selects for 60 ms, in one place, and below that for so many ms in `below`; another one takes for 60 ms, of 300.
fn selecting(below: &str, ms: usize) -> Recording {
    let mut recording = run("runtime.chanrecv1", 60, 240);
    recording.tables.functions[WORK as usize].module = Some(0);
    let selects = called(&mut recording, "runtime.selectgo", 0, OTHER);
    moved(&mut recording, OTHER, selects, 60);
    let below = called(&mut recording, below, 0, selects);
    moved(&mut recording, selects, below, ms);
    recording
}

#[test]
fn a_select_of_go_gives_where_it_sends() {
    let finding = only(&selecting("runtime.send", 3), CAUSE);
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.gain()), ("other", 120 * MS));
    silent(&selecting("runtime.recv", 3));
    // Now and then, and more seldom than it takes.
    silent(&selecting("runtime.send", 2));
    let mut both = selecting("runtime.send", 3);
    let selects = both.tables.stacks.iter().find(|one| one.location == both.tables.stacks.len() as u32 - 1);
    let selects = selects.and_then(|one| one.parent).expect("what sends is below it");
    let receives = called(&mut both, "runtime.recv", 0, selects);
    moved(&mut both, selects, receives, 4);
    silent(&both);
}

/// Of 300 ms the scheduler takes 60, and so many samples in it are of goroutines that wait for a channel, and for other things.
fn scheduling(for_channels: usize, for_others: usize) -> Finding {
    let mut recording = selecting("runtime.send", 3);
    let parks = called(&mut recording, "runtime.park_m", 0, 0);
    moved(&mut recording, OTHER, parks, 60);
    for (name, samples) in
        [("runtime.selparkcommit", for_channels), ("runtime.netpollblockcommit", for_others)]
    {
        let commits = called(&mut recording, name, 0, parks);
        moved(&mut recording, parks, commits, samples);
    }
    only(&recording, CAUSE)
}

#[test]
fn what_the_scheduler_does_for_those_that_wait_at_channels_is_part_of_it() {
    // 16 less 8, of 18: less than half of the 60 ms, for these may be chance.
    let finding = scheduling(16, 0);
    assert!((146 * MS..147 * MS).contains(&finding.cost.gain()), "{:?}", finding.cost);
    assert!(finding.explanation[0].contains("27 ms more in the scheduler"), "{:?}", finding.explanation);
    // As far as they wait for that: 8 of 34.
    assert!((134 * MS..135 * MS).contains(&scheduling(16, 16).cost.gain()));
    // Too few to say.
    assert_eq!(scheduling(4, 0).cost.gain(), 120 * MS);
}

#[test]
fn the_scheduler_is_not_busy_with_this_where_others_have_the_channels() {
    let mut recording = selecting("runtime.send", 3);
    let parks = called(&mut recording, "runtime.park_m", 0, 0);
    moved(&mut recording, OTHER, parks, 60);
    let commits = called(&mut recording, "runtime.chanparkcommit", 0, parks);
    moved(&mut recording, parks, commits, 16);
    let library = called(&mut recording, "net/http.(*persistConn).roundTrip", 0, 1);
    let receives = called(&mut recording, "runtime.chanrecv2", 0, library);
    moved(&mut recording, OTHER, receives, 60);
    // A third of the time at channels is that of the library's connection: of 26.7 ms the rest counts.
    let gain = only(&recording, CAUSE).cost.gain();
    assert!((137 * MS..138 * MS).contains(&gain), "{gain}");
}

#[test]
fn the_scheduler_does_nothing_for_goroutines_that_are_started() {
    let mut recording = run("runtime.newproc", 70, 230);
    let parks = called(&mut recording, "runtime.park_m", 0, 0);
    moved(&mut recording, OTHER, parks, 60);
    let commits = called(&mut recording, "runtime.chanparkcommit", 0, parks);
    moved(&mut recording, parks, commits, 16);
    assert_eq!(only(&recording, CAUSE).cost.gain(), 70 * MS);
}
