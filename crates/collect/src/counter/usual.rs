//! The usual way around a loop: what it does in most rounds, as samples show it. A search has parts that run only where something is found (to count a
//! reference, to put a result on a list); what it does else is to look and step on.

use super::flow::{self, Block, Graph, blocks};
use super::fold::{self, Fold};
use super::loops::{self, Loop};
use super::place::is_emulated;
use super::values::calls;
use super::walk::{self, Work};
use super::{Candidate, Counter, Told, chase, choose, spins, unrolled};
use iced_x86::{Decoder, DecoderOptions, Instruction};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Samples in a loop before its ways can be told apart.
const SAMPLES: f64 = 100.0;
/// … and so many times as many before they are looked at again.
const MORE: f64 = 2.0;
/// Share of a loop's samples below which a part of it is no part of most rounds: what runs each time takes an instruction at least, of some dozens. It is held
/// against what the part may have at most, given how many samples it has by chance.
const SELDOM: f64 = 0.04;
/// Instructions of a part without samples that surely is seldom, even where the rest takes much longer: what steps on takes up to three (an address, a load, an
/// addition), and a sample falls on the instruction behind a slow one.
const SURE: usize = 4;
/// Larger loops are interpreters and generated parsers.
const BLOCKS: usize = 200;

/// So many samples a part may have had on average that has `seen` (two standard deviations of a Poisson distribution, and two where there is none).
fn at_most(seen: f64) -> f64 {
    seen + 2.0 * seen.sqrt() + 2.0
}

impl Counter {
    /// The loops of a function, and the usual way around those of them that are hot and do more than look.
    pub(super) fn with_usual(&mut self, candidate: &Candidate, mut loops: Arc<[Loop]>) -> Arc<[Loop]> {
        for at in 0..loops.len() {
            let one = &loops[at];
            let open =
                matches!(one.work, Work::Moves | Work::Folds | Work::Calculates | Work::Walks | Work::Counts);
            let next = self.ways_known.get(&(candidate.function, at)).copied().unwrap_or(SAMPLES);
            if !open || next == f64::INFINITY {
                continue;
            }
            let inside = |(address, share): &(u64, f64)| {
                let offset = address - candidate.start;
                one.contains(offset).then_some((offset, share * candidate.samples))
            };
            let hits: Vec<(u64, f64)> = candidate.places.iter().filter_map(inside).collect();
            let samples: f64 = hits.iter().map(|(_, samples)| samples).sum();
            if samples < next.max(choose::SHARE * candidate.samples) {
                continue;
            }
            let code = candidate.image.code(candidate.start, (candidate.end - candidate.start) as usize);
            let usual = code.and_then(|code| of_body(code, &loops, at, |body| usual_blocks(body, &hits)));
            let is_news = |usual: &Loop| match usual.work {
                Work::Spins => true,
                Work::Walks | Work::Counts => !matches!(one.work, Work::Walks | Work::Counts),
                Work::Folds => matches!(one.work, Work::Moves | Work::Calculates),
                _ => false,
            };
            let usual = usual.filter(is_news);
            // A few samples may lie in a seldom part by chance: with twice as many that is known better.
            let next = if usual.is_some() { f64::INFINITY } else { MORE * samples };
            self.ways_known.insert((candidate.function, at), next);
            if let Some(usual) = usual {
                self.tell(Told::Way { function: candidate.function, at: loops.len(), one: usual.clone() });
                loops = loops.iter().cloned().chain([usual]).collect();
                if let Some((known, _)) = self.loops.get_mut(&candidate.function) {
                    *known = loops.clone();
                }
            }
        }
        loops
    }
}

/// The blocks of one loop.
struct Body<'a> {
    header: usize,
    blocks: BTreeSet<usize>,
    all: &'a [Block],
}

impl Body<'_> {
    /// The block that holds the instruction at an offset.
    fn block_at(&self, offset: u64) -> Option<usize> {
        self.blocks.iter().copied().find(|block| self.all[*block].range.contains(&offset))
    }

    /// Those of `left` through which a way leads from the header back to it that passes no others.
    fn around(&self, left: &BTreeSet<usize>) -> BTreeSet<usize> {
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
fn of_body(
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
    let in_order = flow::round(&all, header, &left);
    let round: Vec<&Instruction> = in_order.into_iter().flat_map(code_of).collect();
    // In each round: without it there is no way around.
    let once = left.iter().copied().filter(|block| {
        let without: BTreeSet<usize> = left.iter().copied().filter(|other| other != block).collect();
        *block == header || body.around(&without).is_empty()
    });
    // Not in a loop inside.
    let inside = |one: &Loop, block: usize| {
        one.is_whole
            && one.header != of.header
            && of.contains(one.header)
            && one.contains(all[block].range.start)
    };
    let once: Vec<usize> = once.filter(|block| !loops.iter().any(|one| inside(one, *block))).collect();
    let graph = Graph::of(&all);
    let holds = |one: &Loop, block: usize| one.is_whole && one.contains(all[block].range.start);
    let innermost = |block: usize| loops.iter().rposition(|one| holds(one, block));
    let beside = |block: usize| !whole.contains(&block) && innermost(block) == of.parent;
    let way = graph.way_to(header, &whole, beside);
    let chases = chase::chases(every(), frame);
    let mut work = walk::work(every(), frame, false);
    if work == Work::Calculates && !chases && fold::fold(every(), frame) == Some(Fold::Sum) {
        work = Work::Folds;
    }
    let always = |one: &Instruction| once.iter().any(|block| all[*block].range.contains(&one.ip()));
    let has_inner = left.iter().any(|block| loops.iter().any(|one| inside(one, *block)));
    // What is shorter may run each time and never be met: then it is the step of a loop that does not wait.
    let surely_seldom = |block: &usize| code_of(*block).len() >= SURE || code_of(*block).iter().any(calls);
    let seldom_only = whole.difference(&left).all(surely_seldom);
    if !has_inner && seldom_only && spins::spins(&round, &always, frame) {
        work = Work::Spins;
    }
    Some(Loop {
        header: of.header,
        ranges: loops::joined(left.iter().map(|block| all[*block].range.clone())),
        parent: Some(at),
        entry: loops::entry(&way, &code_of, &round, frame),
        count_at: once.iter().copied().flat_map(code_of).find(|code| is_emulated(code)).map(Instruction::ip),
        work,
        varies: every().any(calls),
        chases,
        items: unrolled::items(&round, frame),
        is_whole: false,
    })
}

/// The blocks of a loop without those that run seldom, as far as there is a way around through all others; none if all are needed.
fn usual_blocks(body: &Body<'_>, hits: &[(u64, f64)]) -> Option<BTreeSet<usize>> {
    if body.blocks.len() > BLOCKS {
        return None;
    }
    let mut samples: BTreeMap<usize, f64> = body.blocks.iter().map(|block| (*block, 0.0)).collect();
    let mut all = 0.0;
    for (offset, weight) in hits {
        if let Some(block) = body.block_at(*offset) {
            *samples.entry(block).or_default() += weight;
            all += weight;
        }
    }
    let seldom = |block: &usize| *block != body.header && at_most(samples[block]) < SELDOM * all;
    let mut cold: Vec<usize> = body.blocks.iter().copied().filter(seldom).collect();
    let hot: BTreeSet<usize> = body.blocks.iter().copied().filter(|block| !seldom(block)).collect();
    // A short part may run each time and never be met. What has many instructions and few samples is surely seldom, and goes first.
    let of_each = |block: &usize| at_most(samples[block]) / body.all[*block].code.len().max(1) as f64;
    cold.sort_by(|a, b| of_each(a).total_cmp(&of_each(b)));
    let mut left = body.blocks.clone();
    for block in cold {
        left.remove(&block);
        let around = body.around(&left);
        if hot.is_subset(&around) {
            // What only the removed block leads to goes with it.
            left = around;
        } else {
            left.insert(block);
        }
    }
    (left.len() < body.blocks.len()).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search of an array at rdi for rsi up to rdx that counts in memory what it finds, and goes on.
    const SEARCH: [u8; 21] = [
        0x48, 0x39, 0x37, // 00: cmp [rdi], rsi
        0x74, 0x0a, // 03: je 0f
        0x48, 0x83, 0xc7, 0x08, // 05: add rdi, 8
        0x48, 0x39, 0xd7, // 09: cmp rdi, rdx
        0x75, 0xf2, // 0c: jne 00
        0xc3, // 0e: ret
        0x48, 0x83, 0x01, 0x01, // 0f: add qword [rcx], 1
        0xeb, 0xf0, // 13: jmp 05
    ];

    fn usual(code: &[u8], hits: &[(u64, f64)]) -> Option<Loop> {
        let loops = loops::loops(code);
        assert_eq!(loops.len(), 1);
        assert_eq!(loops[0].work, Work::Calculates);
        of_body(code, &loops, 0, |body| usual_blocks(body, hits))
    }

    #[test]
    fn a_search_that_seldom_finds_something_is_a_walk() {
        let found = usual(&SEARCH, &[(0x00, 63.0), (0x05, 50.0), (0x0c, 20.0), (0x0f, 1.0)]).expect("a way");
        assert_eq!((found.work, found.parent, found.is_whole), (Work::Walks, Some(0), false));
        assert_eq!(found.ranges, Vec::from_iter(std::iter::once(0x00..0x0e)));
        // What was there for the whole is there for the way.
        assert_eq!(found.count_at, loops::loops(&SEARCH)[0].count_at);
    }

    #[test]
    fn what_may_take_a_twenty_fifth_is_part_of_it() {
        // One sample may be five on average by chance, two nearly seven.
        assert_eq!(usual(&SEARCH, &[(0x00, 63.0), (0x05, 61.0), (0x0f, 1.0)]), None);
        assert!(usual(&SEARCH, &[(0x00, 63.0), (0x05, 62.0), (0x0f, 1.0)]).is_some());
        assert_eq!(usual(&SEARCH, &[(0x00, 84.0), (0x05, 84.0), (0x0f, 2.0)]), None);
        assert!(usual(&SEARCH, &[(0x00, 85.0), (0x05, 85.0), (0x0f, 2.0)]).is_some());
    }

    #[test]
    fn what_no_way_around_can_do_without_stays_however_short_it_is() {
        // 00: cmp [rdi], rsi; 03: je 0f; 05: add [rcx], 1 in each round; 09: add rdi, 8; 0d: jmp 00; 0f: ret
        let code =
            [0x48, 0x39, 0x37, 0x74, 0x0a, 0x48, 0x83, 0x01, 0x01, 0x48, 0x83, 0xc7, 0x08, 0xeb, 0xf1, 0xc3];
        assert_eq!(usual(&code, &[(0x00, 100.0)]), None);
    }

    #[test]
    fn who_waits_and_seldom_does_something_meanwhile_spins() {
        // 00: mov rax, [rdi]; 03: cmp rax, r12; 06: jae 12; 08: mov rdx, [rdi]; 0b: cmp rdx, [rsi]; 0e: jb 00; 10: ret; 12: call; 17: add r12, r14; 1a: jmp 08
        let code = [
            0x48, 0x8b, 0x07, 0x4c, 0x39, 0xe0, 0x73, 0x0a, 0x48, 0x8b, 0x17, 0x48, 0x3b, 0x16, 0x72, 0xf0,
            0xc3, 0x90, 0xe8, 0, 0, 0, 0, 0x4d, 0x01, 0xf4, 0xeb, 0xec,
        ];
        let loops = loops::loops(&code);
        assert_eq!((loops.len(), loops[0].work), (1, Work::Walks));
        let usual = |hits: &[(u64, f64)]| of_body(&code, &loops, 0, |body| usual_blocks(body, hits));
        let found = usual(&[(0x00, 60.0), (0x08, 60.0)]).expect("a way");
        assert_eq!((found.work, found.ranges), (Work::Spins, Vec::from_iter(std::iter::once(0x00..0x10))));
        assert_eq!(usual(&[(0x00, 60.0), (0x08, 60.0), (0x17, 10.0)]), None);
    }

    #[test]
    fn a_short_part_without_samples_may_be_the_step_of_a_search() {
        // 00: mov rax, [rdi]; 03: cmp rax, rsi; 06: jne 0c; 08: add rdi, 8; 0c: cmp rdx, [rdi]; 0f: jne 00; 11: ret
        let code = [
            0x48, 0x8b, 0x07, 0x48, 0x39, 0xf0, 0x75, 0x04, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x3b, 0x17, 0x75,
            0xef, 0xc3,
        ];
        let loops = loops::loops(&code);
        let hits = [(0x00, 60.0), (0x0c, 60.0)];
        let found = of_body(&code, &loops, 0, |body| usual_blocks(body, &hits)).expect("a way");
        assert_eq!(found.ranges, [0x00..0x08, 0x0c..0x11]);
        assert_ne!(found.work, Work::Spins);
    }

    #[test]
    fn of_two_parts_without_samples_the_longer_one_is_seldom() {
        // 00: cmp [rdi], rsi; 03: je 11; 05: nop; 06: add rdi, 8; 0a: cmp rdi, rdx; 0d: jne 00; 0f: ret; 11: add [rcx], 1; 15: jmp 06
        let code = [
            0x48, 0x39, 0x37, 0x74, 0x0c, 0x90, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x39, 0xd7, 0x75, 0xf1, 0xc3,
            0x90, 0x48, 0x83, 0x01, 0x01, 0xeb, 0xef,
        ];
        let found = usual(&code, &[(0x00, 63.0), (0x06, 50.0), (0x0d, 20.0)]).expect("a way");
        assert_eq!((found.work, found.ranges), (Work::Walks, Vec::from_iter(std::iter::once(0x00..0x0f))));
    }
}
