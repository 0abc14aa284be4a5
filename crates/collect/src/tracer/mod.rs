//! System calls of the target, from the events of the BPF object or of `ptrace` to rows: which file each concerned, from where it was called,
//! and who ended a wait. What is a cause of slowness in them is none of this module's business.

pub(crate) mod alike;
pub(crate) mod event;
pub(crate) mod ptrace;

use crate::stacks::Stacks;
use crate::unwind::{Copied, Unwound};
use crate::world::{World, memory};
use event::{FileId, Finished, StackCopy, Tally, TallyKey};
use slowpath_recording::Tables;
use slowpath_recording::tables::{File, Syscall, Wait};
use slowpath_syscalls::{BYTES, CONNECT, FUTEX, LSEEK, MEMORY, OPENS, READS, READS_AT, class};
use std::collections::{HashMap, HashSet};

/// A wait from this length on has a row of its own, ns; as `LONG_WAIT_NS` of `bpf/tracer.h`.
pub(crate) const LONG_WAIT_NS: u64 = 1_000_000;
/// Readings after which calls without a stack are reported without.
const PATIENCE: u32 = 3;

/// File systems whose files the kernel makes up as they are read: their size and time say nothing of their content.
const PSEUDO: [u32; 11] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x27_e0eb,   // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x1cd1,      // devpts
    0xcafe_4a11, // bpf
    0x6e73_6673, // nsfs
    0x6573_5543, // fusectl
    0x1980_0202, // mqueue
];

#[derive(PartialEq, Eq, Hash)]
struct FileKey {
    path: Vec<u8>,
    id: (u32, u64),
    state: (u64, u64),
}

/// What the rows of calls that are added up share.
struct Tallied {
    row: Syscall,
    seen: Tally,
    /// How often it was read.
    waited: u32,
}

impl Tallied {
    fn row_of(&self, key: &TallyKey, new: &Tally, stack: Option<u32>) -> Syscall {
        Syscall {
            time_ns: new.first,
            end_ns: new.last,
            count: new.count,
            duration_ns: new.duration,
            blocked_ns: new.blocked,
            result: i64::from(key.error),
            bytes: new.bytes,
            stack,
            ..self.row.clone()
        }
    }
}

/// See the module's head.
#[derive(Default)]
pub(crate) struct Tracer {
    /// Stacks by process and place, and places whose stack was asked for again.
    sites: HashMap<(u32, u64), u32>,
    asked_again: HashSet<(u32, u64)>,
    files: HashMap<FileKey, u32>,
    /// The row of each device and inode that was opened last.
    open: HashMap<(u32, u64), u32>,
    /// The names of those of them that are known by their descriptors alone.
    names: HashMap<u32, Vec<u8>>,
    /// Those that were met as they were read, as they were then.
    met: HashMap<u32, File>,
    numbers: u32,
    tallied: HashMap<TallyKey, Tallied>,
    pub calls: u64,
    /// Calls that were added up, but of which nothing else is known.
    pub lost: u64,
}

impl Tracer {
    /// The stack of a place.
    pub(crate) fn stack(&mut self, pid: u32, site: u64, stack: Option<u32>) {
        if let Some(stack) = stack {
            self.sites.insert((pid, site), stack);
        }
    }

    /// Whether the stack of a place was not asked for again before: if no more of it can be read, asking each time would not help.
    pub(crate) fn asks_once(&mut self, pid: u32, site: u64) -> bool {
        self.asked_again.insert((pid, site))
    }

    /// A process ended: its places mean nothing any more.
    pub(crate) fn gone(&mut self, pid: u32) {
        for (key, known) in self.tallied.iter_mut().filter(|(key, _)| key.pid == pid) {
            known.row.stack = known.row.stack.or(self.sites.get(&(pid, key.site)).copied());
        }
        self.sites.retain(|(of, _), _| *of != pid);
        self.asked_again.retain(|(of, _)| *of != pid);
    }

    /// A finished call; `go`: of a process of Go's.
    pub(crate) fn finished(&mut self, call: Finished, go: bool, world: &mut World, tables: &mut Tables) {
        let Some(thread) = world.thread(call.pid, call.tid, call.time, tables) else { return };
        self.calls += call.count;
        let file = self.file(&call, tables);
        let stack = self.sites.get(&(call.pid, call.site)).copied();
        let bytes = match call.number {
            _ if call.compat || call.result < 0 => 0,
            number if class(number) & BYTES != 0 => call.result as u64,
            number if class(number) & MEMORY != 0 => call.argument,
            _ => 0,
        };
        let row = Syscall {
            time_ns: call.time,
            end_ns: call.end,
            thread,
            number: call.number,
            compat: call.compat,
            count: call.count,
            duration_ns: call.count * call.end.saturating_sub(call.time).saturating_sub(call.in_line),
            blocked_ns: call.count * call.blocked.min(call.end.saturating_sub(call.time)),
            result: call.result,
            bytes: call.count.saturating_mul(bytes),
            argument: call.argument,
            file,
            sync: call.file.flags & (libc::O_DSYNC as u32) != 0,
            stack,
            goroutine: (go && call.goroutine != 0).then_some(call.goroutine),
            met: call.met.then_some(true),
        };
        if call.blocked >= LONG_WAIT_NS {
            let (pid, tid, site) = call.waker;
            let known = |tid| if tid == 0 { None } else { world.thread_number(tid) };
            tables.waits.push(Wait {
                time_ns: call.time,
                duration_ns: call.blocked,
                thread,
                number: call.number,
                file,
                stack,
                waker: known(tid),
                waker_stack: self.sites.get(&(pid, site)).copied(),
            });
        }
        if call.tallied {
            self.tallied.insert(call.key(), Tallied { row: row.clone(), seen: Tally::default(), waited: 0 });
        }
        tables.syscalls.push(row);
    }

    /// What the kernel has added up by now, for the `last` time or not. Rows come of it when they are `due`, and of processes that
    /// ended. Returns the keys that nothing is added to any more.
    pub(crate) fn added_up(
        &mut self,
        tallies: &[(TallyKey, Tally)],
        world: &mut World,
        tables: &mut Tables,
        due: bool,
        last: bool,
    ) -> Vec<TallyKey> {
        let mut over = Vec::new();
        for (key, tally) in tallies {
            let Some(known) = self.tallied.get_mut(key) else {
                // The event that reported their first call was lost, and with it whose they are.
                if last {
                    self.lost += tally.count;
                    over.push(*key);
                }
                continue;
            };
            let new = tally.since(known.seen);
            let gone = world.process(key.pid).is_none();
            if !(due || gone || last) {
                continue;
            }
            // Copies of stacks are rationed: the first call of a place may have gone without, a later one has it.
            let stack = self.sites.get(&(key.pid, key.site)).copied().or(known.row.stack);
            known.waited += 1;
            if new.count > 0 && (stack.is_some() || gone || last || known.waited > PATIENCE) {
                self.calls += new.count;
                known.seen = *tally;
                tables.syscalls.push(known.row_of(key, &new, stack));
            }
            if gone {
                over.push(*key);
                self.tallied.remove(key);
            }
        }
        over
    }

    /// Of those, the ones of which everything has been written and which nothing was added to since.
    pub(crate) fn idle(&self, tallies: &[(TallyKey, Tally)]) -> Vec<TallyKey> {
        let idle = |(key, tally): &&(TallyKey, Tally)| {
            self.tallied.get(key).is_some_and(|known| tally.since(known.seen).count == 0)
        };
        tallies.iter().filter(idle).map(|(key, _)| *key).collect()
    }

    /// Forgets calls that the kernel adds up no more, and writes what came to them at last.
    pub(crate) fn put_away(&mut self, left: &[(TallyKey, Tally)], tables: &mut Tables) {
        for (key, tally) in left {
            let Some(known) = self.tallied.remove(key) else { continue };
            let new = tally.since(known.seen);
            if new.count > 0 {
                self.calls += new.count;
                let stack = self.sites.get(&(key.pid, key.site)).copied().or(known.row.stack);
                tables.syscalls.push(known.row_of(key, &new, stack));
            }
        }
    }

    fn file(&mut self, call: &Finished, tables: &mut Tables) -> Option<u32> {
        let id = (call.file.device, call.file.inode);
        let named = !call.path.is_empty();
        if !named {
            if call.file.inode == 0 {
                return None;
            }
            // Its state at the open counts. The number of a file that was deleted is given to another one, which has another name; a file that was opened may have been
            // asked for by another name than it has, as through a link.
            let renamed = |row: &u32| {
                !call.link.is_empty() && self.names.get(row).is_some_and(|name| *name != call.link)
            };
            if let Some(known) = self.open.get(&id).filter(|row| !renamed(row)).copied() {
                self.has_changed(known, call, tables);
                return Some(known);
            }
        }
        let opened = OPENS.contains(&call.number) && call.result >= 0;
        // By ptrace few opens are seen: of a file that is met as it is read its state at that moment counts.
        let met_open = !named && !call.link.is_empty() && is_reading(call);
        let state = if opened || met_open { (call.file.size, call.file.mtime) } else { (0, 0) };
        let path = match call.number {
            CONNECT => address(&call.path).into_bytes(),
            _ if named => call.path.clone(),
            _ => call.link.clone(),
        };
        let id = if named && !opened { (0, 0) } else { id };
        let key = FileKey { path, id, state };
        if let Some(known) = self.files.get(&key) {
            if opened || !call.link.is_empty() {
                self.open.insert(id, *known);
            }
            return Some(*known);
        }
        let number = self.numbers;
        self.numbers += 1;
        tables.files.push(File {
            file: number,
            path: String::from_utf8_lossy(&key.path).into_owned(),
            device: libc::makedev(id.0 >> 20, id.0 & 0xf_ffff),
            inode: id.1,
            size: state.0,
            mtime_ns: state.1,
            kind: match call.number {
                CONNECT => "address",
                FUTEX => "futex",
                _ => kind(&call.file, id.1),
            }
            .to_owned(),
        });
        if id.1 != 0 {
            self.open.insert(id, number);
            if !named && !call.link.is_empty() {
                self.names.insert(number, call.link.clone());
            }
        }
        if let Some(file) = tables.files.last().filter(|_| met_open) {
            self.met.insert(number, file.clone());
        }
        self.files.insert(key, number);
        Some(number)
    }

    /// A file that was met as it was read, and is another one since, has no size that could be told: it grows, or is written anew.
    fn has_changed(&mut self, row: u32, call: &Finished, tables: &mut Tables) {
        let differs = |file: &&File| (file.size, file.mtime_ns) != (call.file.size, call.file.mtime);
        if is_reading(call) && self.met.get(&row).filter(differs).is_some() {
            let file = self.met.remove(&row);
            tables.files.extend(file.map(|file| File { size: 0, mtime_ns: 0, ..file }));
        }
    }
}

/// A call that reads a file, or says from where on.
fn is_reading(call: &Finished) -> bool {
    READS.contains(&call.number) || READS_AT.contains(&call.number) || call.number == LSEEK
}

fn kind(file: &FileId, inode: u64) -> &'static str {
    if inode == 0 {
        return "path";
    }
    match file.mode & libc::S_IFMT {
        _ if PSEUDO.contains(&file.magic) => "pseudo",
        libc::S_IFREG => "file",
        libc::S_IFDIR => "directory",
        libc::S_IFIFO => "pipe",
        libc::S_IFSOCK => "socket",
        // Consoles, serial lines and the two sorts of pseudo-terminals.
        libc::S_IFCHR if matches!(file.size >> 20, 4 | 5 | 136..=143) => "terminal",
        libc::S_IFCHR | libc::S_IFBLK => "device",
        _ => "anonymous",
    }
}

/// A socket's address as people write it.
fn address(bytes: &[u8]) -> String {
    let at = |range: std::ops::Range<usize>| bytes.get(range).unwrap_or_default();
    let family = at(0..2).try_into().map_or(0, u16::from_ne_bytes);
    let port = at(2..4).try_into().map_or(0, u16::from_be_bytes);
    match i32::from(family) {
        libc::AF_UNIX => {
            let path = bytes.get(2..).unwrap_or_default();
            let (mark, path) = if path.first() == Some(&0) { ("@", &path[1..]) } else { ("", path) };
            let end = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
            format!("unix:{mark}{}", String::from_utf8_lossy(&path[..end]))
        }
        libc::AF_INET => match <[u8; 4]>::try_from(at(4..8)) {
            Ok(host) => format!("{}:{port}", std::net::Ipv4Addr::from(host)),
            Err(_) => "inet".to_owned(),
        },
        libc::AF_INET6 => match <[u8; 16]>::try_from(at(8..24)) {
            Ok(host) => format!("[{}]:{port}", std::net::Ipv6Addr::from(host)),
            Err(_) => "inet6".to_owned(),
        },
        other => format!("address family {other}"),
    }
}

/// A copied stack as a stack of the recording, and from which offset on the next copy of it should go on (see [`Unwound`]).
pub(crate) fn unwind(
    copy: &StackCopy,
    world: &mut World,
    stacks: &mut Stacks,
    tables: &mut Tables,
) -> (Option<u32>, Option<u64>) {
    let Some(live) = world.process(copy.pid) else { return (None, None) };
    let mut places = Vec::new();
    let memory = memory(&mut live.memory, copy.pid);
    let stack = Copied::in_halves(&copy.bytes, copy.far);
    let Unwound { far, .. } = live.space.unwind(copy.regs, stack, memory, &mut live.cache, &mut places);
    (stacks.of_places(&places, |module| world.image(module), tables), far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_descriptor_until_another_one_has_its_number() {
        let (mut tracer, mut tables) = (Tracer::default(), Tables::default());
        let file = |inode| FileId { inode, device: 1, mode: libc::S_IFREG, size: 7, ..FileId::default() };
        let read =
            |inode, link: &[u8]| Finished { file: file(inode), link: link.to_vec(), ..Finished::default() };
        let mut of = |call: &Finished| tracer.file(call, &mut tables);
        assert_eq!(of(&read(5, b"/a")), Some(0));
        assert_eq!(of(&read(5, b"")), Some(0));
        assert_eq!((of(&read(5, b"/b")), of(&read(5, b""))), (Some(1), Some(1)));
        // What was opened keeps its row, with its size, whatever its name is behind links.
        let opened = Finished { number: OPENS[0], path: b"/lib/c".to_vec(), ..read(6, b"") };
        assert_eq!((of(&opened), of(&read(6, b"/usr/lib/c"))), (Some(2), Some(2)));
        // One that was met and has grown has no size that could be told; what else is done with it says nothing.
        let grown = |inode| FileId { size: 8, ..file(inode) };
        for number in [1, 0, 0] {
            assert_eq!(of(&Finished { number, file: grown(5), ..read(5, b"") }), Some(1));
            assert_eq!(of(&Finished { number, file: grown(6), ..read(6, b"") }), Some(2));
        }
        let rows: Vec<_> = tables.files.iter().map(|one| (one.path.as_str(), one.file, one.size)).collect();
        assert_eq!(rows, [("/a", 0, 7), ("/b", 1, 7), ("/lib/c", 2, 7), ("/b", 1, 0)]);
        // Only of what is read its size is known as it is met.
        let mapped = Finished { number: 9, ..read(7, b"/d") };
        assert_eq!((tracer.file(&mapped, &mut tables), tables.files[4].size), (Some(3), 0));
    }

    #[test]
    fn addresses_are_told_as_people_write_them() {
        assert_eq!(address(&[2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), "127.0.0.1:80");
        assert_eq!(address(b"\x01\0/run/x\0\0"), "unix:/run/x");
        assert_eq!(address(b"\x01\0\0abstract"), "unix:@abstract");
        assert_eq!(address(&[]), "address family 0");
        assert_eq!(address(&[2, 0, 0]), "inet");
    }
}
