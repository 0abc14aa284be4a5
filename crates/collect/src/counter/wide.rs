//! Breakpoints that slow the program down without being hit: while one stands in a thread, some processors take several times as long for 512-bit
//! accesses and for `rep movs`, of which the C library's functions that copy consist.
//!
//! Where the machine does that (`breakpoint::slow_moves` tries it) and a program spends its time so, breakpoints stand only for a small part of
//! the time. Nothing can be subtracted afterwards: how many such accesses there were is not known.

use super::*;
use iced_x86::{Decoder, DecoderOptions, Instruction, MemorySize, Mnemonic};
use std::ops::Range;

/// Share of a process's time in such accesses from which its breakpoints rest: a tenth, three times as slow, would make the program a fifth slower.
const SHARE: f64 = 0.1;
/// Part of the elapsed time in which breakpoints may stand then: with 0.05, moves that take five times as long add a fifth to their time at most.
const PART_OF_TIME: f64 = 0.05;
/// … and so long at first, ns: ten trials, or what a survey takes until it has looked at one function.
const AT_FIRST_NS: u64 = 50_000_000;
/// A sample is at the instruction that is being executed, or behind it in the same run of moves, bytes.
const BEHIND: u64 = 64;

/// How long breakpoints have stood, and which processes they slow down.
#[derive(Default)]
pub(super) struct Rest {
    /// By process: the share of its recent time in such accesses.
    shares: HashMap<u32, f64>,
    /// By function: where they are, as offsets.
    known: HashMap<u32, Arc<[Range<u64>]>>,
    stood_ns: u64,
    looked_ns: u64,
}

impl Counter {
    /// Notes how much of a process's time is spent in accesses that breakpoints slow down.
    pub(super) fn note_wide(&mut self, candidates: &[Candidate]) {
        let Some(process) = candidates.first().map(|one| one.process) else { return };
        if !self.limits.slow_moves {
            return;
        }
        let share = candidates.iter().map(|one| self.rest.share_of(one)).sum();
        self.rest.shares.insert(process, share);
    }

    pub(super) fn forget_wide(&mut self, process: u32) {
        self.rest.shares.remove(&process);
    }

    /// Whether no breakpoint should stand now. Closes those that stay.
    pub(super) fn rests(&mut self) -> bool {
        if !self.limits.slow_moves {
            return false;
        }
        let now = clock::now_ns();
        let slowed = self.rest.shares.values().any(|share| *share >= SHARE);
        let stand = self.surveys.iter().any(survey::Survey::stands)
            || self.probes.iter().any(|probe| probe.standing.is_some());
        let elapsed = now.saturating_sub(self.started_ns);
        if !self.rest.is_due(slowed, stand, now, elapsed) {
            return false;
        }
        for index in 0..self.probes.len() {
            let stays = |standing: &Standing| !standing.trial && !standing.windowed;
            if self.probes[index].standing.as_ref().is_some_and(stays) {
                self.close(index, turns::TURN);
                // It stood too briefly to say how often it is hit: neither seldom nor often.
                self.probes[index].rate = f64::NAN;
            }
        }
        true
    }
}

impl Rest {
    /// Adds the time since the last look if a breakpoint has stood, and says whether they have stood long enough.
    fn is_due(&mut self, slowed: bool, stand: bool, now: u64, elapsed_ns: u64) -> bool {
        let since = now.saturating_sub(std::mem::replace(&mut self.looked_ns, now));
        // Before anything is known to be slowed down nothing is owed.
        if stand && slowed {
            self.stood_ns += since;
        }
        slowed && self.stood_ns > AT_FIRST_NS + (PART_OF_TIME * elapsed_ns as f64) as u64
    }

    fn share_of(&mut self, candidate: &Candidate) -> f64 {
        if candidate.places.is_empty() {
            return 0.0;
        }
        let wide = self.known.entry(candidate.function).or_insert_with(|| {
            let size = (candidate.end - candidate.start) as usize;
            candidate.image.code(candidate.start, size).map(wide).unwrap_or_default().into()
        });
        let at = |address: u64| address.saturating_sub(candidate.start);
        let places = candidate.places.iter();
        places
            .filter(|(address, _)| wide.iter().any(|one| one.contains(&at(*address))))
            .map(|(_, share)| share)
            .sum()
    }
}

/// Where samples of wide accesses are in a function's code, as offsets.
fn wide(code: &[u8]) -> Vec<Range<u64>> {
    let decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    decoder.into_iter().filter(is_wide).map(|one| one.ip()..one.next_ip() + BEHIND).collect()
}

fn is_wide(instruction: &Instruction) -> bool {
    let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    let moves = matches!(
        instruction.mnemonic(),
        Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd | Mnemonic::Movsq
    );
    instruction.memory_size() != MemorySize::Unknown && instruction.memory_size().size() == 64
        || repeats && moves && instruction.is_string_instruction()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// vmovdqu64 zmm16, [rsi]
    const ZMM: [u8; 6] = [0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x06];
    /// vmovdqu ymm0, [rsi]
    const YMM: [u8; 4] = [0xc5, 0xfe, 0x6f, 0x06];
    /// rep movsb
    const REP: [u8; 2] = [0xf3, 0xa4];
    /// movsd xmm0, [rsi]
    const MOVSD: [u8; 4] = [0xf2, 0x0f, 0x10, 0x06];

    #[test]
    fn accesses_of_64_bytes_and_repeated_moves_are_wide() {
        let ends = |code: &[u8]| -> Vec<(u64, u64)> {
            wide(code).into_iter().map(|one| (one.start, one.end - BEHIND)).collect()
        };
        assert_eq!(ends(&[&YMM[..], &ZMM].concat()), [(4, 10)]);
        assert_eq!(ends(&[&MOVSD[..], &REP].concat()), [(4, 6)]);
        assert_eq!(ends(&[&YMM[..], &MOVSD, &[0xa4]].concat()), []);
    }

    #[test]
    fn breakpoints_stand_for_a_while_and_then_for_a_part_of_the_time() {
        let mut rest = Rest::default();
        assert!(!rest.is_due(true, true, 0, 0));
        assert!(!rest.is_due(true, true, AT_FIRST_NS, AT_FIRST_NS));
        // 50 ms more than at first: a part of one second.
        let second = 1_000_000_000;
        let owed = AT_FIRST_NS + 60_000_000;
        assert!(rest.is_due(true, true, owed, second));
        // They do not stand meanwhile, until it is a smaller part.
        assert!(!rest.is_due(true, false, owed + second, 2 * second));
        // Nothing rests in a program that is not slowed down.
        assert!(!rest.is_due(false, true, 9 * second, second));
    }
}
