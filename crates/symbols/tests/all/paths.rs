//! Paths come from outside: from a recording, a program, a debug link. What is no regular file is neither waited for nor read.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::common::{C_PROGRAM, Workshop, symbol};
use slowpath_symbols::{ElfSymbols, Error, FunctionRanges, open_regular};

/// What `run` gives; a test that hangs fails.
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::Builder::new().spawn(move || send.send(run())).expect("a thread");
    receive.recv_timeout(Duration::from_secs(120)).expect("it neither hangs nor panics")
}

fn fifo(shop: &Workshop, name: &str) -> PathBuf {
    shop.run(&["mkfifo", name]);
    shop.path(name)
}

#[test]
fn what_is_no_regular_file_is_an_error_that_says_so() {
    let shop = Workshop::new();
    let socket = shop.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let folder = shop.folder.path().to_owned();
    for path in [fifo(&shop, "fifo"), socket, folder, "/dev/zero".into(), "/dev/null".into()] {
        let message = in_time(move || {
            let ranges = FunctionRanges::open(&path);
            assert!(matches!(ranges, Err(Error::Read { .. })) && open_regular(&path).is_err());
            ElfSymbols::open(&path, None).err().map(|error| error.to_string())
        });
        assert!(message.as_ref().is_some_and(|text| text.contains("not a regular file")), "{message:?}");
    }
    assert!(matches!(ElfSymbols::open(Path::new("/nonexistent"), None), Err(Error::Read { .. })));
}

#[test]
fn a_debug_link_to_a_pipe_is_not_followed() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    shop.run(&["gcc", "-O2", "-g", "-o", "prog", "prog.c"]);
    shop.run(&["objcopy", "--only-keep-debug", "prog", "prog.debug"]);
    shop.run(&["strip", "prog"]);
    shop.run(&["objcopy", "--add-gnu-debuglink=prog.debug", "prog"]);
    shop.run(&["rm", "prog.debug"]);
    fifo(&shop, "prog.debug");
    let program = shop.path("prog");
    assert!(!in_time(move || ElfSymbols::open(&program, None).expect("open").has_dwarf()));
}

#[test]
fn split_debug_information_in_a_pipe_is_not_waited_for() {
    let shop = Workshop::new();
    shop.write("prog.c", C_PROGRAM);
    if !shop.try_run(&["gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "prog.c"]) {
        eprintln!("SKIPPED: this compiler has no -gsplit-dwarf");
        return;
    }
    shop.run(&["gcc", "-o", "prog", "prog.o"]);
    shop.run(&["rm", "prog.dwo"]);
    fifo(&shop, "prog.dwo");
    fifo(&shop, "prog.dwp");
    let (start, _) = symbol(&shop.path("prog"), "outer");
    let program = shop.path("prog");
    let frames = in_time(move || ElfSymbols::open(&program, None).expect("open").lookup(start));
    assert_eq!(frames.last().map(|frame| frame.name.as_str()), Some("outer"));
}
