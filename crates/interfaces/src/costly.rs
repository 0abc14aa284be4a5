//! Small helpers that cost more than whoever calls them for each of very many items may know: they hand an item to another thread, wake one,
//! record the stack, read the clock, ask for the type of an object, convert a date. The list is `costly.toml`, which says what its fields mean.
//!
//! Unlike the functions of `interfaces.toml` they have no input that would come again: what is too much is how often they are called. So each has
//! the share of the time from which on that is worth a change.

use crate::pattern;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One kind of helper.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costly {
    /// A word that never changes: it tells one kind's findings from another's.
    pub kind: String,
    /// Demangled names without arguments, with `*` for any text: those that give, where others take.
    #[serde(default)]
    gives: Vec<String>,
    /// The others.
    functions: Vec<String>,
    /// Functions below one of the others that show that it gives something there.
    #[serde(default)]
    gives_by: Vec<String>,
    /// … and that it takes something.
    #[serde(default)]
    takes_by: Vec<String>,
    /// Those that are such helpers only where a function calls them that one of `from` fits.
    #[serde(default)]
    beside: Vec<String>,
    #[serde(default)]
    from: Vec<String>,
    /// What it does, in the third person, for titles: "hands items to another thread one by one".
    pub does: String,
    /// Why it costs what it does.
    pub why: String,
    /// What to do instead, in the imperative.
    pub instead: String,
    /// What of it a recording does not show.
    pub unsure: String,
    /// The share of the time from which on it is reported, in per cent.
    percent: u32,
    /// The share of the time in it that a fix saves, in per cent.
    #[serde(default = "all_of_it")]
    goes: u32,
    /// What these were measured with.
    pub measured: String,
    /// Only where the program's own code calls it, and not a function of the language's library for reasons of its own: a connection of Go's library has
    /// channels.
    #[serde(default)]
    pub direct: bool,
    /// A loop that waits does nothing else: less of it would not end sooner.
    #[serde(default)]
    pub waits: bool,
    /// Only its time outside of the kernel counts.
    #[serde(default)]
    pub user: bool,
    /// It has garbage collected: the time of the collector's own threads for that counts as well.
    #[serde(default)]
    pub collects: bool,
    /// What else a function does that calls it for the same purpose.
    #[serde(default)]
    within: Vec<String>,
    /// Functions below it whose time is needed.
    #[serde(default)]
    without: Vec<String>,
}

fn all_of_it() -> u32 {
    100
}

impl Costly {
    /// Whether some of these functions give what others take.
    pub fn has_givers(&self) -> bool {
        !self.gives.is_empty()
    }

    /// Whether some of the others give in one place and take in another.
    pub fn may_give(&self) -> bool {
        !self.gives_by.is_empty()
    }

    /// Whether a function, by its demangled name, shows that what calls it gives something (true) or takes it; none for others.
    pub fn gives_by(&self, name: &str) -> Option<bool> {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| pattern::fits(pattern, name));
        if fits(&self.gives_by) { Some(true) } else { fits(&self.takes_by).then_some(false) }
    }

    /// The share of the time from which on it is reported.
    pub fn share(&self) -> f64 {
        f64::from(self.percent) / 100.0
    }

    /// The share of the time in it that a fix saves.
    pub fn goes(&self) -> f64 {
        f64::from(self.goes) / 100.0
    }

    /// Whether all of the time counts of a function that does nothing else than this.
    pub fn counts_around(&self) -> bool {
        !self.within.is_empty()
    }

    /// Whether a function, by its demangled name, is part of what such a function does. What has no package is in assembly, and Go's own, where no other language
    /// is called.
    pub fn is_within(&self, name: &str) -> bool {
        const WORKS: [&str; 3] = ["runtime.chan", "runtime.cgo", "runtime.select"];
        !WORKS.iter().any(|start| name.starts_with(start))
            && (!name.contains('.') || self.within.iter().any(|pattern| pattern::fits(pattern, name)))
    }

    /// Whether the time of a function below it, by its demangled name, is needed as well. A place without a name in a library is where it copies: only those
    /// variants of its functions have none, which are chosen by the processor.
    pub fn needs(&self, name: &str) -> bool {
        let name = pattern::without_arguments(name);
        let copies = !self.without.is_empty() && name.starts_with("libc.") && name.contains("+0x");
        copies
            || self.user && calls_kernel(name)
            || self.without.iter().any(|pattern| pattern::fits(pattern, name))
    }
}

/// Whether a function, by its name, does nothing but a system call.
fn calls_kernel(name: &str) -> bool {
    const CALLS: [&str; 6] = ["read", "write", "lseek", "readv", "writev", "fsync"];
    const OF_GO: [&str; 3] = ["syscall.", "internal/runtime/syscall.", "runtime/internal/syscall."];
    let plain = name.trim_start_matches("__GI_").trim_start_matches("__").trim_start_matches("libc_");
    CALLS.contains(&plain)
        || name.ends_with("asynccancel")
        || OF_GO.iter().any(|start| name.starts_with(start))
}

#[derive(Default, Deserialize)]
struct File {
    /// How functions are called in a program's source, by their names in the library.
    source: BTreeMap<String, String>,
    costly: Vec<Costly>,
}

/// The list; empty if what was built in could not be read, which a test excludes.
fn file() -> &'static File {
    static FILE: OnceLock<File> = OnceLock::new();
    FILE.get_or_init(|| toml::from_str(include_str!("../costly.toml")).unwrap_or_default())
}

fn all() -> &'static [Costly] {
    &file().costly
}

/// How a helper is called in a program's source, by its demangled name without arguments.
pub fn in_source(name: &str) -> &str {
    file().source.get(name).map_or(name, String::as_str)
}

/// What a function is as a helper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Helper {
    /// Its kind.
    pub kind: &'static Costly,
    /// It gives something to another thread.
    pub gives: bool,
    /// It is one only where certain functions call it.
    is_beside: bool,
}

impl Helper {
    /// Whether it is one where a function of this demangled name calls it; none if that is not known.
    pub fn is_one_for(&self, caller: Option<&str>) -> bool {
        let fits = |caller| {
            let caller = pattern::without_arguments(caller);
            self.kind.from.iter().any(|from| pattern::fits(from, caller))
        };
        !self.is_beside || caller.is_some_and(fits)
    }
}

/// The helpers that a function is, by its demangled name: the first that is one for its caller counts.
pub fn costly(name: &str) -> impl Iterator<Item = Helper> + '_ {
    let name = pattern::without_arguments(name);
    let is = move |patterns: &[String]| patterns.iter().any(|pattern| pattern::fits(pattern, name));
    all().iter().filter_map(move |kind| {
        let (gives, is_beside) = (is(&kind.gives), is(&kind.beside));
        (gives || is_beside || is(&kind.functions)).then_some(Helper { kind, gives, is_beside })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_can_be_read_and_each_kind_is_one_of_its_own() {
        let kinds: BTreeSet<&str> = all().iter().map(|one| one.kind.as_str()).collect();
        assert!(kinds.len() == all().len() && kinds.len() > 10);
        for one in all() {
            assert!((10..=50).contains(&one.percent) && (50..=100).contains(&one.goes), "{}", one.kind);
            let said = [&one.does, &one.why, &one.instead, &one.unsure, &one.measured];
            assert!(said.iter().all(|text| text.len() > 10 && !text.contains("  ")), "{}", one.kind);
        }
    }

    #[test]
    fn helpers_are_known_by_their_names() {
        let kind = |name| {
            costly(name).find(|one| one.is_one_for(None)).map(|one| (one.kind.kind.as_str(), one.gives))
        };
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
            ("time.Time.Format", ("calendar", false)),
            ("std::tolower<char>(char, std::locale const&)", ("locale", false)),
            (
                "std::filesystem::__cxx11::path::operator/=(std::filesystem::__cxx11::path const&)",
                ("paths", false),
            ),
            ("<alloc::sync::Arc<T,A> as core::clone::Clone>::clone", ("shared-counts", false)),
            ("std::__shared_count<(__gnu_cxx::_Lock_policy)2>::~__shared_count()", ("shared-counts", false)),
            ("encoding/binary.Read", ("reflection", false)),
            ("fgetc", ("single-bytes", false)),
            ("std::__cxx11::basic_istringstream<char, X, Y>::~basic_istringstream()", ("streams", false)),
            (
                "__gnu_cxx::stdio_sync_filebuf<char, std::char_traits<char> >::uflow()",
                ("synced-streams", false),
            ),
            (
                "std::__detail::_Executor<It, std::allocator<X>, Y, true>::_M_dfs(Mode, long)",
                ("std-regex", false),
            ),
            (
                "<std::io::buffered::linewritershim::LineWriterShim<W> as std::io::Write>::write_all",
                ("pieces-to-stdout", false),
            ),
        ] {
            assert_eq!(kind(name), Some(expected), "{name}");
        }
        for other in [
            "runtime.callers",
            "send",
            "fgets",
            "gmtime_r",
            "std::io::Write::write_fmt",
            "<std::io::stdio::StdoutLock as std::io::Write>::write_fmt",
            "getc_unlocked",
            "reflect.Value.Call",
            "mbrtowc",
            "_Unwind_Backtrace",
            "clock_nanosleep",
            "std::sync::mpsc::channel",
        ] {
            assert_eq!(kind(other), None, "{other}");
        }
    }

    #[test]
    fn what_has_another_name_in_the_source_is_a_helper() {
        assert!(file().source.len() > 20);
        for (name, source) in &file().source {
            assert!(costly(name).next().is_some() && name != source, "{name}");
        }
        assert_eq!((in_source("__mktime_internal"), in_source("mktime")), ("mktime", "mktime"));
    }

    #[test]
    fn copying_what_is_read_is_needed() {
        let pieces = costly("fread").next().unwrap().kind;
        assert!(pieces.needs("__memcpy_avx512_unaligned_erms") && pieces.needs("memmove"));
        // Its variants have no names where only those are known that other files use.
        assert!(
            pieces.needs("libc.so.6+0x15e3b0") && pieces.needs("__GI___libc_write") && pieces.needs("read")
        );
        assert!(!pieces.needs("_IO_file_xsgetn") && !pieces.needs("fread"));
    }

    #[test]
    fn what_streams_call_is_of_them() {
        let of = |caller| costly("getc").find(|one| one.is_one_for(caller)).map(|one| one.kind.kind.as_str());
        assert_eq!(
            of(Some("std::num_get<char>::_M_extract_int<long>(It, It) const")),
            Some("synced-streams")
        );
        // What was inlined into the library's functions is no stream.
        for other in [Some("std::thread::_State_impl<X>::_M_run()"), Some("main"), None] {
            assert_eq!(of(other), Some("single-bytes"), "{other:?}");
        }
    }
}
