//! Instructions that work on lanes of whole numbers in vector registers, or on all their bits.
//!
//! An instruction of the older encoding changes its first operand; one of the newer encoding takes two others. Both do the same to each half of 16 bytes.

use crate::machine::{Done, Machine, Watch, is_newer};
use crate::memory::Source;
use iced_x86::{Instruction, Mnemonic, OpKind};

/// What is made of two halves.
type Two = fn(u128, u128) -> u128;

/// Runs an instruction; none if it is none of these.
pub(crate) fn act<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction) -> Option<Done> {
    if let Some(of) = two(i.mnemonic()) {
        return Some(apply(m, i, of));
    }
    if let Some(of) = shift(i.mnemonic()) {
        return Some(by_count(m, i, of));
    }
    if let Some(of) = with_number(i.mnemonic()) {
        // Of some there is a kind that is told by a register.
        if !is_immediate(i.op_kind(i.op_count() - 1)) {
            return None;
        }
        let number = i.immediate(i.op_count() - 1) as u8;
        // Those that take one vector only, and those that take two.
        return Some(if is_of_one(i.mnemonic()) {
            m.vector(i, 1).and_then(|b| m.set_vector(i, 0, [of(0, b[0], number), of(0, b[1], number)]))
        } else {
            apply(m, i, |a, b| of(a, b, number))
        });
    }
    if let Some((from, to, signed)) = widened(i.mnemonic()) {
        return Some(widen(m, i, from, to, signed));
    }
    blended(i.mnemonic()).map(|of| blend(m, i, of))
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8 | OpKind::Immediate8to16 | OpKind::Immediate8to32 | OpKind::Immediate8to64
    )
}

/// Both halves of two operands.
pub(crate) fn apply<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    i: &Instruction,
    of: impl Fn(u128, u128) -> u128,
) -> Done {
    // What looks at one operand alone takes it from the last.
    let (first, second) = if is_newer(i) && i.op_count() > 2 { (1, 2) } else { (0, 1) };
    let (a, b) = (m.vector(i, first)?, m.vector(i, second)?);
    m.set_vector(i, 0, [of(a[0], b[0]), of(a[1], b[1])])
}

/// What is chosen of two halves by the highest bits of the lanes of a third.
type Three = fn(u128, u128, u128) -> u128;

fn blended(mnemonic: Mnemonic) -> Option<Three> {
    use Mnemonic::*;
    fn by_sign<const N: usize>(a: u128, b: u128, mask: u128) -> u128 {
        let pick = |((a, b), mask): ((u64, u64), u64)| if signed::<N>(mask) < 0 { b } else { a };
        joined::<N>(lanes::<N>(a).zip(lanes::<N>(b)).zip(lanes::<N>(mask)).map(pick))
    }
    Some(match mnemonic {
        Pblendvb | Vpblendvb => by_sign::<1>,
        Blendvps | Vblendvps => by_sign::<4>,
        Blendvpd | Vblendvpd => by_sign::<8>,
        _ => return None,
    })
}

/// The third operand of the older encoding is always the first register.
fn blend<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Three) -> Done {
    let (a, b, by) = if is_newer(i) {
        (m.vector(i, 1)?, m.vector(i, 2)?, m.vector(i, 3)?)
    } else {
        (m.vector(i, 0)?, m.vector(i, 1)?, m.registers.vectors[0])
    };
    m.set_vector(i, 0, [of(a[0], b[0], by[0]), of(a[1], b[1], by[1])])
}

/// The first with the sign of the second.
fn with_sign_of<const N: usize>(a: u128, b: u128) -> u128 {
    each::<N>(a, b, |a, b| match signed::<N>(b) {
        0 => 0,
        ..0 => a.wrapping_neg(),
        _ => a,
    })
}

/// Lanes of `N` bytes.
pub(crate) fn lanes<const N: usize>(value: u128) -> impl Iterator<Item = u64> {
    (0..16 / N).map(move |at| (value >> (at * N * 8)) as u64 & mask::<N>())
}

fn mask<const N: usize>() -> u64 {
    crate::registers::mask(8 * N as u32)
}

pub(crate) fn joined<const N: usize>(lanes: impl Iterator<Item = u64>) -> u128 {
    lanes.enumerate().fold(0, |all, (at, lane)| all | u128::from(lane & mask::<N>()) << (at * N * 8))
}

fn each<const N: usize>(a: u128, b: u128, of: fn(u64, u64) -> u64) -> u128 {
    joined::<N>(lanes::<N>(a).zip(lanes::<N>(b)).map(|(a, b)| of(a, b)))
}

fn signed<const N: usize>(value: u64) -> i64 {
    crate::registers::signed(value, 8 * N as u32)
}

fn all_ones(is: bool) -> u64 {
    if is { u64::MAX } else { 0 }
}

fn clamp(value: i64, least: i64, most: i64) -> u64 {
    value.clamp(least, most) as u64
}

/// Lanes of both, in turns.
fn interleaved<const N: usize>(a: u128, b: u128) -> u128 {
    let (a, b) = (lanes::<N>(a).take(8 / N), lanes::<N>(b));
    joined::<N>(a.zip(b).flat_map(|(a, b)| [a, b]))
}

/// Lanes of `N` bytes made half as long, those of the first before those of the second.
fn packed<const N: usize>(a: u128, b: u128, least: i64, most: i64) -> u128 {
    let all = lanes::<N>(a).chain(lanes::<N>(b)).map(|lane| clamp(signed::<N>(lane), least, most));
    let bits = 4 * N;
    all.enumerate().fold(0, |all, (at, lane)| {
        all | u128::from(lane & crate::registers::mask(bits as u32)) << (at * bits)
    })
}

fn shuffled(a: u128, b: u128) -> u128 {
    let of = a.to_le_bytes();
    let one = |by: u8| if by >> 7 == 1 { 0 } else { of[usize::from(by & 15)] };
    u128::from_le_bytes(b.to_le_bytes().map(one))
}

/// Products of pairs, added.
fn pairs(a: u128, b: u128) -> u128 {
    let products: Vec<i64> =
        lanes::<2>(a).zip(lanes::<2>(b)).map(|(a, b)| signed::<2>(a) * signed::<2>(b)).collect();
    joined::<4>(products.chunks(2).map(|two| two.iter().sum::<i64>() as u64))
}

/// Differences of bytes, added for each eight.
fn distances(a: u128, b: u128) -> u128 {
    let all: Vec<u64> = lanes::<1>(a).zip(lanes::<1>(b)).map(|(a, b)| a.abs_diff(b)).collect();
    joined::<8>(all.chunks(8).map(|eight| eight.iter().sum::<u64>()))
}

fn two(mnemonic: Mnemonic) -> Option<Two> {
    use Mnemonic::*;
    Some(match mnemonic {
        Pxor | Xorps | Xorpd | Vpxor | Vxorps | Vxorpd => |a, b| a ^ b,
        Por | Orps | Orpd | Vpor | Vorps | Vorpd => |a, b| a | b,
        Pand | Andps | Andpd | Vpand | Vandps | Vandpd => |a, b| a & b,
        Pandn | Andnps | Andnpd | Vpandn | Vandnps | Vandnpd => |a, b| !a & b,
        Paddb | Vpaddb => |a, b| each::<1>(a, b, u64::wrapping_add),
        Paddw | Vpaddw => |a, b| each::<2>(a, b, u64::wrapping_add),
        Paddd | Vpaddd => |a, b| each::<4>(a, b, u64::wrapping_add),
        Paddq | Vpaddq => |a, b| each::<8>(a, b, u64::wrapping_add),
        Psubb | Vpsubb => |a, b| each::<1>(a, b, u64::wrapping_sub),
        Psubw | Vpsubw => |a, b| each::<2>(a, b, u64::wrapping_sub),
        Psubd | Vpsubd => |a, b| each::<4>(a, b, u64::wrapping_sub),
        Psubq | Vpsubq => |a, b| each::<8>(a, b, u64::wrapping_sub),
        Paddusb | Vpaddusb => |a, b| each::<1>(a, b, |a, b| (a + b).min(0xff)),
        Paddusw | Vpaddusw => |a, b| each::<2>(a, b, |a, b| (a + b).min(0xffff)),
        Psubusb | Vpsubusb => |a, b| each::<1>(a, b, u64::saturating_sub),
        Psubusw | Vpsubusw => |a, b| each::<2>(a, b, u64::saturating_sub),
        Paddsb | Vpaddsb => {
            |a, b| each::<1>(a, b, |a, b| clamp(signed::<1>(a) + signed::<1>(b), -0x80, 0x7f))
        }
        Paddsw | Vpaddsw => {
            |a, b| each::<2>(a, b, |a, b| clamp(signed::<2>(a) + signed::<2>(b), -0x8000, 0x7fff))
        }
        Psubsb | Vpsubsb => {
            |a, b| each::<1>(a, b, |a, b| clamp(signed::<1>(a) - signed::<1>(b), -0x80, 0x7f))
        }
        Psubsw | Vpsubsw => {
            |a, b| each::<2>(a, b, |a, b| clamp(signed::<2>(a) - signed::<2>(b), -0x8000, 0x7fff))
        }
        Pmullw | Vpmullw => |a, b| each::<2>(a, b, u64::wrapping_mul),
        Pmulld | Vpmulld => |a, b| each::<4>(a, b, u64::wrapping_mul),
        Pmulhw | Vpmulhw => |a, b| each::<2>(a, b, |a, b| ((signed::<2>(a) * signed::<2>(b)) >> 16) as u64),
        Pmulhuw | Vpmulhuw => |a, b| each::<2>(a, b, |a, b| (a * b) >> 16),
        Pmuludq | Vpmuludq => |a, b| each::<8>(a, b, |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff)),
        Pmuldq | Vpmuldq => |a, b| each::<8>(a, b, |a, b| signed::<4>(a).wrapping_mul(signed::<4>(b)) as u64),
        Pmaddwd | Vpmaddwd => pairs,
        Psadbw | Vpsadbw => distances,
        Pavgb | Vpavgb => |a, b| each::<1>(a, b, |a, b| (a + b + 1) >> 1),
        Pavgw | Vpavgw => |a, b| each::<2>(a, b, |a, b| (a + b + 1) >> 1),
        Pminub | Vpminub => |a, b| each::<1>(a, b, u64::min),
        Pminuw | Vpminuw => |a, b| each::<2>(a, b, u64::min),
        Pminud | Vpminud => |a, b| each::<4>(a, b, u64::min),
        Pmaxub | Vpmaxub => |a, b| each::<1>(a, b, u64::max),
        Pmaxuw | Vpmaxuw => |a, b| each::<2>(a, b, u64::max),
        Pmaxud | Vpmaxud => |a, b| each::<4>(a, b, u64::max),
        Pminsb | Vpminsb => |a, b| each::<1>(a, b, |a, b| signed::<1>(a).min(signed::<1>(b)) as u64),
        Pminsw | Vpminsw => |a, b| each::<2>(a, b, |a, b| signed::<2>(a).min(signed::<2>(b)) as u64),
        Pminsd | Vpminsd => |a, b| each::<4>(a, b, |a, b| signed::<4>(a).min(signed::<4>(b)) as u64),
        Pmaxsb | Vpmaxsb => |a, b| each::<1>(a, b, |a, b| signed::<1>(a).max(signed::<1>(b)) as u64),
        Pmaxsw | Vpmaxsw => |a, b| each::<2>(a, b, |a, b| signed::<2>(a).max(signed::<2>(b)) as u64),
        Pmaxsd | Vpmaxsd => |a, b| each::<4>(a, b, |a, b| signed::<4>(a).max(signed::<4>(b)) as u64),
        Pcmpeqb | Vpcmpeqb => |a, b| each::<1>(a, b, |a, b| all_ones(a == b)),
        Pcmpeqw | Vpcmpeqw => |a, b| each::<2>(a, b, |a, b| all_ones(a == b)),
        Pcmpeqd | Vpcmpeqd => |a, b| each::<4>(a, b, |a, b| all_ones(a == b)),
        Pcmpeqq | Vpcmpeqq => |a, b| each::<8>(a, b, |a, b| all_ones(a == b)),
        Pcmpgtb | Vpcmpgtb => |a, b| each::<1>(a, b, |a, b| all_ones(signed::<1>(a) > signed::<1>(b))),
        Pcmpgtw | Vpcmpgtw => |a, b| each::<2>(a, b, |a, b| all_ones(signed::<2>(a) > signed::<2>(b))),
        Pcmpgtd | Vpcmpgtd => |a, b| each::<4>(a, b, |a, b| all_ones(signed::<4>(a) > signed::<4>(b))),
        Pcmpgtq | Vpcmpgtq => |a, b| each::<8>(a, b, |a, b| all_ones(signed::<8>(a) > signed::<8>(b))),
        Punpcklbw | Vpunpcklbw => interleaved::<1>,
        Punpcklwd | Vpunpcklwd => interleaved::<2>,
        Punpckldq | Vpunpckldq | Unpcklps | Vunpcklps => interleaved::<4>,
        Punpcklqdq | Vpunpcklqdq | Unpcklpd | Vunpcklpd => interleaved::<8>,
        Punpckhbw | Vpunpckhbw => |a, b| interleaved::<1>(a >> 64, b >> 64),
        Punpckhwd | Vpunpckhwd => |a, b| interleaved::<2>(a >> 64, b >> 64),
        Punpckhdq | Vpunpckhdq | Unpckhps | Vunpckhps => |a, b| interleaved::<4>(a >> 64, b >> 64),
        Punpckhqdq | Vpunpckhqdq | Unpckhpd | Vunpckhpd => |a, b| interleaved::<8>(a >> 64, b >> 64),
        Packuswb | Vpackuswb => |a, b| packed::<2>(a, b, 0, 0xff),
        Packsswb | Vpacksswb => |a, b| packed::<2>(a, b, -0x80, 0x7f),
        Packusdw | Vpackusdw => |a, b| packed::<4>(a, b, 0, 0xffff),
        Packssdw | Vpackssdw => |a, b| packed::<4>(a, b, -0x8000, 0x7fff),
        Pshufb | Vpshufb => shuffled,
        Psignb | Vpsignb => with_sign_of::<1>,
        Psignw | Vpsignw => with_sign_of::<2>,
        Psignd | Vpsignd => with_sign_of::<4>,
        Pabsb | Vpabsb => |_, b| joined::<1>(lanes::<1>(b).map(|lane| signed::<1>(lane).unsigned_abs())),
        Pabsw | Vpabsw => |_, b| joined::<2>(lanes::<2>(b).map(|lane| signed::<2>(lane).unsigned_abs())),
        Pabsd | Vpabsd => |_, b| joined::<4>(lanes::<4>(b).map(|lane| signed::<4>(lane).unsigned_abs())),
        _ => return None,
    })
}

/// What is made of a half by a count of bits.
type Shift = fn(u128, u64) -> u128;

fn shift(mnemonic: Mnemonic) -> Option<Shift> {
    use Mnemonic::*;
    fn left<const N: usize>(a: u128, by: u64) -> u128 {
        if by >= 8 * N as u64 { 0 } else { joined::<N>(lanes::<N>(a).map(|lane| lane << by)) }
    }
    fn right<const N: usize>(a: u128, by: u64) -> u128 {
        if by >= 8 * N as u64 { 0 } else { joined::<N>(lanes::<N>(a).map(|lane| lane >> by)) }
    }
    fn with_sign<const N: usize>(a: u128, by: u64) -> u128 {
        let by = by.min(8 * N as u64 - 1);
        joined::<N>(lanes::<N>(a).map(|lane| (signed::<N>(lane) >> by) as u64))
    }
    Some(match mnemonic {
        Psllw | Vpsllw => left::<2>,
        Pslld | Vpslld => left::<4>,
        Psllq | Vpsllq => left::<8>,
        Psrlw | Vpsrlw => right::<2>,
        Psrld | Vpsrld => right::<4>,
        Psrlq | Vpsrlq => right::<8>,
        Psraw | Vpsraw => with_sign::<2>,
        Psrad | Vpsrad => with_sign::<4>,
        Pslldq | Vpslldq => |a, by| if by > 15 { 0 } else { a << (8 * by) },
        Psrldq | Vpsrldq => |a, by| if by > 15 { 0 } else { a >> (8 * by) },
        _ => return None,
    })
}

fn by_count<S: Source, W: Watch<S>>(m: &mut Machine<S, W>, i: &Instruction, of: Shift) -> Done {
    let (first, second) = if is_newer(i) { (1, 2) } else { (0, 1) };
    let value = m.vector(i, first)?;
    let by = match i.op_kind(second) {
        OpKind::Register | OpKind::Memory => m.vector(i, second)?[0] as u64,
        _ => i.immediate(second),
    };
    m.set_vector(i, 0, [of(value[0], by), of(value[1], by)])
}

/// What is made of two halves and a number in the code.
type WithNumber = fn(u128, u128, u8) -> u128;

fn is_of_one(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Pshufd | Vpshufd | Pshuflw | Vpshuflw | Pshufhw | Vpshufhw | Vpermilps)
}

fn with_number(mnemonic: Mnemonic) -> Option<WithNumber> {
    use Mnemonic::*;
    fn chosen<const N: usize>(from: u128, number: u8) -> impl Iterator<Item = u64> {
        let from: Vec<u64> = lanes::<N>(from).take(4).collect();
        (0..4).map(move |at| from[usize::from(number >> (2 * at) & 3)])
    }
    Some(match mnemonic {
        Pshufd | Vpshufd | Vpermilps => |_, b, number| joined::<4>(chosen::<4>(b, number)),
        Pshuflw | Vpshuflw => |_, b, number| {
            b & !u128::from(u64::MAX) | joined::<2>(chosen::<2>(b, number)) & u128::from(u64::MAX)
        },
        Pshufhw | Vpshufhw => {
            |_, b, number| b & u128::from(u64::MAX) | joined::<2>(chosen::<2>(b >> 64, number)) << 64
        }
        Shufps | Vshufps => {
            |a, b, number| joined::<4>(chosen::<4>(a, number).take(2).chain(chosen::<4>(b, number).skip(2)))
        }
        Shufpd | Vshufpd => |a, b, number| {
            let one = |of: u128, which: u8| if which & 1 == 1 { of >> 64 } else { of & u128::from(u64::MAX) };
            one(a, number) | one(b, number >> 1) << 64
        },
        Palignr | Vpalignr => |a, b, number| {
            let bytes: Vec<u8> = b.to_le_bytes().into_iter().chain(a.to_le_bytes()).collect();
            let at = |at: usize| bytes.get(at + usize::from(number)).copied().unwrap_or(0);
            (0..16).fold(0, |all, byte| all | u128::from(at(byte)) << (8 * byte))
        },
        Pblendw | Vpblendw => |a, b, number| {
            let pick = |(at, (a, b)): (usize, (u64, u64))| if number >> at & 1 == 1 { b } else { a };
            joined::<2>(lanes::<2>(a).zip(lanes::<2>(b)).enumerate().map(pick))
        },
        Blendps | Vblendps => |a, b, number| {
            let pick = |(at, (a, b)): (usize, (u64, u64))| if number >> at & 1 == 1 { b } else { a };
            joined::<4>(lanes::<4>(a).zip(lanes::<4>(b)).enumerate().map(pick))
        },
        _ => return None,
    })
}

/// Bytes of a lane before and after, and whether its sign counts.
fn widened(mnemonic: Mnemonic) -> Option<(usize, usize, bool)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Pmovzxbw | Vpmovzxbw => (1, 2, false),
        Pmovzxbd | Vpmovzxbd => (1, 4, false),
        Pmovzxbq | Vpmovzxbq => (1, 8, false),
        Pmovzxwd | Vpmovzxwd => (2, 4, false),
        Pmovzxwq | Vpmovzxwq => (2, 8, false),
        Pmovzxdq | Vpmovzxdq => (4, 8, false),
        Pmovsxbw | Vpmovsxbw => (1, 2, true),
        Pmovsxbd | Vpmovsxbd => (1, 4, true),
        Pmovsxbq | Vpmovsxbq => (1, 8, true),
        Pmovsxwd | Vpmovsxwd => (2, 4, true),
        Pmovsxwq | Vpmovsxwq => (2, 8, true),
        Pmovsxdq | Vpmovsxdq => (4, 8, true),
        _ => return None,
    })
}

fn widen<S: Source, W: Watch<S>>(
    m: &mut Machine<S, W>,
    i: &Instruction,
    from: usize,
    to: usize,
    with_sign: bool,
) -> Done {
    let value = m.vector(i, 1)?[0];
    let bits = 8 * from as u32;
    let lane = |at: usize| {
        let lane = (value >> (at * from * 8)) as u64 & crate::registers::mask(bits);
        if with_sign { crate::registers::signed(lane, bits) as u64 } else { lane }
    };
    let keep = u128::from(crate::registers::mask(8 * to as u32));
    let half = |half: usize| {
        (0..16 / to).fold(0, |all, at| all | (u128::from(lane(half * 16 / to + at)) & keep) << (at * to * 8))
    };
    let high = if i.op_register(0).is_ymm() { half(1) } else { 0 };
    m.set_vector(i, 0, [half(0), high])
}
