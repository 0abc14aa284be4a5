//! Where in a function a probe counts each entry once, at the least cost.
//!
//! The kernel emulates a few instructions (push, nop, call, jumps) and must single-step the others, which costs about
//! eight times as much. So: the first that it emulates in the entry block, if no jump of the function leads to it.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, Register};
use std::collections::HashSet;

/// The place of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Bytes from the function's start.
    pub offset: u64,
    /// Bytes that the stack pointer is below its value at entry.
    pub sp_adjust: u32,
    /// Whether the kernel emulates the instruction.
    pub emulated: bool,
}

/// CPU time of the target that one hit takes, ns, as measured on x86-64.
pub(crate) fn hit_cost_ns(emulated: bool) -> u64 {
    if emulated { 700 } else { 4_000 }
}

/// Chooses the place in a function whose bytes are `code`, loaded at `address`. `None` if its first instruction cannot
/// be decoded.
pub(crate) fn entry(code: &[u8], address: u64) -> Option<Placement> {
    let targets: HashSet<u64> = Decoder::with_ip(64, code, address, DecoderOptions::NONE)
        .into_iter()
        .filter(|instruction| instruction.near_branch_target() != 0)
        .map(|instruction| instruction.near_branch_target())
        .collect();
    let mut sp_adjust = 0u32;
    let mut first = None;
    for instruction in &mut Decoder::with_ip(64, code, address, DecoderOptions::NONE) {
        if instruction.is_invalid() {
            break;
        }
        let offset = instruction.ip() - address;
        if offset > 0 && targets.contains(&instruction.ip()) {
            break; // the entry block ends where a jump leads to
        }
        let placement = |emulated| Placement { offset, sp_adjust, emulated };
        let push = instruction.mnemonic() == Mnemonic::Push && instruction.op0_register() != Register::None;
        let flow = instruction.flow_control();
        let jump = matches!(
            flow,
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch | FlowControl::Call
        );
        let loops = targets.contains(&address); // a jump back to the very start would count its rounds as well
        if !(offset == 0 && loops) && (push || jump || instruction.mnemonic() == Mnemonic::Nop) {
            return Some(placement(true));
        }
        first = first.or((!loops).then(|| placement(false)));
        if flow != FlowControl::Next {
            break;
        }
        match instruction.stack_pointer_increment() {
            0 if writes_sp(&instruction) => break, // where the entry's stack pointer is, is no longer known
            change => sp_adjust = sp_adjust.wrapping_add((-change) as u32),
        }
    }
    first
}

fn writes_sp(instruction: &iced_x86::Instruction) -> bool {
    // `sub rsp, imm` and its like: not a push or pop, but the stack pointer is the destination.
    instruction.op_count() > 0
        && instruction.op0_register() == Register::RSP
        && instruction.mnemonic() != Mnemonic::Cmp
        && instruction.mnemonic() != Mnemonic::Test
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_behind_endbr64_is_emulated_and_the_stack_is_as_at_entry() {
        // endbr64; push rbp; mov rbp, rsp; ret
        let code = [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xc3];
        assert_eq!(entry(&code, 0x1000), Some(Placement { offset: 4, sp_adjust: 0, emulated: true }));
    }

    #[test]
    fn behind_a_moved_stack_pointer_the_entry_is_not_known_so_the_first_instruction_is_stepped() {
        // sub rsp, 8; nop; ret
        let code = [0x48, 0x83, 0xec, 0x08, 0x90, 0xc3];
        assert_eq!(entry(&code, 0x1000), Some(Placement { offset: 0, sp_adjust: 0, emulated: false }));
    }

    #[test]
    fn an_instruction_that_a_loop_jumps_to_is_not_probed() {
        // mov eax, edi; L: push rax; jmp L
        let code = [0x89, 0xf8, 0x50, 0xeb, 0xfd];
        assert_eq!(entry(&code, 0x1000), Some(Placement { offset: 0, sp_adjust: 0, emulated: false }));
        // L: push rax; jmp L — every place in the entry block is in the loop
        assert_eq!(entry(&[0x50, 0xeb, 0xfd], 0x1000).map(|placement| placement.offset), Some(1));
    }

    #[test]
    fn code_that_cannot_be_decoded_gets_no_probe() {
        assert_eq!(entry(&[0x06], 0x1000), None);
        assert_eq!(entry(&[], 0x1000), None);
    }
}
