//! Room for probes: their slots are few, and what a program does at its start is not what it does later.
//!
//! A probe of a function that is not hot any more leaves its slot to one that is, and so does what is surveyed. What it showed was recorded.

use super::survey::Survey;
use super::taken_up::Of;
use super::*;

/// How long a probe keeps its slot at least, ns: its trial, and two of the windows that hot ones have every 250 ms.
const KEEPS_NS: u64 = 500_000_000;
/// What is not hot at a look keeps so much of its share, half after seven looks (165 ms): a share just below the limit comes and goes by chance.
const COOLS: f64 = 0.9;
/// One that is hotter by such a factor takes another's slot: two that are alike would take it from each other.
const HOTTER: f64 = 2.0;

impl Counter {
    /// Takes note of which functions of a process are hot now, and how much.
    pub(super) fn weigh(&mut self, candidates: &[Candidate]) {
        let Some(process) = candidates.first().map(|candidate| candidate.process) else { return };
        let shares: HashMap<u32, f64> = candidates.iter().map(|one| (one.function, one.share)).collect();
        for probe in self.probes.iter_mut().filter(|probe| probe.candidate.process == process) {
            match shares.get(&probe.candidate.function) {
                Some(_) if probe.of_loop.is_some() => {}
                Some(share) => probe.candidate.share = *share,
                // It may be just below what counts as hot.
                None => probe.candidate.share *= COOLS,
            }
        }
        for survey in self.surveys.iter_mut().filter(|survey| survey.candidate.process == process) {
            match shares.get(&survey.candidate.function) {
                Some(share) => survey.candidate.share = *share,
                None => survey.candidate.share *= COOLS,
            }
        }
    }

    /// Whether there is a place for one more survey of a kind, in a process and in all, as far as colder ones can make way for it.
    pub(super) fn has_room(&mut self, of: Of, around: bool, candidate: &Candidate) -> bool {
        let process = candidate.process;
        let alike = |survey: &Survey| survey.is_alike(process, of, around);
        let here = self.surveys.iter().filter(|survey| alike(survey)).count();
        if here >= of.most() && !self.drop_coldest(candidate.share, alike) {
            return false;
        }
        // Interfaces and allocators have places of their own.
        let usual = |survey: &Survey| survey.is_usual(process);
        self.surveys.len() < of.most_in_all() || self.drop_coldest(candidate.share, usual)
    }

    /// Ends the coldest survey of some, if it makes way for one with such a share.
    fn drop_coldest(&mut self, share: f64, of: impl Fn(&Survey) -> bool) -> bool {
        let now = clock::now_ns();
        let may_go = |survey: &Survey| {
            of(survey) && !survey.stands() && now.saturating_sub(survey.made_ns) >= KEEPS_NS
        };
        let shares = self.surveys.iter().enumerate().filter(|(_, survey)| may_go(survey));
        let shares: Vec<(usize, f64)> = shares.map(|(at, survey)| (at, survey.candidate.share)).collect();
        let Some(at) = who_goes(&shares, share) else { return false };
        let gone = self.surveys.remove(at);
        self.surveyed.remove(&gone.key());
        for slot in gone.slots() {
            self.give_back(slot, gone.generation);
        }
        true
    }

    /// A slot for a probe of something that has such a share of the recent samples; none if all others are as worth while.
    pub(super) fn slot_for(&mut self, share: f64) -> Option<usize> {
        if self.free.is_empty() {
            self.make_room(share);
        }
        self.free.pop()
    }

    /// A slot is free again. Its uprobe may be hit once more while it is taken out: the next one of the slot goes on from its generation.
    pub(super) fn give_back(&mut self, slot: usize, generation: u32) {
        self.generations[slot] = generation;
        self.free.push(slot);
    }

    fn make_room(&mut self, share: f64) {
        let is_busy = |probe: &Probe| probe.standing.as_ref().is_some_and(|one| one.trial || one.windowed);
        let now = clock::now_ns();
        let may_go = |probe: &Probe| !is_busy(probe) && now.saturating_sub(probe.made_ns) >= KEEPS_NS;
        let shares = self.probes.iter().enumerate().filter(|(_, probe)| may_go(probe));
        let shares: Vec<(usize, f64)> = shares.map(|(index, probe)| (index, probe.candidate.share)).collect();
        let Some(index) = who_goes(&shares, share) else { return };
        self.close(index, "end");
        let gone = self.probes.remove(index);
        let key = gone.key();
        if let Some(at) = gone.of_loop {
            self.counted_loops.remove(&(key.0, key.1, at));
        }
        // Should it come back, it goes on under its number.
        self.numbered.insert(key, gone.number);
        self.give_back(gone.slot, gone.generation);
        self.reindex();
    }
}

/// Of probes with their shares the coldest, if it makes way for one with `share`.
fn who_goes(shares: &[(usize, f64)], share: f64) -> Option<usize> {
    let (index, least) = shares.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (share >= HOTTER * least && share > 0.0).then_some(*index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::breakpoint::Breakpoints;
    use crate::image::Image;
    use std::sync::mpsc::channel;

    #[test]
    fn probes_may_make_room_while_all_are_looked_at() {
        let (tell, _told) = channel();
        let mut counter = Counter::new(Hits::Breakpoints(Breakpoints::new(1_000, None)), 0, 0, tell);
        let image = Arc::new(Image::vdso().expect("this process has one"));
        for function in 0..SLOTS as u32 {
            let candidate = Candidate {
                process: 0,
                pid: std::process::id(),
                function,
                caller: None,
                share: 0.01,
                innermost: 0.0,
                recursive: false,
                calls_itself: false,
                samples: 100.0,
                image: image.clone(),
                file: "vdso".into(),
                start: 0,
                end: 1,
                live: 0,
                places: Vec::new(),
            };
            assert!(counter.insert(candidate, place::Placement::emulated(0, 0), None));
        }
        counter.probes.iter_mut().for_each(|probe| probe.made_ns = 0);
        let mut seen = 0;
        counter.each_probe(|counter, index| {
            assert_eq!(counter.probes[index].candidate.process, 0);
            seen += 1;
            if index % 2 == 0 {
                assert!(counter.slot_for(1.0).is_some(), "the coldest of {} goes", counter.probes.len());
            }
        });
        assert!(
            seen > SLOTS / 2 && counter.probes.len() < SLOTS,
            "{seen}, {} are left",
            counter.probes.len()
        );
    }

    #[test]
    fn the_coldest_makes_way_for_one_that_is_twice_as_hot() {
        let shares = [(3, 0.5), (5, 0.1), (6, 0.2)];
        assert_eq!(who_goes(&shares, 0.2), Some(5));
        assert_eq!(who_goes(&shares, 0.19), None);
        assert_eq!(who_goes(&[(1, 0.0), (2, 0.0)], 0.01), Some(1));
        assert_eq!(who_goes(&[(1, 0.0)], 0.0), None);
        assert_eq!(who_goes(&[], 1.0), None);
    }
}
