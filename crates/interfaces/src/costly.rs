//! Small helpers that cost more than whoever calls them for each of very many items may know: they hand an item to another thread, wake one,
//! record the stack, read the clock, ask for the type of an object.
//!
//! Unlike the functions of `interfaces.toml` they have no input that would come again: what is too much is how often they are called. So each has
//! the share of the time from which on that is worth a change.

use crate::pattern;

/// One kind of helper.
#[derive(Debug, PartialEq)]
pub struct Costly {
    /// A word that never changes: it tells one kind's findings from another's.
    pub kind: &'static str,
    /// Demangled names without arguments, with `*` for any text.
    functions: &'static [&'static str],
    /// Those of them that give, where others take: the first ones; 0 where there is no such difference.
    gives: usize,
    /// What it does, in the third person, for titles: "hands items to another thread one by one".
    pub does: &'static str,
    /// Why it costs what it does.
    pub why: &'static str,
    /// What to do instead, in the imperative, and where that is said.
    pub instead: &'static str,
    /// What of it a recording does not show.
    pub not_known: &'static str,
    /// The share of the time from which on it is reported.
    pub share: f64,
    /// Only where the program's own code calls it, and not a function of the language's library for reasons of its own: a connection of Go's library has
    /// channels.
    pub direct: bool,
    /// A loop that waits does nothing else: less of it would not end sooner.
    pub waits: bool,
}

impl Costly {
    /// Whether some of these functions give what others take.
    pub fn has_givers(&self) -> bool {
        self.gives > 0
    }
}

/// A tenth is what other causes ask for that take thought to fix.
const TENTH: f64 = 0.10;
/// A fifth, for what is often there for good reasons: threads that wait for each other, types that are asked for.
const FIFTH: f64 = 0.20;
/// What an item does besides is then at most six times as long as one look at the clock. It saves no less than that: a library that matched texts spent 17 % in it, and 28 % less
/// after it was gone.
const SIXTH: f64 = 0.15;

const KINDS: [Costly; 5] = [
    Costly {
        kind: "handing-over",
        functions: &[
            "runtime.chansend",
            "runtime.chansend1",
            "crossbeam_channel::channel::Sender<*>::*send*",
            "<crossbeam_channel::channel::Sender<*>>::*send*",
            "std::sync::mpsc::Sender<*>::send",
            "<std::sync::mpsc::Sender<*>>::send",
            "std::sync::mpsc::SyncSender<*>::*send",
            "<std::sync::mpsc::SyncSender<*>>::*send",
            "std::sync::mpmc::Sender<*>::*send*",
            "<std::sync::mpmc::Sender<*>>::*send*",
            "flume::Sender<*>::*send*",
            "<flume::Sender<*>>::*send*",
            "tokio::sync::mpsc::*Sender<*>::*send*",
            "<tokio::sync::mpsc::*Sender<*>>::*send*",
            "g_async_queue_push*",
            "runtime.chanrecv",
            "runtime.chanrecv1",
            "runtime.chanrecv2",
            "runtime.selectgo",
            "crossbeam_channel::channel::Receiver<*>::*recv*",
            "<crossbeam_channel::channel::Receiver<*>>::*recv*",
            "std::sync::mpsc::Receiver<*>::*recv*",
            "<std::sync::mpsc::Receiver<*>>::*recv*",
            "std::sync::mpmc::Receiver<*>::*recv*",
            "<std::sync::mpmc::Receiver<*>>::*recv*",
            "flume::Receiver<*>::*recv*",
            "<flume::Receiver<*>>::*recv*",
            "tokio::sync::mpsc::*Receiver<*>::*recv*",
            "<tokio::sync::mpsc::*Receiver<*>>::*recv*",
            "g_async_queue_pop*",
            "g_async_queue_try_pop*",
            "g_async_queue_timeout_pop*",
        ],
        gives: 15,
        does: "hands items to another thread one by one",
        why: "each item costs a lock or an atomic operation on memory that both threads change, and often wakes a thread",
        instead: "Hand over many items at a time: collect some hundreds in a list and send that, or give each thread a part of the input",
        not_known: "whether the items can be collected",
        share: TENTH,
        direct: true,
        waits: false,
    },
    Costly {
        kind: "waking",
        functions: &[
            "pthread_cond_signal",
            "pthread_cond_broadcast",
            "___pthread_cond_signal",
            "___pthread_cond_broadcast",
            "sem_post",
            "pthread_cond_wait",
            "pthread_cond_timedwait",
            "pthread_cond_clockwait",
            "___pthread_cond_wait",
            "___pthread_cond_timedwait",
            "___pthread_cond_clockwait",
            "sem_wait",
            "sem_timedwait",
        ],
        gives: 5,
        does: "wakes threads for very little work",
        why: "to send a thread to sleep and to wake it again takes some µs of CPU time",
        instead: "Give a thread more to do each time that it is woken: many items at once, or a part of the input. Wake one thread \
                  (pthread_cond_signal, notify_one) where one can do the work, not all",
        not_known: "whether the work can be given out in larger parts",
        share: FIFTH,
        direct: false,
        waits: false,
    },
    Costly {
        kind: "stack-trace",
        functions: &[
            "runtime.Callers",
            "runtime.Caller",
            "runtime.Stack",
            "runtime/debug.Stack",
            "runtime.CallersFrames",
            "runtime.(*Frames).Next",
            "std::backtrace::Backtrace::*",
            "<std::backtrace::Backtrace>::*",
            "backtrace::capture::Backtrace::*",
            "<backtrace::capture::Backtrace>::*",
            "backtrace",
            "backtrace_symbols*",
            "boost::stacktrace::*",
            "absl::*GetStackTrace*",
            "unw_backtrace",
        ],
        gives: 0,
        does: "records a stack trace again and again",
        why: "to record one the runtime goes through the stack frame by frame, and looks each one up in tables",
        instead: "Make errors that are expected without a stack trace, or record it only where an error is shown",
        not_known: "whether anybody reads these traces",
        share: TENTH,
        direct: false,
        waits: false,
    },
    Costly {
        kind: "clock",
        functions: &[
            "clock_gettime",
            "__clock_gettime",
            "gettimeofday",
            "__gettimeofday",
            "time.now",
            "time.Now",
            "time.Since",
            "time.runtimeNow",
        ],
        gives: 0,
        does: "reads the clock again and again",
        why: "each reading takes some dozens of ns: as long as a hundred instructions, and longer on some virtual machines",
        instead: "Read the clock once for many items and keep the time, or look only at every hundredth item. For time-outs keep a time that another \
                  thread renews every few ms, and read no clock where none is set",
        not_known: "how exact the times must be",
        share: SIXTH,
        direct: false,
        waits: true,
    },
    Costly {
        kind: "type-of-object",
        functions: &["__dynamic_cast"],
        gives: 0,
        does: "asks for the type of an object again and again",
        why: "each dynamic_cast that fails searches all base classes of the object, and compares their names as texts",
        instead: "Call a virtual function in place of asking for the type, or keep the type as a number in the base class and use static_cast",
        not_known: "whether the program can know the type in another way",
        share: FIFTH,
        direct: true,
        waits: false,
    },
];

/// The helper that a function is, by its demangled name; and whether it gives something to another thread.
pub fn costly(name: &str) -> Option<(&'static Costly, bool)> {
    let name = pattern::without_arguments(name);
    KINDS.iter().find_map(|one| {
        let at = one.functions.iter().position(|pattern| pattern::fits(pattern, name))?;
        Some((one, at < one.gives))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_known_by_their_names() {
        let kind = |name| costly(name).map(|(one, gives)| (one.kind, gives));
        for (name, expected) in [
            ("runtime.chansend1", ("handing-over", true)),
            ("runtime.selectgo", ("handing-over", false)),
            ("crossbeam_channel::channel::Sender<T>::send", ("handing-over", true)),
            ("<crossbeam_channel::channel::Receiver<T>>::recv_timeout", ("handing-over", false)),
            ("std::sync::mpsc::Sender<T>::send", ("handing-over", true)),
            ("std::sync::mpmc::Receiver<T>::recv", ("handing-over", false)),
            ("tokio::sync::mpsc::bounded::Sender<T>::try_send", ("handing-over", true)),
            ("g_async_queue_push_unlocked", ("handing-over", true)),
            ("g_async_queue_pop", ("handing-over", false)),
            ("sem_post", ("waking", true)),
            ("sem_wait", ("waking", false)),
            ("runtime.Callers", ("stack-trace", false)),
            ("std::backtrace::Backtrace::create", ("stack-trace", false)),
            ("__dynamic_cast", ("type-of-object", false)),
            ("clock_gettime", ("clock", false)),
        ] {
            assert_eq!(kind(name), Some(expected), "{name}");
        }
        for other in
            ["runtime.callers", "send", "_Unwind_Backtrace", "clock_nanosleep", "std::sync::mpsc::channel"]
        {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
