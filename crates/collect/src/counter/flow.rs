//! The control flow of a function's code: its blocks, and who dominates whom.
//!
//! A jump whose targets are not in the instruction (a switch) is taken to lead to every block that nothing else leads to.

use super::values::calls;
use iced_x86::{FlowControl, Instruction, Mnemonic};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Instructions that are executed one after the other, and the blocks that may follow.
pub(super) struct Block {
    /// Offsets of its code.
    pub range: Range<u64>,
    /// Its instructions, by their places among all.
    pub code: Range<usize>,
    pub next: Vec<usize>,
}

/// Cuts the code into blocks. A call is no end of one: it comes back.
pub(super) fn blocks(instructions: &[Instruction]) -> Vec<Block> {
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
    // What only fills the space before a loop is never executed: taken for a case it would be a second way into that loop.
    let fills = |block: &Block| instructions[block.code.clone()].iter().all(is_padding);
    let is_code: Vec<bool> = blocks.iter().map(|block| !fills(block)).collect();
    let cases: Vec<usize> =
        (1..blocks.len()).filter(|block| is_code[*block] && !led_to.contains(block)).collect();
    for switch in &switches {
        blocks[*switch].next.clone_from(&cases);
    }
    // A case that begins with a loop is led to by its own jump back.
    loop {
        let reached = reached(&blocks);
        let Some(switch) = switches.iter().find(|switch| reached[**switch]) else { break };
        let Some(case) = (1..blocks.len()).find(|block| is_code[*block] && !reached[*block]) else { break };
        blocks[*switch].next.push(case);
    }
    blocks
}

/// Whether an instruction is one that compilers align code with.
fn is_padding(instruction: &Instruction) -> bool {
    instruction.mnemonic() == Mnemonic::Nop
}

/// The blocks' order and who dominates whom.
pub(super) struct Graph {
    before: Vec<Vec<usize>>,
    /// The nearest dominator of each block that the entry leads to; its own number at the entry.
    dominator: Vec<Option<usize>>,
}

impl Graph {
    /// By the iteration of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    pub(super) fn of(blocks: &[Block]) -> Graph {
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

    pub(super) fn dominates(&self, outer: usize, inner: usize) -> bool {
        let mut at = inner;
        while at != outer {
            match self.dominator[at] {
                Some(next) if next != at => at = next,
                _ => return false,
            }
        }
        self.dominator[inner].is_some()
    }

    /// The blocks that lead to a block directly.
    pub(super) fn before(&self, block: usize) -> impl Iterator<Item = usize> {
        self.before[block].iter().copied()
    }

    /// The blocks that every way to a loop passes, the nearest first, as far as they are `beside` it; with each the blocks that may lie
    /// between it and the one before.
    pub(super) fn way_to(
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
    pub(super) fn add_body(&self, header: usize, latch: usize, body: &mut BTreeSet<usize>) {
        body.insert(header);
        let mut open = vec![latch];
        while let Some(block) = open.pop() {
            if self.dominator[block].is_some() && body.insert(block) {
                open.extend(&self.before[block]);
            }
        }
    }
}

/// Which blocks the entry leads to.
fn reached(blocks: &[Block]) -> Vec<bool> {
    let mut reached = vec![false; blocks.len()];
    postorder(blocks).into_iter().for_each(|block| reached[block] = true);
    reached
}

/// The blocks of a loop in an order in which a round may pass them: each behind those that lead to it, but for jumps back, so that what a round ends with comes last,
/// wherever the compiler put it; else as they lie.
pub(super) fn round(blocks: &[Block], header: usize, body: &BTreeSet<usize>) -> Vec<usize> {
    let mut order = Vec::with_capacity(body.len());
    let mut seen = BTreeSet::from([header]);
    let mut open = vec![(header, next_in(blocks, header, body))];
    while let Some((block, next)) = open.last_mut() {
        match next.pop() {
            Some(next) if seen.insert(next) => open.push((next, next_in(blocks, next, body))),
            Some(_) => {}
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Where a block of a loop leads to within it. Those that lie last come last: they are gone first, so that they are behind the others in a round.
fn next_in(blocks: &[Block], block: usize, body: &BTreeSet<usize>) -> Vec<usize> {
    let mut next: Vec<usize> = blocks[block].next.iter().copied().filter(|to| body.contains(to)).collect();
    next.sort_unstable();
    next
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
