//! Instructions that copy, fill, compare or search memory, once or as often as rcx says.

use crate::machine::{Done, Machine, Watch, unknown};
use crate::memory::Source;
use crate::registers::mask;
use iced_x86::{Instruction, Mnemonic, Register};

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    use Mnemonic::*;
    let size = match i.mnemonic() {
        Movsb | Stosb | Lodsb | Scasb | Cmpsb => 1,
        Movsw | Stosw | Lodsw | Scasw | Cmpsw => 2,
        // `movsd` with vector registers is another instruction.
        Movsd
            if i.op_count() == 2
                && i.op_register(0) == Register::None
                && i.op_register(1) == Register::None =>
        {
            4
        }
        Stosd | Lodsd | Scasd | Cmpsd if i.op_register(0).is_gpr() || i.op_register(0) == Register::None => 4,
        Movsq | Stosq | Lodsq | Scasq | Cmpsq => 8,
        _ => return None,
    };
    Some(repeat(m, i, size))
}

/// Elements of one instruction at most: more take too long to be looked at one by one.
const MOST: u64 = 1 << 16;

fn repeat<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, size: usize) -> Done {
    use Mnemonic::*;
    if i.segment_prefix() != Register::None {
        return Err(unknown(i));
    }
    let repeats = i.has_rep_prefix() || i.has_repe_prefix() || i.has_repne_prefix();
    let compares = matches!(i.mnemonic(), Scasb | Scasw | Scasd | Scasq | Cmpsb | Cmpsw | Cmpsd | Cmpsq);
    let step = if m.registers.flags.down { (size as u64).wrapping_neg() } else { size as u64 };
    let bits = 8 * size as u32;
    if repeats && m.registers.general[1] > MOST {
        return Err(unknown(i));
    }
    while !repeats || m.registers.general[1] > 0 {
        let [_, _, _, _, _, _, source, target, ..] = m.registers.general;
        let held = m.registers.general[0] & mask(bits);
        match i.mnemonic() {
            Movsb | Movsw | Movsd | Movsq => {
                let value = m.load(source, size)?;
                m.store(target, size, value)?;
            }
            Stosb | Stosw | Stosd | Stosq => m.store(target, size, held)?,
            Lodsb | Lodsw | Lodsd | Lodsq => {
                let value = m.load(source, size)?;
                let old = m.registers.general[0];
                m.registers.general[0] = if size == 4 { value } else { old & !mask(bits) | value };
            }
            _ => {
                let other = m.load(target, size)?;
                let scans = matches!(i.mnemonic(), Scasb | Scasw | Scasd | Scasq);
                let value = if scans { held } else { m.load(source, size)? };
                let result = value.wrapping_sub(other) & mask(bits);
                let flags = &mut m.registers.flags;
                flags.carry = value < other;
                flags.overflow = (value ^ other) & (value ^ result) & 1 << (bits - 1) != 0;
                flags.result(result, bits);
            }
        }
        if !matches!(i.mnemonic(), Stosb | Stosw | Stosd | Stosq | Scasb | Scasw | Scasd | Scasq) {
            m.registers.general[6] = source.wrapping_add(step);
        }
        if !matches!(i.mnemonic(), Lodsb | Lodsw | Lodsd | Lodsq) {
            m.registers.general[7] = target.wrapping_add(step);
        }
        if !repeats {
            break;
        }
        m.registers.general[1] -= 1;
        let goes_on_if_equal = i.has_repe_prefix();
        if compares && m.registers.flags.zero != goes_on_if_equal {
            break;
        }
    }
    Ok(())
}
