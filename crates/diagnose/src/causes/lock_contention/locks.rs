//! Which words in memory and which files are locks, who waits for each, and who releases it.
//!
//! A file is locked by fcntl or flock, and a wait in these is one for a lock. A futex may be a lock, a condition, a semaphore, a barrier
//! or the end of a thread. What tells a lock: who has waited for it then holds it, and so releases it later and wakes the next one, and
//! only that one. Who waits for work, for a message or for others to arrive does not wake others at the same word.

use crate::Evidence;
use crate::calls::{Calls, Sum};
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{FCNTL, FLOCK, FUTEX};
use std::collections::{BTreeMap, BTreeSet};

/// F_SETLKW, F_OFD_SETLKW: lock, and wait if it is held.
const LOCK_AND_WAIT: [u64; 2] = [7, 38];
/// LOCK_NB, LOCK_UN of flock.
const NO_WAIT: u64 = 4;
const UNLOCK: u64 = 8;
/// FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI2.
const WAITS: [u64; 4] = [0, 6, 9, 13];
/// FUTEX_WAKE, FUTEX_UNLOCK_PI, FUTEX_WAKE_BITSET.
const WAKES: [u64; 3] = [1, 7, 10];
const UNLOCK_PI: u64 = 7;
/// The operation without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const OPERATION: u64 = 0x7f;
/// EAGAIN: the word had changed, nothing was waited for. EINTR, ETIMEDOUT: it was given up.
const IN_VAIN: [i64; 3] = [-11, -4, -110];

/// Releases for each turn from which a thread that waited is one that then held the lock. A lock has one, which is not seen if nobody
/// waits by then; a barrier of n threads has 1/n, and wakes all.
const RELEASES: f64 = 0.5;
/// Who is woken and finds that a running thread took the lock first waits again at once: after 1 to 17 µs in the case, with both CPUs busy. So long
/// after a wait, another one belongs to the same turn, ns: that leaves room for slower machines.
const AT_ONCE_NS: u64 = 100_000;
/// Threads with this share of the time waited must do so.
const MOST: f64 = 0.8;
/// Waits for a lock before they count: once can be an accident.
const WAITED: u64 = 5;

/// Parts of names of functions that wait for something else than a lock: a condition, a barrier, a thread's end, a
/// message, a turn.
const OTHERS: [&str; 9] =
    ["cond", "park", "barrier", "join", "latch", "event", "sem_", "platform_wait", "atomic_wait"];

/// Parts of names of functions of the C library and of Rust's that wait for a lock. One who hardly ever gets it seldom wakes others. Where calls are traced
/// by ptrace whoever waits is seen, for it waits long, but not always when it wakes the next one; and stops between two waits part one turn into several.
const LOCKS: [&str; 8] = [
    "mutex_lock",
    "mutex::lock",
    "lll_lock_wait",
    "rwlock_wrlock",
    "rwlock_rdlock",
    "rwlock::write",
    "rwlock::read",
    "lock_contended",
];

/// Where a lock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A word in the memory of one process.
    Memory,
    /// A file.
    File,
}

/// What one thread did at a lock.
#[derive(Debug, Clone, Default)]
pub(super) struct User {
    /// Calls that waited for it.
    pub waits: Sum,
    /// When those that are recorded one by one ended: from then on it held the lock.
    pub waited_until: Vec<u64>,
    /// Calls that woke one of those who wait.
    pub releases: Sum,
    /// Waits after which the thread did not at once wait again.
    turns: u64,
    /// Until when it waited last, if it woke nobody since; of waits that are recorded one by one.
    waits_until: Option<u64>,
    /// Those that woke more than one.
    broadcasts: u64,
}

impl User {
    fn waits_for_it(&mut self, row: &Syscall) {
        self.waits.add(row);
        if row.count > 1 {
            self.turns += row.count;
            return;
        }
        self.waited_until.push(row.end_ns);
        if self.waits_until.is_none_or(|until| row.time_ns >= until + AT_ONCE_NS) {
            self.turns += 1;
        }
        self.waits_until = Some(row.end_ns);
    }
}

/// A lock and its users by thread.
#[derive(Debug, Clone)]
pub(super) struct Lock {
    pub kind: Kind,
    /// Its rows in `files`: a file that is written to has one for each state in which it was opened.
    pub files: BTreeSet<u32>,
    pub users: BTreeMap<u32, User>,
}

/// What tells locks apart.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    /// A word's address means something in one process only.
    Memory {
        process: u32,
        address: u64,
    },
    Inode {
        device: u64,
        inode: u64,
    },
    Path(&'a str),
}

/// Every lock that was waited for.
pub(super) fn locks(evidence: &Evidence<'_>, calls: &Calls<'_>) -> Vec<Lock> {
    let mut found: BTreeMap<Key<'_>, Lock> = BTreeMap::new();
    for (row, process) in calls.all() {
        let (Some(file), Some(what)) = (calls.file(row), deed(row)) else { continue };
        let (kind, key) = match row.number {
            FUTEX => (Kind::Memory, Key::Memory { process, address: file.inode }),
            _ if file.inode != 0 => (Kind::File, Key::Inode { device: file.device, inode: file.inode }),
            _ => (Kind::File, Key::Path(&file.path)),
        };
        let lock =
            found.entry(key).or_insert_with(|| Lock { kind, files: BTreeSet::new(), users: BTreeMap::new() });
        lock.files.insert(file.file);
        let user = lock.users.entry(row.thread).or_default();
        match what {
            Deed::Waits => user.waits_for_it(row),
            Deed::WakesOne => {
                user.releases.add(row);
                user.waits_until = None;
            }
            Deed::WakesMore => user.broadcasts += row.count,
            Deed::Uses => {}
        }
    }
    let is = |lock: &Lock| lock.waited() >= least(lock.kind) && lock.is_one(evidence, calls);
    let mut locks: Vec<Lock> = found.into_values().filter(is).collect();
    for user in locks.iter_mut().flat_map(|lock| lock.users.values_mut()) {
        user.waited_until.sort_unstable();
    }
    locks
}

/// A file may be held for long, once.
fn least(kind: Kind) -> u64 {
    match kind {
        Kind::Memory => WAITED,
        Kind::File => 1,
    }
}

enum Deed {
    Waits,
    WakesOne,
    WakesMore,
    /// Took it without waiting, or gave it back.
    Uses,
}

fn deed(row: &Syscall) -> Option<Deed> {
    let waited = row.blocked_ns > 0;
    match row.number {
        FCNTL if LOCK_AND_WAIT.contains(&row.argument) => Some(if waited { Deed::Waits } else { Deed::Uses }),
        FLOCK if row.argument & (NO_WAIT | UNLOCK) == 0 => {
            Some(if waited { Deed::Waits } else { Deed::Uses })
        }
        FUTEX => {
            let (operation, many) = (row.argument & OPERATION, row.argument >> 32);
            if WAITS.contains(&operation) {
                Some(if waited && !IN_VAIN.contains(&row.result) { Deed::Waits } else { Deed::Uses })
            } else if WAKES.contains(&operation) {
                Some(if many == 1 || operation == UNLOCK_PI { Deed::WakesOne } else { Deed::WakesMore })
            } else {
                None
            }
        }
        _ => None,
    }
}

impl Lock {
    fn waited(&self) -> u64 {
        self.users.values().map(|user| user.waits.count).sum()
    }

    /// See the file's head.
    fn is_one(&self, evidence: &Evidence<'_>, calls: &Calls<'_>) -> bool {
        if self.kind == Kind::File {
            return true;
        }
        if evidence.by_ptrace {
            return self.users.len() >= 2 && self.is_named(evidence, calls);
        }
        let releases: u64 = self.users.values().map(|user| user.releases.count).sum();
        let broadcasts: u64 = self.users.values().map(|user| user.broadcasts).sum();
        let waiters = || self.users.values().filter(|user| user.waits.count > 0);
        let all: f64 = waiters().map(|user| user.waits.blocked_ns).sum();
        let then_release = |user: &&User| {
            user.releases.count > 0 && user.releases.count as f64 >= RELEASES * user.turns as f64
        };
        let release: f64 = waiters().filter(then_release).map(|user| user.waits.blocked_ns).sum();
        let by_waiters: u64 = waiters().map(|user| user.releases.count).sum();
        if self.users.len() < 2 || releases <= broadcasts {
            return false;
        }
        if self.is_named(evidence, calls) {
            return true;
        }
        release >= MOST * all
            // Each wait ends because one who held it woke a thread; who waits for work is woken by others.
            && by_waiters as f64 >= RELEASES * self.waited() as f64
            && !waiters().any(|user| waits_in(evidence, calls, &user.waits, &OTHERS).unwrap_or(true))
    }

    /// Whether most of the time is waited in functions that are known to wait for locks, and none of it in one that waits for something else.
    fn is_named(&self, evidence: &Evidence<'_>, calls: &Calls<'_>) -> bool {
        let waiters = || self.users.values().filter(|user| user.waits.count > 0);
        let waits_in =
            |user: &User, names: &[&str]| waits_in(evidence, calls, &user.waits, names) == Some(true);
        let all: f64 = waiters().map(|user| user.waits.blocked_ns).sum();
        let named = waiters().filter(|user| waits_in(user, &LOCKS));
        named.map(|user| user.waits.blocked_ns).sum::<f64>() >= MOST * all
            && !waiters().any(|user| waits_in(user, &OTHERS))
    }
}

/// Whether a function between the program's own and the system call has one of these parts of names. None if its stack is not known.
fn waits_in(evidence: &Evidence<'_>, calls: &Calls<'_>, waits: &Sum, names: &[&str]) -> Option<bool> {
    let stack = waits.stack()?;
    let own = calls.own_of(stack);
    let inner = evidence.locations(stack).filter_map(|location| evidence.function_at(location));
    let mut inner = inner.take_while(|function| Some(*function) != own);
    Some(inner.any(|function| {
        let name = evidence.name(function).to_lowercase();
        names.iter().any(|other| name.contains(other))
    }))
}
