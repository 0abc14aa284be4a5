//! Recordings to start from whose causes show in system calls: files, processes, waits, peers and locks.

use crate::traced::{MS, Mode, OTHER, Traced, US, WORK};
use slowpath_recording::Recording;
use slowpath_recording::tables::*;

/// One file read again and again, and another opened again for each write.
pub(super) fn reading(mode: Mode) -> Recording {
    let mut traced = Traced::new(mode);
    let (settings, log) =
        (traced.file("/etc/settings", "file", 2_000), traced.file("/var/log/it", "file", 10));
    for _ in 0..120 {
        traced.call(257, Some(settings), 3, 100 * US);
        traced.call(0, Some(settings), 2_000, 100 * US);
        traced.call(3, Some(settings), 0, 100 * US);
        traced.call(257, Some(log), 4, 100 * US).argument = 0o2101;
        traced.call(1, Some(log), 20, 10 * US);
        traced.call(3, Some(log), 0, 100 * US);
    }
    traced.recording(60 * MS)
}

/// Paths that are asked for, some of which are there.
pub(super) fn asking(mode: Mode) -> Recording {
    let mut traced = Traced::new(mode);
    let there = traced.file("/etc/localtime", "path", 0);
    let missing: Vec<u32> =
        (0..4).map(|at| traced.file(&format!("/usr/lib/{at}/module"), "path", 0)).collect();
    for _ in 0..120 {
        traced.call(4, Some(there), 0, 100 * US);
        for path in &missing {
            traced.call(257, Some(*path), -2, 50 * US);
        }
    }
    traced.recording(40 * MS)
}

/// Paths that are asked for twice in a row.
pub(super) fn asking_twice(mode: Mode) -> Recording {
    let mut traced = Traced::new(mode);
    for at in 0..120 {
        let path = traced.file(&format!("/var/{at}"), "path", 0);
        for _ in 0..2 {
            traced.call(332, Some(path), 0, 100 * US).argument = 0x100 << 32;
        }
    }
    let mut recording = traced.recording(40 * MS);
    recording.about.format.minor = 18;
    recording
}

/// Bytes moved a few at a time.
pub(super) fn small(mode: Mode) -> Recording {
    let mut traced = Traced::new(mode);
    let (file, pipe) = (traced.file("/tmp/out", "file", 0), traced.file("", "pipe", 0));
    for _ in 0..20 {
        traced.call(1, Some(file), 10, 500 * US);
        traced.call(0, Some(pipe), 1, 500 * US);
        traced.call(8, Some(file), 0, US);
    }
    for row in &mut traced.tables.syscalls {
        if row.number != 8 {
            row.count = 100;
            row.bytes *= 100;
        }
    }
    traced.recording(25 * MS)
}

/// Questions that are asked again and again, and calls that fail each time.
pub(super) fn needless(mode: Mode) -> Recording {
    let mut traced = Traced::new(mode);
    let terminal = traced.file("/dev/pts/0", "terminal", 0);
    for _ in 0..1_100 {
        traced.call(16, Some(terminal), 0, 10 * US).argument = 0x5401;
        traced.call(8, Some(terminal), 7, 10 * US);
        traced.call(3, None, -9, 10 * US);
    }
    traced.recording(40 * MS)
}

/// A program that throws exceptions for half of its time.
pub(super) fn throwing() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].name = "__cxa_throw".to_owned();
    traced.compute(WORK, 60 * MS);
    traced.compute(OTHER, 60 * MS);
    traced.recording(120 * MS)
}

/// A program that starts a thread for each of its items.
pub(super) fn threading() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.tables.functions[WORK as usize].name = "pthread_create".to_owned();
    traced.compute(WORK, 60 * MS);
    traced.compute(OTHER, 60 * MS);
    traced.threads(600);
    traced.recording(120 * MS)
}

/// Two makes compile one file at the same time.
pub(super) fn building() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let (source, object) = (traced.file("a.c", "file", 100), traced.file("a.o", "file", 0));
    let started = |traced: &mut Traced, parent: u32, arguments: &[&str]| {
        let process = traced.process(Some(parent), "/usr/bin/tool", 0);
        let row = &mut traced.tables.processes[process as usize];
        row.arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        row.directory = Some("/src".to_owned());
        process
    };
    let mut all = Vec::new();
    for _ in 0..2 {
        let make = started(&mut traced, 0, &["make", "shared"]);
        let compiler = started(&mut traced, make, &["cc", "-c", "a.c"]);
        traced.call(257, Some(source), 3, US).thread = compiler;
        let opened = traced.call(257, Some(object), 4, US);
        (opened.thread, opened.argument) = (compiler, 0o1101);
        let from = traced.tables.samples.len();
        traced.compute(OTHER, 20 * MS);
        traced.tables.samples[from..].iter_mut().for_each(|sample| sample.thread = compiler);
        all.extend([make, compiler]);
    }
    for process in all {
        traced.tables.processes[process as usize].end_ns = Some(traced.now);
    }
    traced.recording(40 * MS)
}

/// Memory is unmapped and mapped again.
pub(super) fn churning() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let kernel = traced.tables.functions.len() as u32;
    let (name, kind) = ("asm_exc_page_fault".to_owned(), "kernel".to_owned());
    let tables = &mut traced.tables;
    tables.functions.push(Function {
        function: kernel,
        name,
        module: None,
        file: None,
        line: None,
        address: 1 << 63,
    });
    tables.locations.push(Location { location: kernel, module: None, address: 1 << 63, kind: kind.clone() });
    tables.frames.push(Frame { location: kernel, depth: 0, function: kernel, file: None, line: None, kind });
    tables.stacks.push(Stack { stack: kernel, parent: Some(OTHER), location: kernel });
    for _ in 0..120 {
        traced.call(11, None, 0, US).bytes = 1 << 20;
    }
    traced.compute(kernel, 200 * MS);
    traced.tables.processes[0].peak_memory_bytes = Some(1 << 22);
    let mut recording = traced.recording(250 * MS);
    recording.about.format.minor = 5;
    recording
}

/// Sleeps between looks that find nothing.
pub(super) fn polling(mode: Mode) -> Recording {
    let mut traced = Traced::new(mode);
    let socket = traced.file("", "socket", 0);
    for _ in 0..40 {
        traced.call(45, Some(socket), -11, 5 * US);
        traced.sleep(230, None, 0, 10 * MS);
        traced.call(45, Some(socket), 100, 5 * US);
    }
    traced.compute(OTHER, 10 * MS);
    traced.recording(20 * MS)
}

pub(super) fn syncing() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let file = traced.file("/var/log/journal", "file", 0);
    for _ in 0..40 {
        traced.call(1, Some(file), 200, 10 * US);
        traced.sleep(74, Some(file), 0, 3 * MS);
    }
    traced.recording(10 * MS)
}

/// A state that is saved each time, by way of another name.
pub(super) fn rewriting() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    for _ in 0..40 {
        let file = traced.file("/var/state/settings.new", "file", 0);
        traced.call(2, Some(file), 3, 100 * US).argument = 0o1101;
        traced.call(1, Some(file), 5_000, 200 * US);
        traced.call(3, Some(file), 0, 50 * US);
        let named = traced.file("/var/state/settings", "path", 0);
        traced.call(82, Some(named), 0, 50 * US);
    }
    let mut recording = traced.recording(20 * MS);
    recording.about.format.minor = 12;
    recording
}

pub(super) fn unanswered() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let address = traced.file("192.0.2.1:53", "address", 0);
    let socket = traced.file("", "socket", 0);
    for _ in 0..4 {
        traced.call(42, Some(address), 0, 5 * US);
        traced.call(44, Some(socket), 30, 5 * US);
        traced.sleep(7, None, 0, 5_000 * MS);
    }
    traced.recording(10 * MS)
}

pub(super) fn chatty() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for _ in 0..20 {
        traced.call(1, Some(socket), 8, 5 * US);
        traced.call(1, Some(socket), 8, 5 * US);
        traced.sleep(0, Some(socket), 10, 42 * MS);
    }
    traced.recording(10 * MS)
}

/// A process for each operation, which asks a helper over a socket.
pub(super) fn children() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let settings = traced.file("/etc/sign.conf", "file", 100);
    let address = traced.file("unix:/run/agent", "address", 0);
    let helper = traced.process(Some(0), "/usr/bin/agent", 7 * MS);
    for number in 0..14 {
        let from = traced.now;
        let child = traced.process(Some(0), "/usr/bin/sign", 4 * MS);
        traced.call(56, None, i64::from(child) + 100, 50 * US).time_ns = from;
        traced.call(257, Some(settings), 3, 10 * US).thread = child;
        let socket = traced.file("", "socket", 0);
        traced.call(42, Some(address), 0, 5 * US).thread = child;
        traced.sleep(0, Some(socket), 10, 2 * MS).thread = child;
        let (thread, number_of_call, waker) = (child, 0, Some(helper));
        traced.tables.waits.push(Wait {
            time_ns: from + MS,
            duration_ns: 2 * MS,
            thread,
            number: number_of_call,
            file: Some(socket),
            stack: None,
            waker,
            waker_stack: Some(OTHER),
        });
        traced.now = from + 8 * MS;
        let input = traced.file(&format!("/data/{number}"), "file", 100);
        traced.call(257, Some(input), 3, 10 * US).thread = child;
        traced.now = from + 10 * MS;
        traced.tables.processes[child as usize].end_ns = Some(traced.now);
    }
    traced.recording(80 * MS)
}

/// Two threads take turns at a lock.
pub(super) fn contending() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    traced.process(None, "/bin/program", 0);
    traced.tables.threads[1].process = 0;
    let lock = traced.file("", "futex", 0);
    for _ in 0..40 {
        for thread in 0..2 {
            let time_ns = traced.now;
            let row = traced.sleep(202, Some(lock), 0, 3 * MS);
            (row.thread, row.argument) = (thread, 128);
            let stack = row.stack;
            traced.tables.waits.push(Wait {
                time_ns,
                duration_ns: 3 * MS,
                thread,
                number: 202,
                file: Some(lock),
                stack,
                waker: Some(1 - thread),
                waker_stack: Some(OTHER),
            });
            let row = traced.call(202, Some(lock), 1, US);
            (row.thread, row.argument) = (thread, 1 << 32 | 129);
        }
    }
    let mut recording = traced.recording(10 * MS);
    recording.about.cpus = 2;
    recording
}

/// Requests, each sent and waited for, over so many connections.
pub(super) fn exchanging(connections: u32) -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let (address, socket) = (traced.file("10.0.0.1:80", "address", 0), traced.file("", "socket", 0));
    for request in 0..200 {
        if request < connections {
            traced.call(42, Some(address), 0, 500 * US);
        }
        traced.call(44, Some(socket), 40, 5 * US);
        traced.sleep(45, Some(socket), 200, 2 * MS);
    }
    traced.recording(10 * MS)
}

/// Looks that find nothing, one after the other.
pub(super) fn spinning() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let socket = traced.file("", "socket", 0);
    for _ in 0..20 {
        traced.call(45, Some(socket), -11, 10 * MS).count = 100;
    }
    let mut recording = traced.recording(200 * MS);
    recording.about.format.minor = 4;
    recording
}

/// Two goroutines take turns at a lock, and each asks over HTTP while it has it.
pub(super) fn parking() -> Recording {
    let mut traced = Traced::new(Mode::Each);
    let names = ["main.main", "main.work", "sync.(*Mutex).Lock", "net/http.(*persistConn).roundTrip"];
    for (function, name) in traced.tables.functions.iter_mut().zip(names) {
        function.name = name.to_owned();
    }
    for module in &mut traced.tables.locations {
        module.module = Some(0);
    }
    let start_ns = traced.now;
    for turn in 0..120 {
        let (one, other) = (turn % 2 + 1, (turn + 1) % 2 + 1);
        let time_ns = traced.now;
        for (goroutine, stack, object, ns) in [(one, WORK, 1, 3 * MS), (other, OTHER, 2, 2 * MS)] {
            let waker = (stack == WORK).then_some(other);
            traced.tables.parks.push(Park {
                time_ns,
                end_ns: time_ns + ns,
                process: 0,
                goroutine,
                object,
                stack: Some(stack),
                waker,
                waker_stack: waker.map(|_| OTHER),
            });
        }
        traced.call(1, None, 10, 3 * MS).goroutine = Some(one);
    }
    traced.tables.park_windows.push(ParkWindow { process: 0, start_ns, end_ns: traced.now });
    traced.recording(10 * MS)
}
