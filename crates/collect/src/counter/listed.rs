//! Functions whose calls are worth a look because of what they do, as `slowpath-interfaces` lists it: they copy something as a whole, hand out memory or
//! take it back, match regular expressions, or go through keys with the same hash. And what of a call is noted.

use super::input::{any_name, known_name};
use super::origin::{self, Origin};
use crate::image::Image;
use iced_x86::{Instruction, Mnemonic, OpKind, Register};
use slowpath_interfaces::{Copied, Memory, What};
use std::collections::HashMap;

/// Where the size of a block stands, from where it begins (glibc, `malloc/malloc.c`: "the size of the chunk").
const BEFORE: i64 = -8;
/// So many bytes before its end.
const BEFORE_END: i64 = slowpath_recording::BEFORE_END as i64;
/// Instructions at the beginning of a function that fills until it has spread the byte: of glibc's variants four at most.
const SPREADS: usize = 8;

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

/// In place of the size that a function is given which fills a block with a byte: where the block is [`BEFORE_END`]. What is there before it is filled tells
/// whether the whole block was used.
///
/// `given`: the numbers of the arguments.
pub(super) fn note_end(code: &[Instruction], given: &[u8], arguments: &mut [Origin]) {
    if given != [1, 2, 3] {
        return;
    }
    let [block, _, size] = arguments else { return };
    let plain = |one: &Origin| one.index.is_none() && one.offsets == [0];
    if fills(code) && plain(block) && plain(size) {
        let index = Some((size.register, 1));
        *size = Origin { index, offsets: vec![-BEFORE_END], ..block.clone() };
    }
}

/// Whether a function begins by spreading its second argument, a byte, over a vector, as every `memset` does, and stores vectors: those that search for a byte
/// store none. Those of the C library for one processor or another have no names where its debug symbols are not installed.
fn fills(code: &[Instruction]) -> bool {
    let is_byte = |register: Register| register.full_register32() == Register::ESI;
    let stores = |instruction: &Instruction| {
        let vector = instruction.op1_register();
        instruction.op0_kind() == OpKind::Memory && (vector.is_xmm() || vector.is_ymm() || vector.is_zmm())
    };
    code.iter().any(stores)
        && code.iter().take(SPREADS).any(|instruction| {
            let spreads =
                matches!(instruction.mnemonic(), Mnemonic::Vpbroadcastb | Mnemonic::Vmovd | Mnemonic::Movd);
            let of_byte = instruction.op1_kind() == OpKind::Register && is_byte(instruction.op1_register());
            spreads && of_byte
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn noted(bytes: &[u8]) -> Vec<(Option<(u8, i64)>, i64)> {
        let code: Vec<Instruction> =
            Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).into_iter().collect();
        let mut arguments = origin::of_arguments(code[..1].iter(), false, &[1, 2, 3]);
        note_end(&code, &[1, 2, 3], &mut arguments);
        arguments.iter().map(|one| (one.index, one.offsets[0])).collect()
    }

    #[test]
    fn of_what_spreads_a_byte_over_a_vector_the_end_of_the_block_is_noted() {
        // movups [rdi], xmm0
        const STORES: [u8; 3] = [0x0f, 0x11, 0x07];
        let stored = |code: &[u8]| [code, &STORES].concat();
        // endbr64; vpbroadcastb xmm16, esi; mov rax, rdi
        let avx512 = stored(&[0xf3, 0x0f, 0x1e, 0xfa, 0x62, 0xe2, 0x7d, 0x08, 0x7a, 0xc6, 0x48, 0x89, 0xf8]);
        // endbr64; movd xmm0, esi; mov rax, rdi; punpcklbw xmm0, xmm0
        let memchr =
            [0xf3, 0x0f, 0x1e, 0xfa, 0x66, 0x0f, 0x6e, 0xc6, 0x48, 0x89, 0xf8, 0x66, 0x0f, 0x60, 0xc0];
        let sse2 = stored(&memchr);
        // endbr64; movd xmm0, edx; mov rax, rdi
        let of_another = stored(&[0xf3, 0x0f, 0x1e, 0xfa, 0x66, 0x0f, 0x6e, 0xc2, 0x48, 0x89, 0xf8]);
        let end = [(None, 0), (None, 0), (Some((2, 1)), -256)];
        assert_eq!((noted(&avx512), noted(&sse2)), (end.to_vec(), end.to_vec()));
        assert_eq!((noted(&of_another), noted(&memchr)), (vec![(None, 0); 3], vec![(None, 0); 3]));
    }
}
