//! Does a loop go along a chain of a hash table? Its first item is read from a place of an array that a mask or a remainder led to: that keeps a hash
//! within the table's size, and a number of something else needs no such thing.
//!
//! Followed through the registers on the way to the loop only: a chain that another function picked is not known.

use super::values::{is_immediate, written};
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};
use std::collections::HashSet;

/// Bytes of a pointer, as which the heads of the chains are kept.
const POINTER: u32 = 8;
/// The smallest mask that tells places of a table: a smaller one may take flags from a pointer.
const MASK: u64 = 15;

/// What is known of registers.
#[derive(Clone, Default)]
struct Known {
    /// Numbers of places, and these in bytes.
    places: HashSet<Register>,
    bytes: HashSet<Register>,
    /// Addresses of heads, and what is there.
    addresses: HashSet<Register>,
    heads: HashSet<Register>,
}

impl Known {
    fn sets(&mut self) -> [&mut HashSet<Register>; 4] {
        [&mut self.places, &mut self.bytes, &mut self.addresses, &mut self.heads]
    }

    fn forget(&mut self, register: Register) {
        self.sets().into_iter().for_each(|set| _ = set.remove(&register));
    }

    /// Goes on behind blocks of which some may have been executed, and others not: what those agree on that come last. One of them may as well make a
    /// register zero, as where an empty key has no hash.
    fn join(&mut self, piece: &Piece<'_>, infos: &mut InstructionInfoFactory) {
        let changed: HashSet<Register> =
            piece.between.iter().copied().flatten().flat_map(|one| written(one, infos)).collect();
        let behind = |last: &Option<&[Instruction]>, infos: &mut InstructionInfoFactory| {
            let (mut known, mut zero) = (self.clone(), HashSet::new());
            let Some(code) = last else { return (known, zero) };
            changed.iter().for_each(|register| known.forget(*register));
            for instruction in *code {
                written(instruction, infos).iter().for_each(|register| _ = zero.remove(register));
                if is_zeroed(instruction) {
                    zero.insert(instruction.op0_register().full_register());
                }
                known.step(instruction, infos);
            }
            (known, zero)
        };
        let mut ways: Vec<(Known, HashSet<Register>)> =
            piece.last.iter().map(|last| behind(last, infos)).collect();
        for register in changed {
            self.forget(register);
            for set in 0..4 {
                let mut has = |(known, _): &mut (Known, _)| known.sets()[set].contains(&register);
                let agree = ways.iter_mut().all(|way| way.1.contains(&register) || has(way));
                if agree && ways.iter_mut().any(&mut has) {
                    self.sets()[set].insert(register);
                }
            }
        }
    }

    /// Whether a memory operand is the head of a chain.
    fn is_head(&self, instruction: &Instruction) -> bool {
        let (base, index) =
            (instruction.memory_base().full_register(), instruction.memory_index().full_register());
        let scale = instruction.memory_index_scale();
        scale == POINTER && self.places.contains(&index)
            || scale == 1
                && (self.bytes.contains(&index) || self.bytes.contains(&base) && index != Register::None)
            || index == Register::None && self.addresses.contains(&base)
    }

    fn step(&mut self, instruction: &Instruction, infos: &mut InstructionInfoFactory) {
        use Mnemonic as M;
        let to =
            (instruction.op0_kind() == OpKind::Register).then(|| instruction.op0_register().full_register());
        let from =
            (instruction.op1_kind() == OpKind::Register).then(|| instruction.op1_register().full_register());
        let number = is_immediate(instruction.op1_kind()).then(|| instruction.immediate(1));
        let has = |set: &HashSet<Register>, register: Option<Register>| {
            register.is_some_and(|one| set.contains(&one))
        };
        // Which set what is written belongs to: 0 places, 1 bytes, 2 addresses, 3 heads.
        let becomes = match instruction.mnemonic() {
            M::And if number.is_none() => Some(0),
            M::And if number.is_some_and(|mask| mask >= MASK && (mask.wrapping_add(1)).is_power_of_two()) => {
                Some(0)
            }
            M::Mov | M::Movzx | M::Movsxd if from.is_some() => {
                let sets = [&self.places, &self.bytes, &self.addresses, &self.heads];
                sets.iter().position(|set| has(set, from))
            }
            M::Mov if instruction.op1_kind() == OpKind::Memory && self.is_head(instruction) => Some(3),
            M::Lea if self.is_head(instruction) => Some(2),
            M::Lea
                if instruction.memory_base() == Register::None
                    && instruction.memory_index_scale() == POINTER
                    && self.places.contains(&instruction.memory_index().full_register()) =>
            {
                Some(1)
            }
            M::Shl | M::Sal if number == Some(3) && has(&self.places, to) => Some(1),
            M::Add if has(&self.bytes, from) || from.is_some() && has(&self.bytes, to) => Some(2),
            M::Cdqe if self.places.contains(&Register::RAX) => return,
            _ => None,
        };
        let divides = instruction.mnemonic() == M::Div;
        written(instruction, infos).into_iter().for_each(|register| self.forget(register));
        if divides {
            self.places.insert(Register::RDX);
        }
        if let (Some(set), Some(to)) = (becomes, to) {
            self.sets()[set].insert(to);
        }
    }
}

/// `xor eax, eax`
fn is_zeroed(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Xor
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
}

/// A block on the way to a loop that is always executed.
pub(super) struct Piece<'a> {
    pub code: &'a [Instruction],
    /// The blocks that may be executed between it and the next piece.
    pub between: Vec<&'a [Instruction]>,
    /// Those from which the next piece is reached; none for this piece itself.
    pub last: Vec<Option<&'a [Instruction]>>,
}

/// Whether a loop whose round is `round` begins with the first item of such a chain. `way`: the code that leads to it, in the order in which it is executed.
pub(super) fn leads_to<'a>(way: impl Iterator<Item = Piece<'a>>, round: &[&Instruction]) -> bool {
    let (mut known, mut infos) = (Known::default(), InstructionInfoFactory::new());
    for piece in way {
        piece.code.iter().for_each(|instruction| known.step(instruction, &mut infos));
        known.join(&piece, &mut infos);
    }
    let moved: HashSet<Register> = round.iter().flat_map(|one| written(one, &mut infos)).collect();
    round.iter().any(|one| {
        let base = one.memory_base().full_register();
        let follows = known.heads.contains(&base) || known.addresses.contains(&base);
        follows && one.memory_index() == Register::None && moved.contains(&base)
    })
}

#[cfg(test)]
mod tests {
    use super::super::loops::loops;
    use super::super::walk::Work;

    /// L: cmp [rax+8], ecx; je end; mov rax, [rax]; test rax, rax; jne L; end: ret
    const CHAIN: [u8; 14] =
        [0x39, 0x48, 0x08, 0x74, 0x08, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x75, 0xf3, 0xc3];

    fn of(way: &[u8]) -> Work {
        let found = loops(&[way, &CHAIN[..]].concat());
        assert_eq!(found.len(), 1);
        found[0].work
    }

    #[test]
    fn a_chain_begins_where_a_mask_or_a_remainder_leads() {
        // and edx, esi; mov rax, [rdi+rdx*8]
        assert_eq!(of(&[0x21, 0xf2, 0x48, 0x8b, 0x04, 0xd7]), Work::Chains);
        // and edx, 255; …; and 7, which may be of a pointer
        assert_eq!(of(&[0x81, 0xe2, 0xff, 0, 0, 0, 0x48, 0x8b, 0x04, 0xd7]), Work::Chains);
        assert_eq!(of(&[0x83, 0xe2, 0x07, 0x48, 0x8b, 0x04, 0xd7]), Work::Walks);
        // xor edx, edx; div rsi; lea rdx, [rdi+rdx*8]; mov rax, [rdx]
        assert_eq!(
            of(&[0x31, 0xd2, 0x48, 0xf7, 0xf6, 0x48, 0x8d, 0x14, 0xd7, 0x48, 0x8b, 0x02]),
            Work::Chains
        );
        // and edx, esi; shl rdx, 3; add rdx, rdi; mov rax, [rdx]
        assert_eq!(
            of(&[0x21, 0xf2, 0x48, 0xc1, 0xe2, 0x03, 0x48, 0x01, 0xfa, 0x48, 0x8b, 0x02]),
            Work::Chains
        );
        // Any number: mov rax, [rdi+rdx*8]. Another register was masked: and ecx, esi. An item of four bytes: mov eax, [rdi+rdx*4].
        assert_eq!(of(&[0x48, 0x8b, 0x04, 0xd7]), Work::Walks);
        assert_eq!(of(&[0x21, 0xf1, 0x48, 0x8b, 0x04, 0xd7]), Work::Walks);
        assert_eq!(of(&[0x21, 0xf2, 0x8b, 0x04, 0x97]), Work::Walks);
        // It was changed in between: and edx, esi; mov rdx, [rbx]; mov rax, [rdi+rdx*8]
        assert_eq!(of(&[0x21, 0xf2, 0x48, 0x8b, 0x13, 0x48, 0x8b, 0x04, 0xd7]), Work::Walks);
    }

    #[test]
    fn an_empty_key_may_have_no_hash() {
        // test ecx, ecx; je zero; (mov edx, ecx; and edx, 15; or without the mask); jmp on; zero: xor edx, edx; on: mov rax, [rdi+rdx*8]
        let masked = [
            0x85, 0xc9, 0x74, 0x07, 0x89, 0xca, 0x83, 0xe2, 0x0f, 0xeb, 0x02, 0x31, 0xd2, 0x48, 0x8b, 0x04,
            0xd7,
        ];
        assert_eq!(of(&masked), Work::Chains);
        let mut any = masked;
        any[6..9].copy_from_slice(&[0x0f, 0x1f, 0x00]);
        assert_eq!(of(&any), Work::Walks);
        // zero: mov edx, esi: a place that is any other number.
        let mut other = masked;
        other[11..13].copy_from_slice(&[0x89, 0xf2]);
        assert_eq!(of(&other), Work::Walks);
    }

    #[test]
    fn an_array_at_such_a_place_is_no_chain() {
        // and edx, esi; mov rax, [rdi+rdx*8]; L: cmp [rax], ecx; je end; add rax, 4; cmp rax, r8; jne L; end: ret
        let code = [
            0x21, 0xf2, 0x48, 0x8b, 0x04, 0xd7, 0x39, 0x08, 0x74, 0x09, 0x48, 0x83, 0xc0, 0x04, 0x4c, 0x39,
            0xc0, 0x75, 0xf3, 0xc3,
        ];
        assert_eq!(loops(&code)[0].work, Work::Walks);
    }
}
