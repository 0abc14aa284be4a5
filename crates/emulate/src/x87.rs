//! Instructions on the stack of eight fractions of 80 bits, x87: what C calls `long double`. The processor itself calculates, with what the stack holds here.

use crate::machine::{Done, End, Machine, Watch, unknown};
use crate::memory::Source;
use iced_x86::{Instruction, MemorySize, Mnemonic, OpKind, Register};
use std::arch::asm;

/// A fraction, as it is in memory.
type Fraction = [u8; 10];

/// The stack and what rules it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fractions {
    /// ST(0) to ST(7).
    pub stack: [Fraction; 8],
    /// Which of the eight registers ST(0) is.
    pub top: u8,
    /// The control word: rounding, precision, and which exceptions are masked.
    pub control: u16,
}

impl Default for Fractions {
    fn default() -> Fractions {
        Fractions { stack: [[0; 10]; 8], top: 0, control: 0x37f }
    }
}

impl Fractions {
    fn push(&mut self, value: Fraction) {
        self.stack.rotate_right(1);
        self.stack[0] = value;
        self.top = self.top.wrapping_sub(1) & 7;
    }

    fn pop(&mut self) {
        self.stack.rotate_left(1);
        self.top = (self.top + 1) & 7;
    }
}

/// Bits of the control word: no exception stops a program, and which way numbers are rounded; all of the latter: towards zero.
const MASKED: u16 = 0x3f;
const TRUNCATE: u16 = 0xc00;

/// What is done to two numbers.
#[derive(Clone, Copy)]
enum Of {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Runs lines of assembler on what is at `a` and `b`, by the rules of a control word: what they leave at `to`.
macro_rules! on_the_processor {
    ($control:expr, $a:expr, $b:expr, $($line:literal),+) => {{
        let (control, mut before, mut to): (u16, u16, Fraction) = ($control | MASKED, 0, [0; 10]);
        let (a, b): (&Fraction, &Fraction) = ($a, $b);
        // SAFETY: the lines read at most ten bytes at `a` and `b` and write at most ten at `to`; they leave the stack empty, and the control word is put back.
        unsafe {
            asm!(
                "fnstcw word ptr [{before}]",
                "fldcw word ptr [{control}]",
                $($line,)+
                "fnclex",
                "fldcw word ptr [{before}]",
                "/* {a} {b} {to} */",
                before = in(reg) &raw mut before, control = in(reg) &raw const control,
                a = in(reg) a.as_ptr(), b = in(reg) b.as_ptr(), to = in(reg) to.as_mut_ptr(),
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        to
    }};
}

const NOTHING: Fraction = [0; 10];

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    use Mnemonic::*;
    Some(match i.mnemonic() {
        Fld | Fild => loaded(m, i).map(|value| m.registers.fractions.push(value)),
        Fst | Fstp => store(m, i, i.mnemonic() == Fstp),
        Fist | Fistp => store_whole(m, i, m.registers.fractions.control, i.mnemonic() == Fistp),
        Fisttp => store_whole(m, i, m.registers.fractions.control | TRUNCATE, true),
        Fadd | Faddp | Fiadd => calculate(m, i, Of::Add, false),
        Fmul | Fmulp | Fimul => calculate(m, i, Of::Multiply, false),
        Fsub | Fsubp | Fisub => calculate(m, i, Of::Subtract, false),
        Fsubr | Fsubrp | Fisubr => calculate(m, i, Of::Subtract, true),
        Fdiv | Fdivp | Fidiv => calculate(m, i, Of::Divide, false),
        Fdivr | Fdivrp | Fidivr => calculate(m, i, Of::Divide, true),
        Fcomi | Fucomi => compare(m, i, false),
        Fcomip | Fucomip => compare(m, i, true),
        Fxch => number(i.op1_register()).map_or(Err(unknown(i)), |other| {
            m.registers.fractions.stack.swap(0, other);
            Ok(())
        }),
        Fnstcw => m.store(m.address(i), 2, u64::from(m.registers.fractions.control)),
        Fldcw => m.load(m.address(i), 2).map(|control| m.registers.fractions.control = control as u16),
        Wait | Fnop => Ok(()),
        Fchs | Fabs | Fsqrt | Frndint => {
            let Fractions { stack, control, .. } = &mut m.registers.fractions;
            stack[0] = one(i.mnemonic(), *control, &stack[0]);
            Ok(())
        }
        _ => {
            return constant(i.mnemonic())
                .map(|value| m.registers.fractions.push(value))
                .map(Ok)
                .or_else(|| moved(m, i));
        }
    })
}

/// The place of a register on the stack.
fn number(register: Register) -> Option<usize> {
    register.is_st().then(|| register.number())
}

fn one(mnemonic: Mnemonic, control: u16, a: &Fraction) -> Fraction {
    match mnemonic {
        Mnemonic::Fchs => {
            on_the_processor!(control, a, &NOTHING, "fld tbyte ptr [{a}]", "fchs", "fstp tbyte ptr [{to}]")
        }
        Mnemonic::Fabs => {
            on_the_processor!(control, a, &NOTHING, "fld tbyte ptr [{a}]", "fabs", "fstp tbyte ptr [{to}]")
        }
        Mnemonic::Fsqrt => {
            on_the_processor!(control, a, &NOTHING, "fld tbyte ptr [{a}]", "fsqrt", "fstp tbyte ptr [{to}]")
        }
        _ => {
            on_the_processor!(control, a, &NOTHING, "fld tbyte ptr [{a}]", "frndint", "fstp tbyte ptr [{to}]")
        }
    }
}

fn constant(mnemonic: Mnemonic) -> Option<Fraction> {
    macro_rules! loads {
        ($line:literal) => {
            on_the_processor!(0x37f, &NOTHING, &NOTHING, $line, "fstp tbyte ptr [{to}]")
        };
    }
    Some(match mnemonic {
        Mnemonic::Fldz => NOTHING,
        Mnemonic::Fld1 => loads!("fld1"),
        Mnemonic::Fldpi => loads!("fldpi"),
        Mnemonic::Fldl2e => loads!("fldl2e"),
        Mnemonic::Fldl2t => loads!("fldl2t"),
        Mnemonic::Fldlg2 => loads!("fldlg2"),
        Mnemonic::Fldln2 => loads!("fldln2"),
        _ => return None,
    })
}

/// The operand that a number is loaded from.
fn loaded<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Result<Fraction, End> {
    let register = if i.op_count() > 1 { i.op1_register() } else { i.op0_register() };
    if i.op0_kind() != OpKind::Memory {
        return number(register).map(|at| m.registers.fractions.stack[at]).ok_or(unknown(i));
    }
    let mut a = NOTHING;
    let size = i.memory_size().size();
    let Some(part) = a.get_mut(..size) else { return Err(unknown(i)) };
    m.load_bytes(m.address(i), part)?;
    macro_rules! from {
        ($line:literal) => {
            on_the_processor!(0x37f, &a, &NOTHING, $line, "fstp tbyte ptr [{to}]")
        };
    }
    Ok(match i.memory_size() {
        MemorySize::Float32 => from!("fld dword ptr [{a}]"),
        MemorySize::Float64 => from!("fld qword ptr [{a}]"),
        MemorySize::Float80 => a,
        MemorySize::Int16 => from!("fild word ptr [{a}]"),
        MemorySize::Int32 => from!("fild dword ptr [{a}]"),
        MemorySize::Int64 => from!("fild qword ptr [{a}]"),
        _ => return Err(unknown(i)),
    })
}

fn store<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, pops: bool) -> Done {
    let Fractions { stack, control, .. } = &m.registers.fractions;
    let (a, control) = (stack[0], *control);
    match i.op0_kind() {
        OpKind::Memory => {
            let bytes = match i.memory_size() {
                MemorySize::Float32 => {
                    on_the_processor!(control, &a, &NOTHING, "fld tbyte ptr [{a}]", "fstp dword ptr [{to}]")
                }
                MemorySize::Float64 => {
                    on_the_processor!(control, &a, &NOTHING, "fld tbyte ptr [{a}]", "fstp qword ptr [{to}]")
                }
                MemorySize::Float80 => a,
                _ => return Err(unknown(i)),
            };
            m.store_bytes(m.address(i), &bytes[..i.memory_size().size()])?;
        }
        _ => {
            let Some(to) = number(i.op0_register()) else { return Err(unknown(i)) };
            m.registers.fractions.stack[to] = a;
        }
    }
    if pops {
        m.registers.fractions.pop();
    }
    Ok(())
}

fn store_whole<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    i: &Instruction,
    control: u16,
    pops: bool,
) -> Done {
    let a = m.registers.fractions.stack[0];
    let bytes = match i.memory_size() {
        MemorySize::Int16 => {
            on_the_processor!(control, &a, &NOTHING, "fld tbyte ptr [{a}]", "fistp word ptr [{to}]")
        }
        MemorySize::Int32 => {
            on_the_processor!(control, &a, &NOTHING, "fld tbyte ptr [{a}]", "fistp dword ptr [{to}]")
        }
        MemorySize::Int64 => {
            on_the_processor!(control, &a, &NOTHING, "fld tbyte ptr [{a}]", "fistp qword ptr [{to}]")
        }
        _ => return Err(unknown(i)),
    };
    m.store_bytes(m.address(i), &bytes[..i.memory_size().size()])?;
    if pops {
        m.registers.fractions.pop();
    }
    Ok(())
}

/// Two of the stack, or its top and memory; reversed, the second is what the first is taken from.
fn calculate<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Of, reversed: bool) -> Done {
    let b = loaded(m, i)?;
    let to = if i.op0_kind() == OpKind::Memory { Some(0) } else { number(i.op0_register()) };
    let Some(to) = to else { return Err(unknown(i)) };
    let Fractions { stack, control, .. } = &mut m.registers.fractions;
    let a = stack[to];
    stack[to] = if reversed { of_two(of, *control, &b, &a) } else { of_two(of, *control, &a, &b) };
    use Mnemonic::*;
    if matches!(i.mnemonic(), Faddp | Fmulp | Fsubp | Fsubrp | Fdivp | Fdivrp) {
        m.registers.fractions.pop();
    }
    Ok(())
}

fn of_two(of: Of, control: u16, a: &Fraction, b: &Fraction) -> Fraction {
    macro_rules! both {
        ($line:literal) => {
            on_the_processor!(
                control,
                a,
                b,
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                $line,
                "fstp tbyte ptr [{to}]"
            )
        };
    }
    match of {
        Of::Add => both!("faddp st(1), st"),
        Of::Multiply => both!("fmulp st(1), st"),
        Of::Subtract => both!("fsubp st(1), st"),
        Of::Divide => both!("fdivp st(1), st"),
    }
}

/// The top and another one, by the flags.
fn compare<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, pops: bool) -> Done {
    let Some(other) = number(i.op1_register()) else { return Err(unknown(i)) };
    let (a, b) = (m.registers.fractions.stack[0], m.registers.fractions.stack[other]);
    let said = on_the_processor!(
        0x37f,
        &a,
        &b,
        "fld tbyte ptr [{b}]",
        "fld tbyte ptr [{a}]",
        "fucomip st, st(1)",
        "fstp st(0)",
        "setb byte ptr [{to}]",
        "setz byte ptr [{to} + 1]",
        "setp byte ptr [{to} + 2]"
    );
    let flags = &mut m.registers.flags;
    (flags.carry, flags.zero, flags.parity) = (said[0] == 1, said[1] == 1, said[2] == 1);
    (flags.sign, flags.overflow) = (false, false);
    if pops {
        m.registers.fractions.pop();
    }
    Ok(())
}

/// Moves another one to the top on a condition.
fn moved<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    use Mnemonic::*;
    let flags = m.registers.flags;
    let moves = match i.mnemonic() {
        Fcmovb => flags.carry,
        Fcmove => flags.zero,
        Fcmovbe => flags.carry || flags.zero,
        Fcmovu => flags.parity,
        Fcmovnb => !flags.carry,
        Fcmovne => !flags.zero,
        Fcmovnbe => !flags.carry && !flags.zero,
        Fcmovnu => !flags.parity,
        _ => return None,
    };
    let Some(other) = number(i.op1_register()) else { return Some(Err(unknown(i))) };
    if moves {
        m.registers.fractions.stack[0] = m.registers.fractions.stack[other];
    }
    Some(Ok(()))
}
