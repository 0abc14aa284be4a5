//! The loops of a function, read off its machine code: where each lies, in which other, and where its rounds can be
//! counted. What a loop does is left to `walk`
//! `bucket`, `chase` and `fold`.
//!
//! These are natural loops (Aho, Lam, Sethi, Ullman, "Compilers", 9.6.6): a jump back to a block that dominates it, with
//! all blocks from which the jump is reached without passing that block. Blocks, and who dominates whom, are left to `flow`; what a loop does in most rounds
//! to `usual`.

use super::flow::{self, Graph, blocks};
use super::fold::{self, Fold};
use super::origin::{self, Origin};
use super::place::{is_emulated, is_harmless};
use super::values::{Registers, calls};
use super::walk::{self, Work};
use super::{bucket, chase, fresh, groups, heads, places, spins, unrolled};
use iced_x86::{Decoder, DecoderOptions, Instruction};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Functions with more blocks are not looked at: interpreters and generated parsers.
const BLOCKS: usize = 4000;

/// One loop of a function. Offsets are bytes from the function's first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loop {
    /// The first instruction of each round.
    pub header: u64,
    /// The code in it, inner loops included, in order.
    pub ranges: Vec<Range<u64>>,
    /// The innermost loop around it, by its place in the list.
    pub parent: Option<usize>,
    /// An instruction that the kernel emulates and that is executed once in each round.
    pub count_at: Option<u64>,
    /// What it does.
    pub work: Work,
    /// It calls something or has a loop in it: a round may cost more than the one before.
    pub varies: bool,
    /// A round may read anywhere in memory (see `chase`).
    pub chases: bool,
    /// Items that it looks at in a round (see `unrolled`).
    pub items: u32,
    /// Where it can be seen that it is entered.
    pub entry: Option<Entry>,
    /// All of it, and not only the usual way around.
    pub is_whole: bool,
}

/// An instruction that can be probed and that is executed at most once before a loop is entered, and always then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub offset: u64,
    /// The kernel does not emulate it (see `place`): there was none that it does.
    pub stepped: bool,
    /// Where the pointers that move through the loop begin, as computed there, and by how many bytes each moves in a round (0: that is not
    /// known); empty if that is not known of one.
    pub origins: Vec<(Origin, i64)>,
}

impl Loop {
    /// Whether the instruction at `offset` is in it.
    pub(crate) fn contains(&self, offset: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&offset))
    }
}

/// The loops of a function whose bytes are `code`, outer ones before those in them.
#[cfg(test)]
pub(crate) fn loops(code: &[u8]) -> Vec<Loop> {
    loops_in(code, &|_| false)
}

/// The loops of a function whose bytes are `code`, outer ones before those in them; `selects`: whether a function that it calls, at this distance from its
/// start (modulo 2^64), returns the number of a place in a table.
pub(crate) fn loops_in(code: &[u8], selects: &dyn Fn(u64) -> bool) -> Vec<Loop> {
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let instructions: Vec<Instruction> = decoder.into_iter().collect();
    let blocks = blocks(&instructions);
    if blocks.is_empty() || blocks.len() > BLOCKS {
        return Vec::new();
    }
    let graph = Graph::of(&blocks);
    let frame = instructions.iter().any(walk::makes_a_frame);
    // Jumps back to one header make one loop.
    let mut bodies: BTreeMap<usize, (BTreeSet<usize>, Vec<usize>)> = BTreeMap::new();
    for (from, block) in blocks.iter().enumerate() {
        for to in block.next.iter().copied().filter(|to| graph.dominates(*to, from)) {
            let (body, latches) = bodies.entry(to).or_default();
            latches.push(from);
            graph.add_body(to, from, body);
        }
    }
    let mut bodies: Vec<(usize, BTreeSet<usize>, Vec<usize>)> =
        bodies.into_iter().map(|(header, (body, latches))| (header, body, latches)).collect();
    bodies.sort_by_key(|(header, body, _)| (std::cmp::Reverse(body.len()), *header));
    let code_of = |block: usize| &instructions[blocks[block].code.clone()];
    let mut found: Vec<Loop> = Vec::new();
    for (at, (header, body, latches)) in bodies.iter().enumerate() {
        let inner =
            |block: &usize| bodies[at + 1..].iter().any(|(h, b, _)| body.contains(h) && b.contains(block));
        let own: Vec<usize> = body.iter().copied().filter(|block| !inner(block)).collect();
        let every = || body.iter().flat_map(|block| code_of(*block));
        let once = own.iter().filter(|block| latches.iter().all(|latch| graph.dominates(**block, *latch)));
        let parent = (0..at).rev().find(|outer| bodies[*outer].1.contains(header));
        // Blocks that are executed as often as the loop is entered: in the same loop around it and in no other.
        let around = |block: &usize| (0..bodies.len()).rev().find(|of| bodies[*of].1.contains(block));
        let beside = |block: usize| !body.contains(&block) && around(&block) == parent;
        let way = graph.way_to(*header, body, beside);
        let in_order = flow::round(&blocks, *header, body);
        let round: Vec<&Instruction> = in_order.into_iter().flat_map(code_of).collect();
        let chases = chase::chases(every(), frame);
        let mut work = walk::work(every(), frame, chases && bucket::divides_for_its_end(every()));
        if work == Work::Calculates && !chases {
            work = match fold::fold(every(), frame) {
                Some(Fold::Sum) => Work::Folds,
                Some(Fold::Extreme) => Work::Extremes,
                None => work,
            };
        }
        // What each item is combined with is no result.
        if work == Work::Calculates && own.len() == body.len() {
            let anew = fresh::anew(&round, frame);
            let is_search = chases || !fresh::keeps(&round, frame);
            let made = round.iter().zip(&anew).filter(|(one, anew)| !(**anew && walk::makes(one)));
            work = match walk::work(made.map(|(one, _)| *one), frame, false) {
                Work::Walks if is_search => Work::Walks,
                _ => work,
            };
        }
        let on_the_way = || {
            let next = std::iter::once(*header).chain(way.iter().map(|(block, _)| *block));
            let pieces: Vec<heads::Piece<'_>> = (way.iter().zip(next))
                .map(|((block, between), next)| heads::Piece {
                    code: code_of(*block),
                    between: between.iter().map(|block| code_of(*block)).collect(),
                    last: (graph.before(next).filter(|last| !body.contains(last)))
                        .map(|last| (last != *block).then(|| code_of(last)))
                        .collect(),
                })
                .collect();
            pieces.into_iter().rev()
        };
        // Whoever looks for a key ends where it is found, too. What goes along all items, as for the best of them, has one end.
        let ends =
            body.iter().filter(|block| blocks[**block].next.iter().any(|to| !body.contains(to))).count();
        let is_chain = || ends > 1 && chase::goes_along_links(every(), frame);
        if work == Work::Walks && chases && is_chain() && heads::leads_to(on_the_way(), &round, selects) {
            work = Work::Chains;
        }
        let places = places::next_places(&round, frame);
        if !places.is_empty() && heads::leads_to_place(on_the_way(), &places, selects) {
            work = Work::Places;
        }
        let each: BTreeSet<usize> = (own.iter().copied())
            .filter(|block| latches.iter().all(|latch| graph.dominates(*block, *latch)))
            .collect();
        let always = |one: &Instruction| each.iter().any(|block| blocks[*block].range.contains(&one.ip()));
        if own.len() == body.len() && spins::spins(&round, &always, frame) {
            work = Work::Spins;
        }
        if groups::probes(every()) {
            work = Work::Groups;
        }
        found.push(Loop {
            header: blocks[*header].range.start,
            ranges: joined(body.iter().map(|block| blocks[*block].range.clone())),
            parent,
            entry: entry(&way, &code_of, &round, frame),
            count_at: once
                .flat_map(|block| code_of(*block))
                .find(|code| is_emulated(code))
                .map(Instruction::ip),
            work,
            varies: own.len() < body.len() || every().any(calls),
            chases,
            items: if own.len() == body.len() { unrolled::items(&round, frame) } else { 1 },
            is_whole: true,
        });
    }
    found
}

/// The last instruction on the way to a loop that can be probed, and what is known there.
pub(super) fn entry<'a>(
    way: &[(usize, Vec<usize>)],
    code_of: &impl Fn(usize) -> &'a [Instruction],
    round: &[&Instruction],
    frame: bool,
) -> Option<Entry> {
    let last = |may: fn(&Instruction) -> bool| {
        way.iter().enumerate().find_map(|(at, (block, _))| Some((at, code_of(*block).iter().rposition(may)?)))
    };
    let emulated = last(is_emulated);
    let (at, probed) = emulated.or_else(|| last(is_harmless))?;
    let code = code_of(way[at].0);
    let offset = code[probed].ip();
    let mut registers = Registers::at(offset, frame);
    registers.take_constants(&code[..probed]);
    code[probed..].iter().for_each(|instruction| registers.step(instruction));
    registers.forget(way[at].1.iter().flat_map(|block| code_of(*block)));
    for (block, between) in way[..at].iter().rev() {
        code_of(*block).iter().for_each(|instruction| registers.step(instruction));
        registers.forget(between.iter().flat_map(|block| code_of(*block)));
    }
    Some(Entry { offset, stepped: emulated.is_none(), origins: origin::of_loop(round, &registers) })
}

/// Ranges in order, those that touch made one.
pub(super) fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut whole: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match whole.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => whole.push(range),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(range: Range<u64>) -> Vec<Range<u64>> {
        std::iter::once(range).collect()
    }

    #[test]
    fn straight_code_has_no_loop() {
        assert!(loops(&[0x89, 0xf8, 0xc3]).is_empty()); // mov eax, edi; ret
        assert!(loops(&[0x85, 0xff, 0x74, 0x01, 0xc3, 0xc3]).is_empty()); // test edi, edi; je +1; ret; ret
        assert!(loops(&[]).is_empty());
    }

    #[test]
    fn a_walk_in_a_loop_that_calls_is_two_loops_and_the_outer_one_is_counted_outside_of_the_walk() {
        let code = [
            0x53, // 0: push rbx
            0xe8, 0, 0, 0, 0, // 1: outer: call
            0x48, 0x85, 0xc0, // 6: test rax, rax
            0x48, 0x8b, 0x00, // 9: inner: mov rax, [rax]
            0x48, 0x85, 0xc0, // 12: test rax, rax
            0x75, 0xf8, // 15: jne inner
            0xff, 0xcb, // 17: dec ebx
            0x75, 0xec, // 19: jne outer
            0x5b, 0xc3, // 21: pop rbx; ret
        ];
        let found = loops(&code);
        assert_eq!(found.len(), 2);
        let (outer, inner) = (&found[0], &found[1]);
        assert_eq!((outer.header, &outer.ranges, outer.parent), (1, &one(1..21), None));
        assert_eq!((outer.count_at, outer.varies), (Some(1), true));
        assert_eq!((inner.header, &inner.ranges, inner.parent), (9, &one(9..17), Some(0)));
        assert_eq!((inner.count_at, inner.varies, inner.work), (Some(15), false, Work::Walks));
    }

    #[test]
    fn a_round_ends_where_it_jumps_back_wherever_that_lies() {
        let code = [
            0x53, // 0: push rbx
            0x31, 0xc9, // 1: xor ecx, ecx
            0x48, 0x8b, 0x04, 0xcf, // 3: L: mov rax, [rdi+rcx*8]
            0x48, 0x89, 0x4c, 0x24, 0x08, // 7: mov [rsp+8], rcx
            0x31, 0xc9, // 12: xor ecx, ecx
            0x48, 0x39, 0xf0, // 14: cmp rax, rsi
            0x74, 0x0e, // 17: je M
            0x48, 0x8b, 0x4c, 0x24, 0x08, // 19: mov rcx, [rsp+8]
            0x48, 0xff, 0xc1, // 24: N: inc rcx
            0x48, 0x39, 0xd1, // 27: cmp rcx, rdx
            0x75, 0xe3, // 30: jne L
            0x5b, 0xc3, // 32: pop rbx; ret
            0x48, 0x8b, 0x4c, 0x24, 0x08, // 34: M: mov rcx, [rsp+8]
            0xeb, 0xef, // 39: jmp N
        ];
        let found = loops(&code);
        let entry = found[0].entry.as_ref().unwrap();
        let strides: Vec<i64> = entry.origins.iter().map(|(_, stride)| *stride).collect();
        assert_eq!((found.len(), strides), (1, vec![8]));
    }

    #[test]
    fn code_that_only_some_rounds_pass_counts_none() {
        let code = [
            0x85, 0xff, // 0: L: test edi, edi
            0x74, 0x05, // 2: je M
            0xe8, 0, 0, 0, 0, // 4: call
            0xff, 0xc9, // 9: M: dec ecx
            0x75, 0xf3, // 11: jne L
            0xc3,
        ];
        let found = loops(&code);
        assert_eq!(found.len(), 1);
        // The conditional jump over the call is passed in every round, the call is not.
        assert_eq!((found[0].count_at, found[0].varies), (Some(2), true));
    }

    #[test]
    fn a_loop_behind_a_guard_is_entered_at_the_last_instruction_before_it_that_can_be_probed() {
        let code = [
            0x48, 0x85, 0xff, // 0: test rdi, rdi
            0x74, 0x0e, // 3: je end
            0x90, // 5: nop
            0x39, 0x37, // 6: L: cmp [rdi], esi
            0x74, 0x09, // 8: je end
            0x48, 0x83, 0xef, 0x80, // 10: sub rdi, -128
            0x48, 0x39, 0xd7, // 14: cmp rdi, rdx
            0x76, 0xf3, // 17: jbe L
            0xc3, // 19: end: ret
        ];
        let found = loops(&code);
        assert_eq!(found.len(), 1);
        let entry = found[0].entry.as_ref().expect("an entry");
        assert_eq!(entry.offset, 5);
        assert_eq!(entry.origins.iter().map(|(_, stride)| *stride).collect::<Vec<_>>(), [128]);
    }

    #[test]
    fn a_search_that_a_compiler_unrolled_looks_at_several_items_in_a_round() {
        // xor ecx, ecx; L: cmp [rdi+rcx*8], rsi; je end; … cmp [rdi+rcx*8+24], rsi; je end; add rcx, 4; cmp rcx, rdx; jne L; end: ret
        let unrolled = |last: [u8; 5], step: u8| {
            let mut code = vec![0x31, 0xc9];
            for compared in
                [[0x48, 0x39, 0x74, 0xcf, 0], [0x48, 0x39, 0x74, 0xcf, 8], [0x48, 0x39, 0x74, 0xcf, 16], last]
            {
                code.extend(compared);
                code.extend([0x74, 37 - code.len() as u8]);
            }
            code.extend([0x48, 0x83, 0xc1, step, 0x48, 0x39, 0xd1, 0x75, 0xdb, 0xc3]);
            loops(&code).remove(0)
        };
        let found = unrolled([0x48, 0x39, 0x74, 0xcf, 24], 4);
        assert_eq!(found.items, 4);
        let entry = found.entry.as_ref().expect("an entry");
        assert_eq!((entry.offset, entry.stepped), (0, true), "nothing before the loop is emulated");
        assert_eq!(entry.origins.iter().map(|(_, stride)| *stride).collect::<Vec<_>>(), [32]);
        assert_eq!(unrolled([0x48, 0x3b, 0x74, 0xcf, 24], 4).items, 4, "cmp rsi, [rdi+rcx*8+24]");
        assert_eq!(
            unrolled([0x48, 0x39, 0x54, 0xcf, 24], 4).items,
            1,
            "cmp [rdi+rcx*8+24], rdx: with something else"
        );
        assert_eq!(
            unrolled([0x40, 0x39, 0x74, 0xcf, 24], 4).items,
            1,
            "cmp [rdi+rcx*8+24], esi: another size"
        );
        assert_eq!(
            unrolled([0x48, 0x39, 0x74, 0xcf, 20], 4).items,
            1,
            "cmp [rdi+rcx*8+20], rsi: they overlap"
        );
        assert_eq!(
            unrolled([0x48, 0x39, 0x74, 0xcf, 24], 8).items,
            1,
            "add rcx, 8: half of the items are left out"
        );
    }

    #[test]
    fn an_index_that_starts_at_nought_before_the_jump_to_a_loop_is_known() {
        let code = [
            0x31, 0xc9, // 0: xor ecx, ecx
            0xeb, 0x03, // 2: jmp M
            0x48, 0xff, 0xc1, // 4: L: inc rcx
            0x39, 0x34, 0x8f, // 7: M: cmp [rdi+rcx*4], esi
            0x75, 0xf8, // 10: jne L
            0xc3, // 12: ret
        ];
        let found = loops(&code);
        let entry = found[0].entry.as_ref().expect("an entry");
        assert_eq!(entry.offset, 2);
        let rdi = Origin { register: 7, index: None, offsets: vec![0], next: None };
        assert_eq!(entry.origins, [(rdi, 4)]);
    }

    #[test]
    fn a_sum_that_is_not_stored_is_folded() {
        let work = |sum: &[u8]| {
            // L: sum; add rdi, 8; cmp rdi, rsi; jne L; ret
            let mut code = [sum, &[0x48, 0x83, 0xc7, 8, 0x48, 0x39, 0xf7, 0x75]].concat();
            code.extend([(-(code.len() as i8 + 1)) as u8, 0xc3]);
            loops(&code)[0].work
        };
        assert_eq!(work(&[0xf2, 0x0f, 0x58, 0x07]), Work::Folds, "addsd xmm0, [rdi]");
        assert_eq!(work(&[0x48, 0x33, 0x07]), Work::Folds, "xor rax, [rdi]");
        // movsd xmm0, [rdi]; subsd xmm0, xmm5; addsd xmm1, xmm0: with what is given from outside it comes to something else
        let of_pairs = [0xf2, 0x0f, 0x10, 0x07, 0xf2, 0x0f, 0x5c, 0xc5, 0xf2, 0x0f, 0x58, 0xc8];
        assert_eq!(work(&of_pairs), Work::Calculates);
        assert_eq!(work(&[0xf2, 0x0f, 0x5f, 0x07]), Work::Extremes, "maxsd xmm0, [rdi]");
        // mov rcx, [rdi]; cmp rcx, rax; cmovg rax, rcx; and then xor rdx, rcx
        let largest = [0x48, 0x8b, 0x0f, 0x48, 0x39, 0xc1, 0x48, 0x0f, 0x4f, 0xc1, 0x48, 0x31, 0xca];
        assert_eq!(work(&largest[..10]), Work::Extremes);
        assert_eq!(work(&largest), Work::Calculates, "a checksum as well");
        // mov rcx, [rdi]; mov rax, rcx; neg rax; cmovs rax, rcx; add rdx, rax: a sum of absolute values
        let norm =
            [0x48, 0x8b, 0x0f, 0x48, 0x89, 0xc8, 0x48, 0xf7, 0xd8, 0x48, 0x0f, 0x48, 0xc1, 0x48, 0x01, 0xc2];
        assert_eq!(work(&norm), Work::Calculates);
        // mov rcx, [rdi]; cmp rcx, r9; cmovg rax, rcx: of those above what is given from outside, which may differ
        assert_eq!(work(&[0x48, 0x8b, 0x0f, 0x4c, 0x39, 0xc9, 0x48, 0x0f, 0x4f, 0xc1]), Work::Calculates);
        // mov rcx, [rdi]; mov eax, 8; cmove rcx, rax; xor rdx, rcx: one of two is a number
        let number = [0x48, 0x8b, 0x0f, 0xb8, 8, 0, 0, 0, 0x48, 0x0f, 0x44, 0xc8, 0x48, 0x31, 0xca];
        assert_eq!(work(&number), Work::Folds);
        // movsd xmm0, [rdi]; subsd xmm0, [rsp+8]; addsd xmm1, xmm0
        let spilled = [0xf2, 0x0f, 0x10, 0x07, 0xf2, 0x0f, 0x5c, 0x44, 0x24, 8, 0xf2, 0x0f, 0x58, 0xc8];
        assert_eq!(work(&spilled), Work::Calculates);
        // addsd xmm0, [rdi]; movsd [rdi], xmm0
        assert_eq!(work(&[0xf2, 0x0f, 0x58, 0x07, 0xf2, 0x0f, 0x11, 0x07]), Work::Calculates);
        assert_eq!(work(&[0x48, 0x01, 0xc8]), Work::Calculates, "add rax, rcx: nothing is read");
        // add rax, [rdi]; call outside
        assert_eq!(work(&[0x48, 0x03, 0x07, 0xe8, 0, 0x10, 0, 0]), Work::Calculates);
        // mov rcx, [rdi]; add rax, [rcx]: another place in each round, which may have changed
        assert_eq!(work(&[0x48, 0x8b, 0x0f, 0x48, 0x03, 0x01]), Work::Calculates);
    }

    #[test]
    fn a_loop_around_one_that_folds_may_fold_as_well() {
        let code = [
            0x48, 0xff, 0xc2, // 0: L: inc rdx
            0x0f, 0xb6, 0x07, // 3: M: movzx eax, byte [rdi]
            0x48, 0xff, 0xc7, // 6: inc rdi
            0x48, 0x31, 0xc3, // 9: xor rbx, rax
            0x83, 0xf8, 0x0a, // 12: cmp eax, 10
            0x75, 0xf2, // 15: jne M
            0x48, 0x39, 0xcf, // 17: cmp rdi, rcx
            0x75, 0xea, // 20: jne L
            0xc3,
        ];
        let works = |code: &[u8]| loops(code).iter().map(|one| one.work).collect::<Vec<_>>();
        assert_eq!(works(&code), [Work::Folds, Work::Folds]);
        // mov [rdi], rdx in place of inc rdx: it stores
        let mut stores = code;
        stores[..3].copy_from_slice(&[0x48, 0x89, 0x17]);
        assert_eq!(works(&stores), [Work::Calculates, Work::Folds]);
    }

    #[test]
    fn two_jumps_back_to_one_header_are_one_loop() {
        let code = [
            0xff, 0xc9, // 0: L: dec ecx
            0x74, 0x06, // 2: je end
            0x85, 0xff, // 4: test edi, edi
            0x74, 0xf8, // 6: je L
            0xeb, 0xf6, // 8: jmp L
            0xc3, // 10: end: ret
        ];
        let found = loops(&code);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ranges, one(0..10));
    }

    #[test]
    fn what_fills_the_space_before_a_loop_is_no_case_of_a_switch() {
        let found = loops(&[
            0xff, 0xe0, // 0: jmp rax
            0xeb, 0x04, // 2: jmp M
            0x66, 0x90, // 4: nop
            0xff, 0xc0, // 6: L: inc eax
            0x39, 0xc8, // 8: M: cmp eax, ecx
            0x75, 0xfa, // a: jne L
            0xc3, // c: ret
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].header, &found[0].ranges), (8, &one(6..12)));
        // A case may begin with it.
        let found = loops(&[0xff, 0xe0, 0x66, 0x90, 0xff, 0xc0, 0x39, 0xc8, 0x75, 0xfa, 0xc3]);
        assert_eq!(found[0].ranges, one(4..10));
    }

    #[test]
    fn the_cases_of_a_switch_belong_to_the_loop_around_it() {
        let code = [
            0xff, 0xe0, // 0: L: jmp rax
            0xff, 0xc1, // 2: case: inc ecx
            0xeb, 0xfa, // 4: jmp L
            0xff, 0xc9, // 6: case: dec ecx
            0xeb, 0xf6, // 8: jmp L
        ];
        let found = loops(&code);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].ranges, one(0..10));
    }
}
