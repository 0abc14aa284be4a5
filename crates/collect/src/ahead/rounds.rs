//! How often loops are entered in a stretch, and how many rounds they make: exactly, where probes take microseconds for each.

/// A loop that is looked at: its number among the walks of the recording, and the addresses of an instruction that is executed once each time it is entered and one that is
/// executed once in each round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    pub walk: u32,
    pub entry: u64,
    pub round: u64,
}

/// What a stretch showed of a loop.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    entries: u64,
    /// Rounds before the first entry, since then, and from then to the last.
    before: u64,
    since: u64,
    to_last: u64,
}

/// The loops of a stretch.
#[derive(Default)]
pub(super) struct Rounds {
    watched: Vec<Watched>,
    counted: Vec<Counted>,
}

impl Rounds {
    pub(super) fn new(watched: &[Watched]) -> Rounds {
        Rounds { watched: watched.to_vec(), counted: vec![Counted::default(); watched.len()] }
    }

    /// Addresses, and what to call [`hit`](Self::hit) with when one is reached.
    pub(super) fn marks(&self) -> impl Iterator<Item = (u64, u32)> {
        let all = self.watched.iter().zip((0..).step_by(2));
        all.flat_map(|(one, mark)| [(one.entry, mark), (one.round, mark + 1)])
    }

    pub(super) fn hit(&mut self, mark: u32) {
        let Some(one) = self.counted.get_mut(mark as usize / 2) else { return };
        match (mark % 2, one.entries) {
            (0, _) => (one.entries, one.to_last) = (one.entries + 1, one.since),
            (_, 0) => one.before += 1,
            _ => one.since += 1,
        }
    }

    /// By walk: how often it was entered after the first time, and rounds from the first entry to the last; or no entry, if there were not two, and as many rounds as are known of one
    /// way.
    pub(super) fn found(&self) -> Vec<(u32, u64, u64)> {
        let seen = self.watched.iter().zip(&self.counted);
        let of = |(watched, counted): (&Watched, &Counted)| match counted.entries {
            0 | 1 => (watched.walk, 0, counted.before.max(counted.since)),
            entries => (watched.walk, entries - 1, counted.to_last),
        };
        seen.map(of).filter(|(_, _, rounds)| *rounds > 0).collect()
    }
}
