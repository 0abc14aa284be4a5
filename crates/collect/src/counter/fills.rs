//! Functions that fill a block with a byte, known by their code: the C library's variants of `memset` have no names where its debug symbols are not
//! installed. What their calls tell of the block is left to the diagnosis.

use super::origin::Origin;
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// From the end of a block to what is looked at there, bytes.
const BEFORE_END: i64 = slowpath_recording::BEFORE_END as i64;
/// Instructions at the beginning of a function that fills until it has spread the byte: of glibc's variants four at most.
const SPREADS: usize = 8;

/// In place of the size that a function is given which fills a block with a byte: the place that is [`BEFORE_END`] from the end of the block. What is there before it is filled tells
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
/// store none.
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
    use crate::counter::origin;
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
