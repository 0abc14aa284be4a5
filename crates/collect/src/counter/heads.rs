//! Does a loop go along a chain of a hash table? Its first item is read from a place of an array that a mask or a remainder led to: that keeps a hash
//! within the table's size, and a number of something else needs no such thing.
//!
//! Followed through the registers on the way to the loop, and through what a function returns that is called there. A remainder by a constant is made by a
//! multiplication: `x - x * magic / 2^k * n`.

use super::Candidate;
use super::flow::blocks;
use super::values::{is_immediate, written};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register,
};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Bytes of a pointer, as which the heads of the chains are kept.
const POINTER: u32 = 8;
/// The smallest mask that tells places of a table: a smaller one may take flags from a pointer.
pub(super) const MASK: u64 = 15;

/// What a register may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The number of a place, and that in bytes.
    Place,
    Bytes,
    /// The address of a head, and what is there.
    Address,
    Head,
    /// The product of a multiplication; what is left of it after a shift, as of a quotient; and a multiple of that.
    Product,
    Quotient,
    Multiple,
}

/// All of them.
const HOLDS: [Holds; 7] = [
    Holds::Place,
    Holds::Bytes,
    Holds::Address,
    Holds::Head,
    Holds::Product,
    Holds::Quotient,
    Holds::Multiple,
];

/// What is known of registers.
#[derive(Clone, Default)]
struct Known(HashMap<Register, Holds>);

impl Known {
    fn has(&self, register: Register, what: Holds) -> bool {
        self.0.get(&register) == Some(&what)
    }

    fn forget(&mut self, register: Register) {
        self.0.remove(&register);
    }

    /// Goes on behind blocks of which some may have been executed, and others not: what those agree on that come last. One of them may as well make a
    /// register zero, as where an empty key has no hash.
    fn join(&mut self, piece: &Piece<'_>, infos: &mut InstructionInfoFactory, selects: &dyn Fn(u64) -> bool) {
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
                known.step(instruction, infos, selects);
            }
            (known, zero)
        };
        let ways: Vec<(Known, HashSet<Register>)> =
            piece.last.iter().map(|last| behind(last, infos)).collect();
        for register in changed {
            self.forget(register);
            let agree = |what: &Holds| {
                ways.iter().all(|(known, zero)| zero.contains(&register) || known.has(register, *what))
                    && ways.iter().any(|(known, _)| known.has(register, *what))
            };
            if let Some(what) = HOLDS.into_iter().find(agree) {
                self.0.insert(register, what);
            }
        }
    }

    /// Whether a memory operand is the head of a chain.
    fn is_head(&self, instruction: &Instruction) -> bool {
        let (base, index) =
            (instruction.memory_base().full_register(), instruction.memory_index().full_register());
        let scale = instruction.memory_index_scale();
        let in_bytes = |register| self.has(register, Holds::Bytes);
        scale == POINTER && self.has(index, Holds::Place)
            || scale == 1 && (in_bytes(index) || in_bytes(base) && index != Register::None)
            || index == Register::None && self.has(base, Holds::Address)
    }

    /// `selects`: whether the function at an address returns the number of a place.
    fn step(
        &mut self,
        instruction: &Instruction,
        infos: &mut InstructionInfoFactory,
        selects: &dyn Fn(u64) -> bool,
    ) {
        use Mnemonic as M;
        let to =
            (instruction.op0_kind() == OpKind::Register).then(|| instruction.op0_register().full_register());
        let from =
            (instruction.op1_kind() == OpKind::Register).then(|| instruction.op1_register().full_register());
        let number = is_immediate(instruction.op1_kind()).then(|| instruction.immediate(1));
        let has = |register: Option<Register>, what| register.is_some_and(|one| self.has(one, what));
        let memory = [instruction.memory_base(), instruction.memory_index()].map(Register::full_register);
        let is_of_quotient = |register| of_quotient_in(self, register);
        let of_quotient = || memory.map(Some).into_iter().chain([from, to]).any(is_of_quotient);
        // A byte is an answer or a flag.
        let is_number = instruction.op_count() > 0
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register().size() > 1;
        let becomes = match instruction.mnemonic() {
            M::And if !is_number => None,
            M::And if number.is_none() => Some(Holds::Place),
            M::And if number.is_some_and(|mask| mask >= MASK && (mask.wrapping_add(1)).is_power_of_two()) => {
                Some(Holds::Place)
            }
            M::Mov | M::Movzx | M::Movsxd if from.is_some() => {
                from.and_then(|from| self.0.get(&from)).copied()
            }
            M::Mov if instruction.op1_kind() == OpKind::Memory && self.is_head(instruction) => {
                Some(Holds::Head)
            }
            M::Lea
                if memory[0] == Register::None
                    && instruction.memory_index_scale() == POINTER
                    && self.has(memory[1], Holds::Place) =>
            {
                Some(Holds::Bytes)
            }
            M::Lea if self.is_head(instruction) => Some(Holds::Address),
            M::Shl | M::Sal if number == Some(3) && has(to, Holds::Place) => Some(Holds::Bytes),
            M::Add if has(from, Holds::Bytes) || from.is_some() && has(to, Holds::Bytes) => {
                Some(Holds::Address)
            }
            M::Cdqe if self.has(Register::RAX, Holds::Place) => return,
            M::Shr | M::Sar if has(to, Holds::Product) => Some(Holds::Quotient),
            // What is left of the number that was divided.
            M::Sub if has(from, Holds::Multiple) && !is_of_quotient(to) => Some(Holds::Place),
            M::Add | M::Sub | M::Shl | M::Sal | M::Imul | M::Lea if of_quotient() => Some(Holds::Multiple),
            M::Imul if instruction.op_count() > 1 => Some(Holds::Product),
            _ => None,
        };
        let alone = match instruction.mnemonic() {
            M::Div => Some(Holds::Place),
            // The upper half.
            M::Mul => Some(Holds::Product),
            M::Imul if instruction.op_count() == 1 => Some(Holds::Product),
            _ => None,
        };
        written(instruction, infos).into_iter().for_each(|register| self.forget(register));
        if let Some(what) = alone {
            self.0.insert(Register::RDX, what);
        } else if instruction.mnemonic() == M::Call {
            if instruction.op0_kind() == OpKind::NearBranch64 && selects(instruction.near_branch64()) {
                self.0.insert(Register::RAX, Holds::Place);
            }
        } else if let (Some(what), Some(to)) = (becomes, to) {
            self.0.insert(to, what);
        }
    }
}

/// Whether a register holds a quotient or a multiple of one.
fn of_quotient_in(known: &Known, register: Option<Register>) -> bool {
    let is = |one| known.has(one, Holds::Quotient) || known.has(one, Holds::Multiple);
    register.is_some_and(is)
}

/// Of a function's calls, by their distance from its start (modulo 2^64): whether what is called returns the number of a place. Each is looked at once.
pub(super) fn selecting(caller: &Candidate) -> impl Fn(u64) -> bool + '_ {
    let asked: RefCell<HashMap<u64, bool>> = RefCell::default();
    move |distance| {
        let start = caller.start.wrapping_add(distance);
        let looked_at = || {
            let function = caller.image.functions()?.containing(start)?;
            Some(returns_place(caller.image.code(start, function.end.checked_sub(start)? as usize)?))
        };
        *asked.borrow_mut().entry(start).or_insert_with(|| looked_at().unwrap_or(false))
    }
}

/// Whether a function, given its code, returns the number of a place: on each way to its end, in the last block of it.
pub(super) fn returns_place(code: &[u8]) -> bool {
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
    let blocks = blocks(&instructions);
    let (mut places, mut infos) = (0, InstructionInfoFactory::new());
    for block in &blocks {
        let code = &instructions[block.code.clone()];
        let Some(last) = code.last() else { continue };
        if last.flow_control() != FlowControl::Return {
            // It ends in another function, of which nothing is known.
            if last.flow_control() == FlowControl::UnconditionalBranch && block.next.is_empty() {
                return false;
            }
            continue;
        }
        let (mut known, mut zero) = (Known::default(), false);
        for instruction in code {
            zero = is_zeroed(instruction) && instruction.op0_register().full_register() == Register::RAX
                || zero && !written(instruction, &mut infos).contains(&Register::RAX);
            known.step(instruction, &mut infos, &|_| false);
        }
        if !zero && !known.has(Register::RAX, Holds::Place) {
            return false;
        }
        places += u32::from(!zero);
    }
    places > 0
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

/// Whether a loop whose round is `round` begins with the first item of such a chain. `way`: the code that leads to it, in the order in which it is executed;
/// `selects`: whether the function at an address returns the number of a place (see [`returns_place`]).
pub(super) fn leads_to<'a>(
    way: impl Iterator<Item = Piece<'a>>,
    round: &[&Instruction],
    selects: &dyn Fn(u64) -> bool,
) -> bool {
    let (known, mut infos) = (known_behind(way, selects), InstructionInfoFactory::new());
    let moved: HashSet<Register> = round.iter().flat_map(|one| written(one, &mut infos)).collect();
    round.iter().any(|one| {
        let base = one.memory_base().full_register();
        let follows = known.has(base, Holds::Head) || known.has(base, Holds::Address);
        follows && one.memory_index() == Register::None && moved.contains(&base)
    })
}

/// Whether one of these registers holds the number of a place, or that in bytes, or where it is, behind such a way.
pub(super) fn leads_to_place<'a>(
    way: impl Iterator<Item = Piece<'a>>,
    registers: &HashSet<Register>,
    selects: &dyn Fn(u64) -> bool,
) -> bool {
    let known = known_behind(way, selects);
    let holds = [Holds::Place, Holds::Bytes, Holds::Address];
    registers.iter().any(|register| holds.iter().any(|what| known.has(*register, *what)))
}

fn known_behind<'a>(way: impl Iterator<Item = Piece<'a>>, selects: &dyn Fn(u64) -> bool) -> Known {
    let (mut known, mut infos) = (Known::default(), InstructionInfoFactory::new());
    for piece in way {
        piece.code.iter().for_each(|instruction| known.step(instruction, &mut infos, selects));
        known.join(&piece, &mut infos, selects);
    }
    known
}

#[cfg(test)]
mod tests {
    use super::super::loops::{loops, loops_in};
    use super::super::walk::Work;
    use super::returns_place;

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
        // and edx, esi; lea rdx, [rdx*8]; add rdi, rdx; mov rax, [rdi]
        assert_eq!(
            of(&[0x21, 0xf2, 0x48, 0x8d, 0x14, 0xd5, 0, 0, 0, 0, 0x48, 0x01, 0xd7, 0x48, 0x8b, 0x07]),
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
    fn a_remainder_by_a_constant_is_made_by_a_multiplication() {
        // mov eax, edi; imul rax, rax, 0x288df0cb; shr rax, 36; imul eax, eax, 101; mov edx, edi; sub edx, eax; mov rax, [rsi+rdx*8]
        let way = [
            0x89, 0xf8, 0x48, 0x69, 0xc0, 0xcb, 0xf0, 0x8d, 0x28, 0x48, 0xc1, 0xe8, 0x24, 0x6b, 0xc0, 0x65,
            0x89, 0xfa, 0x29, 0xc2, 0x48, 0x8b, 0x04, 0xd6,
        ];
        assert_eq!(of(&way), Work::Chains);
        // Without the multiplication by 101 it is a number less a part of it.
        let mut no_multiple = way;
        no_multiple[13..16].copy_from_slice(&[0x0f, 0x1f, 0x00]);
        assert_eq!(of(&no_multiple), Work::Walks);
        // Without the shift it is a difference of two numbers, as of two columns: nop
        let mut no_shift = way;
        no_shift[9..13].copy_from_slice(&[0x0f, 0x1f, 0x40, 0x00]);
        assert_eq!(of(&no_shift), Work::Walks);
    }

    #[test]
    fn a_function_may_return_the_number_of_a_place() {
        // xor edx, edx; div esi; mov eax, edx; ret
        let remainder = [0x31, 0xd2, 0xf7, 0xf6, 0x89, 0xd0, 0xc3];
        assert!(returns_place(&remainder));
        // test edi, edi; je zero; …; zero: xor eax, eax; ret
        let or_zero = [&[0x85, 0xff, 0x74, 0x07][..], &remainder, &[0x31, 0xc0, 0xc3]].concat();
        assert!(returns_place(&or_zero));
        // The quotient; either; and nothing but zero.
        assert!(!returns_place(&[0x31, 0xd2, 0xf7, 0xf6, 0xc3]));
        assert!(!returns_place(&[&[0x85, 0xff, 0x74, 0x07][..], &remainder, &[0x89, 0xf8, 0xc3]].concat()));
        assert!(!returns_place(&[0x31, 0xc0, 0xc3]));
        // and al, dil; movzx eax, al; ret: whether both are so. And what goes on elsewhere: jmp +0x100
        assert!(!returns_place(&[0x40, 0x20, 0xf8, 0x0f, 0xb6, 0xc0, 0xc3]));
        let elsewhere = [&[0x85, 0xff, 0x74, 0x07][..], &remainder, &[0xe9, 0xfb, 0, 0, 0]].concat();
        assert!(!returns_place(&elsewhere));
        // call +0x100; cdqe; mov rax, [rbx+rax*8]
        let way = [0xe8, 0xfb, 0, 0, 0, 0x48, 0x98, 0x48, 0x8b, 0x04, 0xc3];
        let code = [&way[..], &CHAIN].concat();
        assert_eq!(loops_in(&code, &|target| target == 0x100)[0].work, Work::Chains);
        assert_eq!(loops(&code)[0].work, Work::Walks);
    }

    #[test]
    fn what_goes_along_all_items_looks_for_no_key() {
        // and edx, esi; mov rax, [rdi+rdx*8]; L: cmp [rax+8], ecx; jl next; mov r8, rax; next: mov rax, [rax]; test rax, rax; jne L; ret
        let code = [
            0x21, 0xf2, 0x48, 0x8b, 0x04, 0xd7, 0x39, 0x48, 0x08, 0x7c, 0x03, 0x49, 0x89, 0xc0, 0x48, 0x8b,
            0x00, 0x48, 0x85, 0xc0, 0x75, 0xf0, 0xc3,
        ];
        assert_eq!(loops(&code)[0].work, Work::Walks);
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
