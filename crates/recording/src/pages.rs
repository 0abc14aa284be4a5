//! What the pages of a Parquet column say that they unfold to. The reader makes room for it before it reads a page, so it is added up
//! first: a few bytes can ask for gigabytes.
//!
//! A page begins with a struct in Thrift's compact protocol (`PageHeader` of `parquet.thrift` in apache/parquet-format; the encoding is
//! `doc/specs/thrift-compact-protocol.md` in apache/thrift). Only its first fields matter, but its end must be found.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// No header is longer, bytes: it has at most the smallest and largest value of its page, and these are cut by writers.
const HEADER: usize = 64 << 10;
/// So much is read at a time, bytes: many headers of small pages, or one of the longest and its page's beginning.
const READ: usize = 4 * HEADER;
/// Structs in structs. A header has two levels.
const DEEPEST: u32 = 8;

/// Bytes to which the pages in `length` bytes from `start` on unfold together; none if they are not what they should be.
pub(crate) fn unfolded(file: &File, start: u64, length: u64) -> Option<u64> {
    let end = start.checked_add(length)?;
    let (mut at, mut sum) = (start, 0u64);
    // What was read, and where it begins: small pages lie in it one after the other.
    let (mut bytes, mut from) = (Vec::new(), start);
    while at < end {
        let mut within = usize::try_from(at - from).ok()?;
        let whole = |from: u64, bytes: &Vec<u8>| from + bytes.len() as u64 == end;
        if within >= bytes.len() || (bytes.len() - within < HEADER && !whole(from, &bytes)) {
            bytes.resize(usize::try_from(end - at).ok()?.min(READ), 0);
            let read = file.read_at(&mut bytes, at).ok().filter(|read| *read > 0)?;
            bytes.truncate(read);
            (from, within) = (at, 0);
        }
        let rest = bytes.get(within..)?;
        let mut header = Compact(rest);
        let (unfolded, folded) = header.page()?;
        let taken = (rest.len() - header.0.len()) as u64;
        sum = sum.checked_add(u64::try_from(unfolded).ok()?)?;
        at = at.checked_add(taken)?.checked_add(u64::try_from(folded).ok()?)?;
    }
    Some(sum)
}

/// What is left of a struct in the compact protocol.
struct Compact<'a>(&'a [u8]);

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The number and type of the next field; a type of 0 at the end of the struct.
    fn field(&mut self, before: i64) -> Option<(i64, u8)> {
        let byte = self.byte()?;
        let (step, kind) = (i64::from(byte >> 4), byte & 0x0f);
        let number = match (step, kind) {
            (_, 0) => before,
            (0, _) => self.signed()?,
            _ => before.checked_add(step)?,
        };
        Some((number, kind))
    }

    /// A page's header: what it unfolds to, and what follows of it, bytes.
    fn page(&mut self) -> Option<(i64, i64)> {
        const I32: u8 = 5;
        let (mut number, mut unfolded, mut folded) = (0, None, None);
        loop {
            let kind;
            (number, kind) = self.field(number)?;
            match (number, kind) {
                (_, 0) => return unfolded.zip(folded),
                (2, I32) => unfolded = Some(self.signed()?),
                (3, I32) => folded = Some(self.signed()?),
                _ => self.value(kind, 0)?,
            }
        }
    }

    /// Skips a value of a type.
    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1 | 2 => Some(()), // a field's type says whether it is true
            3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..count {
                    // In a list each has a byte of its own.
                    if matches!(head & 0x0f, 1 | 2) {
                        self.skip(1)?
                    } else {
                        self.value(head & 0x0f, depth + 1)?
                    }
                }
                Some(())
            }
            12 => {
                let mut number = 0;
                loop {
                    let kind;
                    (number, kind) = self.field(number)?;
                    if kind == 0 {
                        return Some(());
                    }
                    self.value(kind, depth + 1)?;
                }
            }
            _ => None, // a page's header has no maps
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unfolded;
    use std::io::Write;

    fn of(bytes: &[u8]) -> Option<u64> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("its bytes");
        unfolded(&file, 0, bytes.len() as u64)
    }

    /// type 0, unfolds to 300, 2 bytes follow, a struct with a number and a text; then the page.
    const PAGE: [u8; 16] = [0x15, 0, 0x15, 0xd8, 0x04, 0x15, 4, 0x2c, 0x15, 2, 0x18, 1, b'x', 0, 0, 9];

    #[test]
    fn sizes_of_all_pages_are_added_up() {
        let page = [&PAGE[..], &[9]].concat();
        assert_eq!(of(&page), Some(300));
        assert_eq!(of(&[&page[..], &page[..]].concat()), Some(600));
        assert_eq!(of(&[]), Some(0));
    }

    #[test]
    fn pages_that_reach_over_what_is_read_at_a_time_are_added_up() {
        // A page of 300,000 bytes, then small ones up to and over the next boundary.
        let mut bytes = vec![0x15, 0, 0x15, 2, 0x15];
        bytes.extend([0xc0, 0xcf, 0x24, 0]); // zigzag of 300,000
        bytes.extend(vec![7; 300_000]);
        let small = [&PAGE[..], &[9]].concat();
        let count = 40_000;
        for _ in 0..count {
            bytes.extend(&small);
        }
        assert_eq!(of(&bytes), Some(1 + 300 * count));
    }

    #[test]
    fn what_is_cut_short_or_negative_is_none() {
        for length in 1..PAGE.len() - 1 {
            assert_eq!(of(&PAGE[..length]), None, "{length}");
        }
        // Unfolds to -1.
        assert_eq!(of(&[0x15, 0, 0x15, 1, 0x15, 0, 0]), None);
        // Structs without end.
        assert_eq!(of(&[0x5c; 64]), None);
    }
}
