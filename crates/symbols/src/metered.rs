//! A reader of DWARF that keeps account of what is read, so that a file's own numbers cost bounded work and memory.
//!
//! DWARF refers to itself: a thousand units may share one table of ranges, each line of a table of files may name the same
//! long path, and entries nest without end. The readers (gimli, addr2line) build what is asked for in memory, and recurse. All
//! that they build, and every step down that they take, is read from a section first. So it is bounded here, in one place.

use std::borrow::Cow;
use std::cell::Cell;

use addr2line::gimli::{self, EndianSlice, Reader, ReaderOffsetId, RunTimeEndian};

/// Reads that a file may cost: some anyway, so many for each byte of its sections (as they lie in the file, compressed or not) to
/// list its units, and so many more to look up addresses; so many for each address; but no more than `MOST` in all.
///
/// Measured on C, C++, Rust and Go programs with 5 to 80 MB of DWARF: the list of units takes 0.4 reads a byte at most, and 20,000
/// addresses, which touch nearly all units, 2.5 where it is compressed and 0.6 where not. What is built of a read takes 5 bytes
/// on average there, and 150 at worst: a line of a table of files.
const ANYWAY: u64 = 1 << 20;
const A_BYTE_LISTED: u64 = 2;
const A_BYTE: u64 = 6;
const AN_ADDRESS: u64 = 500;
const MOST: u64 = 4_000_000_000;
/// Stack that reading may take beyond its caller's, bytes. A level of inlining takes some 500; compilers reach about 50 levels.
const STACK: usize = 256 << 10;
/// A table of files that is longer is none, bytes: gimli reserves memory for as many files as it claims to hold. 10,000 files
/// take 0.3 MB.
const LONGEST_FILE_TABLE: usize = 1 << 20;

/// What one file may still cost.
#[derive(Debug, Clone, Copy)]
struct Account {
    /// Reads left.
    left: u64,
    /// Reads that may still be granted.
    unspent: u64,
    /// Bytes of all sections, as they lie in the file.
    bytes: u64,
    /// The units are listed.
    listed: bool,
    /// The stack may not reach below this address.
    floor: usize,
    exceeded: bool,
}

thread_local! {
    /// That of the file which this thread reads. Outside of [`Meter::run`] nothing can be read.
    static LEFT: Cell<u64> = const { Cell::new(0) };
    static FLOOR: Cell<usize> = const { Cell::new(0) };
    static UNSPENT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
    static LISTED: Cell<bool> = const { Cell::new(false) };
    static EXCEEDED: Cell<bool> = const { Cell::new(false) };
}

impl Account {
    /// Makes this the thread's account, and returns the one that was.
    fn open(self) -> Account {
        Account {
            left: LEFT.replace(self.left),
            unspent: UNSPENT.replace(self.unspent),
            bytes: BYTES.replace(self.bytes),
            listed: LISTED.replace(self.listed),
            floor: FLOOR.replace(self.floor),
            exceeded: EXCEEDED.replace(self.exceeded),
        }
    }
}

/// Grants the reads that a section may cost which takes so many bytes in the file that is being read.
pub(crate) fn grant_bytes(bytes: usize) {
    let bytes = bytes as u64;
    BYTES.set(BYTES.get().saturating_add(bytes));
    grant(bytes.saturating_mul(if LISTED.get() { A_BYTE_LISTED + A_BYTE } else { A_BYTE_LISTED }));
}

/// Grants what looking up addresses may cost, now that the units are listed.
pub(crate) fn grant_lookups() {
    LISTED.set(true);
    grant(BYTES.get().saturating_mul(A_BYTE));
}

fn grant(reads: u64) {
    let granted = reads.min(UNSPENT.get());
    UNSPENT.set(UNSPENT.get() - granted);
    LEFT.set(LEFT.get().saturating_add(granted));
}

/// The account of one file, kept between readings.
#[derive(Debug)]
pub(crate) struct Meter(Cell<Account>);

impl Meter {
    pub(crate) fn new() -> Meter {
        let (unspent, bytes, listed) = (MOST, 0, false);
        Meter(Cell::new(Account { left: ANYWAY, unspent, bytes, listed, floor: 0, exceeded: false }))
    }

    /// Reads something of the file; afterwards [`exceeded`](Self::exceeded) says whether that was stopped.
    pub(crate) fn run<T>(&self, read: impl FnOnce() -> T) -> T {
        /// Gives the thread its former account back, even in a panic.
        struct Restore<'a>(&'a Meter, Account);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.0.set(self.1.open());
            }
        }
        let floor = here().saturating_sub(STACK);
        let before = Account { floor, ..self.0.get() }.open();
        let _restore = Restore(self, before);
        grant(AN_ADDRESS);
        read()
    }

    /// The file asked for more than it may: what was read of it is incomplete.
    pub(crate) fn exceeded(&self) -> bool {
        self.0.get().exceeded
    }
}

/// About where the stack ends now.
#[inline(always)]
fn here() -> usize {
    let local = 0u8;
    (&raw const local).addr()
}

#[inline(always)]
fn charge(reads: usize) -> gimli::Result<()> {
    match LEFT.get().checked_sub(reads as u64) {
        Some(left) if FLOOR.get() < here() => {
            LEFT.set(left);
            Ok(())
        }
        _ => refuse(),
    }
}

#[cold]
fn refuse() -> gimli::Result<()> {
    EXCEEDED.set(true);
    Err(gimli::Error::Io)
}

/// See the file's head. Bytes that are promised to outlive it: `dwarf::Storage` keeps them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metered {
    slice: EndianSlice<'static, RunTimeEndian>,
    /// Of `.debug_line`.
    lines: bool,
}

impl Metered {
    pub(crate) fn new(bytes: &'static [u8], endian: RunTimeEndian, lines: bool) -> Metered {
        Metered { slice: EndianSlice::new(bytes, endian), lines }
    }

    pub(crate) fn bytes(&self) -> &'static [u8] {
        self.slice.slice()
    }
}

impl Reader for Metered {
    type Endian = RunTimeEndian;
    type Offset = usize;

    #[inline]
    fn endian(&self) -> RunTimeEndian {
        self.slice.endian()
    }

    #[inline]
    fn len(&self) -> usize {
        self.slice.len()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.slice.is_empty()
    }

    #[inline]
    fn empty(&mut self) {
        self.slice.empty();
    }

    #[inline]
    fn truncate(&mut self, len: usize) -> gimli::Result<()> {
        // Nothing else of this section is cut to a length.
        if self.lines && len > LONGEST_FILE_TABLE {
            return refuse();
        }
        self.slice.truncate(len)
    }

    #[inline]
    fn offset_from(&self, base: &Self) -> usize {
        self.slice.offset_from(base.slice)
    }

    #[inline]
    fn offset_id(&self) -> ReaderOffsetId {
        self.slice.offset_id()
    }

    #[inline]
    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.slice.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> gimli::Result<usize> {
        let at = Reader::find(&self.slice, byte)?;
        // To search builds nothing, and is many times as quick as other reads.
        charge(1 + at / 16)?;
        Ok(at)
    }

    #[inline]
    fn skip(&mut self, len: usize) -> gimli::Result<()> {
        charge(1)?;
        self.slice.skip(len)
    }

    #[inline]
    fn split(&mut self, len: usize) -> gimli::Result<Self> {
        charge(1)?;
        Ok(Metered { slice: self.slice.split(len)?, ..*self })
    }

    fn to_slice(&self) -> gimli::Result<Cow<'_, [u8]>> {
        charge(1)?;
        self.slice.to_slice()
    }

    fn to_string(&self) -> gimli::Result<Cow<'_, str>> {
        charge(1 + self.len() / 16)?;
        Reader::to_string(&self.slice)
    }

    fn to_string_lossy(&self) -> gimli::Result<Cow<'_, str>> {
        // Whoever asks for text copies it. What is built of other reads takes some 100 bytes each.
        charge(1 + self.len() / 16)?;
        Reader::to_string_lossy(&self.slice)
    }

    #[inline]
    fn read_u8(&mut self) -> gimli::Result<u8> {
        charge(1)?;
        self.slice.read_u8()
    }

    #[inline]
    fn read_slice(&mut self, into: &mut [u8]) -> gimli::Result<()> {
        charge(1)?;
        Reader::read_slice(&mut self.slice, into)
    }
}
