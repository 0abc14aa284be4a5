//! A session that goes wrong.

use super::*;
use crate::Options;
use crate::about::{about, stands_for};
use slowpath_files::Caller;
use slowpath_recording::Recording;

#[test]
fn a_bug_ends_the_recording_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a folder");
    let options = Options {
        root: Some(dir.path().to_owned()),
        rate: 1000,
        stack_bytes: 1024,
        count: false,
        trace: false,
        redact_arguments: false,
        user: None,
        repeat: 1,
        caller: Caller::detect(),
        progress: None,
    };
    let folder = Arc::new(Folder::open(dir.path()).expect("a folder"));
    let mut about = about(&options, &["program".to_owned()], false);
    let writer = Writer::create(folder, &about, &options.caller).expect("a recording");
    let mut session = Session::new(writer, None, stands_for(None), Some(Box::new(|_| panic!("a bug"))));
    for _ in 0..3 {
        session.turn(None);
    }
    session.drain(None);
    about.state = State::Complete;
    about.exit = Some(3);
    let (folder, trouble) = session.finish(about);
    assert!(trouble.is_some_and(|trouble| trouble.contains("a bug in slowpath")));
    let recording = Recording::of(folder).expect("it opens");
    assert!(recording.cut_short());
    assert_eq!(recording.about.exit, Some(3));
}
