//! Does a loop go from one place in memory to any other? Where the address of what a round reads was itself read from memory (the next item of
//! a list, a child of a tree, an item that an array points to), each round may miss the caches, and takes longer the more memory there is.
//! What is read in order is fetched ahead of time and takes the same.
//!
//! Seen from the loop's code alone; what it calls is not looked at.

use super::walk::ARGUMENTS;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register};
use std::collections::HashSet;

/// Bytes of the smallest number that can lead anywhere: one byte is an index into a table of 256 items, which stays in a cache.
const SMALLEST: usize = 2;
/// What a function returns.
const RETURNED: Register = Register::RAX;

/// Whether a loop of this code reads at addresses that it read from memory. `frame`: RBP is a frame pointer.
pub(super) fn chases<'a>(code: impl Iterator<Item = &'a Instruction>, frame: bool) -> bool {
    let steps: Vec<Step> = steps(code, frame);
    let varying = varying(&steps);
    let mut read = HashSet::new();
    loop {
        let before = read.len();
        steps.iter().for_each(|step| step.learn(&varying, &mut read));
        if before == read.len() {
            break;
        }
    }
    steps.iter().any(|step| step.follows(&read))
}

/// Whether a loop of this code goes from one item to the next by what is in the item: along a chain, and not over an array of pointers.
pub(super) fn goes_along_links<'a>(code: impl Iterator<Item = &'a Instruction>, frame: bool) -> bool {
    let steps = steps(code, frame);
    let replaces = || steps.iter().filter(|step| !step.adds);
    // From registers to those that are set from them, or from where they lead.
    let loads: Vec<(Register, Register)> = pairs(replaces().filter(|step| step.reads), |step| &step.address);
    let moves: Vec<(Register, Register)> = pairs(replaces(), |step| &step.from);
    let leads = |from: Register, to: Register| {
        let mut reached = HashSet::from([from]);
        loop {
            let all = loads.iter().chain(&moves);
            let next: Vec<Register> =
                all.filter(|(from, _)| reached.contains(from)).map(|(_, to)| *to).collect();
            let before = reached.len();
            reached.extend(next);
            if reached.len() == before {
                return reached.contains(&to);
            }
        }
    };
    loads.iter().any(|(address, read)| leads(*read, *address))
}

/// Each of these registers of the steps with each that they set.
fn pairs<'a>(
    steps: impl Iterator<Item = &'a Step>,
    of: impl Fn(&'a Step) -> &'a Vec<Register>,
) -> Vec<(Register, Register)> {
    steps.flat_map(|step| of(step).iter().flat_map(|from| step.to.iter().map(|to| (*from, *to)))).collect()
}

/// Registers that may differ from round to round: all that are written, but for those that are set to the same again.
fn varying(steps: &[Step]) -> HashSet<Register> {
    let mut varying: HashSet<Register> = steps.iter().flat_map(|step| step.to.iter().copied()).collect();
    if steps.iter().any(|step| step.calls) {
        varying.insert(RETURNED);
    }
    loop {
        let differs =
            |step: &Step| step.adds || step.address.iter().chain(&step.from).any(|one| varying.contains(one));
        let still: HashSet<Register> = varying
            .iter()
            .copied()
            .filter(|one| {
                let mut writes = steps.iter().filter(|step| step.to.contains(one));
                writes.any(differs) || *one == RETURNED && steps.iter().any(|step| step.calls)
            })
            .collect();
        if still.len() == varying.len() {
            return still;
        }
        varying = still;
    }
}

/// What an instruction does that matters here. Registers are whole ones.
struct Step {
    to: Vec<Register>,
    from: Vec<Register>,
    /// Registers of the address at which it reads or writes; not on the stack.
    address: Vec<Register>,
    /// It reads memory there, at least `SMALLEST` bytes.
    reads: bool,
    /// It changes what was in `to` instead of replacing it.
    adds: bool,
    calls: bool,
    /// It reads at many addresses at once, which are in a vector.
    gathers: bool,
}

impl Step {
    /// Adds the registers whose value was read where it differs from round to round.
    fn learn(&self, varying: &HashSet<Register>, read: &mut HashSet<Register>) {
        if self.calls {
            // What a function returns may be any item: an iterator's next, say.
            read.insert(RETURNED);
            return;
        }
        let elsewhere = self.reads && self.address.iter().any(|one| varying.contains(one));
        if elsewhere || self.from.iter().any(|one| read.contains(one)) {
            read.extend(&self.to);
        }
    }

    /// Whether it goes where something that was read leads, or has a function go there.
    fn follows(&self, read: &HashSet<Register>) -> bool {
        let passed = self.calls && ARGUMENTS.iter().any(|one| read.contains(one));
        self.gathers || passed || self.address.iter().any(|one| read.contains(one))
    }
}

fn steps<'a>(code: impl Iterator<Item = &'a Instruction>, frame: bool) -> Vec<Step> {
    let mut infos = InstructionInfoFactory::new();
    code.map(|instruction| {
        let info = infos.info(instruction);
        let (mut to, mut from, mut adds) = (Vec::new(), Vec::new(), false);
        for used in info.used_registers() {
            let register = used.register().full_register();
            let address = [instruction.memory_base(), instruction.memory_index()];
            let leads = address.iter().any(|one| one.full_register() == register);
            match used.access() {
                OpAccess::Read | OpAccess::CondRead if !leads || computes(instruction) => from.push(register),
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
                    from.push(register);
                    to.push(register);
                    adds = true;
                }
                OpAccess::Write | OpAccess::CondWrite => to.push(register),
                _ => {}
            }
        }
        let memory = info.used_memory().iter().find(|memory| {
            let on_the_stack = memory.base() == Register::RSP || frame && memory.base() == Register::RBP;
            !on_the_stack || memory.index() != Register::None
        });
        let address = memory.map_or(Vec::new(), |memory| {
            let registers = [memory.base(), memory.index()].into_iter();
            registers.filter(|one| *one != Register::None).map(Register::full_register).collect()
        });
        // Where a vector's register has addresses the instruction gathers.
        let whole = |register: &Register| register.is_gpr64();
        to.retain(|one| whole(one) && *one != Register::RSP);
        from.retain(whole);
        let reads = memory.is_some_and(|memory| {
            let reading = matches!(
                memory.access(),
                OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            );
            reading && memory.memory_size().size() >= SMALLEST
        });
        // Zero in one instruction.
        if sets_to_zero(instruction) {
            (from, adds) = (Vec::new(), false);
        }
        let calls = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        Step { to, from, address, reads, adds, calls, gathers: instruction.is_vsib() }
    })
    .collect()
}

/// Whether the registers of its operand in memory are only calculated with.
fn computes(instruction: &Instruction) -> bool {
    instruction.mnemonic() == iced_x86::Mnemonic::Lea
}

fn sets_to_zero(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic as M;
    matches!(instruction.mnemonic(), M::Xor | M::Sub)
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn of(code: &[u8]) -> bool {
        let code: Vec<Instruction> =
            Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
        chases(code.iter(), false)
    }

    #[test]
    fn the_next_item_of_a_list_and_the_child_of_a_tree_are_anywhere() {
        // mov rax, [rax+8]; test rax, rax; jne
        assert!(of(&[0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf7]));
        // cmp [rbx], esi; mov rax, [rbx+8]; cmovg rax, [rbx+16]; mov rbx, rax; test rbx, rbx; jne
        assert!(of(&[
            0x39, 0x33, 0x48, 0x8b, 0x43, 0x08, 0x48, 0x0f, 0x4f, 0x43, 0x10, 0x48, 0x89, 0xc3, 0x48, 0x85,
            0xdb, 0x75, 0xed,
        ]));
    }

    #[test]
    fn what_the_items_of_an_array_lead_to_is_anywhere() {
        // mov rdx, [rax]; add rax, 8; cmp [rdx], esi; jne
        assert!(of(&[0x48, 0x8b, 0x10, 0x48, 0x83, 0xc0, 0x08, 0x39, 0x32, 0x75, 0xf5]));
        // mov rdi, [rbx]; add rbx, 8; call; test eax, eax; jne
        assert!(of(&[0x48, 0x8b, 0x3b, 0x48, 0x83, 0xc3, 0x08, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75, 0xf0]));
        // mov edx, [rax]; add rax, 4; cmp [rcx+rdx*4], esi; jne
        assert!(of(&[0x8b, 0x10, 0x48, 0x83, 0xc0, 0x04, 0x39, 0x34, 0x91, 0x75, 0xf5]));
    }

    #[test]
    fn an_array_is_read_in_order() {
        // cmp [rax], edx; je; add rax, 4; cmp rax, rcx; jne
        assert!(!of(&[0x39, 0x10, 0x74, 0x10, 0x48, 0x83, 0xc0, 0x04, 0x48, 0x39, 0xc8, 0x75, 0xf3]));
        // The array's address is read again in each round: mov rax, [rdi]; cmp [rax+rcx*4], edx; je; inc rcx; jmp
        assert!(!of(&[0x48, 0x8b, 0x07, 0x39, 0x14, 0x88, 0x74, 0x05, 0x48, 0xff, 0xc1, 0xeb, 0xf3]));
        // Items of 32 bytes that are passed to a function: mov rdi, rbp; add rbp, 32; call; test eax, eax; jne
        assert!(!of(&[0x48, 0x89, 0xef, 0x48, 0x83, 0xc5, 0x20, 0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x75, 0xf0]));
    }

    #[test]
    fn a_chain_has_its_links_in_its_items() {
        let linked = |code: &[u8]| {
            let code: Vec<Instruction> =
                Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
            goes_along_links(code.iter(), false)
        };
        // cmp [rax], esi; je; mov rax, [rax+8]; test rax, rax; jne
        assert!(linked(&[0x39, 0x30, 0x74, 0x10, 0x48, 0x8b, 0x40, 0x08, 0x48, 0x85, 0xc0, 0x75, 0xf3]));
        // By way of another register: mov rdx, [rax]; cmp [rdx], esi; je; mov rax, rdx; jmp
        assert!(linked(&[0x48, 0x8b, 0x10, 0x39, 0x32, 0x74, 0x10, 0x48, 0x89, 0xd0, 0xeb, 0xf4]));
        // A number of the next item: mov edx, [rcx+rdx*4]; test edx, edx; jne
        assert!(linked(&[0x8b, 0x14, 0x91, 0x85, 0xd2, 0x75, 0xf9]));
        // An array of pointers: mov rdx, [rax]; add rax, 8; cmp [rdx], esi; jne
        assert!(!linked(&[0x48, 0x8b, 0x10, 0x48, 0x83, 0xc0, 0x08, 0x39, 0x32, 0x75, 0xf5]));
        // … the best of which is kept: mov rdx, [rax]; mov rcx, [rdx]; cmp rcx, rbx; jle; mov r8, rdx; mov rbx, rcx; add rax, 8; cmp rax, rdi; jne
        assert!(!linked(&[
            0x48, 0x8b, 0x10, 0x48, 0x8b, 0x0a, 0x48, 0x39, 0xd9, 0x7e, 0x06, 0x49, 0x89, 0xd0, 0x48, 0x89,
            0xcb, 0x48, 0x83, 0xc0, 0x08, 0x48, 0x39, 0xf8, 0x75, 0xe6
        ]));
    }

    #[test]
    fn what_is_gathered_is_anywhere() {
        // vpgatherdd ymm0, [rax+ymm1*4], ymm2; add rcx, 32; cmp rcx, rdx; jne
        let gather =
            [0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88, 0x48, 0x83, 0xc1, 0x20, 0x48, 0x39, 0xd1, 0x75, 0xf1];
        assert!(of(&gather));
    }

    #[test]
    fn a_table_for_each_kind_of_byte_is_small() {
        // movzx edx, byte [rax]; inc rax; cmp byte [rcx+rdx], 0; jne
        assert!(!of(&[0x0f, 0xb6, 0x10, 0x48, 0xff, 0xc0, 0x80, 0x3c, 0x11, 0x00, 0x75, 0xf4]));
    }

    #[test]
    fn a_pointer_on_the_stack_stays_where_it_is() {
        // mov rax, [rsp+8]; cmp [rax+rcx*4], edx; je; add rcx, 1; jmp
        assert!(!of(&[
            0x48, 0x8b, 0x44, 0x24, 0x08, 0x39, 0x14, 0x88, 0x74, 0x06, 0x48, 0x83, 0xc1, 0x01, 0xeb, 0xf0
        ]));
    }
}
