//! How many items a loop looks at in a round. A compiler, or a library, unrolls a search: it compares four or eight items one after the other before it
//! jumps back. They lie as far apart from each other as the last of a round lies from the first of the next.

use super::values::{Registers, Sum, is_immediate};
use iced_x86::{Instruction, Mnemonic, OpKind};

/// Fewer may be parts of one item that are compared with the same: both ends of an edge. Compilers and libraries unroll by four or more.
const LEAST: usize = 4;

/// Places that are compared with the same thing.
struct Compared {
    /// Without its offset.
    place: Sum,
    size: i64,
    with: Sum,
    offsets: Vec<i64>,
}

/// Items that are looked at in a round of a loop, whose code is `round`, its header first; 1 where that is not known.
pub(super) fn items(round: &[&Instruction], frame: bool) -> u32 {
    let mut registers = Registers::at(0, frame);
    let mut compared: Vec<Compared> = Vec::new();
    for instruction in round {
        if let Some((address, size, with)) = comparison(instruction, &registers) {
            let place = Sum { offset: 0, ..address.clone() };
            let of = |known: &&mut Compared| known.place == place && known.size == size && known.with == with;
            match compared.iter_mut().find(of) {
                Some(known) => known.offsets.push(address.offset),
                None => compared.push(Compared { place, size, with, offsets: vec![address.offset] }),
            }
        }
        registers.step(instruction);
    }
    let tiles = |one: &mut Compared| {
        one.offsets.sort_unstable();
        one.offsets.dedup();
        let stride = registers.stride(&one.place)?.checked_abs()?;
        let apart = one.offsets.get(1)? - one.offsets[0];
        let evenly = one.offsets.windows(2).all(|pair| pair[1] - pair[0] == apart);
        let count = one.offsets.len() as i64;
        (one.offsets.len() >= LEAST
            && evenly
            && apart >= one.size
            && apart.checked_mul(count) == Some(stride))
        .then_some(count as u32)
    };
    compared.iter_mut().filter_map(tiles).max().unwrap_or(1)
}

/// Of a comparison with memory: the address, the bytes that are read there, and what they are compared with.
fn comparison(instruction: &Instruction, registers: &Registers) -> Option<(Sum, i64, Sum)> {
    if instruction.mnemonic() != Mnemonic::Cmp {
        return None;
    }
    let memory = (0..2).find(|operand| instruction.op_kind(*operand) == OpKind::Memory)?;
    let with = match instruction.op_kind(1 - memory) {
        OpKind::Register => registers.get(instruction.op_register(1 - memory).full_register())?,
        kind if is_immediate(kind) => Sum::constant(instruction.immediate(1 - memory) as i64),
        _ => return None,
    };
    Some((registers.address(instruction)?, instruction.memory_size().size() as i64, with))
}
