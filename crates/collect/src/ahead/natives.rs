//! Functions of system libraries and of Go's runtime that are done here in place of running their code: what copies and searches memory uses the widest
//! vectors that a processor has, and what allocates changes lists of its own each time, so that no two calls would see the same.
//!
//! Memory that is allocated is new, at addresses that no program has.

use slowpath_emulate::{End, Machine, Source, Watch};
use std::cmp::Ordering;
use std::ops::Range;

/// Where new memory begins: far from where programs, their heaps, that of Go and mapped files are.
const FRESH: u64 = 0x2a00_0000_0000;
/// Bytes of an allocation at most, and of what is copied: more is a fault of ours, or takes too long.
const MOST: u64 = 1 << 20;
const COPIED: u64 = 1 << 18;

/// What a function does.
#[derive(Clone, Copy)]
pub(crate) enum Native {
    /// To, from and length; what is returned.
    Copy(Returns),
    /// Copies a text with its zero; behind another text, if that is said.
    CopyText {
        behind: bool,
        returns: Returns,
    },
    /// Copies a text, but at most so many bytes: behind another text with a zero at its end, else with zeros up to that length.
    CopyPart {
        behind: bool,
        returns: Returns,
    },
    Fill,
    Compare,
    /// Folded: as if all letters were small.
    CompareTexts {
        limit: bool,
        folded: bool,
    },
    Length {
        limit: bool,
    },
    /// A byte in memory of a length, or in a text; the last one of them; what is returned if there is none.
    Find {
        text: bool,
        last: bool,
        end_if_none: bool,
    },
    /// A byte that is in memory.
    FindSure,
    /// How long the part of a text is of only these bytes, or without them; or where one of them is.
    Span {
        of: bool,
        address: bool,
    },
    /// Bytes: the product of these arguments.
    Allocate(&'static [usize]),
    /// Alignment and bytes are these arguments; where the address is put, if not returned.
    AllocateAligned {
        bytes: usize,
        into: Option<usize>,
    },
    Reallocate,
    Free,
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    GoAllocate,
    GoCopy,
    GoClear,
    /// Leads where no code of the program is: locks of a runtime, other stacks, system calls.
    Leaves,
}

impl Native {
    /// Registers that it is given, as [`Watch::about_to`] numbers them.
    fn given(self) -> u32 {
        /// rdi, rsi, rdx; the first vector registers; rax, rbx, rcx.
        const FIRST: [u32; 4] = [0, 1 << 7, 1 << 7 | 1 << 6, 1 << 7 | 1 << 6 | 1 << 2];
        const FRACTIONS: [u32; 3] = [0, 1 << 16, 1 << 16 | 1 << 17];
        const IN_GO: [u32; 4] = [0, 1, 1 | 1 << 3, 1 | 1 << 3 | 1 << 1];
        match self {
            Native::Copy(_) | Native::Fill | Native::Compare | Native::Find { text: false, .. } => FIRST[3],
            Native::CopyPart { .. } => FIRST[3],
            Native::CompareTexts { limit: true, .. } | Native::AllocateAligned { into: Some(_), .. } => {
                FIRST[3]
            }
            Native::CopyText { .. }
            | Native::CompareTexts { .. }
            | Native::Find { .. }
            | Native::FindSure
            | Native::Span { .. } => FIRST[2],
            Native::Length { limit: true } | Native::AllocateAligned { .. } | Native::Reallocate => FIRST[2],
            Native::Length { .. } | Native::Free => FIRST[1],
            Native::Allocate(of) => FIRST[of.len()],
            Native::One(_) => FRACTIONS[1],
            Native::Two(_) => FRACTIONS[2],
            Native::GoAllocate => IN_GO[1],
            Native::GoClear => IN_GO[2],
            Native::GoCopy => IN_GO[3],
            Native::Leaves => 0,
        }
    }
}

/// What a function returns.
#[derive(Clone, Copy)]
pub(crate) enum Returns {
    Start,
    End,
}

/// What was done at a call.
pub(crate) enum Outcome {
    NotNative,
    /// The function's work is done, with what it was given in these registers, and this memory is new.
    Done {
        fresh: Option<Range<u64>>,
        given: u32,
    },
}

/// Who knows which functions they are, and how much was allocated.
pub(crate) trait Natives: Sized {
    /// What the function at an address does.
    fn native(&mut self, address: u64) -> Option<Native>;
    /// Whether the function at an address formats a text into memory that it is given, and is told how many bytes there are.
    fn formats(&mut self, address: u64) -> Option<bool>;
    /// Where the function begins that an address is in.
    fn function_around(&self, address: u64) -> Option<u64>;
    /// Whether the function at an address copies an object as a whole, and if so whether it assigns it to what its first argument leads to.
    fn copies(&mut self, address: u64) -> Option<bool>;
    /// Whether it destroys an object.
    fn destroys(&mut self, address: u64) -> bool;
    /// Whether it makes a block longer or shorter.
    fn resizes(&mut self, address: u64) -> bool {
        matches!(self.native(address), Some(Native::Reallocate))
    }
    /// Whether it gives memory back.
    fn frees(&mut self, address: u64) -> bool {
        matches!(self.native(address), Some(Native::Free))
    }
    /// Bytes that were allocated.
    fn allocated(&mut self) -> &mut u64;

    /// Does what the function at the next instruction does.
    fn instead<S: Source, W: Watch<S>>(
        machine: &mut Machine<S, W>,
        natives: fn(&mut W) -> &mut Self,
    ) -> Result<Outcome, End> {
        let ip = machine.registers.ip;
        let Some(native) = natives(&mut machine.watch).native(ip) else { return Ok(Outcome::NotNative) };
        let mut allocate = |machine: &mut Machine<S, W>, bytes: u64| {
            if bytes > MOST {
                return Err(End::Enough);
            }
            let allocated = natives(&mut machine.watch).allocated();
            let at = FRESH + *allocated;
            // Blocks do not touch each other, as in a heap.
            *allocated += (bytes + 32) & !15;
            Ok(at..at + bytes)
        };
        let fresh = perform(machine, native, &mut allocate)?;
        Ok(Outcome::Done { fresh, given: native.given() })
    }
}

/// Whether only a system's library has it under its name: programs have functions of their own with such short names.
pub(crate) fn is_of_system(native: Native) -> bool {
    matches!(
        native,
        Native::One(_)
            | Native::Two(_)
            | Native::Find { .. }
            | Native::FindSure
            | Native::Span { .. }
            | Native::CopyPart { .. }
            | Native::CopyText { .. }
            | Native::CompareTexts { .. }
    )
}

/// What a function with such a name does.
pub(crate) fn named(name: &str) -> Option<Native> {
    use Native::*;
    let plain = name.trim_start_matches('_');
    let plain = ["GI_", "libc_", "ieee754_"]
        .iter()
        .fold(plain, |name, begin| name.strip_prefix(begin).unwrap_or(name).trim_start_matches('_'));
    let variants =
        ["_sse", "_ssse", "_avx", "_evex", "_erms", "_fma", "_chk", "_generic", "_unaligned", "_finite"];
    let end = variants.iter().filter_map(|variant| plain.find(variant)).min().unwrap_or(plain.len());
    Some(match &plain[..end] {
        "memcpy" | "memmove" => Copy(Returns::Start),
        "mempcpy" => Copy(Returns::End),
        "strcpy" => CopyText { behind: false, returns: Returns::Start },
        "stpcpy" => CopyText { behind: false, returns: Returns::End },
        "strcat" => CopyText { behind: true, returns: Returns::Start },
        "memset" => Fill,
        "memcmp" | "memcmpeq" | "bcmp" => Compare,
        "strncpy" => CopyPart { behind: false, returns: Returns::Start },
        "stpncpy" => CopyPart { behind: false, returns: Returns::End },
        "strncat" => CopyPart { behind: true, returns: Returns::Start },
        "strcmp" => CompareTexts { limit: false, folded: false },
        "strncmp" => CompareTexts { limit: true, folded: false },
        "strcasecmp" | "strcasecmp_l" => CompareTexts { limit: false, folded: true },
        "strncasecmp" | "strncasecmp_l" => CompareTexts { limit: true, folded: true },
        "strlen" => Length { limit: false },
        "strnlen" => Length { limit: true },
        "memchr" => Find { text: false, last: false, end_if_none: false },
        "rawmemchr" => FindSure,
        "memrchr" => Find { text: false, last: true, end_if_none: false },
        "strchr" | "index" => Find { text: true, last: false, end_if_none: false },
        "strrchr" | "rindex" => Find { text: true, last: true, end_if_none: false },
        "strchrnul" => Find { text: true, last: false, end_if_none: true },
        "strspn" => Span { of: true, address: false },
        "strcspn" => Span { of: false, address: false },
        "strpbrk" => Span { of: false, address: true },
        "malloc" | "Znwm" | "Znam" | "valloc" => Allocate(&[0]),
        "calloc" => Allocate(&[0, 1]),
        "memalign" | "aligned_alloc" => AllocateAligned { bytes: 1, into: None },
        "ZnwmSt11align_val_t" | "ZnamSt11align_val_t" => AllocateAligned { bytes: 0, into: None },
        "posix_memalign" => AllocateAligned { bytes: 2, into: Some(0) },
        "realloc" => Reallocate,
        "free"
        | "cfree"
        | "ZdlPv"
        | "ZdlPvm"
        | "ZdaPv"
        | "ZdaPvm"
        | "ZdlPvSt11align_val_t"
        | "ZdlPvmSt11align_val_t" => Free,
        "pow" => Two(f64::powf),
        "atan2" => Two(f64::atan2),
        "fmod" => Two(|a, b| a % b),
        "exp" | "exp1" => One(f64::exp),
        "exp2" => One(f64::exp2),
        "log" => One(f64::ln),
        "log2" => One(f64::log2),
        "log10" => One(f64::log10),
        "sin" => One(f64::sin),
        "cos" => One(f64::cos),
        "tan" => One(f64::tan),
        "atan" => One(f64::atan),
        "runtime.mallocgc" => GoAllocate,
        "runtime.memmove" => GoCopy,
        "runtime.memclrNoHeapPointers" => GoClear,
        "runtime.morestack"
        | "runtime.morestack_noctxt"
        | "runtime.mcall"
        | "runtime.systemstack"
        | "dl_runtime_resolve_xsavec"
        | "dl_runtime_resolve_xsave"
        | "dl_runtime_resolve_fxsave" => Leaves,
        _ => return None,
    })
}

type Allocate<'a, S, W> = &'a mut dyn FnMut(&mut Machine<S, W>, u64) -> Result<Range<u64>, End>;

/// Does it; memory that is new.
fn perform<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    native: Native,
    allocate: Allocate<'_, S, W>,
) -> Result<Option<Range<u64>>, End> {
    let general = m.registers.general;
    let arguments = [general[7], general[6], general[2], general[1]];
    let [first, second, third, _] = arguments;
    let result = match native {
        Native::Copy(returns) => {
            copy(m, first, second, third)?;
            match returns {
                Returns::Start => first,
                Returns::End => first.wrapping_add(third),
            }
        }
        Native::CopyText { behind, returns } => {
            let to = if behind { first + length(m, first, COPIED)? } else { first };
            let bytes = length(m, second, COPIED)?;
            copy(m, to, second, bytes + 1)?;
            match returns {
                Returns::Start => first,
                Returns::End => to + bytes,
            }
        }
        Native::CopyPart { behind, returns } => {
            let to = if behind { first + length(m, first, COPIED)? } else { first };
            let bytes = length(m, second, third.min(COPIED))?;
            copy(m, to, second, bytes)?;
            fill(m, to + bytes, 0, if behind { 1 } else { third - bytes })?;
            match returns {
                Returns::Start => first,
                Returns::End => to + bytes,
            }
        }
        Native::Fill => {
            fill(m, first, second as u8, third)?;
            first
        }
        Native::Compare => compare(m, first, second, third, None)? as i64 as u64,
        Native::CompareTexts { limit, folded } => {
            let most = if limit { third.min(COPIED) } else { COPIED };
            let fold = if folded { |byte: u8| byte.to_ascii_lowercase() } else { |byte| byte };
            compare(m, first, second, most, Some(fold))? as i64 as u64
        }
        Native::FindSure => match find(m, first, second as u8, COPIED, false)? {
            Some(at) => first + at,
            None => return Err(End::Enough),
        },
        Native::Length { limit } => length(m, first, if limit { second.min(COPIED) } else { COPIED })?,
        Native::Find { text, last, end_if_none } => {
            let bytes = if text { length(m, first, COPIED)? + 1 } else { third };
            let found = find(m, first, second as u8, bytes, last)?;
            match found {
                Some(at) => first + at,
                None if end_if_none => first + bytes - 1,
                None => 0,
            }
        }
        Native::Span { of, address } => {
            let mut bytes = vec![0; length(m, second, COPIED)? as usize];
            m.load_bytes(second, &mut bytes)?;
            let mut at = first;
            loop {
                let mut one = [0];
                m.load_bytes(at, &mut one)?;
                if one == [0] || bytes.contains(&one[0]) != of {
                    break match (address, one == [0]) {
                        (true, true) => 0,
                        (true, false) => at,
                        _ => at - first,
                    };
                }
                at += 1;
            }
        }
        Native::Allocate(of) => {
            let bytes = of.iter().try_fold(1u64, |product, of| product.checked_mul(arguments[*of]));
            return new(m, allocate, bytes.unwrap_or(u64::MAX), None);
        }
        Native::AllocateAligned { bytes, into } => {
            return new(m, allocate, arguments[bytes].saturating_add(4096), into.map(|into| arguments[into]));
        }
        Native::Reallocate => {
            let fresh = allocate(m, second)?;
            // How large the old block is its allocator knows: what lies behind is copied for nothing.
            let mut done = 0;
            while first != 0 && done < second {
                let chunk = (second - done).min(BLOCK);
                if copy(m, fresh.start + done, first + done, chunk).is_err() {
                    break;
                }
                done += chunk;
            }
            m.registers.general[0] = fresh.start;
            return Ok(Some(fresh));
        }
        Native::Free => 0,
        Native::One(of) => {
            let of = of(f64::from_bits(m.registers.vectors[0][0] as u64));
            m.registers.vectors[0] = [of.to_bits().into(), 0];
            return Ok(None);
        }
        Native::Two(of) => {
            let [a, b] = [0, 1].map(|at| f64::from_bits(m.registers.vectors[at][0] as u64));
            m.registers.vectors[0] = [of(a, b).to_bits().into(), 0];
            return Ok(None);
        }
        Native::GoAllocate => return new(m, allocate, general[0], None),
        Native::GoCopy => {
            copy(m, general[0], general[3], general[1])?;
            return Ok(None);
        }
        Native::GoClear => {
            fill(m, general[0], 0, general[3])?;
            return Ok(None);
        }
        Native::Leaves => return Err(End::Enough),
    };
    m.registers.general[0] = result;
    Ok(None)
}

/// Bytes that are copied at once where it is not known how many can be.
const BLOCK: u64 = 1024;

fn new<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    allocate: Allocate<'_, S, W>,
    bytes: u64,
    into: Option<u64>,
) -> Result<Option<Range<u64>>, End> {
    let fresh = allocate(m, bytes)?;
    match into {
        Some(into) => {
            m.store_bytes(into, &((fresh.start + 4095) & !4095).to_le_bytes())?;
            m.registers.general[0] = 0;
        }
        None => m.registers.general[0] = fresh.start,
    }
    Ok(Some(fresh))
}

fn copy<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, to: u64, from: u64, bytes: u64) -> Result<(), End> {
    if bytes > COPIED {
        return Err(End::Enough);
    }
    let mut all = vec![0; bytes as usize];
    m.load_bytes(from, &mut all)?;
    m.store_bytes(to, &all)
}

fn fill<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, to: u64, with: u8, bytes: u64) -> Result<(), End> {
    if bytes > COPIED {
        return Err(End::Enough);
    }
    m.store_bytes(to, &vec![with; bytes as usize])
}

/// Bytes before the first zero, `most` if there is none.
fn length<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, text: u64, most: u64) -> Result<u64, End> {
    find(m, text, 0, most, false).map(|found| found.unwrap_or(most))
}

/// Where a byte is in memory of a length. Bytes are looked at one by one: that is what a text is known by ([`super::calls`]).
fn find<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    memory: u64,
    byte: u8,
    bytes: u64,
    last: bool,
) -> Result<Option<u64>, End> {
    if bytes > COPIED {
        return Err(End::Enough);
    }
    let mut found = None;
    for done in 0..bytes {
        let mut one = [0];
        m.load_bytes(memory.wrapping_add(done), &mut one)?;
        if one == [byte] {
            found = Some(done);
            if !last {
                break;
            }
        }
    }
    Ok(found)
}

/// How two memories compare; texts up to their zeros, each byte as it is folded.
fn compare<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    a: u64,
    b: u64,
    bytes: u64,
    text: Option<fn(u8) -> u8>,
) -> Result<i32, End> {
    if bytes > COPIED {
        return Err(End::Enough);
    }
    let mut done = 0;
    while done < bytes {
        let (mut one, mut other) = ([0], [0]);
        m.load_bytes(a + done, &mut one)?;
        m.load_bytes(b + done, &mut other)?;
        let fold = text.unwrap_or(|byte| byte);
        match fold(one[0]).cmp(&fold(other[0])) {
            Ordering::Less => return Ok(-1),
            Ordering::Greater => return Ok(1),
            Ordering::Equal if text.is_some() && one == [0] => return Ok(0),
            Ordering::Equal => {}
        }
        done += 1;
    }
    Ok(0)
}

/// Whether an address is in memory that was allocated here.
pub(crate) fn is_fresh(address: u64) -> bool {
    (FRESH..FRESH + (1 << 40)).contains(&address)
}
