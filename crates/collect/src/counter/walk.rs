//! What the code of a loop does: walk (read, compare and step on, as searches through a list and ways to its end do), count what it meets,
//! move things about, or calculate.

use super::values::calls;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory,
};
use std::collections::HashSet;

/// What a loop does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// It only reads, compares and steps on.
    Walks,
    /// It also stores what it read.
    Moves,
    /// It only reads and compares, and counts what it meets.
    Counts,
    /// It goes from one item to the next that memory leads to, reads and compares, and divides to see which list an item belongs in: a look-up
    /// among the keys of a hash table's bucket.
    Buckets,
    /// It goes along a chain of a hash table, reads and compares.
    Chains,
    /// It looks for a key among the places of a hash table, group by group.
    Groups,
    /// … or one by one, around its end.
    Places,
    /// It waits for what another thread changes in memory.
    Spins,
    /// It makes one result of what it reads in order, and stores nothing: a sum, a number of characters, a checksum.
    Folds,
    /// It keeps the largest or smallest of what it reads in order, and stores nothing.
    Extremes,
    /// It adds up, multiplies, or makes something new in another way.
    Calculates,
    /// Of a function: it adds, shifts and combines whole numbers, and stores nothing but on its stack: it counts or compares what is there.
    Reads,
}

impl Work {
    /// As in the recording.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::Walks => "walks",
            Work::Moves => "moves",
            Work::Counts => "counts",
            Work::Buckets => "buckets",
            Work::Chains => "chains",
            Work::Groups => "groups",
            Work::Places => "places",
            Work::Spins => "spins",
            Work::Folds => "folds",
            Work::Extremes => "extremes",
            Work::Calculates => "calculates",
            Work::Reads => "reads",
        }
    }
}

/// Where a function's arguments are in the System V ABI.
pub(super) const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// What the code of a loop does. What it calls is not looked at.
///
/// Stores to the stack (by its pointer, or by a `frame` pointer) are spilled registers, arguments and the variables of code
/// that was built without optimisation. A register that is changed must lead to memory or be compared: else it is a result, a
/// count where it is changed by constants only. `in_bucket`: it divides for nothing but its end, see `bucket`.
pub(super) fn work<'a>(code: impl Iterator<Item = &'a Instruction>, frame: bool, in_bucket: bool) -> Work {
    let mut stored = false;
    // What is passed to a function that is called leads somewhere as well.
    let (mut is_calling, mut passed) = (false, HashSet::new());
    let mut stepped = None;
    let mut infos = InstructionInfoFactory::new();
    let mut leads: HashSet<Register> = HashSet::new();
    let mut changed: HashSet<Register> = HashSet::new();
    // Those that are changed by more than a constant.
    let mut summed: HashSet<Register> = HashSet::new();
    // Conditional moves, and where registers were moved to.
    let (mut chosen, mut moved): (HashSet<Register>, Vec<(Register, Register)>) = Default::default();
    let mut bases: HashSet<Register> = HashSet::new();
    // Registers that were moved or added to others.
    let mut added: Vec<(Register, Register)> = Vec::new();
    // Registers that lead to a variable on the stack, into which Go's compiler copies each item of a list.
    let mut slots: HashSet<Register> = HashSet::new();
    for instruction in code {
        let compares = matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test);
        for operand in 0..instruction.op_count() {
            match instruction.op_kind(operand) {
                OpKind::Memory => {
                    for register in [instruction.memory_base(), instruction.memory_index()] {
                        leads.insert(register.full_register());
                        bases.insert(register.full_register());
                    }
                }
                OpKind::Register if compares => {
                    leads.insert(instruction.op_register(operand).full_register());
                }
                _ => {}
            }
        }
        let info = infos.info(instruction);
        let beside = |memory: &UsedMemory| {
            let slot = memory.index() == Register::None && slots.contains(&memory.base().full_register());
            stores_beside(memory, frame) && !slot
        };
        stored |= info.used_memory().iter().any(beside);
        keep_slots(&mut slots, instruction, info.used_registers(), frame);
        is_calling |= calls(instruction);
        if instruction.mnemonic() == Mnemonic::Mov
            && instruction.op1_kind() == OpKind::Register
            && ARGUMENTS.contains(&instruction.op0_register().full_register())
        {
            passed.insert(instruction.op1_register().full_register());
        }
        if instruction.mnemonic() == Mnemonic::Mov
            && instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
        {
            let registers = (instruction.op1_register(), instruction.op0_register());
            moved.push((registers.0.full_register(), registers.1.full_register()));
        }
        if matches!(instruction.mnemonic(), Mnemonic::Mov | Mnemonic::Add)
            && instruction.op0_kind() == OpKind::Register
            && instruction.op1_kind() == OpKind::Register
        {
            let registers = (instruction.op1_register(), instruction.op0_register());
            added.push((registers.0.full_register(), registers.1.full_register()));
        }
        match kind(instruction) {
            Kind::Chooses => {
                chosen.insert(instruction.op0_register().full_register());
            }
            Kind::Calculates if in_bucket && instruction.mnemonic() == Mnemonic::Div => {}
            Kind::Calculates => return Work::Calculates,
            Kind::Steps => {
                let register = instruction.op0_register().full_register();
                changed.insert(register);
                if !steps_by_a_constant(instruction) {
                    summed.insert(register);
                }
            }
            Kind::Plain => {}
        }
        // Counting down to zero compares as well.
        if instruction.is_jcc_short_or_near()
            && let Some(register) = stepped
        {
            leads.insert(register);
        }
        let steps = matches!(kind(instruction), Kind::Steps);
        stepped = steps.then(|| instruction.op0_register().full_register());
    }
    // What an address is made of leads there as well.
    let mut addresses = bases.clone();
    while added.iter().any(|(from, to)| addresses.contains(to) && addresses.insert(*from)) {}
    leads.extend(addresses);
    if is_calling {
        leads.extend(passed);
    }
    // Which item comes next may be chosen; the largest so far is a result.
    let next = |register: &Register| {
        let to = moved.iter().filter(|(from, _)| from == register).map(|(_, to)| to);
        bases.contains(register) || to.into_iter().any(|to| bases.contains(to))
    };
    if !chosen.iter().all(next) {
        return Work::Calculates;
    }
    let mut results =
        changed.iter().filter(|register| **register != Register::RSP && !leads.contains(register));
    match (results.clone().next(), stored) {
        (None, false) if in_bucket => Work::Buckets,
        _ if in_bucket => Work::Calculates,
        (None, true) => Work::Moves,
        (None, false) => Work::Walks,
        (Some(_), false) if !bases.is_empty() && results.all(|register| !summed.contains(register)) => {
            Work::Counts
        }
        (Some(_), _) => Work::Calculates,
    }
}

/// Whether a step is as long each time.
fn steps_by_a_constant(instruction: &Instruction) -> bool {
    match instruction.mnemonic() {
        Mnemonic::Inc | Mnemonic::Dec => true,
        Mnemonic::Lea => {
            instruction.memory_index() == Register::None || instruction.memory_base() == Register::None
        }
        _ => !matches!(instruction.op1_kind(), OpKind::Register | OpKind::Memory),
    }
}

/// What a function whose bytes are `code` does. What it calls is not looked at.
pub(super) fn work_of_function(code: &[u8]) -> Work {
    let code: Vec<Instruction> = Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
    let frame = code.iter().any(makes_a_frame);
    match work(code.iter(), frame, false) {
        Work::Calculates | Work::Counts if only_reads(&code, frame) => Work::Reads,
        Work::Counts => Work::Calculates,
        other => other,
    }
}

/// Whether code stores nothing but on the stack, and only adds, shifts and combines whole numbers.
fn only_reads(code: &[Instruction], frame: bool) -> bool {
    let mut infos = InstructionInfoFactory::new();
    code.iter().all(|instruction| {
        let simple = match kind(instruction) {
            Kind::Calculates => combines(instruction),
            Kind::Plain | Kind::Steps | Kind::Chooses => true,
        };
        simple && !infos.info(instruction).used_memory().iter().any(|memory| stores_beside(memory, frame))
    })
}

/// Whether an instruction makes a whole number of others without multiplying.
fn combines(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Add
            | M::Sub
            | M::Adc
            | M::Sbb
            | M::Inc
            | M::Dec
            | M::Neg
            | M::Not
            | M::And
            | M::Or
            | M::Xor
            | M::Shl
            | M::Shr
            | M::Sar
            | M::Rol
            | M::Ror
            | M::Bt
            | M::Xorps
            | M::Pxor
    )
}

/// Whether an instruction takes one of two.
pub(super) fn chooses(instruction: &Instruction) -> bool {
    matches!(kind(instruction), Kind::Chooses)
}

/// Whether an instruction makes a whole number of others without multiplying, or takes one of two.
pub(super) fn makes(instruction: &Instruction) -> bool {
    combines(instruction) || chooses(instruction)
}

/// Keeps the registers that hold the address of a variable on the stack up to date.
fn keep_slots(
    slots: &mut HashSet<Register>,
    instruction: &Instruction,
    used: &[iced_x86::UsedRegister],
    frame: bool,
) {
    let writes = |access| {
        matches!(
            access,
            OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
        )
    };
    for register in used.iter().filter(|used| writes(used.access())) {
        slots.remove(&register.register().full_register());
    }
    // Elsewhere such a register may be another, and a function that is called may change it.
    if instruction.flow_control() != FlowControl::Next {
        slots.clear();
    }
    let base = instruction.memory_base();
    let on_the_stack = base == Register::RSP || frame && base == Register::RBP;
    if instruction.mnemonic() == Mnemonic::Lea && on_the_stack && instruction.memory_index() == Register::None
    {
        slots.insert(instruction.op0_register().full_register());
    }
}

/// Whether memory is written that is not a variable on the stack. At an index it is an array, on the stack or not.
pub(super) fn stores_beside(memory: &UsedMemory, frame: bool) -> bool {
    let stores = matches!(
        memory.access(),
        OpAccess::Write | OpAccess::ReadWrite | OpAccess::CondWrite | OpAccess::ReadCondWrite
    );
    let base = memory.base();
    let on_the_stack = base == Register::RSP || frame && base == Register::RBP;
    stores && (memory.index() != Register::None || !on_the_stack)
}

/// `mov rbp, rsp`: from here on variables may be found by the frame pointer.
pub(super) fn makes_a_frame(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Mov
        && instruction.op0_register() == Register::RBP
        && instruction.op1_register() == Register::RSP
}

enum Kind {
    /// Moves, compares, jumps.
    Plain,
    /// Adds to or subtracts from a register: a step, if that leads somewhere.
    Steps,
    /// Takes one of two: the next item, if that leads somewhere.
    Chooses,
    /// Makes something new of its operands.
    Calculates,
}

fn kind(instruction: &Instruction) -> Kind {
    use Mnemonic as M;
    match instruction.mnemonic() {
        M::Add | M::Sub | M::Inc | M::Dec if instruction.op0_kind() == OpKind::Register => Kind::Steps,
        // An index that goes around the end of a table.
        M::And
            if instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register =>
        {
            Kind::Steps
        }
        // What is recomputed from others in each iteration adds nothing up.
        M::Lea => match instruction.op0_register().full_register() {
            to if to == instruction.memory_base() || to == instruction.memory_index() => Kind::Steps,
            _ => Kind::Plain,
        },
        // A variable of code that was built without optimisation, one on; else a count kept in memory.
        M::Add | M::Sub if on_the_stack(instruction) && instruction.op1_kind() != OpKind::Register => {
            Kind::Plain
        }
        M::Inc | M::Dec if on_the_stack(instruction) => Kind::Plain,
        // Only to set to zero.
        M::Xor | M::Pxor | M::Vpxor | M::Vpxord | M::Vpxorq | M::Xorps | M::Vxorps => {
            let last = instruction.op_count() - 1;
            let same = instruction.op_register(last) == instruction.op_register(last - 1);
            let registers = instruction.op_kind(last) == OpKind::Register;
            if registers && same { Kind::Plain } else { Kind::Calculates }
        }
        // Scaling an index by the size of an element, or masking it.
        M::Shl | M::Sal | M::And | M::Shr | M::Sar if instruction.op1_kind() != OpKind::Register => {
            Kind::Plain
        }
        M::Imul if instruction.op_count() == 3 => Kind::Plain,
        M::Mov | M::Movzx | M::Movsx | M::Movsxd | M::Cdqe | M::Cdq | M::Xchg | M::Cmp | M::Test | M::Nop => {
            Kind::Plain
        }
        // Behind a call that does not come back, and between functions: nothing runs into them.
        M::Int3 | M::Ud2 => Kind::Plain,
        M::Push | M::Pop | M::Call | M::Jmp | M::Endbr64 | M::Leave | M::Ret | M::Pause => Kind::Plain,
        // Comparing many at once.
        M::Movdqa | M::Movdqu | M::Movaps | M::Movups | M::Movd | M::Movq | M::Vmovdqu | M::Vmovdqa => {
            Kind::Plain
        }
        M::Pcmpeqb | M::Pcmpeqw | M::Pcmpeqd | M::Pmovmskb | M::Vpcmpeqb | M::Vpcmpeqd | M::Vpmovmskb => {
            Kind::Plain
        }
        // What comparisons gave, put together.
        M::Pcmpeqq
        | M::Pcmpgtd
        | M::Vpcmpeqw
        | M::Vpcmpeqq
        | M::Por
        | M::Pand
        | M::Pandn
        | M::Vpor
        | M::Vpand => Kind::Plain,
        M::Packssdw
        | M::Packsswb
        | M::Vpackssdw
        | M::Vpacksswb
        | M::Movmskps
        | M::Movmskpd
        | M::Vmovmskps => Kind::Plain,
        M::Pshufd
        | M::Vpermq
        | M::Vpcmpub
        | M::Vpcmpb
        | M::Vpcmpud
        | M::Kortestb
        | M::Kortestd
        | M::Kortestq => Kind::Plain,
        M::Kmovb | M::Kmovd | M::Kmovq | M::Korb | M::Kord | M::Korq | M::Vextracti128 => Kind::Plain,
        M::Ptest | M::Vptest | M::Bsf | M::Tzcnt | M::Ucomisd | M::Ucomiss | M::Movsd | M::Movss => {
            Kind::Plain
        }
        M::Cmove
        | M::Cmovne
        | M::Cmova
        | M::Cmovae
        | M::Cmovb
        | M::Cmovbe
        | M::Cmovg
        | M::Cmovge
        | M::Cmovl
        | M::Cmovle
        | M::Cmovs
        | M::Cmovns => Kind::Chooses,
        _ if instruction.is_jcc_short_or_near() || is_condition(instruction) => Kind::Plain,
        _ => Kind::Calculates,
    }
}

fn on_the_stack(instruction: &Instruction) -> bool {
    matches!(instruction.memory_base(), Register::RSP | Register::RBP)
}

/// `setcc`: the outcome of a comparison.
fn is_condition(instruction: &Instruction) -> bool {
    use Mnemonic as M;
    matches!(
        instruction.mnemonic(),
        M::Sete
            | M::Setne
            | M::Seta
            | M::Setae
            | M::Setb
            | M::Setbe
            | M::Setg
            | M::Setge
            | M::Setl
            | M::Setle
            | M::Setp
            | M::Setnp
    )
}

#[cfg(test)]
mod tests;
