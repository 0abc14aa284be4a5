//! Events of system calls that the BPF object sends, from bytes. Mirrors the structs of `bpf/tracer.h`.

use crate::sampler::record::Regs;
use slowpath_syscalls::ASKS;

/// `struct stack_event`: the user stack at the entry of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StackCopy {
    pub pid: u32,
    pub time: u64,
    pub site: u64,
    pub regs: Regs,
    pub bytes: Vec<u8>,
    /// The offset of the second half of what was to be copied, where that does not follow the first.
    pub far: Option<u64>,
}

/// `struct file_id`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub inode: u64,
    pub size: u64,
    pub mtime: u64,
    /// As in the kernel: 12 bits of major, 20 of minor.
    pub device: u32,
    pub mode: u32,
    pub flags: u32,
    pub magic: u32,
}

/// `struct syscall_event`: one finished call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    pub pid: u32,
    pub tid: u32,
    pub number: u32,
    /// How many calls like this one it stands for: more than itself only where calls were traced in windows.
    pub count: u64,
    pub time: u64,
    pub end: u64,
    pub blocked: u64,
    /// Time in line for a CPU, ns.
    pub in_line: u64,
    pub result: i64,
    pub argument: u64,
    pub site: u64,
    pub path_hash: u64,
    pub file: FileId,
    /// Pid, tid and site of the call that ended the wait; tid 0 for none.
    pub waker: (u32, u32, u64),
    pub compat: bool,
    /// Further calls of the same key are added up in the kernel.
    pub tallied: bool,
    /// Of a process of Go's, whose compiler keeps it in r14: which goroutine made it.
    pub goroutine: u64,
    /// The thread was met in it, and those before and after it were not seen.
    pub met: bool,
    pub path: Vec<u8>,
    /// Where a call by descriptor names no path: what the file behind it is called, if it was asked.
    pub link: Vec<u8>,
}

/// `struct tally_key`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TallyKey {
    pub pid: u32,
    /// With the highest bit set for a call of the 32-bit interface.
    pub number: u32,
    pub site: u64,
    pub inode: u64,
    pub path_hash: u64,
    pub device: u32,
    pub error: i32,
}

/// `struct tally`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub count: u64,
    pub bytes: u64,
    pub duration: u64,
    pub blocked: u64,
    pub first: u64,
    pub last: u64,
}

/// Reads integers from fixed places.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }
    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }
}

impl StackCopy {
    pub(crate) fn parse(bytes: &[u8]) -> Option<StackCopy> {
        let at = Bytes(bytes);
        let size = at.u32(12)? as usize;
        Some(StackCopy {
            pid: at.u32(4)?,
            time: at.u64(16)?,
            site: at.u64(24)?,
            regs: Regs { ip: at.u64(32)?, sp: at.u64(40)?, bp: at.u64(48)?, wide: true },
            bytes: bytes.get(64..64 + size)?.to_vec(),
            far: at.u64(56).filter(|far| *far > 0),
        })
    }
}

impl Finished {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Finished> {
        let at = Bytes(bytes);
        let flags = at.u32(128)?;
        let size = at.u32(132)? as usize;
        Some(Finished {
            pid: at.u32(4)?,
            tid: at.u32(8)?,
            number: at.u32(12)?,
            count: 1,
            time: at.u64(16)?,
            end: at.u64(24)?,
            blocked: at.u64(32)?,
            in_line: at.u64(136)?,
            result: at.u64(40)? as i64,
            argument: at.u64(48)?,
            site: at.u64(56)?,
            path_hash: at.u64(72)?,
            file: FileId {
                inode: at.u64(80)?,
                size: at.u64(88)?,
                mtime: at.u64(96)?,
                device: at.u32(104)?,
                mode: at.u32(108)?,
                flags: at.u32(112)?,
                magic: at.u32(116)?,
            },
            waker: (at.u32(120)?, at.u32(124)?, at.u64(64)?),
            compat: flags & 1 != 0,
            tallied: flags & 2 != 0,
            goroutine: at.u64(144)?,
            met: false,
            path: bytes.get(152..152 + size)?.to_vec(),
            link: Vec::new(),
        })
    }

    /// The key under which further such calls are added up.
    pub(crate) fn key(&self) -> TallyKey {
        TallyKey {
            pid: self.pid,
            number: self.number | u32::from(self.compat) << 31,
            site: self.site,
            inode: self.file.inode,
            path_hash: self.path_hash,
            device: self.file.device,
            error: if ASKS.contains(&self.number) { self.result.min(1) } else { self.result.min(0) } as i32,
        }
    }
}

impl TallyKey {
    pub(crate) fn parse(bytes: &[u8]) -> Option<TallyKey> {
        let at = Bytes(bytes);
        Some(TallyKey {
            pid: at.u32(0)?,
            number: at.u32(4)?,
            site: at.u64(8)?,
            inode: at.u64(16)?,
            path_hash: at.u64(24)?,
            device: at.u32(32)?,
            error: at.u32(36)? as i32,
        })
    }

    /// The key as in the kernel.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(40);
        bytes.extend(self.pid.to_ne_bytes());
        bytes.extend(self.number.to_ne_bytes());
        for word in [self.site, self.inode, self.path_hash] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(self.device.to_ne_bytes());
        bytes.extend(self.error.to_ne_bytes());
        bytes
    }
}

impl Tally {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Tally> {
        let at = Bytes(bytes);
        Some(Tally {
            count: at.u64(0)?,
            bytes: at.u64(8)?,
            duration: at.u64(16)?,
            blocked: at.u64(24)?,
            first: at.u64(32)?,
            last: at.u64(40)?,
        })
    }

    /// What was added since `before`.
    pub(crate) fn since(self, before: Tally) -> Tally {
        Tally {
            count: self.count.saturating_sub(before.count),
            bytes: self.bytes.saturating_sub(before.bytes),
            duration: self.duration.saturating_sub(before.duration),
            blocked: self.blocked.saturating_sub(before.blocked),
            first: if before.count > 0 { before.last } else { self.first },
            last: self.last,
        }
    }
}
