//! The input of a function that is meant to be called once for it (`slowpath-interfaces`): which registers lead to it, and a key by which it
//! is recognized. The content itself is never kept: the key is a hash that differs from one recording to the next.

use super::origin::{self, ORIGINS, Origin};
use crate::image::Image;
use iced_x86::{Instruction, Register};
use slowpath_interfaces::{Input, Interface, What};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// A text of so many bytes (`TEXT` of `bpf/walk.h`, less its zero), and any memory longer than what was read of it, was cut: whether two of them
/// are the same is not known.
const MOST: usize = 4095;
/// A text that must be at the same place is no shorter: words are put into one buffer one after the other, and recur in any text.
const IN_PLACE: u64 = 64;
const _: () = assert!(slowpath_interfaces::NOTED <= ORIGINS);
/// Parts of functions that a compiler made have other arguments.
const MADE: [&str; 4] = [".isra", ".constprop", ".part", ".cold"];

/// What functions are, by their number: asked often, and seldom any.
#[derive(Default)]
pub(super) struct Known(HashMap<u32, Option<&'static Interface>>);

impl Known {
    /// The interface that a function which begins at `start` is.
    pub(super) fn get(&mut self, function: u32, image: &Image, start: u64) -> Option<&'static Interface> {
        *self.0.entry(function).or_insert_with(|| slowpath_interfaces::of(&known_name(image, start)?))
    }
}

/// The demangled name of the function that begins at `start`, if its arguments are where its name says.
pub(super) fn known_name(image: &Image, start: u64) -> Option<String> {
    let name = image.functions()?.containing(start)?.name?;
    (!MADE.iter().any(|made| name.contains(made))).then(|| slowpath_symbols::demangle(name).to_string())
}

/// The same wherever its arguments are.
pub(super) fn any_name(image: &Image, start: u64) -> Option<String> {
    Some(slowpath_symbols::demangle(image.functions()?.containing(start)?.name?).to_string())
}

/// What a probe notes of an input, given the code between the function's entry and the probe. None if an argument is no longer known there.
pub(super) fn origins<'a>(
    input: &Input,
    before: impl Iterator<Item = &'a Instruction>,
    go: bool,
) -> Option<Vec<Origin>> {
    let wanted = input.arguments();
    if wanted.is_empty() {
        // Calls are noted all the same.
        let register = Register::RSP.number() as u8;
        return Some(vec![Origin { register, index: None, offsets: vec![0], next: None }]);
    }
    origin::of_numbered(before, go, &wanted)
}

/// Makes keys of inputs.
#[derive(Default)]
pub(crate) struct Keys(RandomState);

impl Keys {
    /// The key of an input, given the arguments that were noted and what was read where the first leads to. 0 if it is not known.
    pub(crate) fn key(&self, input: &Input, arguments: [u64; ORIGINS], read: Option<&[u8]>) -> u64 {
        let what = match input.what {
            What::None => Some(0),
            What::Number(_) => Some(u64::from(arguments[0] as u32)),
            What::Text(_) | What::Bytes(..) | What::Range(..) => {
                memory(input.what, arguments[0], arguments[1], read).map(|memory| self.0.hash_one(memory))
            }
        };
        let Some(what) = what else { return 0 };
        let length = input.what.length(arguments[0], arguments[1]);
        if input.is_in_place() && length.is_none_or(|length| length < IN_PLACE) {
            return 0;
        }
        let behind = arguments.iter().skip(input.arguments().len() - input.beside.len());
        let beside: Vec<u64> =
            input.beside.iter().zip(behind).map(|(one, argument)| one.part(*argument)).collect();
        self.0.hash_one((what, beside)).max(1)
    }
}

/// The content that is given, if all of it was read; none inside for no text at all, which mostly stands for a default.
fn memory(what: What, begin: u64, second: u64, read: Option<&[u8]>) -> Option<Option<&[u8]>> {
    let whole = match (what, what.length(begin, second)) {
        (What::Text(_), _) if begin == 0 => return Some(None),
        (What::Text(_), _) => read.filter(|read| read.len() < MOST),
        (_, Some(length)) => read?.get(..usize::try_from(length).ok()?),
        (What::Bytes(_, _, size), None) => to_zero(read?, size as usize),
        (_, None) => None,
    };
    whole.map(Some)
}

/// Memory up to a zero; none if it goes on behind what was read.
fn to_zero(read: &[u8], unit: usize) -> Option<&[u8]> {
    let end = read.chunks_exact(unit).position(|letter| letter.iter().all(|byte| *byte == 0))?;
    read.get(..end * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn input(text: &str) -> Input {
        text.parse().expect("an input")
    }

    #[test]
    fn the_same_input_has_the_same_key_wherever_it_is() {
        let keys = Keys::default();
        let text = |at, text: &[u8]| keys.key(&input("text 2"), [at, 0, 0], Some(text));
        assert_eq!(text(0x1000, b"a+b"), text(0x2000, b"a+b"));
        assert_ne!(text(0x1000, b"a+b"), text(0x1000, b"a+c"));
        let bytes = |length, read: &[u8]| keys.key(&input("bytes 1 2"), [0x1000, length, 0], Some(read));
        assert_eq!(bytes(3, b"a+b, and what follows"), bytes(3, b"a+b is followed by other things"));
        assert_ne!(bytes(3, b"a+b"), bytes(2, b"a+b"));
        assert_eq!(bytes(u64::MAX, b"a+b\0what"), bytes(u32::MAX.into(), b"a+b\0ever"));
        let range = |begin, end, read: &[u8]| keys.key(&input("range 1 2"), [begin, end, 0], Some(read));
        assert_eq!(range(0x1000, 0x1003, b"a+bxxxx"), range(0x3000, 0x3003, b"a+byyyy"));
        let units = |read: &[u8]| keys.key(&input("units 1 2"), [0x1000, u32::MAX.into(), 0], Some(read));
        assert_ne!(units(b"a\0b\0\0\0"), units(b"a\0c\0\0\0"));
        let number = |number| keys.key(&input("number 1"), [number, 2, 0], None);
        assert!(number(1) != number(3) && number(1) == number(0xdead_0000_0001));
        assert_eq!(keys.key(&input("none"), [1, 2, 0], None), keys.key(&input("none"), [3, 4, 0], None));
    }

    #[test]
    fn what_is_given_beside_counts() {
        let keys = Keys::default();
        let prepared =
            |text: &[u8], db| keys.key(&input("bytes 2 3, pointer 1"), [0x1000, 3, db], Some(text));
        assert_eq!(prepared(b"SQL", 0x10), prepared(b"SQL", 0x10));
        assert_ne!(prepared(b"SQL", 0x10), prepared(b"SQL", 0x20));
        let compiled = |flags| keys.key(&input("text 2, number 3"), [0x1000, flags, 7], Some(b"a+b"));
        assert!(compiled(1) != compiled(2) && compiled(1) == compiled(0xdead_0000_0001));
    }

    #[test]
    fn what_was_cut_or_cannot_be_read_is_not_known() {
        let keys = Keys::default();
        let text = |at, read| keys.key(&input("text 1"), [at, 0, 0], read);
        let long = [b'x'; MOST + 1];
        assert_eq!(text(0x1000, Some(&long[..MOST])), 0);
        assert_ne!(text(0x1000, Some(&long[..MOST - 1])), 0);
        let bytes = |length, read| keys.key(&input("bytes 1 2"), [0x1000, length, 0], read);
        assert_eq!(bytes(4097, Some(&long)), 0);
        assert_ne!(bytes(4096, Some(&long)), 0);
        assert_eq!(bytes(u64::MAX, Some(&long)), 0);
        assert_eq!((text(0x1000, None), bytes(3, None)), (0, 0));
        // None at all is a default, and not the empty text.
        assert!(text(0, None) != 0 && text(0, None) != text(0x1000, Some(b"")));
    }

    #[test]
    fn a_word_in_a_buffer_is_no_text_at_its_place() {
        let keys = Keys::default();
        let converted =
            |at, length| keys.key(&input("bytes 2 3, pointer 2"), [at, length, at], Some(&[b'x'; 100]));
        assert!(converted(0x1000, 64) != 0 && converted(0x1000, 64) == converted(0x1000, 64));
        assert_ne!(converted(0x1000, 64), converted(0x2000, 64));
        assert_eq!(converted(0x1000, 63), 0);
    }

    #[test]
    fn keys_differ_from_recording_to_recording() {
        let key = |keys: &Keys| keys.key(&input("text 1"), [0x1000, 0, 0], Some(b"a password"));
        assert_ne!(key(&Keys::default()), key(&Keys::default()));
    }

    #[test]
    fn arguments_are_followed_to_where_the_probe_is() {
        let code: Vec<Instruction> =
            // mov rbx, rsi; mov esi, 1
            Decoder::with_ip(64, &[0x48, 0x89, 0xf3, 0xbe, 1, 0, 0, 0], 0, DecoderOptions::NONE).into_iter().collect();
        let found = |text, go| {
            origins(&input(text), code.iter(), go).map(|all| all.iter().map(|one| one.register).collect())
        };
        let number = |register: Register| register.number() as u8;
        assert_eq!(found("text 2", false), Some(vec![number(Register::RBX)]));
        assert_eq!(found("range 2 3", false), Some(vec![number(Register::RBX), number(Register::RDX)]));
        // Go's second argument was in rbx.
        assert_eq!(found("bytes 1 2", true), None);
        assert_eq!(found("none", false), Some(vec![number(Register::RSP)]));
    }
}
