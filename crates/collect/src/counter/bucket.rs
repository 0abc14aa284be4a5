//! Does a loop look up a key among those of a hash table's bucket? Where items of several buckets hang in one list, it divides each item's hash by the
//! number of buckets, and a remainder that differs ends it: the next item is of another bucket.
//!
//! Such a division makes no result. Others do: the place in a ring that is looked at next, or which of all items are meant.

use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, Register};
use std::collections::HashSet;

/// Where a division leaves its quotient and its remainder.
const OF_DIVISION: [Register; 2] = [Register::RAX, Register::RDX];
/// What a function that is called may change (System V ABI).
const CHANGED: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// Whether a loop of this code, in order of its addresses, divides only to see whether it is at its end.
pub(super) fn divides_for_its_end<'a>(code: impl Iterator<Item = &'a Instruction>) -> bool {
    let code: Vec<&Instruction> = code.collect();
    let within: HashSet<u64> = code.iter().map(|instruction| instruction.ip()).collect();
    let ends = |at: usize| {
        let branch = code[at..].iter().find(|instruction| instruction.is_jcc_short_or_near());
        branch.is_some_and(|branch| {
            within.contains(&branch.near_branch_target()) != within.contains(&branch.next_ip())
        })
    };
    let mut divisions = (0..code.len()).filter(|at| code[*at].mnemonic() == Mnemonic::Div).peekable();
    divisions.peek().is_some() && divisions.all(ends) && !leads_anywhere(&code)
}

/// Whether what a division gave is part of an address, in the same round or the next.
fn leads_anywhere(code: &[&Instruction]) -> bool {
    let mut infos = InstructionInfoFactory::new();
    let mut divided: HashSet<Register> = HashSet::new();
    code.iter().chain(code).any(|instruction| {
        let address = [instruction.memory_base(), instruction.memory_index()];
        let leads = address.iter().any(|register| divided.contains(&register.full_register()));
        match (instruction.mnemonic(), instruction.flow_control()) {
            (Mnemonic::Div, _) => divided.extend(OF_DIVISION),
            (_, FlowControl::Call | FlowControl::IndirectCall) => {
                divided.retain(|register| !CHANGED.contains(register));
            }
            _ => {
                let used = infos.info(instruction).used_registers();
                let reads =
                    |access| !matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::None);
                let from = used
                    .iter()
                    .any(|used| reads(used.access()) && divided.contains(&used.register().full_register()));
                for to in
                    used.iter().filter(|used| !matches!(used.access(), OpAccess::Read | OpAccess::CondRead))
                {
                    let to = to.register().full_register();
                    if from {
                        divided.insert(to)
                    } else {
                        divided.remove(&to)
                    };
                }
            }
        }
        leads
    })
}

#[cfg(test)]
mod tests {
    use super::super::loops::loops;
    use super::super::walk::Work;

    fn of(code: &[u8]) -> Work {
        let found = loops(code);
        assert_eq!(found.len(), 1);
        found[0].work
    }

    /// mov rbx, [rbx]; test rbx, rbx; je end; mov rax, [rbx+48]; xor edx, edx; div r14
    const NEXT: [u8; 17] = [
        0x48, 0x8b, 0x1b, 0x48, 0x85, 0xdb, 0x74, 0x11, 0x48, 0x8b, 0x43, 0x30, 0x31, 0xd2, 0x49, 0xf7, 0xf6,
    ];

    #[test]
    fn a_remainder_that_ends_a_walk_is_a_look_up_in_a_bucket() {
        let code = [
            0x48, 0x8b, 0x1b, // L: mov rbx, [rbx]
            0x48, 0x85, 0xdb, 0x74, 0x14, // test rbx, rbx; je end
            0x48, 0x8b, 0x43, 0x30, // mov rax, [rbx+48]
            0x31, 0xd2, 0x49, 0xf7, 0xf6, // xor edx, edx; div r14
            0x4c, 0x39, 0xc2, 0x75, 0x06, // cmp rdx, r8; jne end
            0x48, 0x39, 0x6b, 0x30, 0x75, 0xe4, // cmp [rbx+48], rbp; jne L
            0xc3, // end: ret
        ];
        assert_eq!(of(&code), Work::Buckets);
    }

    #[test]
    fn a_remainder_that_is_added_up_or_stored_is_a_result() {
        // add rsi, rdx; cmp rdx, r8; je L; end: ret
        let added = [0x48, 0x01, 0xd6, 0x4c, 0x39, 0xc2, 0x74, 0xe7, 0xc3];
        assert_eq!(of(&[&NEXT[..], &added].concat()), Work::Calculates);
        // mov [rsi], rdx; cmp rdx, r8; je L; end: ret
        let stored = [0x48, 0x89, 0x16, 0x4c, 0x39, 0xc2, 0x74, 0xe7, 0xc3];
        assert_eq!(of(&[&NEXT[..], &stored].concat()), Work::Calculates);
    }

    #[test]
    fn the_next_place_in_a_ring_is_no_bucket() {
        let code = [
            0x48, 0x8d, 0x41, 0x01, // L: lea rax, [rcx+1]
            0x31, 0xd2, 0x48, 0xf7, 0xf6, // xor edx, edx; div rsi
            0x48, 0x89, 0xd1, // mov rcx, rdx
            0x4c, 0x8b, 0x14, 0xcf, // mov r10, [rdi+rcx*8]
            0x4d, 0x39, 0x0a, 0x75, 0xeb, // cmp [r10], r9; jne L
            0xc3,
        ];
        assert_eq!(of(&code), Work::Calculates);
    }

    #[test]
    fn a_walk_that_goes_on_where_the_remainder_differs_is_no_look_up() {
        let code = [
            0x48, 0x8b, 0x43, 0x30, // L: mov rax, [rbx+48]
            0x31, 0xd2, 0x49, 0xf7, 0xf6, // xor edx, edx; div r14
            0x4c, 0x39, 0xc2, 0x75, 0x08, // cmp rdx, r8; jne N
            0x48, 0x89, 0xdf, 0xe8, 0xea, 0xff, 0xff, 0xff, // mov rdi, rbx; call
            0x48, 0x8b, 0x1b, // N: mov rbx, [rbx]
            0x48, 0x85, 0xdb, 0x75, 0xe2, // test rbx, rbx; jne L
            0xc3,
        ];
        assert_eq!(of(&code), Work::Calculates);
    }
}
