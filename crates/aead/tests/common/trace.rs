//! Runs a function one instruction at a time, with the processor's trap flag, and keeps where each instruction lay and which
//! memory it named: what of a secret a branch, an address or a division's time gives away differs between two secrets.
//!
//! The instructions are those of this processor, whatever they are, so that this works where valgrind knows them not.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use std::arch::asm;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// General registers, `rip` and flags, as a signal finds them.
type Registers = [i64; 23];

/// The most instructions of one run.
const MOST: usize = 200_000;

/// Of an instruction: where it lies, and the addresses that it names; of a division, its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    at: u64,
    names: [u64; 2],
}

/// What runs for all secrets came to, when they did not differ.
#[derive(Debug)]
pub struct Same {
    /// Instructions of one run.
    pub steps: usize,
    /// Of those, how many do AES on registers of 32 or 64 bytes.
    pub wide_aes: usize,
}

/// The steps of the run that is being watched, and how many there were; one run at a time.
static STEPS: AtomicPtr<Registers> = AtomicPtr::new(std::ptr::null_mut());
static TAKEN: AtomicUsize = AtomicUsize::new(0);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `run` for secrets 0 to `secrets`, each put in place by `prepare`, and compares what it does.
///
/// # Errors
/// What differed first, or what could not be compared: a gather, whose addresses are in registers that are not kept.
pub fn same_for_all<T>(
    secrets: usize,
    state: &mut T,
    prepare: impl Fn(&mut T, usize),
    run: impl Fn(&mut T),
) -> Result<Same, String> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut steps = vec![[0; 23]; MOST];
    STEPS.store(steps.as_mut_ptr(), Relaxed);
    // SAFETY: `step` is a handler of this kind, and does nothing that a handler may not.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = step as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut()), 0);
    }
    let mut known = HashMap::new();
    // What is found out at the first call only, as which instructions the processor has.
    prepare(state, 0);
    run(state);
    let mut first: Option<Vec<Step>> = None;
    for secret in 0..secrets {
        prepare(state, secret);
        watched(state, &run);
        let taken = TAKEN.load(Relaxed);
        assert!((1..=MOST).contains(&taken), "{taken} instructions of at most {MOST}");
        let trace = steps[..taken].iter().map(|one| look(one, &mut known)).collect::<Result<Vec<_>, _>>()?;
        match &first {
            None => first = Some(trace),
            Some(first) => {
                differ(first, &trace, &known).map_err(|what| format!("secret {secret}: {what}"))?
            }
        }
    }
    let first = first.ok_or("no secrets")?;
    let wide = |step: &&Step| {
        let instruction = &known[&step.at];
        let aes = matches!(
            instruction.mnemonic(),
            Mnemonic::Vaesenc | Mnemonic::Vaesenclast | Mnemonic::Vaesdec | Mnemonic::Vaesdeclast
        );
        aes && !instruction.op0_register().is_xmm()
    };
    Ok(Same { steps: first.len(), wide_aes: first.iter().filter(wide).count() })
}

/// One run, step by step. Never inlined, so that the stack is at the same place in each.
#[inline(never)]
fn watched<T>(state: &mut T, run: &impl Fn(&mut T)) {
    TAKEN.store(0, Relaxed);
    let state = black_box(state);
    // SAFETY: the trap flag is set; the handler has been installed.
    unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
    run(state);
    // SAFETY: the trap flag is cleared, which a handler's return cannot set again.
    unsafe { asm!("pushfq", "and qword ptr [rsp], -0x101", "popfq") };
}

/// Called before each instruction but the first.
extern "C" fn step(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands a context over, which is nobody else's.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    loop {
        let taken = TAKEN.load(Relaxed);
        TAKEN.store(taken + 1, Relaxed);
        if taken < MOST {
            // SAFETY: `STEPS` points to `MOST` elements while anything is watched.
            unsafe { STEPS.load(Relaxed).add(taken).write(*registers) };
        }
        // SAFETY: the registers of a program that is about to do what they say.
        if !unsafe { repeat(registers) } {
            return;
        }
    }
}

/// Does at once what is about to run, if it is a copy or a fill that repeats for each byte; whether it was. The trap flag stops
/// at every byte, and moves of keys are most of what there is to watch.
///
/// # Safety
/// The program must be about to run what the registers say.
unsafe fn repeat(registers: &mut Registers) -> bool {
    let [at, to, from, count] =
        [libc::REG_RIP, libc::REG_RDI, libc::REG_RSI, libc::REG_RCX].map(|one| registers[one as usize]);
    // SAFETY: an instruction lies there, and none of one byte is the last of what is mapped; the copy or fill is the program's.
    unsafe {
        match (at as *const [u8; 2]).read() {
            [0xf3, 0xa4] => {
                (to as *mut u8).copy_from(from as *const u8, count as usize);
                registers[libc::REG_RSI as usize] += count;
            }
            [0xf3, 0xaa] => {
                (to as *mut u8).write_bytes(registers[libc::REG_RAX as usize] as u8, count as usize)
            }
            _ => return false,
        }
    }
    registers[libc::REG_RDI as usize] += count;
    registers[libc::REG_RCX as usize] = 0;
    registers[libc::REG_RIP as usize] += 2;
    true
}

/// What the instruction names that is about to run.
fn look(registers: &Registers, known: &mut HashMap<u64, Instruction>) -> Result<Step, String> {
    let at = registers[libc::REG_RIP as usize].cast_unsigned();
    let instruction = known.entry(at).or_insert_with(|| {
        // SAFETY: an instruction that ran. One shorter than 15 bytes is not the last of what is mapped: more code follows.
        let code = unsafe { std::slice::from_raw_parts(at as *const u8, 15) };
        Decoder::with_ip(64, code, at, DecoderOptions::NONE).decode()
    });
    let told = |what: &str| Err(format!("{what}: {}", place(at, instruction)));
    match instruction.mnemonic() {
        Mnemonic::INVALID => return told("an instruction that is not known"),
        // Their time depends on what they divide.
        Mnemonic::Div | Mnemonic::Idiv => {
            let [low, high] = [Register::RAX, Register::RDX].map(|one| value(one, registers).unwrap_or(0));
            // None: in memory.
            let Some(by) = value(instruction.op0_register(), registers) else {
                return told("a division by what is not seen");
            };
            return Ok(Step { at, names: [low ^ high.rotate_left(32), by] });
        }
        // They compute, and touch nothing.
        Mnemonic::Lea | Mnemonic::Nop => return Ok(Step { at, names: [0; 2] }),
        _ => {}
    }
    let mut names = [0; 2];
    let mut free = names.iter_mut();
    for operand in 0..instruction.op_count() {
        if matches!(
            instruction.op_kind(operand),
            OpKind::Register
                | OpKind::NearBranch16
                | OpKind::NearBranch32
                | OpKind::NearBranch64
                | OpKind::Immediate8
                | OpKind::Immediate8_2nd
                | OpKind::Immediate16
                | OpKind::Immediate32
                | OpKind::Immediate64
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
                | OpKind::Immediate32to64
        ) {
            continue;
        }
        let value = |register: Register, _, _| value(register, registers);
        match (instruction.virtual_address(operand, 0, value), free.next()) {
            (Some(address), Some(free)) => *free = address,
            _ => return told("an address that is not seen"),
        }
    }
    if instruction.has_rep_prefix() {
        // How often, as well.
        names[0] ^= registers[libc::REG_RCX as usize].cast_unsigned().rotate_left(48);
    }
    Ok(Step { at, names })
}

/// What a register of an address holds; bases of segments stay what they are, and count as none.
fn value(register: Register, registers: &Registers) -> Option<u64> {
    let at = match register.full_register() {
        Register::RAX => libc::REG_RAX,
        Register::RBX => libc::REG_RBX,
        Register::RCX => libc::REG_RCX,
        Register::RDX => libc::REG_RDX,
        Register::RSI => libc::REG_RSI,
        Register::RDI => libc::REG_RDI,
        Register::RBP => libc::REG_RBP,
        Register::RSP => libc::REG_RSP,
        Register::R8 => libc::REG_R8,
        Register::R9 => libc::REG_R9,
        Register::R10 => libc::REG_R10,
        Register::R11 => libc::REG_R11,
        Register::R12 => libc::REG_R12,
        Register::R13 => libc::REG_R13,
        Register::R14 => libc::REG_R14,
        Register::R15 => libc::REG_R15,
        segment if segment.is_segment_register() => return Some(0),
        _ => return None,
    };
    let whole = registers[at as usize].cast_unsigned();
    Some(match register.size() {
        8 => whole,
        4 => whole & 0xffff_ffff,
        2 => whole & 0xffff,
        // Of `xlat`, the only one of a byte that an address has.
        _ => whole & 0xff,
    })
}

/// The first step that is not the same.
fn differ(one: &[Step], other: &[Step], known: &HashMap<u64, Instruction>) -> Result<(), String> {
    let Some(at) = one.iter().zip(other).position(|(one, other)| one != other) else {
        return if one.len() == other.len() { Ok(()) } else { Err("one run was longer".to_string()) };
    };
    let place = |step: Step| place(step.at, &known[&step.at]);
    Err(if one[at].at == other[at].at {
        format!("another address or divisor in step {at}: {}", place(one[at]))
    } else {
        format!(
            "another way in step {at}, after {}",
            at.checked_sub(1).map_or(String::new(), |at| place(one[at]))
        )
    })
}

/// For `objdump` and `addr2line`.
fn place(at: u64, instruction: &Instruction) -> String {
    // SAFETY: a record of pointers, which may be null, and filled if the address is known.
    let info = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(at as *const c_void, &mut info);
        info
    };
    format!("{:?} at {:#x} of the program", instruction.mnemonic(), at - info.dli_fbase as u64)
}
