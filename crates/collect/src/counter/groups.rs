//! Does a loop look for a key in a hash table whose places are compared in groups, as those of Rust (hashbrown), Abseil and others are?
//!
//! It compares a group of places with a few bits of the key's hash, makes one number of the results, and goes on with another group if no place is free
//! there: each time one group further than the last time, around the end of the table ("triangular numbers": hashbrown, `ProbeSeq` in
//! `src/raw.rs`; Abseil, `probe_seq`). Nothing else steps in this way.

use super::values::written;
use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};

/// Places of a group.
const PLACES: [u64; 3] = [8, 16, 32];

/// Whether the code of a loop does so.
pub(super) fn probes<'a>(code: impl Iterator<Item = &'a Instruction>) -> bool {
    let code: Vec<&Instruction> = code.collect();
    let is = |mnemonics: &[Mnemonic]| code.iter().any(|one| mnemonics.contains(&one.mnemonic()));
    if !is(&[Mnemonic::Pmovmskb, Mnemonic::Vpmovmskb]) {
        return false;
    }
    let mut infos = InstructionInfoFactory::new();
    let mut times = |register: Register| {
        let writes =
            |one: &&&Instruction| written(one, &mut infos).iter().any(|to| to.full_register() == register);
        code.iter().filter(writes).count()
    };
    let to =
        |one: &Instruction| (one.op0_kind() == OpKind::Register).then(|| one.op0_register().full_register());
    let from =
        |one: &Instruction| (one.op1_kind() == OpKind::Register).then(|| one.op1_register().full_register());
    let adds = || code.iter().filter(|one| one.mnemonic() == Mnemonic::Add);
    // How far the next step goes grows by a group, and by nothing else.
    let mut steps =
        adds().filter(|one| from(one).is_none() && PLACES.contains(&one.try_immediate(1).unwrap_or(0)));
    steps.any(|grows| {
        let Some(step) = to(grows) else { return false };
        let masked = |place: Register| {
            code.iter()
                .any(|one| one.mnemonic() == Mnemonic::And && to(one) == Some(place) && from(one).is_some())
        };
        let mut placed = adds().filter(|one| from(one) == Some(step)).filter_map(|one| to(one));
        placed.any(|place| place != step && masked(place)) && times(step) == 1
    })
}

#[cfg(test)]
mod tests {
    use crate::counter::loops::loops;
    use crate::counter::walk::Work;

    /// As rustc makes it of `HashMap::get_mut`.
    const LOOKUP: [u8; 49] = [
        0x48, 0x21, 0xf1, // 0: L: and rcx, rsi
        0xf3, 0x0f, 0x6f, 0x14, 0x0a, // 3: movdqu xmm2, [rdx+rcx]
        0x66, 0x0f, 0x6f, 0xda, // 8: movdqa xmm3, xmm2
        0x66, 0x0f, 0x74, 0xd8, // 12: pcmpeqb xmm3, xmm0
        0x66, 0x44, 0x0f, 0xd7, 0xc3, // 16: pmovmskb r8d, xmm3
        0x45, 0x85, 0xc0, // 21: test r8d, r8d
        0x75, 0x16, // 24: jne end
        0x66, 0x0f, 0xd7, 0xc2, // 26: pmovmskb eax, xmm2
        0x85, 0xc0, // 30: test eax, eax
        0x75, 0x0e, // 32: jne end
        0x48, 0x01, 0xf9, // 34: add rcx, rdi
        0x48, 0x83, 0xc1, 0x10, // 37: add rcx, 16
        0x48, 0x83, 0xc7, 0x10, // 41: add rdi, 16
        0xeb, 0xd1, // 45: jmp L
        0xc3, 0xc3, // 47: ret; end: ret
    ];

    #[test]
    fn a_loop_over_the_groups_of_a_table_is_known() {
        let work = |at: usize, byte: u8| {
            let mut code = LOOKUP;
            code[at] = byte;
            loops(&code)[0].work
        };
        assert_eq!(work(0, 0x48), Work::Groups);
        assert_eq!(work(44, 0x08), Work::Groups, "groups of 8 places");
        assert_ne!(work(44, 0x01), Work::Groups, "add rdi, 1");
        assert_ne!(work(2, 0xf0), Work::Groups, "and rax, rsi: the place is not masked");
        assert_ne!(work(36, 0xc8), Work::Groups, "add rax, rcx: it does not step by what grows");
        assert_ne!(work(43, 0xc6), Work::Groups, "add rsi, 16: the mask grows");
    }
}
