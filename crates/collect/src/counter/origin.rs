//! Where a walk begins: the address that a loop reads first, or a pointer that a function was given, as something that a probe shortly
//! before can compute from the registers there. `loops` finds where such a probe can be placed, `values` what the registers hold.

use super::values::{IP, Registers, STEPS, Sum, Term, calls};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// Walks with more moving pointers are not looked at: few loops have more, and each takes room in every event.
pub(crate) const ORIGINS: usize = 3;

/// An address: `register + index * scale + offsets[0]`; for each further offset the 8 bytes there are read, and it is added to them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    /// As instructions number them (rax is 0, rcx 1 …), or [`IP`].
    pub register: u8,
    /// A register and its scale.
    pub index: Option<(u8, i64)>,
    pub offsets: Vec<i64>,
    /// Where a loop goes from item to item: bytes from where it begins to the pointer to the next item.
    pub next: Option<i64>,
}

impl Origin {
    /// None for what a probe cannot compute.
    fn of(sum: &Sum) -> Option<Origin> {
        let single = |at: usize| sum.terms.get(at).map(|(term, times)| (term, *times));
        match (single(0)?, single(1), sum.terms.len()) {
            ((Term::Read(inner), 1), None, _) => {
                let mut origin = Origin::of(inner)?;
                origin.offsets.push(sum.offset);
                (origin.offsets.len() <= STEPS).then_some(origin)
            }
            ((Term::Register(register), 1), None, _) => {
                Some(Origin { register: *register, index: None, offsets: vec![sum.offset], next: None })
            }
            ((Term::Register(a), 1), Some((Term::Register(b), scale)), 2) if *b != IP => {
                Some(Origin { register: *a, index: Some((*b, scale)), offsets: vec![sum.offset], next: None })
            }
            ((Term::Register(b), scale), Some((Term::Register(a), 1)), 2) if *b != IP => {
                Some(Origin { register: *a, index: Some((*b, scale)), offsets: vec![sum.offset], next: None })
            }
            _ => None,
        }
    }
}

/// The pointers that move through a loop whose code is `body`, its header first, as `entered` are when it is entered, and by how many bytes
/// each moves in a round, 0 where that differs. Empty if there is none, if one of them cannot be computed, or if there are too many.
pub(super) fn of_loop(body: &[&Instruction], entered: &Registers) -> Vec<(Origin, i64)> {
    let calls = body.iter().any(|instruction| calls(instruction));
    // One round, in terms of how it begins.
    let mut round = Registers::at(0, entered.frame);
    let mut looked_at: Vec<Sum> = Vec::new();
    for instruction in body {
        let memory =
            (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
        if memory && !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
            looked_at.extend(round.address(instruction));
        }
        round.step(instruction);
        // Of an array of records each is passed to a function that compares.
        if calls
            && instruction.op0_kind() == OpKind::Register
            && ARGUMENTS[..ORIGINS].contains(&instruction.op0_register())
        {
            let pointer = |value: &Sum| value.terms.iter().any(|(_, times)| *times == 1);
            looked_at.extend(round.get(instruction.op0_register()).filter(pointer));
        }
    }
    round.restore_spilled();
    let moves = |term: &Term| match term {
        Term::Register(IP) => false,
        Term::Register(register) => round.values[*register as usize] != Some(Sum::register(*register)),
        Term::Read(address) => {
            address.slot(entered.frame).is_some_and(|slot| round.slots.contains_key(&slot))
        }
    };
    // What is read elsewhere than on the stack belongs to an item, but for what is read at the same place in each round: where the items are.
    let of_an_item = |term: &Term| match term {
        Term::Read(address) if address.slot(entered.frame).is_none() => {
            address.terms.iter().any(|(inner, _)| matches!(inner, Term::Read(_)) || moves(inner))
        }
        _ => false,
    };
    let mut origins: Vec<(Origin, i64)> = Vec::new();
    for address in looked_at {
        let terms = || address.terms.iter().map(|(term, _)| term);
        if address.slot(entered.frame).is_some() || terms().any(of_an_item) || !terms().any(moves) {
            continue;
        }
        let Some(first) = entered.substitute(&Sum { offset: 0, ..address.clone() }) else {
            return Vec::new();
        };
        if first.terms.is_empty() {
            continue; // a count that starts at a number is no pointer
        }
        let Some(origin) = Origin::of(&first) else { return Vec::new() };
        let next = next(&address, &round);
        // Several pointers may begin there, of which one goes on from item to item.
        match origins.iter_mut().find(|(known, _)| Origin { next: None, ..known.clone() } == origin) {
            Some((known, _)) => known.next = known.next.or(next),
            None => origins.push((Origin { next, ..origin }, round.stride(&address).unwrap_or(0))),
        }
    }
    if origins.len() > ORIGINS { Vec::new() } else { origins }
}

/// Where from an item that a loop reads at `address` the pointer to the next one is, if a round steps on by nothing but reading it.
fn next(address: &Sum, round: &Registers) -> Option<i64> {
    let [(Term::Register(register), 1)] = address.terms[..] else { return None };
    let after = round.values.get(usize::from(register))?.as_ref()?;
    let [(Term::Read(from), 1)] = &after.terms[..] else { return None };
    (after.offset == 0 && from.terms == Sum::register(register).terms).then_some(from.offset)
}

/// Where a function's arguments are, in the System V ABI, and in Go's. Of a function that works itself the first three are looked at.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];
const GO_ARGUMENTS: [Register; 6] =
    [Register::RAX, Register::RBX, Register::RCX, Register::RDI, Register::RSI, Register::R8];

/// Where a function's arguments are.
pub(super) fn argument_registers(go: bool) -> &'static [Register] {
    if go { &GO_ARGUMENTS } else { &ARGUMENTS }
}

/// What a function's arguments are found in where `code` ends: what comes between its entry and the probe.
struct Arguments {
    registers: Registers,
    go: bool,
}

impl Arguments {
    fn after<'a>(code: impl Iterator<Item = &'a Instruction>, go: bool) -> Arguments {
        let mut registers = Registers::at(0, false);
        code.for_each(|instruction| registers.step(instruction));
        Arguments { registers, go }
    }

    /// Of the argument with this number, from 0.
    fn get(&self, at: usize) -> Option<Origin> {
        let register = *argument_registers(self.go).get(at)?;
        let register = self.registers.holder(register)?;
        Some(Origin { register, index: None, offsets: vec![0], next: None })
    }
}

/// The first three of the arguments with these numbers, from 1. Only as many as can be found without a gap.
pub(super) fn of_arguments<'a>(
    code: impl Iterator<Item = &'a Instruction>,
    go: bool,
    numbers: &[u8],
) -> Vec<Origin> {
    let arguments = Arguments::after(code, go);
    let found = numbers.iter().map_while(|number| arguments.get(usize::from(*number).checked_sub(1)?));
    found.take(ORIGINS).collect()
}

/// The arguments with these numbers, from 1; none unless all of them can be found.
pub(super) fn of_numbered<'a>(
    code: impl Iterator<Item = &'a Instruction>,
    go: bool,
    numbers: &[u8],
) -> Option<Vec<Origin>> {
    let arguments = Arguments::after(code, go);
    numbers.iter().map(|number| arguments.get(usize::from(*number).checked_sub(1)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn code(bytes: &[u8]) -> Vec<Instruction> {
        Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE).into_iter().collect()
    }

    fn origins(before: &[u8], body: &[u8]) -> Vec<Origin> {
        with(false, before, body)
    }

    fn with(frame: bool, before: &[u8], body: &[u8]) -> Vec<Origin> {
        moving(frame, before, body).into_iter().map(|(origin, _)| origin).collect()
    }

    fn moving(frame: bool, before: &[u8], body: &[u8]) -> Vec<(Origin, i64)> {
        let mut registers = Registers::at(0, frame);
        code(before).iter().for_each(|instruction| registers.step(instruction));
        of_loop(&code(body).iter().collect::<Vec<_>>(), &registers)
    }

    fn origin(register: Register, offsets: &[i64]) -> Origin {
        Origin { register: register.number() as u8, index: None, offsets: offsets.to_vec(), next: None }
    }

    /// mov rax, [rax+8]; test rax, rax; jne
    const LIST: [u8; 9] = [0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf7];

    #[test]
    fn a_list_begins_where_its_head_leads_to() {
        // mov rax, [rdi+16]
        let next = Some(8);
        let list = Origin { next, ..origin(Register::RDI, &[16, 0]) };
        assert_eq!(origins(&[0x48, 0x8b, 0x47, 0x10], &LIST), [list]);
        // cmp [rdx], ecx; mov rdx, rax; mov rax, [rax+8], where both begin alike: mov rdx, rax
        let behind = [0x39, 0x0a, 0x48, 0x89, 0xc2, 0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf3];
        assert_eq!(origins(&[0x48, 0x89, 0xc2], &behind), [Origin { next, ..origin(Register::RAX, &[0]) }]);
        // mov rax, [rip+0x100], 7 bytes long
        let global = origins(&[0x48, 0x8b, 0x05, 0x00, 0x01, 0, 0], &LIST);
        assert_eq!(global, [Origin { register: IP, index: None, offsets: vec![0x107, 0], next }]);
    }

    #[test]
    fn an_array_with_an_index_begins_at_its_base_and_where_the_index_begins() {
        // cmp [rdi+rcx*4], esi; je; inc rcx; cmp rcx, rdx; jne
        let body = [0x39, 0x34, 0x8f, 0x74, 0x10, 0x48, 0xff, 0xc1, 0x48, 0x39, 0xd1, 0x75, 0xf3];
        // xor ecx, ecx
        assert_eq!(origins(&[0x31, 0xc9], &body), [origin(Register::RDI, &[0])]);
        // lea rcx, [rax+1]: the rest of the array
        let rest = origins(&[0x48, 0x8d, 0x48, 0x01], &body);
        assert_eq!(rest, [Origin { index: Some((0, 4)), ..origin(Register::RDI, &[4]) }]);
    }

    #[test]
    fn where_the_items_are_may_be_read_in_each_round() {
        // mov rcx, r15; shl rcx, 5; add rcx, [rbx+64]; cmp [rcx+24], rbp; jne; add r15, 1
        let body = [
            0x4c, 0x89, 0xf9, 0x48, 0xc1, 0xe1, 0x05, 0x48, 0x03, 0x4b, 0x40, 0x48, 0x39, 0x69, 0x18, 0x75,
            0x04, 0x49, 0x83, 0xc7, 0x01,
        ];
        // xor r15d, r15d
        assert_eq!(origins(&[0x45, 0x31, 0xff], &body), [origin(Register::RBX, &[64, 0])]);
        // The same with rbx, one further on each time: an item of a list of lists.
        let moving = [&body[..], &[0x48, 0x83, 0xc3, 0x08]].concat();
        assert_eq!(origins(&[0x45, 0x31, 0xff], &moving), [origin(Register::RBX, &[0])]);
    }

    #[test]
    fn an_item_that_is_passed_to_a_function_and_a_key_that_is_not_walked() {
        // mov rsi, r12; mov rdi, rbp; add rbp, 32; call; test eax, eax; jne
        let body = [
            0x4c, 0x89, 0xe6, 0x48, 0x89, 0xef, 0x48, 0x83, 0xc5, 0x20, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75,
            0xed,
        ];
        assert_eq!(origins(&[], &body), [origin(Register::RBP, &[0])]);
    }

    #[test]
    fn what_is_taken_back_from_the_stack_after_a_call_does_not_move() {
        let body = |key: [u8; 5]| {
            let mut body = vec![0x48, 0x8b, 0x04, 0xcf]; // mov rax, [rdi+rcx*8]
            body.extend([0x48, 0x3b, 0x46, 0x10]); // cmp rax, [rsi+16]
            body.extend([0x48, 0x89, 0x4c, 0x24, 0x08]); // mov [rsp+8], rcx
            body.extend(key);
            body.extend([0xe8, 0, 0, 0, 0]); // call
            body.extend([0x48, 0x8b, 0x7c, 0x24, 0x18]); // mov rdi, [rsp+24]
            body.extend([0x48, 0x8b, 0x74, 0x24, 0x20]); // mov rsi, [rsp+32]
            body.extend([0x48, 0x8b, 0x4c, 0x24, 0x08]); // mov rcx, [rsp+8]
            body.extend([0x48, 0xff, 0xc1]); // inc rcx
            body
        };
        // xor ecx, ecx
        let before = [0x31, 0xc9];
        let nop = [0x0f, 0x1f, 0x44, 0x00, 0x00];
        assert_eq!(moving(false, &before, &body(nop)), [(origin(Register::RDI, &[0]), 8)]);
        // mov [rsp+32], rax: another one each time.
        let written = moving(false, &before, &body([0x48, 0x89, 0x44, 0x24, 0x20]));
        assert_eq!(written.iter().map(|(one, _)| one.register).collect::<Vec<_>>(), [7, 6]);
    }

    #[test]
    fn strides_are_known_where_a_pointer_moves_by_a_number() {
        // cmp [rax], edx; je; add rax, 4; cmp rax, rcx; jne
        let array = [0x39, 0x10, 0x74, 0x10, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf3];
        assert_eq!(moving(false, &[], &array), [(origin(Register::RAX, &[0]), 4)]);
        let list = Origin { next: Some(8), ..origin(Register::RAX, &[0]) };
        assert_eq!(moving(false, &[], &LIST), [(list, 0)]);
        // mov esi, eax; and esi, 31; sub rax, rsi: rounded down
        let aligned = [0x89, 0xc6, 0x83, 0xe6, 0x1f, 0x48, 0x29, 0xf0];
        assert_eq!(moving(false, &aligned, &array), [(origin(Register::RAX, &[0]), 4)]);
    }

    #[test]
    fn what_a_call_returned_is_not_known() {
        // call; then the list in rax
        assert_eq!(origins(&[0xe8, 0, 0, 0, 0], &LIST), []);
    }

    #[test]
    fn what_an_item_leads_to_is_no_origin_of_its_own() {
        // mov rdx, [rax]; cmp [rdx], esi; je; add rax, 8; cmp rax, rcx; jne
        let body =
            [0x48, 0x8b, 0x10, 0x39, 0x32, 0x74, 0x10, 0x48, 0x83, 0xc0, 0x08, 0x48, 0x39, 0xc8, 0x75, 0xf0];
        assert_eq!(origins(&[], &body), [origin(Register::RAX, &[0])]);
    }

    #[test]
    fn pointers_are_followed_through_the_stack() {
        // mov rax, [rbp-8]; mov rax, [rax+8]; mov [rbp-8], rax; cmp qword [rbp-8], 0; jne
        let body = [
            0x48, 0x8b, 0x45, 0xf8, 0x48, 0x8b, 0x40, 0x08, 0x48, 0x89, 0x45, 0xf8, 0x48, 0x83, 0x7d, 0xf8,
            0x00, 0x75, 0xed,
        ];
        assert_eq!(with(true, &[], &body), [origin(Register::RBP, &[-8, 0])]);
        // mov [rbp-8], rdi
        assert_eq!(with(true, &[0x48, 0x89, 0x7d, 0xf8], &body), [origin(Register::RDI, &[0])]);
    }

    #[test]
    fn an_index_kept_on_the_stack_begins_at_its_number() {
        // mov rcx, [rsp+8]; mov rdx, [rsp+16]; shl rcx, 5; cmp [rdx+rcx], esi; inc qword [rsp+8]; jne
        let body = [
            0x48, 0x8b, 0x4c, 0x24, 0x08, 0x48, 0x8b, 0x54, 0x24, 0x10, 0x48, 0xc1, 0xe1, 0x05, 0x39, 0x34,
            0x0a, 0x48, 0xff, 0x44, 0x24, 0x08, 0x75, 0xe8,
        ];
        // mov qword [rsp+8], 0
        let zero = [0x48, 0xc7, 0x44, 0x24, 0x08, 0, 0, 0, 0];
        assert_eq!(origins(&zero, &body), [origin(Register::RSP, &[16, 0])]);
        assert_eq!(origins(&[], &body), [], "where the index begins cannot be computed");
    }

    #[test]
    fn arguments_are_found_where_they_were_moved_to() {
        // push rbx; mov rbx, rdi; xor edi, edi
        let moved = code(&[0x53, 0x48, 0x89, 0xfb, 0x31, 0xff]);
        let found = of_arguments(moved.iter(), false, &[1, 3]);
        assert_eq!(found, [origin(Register::RBX, &[0]), origin(Register::RDX, &[0])]);
        // At most three; xor edi, edi: the first is gone
        assert_eq!(of_arguments(moved.iter(), false, &[1, 2, 3, 4]).len(), 3);
        assert!(of_arguments(code(&[0x31, 0xff]).iter(), false, &[1, 2]).is_empty());
    }
}
