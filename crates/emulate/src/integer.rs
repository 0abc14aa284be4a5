//! Instructions on general registers.

use crate::machine::{Done, End, Machine, Watch, unknown};
use crate::memory::Source;
use crate::registers::{mask, signed};
use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind, Register};

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(
    machine: &mut Machine<S, W>,
    instruction: &Instruction,
) -> Option<Done> {
    let m = machine;
    let i = instruction;
    if i.condition_code() != ConditionCode::None {
        return Some(conditional(m, i));
    }
    Some(match i.mnemonic() {
        Mnemonic::Mov if i.op0_kind() == OpKind::Memory || i.op_register(0).is_gpr() => {
            m.operand(i, 1).and_then(|value| m.set_operand(i, 0, value))
        }
        Mnemonic::Movzx => m.operand(i, 1).and_then(|value| m.set_operand(i, 0, value)),
        Mnemonic::Movsx | Mnemonic::Movsxd => {
            let bits = m.bits(i, 1);
            m.operand(i, 1).and_then(|value| m.set_operand(i, 0, signed(value, bits) as u64))
        }
        Mnemonic::Lea => {
            let address = m.address(i);
            m.set_operand(i, 0, address)
        }
        Mnemonic::Push => m.operand(i, 0).and_then(|value| m.push(value)),
        Mnemonic::Pop => m.pop().and_then(|value| m.set_operand(i, 0, value)),
        Mnemonic::Leave => {
            m.registers.general[4] = m.registers.general[5];
            m.pop().map(|value| m.registers.general[5] = value)
        }
        Mnemonic::Add => two(m, i, |m, a, b, bits| add(m, a, b, false, bits)),
        Mnemonic::Adc => two(m, i, |m, a, b, bits| add(m, a, b, m.registers.flags.carry, bits)),
        Mnemonic::Sub => two(m, i, |m, a, b, bits| subtract(m, a, b, false, bits)),
        Mnemonic::Sbb => two(m, i, |m, a, b, bits| subtract(m, a, b, m.registers.flags.carry, bits)),
        Mnemonic::And => two(m, i, |m, a, b, bits| logical(m, a & b, bits)),
        Mnemonic::Or => two(m, i, |m, a, b, bits| logical(m, a | b, bits)),
        Mnemonic::Xor => two(m, i, |m, a, b, bits| logical(m, a ^ b, bits)),
        Mnemonic::Cmp => compare(m, i, |m, a, b, bits| subtract(m, a, b, false, bits)),
        Mnemonic::Test => compare(m, i, |m, a, b, bits| logical(m, a & b, bits)),
        Mnemonic::Inc => one(m, i, |m, a, bits| {
            let carry = m.registers.flags.carry;
            let sum = add(m, a, 1, false, bits);
            m.registers.flags.carry = carry;
            sum
        }),
        Mnemonic::Dec => one(m, i, |m, a, bits| {
            let carry = m.registers.flags.carry;
            let difference = subtract(m, a, 1, false, bits);
            m.registers.flags.carry = carry;
            difference
        }),
        Mnemonic::Neg => one(m, i, |m, a, bits| subtract(m, 0, a, false, bits)),
        Mnemonic::Not => one(m, i, |_, a, _| !a),
        Mnemonic::Bswap => {
            one(m, i, |_, a, bits| if bits == 64 { a.swap_bytes() } else { (a as u32).swap_bytes().into() })
        }
        Mnemonic::Shl | Mnemonic::Sal | Mnemonic::Shr | Mnemonic::Sar | Mnemonic::Rol | Mnemonic::Ror => {
            shift(m, i)
        }
        Mnemonic::Rcl | Mnemonic::Rcr => rotate_through(m, i),
        Mnemonic::Movnti => m.operand(i, 1).and_then(|value| m.set_operand(i, 0, value)),
        Mnemonic::Shld | Mnemonic::Shrd => double_shift(m, i),
        Mnemonic::Shlx | Mnemonic::Shrx | Mnemonic::Sarx | Mnemonic::Rorx => shift_only(m, i),
        Mnemonic::Imul => multiply(m, i),
        Mnemonic::Mul | Mnemonic::Mulx => multiply_wide(m, i),
        Mnemonic::Div => divide(m, i),
        Mnemonic::Idiv => divide_signed(m, i),
        Mnemonic::Cbw => part(m, Register::AL, Register::AX),
        Mnemonic::Cwde => part(m, Register::AX, Register::EAX),
        Mnemonic::Cdqe => part(m, Register::EAX, Register::RAX),
        Mnemonic::Cwd => sign_of(m, Register::AX, Register::DX),
        Mnemonic::Cdq => sign_of(m, Register::EAX, Register::EDX),
        Mnemonic::Cqo => sign_of(m, Register::RAX, Register::RDX),
        Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc => bit(m, i),
        Mnemonic::Bsf | Mnemonic::Bsr | Mnemonic::Tzcnt | Mnemonic::Lzcnt | Mnemonic::Popcnt => count(m, i),
        Mnemonic::Andn => three(m, i, |m, a, b, bits| logical(m, !a & b, bits)),
        Mnemonic::Bzhi => three(m, i, |m, a, b, bits| {
            let keep = u32::from(b as u8);
            let result = logical(m, a & mask(keep.min(bits)), bits);
            m.registers.flags.carry = keep >= bits;
            result
        }),
        Mnemonic::Blsr | Mnemonic::Blsi | Mnemonic::Blsmsk => lowest(m, i),
        Mnemonic::Xchg => exchange(m, i),
        Mnemonic::Xadd => m.operand(i, 0).and_then(|old| {
            let (by, bits) = (m.operand(i, 1)?, m.bits(i, 0));
            let sum = add(m, old, by, false, bits);
            m.set_operand(i, 1, old)?;
            m.set_operand(i, 0, sum)
        }),
        Mnemonic::Cmpxchg => compare_exchange(m, i),
        // The control words as they are at a program's start, which hardly any changes.
        Mnemonic::Stmxcsr | Mnemonic::Vstmxcsr => m.set_operand(i, 0, SSE_CONTROL),
        Mnemonic::Ldmxcsr | Mnemonic::Vldmxcsr => {
            m.operand(i, 0).and_then(|word| same(i, word & !SSE_EXCEPTIONS, SSE_CONTROL))
        }
        Mnemonic::Clc => flag(|| m.registers.flags.carry = false),
        Mnemonic::Stc => flag(|| m.registers.flags.carry = true),
        Mnemonic::Cmc => flag(|| m.registers.flags.carry ^= true),
        Mnemonic::Cld => flag(|| m.registers.flags.down = false),
        Mnemonic::Std => flag(|| m.registers.flags.down = true),
        Mnemonic::Nop
        | Mnemonic::Endbr64
        | Mnemonic::Pause
        | Mnemonic::Prefetcht0
        | Mnemonic::Prefetcht1
        | Mnemonic::Prefetcht2
        | Mnemonic::Prefetchnta
        | Mnemonic::Prefetchw
        | Mnemonic::Mfence
        | Mnemonic::Lfence
        | Mnemonic::Sfence => Ok(()),
        _ => return None,
    })
}

/// Bits of exceptions that have happened, which are left out.
const SSE_EXCEPTIONS: u64 = 0x3f;
const SSE_CONTROL: u64 = 0x1f80;

/// Any other word would change what instructions do.
fn same(i: &Instruction, word: u64, known: u64) -> Done {
    if word == known { Ok(()) } else { Err(unknown(i)) }
}

fn flag(set: impl FnOnce()) -> Done {
    set();
    Ok(())
}

/// `cmovcc` and `setcc`.
fn conditional<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let met = m.registers.flags.meet(i.condition_code());
    match i.op_count() {
        1 => m.set_operand(i, 0, met.into()),
        2 => {
            let value = m.operand(i, if met { 1 } else { 0 })?;
            m.set_operand(i, 0, value)
        }
        _ => Err(unknown(i)),
    }
}

type Two<S, W> = fn(&mut Machine<S, W>, u64, u64, u32) -> u64;

fn one<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    i: &Instruction,
    of: fn(&mut Machine<S, W>, u64, u32) -> u64,
) -> Done {
    let (value, bits) = (m.operand(i, 0)?, m.bits(i, 0));
    let result = of(m, value, bits);
    m.set_operand(i, 0, result)
}

fn two<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Two<S, W>) -> Done {
    let (a, b, bits) = (m.operand(i, 0)?, m.operand(i, 1)?, m.bits(i, 0));
    let result = of(m, a, b, bits);
    m.set_operand(i, 0, result)
}

fn compare<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Two<S, W>) -> Done {
    let (a, b, bits) = (m.operand(i, 0)?, m.operand(i, 1)?, m.bits(i, 0));
    of(m, a, b, bits);
    Ok(())
}

fn three<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Two<S, W>) -> Done {
    let (a, b, bits) = (m.operand(i, 1)?, m.operand(i, 2)?, m.bits(i, 0));
    let result = of(m, a, b, bits);
    m.set_operand(i, 0, result)
}

fn add<S, W>(m: &mut Machine<S, W>, a: u64, b: u64, carry: bool, bits: u32) -> u64 {
    let (a, b) = (a & mask(bits), b & mask(bits));
    let sum = u128::from(a) + u128::from(b) + u128::from(carry);
    let result = sum as u64 & mask(bits);
    let flags = &mut m.registers.flags;
    flags.carry = sum >> bits != 0;
    flags.overflow = (a ^ result) & (b ^ result) & 1 << (bits - 1) != 0;
    flags.result(result, bits);
    result
}

fn subtract<S, W>(m: &mut Machine<S, W>, a: u64, b: u64, borrow: bool, bits: u32) -> u64 {
    let (a, b) = (a & mask(bits), b & mask(bits));
    let result = a.wrapping_sub(b).wrapping_sub(borrow.into()) & mask(bits);
    let flags = &mut m.registers.flags;
    flags.carry = u128::from(a) < u128::from(b) + u128::from(borrow);
    flags.overflow = (a ^ b) & (a ^ result) & 1 << (bits - 1) != 0;
    flags.result(result, bits);
    result
}

fn logical<S, W>(m: &mut Machine<S, W>, result: u64, bits: u32) -> u64 {
    let flags = &mut m.registers.flags;
    (flags.carry, flags.overflow) = (false, false);
    flags.result(result, bits);
    result
}

fn shift<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let by = m.operand(i, 1)? as u32 & if bits == 64 { 63 } else { 31 };
    let value = m.operand(i, 0)? & mask(bits);
    if by == 0 {
        return m.set_operand(i, 0, value);
    }
    let top = |value: u64| value >> (bits - 1) & 1 == 1;
    let wide = u128::from(value);
    let mut flags = m.registers.flags;
    let result = match i.mnemonic() {
        Mnemonic::Shl | Mnemonic::Sal => {
            let result = (wide << by) as u64 & mask(bits);
            flags.carry = wide << by >> bits & 1 == 1;
            flags.overflow = top(result) != flags.carry;
            result
        }
        Mnemonic::Shr => {
            flags.carry = wide >> (by - 1) & 1 == 1;
            flags.overflow = top(value);
            (wide >> by) as u64
        }
        Mnemonic::Sar => {
            let wide = i128::from(signed(value, bits));
            flags.carry = wide >> (by - 1) & 1 == 1;
            flags.overflow = false;
            (wide >> by) as u64 & mask(bits)
        }
        rotates => {
            let by = by % bits;
            let left = if rotates == Mnemonic::Rol { by } else { (bits - by) % bits };
            let result = (wide << left | wide >> (bits - left)) as u64 & mask(bits);
            if rotates == Mnemonic::Rol {
                flags.carry = result & 1 == 1;
                flags.overflow = top(result) != flags.carry;
            } else {
                flags.carry = top(result);
                flags.overflow = top(result) != (result >> (bits - 2) & 1 == 1);
            }
            m.registers.flags = flags;
            return m.set_operand(i, 0, result);
        }
    };
    flags.result(result, bits);
    m.registers.flags = flags;
    m.set_operand(i, 0, result)
}

/// `rcl` and `rcr`: the carry is one bit more.
fn rotate_through<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let by = m.operand(i, 1)? as u32 & if bits == 64 { 63 } else { 31 };
    let mut value = m.operand(i, 0)? & mask(bits);
    let flags = &mut m.registers.flags;
    for _ in 0..by {
        let carry = u64::from(flags.carry);
        if i.mnemonic() == Mnemonic::Rcl {
            flags.carry = value >> (bits - 1) == 1;
            value = value << 1 & mask(bits) | carry;
        } else {
            flags.carry = value & 1 == 1;
            value = value >> 1 | carry << (bits - 1);
        }
    }
    if by > 0 {
        let next = if i.mnemonic() == Mnemonic::Rcl { flags.carry } else { value >> (bits - 2) & 1 == 1 };
        flags.overflow = (value >> (bits - 1) == 1) != next;
    }
    m.set_operand(i, 0, value)
}

/// `shld` and `shrd`.
fn double_shift<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let by = m.operand(i, 2)? as u32 & if bits == 64 { 63 } else { 31 };
    let (value, other) = (m.operand(i, 0)? & mask(bits), m.operand(i, 1)? & mask(bits));
    if by == 0 || by > bits {
        return m.set_operand(i, 0, value);
    }
    let left = i.mnemonic() == Mnemonic::Shld;
    let (result, carry) = if left {
        let wide = (u128::from(value) << bits | u128::from(other)) << by;
        ((wide >> bits) as u64 & mask(bits), value >> (bits - by) & 1 == 1)
    } else {
        let wide = (u128::from(other) << bits | u128::from(value)) >> by;
        (wide as u64 & mask(bits), value >> (by - 1) & 1 == 1)
    };
    let flags = &mut m.registers.flags;
    flags.carry = carry;
    flags.overflow = (result ^ value) >> (bits - 1) & 1 == 1;
    flags.result(result, bits);
    m.set_operand(i, 0, result)
}

/// Shifts that leave the flags alone.
fn shift_only<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let value = m.operand(i, 1)? & mask(bits);
    let by = m.operand(i, 2)? as u32 & (bits - 1);
    let result = match i.mnemonic() {
        Mnemonic::Shlx => value << by,
        Mnemonic::Shrx => value >> by,
        Mnemonic::Sarx => (signed(value, bits) >> by) as u64,
        _ => (u128::from(value) << (bits - by) | u128::from(value >> by)) as u64,
    };
    m.set_operand(i, 0, result & mask(bits))
}

fn multiply<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    if i.op_count() == 1 {
        return multiply_wide(m, i);
    }
    let bits = m.bits(i, 0);
    let (first, second) = if i.op_count() == 3 { (1, 2) } else { (0, 1) };
    let (a, b) = (m.operand(i, first)?, m.operand(i, second)?);
    let product = i128::from(signed(a, bits)) * i128::from(signed(b, bits));
    let result = product as u64 & mask(bits);
    overflows(m, product != i128::from(signed(result, bits)), result, bits);
    m.set_operand(i, 0, result)
}

/// The processor leaves sign, zero and parity undefined; they are set by the result here.
fn overflows<S, W>(m: &mut Machine<S, W>, overflow: bool, result: u64, bits: u32) {
    let flags = &mut m.registers.flags;
    (flags.carry, flags.overflow) = (overflow, overflow);
    flags.result(result, bits);
}

/// Registers of the lower and the upper half of a product or a number that is divided.
fn halves(bits: u32) -> (Register, Register) {
    match bits {
        64 => (Register::RAX, Register::RDX),
        32 => (Register::EAX, Register::EDX),
        16 => (Register::AX, Register::DX),
        _ => (Register::AL, Register::AH),
    }
}

fn multiply_wide<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    if i.mnemonic() == Mnemonic::Mulx {
        let bits = m.bits(i, 0);
        let by = if bits == 64 { Register::RDX } else { Register::EDX };
        let product = u128::from(m.operand(i, 2)?) * u128::from(m.registers.get(by));
        m.set_operand(i, 1, product as u64 & mask(bits))?;
        return m.set_operand(i, 0, (product >> bits) as u64 & mask(bits));
    }
    let (value, bits) = (m.operand(i, 0)?, m.bits(i, 0));
    let (low, high) = halves(bits);
    let by = m.registers.get(low);
    let (product, overflow) = if i.mnemonic() == Mnemonic::Imul {
        let product = i128::from(signed(value, bits)) * i128::from(signed(by, bits));
        (product as u128, product != i128::from(signed(product as u64 & mask(bits), bits)))
    } else {
        let product = u128::from(value) * u128::from(by);
        (product, product >> bits != 0)
    };
    m.registers.set(low, product as u64 & mask(bits));
    m.registers.set(high, (product >> bits) as u64 & mask(bits));
    overflows(m, overflow, product as u64, bits);
    Ok(())
}

fn divide<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let (by, bits) = (m.operand(i, 0)?, m.bits(i, 0));
    let (low, high) = halves(bits);
    let value = u128::from(m.registers.get(high)) << bits | u128::from(m.registers.get(low));
    let by = u128::from(by);
    if by == 0 || value / by > u128::from(mask(bits)) {
        return Err(End::Fault(0));
    }
    m.registers.set(low, (value / by) as u64);
    m.registers.set(high, (value % by) as u64);
    Ok(())
}

fn divide_signed<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let (by, bits) = (m.operand(i, 0)?, m.bits(i, 0));
    let (low, high) = halves(bits);
    let upper = i128::from(signed(m.registers.get(high), bits));
    let value = upper << bits | i128::from(m.registers.get(low));
    let by = i128::from(signed(by, bits));
    let quotient = value
        .checked_div(by)
        .filter(|quotient| i128::from(signed(*quotient as u64 & mask(bits), bits)) == *quotient);
    let Some(quotient) = quotient else { return Err(End::Fault(0)) };
    m.registers.set(low, quotient as u64 & mask(bits));
    m.registers.set(high, (value % by) as u64 & mask(bits));
    Ok(())
}

/// A register's value with its sign in a larger one.
fn part<S, W>(m: &mut Machine<S, W>, from: Register, to: Register) -> Done {
    let value = signed(m.registers.get(from), from.size() as u32 * 8) as u64;
    m.registers.set(to, value & mask(to.size() as u32 * 8));
    Ok(())
}

fn sign_of<S, W>(m: &mut Machine<S, W>, from: Register, to: Register) -> Done {
    let bits = from.size() as u32 * 8;
    let sign = if signed(m.registers.get(from), bits) < 0 { mask(bits) } else { 0 };
    m.registers.set(to, sign);
    Ok(())
}

fn bit<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let at = m.operand(i, 1)?;
    // With memory and a register the bit may be anywhere behind the address.
    if i.op0_kind() == OpKind::Memory && i.op1_kind() == OpKind::Register {
        return Err(unknown(i));
    }
    let value = m.operand(i, 0)?;
    let one = 1 << (at & u64::from(bits - 1));
    m.registers.flags.carry = value & one != 0;
    match i.mnemonic() {
        Mnemonic::Bts => m.set_operand(i, 0, value | one),
        Mnemonic::Btr => m.set_operand(i, 0, value & !one),
        Mnemonic::Btc => m.set_operand(i, 0, value ^ one),
        _ => Ok(()),
    }
}

fn count<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let value = m.operand(i, 1)? & mask(bits);
    let trailing = value.trailing_zeros().min(bits);
    let leading = (value.leading_zeros() + bits).saturating_sub(64).min(bits);
    let flags = &mut m.registers.flags;
    flags.zero = value == 0;
    let result = match i.mnemonic() {
        // The register stays as it is.
        Mnemonic::Bsf | Mnemonic::Bsr if value == 0 => return Ok(()),
        Mnemonic::Bsf => trailing,
        Mnemonic::Bsr => bits - 1 - leading,
        Mnemonic::Popcnt => {
            (flags.carry, flags.overflow, flags.sign, flags.parity) = (false, false, false, false);
            value.count_ones()
        }
        counts => {
            let result = if counts == Mnemonic::Tzcnt { trailing } else { leading };
            (flags.carry, flags.zero) = (value == 0, result == 0);
            result
        }
    };
    m.set_operand(i, 0, result.into())
}

/// `blsr`, `blsi`, `blsmsk`.
fn lowest<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let value = m.operand(i, 1)? & mask(bits);
    let (result, carry) = match i.mnemonic() {
        Mnemonic::Blsr => (value & value.wrapping_sub(1), value == 0),
        Mnemonic::Blsi => (value & value.wrapping_neg(), value != 0),
        _ => (value ^ value.wrapping_sub(1), value == 0),
    };
    let result = logical(m, result & mask(bits), bits);
    m.registers.flags.carry = carry;
    m.set_operand(i, 0, result)
}

fn exchange<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let (a, b) = (m.operand(i, 0)?, m.operand(i, 1)?);
    // Memory, whose address a register may tell, before the register.
    let first = if i.op1_kind() == OpKind::Memory { 1 } else { 0 };
    m.set_operand(i, first, if first == 0 { b } else { a })?;
    m.set_operand(i, 1 - first, if first == 0 { a } else { b })
}

fn compare_exchange<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let bits = m.bits(i, 0);
    let (low, _) = halves(bits);
    let (old, new, expected) = (m.operand(i, 0)?, m.operand(i, 1)?, m.registers.get(low));
    subtract(m, expected, old, false, bits);
    if m.registers.flags.zero {
        return m.set_operand(i, 0, new);
    }
    m.registers.set(low, old);
    Ok(())
}
