//! Profiles made to cost memory, and what lies in a profile's place and is none.

use slowpath_formats::callgrind::{read, tool};
use std::sync::mpsc;
use std::time::Duration;

/// What reading `text` is refused for.
fn refused(text: &str) -> String {
    read(text, "hostile").err().map(|error| error.why).unwrap_or_default()
}

#[test]
fn numbers_that_stand_for_a_long_name_do_not_multiply_it() {
    // Each line names the same megabyte in another file.
    let long = "x".repeat(1 << 20);
    let lines: String = (2..20_000).map(|file| format!("fl=({file}) {file}\nfn=(1)\n")).collect();
    let text = format!("events: Ir\nfl=(1) a\nfn=(1) {long}\n1 1\n{lines}");
    assert_eq!(refused(&text), "its names together are far longer than the file");
    let objects: String = (2..20_000).map(|name| format!("fn=({name}) {name}\n")).collect();
    let text = format!("events: Ir\nob=(1) {long}\n{objects}");
    assert_eq!(refused(&text), "its names together are far longer than the file");
}

#[test]
fn names_of_a_usual_length_are_kept_however_often_they_stand() {
    let lines: String = (0..20_000).map(|at| format!("fn=({at}) function_number_{at}\n1 1\n")).collect();
    let text =
        format!("events: Ir\nob=(1) /usr/lib/x86_64-linux-gnu/libc.so.6\nfl=(1) /usr/src/file.c\n{lines}");
    assert_eq!(read(&text, "usual").map(|profile| profile.places.len()).ok(), Some(20_000));
}

#[test]
fn more_events_than_callgrind_has_are_refused() {
    let events = |count: usize| (0..count).map(|at| format!(" E{at}")).collect::<String>();
    assert!(read(&format!("events:{}\nfn=a\n1 1\n", events(64)), "many").is_ok());
    assert_eq!(refused(&format!("events:{}\n", events(65))), "65 events are more than callgrind counts");
}

#[test]
fn what_is_no_regular_file_is_neither_waited_for_nor_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("callgrind.out.1");
    let log = folder.path().join("valgrind.log.1");
    for path in [&fifo, &log] {
        assert!(std::process::Command::new("mkfifo").arg(path).status().is_ok_and(|made| made.success()));
    }
    let (send, receive) = mpsc::channel();
    std::thread::Builder::new()
        .spawn(move || {
            let why = tool::profile(&fifo).err().map(|error| error.why);
            let zeros = tool::profile("/dev/zero".as_ref()).err().map(|error| error.why);
            send.send((why, zeros, tool::complaints(folder.path())))
        })
        .unwrap();
    let (why, zeros, said) = receive.recv_timeout(Duration::from_secs(120)).expect("it does not hang");
    let refused = |why: Option<String>| why.is_some_and(|why| why.contains("not a regular file"));
    assert!(refused(why) && refused(zeros) && said.is_none());
}

#[test]
fn a_file_that_is_larger_than_any_profile_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("callgrind.out.1");
    // Mostly holes, which take no disk.
    std::fs::File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("a large file");
    let why = tool::profile(&path).err().map(|error| error.why);
    assert_eq!(why.as_deref(), Some("it is larger than 256 MB"));
}
