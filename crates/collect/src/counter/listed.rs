//! Functions whose calls are worth a look because of what they do, as `slowpath-interfaces` lists it: they copy something as a whole, take
//! memory back, or go through keys with the same hash. And what of a call is noted.

use super::input::{any_name, known_name};
use super::origin::{self, Origin};
use crate::image::Image;
use iced_x86::Instruction;
use slowpath_interfaces::Copied;
use std::collections::HashMap;

/// Where the size of a block stands, from where it begins (glibc, `malloc/malloc.c`: "the size of the chunk").
const BEFORE: i64 = -8;

/// What a listed function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It copies something as a whole.
    Copies(Copied),
    /// It takes a block of memory back.
    Frees,
    /// It makes a block larger, and moves it for that.
    Moves,
    /// It hands out memory, of a size that it is given.
    Gives,
    /// It goes through keys with the same hash.
    Searches,
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
            if slowpath_interfaces::frees_block(&name) {
                return Some(Does::Frees);
            }
            if slowpath_interfaces::moves_block(&name) {
                return Some(Does::Moves);
            }
            if slowpath_interfaces::gives_in_go(&name) {
                return Some(Does::Gives);
            }
            let copied = slowpath_interfaces::copied(&name);
            copied.filter(|copied| *copied != Copied::Bytes).map(Does::Copies)
        })
    }
}

/// What a probe notes: of what is copied where the copy goes, if that is said, what is copied, and what its first words lead to, such as the
/// first items of a list; of a block that is taken back where it is; of one that is handed out its size; of one that is moved the size that is wanted and, of the C library's, what
/// stands before it: its size.
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
        Does::Frees | Does::Gives => noted(before, &[1], &[]),
        Does::Moves => {
            let mut origins = origin::of_numbered(before, go, &[2, 1])?;
            let block = origins.pop()?;
            origins.push(Origin { offsets: vec![BEFORE, 0], ..block });
            Some(origins)
        }
    }
}
