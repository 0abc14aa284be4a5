//! Functions whose calls are worth a look because of what they do, as `slowpath-interfaces` lists it: they copy something as a whole, hand out memory or
//! take it back, match regular expressions, or go through keys with the same hash. And what of a call is noted.

use super::input::{any_name, known_name};
use super::origin::{self, Origin};
use crate::image::Image;
use iced_x86::Instruction;
use slowpath_interfaces::{Copied, Memory, What};
use std::collections::HashMap;

/// Where the size of a block stands, from where it begins (glibc, `malloc/malloc.c`: "the size of the chunk").
const BEFORE: i64 = -8;

/// What a listed function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It copies something as a whole.
    Copies(Copied),
    /// It hands out memory, takes it back, or moves it.
    Memory(Memory),
    /// It goes through keys with the same hash.
    Searches,
    /// It matches a regular expression with a text.
    Matches(What),
}

/// Which functions are listed, by their number.
#[derive(Default)]
pub(super) struct Listed(HashMap<u32, Option<Does>>);

impl Listed {
    /// What the function that begins at `start` does, if it is listed. Those that copy bytes work themselves.
    pub(super) fn get(&mut self, function: u32, image: &Image, start: u64) -> Option<Does> {
        *self.0.entry(function).or_insert_with(|| {
            if slowpath_interfaces::searches_bucket(&any_name(image, start)?) {
                return Some(Does::Searches);
            }
            let name = known_name(image, start)?;
            if let Some(memory) = slowpath_interfaces::memory_by_call(&name) {
                return Some(Does::Memory(memory));
            }
            if let Some(text) = slowpath_interfaces::matches(&name) {
                return Some(Does::Matches(text));
            }
            let copied = slowpath_interfaces::copied(&name);
            copied.filter(|copied| *copied != Copied::Bytes).map(Does::Copies)
        })
    }
}

/// What a probe notes:
///
/// - of a copy where it goes, if that is said, what is copied, and what its first words lead to, such as the first items of a list;
/// - of memory what [`slowpath_interfaces::memory_by_call`] says: the block that is taken back; the size that is handed out; the size that is
///   wanted, and the word before the block;
/// - of a match where its text begins, and its length or its end.
pub(super) fn origins<'a>(
    what: Does,
    before: impl Iterator<Item = &'a Instruction>,
    go: bool,
) -> Option<Vec<Origin>> {
    let noted = |before, numbers: &[u8], words: &[i64]| {
        let mut origins = origin::of_numbered(before, go, numbers)?;
        let from = origins.last()?.clone();
        origins.extend(words.iter().map(|word| Origin { offsets: vec![*word, 0], ..from.clone() }));
        Some(origins)
    };
    match what {
        Does::Copies(Copied::Bytes) | Does::Searches => None,
        Does::Copies(Copied::Object(number)) => noted(before, &[number], &[0, 8]),
        Does::Copies(Copied::Returned) => noted(before, &[1, 2], &[8]),
        Does::Matches(text) => noted(before, &text.arguments(), &[]),
        Does::Memory(Memory::Takes | Memory::Gives) => noted(before, &[1], &[]),
        Does::Memory(Memory::Moves) => {
            let mut origins = origin::of_numbered(before, go, &[2, 1])?;
            let block = origins.pop()?;
            origins.push(Origin { offsets: vec![BEFORE, 0], ..block });
            Some(origins)
        }
    }
}
