//! Functions that copy something as a whole (`slowpath-interfaces`), and what of it is noted.

use super::input::known_name;
use super::origin::{self, Origin};
use crate::image::Image;
use iced_x86::Instruction;
use slowpath_interfaces::Copied;
use std::collections::HashMap;

/// Which functions copy something as a whole, by their number.
#[derive(Default)]
pub(super) struct Copiers(HashMap<u32, Option<Copied>>);

impl Copiers {
    /// What the function that begins at `start` copies, if it is one. Those that copy bytes work themselves.
    pub(super) fn get(&mut self, function: u32, image: &Image, start: u64) -> Option<Copied> {
        *self.0.entry(function).or_insert_with(|| {
            let copied = slowpath_interfaces::copied(&known_name(image, start)?);
            copied.filter(|copied| *copied != Copied::Bytes)
        })
    }
}

/// What a probe notes of what is copied: where the copy goes, if that is said, what is copied, and what its first words lead to, such as the first
/// items of a list.
pub(super) fn origins<'a>(
    what: Copied,
    before: impl Iterator<Item = &'a Instruction>,
    go: bool,
) -> Option<Vec<Origin>> {
    let noted = |numbers: &[u8], words: &[i64]| {
        let mut origins = origin::of_numbered(before, go, numbers)?;
        let from = origins.last()?.clone();
        origins.extend(words.iter().map(|word| Origin { offsets: vec![*word, 0], ..from.clone() }));
        Some(origins)
    };
    match what {
        Copied::Bytes => None,
        Copied::Object(number) => noted(&[number], &[0, 8]),
        Copied::Returned => noted(&[1, 2], &[8]),
    }
}
