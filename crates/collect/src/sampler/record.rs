//! Bytes of a perf record to a value. Pure: knows the layout, not what a record means.
//!
//! Layouts: `perf_event_open(2)`. Every record that is no sample ends with the same three fields (`sample_id_all`):
//! pid and tid, time, CPU.

use super::abi;

/// A record, as far as slowpath uses it. Times are ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record {
    Sample(Sample),
    Mmap {
        pid: u32,
        time: u64,
        start: u64,
        len: u64,
        offset: u64,
        major: u32,
        minor: u32,
        inode: u64,
        path: Vec<u8>,
    },
    Comm {
        pid: u32,
        tid: u32,
        time: u64,
        exec: bool,
        name: Vec<u8>,
    },
    Fork {
        pid: u32,
        parent_pid: u32,
        tid: u32,
        time: u64,
    },
    Exit {
        pid: u32,
        tid: u32,
        time: u64,
    },
    Lost {
        time: u64,
        count: u64,
    },
}

/// A CPU sample before unwinding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sample {
    pub pid: u32,
    pub tid: u32,
    pub time: u64,
    /// ns, or cycles.
    pub period: u64,
    /// Kernel frames, innermost first.
    pub kernel: Vec<u64>,
    /// User frames as the chain of frame pointers has them, innermost first: where the program runs, then where each function returns to. Mostly wrong in
    /// code that uses the register for something else.
    pub chain: Vec<u64>,
    /// User registers, if it has any.
    pub regs: Option<Regs>,
    /// The user stack from `regs.sp` upward.
    pub stack: Vec<u8>,
    /// It is at a system call, and so much of the period stands for what the program did before it made that. 0 of the kernel's own samples.
    pub before_call: u64,
}

/// The user registers that unwinding starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Regs {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    /// 64-bit code.
    pub wide: bool,
}

impl Record {
    pub(crate) fn time(&self) -> u64 {
        match self {
            Record::Sample(sample) => sample.time,
            Record::Mmap { time, .. }
            | Record::Comm { time, .. }
            | Record::Fork { time, .. }
            | Record::Exit { time, .. }
            | Record::Lost { time, .. } => *time,
        }
    }

    /// `None` for kinds that are not used and for records too short for their kind.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Record> {
        let mut header = Reader(bytes);
        let (kind, misc, _size) = (header.u32()?, header.u16()?, header.u16()?);
        let body = header.0;
        if kind == abi::RECORD_SAMPLE {
            return sample(body).map(Record::Sample);
        }
        let (body, trailer) = body.split_at_checked(body.len().checked_sub(24)?)?;
        let mut trailer = Reader(trailer);
        trailer.u64()?;
        let time = trailer.u64()?;
        let mut r = Reader(body);
        Some(match kind {
            abi::RECORD_MMAP2 if misc & abi::MISC_MMAP_BUILD_ID == 0 => {
                let (pid, _tid, start, len, offset) = (r.u32()?, r.u32()?, r.u64()?, r.u64()?, r.u64()?);
                let (major, minor, inode, _generation) = (r.u32()?, r.u32()?, r.u64()?, r.u64()?);
                let (_protection, _flags) = (r.u32()?, r.u32()?);
                Record::Mmap { pid, time, start, len, offset, major, minor, inode, path: r.text() }
            }
            abi::RECORD_COMM => Record::Comm {
                pid: r.u32()?,
                tid: r.u32()?,
                time,
                exec: misc & abi::MISC_COMM_EXEC != 0,
                name: r.text(),
            },
            abi::RECORD_FORK | abi::RECORD_EXIT => {
                let (pid, parent_pid, tid) = (r.u32()?, r.u32()?, r.u32()?);
                if kind == abi::RECORD_FORK {
                    Record::Fork { pid, parent_pid, tid, time }
                } else {
                    Record::Exit { pid, tid, time }
                }
            }
            abi::RECORD_LOST => {
                r.u64()?;
                Record::Lost { time, count: r.u64()? }
            }
            abi::RECORD_LOST_SAMPLES => Record::Lost { time, count: r.u64()? },
            _ => return None,
        })
    }
}

fn sample(body: &[u8]) -> Option<Sample> {
    let mut r = Reader(body);
    let (pid, tid, time, _cpu, period) = (r.u32()?, r.u32()?, r.u64()?, r.u64()?, r.u64()?);
    let length = r.u64()?;
    let (mut kernel, mut chain) = (Vec::new(), Vec::new());
    let mut context = 0;
    for _ in 0..length {
        match r.u64()? {
            new if new >= abi::CONTEXT_MAX => context = new,
            address if context == abi::CONTEXT_KERNEL => kernel.push(address),
            address if context == abi::CONTEXT_USER => chain.push(address),
            _ => {}
        }
    }
    let abi = r.u64()?;
    let regs = if abi == 0 {
        None
    } else {
        let (bp, sp, ip) = (r.u64()?, r.u64()?, r.u64()?);
        Some(Regs { ip, sp, bp, wide: abi == 2 })
    };
    let size = r.u64()? as usize;
    let mut stack: &[u8] = &[];
    if size > 0 {
        stack = r.0.get(..size)?;
        r.0 = &r.0[size..];
        let filled = r.u64()? as usize;
        stack = &stack[..filled.min(size)];
    }
    Some(Sample { pid, tid, time, period, kernel, chain, regs, stack: stack.to_vec(), before_call: 0 })
}

/// Reads fields one after the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn u16(&mut self) -> Option<u16> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_ne_bytes(*value))
    }

    fn u32(&mut self) -> Option<u32> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_ne_bytes(*value))
    }

    fn u64(&mut self) -> Option<u64> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*value))
    }

    /// A text up to its first zero byte.
    fn text(&self) -> Vec<u8> {
        self.0.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend((8 + body.len() as u16).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_sample_has_its_kernel_frames_registers_and_the_filled_part_of_its_stack() {
        let mut body =
            words(&[7 << 32 | 5, 1000, 0, 1_000_000, 6, abi::CONTEXT_KERNEL, 0xffff_0001, 0xffff_0002]);
        body.extend(words(&[abi::CONTEXT_USER, 0x30, 0x40, 2, 0x10, 0x20, 0x30, 16, 0xaa, 0xbb, 8]));
        let parsed = Record::parse(&record(abi::RECORD_SAMPLE, 0, &body));
        let expected = Sample {
            pid: 5,
            tid: 7,
            time: 1000,
            period: 1_000_000,
            kernel: vec![0xffff_0001, 0xffff_0002],
            chain: vec![0x30, 0x40],
            regs: Some(Regs { ip: 0x30, sp: 0x20, bp: 0x10, wide: true }),
            stack: 0xaau64.to_ne_bytes().to_vec(),
            before_call: 0,
        };
        assert_eq!(parsed, Some(Record::Sample(expected)));
    }

    #[test]
    fn a_fork_has_the_time_of_its_trailer() {
        let body = words(&[3 << 32 | 9, 2 << 32 | 9, 55, 9 << 32 | 9, 55, 0]);
        let parsed = Record::parse(&record(abi::RECORD_FORK, 0, &body));
        assert_eq!(parsed, Some(Record::Fork { pid: 9, parent_pid: 3, tid: 9, time: 55 }));
    }

    #[test]
    fn a_record_that_is_too_short_is_none_at_every_length() {
        let body = words(&[7 << 32 | 5, 1000, 0, 1_000_000, 1, abi::CONTEXT_KERNEL, 2, 1, 2, 3, 8, 0, 8]);
        let whole = record(abi::RECORD_SAMPLE, 0, &body);
        for length in 0..whole.len() {
            assert_eq!(Record::parse(&whole[..length]), None, "{length} bytes");
        }
        assert!(Record::parse(&whole).is_some());
    }
}
