//! Counts every entry of a few functions over a whole run, and records nothing else: what a comparison reports beside its times.

use crate::bpf::{Bpf, MODE_COUNT, SLOTS, Slot};
use crate::counter::{Placement, Uprobe, place};
use crate::image::Image;
use crate::launch::{self, Command, Held};
use crate::{Error, signals};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Where counting of a function ends, so that a hot one does not hold the program up for more than seconds.
const MOST: u64 = 1_000_000;

/// How often it is looked whether one has come to that, ms.
const TURN_MS: i32 = 10;

/// A function to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The executable or library.
    pub file: PathBuf,
    /// Where the function begins, as the file's own program headers count addresses.
    pub address: u64,
}

/// Entries of a function in the command's own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entries {
    /// How many.
    pub count: u64,
    /// Counting ended there: there may have been more.
    pub more: bool,
}

/// Runs a command and counts the entries of each function in its own process from its first instruction to its end; children
/// are not counted. `None` for a function that has no place where a probe does no harm. At most 64 are counted.
pub fn tally(command: &[OsString], functions: &[Entry]) -> Result<Vec<Option<Entries>>, Error> {
    signals::prepare();
    let refused = |error: libbpf_rs::Error| Error::NoRights(format!("BPF could not be loaded: {error}"));
    let tables = Bpf::load().and_then(|bpf| bpf.probes()).map_err(refused)?;
    signals::install().map_err(Error::system("handle signals"))?;
    let command = Command::new(command, None)?;
    let held = Held::fork(&command)?;
    let pid = held.pid;
    // A probe of a process that has not yet mapped the file stands as soon as it does.
    let mut probes: Vec<Option<Uprobe>> = functions
        .iter()
        .take(SLOTS)
        .enumerate()
        .map(|(slot, function)| {
            let image = Image::open(&function.file, &function.file, |_| true)?;
            let end = image.functions()?.containing(function.address)?.end;
            let code = image.code(function.address, end.checked_sub(function.address)? as usize)?;
            let Placement { offset, .. } = place::entry(code, function.address, image.go)?;
            let offset = image.offset_of_svma(function.address)? + offset;
            let row = Slot { mode: MODE_COUNT, generation: 1, stop_at: MOST, ..Slot::default() };
            tables.set(slot, row).ok()?;
            Uprobe::open(&tables.on_hit, pid, &function.file, offset, 1 << 16 | slot as u64).ok()
        })
        .collect();
    let counted: Vec<bool> = probes.iter().map(Option::is_some).collect();
    held.go(false).inspect_err(|_| drop(launch::ended(pid)))?;
    let entries = |slot: usize| {
        let total = tables.totals.get(slot);
        let more = total.stopped_ns.load(Ordering::Relaxed) > 0;
        Entries { count: total.count.load(Ordering::Relaxed), more }
    };
    let pidfd = launch::pidfd(pid).ok(); // without it the end is noticed a little later
    while launch::ended(pid).map_err(Error::system("wait for the program"))?.is_none() {
        launch::wait_for(pidfd.as_ref(), TURN_MS);
        // Not every kernel takes the breakpoint of a program that asks for it out by itself.
        for (slot, probe) in probes.iter_mut().enumerate() {
            if entries(slot).more {
                *probe = None;
            }
        }
        if let Some(signal) = signals::to_pass_on() {
            // SAFETY: a signal to our own child, which was not yet waited for.
            unsafe { libc::kill(pid as i32, signal) };
        }
    }
    let mut all: Vec<Option<Entries>> =
        counted.iter().enumerate().map(|(slot, counted)| counted.then(|| entries(slot))).collect();
    all.resize(functions.len(), None);
    Ok(all)
}
