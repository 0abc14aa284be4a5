//! What becomes of texts that the C library formats into a function's own variables: is a part of them read, or are they gone before? One that is
//! formatted into another text has that one's fate.

use std::collections::HashMap;
use std::ops::Range;

/// What became of the texts that a function had formatted: how many there were, how many were read, and how many were gone unread: overwritten, or with the frame that they were in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Texts {
    pub formatted: u64,
    pub read: u64,
    pub unread: u64,
    /// Bytes of all.
    pub bytes: u64,
}

/// Bytes of a text that says something by being so short.
const SHORT: u64 = 2;

impl Texts {
    /// Whether there may be something to report: nobody read one, or they are very short.
    pub(super) fn shows(self) -> bool {
        self.unread > 0 || self.formatted > 0 && self.bytes <= SHORT * self.formatted
    }
}

/// A text that nobody has read as yet, and how many were formatted into it, with itself.
struct Text {
    at: Range<u64>,
    whose: u64,
    count: u64,
}

/// The texts of a stretch.
#[derive(Default)]
pub(super) struct Followed {
    unread: Vec<Text>,
    /// What became of the others, by the function that had them formatted.
    pub found: HashMap<u64, Texts>,
    /// Texts that were read to format one that is not there as yet: whose, and how many.
    fed: Vec<(u64, u64)>,
}

impl Followed {
    /// A text was formatted for a function: to where, how many bytes there are, what was returned, and whether that is on the stack.
    pub(super) fn formatted(&mut self, whose: u64, buffer: u64, size: u64, returned: u64, is_own: bool) {
        let length = returned as u32 as i32;
        let texts = self.found.entry(whose).or_default();
        texts.formatted += 1;
        texts.bytes += u64::try_from(length).unwrap_or(0);
        let is_followed = is_own && length > 0 && (length as u64) < size;
        let mut count = 1;
        for (of, number) in std::mem::take(&mut self.fed) {
            match of == whose && is_followed {
                true => count += number,
                false => self.settle(of, number, true),
            }
        }
        if is_followed {
            self.unread.push(Text { at: buffer..buffer.saturating_add(length as u64), whose, count });
        }
    }

    /// Memory is read, to format another text or not.
    pub(super) fn read(&mut self, address: u64, size: u64, formatting: bool) {
        let end = address.saturating_add(size);
        for Text { whose, count, .. } in self.take(|text| address < text.at.end && end > text.at.start) {
            match formatting {
                true => self.fed.push((whose, count)),
                false => self.settle(whose, count, true),
            }
        }
    }

    /// Memory is written: a text is gone if its beginning is.
    pub(super) fn overwritten(&mut self, address: u64, size: u64) {
        let written = address..address.saturating_add(size);
        for Text { whose, count, .. } in self.take(|text| written.contains(&text.at.start)) {
            self.settle(whose, count, false);
        }
    }

    /// Frames below this are gone, and what was in them.
    pub(super) fn gone(&mut self, stack: u64) {
        for Text { whose, count, .. } in self.take(|text| text.at.start < stack) {
            self.settle(whose, count, false);
        }
    }

    fn take(&mut self, is_one: impl Fn(&Text) -> bool) -> Vec<Text> {
        if self.unread.is_empty() {
            return Vec::new();
        }
        self.unread.extract_if(.., |text| is_one(text)).collect()
    }

    fn settle(&mut self, whose: u64, count: u64, read: bool) {
        let texts = self.found.entry(whose).or_default();
        texts.read += if read { count } else { 0 };
        texts.unread += if read { 0 } else { count };
    }
}
