//! Waits of goroutines, on synthetic recordings: locks, answers, sleeps, at the thresholds of their causes.

use crate::traced::{MS, Mode, Traced, US, only, silent};
use slowpath_diagnose::findings::Basis;
use slowpath_recording::Recording;
use slowpath_recording::tables::{Frame, Function, Location, Park, ParkWindow, Sample, Stack};

const WRITE: u32 = 1;
const NEWFSTATAT: u32 = 262;
const ENOENT: i64 = -2;
const EAGAIN: i64 = -11;
const RECEIVE: u32 = 45;

/// A program of Go's in the making.
struct Go(Traced);

impl Go {
    fn new() -> Go {
        Go(Traced::new(Mode::Each))
    }

    /// The stack of these functions, outermost first.
    fn stack(&mut self, names: &[&str]) -> u32 {
        let tables = &mut self.0.tables;
        let mut parent = None;
        for name in names {
            let number = tables.locations.len() as u32;
            let address = u64::from(number) * 0x100;
            let kind = "native".to_owned();
            tables.locations.push(Location {
                location: number,
                module: Some(0),
                address,
                kind: kind.clone(),
            });
            let function = tables.functions.len() as u32;
            tables.functions.push(Function {
                function,
                name: (*name).to_owned(),
                module: Some(0),
                file: None,
                line: None,
                address,
            });
            tables.frames.push(Frame { location: number, depth: 0, function, file: None, line: None, kind });
            let stack = tables.stacks.len() as u32;
            tables.stacks.push(Stack { stack, parent, location: number });
            parent = Some(stack);
        }
        parent.expect("a function")
    }

    /// A wait of a goroutine, from `time_ns` on.
    fn parks(&mut self, goroutine: u64, stack: u32, time_ns: u64, ns: u64) -> &mut Park {
        self.0.tables.parks.push(Park {
            time_ns,
            end_ns: time_ns + ns,
            process: 0,
            goroutine,
            object: 1,
            stack: Some(stack),
            waker: None,
            waker_stack: None,
        });
        self.0.tables.parks.last_mut().expect("just pushed")
    }

    /// The recording, in which so much of the time was watched.
    fn recording(mut self, share: f64) -> Recording {
        // System calls were traced.
        self.0.call(WRITE, None, 10, US);
        let (start, end) = (MS, self.0.now);
        let watched = ((end - start) as f64 * share / 2.0) as u64;
        for (start_ns, end_ns) in [(start, start + watched), (end - watched, end)] {
            self.0.tables.park_windows.push(ParkWindow { process: 0, start_ns, end_ns });
        }
        self.0.recording(10 * MS)
    }
}

const LOCK: [&str; 5] = [
    "main.lookup",
    "sync.(*Mutex).Lock",
    "internal/sync.(*Mutex).lockSlow",
    "runtime.semacquire1",
    "runtime.goparkunlock",
];
const ANSWER: [&str; 4] =
    ["main.query", "bufio.(*Reader).ReadString", "internal/poll.runtime_pollWait", "runtime.netpollblock"];

/// Two goroutines take turns at a lock, `rounds` times, each with it for 2 ms; meanwhile the holder waits with stack `holds`.
fn taking_turns(rounds: u64, waits: &[&str], holds: &[&str], woken: bool, share: f64) -> Recording {
    let mut go = Go::new();
    let (waits, holds) = (go.stack(waits), go.stack(holds));
    let gives = go.stack(&["main.lookup", "main.lookup.deferwrap1", "sync.(*Mutex).Unlock"]);
    for turn in 0..2 * rounds {
        let (one, other) = (turn % 2 + 1, (turn + 1) % 2 + 1);
        let now = go.0.now;
        go.parks(other, holds, now + 100 * US, 1800 * US).object = 2;
        let park = go.parks(one, waits, now, 2 * MS);
        if woken {
            (park.waker, park.waker_stack) = (Some(other), Some(gives));
        }
        go.0.now += 2 * MS;
    }
    go.recording(share)
}

#[test]
fn a_lock_that_goroutines_wait_for_is_reported_where_it_is_given_up_as_it_was_written() {
    let finding = only(&taking_turns(50, &LOCK, &ANSWER, true, 1.0), "lock-contention");
    assert_eq!((finding.place.frame.function.as_str(), finding.cost.basis()), ("main.lookup", Basis::Wall));
    assert_eq!(finding.cost.amount(), 100 * MS);
    let gain = finding.cost.gain() / MS;
    assert!((95..=100).contains(&gain), "{gain}");
    assert!(finding.explanation[0].starts_with("2 goroutines use one lock"), "{:?}", finding.explanation);
    // 1.8 of 2 ms.
    assert!(finding.explanation[1].contains("waiting itself 90 % of the time"), "{:?}", finding.explanation);
    assert!(
        finding.explanation[1].contains("mostly in bufio.(*Reader).ReadString"),
        "{:?}",
        finding.explanation
    );
    assert_eq!(finding.related[0].function, "main.query");
}

#[test]
fn a_wait_stands_for_those_in_the_pause_behind_its_window() {
    // 8 ms are watched, 12 ms are not.
    let mut recording = taking_turns(50, &LOCK, &ANSWER, true, 1.0);
    let seen = |at: u64| (at - MS) % (20 * MS) < 8 * MS;
    recording.tables.parks.retain(|park| seen(park.time_ns) && seen(park.end_ns - 1));
    recording.tables.park_windows = (0..10)
        .map(|at| ParkWindow { process: 0, start_ns: MS + at * 20 * MS, end_ns: 9 * MS + at * 20 * MS })
        .collect();
    let finding = only(&recording, "lock-contention");
    let (cost, gain) = (finding.cost.amount() / MS, finding.cost.gain() / MS);
    assert!((90..=110).contains(&cost) && (85..=110).contains(&gain), "{cost} {gain}");
    // Few that are seen stay few, however long the pause is.
    let mut few = taking_turns(50, &LOCK, &ANSWER, true, 1.0);
    few.tables.parks.retain(|park| park.time_ns < 8 * MS);
    few.tables.park_windows = vec![
        ParkWindow { process: 0, start_ns: MS, end_ns: 9 * MS },
        ParkWindow { process: 0, start_ns: 180 * MS, end_ns: 190 * MS },
    ];
    silent(&few);
}

#[test]
fn a_program_that_computes_all_along_is_done_no_earlier() {
    let mut recording = taking_turns(50, &LOCK, &ANSWER, true, 1.0);
    for at in 0..200 {
        recording.tables.samples.push(Sample {
            time_ns: MS + at * MS,
            thread: 0,
            on_cpu: true,
            weight_ns: MS,
            stack: Some(0),
            complete: true,
        });
    }
    (recording.about.cpus, recording.about.user_ns) = (8, 200 * MS);
    silent(&recording);
}

#[test]
fn few_waits_and_those_for_which_no_holder_is_known_are_no_finding() {
    let longer = |rounds| taking_turns(rounds, &LOCK, &ANSWER, true, 1.0);
    let mut few = longer(50);
    few.tables.parks.retain(|park| park.object == 2 || park.time_ns < 8 * MS);
    silent(&few);
    silent(&taking_turns(50, &LOCK, &ANSWER, false, 1.0));
}

#[test]
fn who_waits_for_a_condition_or_holds_the_lock_at_rest_waits_for_work() {
    let condition = ["main.work", "sync.(*Cond).Wait", "sync.(*Mutex).Lock", "runtime.semacquire1"];
    silent(&taking_turns(50, &condition, &ANSWER, true, 1.0));
    let once = ["main.work", "sync.(*Once).doSlow", "sync.(*Mutex).Lock", "runtime.semacquire1"];
    silent(&taking_turns(50, &once, &ANSWER, true, 1.0));
    silent(&taking_turns(50, &LOCK, &["main.work", "runtime.chanrecv1", "runtime.chanrecv"], true, 1.0));
    let accepts = ["main.serve", "net.(*TCPListener).Accept", "internal/poll.runtime_pollWait"];
    silent(&taking_turns(50, &LOCK, &accepts, true, 1.0));
    // A library's goroutine answers by a channel.
    let asks = ["main.query", "net/http.(*Client).Do", "runtime.selectgo"];
    only(&taking_turns(50, &LOCK, &asks, true, 1.0), "lock-contention");
}

#[test]
fn who_waits_at_a_channel_of_its_own_each_time_waits_for_an_answer() {
    let receives = ["main.settle", "runtime.chanrecv1", "runtime.chanrecv"];
    // Of `new` waits out of ten the channel is a new one.
    let waiting = |new: u64| {
        let mut recording = taking_turns(50, &LOCK, &receives, true, 1.0);
        let waits = recording.tables.parks.iter_mut().filter(|park| park.object == 2);
        for (at, park) in (0..).zip(waits) {
            park.object += if at % 10 < new { 1000 + at } else { 0 };
        }
        recording
    };
    only(&waiting(10), "lock-contention");
    only(&waiting(6), "lock-contention");
    silent(&waiting(4));
}

/// `goroutines` ask over HTTP side by side, `asked` times each, and wait 1 ms for each answer: 50 µs in vain at first. Called from `main.fetch`, which is
/// called from `outer`.
fn over_http(goroutines: u64, asked: u64, outer: &[&str]) -> Recording {
    let mut go = Go::new();
    let asks =
        ["main.fetch", "net/http.(*Client).Get", "net/http.(*persistConn).roundTrip", "runtime.selectgo"];
    let asks = go.stack(&[outer, &asks].concat());
    for _ in 0..asked {
        let now = go.0.now;
        for goroutine in 1..=goroutines {
            go.parks(goroutine, asks, now, 200 * US);
            go.parks(goroutine, asks, now + 205 * US, 795 * US);
        }
        go.0.now += MS + 80 * US;
    }
    go.recording(1.0)
}

#[test]
fn answers_that_a_librarys_goroutines_receive_are_waited_for_where_they_are_asked_for() {
    let finding = only(&over_http(1, 200, &[]), "round-trip-per-operation");
    assert_eq!(finding.place.frame.function, "main.fetch");
    assert!(finding.explanation[0].starts_with("about 200 times"), "{:?}", finding.explanation);
    // Somebody else says how many requests there are.
    silent(&over_http(1, 200, &["net/http.(*conn).serve"]));
    // Half of 200 times 0.995 ms.
    let gain = finding.cost.gain() as f64 / MS as f64;
    assert!((99.0..=100.0).contains(&gain), "{gain}");
    silent(&over_http(1, 99, &[]));
}

#[test]
fn goroutines_that_ask_side_by_side_do_what_would_be_advised() {
    silent(&over_http(2, 200, &[]));
}

/// A goroutine looks for a file and sleeps 20 ms if it is not there, ten times; it makes `EAGAIN` calls in between.
fn polling(found: bool) -> Recording {
    let mut go = Go::new();
    let sleeps = go.stack(&["main.await", "time.Sleep"]);
    let waits = go.stack(&ANSWER);
    let (path, socket) = (go.0.file("/run/done", "path", 0), go.0.file("", "socket", 0));
    for number in 0..10 {
        if found {
            go.0.call(NEWFSTATAT, Some(path), ENOENT, US).goroutine = Some(7);
        } else {
            // A server: what is not there yet is waited for, and what comes is worked on.
            go.0.call(RECEIVE, Some(socket), EAGAIN, US).goroutine = Some(7);
            // Half of the waits are too short to be recorded.
            let now = go.0.now;
            if number % 2 == 0 {
                go.parks(7, waits, now, MS);
            }
            go.0.now += MS;
            go.0.call(RECEIVE, Some(socket), 10, US).goroutine = Some(7);
        }
        let now = go.0.now;
        go.parks(7, sleeps, now, 20 * MS);
        go.0.now += 20 * MS;
        if found {
            go.0.call(NEWFSTATAT, Some(path), 0, US).goroutine = Some(7);
        }
    }
    go.recording(1.0)
}

#[test]
fn a_goroutine_that_sleeps_and_looks_polls_as_a_thread_does() {
    let finding = only(&polling(true), "waiting");
    assert_eq!(finding.place.frame.function, "main.await");
    assert_eq!(finding.cost.gain(), 100 * MS);
    silent(&polling(false));
}

const CLOSE: u32 = 3;
const CONNECT: u32 = 42;
const DIALS: [&str; 4] =
    ["main.fetch", "net/http.(*Client).Do", "net/http.(*Transport).getConn", "runtime.selectgo"];

/// `side_by_side` goroutines that wait 1 ms each for a connection, `waits` in all, for which `connects` were opened; and another
/// function that waits `others` times.
fn dialing(waits: u64, connects: u64, side_by_side: u64, others: u64) -> Recording {
    dialing_and_closing(waits, connects, side_by_side, others, connects)
}

fn dialing_and_closing(waits: u64, connects: u64, side_by_side: u64, others: u64, closed: u64) -> Recording {
    let mut go = Go::new();
    let (here, there) =
        (go.stack(&DIALS), go.stack(&["main.probe", "net.(*Dialer).DialContext", "runtime.selectgo"]));
    let (address, socket) = (go.0.file("127.0.0.1:443", "address", 0), go.0.file("", "socket", 0));
    for at in 0..connects {
        go.0.call(CONNECT, Some(address), -115, US);
        if at < closed {
            go.0.call(CLOSE, Some(socket), 0, US);
        }
        // Those who wait begin at the same time.
        if at < waits {
            go.0.now += if at % side_by_side == 0 { MS } else { 0 };
        }
    }
    let mut now = MS;
    for wait in 0..waits {
        go.parks(wait % side_by_side + 1, here, now, MS);
        now += if wait % side_by_side == side_by_side - 1 { MS } else { 0 };
    }
    for _ in 0..others {
        go.parks(77, there, now, MS);
        now += MS;
    }
    go.0.now = go.0.now.max(now);
    go.recording(1.0)
}

#[test]
fn waits_for_connections_that_are_opened_for_each_request_are_reported_where_it_is_made() {
    let finding = only(&dialing(100, 100, 1, 0), "connection-per-operation");
    assert_eq!((finding.place.frame.function.as_str(), finding.variant), ("main.fetch", "dialed"));
    assert_eq!((finding.cost.basis(), finding.cost.amount()), (Basis::Wall, 100 * MS));
    // Four side by side wait together for a quarter of that.
    assert_eq!(only(&dialing(400, 400, 4, 0), "connection-per-operation").cost.amount(), 100 * MS);
}

#[test]
fn few_connections_those_of_others_and_those_of_several_functions_are_none() {
    silent(&dialing(99, 99, 1, 0));
    // Those that are kept.
    only(&dialing_and_closing(100, 100, 1, 0, 50), "connection-per-operation");
    silent(&dialing_and_closing(100, 100, 1, 0, 49));
    // For one that others had.
    only(&dialing(125, 100, 1, 0), "connection-per-operation");
    silent(&dialing(127, 100, 1, 0));
    // Which of them opened how many is not known.
    only(&dialing(100, 130, 1, 24), "connection-per-operation");
    silent(&dialing(100, 130, 1, 26));
}
