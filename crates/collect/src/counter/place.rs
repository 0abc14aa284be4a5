//! Where in a function a probe counts each entry once, at little cost and without harm.
//!
//! The kernel emulates a few instructions: push, nop, call, jumps. Any other the program single-steps outside of its place,
//! in a page of its own. That costs about twelve times as much, and is no place for every instruction: the child of a fork
//! whose `syscall` was stepped there starts in a page that it does not have, and dies. So: the first instruction in the
//! entry block that is emulated, if no jump of the function leads to it. Where there is none, the first that only moves, calculates or compares is
//! stepped, which is harmless in any place: small functions that begin with a loop have no other, nor have those of Go that copy, clear and compare
//! memory.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};
use std::collections::HashSet;

/// The place of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Bytes from the function's start.
    pub offset: u64,
    /// Bytes that the stack pointer is below its value at entry.
    pub sp_adjust: u32,
    /// The instruction is executed in a page of its own.
    pub stepped: bool,
}

impl Placement {
    /// At an instruction that the kernel emulates.
    pub(crate) fn emulated(offset: u64, sp_adjust: u32) -> Placement {
        Placement { offset, sp_adjust, stepped: false }
    }

    /// What a hit takes, where one at an emulated instruction takes `hit_ns`.
    pub(super) fn cost(&self, hit_ns: u64) -> u64 {
        cost(self.stepped, hit_ns)
    }
}

/// What a hit takes at an instruction that is stepped or not, where one at an emulated instruction takes `hit_ns`.
pub(super) fn cost(stepped: bool, hit_ns: u64) -> u64 {
    if stepped { hit_ns + (STEPPED - 1) * HIT_COST_NS } else { hit_ns }
}

/// A hit takes about so many times as long if its instruction is not emulated (see the file's head), since there are two exceptions more:
/// 10.9 µs, and 0.91 beside it.
const STEPPED: u64 = 12;

/// CPU time of the target that one hit takes, ns: in windows of 1,000 hits of a function that does nothing 0.82 to 0.9 µs each on x86-64.
pub(crate) const HIT_COST_NS: u64 = 850;

/// Chooses the place in a function whose bytes are `code`, loaded at `address`. `None` if there is none.
///
/// A function of Go restarts after its stack was grown: there a jump to the very start is none of a loop.
pub(crate) fn entry(code: &[u8], address: u64, go: bool) -> Option<Placement> {
    in_entry_block(code, address, go, Wanted::ToReturn)
}

/// The same for a function that may call itself.
pub(super) fn each_entry(code: &[u8], address: u64, go: bool) -> Option<Placement> {
    in_entry_block(code, address, go, Wanted::Each)
}

/// The same where it does not matter what the stack pointer was at the entry.
pub(super) fn somewhere_at_entry(code: &[u8], address: u64, go: bool) -> Option<Placement> {
    in_entry_block(code, address, go, Wanted::Somewhere)
}

#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// The stack pointer at the entry must be known; the function does not call itself.
    ToReturn,
    /// It may.
    Each,
    /// Nor must the stack pointer be known.
    Somewhere,
}

fn in_entry_block(code: &[u8], address: u64, go: bool, wanted: Wanted) -> Option<Placement> {
    let to_return = wanted != Wanted::Somewhere;
    let targets: HashSet<u64> = Decoder::with_ip(64, code, address, DecoderOptions::NONE)
        .into_iter()
        .filter(|instruction| instruction.near_branch_target() != 0)
        .filter(|instruction| wanted == Wanted::ToReturn || !instruction.is_call_near())
        .map(|instruction| instruction.near_branch_target())
        .collect();
    let mut sp_adjust = 0u32;
    let mut stepped = None;
    for instruction in &mut Decoder::with_ip(64, code, address, DecoderOptions::NONE) {
        // The entry block ends where a jump leads to; one that leads to its very start would be counted as an entry.
        let restart = go && instruction.ip() == address;
        if instruction.is_invalid() || targets.contains(&instruction.ip()) && !restart {
            return stepped;
        }
        let flow = instruction.flow_control();
        // The way back from a signal handler is known to unwinders by its bytes, which a probe changes.
        if instruction.mnemonic() == Mnemonic::Syscall {
            return None;
        }
        if is_emulated(&instruction) {
            return Some(Placement::emulated(instruction.ip() - address, sp_adjust));
        }
        if stepped.is_none() && !targets.contains(&instruction.ip()) && is_harmless(&instruction) {
            stepped = Some(Placement { offset: instruction.ip() - address, sp_adjust, stepped: true });
        }
        if let Some(room) = room_made(&instruction) {
            sp_adjust = sp_adjust.wrapping_add(room);
            continue;
        }
        // Behind this, where the stack pointer was at entry is not known.
        let unknown = writes_sp(&instruction) && instruction.stack_pointer_increment() == 0;
        if flow != FlowControl::Next || unknown && to_return {
            return stepped;
        }
        sp_adjust = sp_adjust.wrapping_add((-instruction.stack_pointer_increment()) as u32);
    }
    stepped
}

/// The first instruction, where a probe may be at any, if no jump of the function leads to it. `None` if there is none.
pub(crate) fn first(code: &[u8], address: u64, go: bool) -> Option<Placement> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    if !decoder.can_decode() || decoder.decode().is_invalid() {
        return None;
    }
    let again = decoder.into_iter().any(|instruction| instruction.near_branch_target() == address);
    (go || !again).then_some(Placement::emulated(0, 0))
}

/// Whether the kernel emulates an instruction: a push of a register, a call, a jump, or nothing at all. It refuses probes at instructions with a
/// segment's prefix (`is_prefix_bad` in `arch/x86/kernel/uprobes.c`), as the padding before many a loop has it: `cs nopw 0x0(%rax,%rax,1)`.
pub(super) fn is_emulated(instruction: &Instruction) -> bool {
    let push = instruction.mnemonic() == Mnemonic::Push && instruction.op0_kind() == OpKind::Register;
    let jump = instruction.is_call_near()
        || instruction.is_jmp_short_or_near()
        || instruction.is_jcc_short_or_near();
    let nothing = instruction.mnemonic() == Mnemonic::Nop && instruction.segment_prefix() == Register::None;
    push || jump || nothing
}

/// Whether an instruction may be stepped in a page of its own: it moves, calculates or compares, does not change the stack pointer, and means the
/// same anywhere. The kernel refuses those with a lock or a segment's prefix.
pub(super) fn is_harmless(instruction: &Instruction) -> bool {
    const PLAIN: [Mnemonic; 20] = [
        Mnemonic::Mov,
        Mnemonic::Movzx,
        Mnemonic::Movsx,
        Mnemonic::Movsxd,
        Mnemonic::Lea,
        Mnemonic::Xor,
        Mnemonic::And,
        Mnemonic::Or,
        Mnemonic::Add,
        Mnemonic::Sub,
        Mnemonic::Cmp,
        Mnemonic::Test,
        Mnemonic::Shl,
        Mnemonic::Shr,
        Mnemonic::Sar,
        Mnemonic::Inc,
        Mnemonic::Dec,
        Mnemonic::Neg,
        Mnemonic::Not,
        Mnemonic::Imul,
    ];
    let general = |operand: u32| {
        instruction.op_kind(operand) != OpKind::Register || {
            let register = instruction.op_register(operand);
            register.is_gpr() && (operand > 0 || register.full_register() != Register::RSP)
        }
    };
    PLAIN.contains(&instruction.mnemonic())
        && (0..instruction.op_count()).all(general)
        && !instruction.is_ip_rel_memory_operand()
        && !instruction.has_lock_prefix()
        && instruction.segment_prefix() == Register::None
}

/// Bytes of stack that an instruction makes room for by a number: `sub rsp, 24`, or `add rsp, -128`, which is shorter.
fn room_made(instruction: &Instruction) -> Option<u32> {
    let by_a_number = instruction.op0_register() == Register::RSP
        && matches!(instruction.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64);
    match instruction.mnemonic() {
        Mnemonic::Sub if by_a_number => Some(instruction.immediate(1) as u32),
        Mnemonic::Add if by_a_number => Some((instruction.immediate(1) as u32).wrapping_neg()),
        _ => None,
    }
}

fn writes_sp(instruction: &Instruction) -> bool {
    // `and rsp, imm` and its like: not a push or pop, but the stack pointer is the destination.
    instruction.op_count() > 0
        && instruction.op0_register() == Register::RSP
        && instruction.mnemonic() != Mnemonic::Cmp
        && instruction.mnemonic() != Mnemonic::Test
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_with_a_segments_prefix_cannot_be_probed() {
        let of = |code: &[u8]| is_emulated(&Decoder::with_ip(64, code, 0, DecoderOptions::NONE).decode());
        assert!(of(&[0x66, 0x0f, 0x1f, 0x44, 0, 0]), "nopw 0x0(%rax,%rax,1)");
        assert!(!of(&[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0]), "cs nopw 0x0(%rax,%rax,1)");
    }

    #[test]
    fn a_push_behind_endbr64_is_taken_and_the_stack_is_as_at_entry() {
        // endbr64; push rbp; mov rbp, rsp; ret
        let code = [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xc3];
        assert_eq!(entry(&code, 0x1000, false), Some(Placement::emulated(4, 0)));
    }

    #[test]
    fn behind_a_rounded_stack_pointer_only_what_does_not_return_is_probed() {
        // and rsp, -16; and ecx, 15; push r9; ret
        let code = [0x48, 0x83, 0xe4, 0xf0, 0x83, 0xe1, 0x0f, 0x41, 0x51, 0xc3];
        assert_eq!(
            (entry(&code, 0x1000, false), somewhere_at_entry(&code, 0x1000, false).map(|at| at.offset)),
            (None, Some(7))
        );
    }

    #[test]
    fn a_jump_at_the_end_of_the_entry_block_will_do() {
        // mov eax, edi; test eax, eax; je +0; ret
        let code = [0x89, 0xf8, 0x85, 0xc0, 0x74, 0x00, 0xc3];
        assert_eq!(entry(&code, 0x1000, false), Some(Placement::emulated(4, 0)));
    }

    #[test]
    fn a_function_of_go_may_be_restarted_from_its_end() {
        // L: cmp rsp, [r14+16]; jbe +1; ret; jmp L
        let code = [0x49, 0x3b, 0x66, 0x10, 0x76, 0x01, 0xc3, 0xeb, 0xf7];
        assert_eq!(entry(&code, 0x1000, true), Some(Placement::emulated(4, 0)));
        assert_eq!(entry(&code, 0x1000, false), None);
    }

    #[test]
    fn gos_functions_that_copy_are_probed_at_their_first_move() {
        // mov rdi, rax; L: test rbx, rbx; je +2; jmp L; ret
        let code = [0x48, 0x89, 0xc7, 0x48, 0x85, 0xdb, 0x74, 0x02, 0xeb, 0xf9, 0xc3];
        let stepped = Placement { offset: 0, sp_adjust: 0, stepped: true };
        assert_eq!(entry(&code, 0x1000, true), Some(stepped));
        assert_eq!(somewhere_at_entry(&code, 0x1000, true), Some(stepped));
        assert_eq!((stepped.cost(700), Placement::emulated(0, 0).cost(700)), (10_050, 700));
        // A hit that tells only when it was takes less; what stepping takes stays the same.
        assert_eq!((stepped.cost(300), Placement::emulated(0, 0).cost(300)), (9_650, 300));
        // mov rsp, rax; a loop leads to the move.
        assert_eq!(entry(&[&[0x48, 0x89, 0xc4], &code[3..]].concat(), 0x1000, true), None);
        assert_eq!(entry(&[0x48, 0x89, 0xc7, 0xeb, 0xfb], 0x1000, true).map(|at| at.stepped), Some(false));
    }

    #[test]
    fn the_first_harmless_instruction_before_a_loop_is_stepped() {
        let of = |first: &[u8]| {
            // first; L: cmp [rdi], rsi; je L; ret
            let code = [first, &[0x48, 0x39, 0x37, 0x74, 0xfb, 0xc3]].concat();
            entry(&code, 0x1000, false)
        };
        let stepped = |offset, sp_adjust| Some(Placement { offset, sp_adjust, stepped: true });
        assert_eq!(of(&[0x31, 0xc9]), stepped(0, 0), "xor ecx, ecx");
        assert_eq!(of(&[0xf3, 0x0f, 0x1e, 0xfa, 0x31, 0xc9]), stepped(4, 0), "endbr64; xor ecx, ecx");
        assert_eq!(
            of(&[0x48, 0x83, 0xec, 0x08, 0x48, 0x8b, 0x38]),
            stepped(4, 8),
            "sub rsp, 8; mov rdi, [rax]"
        );
        assert_eq!(of(&[0x66, 0x0f, 0xef, 0xc0]), None, "pxor xmm0, xmm0");
        assert_eq!(of(&[0xf0, 0x48, 0xff, 0x07]), None, "lock inc qword [rdi]");
        assert_eq!(of(&[0x48, 0x8b, 0x05, 0, 0, 0, 0]), None, "mov rax, [rip]");
        assert_eq!(of(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]), None, "mov rax, fs:[0x28]");
        assert_eq!(of(&[0x8e, 0xd8]), None, "mov ds, eax");
        assert_eq!(of(&[]), None, "the loop begins where the function does");
    }

    #[test]
    fn any_first_instruction_will_do_for_a_breakpoint_unless_a_loop_jumps_to_it() {
        let first_of = |code: &[u8], go| first(code, 0x1000, go).map(|placement| placement.offset);
        assert_eq!(first_of(&[0x48, 0x83, 0xec, 0x08, 0xc3], false), Some(0)); // sub rsp, 8; ret
        assert_eq!(first_of(&[0x89, 0xf8, 0xeb, 0xfc], false), None); // L: mov eax, edi; jmp L
        assert_eq!(first_of(&[0x89, 0xf8, 0xeb, 0xfc], true), Some(0));
        assert_eq!(first_of(&[0x06], false), None);
        assert_eq!(first_of(&[], false), None);
    }

    #[test]
    fn a_system_call_is_never_taken() {
        // mov eax, 57; syscall; ret
        assert_eq!(entry(&[0xb8, 0x39, 0, 0, 0, 0x0f, 0x05, 0xc3], 0x1000, false), None);
    }

    #[test]
    fn room_on_the_stack_that_is_made_by_a_number_is_known() {
        let of = |room: &[u8]| entry(&[room, &[0x90, 0xc3]].concat(), 0x1000, false);
        assert_eq!(of(&[0x48, 0x83, 0xec, 0x08]), Some(Placement::emulated(4, 8)), "sub rsp, 8");
        assert_eq!(of(&[0x48, 0x83, 0xc4, 0x80]), Some(Placement::emulated(4, 128)), "add rsp, -128");
        assert_eq!(of(&[0x48, 0x81, 0xec, 0, 1, 0, 0]), Some(Placement::emulated(7, 256)), "sub rsp, 256");
        assert_eq!(of(&[0x48, 0x29, 0xc4]), None, "sub rsp, rax");
        // push rbx; sub rsp, 16; nop: the push comes first.
        assert_eq!(of(&[0x53, 0x48, 0x83, 0xec, 0x10]), Some(Placement::emulated(0, 0)));
    }

    #[test]
    fn an_instruction_that_a_loop_jumps_to_is_no_place() {
        // mov eax, edi; L: push rax; jmp L
        let stepped = Placement { offset: 0, sp_adjust: 0, stepped: true };
        assert_eq!(entry(&[0x89, 0xf8, 0x50, 0xeb, 0xfd], 0x1000, false), Some(stepped));
        // L: push rax; jmp L
        assert_eq!(entry(&[0x50, 0xeb, 0xfd], 0x1000, false), None);
    }

    #[test]
    fn a_function_that_only_returns_or_that_cannot_be_decoded_has_no_place() {
        assert_eq!(entry(&[0xc3], 0x1000, false), None);
        assert_eq!(entry(&[0x06], 0x1000, false), None);
        assert_eq!(entry(&[], 0x1000, false), None);
    }
}
