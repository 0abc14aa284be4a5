//! The loops of a function, read off its machine code: where each lies, in which other, and where its rounds can be
//! counted. What a loop does is left to `walk`
//! and `chase`.
//!
//! These are natural loops (Aho, Lam, Sethi, Ullman, "Compilers", 9.6.6): a jump back to a block that dominates it, with
//! all blocks from which the jump is reached without passing that block. A jump whose targets are not in the instruction
//! (a switch) is taken to lead to every block that nothing else leads to.

use super::chase;
use super::origin::{self, Origin};
use super::place::is_emulated;
use super::values::Registers;
use super::walk::{self, Work};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
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
    /// Where it can be seen that it is entered.
    pub entry: Option<Entry>,
    /// All of it, and not only the usual way around.
    pub is_whole: bool,
}

/// An instruction that the kernel emulates and that is executed at most once before a loop is entered, and always then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub offset: u64,
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

/// Instructions that are executed one after the other, and the blocks that may follow.
struct Block {
    range: Range<u64>,
    code: Range<usize>,
    next: Vec<usize>,
}

/// The loops of a function whose bytes are `code`, outer ones before those in them.
pub(crate) fn loops(code: &[u8]) -> Vec<Loop> {
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
        let from_header = body.range(*header..).chain(body.range(..*header));
        let round: Vec<&Instruction> = from_header.flat_map(|block| code_of(*block)).collect();
        found.push(Loop {
            header: blocks[*header].range.start,
            ranges: joined(body.iter().map(|block| blocks[*block].range.clone())),
            parent,
            entry: entry(&way, &code_of, &round, frame),
            count_at: once
                .flat_map(|block| code_of(*block))
                .find(|code| is_emulated(code))
                .map(Instruction::ip),
            work: walk::work(every(), frame),
            varies: own.len() < body.len() || every().any(calls),
            chases: chase::chases(every(), frame),
            is_whole: true,
        });
    }
    found
}

/// The blocks of one loop.
pub(super) struct Body<'a> {
    pub header: usize,
    pub blocks: BTreeSet<usize>,
    all: &'a [Block],
}

impl Body<'_> {
    pub(super) fn block_at(&self, offset: u64) -> Option<usize> {
        self.blocks.iter().copied().find(|block| self.all[*block].range.contains(&offset))
    }

    /// Those of `left` through which a way leads from the header back to it that passes no others.
    pub(super) fn around(&self, left: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let (mut from_header, mut open) = (BTreeSet::from([self.header]), vec![self.header]);
        while let Some(block) = open.pop() {
            for next in self.all[block].next.iter().copied().filter(|next| left.contains(next)) {
                before.entry(next).or_default().push(block);
                if from_header.insert(next) {
                    open.push(next);
                }
            }
        }
        let mut around = BTreeSet::new();
        let mut open = before.get(&self.header).cloned().unwrap_or_default();
        while let Some(block) = open.pop() {
            if around.insert(block) && block != self.header {
                open.extend(before.get(&block).into_iter().flatten());
            }
        }
        around
    }
}

/// A part of a loop of a function whose bytes are `code`: those blocks that `part` chooses of it, as if there were no others.
pub(super) fn of_body(
    code: &[u8],
    loops: &[Loop],
    at: usize,
    part: impl FnOnce(&Body<'_>) -> Option<BTreeSet<usize>>,
) -> Option<Loop> {
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let instructions: Vec<Instruction> = decoder.into_iter().collect();
    let (all, of) = (blocks(&instructions), loops.get(at)?);
    let inside = |block: &usize| of.contains(all[*block].range.start);
    let whole: BTreeSet<usize> = (0..all.len()).filter(inside).collect();
    let header = whole.iter().copied().find(|block| all[*block].range.start == of.header)?;
    let body = Body { header, blocks: whole.clone(), all: &all };
    let left = part(&body)?;
    let frame = instructions.iter().any(walk::makes_a_frame);
    let code_of = |block: usize| &instructions[all[block].code.clone()];
    let every = || left.iter().flat_map(|block| code_of(*block));
    let from_header = left.range(header..).chain(left.range(..header));
    let round: Vec<&Instruction> = from_header.flat_map(|block| code_of(*block)).collect();
    // In each round: without it there is no way around.
    let once = left.iter().copied().filter(|block| {
        let without: BTreeSet<usize> = left.iter().copied().filter(|other| other != block).collect();
        *block == header || body.around(&without).is_empty()
    });
    let graph = Graph::of(&all);
    let holds = |one: &Loop, block: usize| one.is_whole && one.contains(all[block].range.start);
    let innermost = |block: usize| loops.iter().rposition(|one| holds(one, block));
    let beside = |block: usize| !whole.contains(&block) && innermost(block) == of.parent;
    let way = graph.way_to(header, &whole, beside);
    Some(Loop {
        header: of.header,
        ranges: joined(left.iter().map(|block| all[*block].range.clone())),
        parent: Some(at),
        entry: entry(&way, &code_of, &round, frame),
        count_at: once.flat_map(code_of).find(|code| is_emulated(code)).map(Instruction::ip),
        work: walk::work(every(), frame),
        varies: every().any(calls),
        chases: chase::chases(every(), frame),
        is_whole: false,
    })
}

/// The last instruction on the way to a loop that can be probed, and what is known there.
fn entry<'a>(
    way: &[(usize, Vec<usize>)],
    code_of: &impl Fn(usize) -> &'a [Instruction],
    round: &[&Instruction],
    frame: bool,
) -> Option<Entry> {
    let (at, probed) = way.iter().enumerate().find_map(|(at, (block, _))| {
        let last = code_of(*block).iter().rposition(is_emulated)?;
        Some((at, last))
    })?;
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
    Some(Entry { offset, origins: origin::of_loop(round, &registers) })
}

fn calls(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Cuts the code into blocks. A call is no end of one: it comes back.
fn blocks(instructions: &[Instruction]) -> Vec<Block> {
    let Some(last) = instructions.last() else { return Vec::new() };
    let mut starts: BTreeSet<u64> = BTreeSet::from([instructions[0].ip()]);
    let within = instructions[0].ip()..last.next_ip();
    let ends = |code: &Instruction| !matches!(code.flow_control(), FlowControl::Next) && !calls(code);
    for code in instructions.iter().filter(|code| ends(code)) {
        starts.insert(code.next_ip());
        starts.insert(code.near_branch_target());
    }
    let starts: Vec<u64> =
        instructions.iter().map(Instruction::ip).filter(|ip| starts.contains(ip)).collect();
    let number: BTreeMap<u64, usize> = starts.iter().enumerate().map(|(at, start)| (*start, at)).collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut switches = Vec::new();
    for (at, start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(within.end);
        let first = instructions.partition_point(|code| code.ip() < *start);
        let behind = instructions.partition_point(|code| code.ip() < end);
        let tail = &instructions[behind - 1];
        let target = || number.get(&tail.near_branch_target()).copied();
        let follows = || number.get(&tail.next_ip()).copied();
        let next: Vec<usize> = match tail.flow_control() {
            FlowControl::UnconditionalBranch => target().into_iter().collect(),
            FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
                target().into_iter().chain(follows()).collect()
            }
            FlowControl::Return | FlowControl::Exception | FlowControl::Interrupt => Vec::new(),
            FlowControl::IndirectBranch => {
                switches.push(at);
                Vec::new()
            }
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
                follows().into_iter().collect()
            }
        };
        blocks.push(Block { range: *start..end, code: first..behind, next });
    }
    let led_to: BTreeSet<usize> = blocks.iter().flat_map(|block| block.next.iter().copied()).collect();
    let cases: Vec<usize> = (1..blocks.len()).filter(|block| !led_to.contains(block)).collect();
    for switch in switches {
        blocks[switch].next.clone_from(&cases);
    }
    blocks
}

/// The blocks' order and who dominates whom.
struct Graph {
    before: Vec<Vec<usize>>,
    /// The nearest dominator of each block that the entry leads to; its own number at the entry.
    dominator: Vec<Option<usize>>,
}

impl Graph {
    /// By the iteration of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    fn of(blocks: &[Block]) -> Graph {
        let mut before = vec![Vec::new(); blocks.len()];
        for (from, block) in blocks.iter().enumerate() {
            block.next.iter().for_each(|to| before[*to].push(from));
        }
        let order = postorder(blocks);
        let mut rank = vec![0; blocks.len()];
        order.iter().enumerate().for_each(|(at, block)| rank[*block] = at);
        let mut dominator: Vec<Option<usize>> = vec![None; blocks.len()];
        dominator[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev().copied().filter(|block| *block != 0) {
                let known = before[block].iter().copied().filter(|from| dominator[*from].is_some());
                let nearest = known.reduce(|mut a, mut b| {
                    while a != b {
                        while rank[a] < rank[b] {
                            a = dominator[a].unwrap_or(0);
                        }
                        while rank[b] < rank[a] {
                            b = dominator[b].unwrap_or(0);
                        }
                    }
                    a
                });
                if nearest.is_some() && dominator[block] != nearest {
                    dominator[block] = nearest;
                    changed = true;
                }
            }
        }
        Graph { before, dominator }
    }

    fn dominates(&self, outer: usize, inner: usize) -> bool {
        let mut at = inner;
        while at != outer {
            match self.dominator[at] {
                Some(next) if next != at => at = next,
                _ => return false,
            }
        }
        self.dominator[inner].is_some()
    }

    /// The blocks that every way to a loop passes, the nearest first, as far as they are `beside` it; with each the blocks that may lie
    /// between it and the one before.
    fn way_to(
        &self,
        header: usize,
        body: &BTreeSet<usize>,
        beside: impl Fn(usize) -> bool,
    ) -> Vec<(usize, Vec<usize>)> {
        let mut way = Vec::new();
        let mut at = header;
        while let Some(next) = self.dominator[at].filter(|next| *next != at && beside(*next)) {
            let mut between = BTreeSet::new();
            let mut open = vec![at];
            while let Some(block) = open.pop() {
                let new = |from: &usize| *from != next && !body.contains(from);
                for from in self.before[block].iter().copied().filter(new) {
                    if from != at && between.insert(from) {
                        open.push(from);
                    }
                }
            }
            way.push((next, between.into_iter().collect()));
            at = next;
        }
        way
    }

    /// Adds the blocks that lead to `latch` without passing `header`.
    fn add_body(&self, header: usize, latch: usize, body: &mut BTreeSet<usize>) {
        body.insert(header);
        let mut open = vec![latch];
        while let Some(block) = open.pop() {
            if self.dominator[block].is_some() && body.insert(block) {
                open.extend(&self.before[block]);
            }
        }
    }
}

/// The blocks that the entry leads to, each behind all that it leads to (but for jumps back).
fn postorder(blocks: &[Block]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut open = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, edge)) = open.last_mut() {
        match blocks[*block].next.get(*edge) {
            Some(next) => {
                *edge += 1;
                if !std::mem::replace(&mut seen[*next], true) {
                    open.push((*next, 0));
                }
            }
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order
}

/// Ranges in order, those that touch made one.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
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
        let rdi = Origin { register: 7, index: None, offsets: vec![0] };
        assert_eq!(entry.origins, [(rdi, 4)]);
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
