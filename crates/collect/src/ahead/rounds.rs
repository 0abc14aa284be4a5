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
    /// Rounds before the first entry, and since.
    before: u64,
    since: u64,
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
            (0, _) => one.entries += 1,
            (_, 0) => one.before += 1,
            _ => one.since += 1,
        }
    }

    /// By walk: how often it was entered, from the first entry on; 0 if that was but once, or before the stretch, of which it is known that it has at least so many rounds; and
    /// its rounds.
    pub(super) fn found(&self) -> Vec<(u32, u64, u64)> {
        let seen = self.watched.iter().zip(&self.counted);
        let of = |(watched, counted): (&Watched, &Counted)| match counted.entries {
            0 | 1 => (watched.walk, 0, counted.before.max(counted.since)),
            entries => (watched.walk, entries, counted.since),
        };
        seen.map(of).filter(|(_, _, rounds)| *rounds > 0).collect()
    }
}
