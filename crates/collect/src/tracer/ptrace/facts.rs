//! What `/proc` reports about a stopped thread: the CPU time so far, the file behind a descriptor, the program it runs.

use super::wanted;
use crate::tracer::event::FileId;
use crate::{cpu, resources};
use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// CPU time of a thread so far and time it stood in line for a CPU, ns, and how often it was given one; exact while it is stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ran {
    pub cpu_ns: u64,
    pub delay_ns: u64,
    pub turns: u64,
}

/// Descriptors that accounts leave for the files of modules.
const FOR_MODULES: i32 = 16;

/// Opens a thread's own account with the scheduler, to be read often.
pub(super) fn account(tid: u32) -> Option<File> {
    resources::keep(File::open(format!("/proc/{tid}/schedstat")).ok()?, FOR_MODULES)
}

/// Reads an account.
pub(super) fn ran(account: &File) -> Option<Ran> {
    let mut bytes = [0; 64];
    let read = account.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(&bytes[..read]).ok()?;
    let mut fields = text.split_whitespace().map(|field| field.parse::<u64>());
    let mut next = || fields.next()?.ok();
    Some(Ran { cpu_ns: next()?, delay_ns: next()?, turns: next()? })
}

/// User and kernel ticks of a thread, ns.
pub(super) fn ticks(pid: u32, tid: u32) -> (u64, u64) {
    // SAFETY: sysconf has no preconditions.
    let tick_ns = 1_000_000_000 / unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as u64;
    let (user, sys) = cpu::ticks(&format!("/proc/{pid}/task/{tid}/stat"));
    (user.saturating_mul(tick_ns), sys.saturating_mul(tick_ns))
}

fn status_line(pid: u32, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The most memory that the process of a thread had, pages; 0 if it is not reported. The thread must not have ended: the first one of a process often has when
/// the last one ends.
pub(super) fn peak_pages(tid: u32) -> u64 {
    status_line(tid, "VmHWM").unwrap_or(0) / 4
}

/// How many calls of a thread have read and written so far, whatever they moved; none where the kernel does not count them.
pub(super) fn moves(pid: u32, tid: u32) -> Option<[u64; 2]> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/io")).ok()?;
    let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some([of("syscr:")?, of("syscw:")?])
}

/// The process of a thread, and that process's parent.
pub(super) fn process_of(tid: u32) -> Option<(u32, u32)> {
    Some((status_line(tid, "Tgid")? as u32, status_line(tid, "PPid")? as u32))
}

/// Bytes that a process has written so far, to whatever.
pub(super) fn written(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok())
}

/// Whether a thread may be stopped now: it runs, in the program or in a call, or is in a call that goes on afterwards.
pub(super) fn may_be_stopped(pid: u32, tid: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")) else { return false };
    match text.split_whitespace().next() {
        Some("running") => true,
        // In no call: in a page fault.
        Some("-1") => true,
        Some(number) => number.parse().is_ok_and(wanted::goes_on_after_a_stop),
        None => false,
    }
}

/// Whether a thread runs now, or would if there were a CPU for it.
pub(super) fn runs(pid: u32, tid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/task/{tid}/syscall")).is_ok_and(|text| text.starts_with(b"running"))
}

/// Whether a signal waits to be taken by a thread, its own or of its process.
pub(super) fn has_a_signal(tid: u32) -> bool {
    let [Some(own), Some(shared), Some(blocked), Some(ignored)] =
        signals(tid, ["SigPnd", "ShdPnd", "SigBlk", "SigIgn"])
    else {
        return true;
    };
    (own | shared) & !blocked & !ignored != 0
}

/// Signals that mean nothing where there is no handler for them.
const MEAN_NOTHING: [i32; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];

/// Whether a thread's process takes no notice of a signal.
pub(super) fn ignores(tid: u32, signal: i32) -> bool {
    let [Some(ignored), Some(handled)] = signals(tid, ["SigIgn", "SigCgt"]) else { return false };
    let bit = 1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0);
    ignored & bit != 0 || MEAN_NOTHING.contains(&signal) && handled & bit == 0
}

/// Whether a thread's process has a handler for a signal.
pub(super) fn handles(tid: u32, signal: i32) -> bool {
    let [Some(handled)] = signals(tid, ["SigCgt"]) else { return false };
    handled & 1u64.checked_shl(signal.wrapping_sub(1) as u32).unwrap_or(0) != 0
}

/// Sets of signals of a thread, by their names in `/proc/TID/status`.
fn signals<const N: usize>(tid: u32, names: [&str; N]) -> [Option<u64>; N] {
    let text = std::fs::read_to_string(format!("/proc/{tid}/status")).unwrap_or_default();
    names.map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
    })
}

/// What a process executes, where, and with which arguments.
pub(super) fn program(pid: u32) -> (Option<String>, Option<String>, Vec<String>) {
    let proc = PathBuf::from(format!("/proc/{pid}"));
    let link = |name: &str| Some(std::fs::read_link(proc.join(name)).ok()?.to_string_lossy().into_owned());
    let bytes = std::fs::read(proc.join("cmdline")).unwrap_or_default();
    let text = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    let arguments = text.split(|byte| *byte == 0).map(|one| String::from_utf8_lossy(one).into_owned());
    (link("exe"), link("cwd"), if text.is_empty() { Vec::new() } else { arguments.collect() })
}

/// How often a file's name is told: what is seen of a thread before its first window may be dropped with the name.
const TOLD: u8 = 16;

/// Whose files are made up as they are read is asked once for each device; what a file is called, a few times.
#[derive(Default)]
pub(super) struct Devices {
    magics: HashMap<u64, u32>,
    told: HashMap<(u32, u64), u8>,
}

impl Devices {
    /// The file behind a descriptor; none if it cannot be determined.
    pub(super) fn file(&mut self, tid: u32, descriptor: u64) -> Option<FileId> {
        let path = format!("/proc/{tid}/fd/{descriptor}");
        let metadata = std::fs::metadata(&path).ok()?;
        let device = |number: u64| libc::major(number) << 20 | libc::minor(number);
        let magic = *self.magics.entry(metadata.dev()).or_insert_with(|| magic(Path::new(&path)));
        let character = metadata.mode() & libc::S_IFMT == libc::S_IFCHR;
        let size = if character { u64::from(device(metadata.rdev())) } else { metadata.size() };
        Some(FileId {
            inode: metadata.ino(),
            size,
            mtime: (metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec()) as u64,
            device: device(metadata.dev()),
            mode: metadata.mode(),
            flags: 0,
            magic,
        })
    }

    /// The path of a regular file behind a descriptor; empty if it was told often enough, or has none any more.
    pub(super) fn name(&mut self, tid: u32, descriptor: u64, file: &FileId) -> Vec<u8> {
        if file.mode & libc::S_IFMT != libc::S_IFREG {
            return Vec::new();
        }
        let told = self.told.entry((file.device, file.inode)).or_default();
        if *told >= TOLD {
            return Vec::new();
        }
        *told += 1;
        let link = std::fs::read_link(format!("/proc/{tid}/fd/{descriptor}")).unwrap_or_default();
        let path = link.into_os_string().into_vec();
        if path.starts_with(b"/") && !path.ends_with(b" (deleted)") { path } else { Vec::new() }
    }
}

fn magic(path: &Path) -> u32 {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return 0 };
    // SAFETY: statfs is plain numbers; the path is a C string.
    unsafe {
        let mut about: libc::statfs = std::mem::zeroed();
        if libc::statfs(path.as_ptr(), &mut about) < 0 { 0 } else { about.f_type as u32 }
    }
}
