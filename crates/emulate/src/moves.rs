//! Instructions that move what vector registers hold: to and from memory, between them, and to and from general registers.

use crate::machine::{Done, Machine, Watch, is_newer, unknown};
use crate::memory::Source;
use crate::registers::Flags;
use iced_x86::{Instruction, Mnemonic, OpKind};

const LOW: u128 = u64::MAX as u128;

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    use Mnemonic::*;
    Some(match i.mnemonic() {
        Movaps | Movups | Movapd | Movupd | Movdqa | Movdqu | Lddqu | Movntdq | Movntps | Movntpd
        | Vmovaps | Vmovups | Vmovapd | Vmovupd | Vmovdqa | Vmovdqu | Vlddqu | Vmovntdq | Vmovntps => {
            m.vector(i, 1).and_then(|value| m.set_vector(i, 0, value))
        }
        Movd | Movq | Vmovd | Vmovq => word(m, i),
        Movss | Vmovss => scalar(m, i, u128::from(u32::MAX)),
        Movsd | Vmovsd if i.op_register(0).is_xmm() || i.op_register(1).is_xmm() => scalar(m, i, LOW),
        Movlps | Movlpd | Vmovlps | Vmovlpd | Movhlps | Vmovhlps | Movhps | Movhpd | Vmovhps | Vmovhpd
        | Movlhps | Vmovlhps => half(m, i),
        Pmovmskb | Vpmovmskb => mask(m, i, 1),
        Movmskps | Vmovmskps => mask(m, i, 4),
        Movmskpd | Vmovmskpd => mask(m, i, 8),
        Pextrb | Vpextrb => extract(m, i, 1),
        Pextrw | Vpextrw => extract(m, i, 2),
        Pextrd | Vpextrd => extract(m, i, 4),
        Pextrq | Vpextrq => extract(m, i, 8),
        Pinsrb | Vpinsrb => insert(m, i, 1),
        Pinsrw | Vpinsrw => insert(m, i, 2),
        Pinsrd | Vpinsrd => insert(m, i, 4),
        Pinsrq | Vpinsrq => insert(m, i, 8),
        Vinserti128 | Vinsertf128 => lane_in(m, i),
        Vextracti128 | Vextractf128 => lane_out(m, i),
        Vpbroadcastb => broadcast(m, i, 1),
        Vpbroadcastw => broadcast(m, i, 2),
        Vpbroadcastd | Vbroadcastss => broadcast(m, i, 4),
        Vpbroadcastq | Vbroadcastsd | Movddup | Vmovddup => broadcast(m, i, 8),
        Vbroadcasti128 | Vbroadcastf128 => {
            m.vector(i, 1).and_then(|value| m.set_vector(i, 0, [value[0], value[0]]))
        }
        Vzeroupper => {
            m.registers.vectors.iter_mut().for_each(|vector| vector[1] = 0);
            Ok(())
        }
        Vzeroall => {
            m.registers.vectors = Default::default();
            Ok(())
        }
        Ptest | Vptest => m.vector(i, 0).and_then(|a| {
            let b = m.vector(i, 1)?;
            let flags = &mut m.registers.flags;
            *flags = Flags { down: flags.down, ..Flags::default() };
            flags.zero = a[0] & b[0] == 0 && a[1] & b[1] == 0;
            flags.carry = !a[0] & b[0] == 0 && !a[1] & b[1] == 0;
            Ok(())
        }),
        _ => return None,
    })
}

/// Four or eight bytes; the rest of a register becomes zero.
fn word<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let is_vector = |operand| i.op_kind(operand) == OpKind::Register && i.op_register(operand).is_xmm();
    let quad = matches!(i.mnemonic(), Mnemonic::Movq | Mnemonic::Vmovq);
    let keep = if quad { LOW } else { u128::from(u32::MAX) };
    let value = if is_vector(1) { m.vector(i, 1)?[0] & keep } else { m.operand(i, 1)?.into() };
    if is_vector(0) {
        return m.set_vector(i, 0, [value, 0]);
    }
    m.set_operand(i, 0, value as u64)
}

/// `movss` and `movsd`: between registers the upper part stays, or is that of the second of three.
fn scalar<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, keep: u128) -> Done {
    if i.op_count() == 3 {
        let (upper, low) = (m.vector(i, 1)?, m.vector(i, 2)?);
        return m.set_vector(i, 0, [upper[0] & !keep | low[0] & keep, 0]);
    }
    let value = m.vector(i, 1)?[0] & keep;
    if i.op0_kind() == OpKind::Memory || i.op1_kind() == OpKind::Memory {
        return m.set_vector(i, 0, [value, 0]);
    }
    let old = m.vector(i, 0)?[0];
    m.set_vector(i, 0, [old & !keep | value, 0])
}

fn half<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    use Mnemonic::*;
    let high = matches!(i.mnemonic(), Movhps | Movhpd | Vmovhps | Vmovhpd | Movlhps | Vmovlhps);
    if i.op0_kind() == OpKind::Memory {
        let value = m.vector(i, 1)?[0];
        return m.set_vector(i, 0, [if high { value >> 64 } else { value & LOW }, 0]);
    }
    let (old, from) = if is_newer(i) { (1, 2) } else { (0, 1) };
    let (old, from) = (m.vector(i, old)?[0], m.vector(i, from)?[0]);
    let value = match i.mnemonic() {
        Movhlps | Vmovhlps => old & !LOW | from >> 64,
        _ if high => old & LOW | from << 64,
        _ => old & !LOW | from & LOW,
    };
    m.set_vector(i, 0, [value, 0])
}

/// The highest bit of each element.
fn mask<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    let value = m.vector(i, 1)?;
    let size_of_register = i.op_register(1).size();
    let mut bits = 0;
    for (at, top) in (size - 1..size_of_register).step_by(size).enumerate() {
        let byte = (value[top / 16] >> (top % 16 * 8)) as u8;
        bits |= u64::from(byte >> 7) << at;
    }
    m.set_operand(i, 0, bits)
}

fn extract<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    let at = i.immediate(2) as usize % (16 / size);
    let value = (m.vector(i, 1)?[0] >> (at * size * 8)) as u64 & crate::registers::mask(8 * size as u32);
    m.set_operand(i, 0, value)
}

fn insert<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    let (old, from, at) = if is_newer(i) { (1, 2, 3) } else { (0, 1, 2) };
    let keep = u128::from(crate::registers::mask(8 * size as u32));
    let shift = i.immediate(at) as usize % (16 / size) * size * 8;
    let value = u128::from(m.operand(i, from)?) & keep;
    let old = m.vector(i, old)?[0];
    m.set_vector(i, 0, [old & !(keep << shift) | value << shift, 0])
}

fn lane_in<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let (mut value, lane) = (m.vector(i, 1)?, m.vector(i, 2)?);
    value[i.immediate(3) as usize & 1] = lane[0];
    m.set_vector(i, 0, value)
}

fn lane_out<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Done {
    let value = m.vector(i, 1)?;
    m.set_vector(i, 0, [value[i.immediate(2) as usize & 1], 0])
}

fn broadcast<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    // With registers of 32 bytes `movddup` does it in each half.
    if matches!(i.mnemonic(), Mnemonic::Vmovddup) && i.op_register(0).is_ymm() {
        return Err(unknown(i));
    }
    let keep = u128::from(crate::registers::mask(8 * size as u32));
    let one = m.vector(i, 1)?[0] & keep;
    let all = (0..16 / size).fold(0, |all, at| all | one << (at * size * 8));
    let high = if i.op_register(0).is_ymm() { all } else { 0 };
    m.set_vector(i, 0, [all, high])
}
