//! What calls show of copies of objects: when one begins and ends, what it reads and writes, and what becomes of it. The rules are in `copies`.

use super::super::copies::Begin;
use super::super::natives::{Natives, is_fresh};
use super::{Calls, Frame, GRAIN};

/// Frames outwards that are taken for the destruction of an object, if one of them is: those of containers and allocators are in between.
const DESTRUCTION: usize = 8;

impl<N: Natives> Calls<N> {
    /// A block is given back.
    pub(super) fn freed(&mut self, block: u64) {
        let near = self.frames.iter().rev().take(DESTRUCTION);
        let destroying = near.filter(|frame| self.natives.destroys(frame.function));
        let destroyed: Vec<u32> = destroying.map(|frame| frame.start).collect();
        let (mut copies, now) = (std::mem::take(&mut self.copies), self.now);
        copies.freed(block, &destroyed, now, |piece, within| within.contains(&self.touched(piece).changed));
        self.copies = copies;
    }

    /// The function of the innermost call copies, to where its first argument leads if it assigns.
    pub(super) fn copies(&mut self, function: u64, to: Option<u64>, locks: Vec<u64>) {
        let (depth, now) = (self.frames.len(), self.now);
        let Some(frame) = self.frames.last() else { return };
        let outer = depth.checked_sub(2).map(|outer| &self.frames[outer]);
        let whose = (function, self.called_by(frame, outer));
        let begin =
            Begin { whose, depth, stack: frame.stack, to, asker: outer.map(|outer| outer.start), locks, now };
        let mut copies = std::mem::take(&mut self.copies);
        copies.begins(&begin, |piece, since| self.touched(piece).changed >= since);
        self.copies = copies;
    }

    /// Of copies: memory is written, with the same or not.
    pub(super) fn copies_written(&mut self, address: u64, bytes: &[u8]) {
        if let Ok(value) = bytes.try_into() {
            self.copies.holds(address / GRAIN, u64::from_le_bytes(value));
        }
        let Some((since, stack)) = self.copies.since() else { return };
        for grain in address / GRAIN..address.saturating_add(bytes.len() as u64).div_ceil(GRAIN) {
            let at = grain * GRAIN;
            // Its own blocks count as read since they were allocated.
            let own =
                (self.stack.start..=stack).contains(&at) || is_fresh(at) && self.touched(grain).read >= since;
            if !own && self.touched(grain).changed < since {
                self.copies.copies_to(grain);
            }
        }
    }

    /// Of copies: a call returned.
    pub(super) fn copies_returned(&mut self, frame: &Frame) {
        let has_asked = self.copies.has_asked(frame.start);
        if self.copies.since().is_none() && !has_asked {
            return;
        }
        let (mut copies, depth, now) = (std::mem::take(&mut self.copies), self.frames.len(), self.now);
        copies.returned(depth, now, |piece, since| self.touched(piece).changed >= since);
        if has_asked {
            let own = self.stack.start..frame.stack;
            copies.asker_returned(frame.start, &own, |piece, since| self.touched(piece).changed >= since);
        }
        self.copies = copies;
    }
}
