//! What this machine can do: measured in a few seconds, kept, and held against what a program reaches.
//!
//! - `cpu` — AES rounds and carry-less multiplications.
//! - `memory` — copying, reading, first touches of pages.
//! - `kernel` — system calls, changes between threads, waits for the disk, processes.
//! - `best` — how each is measured: the quickest of many short pieces, since other load only ever adds.
//!
//! This crate knows nobody: what a limit means for a program is said elsewhere.

mod best;
mod cpu;
mod kernel;
mod memory;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the file.
pub const SCHEMA: u32 = 1;

/// What was measured. A limit that this machine cannot be measured by is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Always `limits`.
    pub kind: String,
    /// Version of these fields.
    pub schema: u32,
    /// The CPU's name.
    pub cpu: String,
    /// When, s since 1970.
    pub measured_unix_s: u64,
    /// Each limit.
    pub limits: Vec<Limit>,
}

/// One thing, and how long it takes at best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Short name, as options take it.
    pub name: String,
    /// What it is.
    pub what: String,
    /// Time of one, ns; none if it could not be measured.
    pub ns: Option<f64>,
    /// Bytes that one moves or works on; 0 where that has no meaning.
    pub bytes: u64,
    /// Why it could not be measured.
    pub obstacle: Option<String>,
}

impl Limit {
    /// Bytes a second, where that has a meaning.
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.ns.filter(|_| self.bytes > 0).map(|ns| self.bytes as f64 * 1e9 / ns)
    }

    /// The least time that `bytes` take, ns, where that has a meaning.
    pub fn ns_for(&self, bytes: f64) -> Option<f64> {
        self.bytes_per_s().map(|rate| bytes * 1e9 / rate)
    }
}

/// What keeps limits from being read or kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {path}: {why}", path = .path.display())]
pub struct Error {
    what: &'static str,
    path: PathBuf,
    why: String,
}

/// What one measurement gives: ns of one, or why not.
type Measured = Result<f64, String>;
/// A limit: its name, what it is, bytes of one, and how it is measured.
type Plan<'a> = (&'static str, &'static str, u64, Box<dyn FnOnce() -> Measured + 'a>);

/// Measures everything, in some three seconds; `directory` is where waits for the disk are measured.
pub fn measure(directory: &Path) -> Limits {
    let plans: [Plan<'_>; 9] = [
        ("aes", "AES-128, a block by AES instructions on 16 bytes", 16, Box::new(cpu::aes_block_ns)),
        ("clmul", "carry-less multiplication of 64 bits", 0, Box::new(cpu::clmul_ns)),
        ("copy", "copying memory, 64 MiB", memory::LARGE as u64, Box::new(memory::copy_ns)),
        ("read", "reading memory, 64 MiB", memory::LARGE as u64, Box::new(memory::read_ns)),
        ("fault", "first touch of a page of memory", 0, Box::new(memory::fault_ns)),
        ("syscall", "a system call that does nothing", 0, Box::new(kernel::syscall_ns)),
        ("switch", "from one thread to another and back, through a pipe", 0, Box::new(kernel::switch_ns)),
        (
            "fsync",
            "writing and syncing 4 KiB to disk, in this directory",
            0,
            Box::new(|| kernel::fsync_ns(directory)),
        ),
        ("process", "starting a program that does nothing, until it exits", 0, Box::new(kernel::process_ns)),
    ];
    let limits = plans.into_iter().map(|(name, what, bytes, measure)| {
        let measured = measure();
        let (name, what, obstacle) = (name.to_owned(), what.to_owned(), measured.as_ref().err().cloned());
        Limit { name, what, ns: measured.ok(), bytes, obstacle }
    });
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Limits {
        kind: "limits".to_owned(),
        schema: SCHEMA,
        cpu: cpu_name(),
        limits: limits.collect(),
        measured_unix_s: since.map_or(0, |since| since.as_secs()),
    }
}

impl Limits {
    /// The limit of a name.
    pub fn named(&self, name: &str) -> Option<&Limit> {
        self.limits.iter().find(|limit| limit.name == name)
    }

    /// Those that were kept for this CPU; none if there are none.
    pub fn kept(path: &Path) -> Result<Option<Limits>, Error> {
        let failed = |why: String| Error { what: "read", path: path.to_owned(), why };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        let limits: Limits = serde_json::from_str(&text)
            .map_err(|error| failed(format!("{error}; `slowpath limits` measures again")))?;
        // Measured on another machine, or by another version: of no use here.
        Ok(Some(limits).filter(|limits| limits.schema == SCHEMA && limits.cpu == cpu_name()))
    }

    /// Keeps them.
    pub fn keep(&self, path: &Path) -> Result<(), Error> {
        let failed =
            |why: std::io::Error| Error { what: "write", path: path.to_owned(), why: why.to_string() };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(path, self.json()).map_err(failed)
    }

    /// As JSON. Ends with a line end.
    pub fn json(&self) -> String {
        // Plain values always serialize.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// Where limits are kept: `slowpath/limits.json` in the folder for what can be recreated, of the user with that home.
pub fn place(home: Option<&Path>) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")))?;
    Some(caches.join("slowpath/limits.json"))
}

fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_and_those_of_another_machine_are_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/limits.json");
        assert_eq!(Limits::kept(&path).expect("no file is no error"), None);
        let limit =
            Limit { name: "aes".into(), what: String::new(), ns: Some(4.0), bytes: 16, obstacle: None };
        let mut limits = Limits {
            kind: "limits".into(),
            schema: SCHEMA,
            cpu: cpu_name(),
            measured_unix_s: 1,
            limits: vec![limit],
        };
        limits.keep(&path).expect("kept");
        assert_eq!(Limits::kept(&path).expect("read"), Some(limits.clone()));
        assert_eq!(limits.named("aes").and_then(|aes| aes.ns_for(1600.0)), Some(400.0));
        limits.cpu = "another".into();
        limits.keep(&path).expect("kept");
        assert_eq!(Limits::kept(&path).expect("read"), None);
        std::fs::write(&path, "{").expect("written");
        assert!(Limits::kept(&path).is_err_and(|error| error.to_string().contains("slowpath limits")));
    }

    #[test]
    fn what_is_measured_is_of_the_right_size() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = measure(folder.path());
        let within = |name: &str, low: f64, high: f64| {
            let limit = limits.named(name).expect("a limit of that name");
            // What this machine lacks says so.
            let ns = limit.ns.unwrap_or_else(|| {
                assert!(limit.obstacle.is_some(), "{name} says why");
                low
            });
            assert!((low..=high).contains(&ns), "{name}: {ns} ns");
        };
        // Wide bounds: from the quickest processor there is to a slow and busy one.
        within("aes", 0.3, 100.0);
        within("clmul", 0.05, 50.0);
        within("copy", 5e5, 1e9);
        within("read", 2e5, 1e9);
        within("fault", 20.0, 1e5);
        within("syscall", 20.0, 1e5);
        within("switch", 300.0, 1e7);
        within("fsync", 100.0, 1e9);
        within("process", 5e4, 1e9);
        let of = |name: &str| limits.named(name).and_then(|limit| limit.ns);
        assert!(of("read") < of("copy"), "a copy reads and writes");
        assert!(of("syscall") < of("process"));
    }
}
