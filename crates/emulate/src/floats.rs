//! Instructions on fractions in vector registers. Rounding is to nearest, as it is unless a program asks for another.

use crate::lanes::{joined, lanes};
use crate::machine::{Done, Machine, Watch, is_newer, unknown};
use crate::memory::Source;
use crate::registers::mask;
use iced_x86::{Instruction, Mnemonic, OpKind};
use std::cmp::Ordering;

/// What is done to two numbers.
#[derive(Clone, Copy)]
enum Of {
    Add,
    Subtract,
    Multiply,
    Divide,
    Least,
    Most,
    Root,
}

/// Lanes that are worked on.
#[derive(Clone, Copy)]
enum Lanes {
    /// The lowest of 4 or 8 bytes; the others stay.
    One(usize),
    All(usize),
}

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    use Mnemonic::*;
    if let Some((of, lanes)) = arithmetic(i.mnemonic()) {
        return Some(calculate(m, i, of, lanes));
    }
    Some(match i.mnemonic() {
        Ucomiss | Comiss | Vucomiss | Vcomiss => compare(m, i, 4),
        Ucomisd | Comisd | Vucomisd | Vcomisd => compare(m, i, 8),
        Cmpss | Vcmpss => compare_to_mask(m, i, Lanes::One(4)),
        Cmpsd | Vcmpsd if i.op_count() >= 3 => compare_to_mask(m, i, Lanes::One(8)),
        Cmpps | Vcmpps => compare_to_mask(m, i, Lanes::All(4)),
        Cmppd | Vcmppd => compare_to_mask(m, i, Lanes::All(8)),
        Cvtsi2ss | Vcvtsi2ss => from_whole(m, i, 4),
        Cvtsi2sd | Vcvtsi2sd => from_whole(m, i, 8),
        Cvttss2si | Vcvttss2si => to_whole(m, i, 4, true),
        Cvttsd2si | Vcvttsd2si => to_whole(m, i, 8, true),
        Cvtss2si | Vcvtss2si => to_whole(m, i, 4, false),
        Cvtsd2si | Vcvtsd2si => to_whole(m, i, 8, false),
        Cvtss2sd | Vcvtss2sd => converted(m, i, 8),
        Cvtsd2ss | Vcvtsd2ss => converted(m, i, 4),
        Cvtdq2pd | Cvtdq2ps | Cvtps2pd | Cvtpd2ps | Cvttps2dq | Cvttpd2dq => several(m, i),
        Roundss | Vroundss => rounded(m, i, 4),
        Roundsd | Vroundsd => rounded(m, i, 8),
        _ => return fused(i.mnemonic()).map(|(order, sign, size)| multiply_and_add(m, i, order, sign, size)),
    })
}

fn arithmetic(mnemonic: Mnemonic) -> Option<(Of, Lanes)> {
    use Mnemonic::*;
    let of = match mnemonic {
        Addss | Addsd | Addps | Addpd | Vaddss | Vaddsd | Vaddps | Vaddpd => Of::Add,
        Subss | Subsd | Subps | Subpd | Vsubss | Vsubsd | Vsubps | Vsubpd => Of::Subtract,
        Mulss | Mulsd | Mulps | Mulpd | Vmulss | Vmulsd | Vmulps | Vmulpd => Of::Multiply,
        Divss | Divsd | Divps | Divpd | Vdivss | Vdivsd | Vdivps | Vdivpd => Of::Divide,
        Minss | Minsd | Minps | Minpd | Vminss | Vminsd | Vminps | Vminpd => Of::Least,
        Maxss | Maxsd | Maxps | Maxpd | Vmaxss | Vmaxsd | Vmaxps | Vmaxpd => Of::Most,
        Sqrtss | Sqrtsd | Sqrtps | Sqrtpd | Vsqrtss | Vsqrtsd => Of::Root,
        _ => return None,
    };
    let lanes = match mnemonic {
        Addss | Vaddss | Subss | Vsubss | Mulss | Vmulss | Divss | Vdivss | Minss | Vminss | Maxss
        | Vmaxss | Sqrtss | Vsqrtss => Lanes::One(4),
        Addsd | Vaddsd | Subsd | Vsubsd | Mulsd | Vmulsd | Divsd | Vdivsd | Minsd | Vminsd | Maxsd
        | Vmaxsd | Sqrtsd | Vsqrtsd => Lanes::One(8),
        Addps | Vaddps | Subps | Vsubps | Mulps | Vmulps | Divps | Vdivps | Minps | Vminps | Maxps
        | Vmaxps | Sqrtps => Lanes::All(4),
        _ => Lanes::All(8),
    };
    Some((of, lanes))
}

fn calculate<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Of, on: Lanes) -> Done {
    // A root is of the last operand alone; of the newer encoding with one lane the others are those of the operand before.
    let (first, second) = if is_newer(i) && i.op_count() == 3 { (1, 2) } else { (0, 1) };
    let (a, b) = (m.vector(i, first)?, m.vector(i, second)?);
    let half = |a, b| by_lane(a, b, on, |a, b, size| number(of, a, b, size));
    m.set_vector(i, 0, [half(a[0], b[0]), half(a[1], b[1])])
}

/// Lanes of two halves, as bits.
fn by_lane(a: u128, b: u128, on: Lanes, of: impl Fn(u64, u64, usize) -> u64) -> u128 {
    match on {
        Lanes::One(size) => {
            let keep = u128::from(mask(8 * size as u32));
            a & !keep | u128::from(of((a & keep) as u64, (b & keep) as u64, size)) & keep
        }
        Lanes::All(4) => joined::<4>(lanes::<4>(a).zip(lanes::<4>(b)).map(|(a, b)| of(a, b, 4))),
        Lanes::All(_) => joined::<8>(lanes::<8>(a).zip(lanes::<8>(b)).map(|(a, b)| of(a, b, 8))),
    }
}

fn number(of: Of, a: u64, b: u64, size: usize) -> u64 {
    // Where they cannot be compared or are equal, the second is the least and the most.
    macro_rules! of_two {
        ($a:expr, $b:expr) => {{
            let (a, b) = ($a, $b);
            match of {
                Of::Add => a + b,
                Of::Subtract => a - b,
                Of::Multiply => a * b,
                Of::Divide => a / b,
                Of::Least => {
                    if a < b {
                        a
                    } else {
                        b
                    }
                }
                Of::Most => {
                    if a > b {
                        a
                    } else {
                        b
                    }
                }
                Of::Root => b.sqrt(),
            }
        }};
    }
    if size == 4 {
        return of_two!(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into();
    }
    of_two!(f64::from_bits(a), f64::from_bits(b)).to_bits()
}

fn value(bits: u64, size: usize) -> f64 {
    if size == 4 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
}

fn low<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    i: &Instruction,
    operand: u32,
    size: usize,
) -> Result<f64, crate::End> {
    let bits = m.vector(i, operand)?[0] as u64 & mask(8 * size as u32);
    Ok(value(bits, size))
}

fn compare<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    let (a, b) = (low(m, i, 0, size)?, low(m, i, 1, size)?);
    let none = a.is_nan() || b.is_nan();
    let flags = &mut m.registers.flags;
    (flags.overflow, flags.sign) = (false, false);
    flags.zero = none || a == b;
    flags.parity = none;
    flags.carry = none || a < b;
    Ok(())
}

fn compare_to_mask<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, on: Lanes) -> Done {
    let (first, second) = if is_newer(i) { (1, 2) } else { (0, 1) };
    let how = i.immediate(i.op_count() - 1) & 31;
    let (a, b) = (m.vector(i, first)?, m.vector(i, second)?);
    let holds = |a: f64, b: f64| match how & 7 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => a.is_nan() || b.is_nan(),
        4 => a != b,
        5 => !matches!(a.partial_cmp(&b), Some(Ordering::Less)),
        6 => !matches!(a.partial_cmp(&b), Some(Ordering::Less | Ordering::Equal)),
        _ => !a.is_nan() && !b.is_nan(),
    };
    if how > 7 {
        return Err(unknown(i));
    }
    let half = |a, b| {
        by_lane(a, b, on, |a, b, size| if holds(value(a, size), value(b, size)) { u64::MAX } else { 0 })
    };
    m.set_vector(i, 0, [half(a[0], b[0]), half(a[1], b[1])])
}

/// Puts a number into the lowest lane; the others are those of the first operand, or of the second of three.
fn set_low<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, bits: u64, size: usize) -> Done {
    let keep = u128::from(mask(8 * size as u32));
    let others = m.vector(i, if i.op_count() == 3 && is_newer(i) { 1 } else { 0 })?[0];
    m.set_vector(i, 0, [others & !keep | u128::from(bits) & keep, 0])
}

fn from_whole<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    let last = i.op_count() - 1;
    let bits = m.bits(i, last);
    let whole = crate::registers::signed(m.operand(i, last)?, bits);
    let result = if size == 4 { u64::from((whole as f32).to_bits()) } else { (whole as f64).to_bits() };
    set_low(m, i, result, size)
}

fn to_whole<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize, cut: bool) -> Done {
    let from = low(m, i, 1, size)?;
    let from = if cut { from.trunc() } else { from.round_ties_even() };
    let result = whole(from, m.bits(i, 0));
    m.set_operand(i, 0, result)
}

/// What does not fit is the least number.
fn whole(from: f64, bits: u32) -> u64 {
    let most = 2f64.powi(bits as i32 - 1);
    if from >= -most && from < most { from as i64 as u64 & mask(bits) } else { 1 << (bits - 1) }
}

fn converted<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, to: usize) -> Done {
    let from = low(m, i, i.op_count() - 1, 12 - to)?;
    let bits = if to == 4 { u64::from((from as f32).to_bits()) } else { from.to_bits() };
    set_low(m, i, bits, to)
}

/// Conversions of two or four lanes, of the older encoding.
fn several<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    use Mnemonic::*;
    let from = m.vector(i, 1)?[0];
    let signed = |lane: u64| lane as u32 as i32;
    let single = |lane: u64| f32::from_bits(lane as u32);
    let result = match i.mnemonic() {
        Cvtdq2pd => joined::<8>(lanes::<4>(from).take(2).map(|lane| f64::from(signed(lane)).to_bits())),
        Cvtdq2ps => joined::<4>(lanes::<4>(from).map(|lane| (signed(lane) as f32).to_bits().into())),
        Cvtps2pd => joined::<8>(lanes::<4>(from).take(2).map(|lane| f64::from(single(lane)).to_bits())),
        Cvtpd2ps => joined::<4>(lanes::<8>(from).map(|lane| (f64::from_bits(lane) as f32).to_bits().into())),
        Cvttps2dq => joined::<4>(lanes::<4>(from).map(|lane| whole(f64::from(single(lane)).trunc(), 32))),
        _ => joined::<4>(lanes::<8>(from).map(|lane| whole(f64::from_bits(lane).trunc(), 32))),
    };
    m.set_vector(i, 0, [result, 0])
}

fn rounded<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    let last = i.op_count() - 1;
    let from = low(m, i, last - 1, size)?;
    let to = match i.immediate(last) & 7 {
        1 => from.floor(),
        2 => from.ceil(),
        3 => from.trunc(),
        _ => from.round_ties_even(),
    };
    let bits = if size == 4 { u64::from((to as f32).to_bits()) } else { to.to_bits() };
    let keep = u128::from(mask(8 * size as u32));
    let others = m.vector(i, if last == 3 { 1 } else { 0 })?[0];
    m.set_vector(i, 0, [others & !keep | u128::from(bits) & keep, 0])
}

/// The order of operands, the signs of the product and of what is added, and bytes of a number.
type Fused = ([u32; 3], [f64; 2], usize);

fn fused(mnemonic: Mnemonic) -> Option<Fused> {
    use Mnemonic::*;
    let order = match mnemonic {
        Vfmadd132sd | Vfmsub132sd | Vfnmadd132sd | Vfnmsub132sd | Vfmadd132ss => [0, 2, 1],
        Vfmadd213sd | Vfmsub213sd | Vfnmadd213sd | Vfnmsub213sd | Vfmadd213ss => [1, 0, 2],
        Vfmadd231sd | Vfmsub231sd | Vfnmadd231sd | Vfnmsub231sd | Vfmadd231ss => [1, 2, 0],
        _ => return None,
    };
    let signs = match mnemonic {
        Vfmsub132sd | Vfmsub213sd | Vfmsub231sd => [1.0, -1.0],
        Vfnmadd132sd | Vfnmadd213sd | Vfnmadd231sd => [-1.0, 1.0],
        Vfnmsub132sd | Vfnmsub213sd | Vfnmsub231sd => [-1.0, -1.0],
        _ => [1.0, 1.0],
    };
    let size = if matches!(mnemonic, Vfmadd132ss | Vfmadd213ss | Vfmadd231ss) { 4 } else { 8 };
    Some((order, signs, size))
}

fn multiply_and_add<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    i: &Instruction,
    [a, b, c]: [u32; 3],
    [product, sum]: [f64; 2],
    size: usize,
) -> Done {
    if i.op_kind(0) != OpKind::Register {
        return Err(unknown(i));
    }
    let (a, b, c) = (low(m, i, a, size)?, low(m, i, b, size)?, low(m, i, c, size)?);
    let bits = if size == 4 {
        (a as f32).mul_add(b as f32, c as f32).to_bits().into()
    } else {
        (product * a).mul_add(b, sum * c).to_bits()
    };
    let keep = u128::from(mask(8 * size as u32));
    let others = m.vector(i, 0)?[0];
    m.set_vector(i, 0, [others & !keep | u128::from(bits) & keep, 0])
}
