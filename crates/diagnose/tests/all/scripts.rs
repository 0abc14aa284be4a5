//! Scripts that sleep and look through children, on synthetic recordings.

use crate::traced::{MS, Mode, Traced, US, only, silent};
use slowpath_recording::Recording;

const STAT: u32 = 4;
const NANOSLEEP: u32 = 35;

/// A script that sleeps and looks through children, whose looks end with these exit codes in turn.
fn script(exits: [i32; 2]) -> Recording {
    const WAIT4: u32 = 61;
    let mut traced = Traced::new(Mode::Each);
    let look = |traced: &mut Traced, exit: i32| {
        let child = traced.process(Some(0), "/bin/grep", MS);
        traced.tables.processes[child as usize].exit = Some(exit);
        traced.sleep(WAIT4, None, i64::from(child) + 100, 2 * MS);
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
        traced.call(WAIT4, None, -10, US); // no more children
    };
    for _ in 0..20 {
        look(&mut traced, exits[0]);
        let from = traced.now;
        let sleeper = traced.process(Some(0), "/bin/sleep", 0);
        traced.sleep(NANOSLEEP, None, 0, 100 * MS).thread = sleeper;
        traced.tables.processes[sleeper as usize].end_ns = Some(traced.now);
        let until = std::mem::replace(&mut traced.now, from);
        traced.sleep(WAIT4, None, i64::from(sleeper) + 100, until - from);
        traced.call(WAIT4, None, -10, US);
        look(&mut traced, exits[1]);
    }
    traced.recording(40 * MS)
}

#[test]
fn a_script_that_sleeps_through_children_polls_as_well() {
    let finding = only(&script([1, 0]), "waiting");
    assert_eq!(finding.title, "polls in a sleep loop");
    assert_eq!((finding.cost.gain() + MS) / MS / 100, 10);
    assert!(finding.explanation[1].contains("wait4 of grep"), "{:?}", finding.explanation);
}

#[test]
fn what_comes_by_itself_is_waited_for_once() {
    // Every second thing is there at the first look.
    let mut traced = Traced::new(Mode::Each);
    for number in 0..20 {
        let (late, early) = (format!("/tmp/late{number}"), format!("/tmp/early{number}"));
        let (late, early) = (traced.file(&late, "path", 0), traced.file(&early, "path", 0));
        traced.call(STAT, Some(late), -2, 5 * US);
        traced.sleep(NANOSLEEP, None, 0, 100 * MS);
        traced.call(STAT, Some(late), 0, 5 * US);
        traced.call(STAT, Some(early), 0, 5 * US);
    }
    silent(&traced.recording(10 * MS));
}

#[test]
fn a_script_that_paces_itself_is_silent() {
    silent(&script([0, 0])); // each look finds something
    silent(&script([1, 1])); // none ever does
}
