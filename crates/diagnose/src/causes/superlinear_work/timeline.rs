//! When each call of a function happened, from the windows in which it was counted.
//!
//! A probe does not stand all the time. A short window shows one rate; between two windows the cost of a
//! call goes from the one's to the other's. In a long window every call, or the count every few milliseconds, is known.
//! All is reckoned in the CPU time of the threads that make the calls.

use super::clock::Clock;
use slowpath_recording::Recording;
use slowpath_recording::tables::Window;

/// A window of at least this length has a rate that changes, which its own counts show …
const LONG_NS: u64 = 40_000_000;
/// … if its count is known at so many moments.
const MARKS: usize = 4;
/// A window's rate is far from another if it is so many times that.
const OUTLIER: f64 = 1.5;
/// Too few hits for a rate.
const FEW: u64 = 20;
/// Straight pieces that a curve between windows, or before the first, is drawn with.
const GAP_STEPS: usize = 4;
const BEFORE_STEPS: usize = 16;
/// Windows behind the first that show how the cost rose before it; and a first window's cost is too high from so many times that of
/// their curve.
const NEXT: usize = 4;
const HELD_UP: f64 = 1.2;
/// The very last call costs this share of one in the last window at least: there is more to a call than what falls.
const LAST: f64 = 0.05;
/// Time of the target that one hit takes, ns, for the correction of short windows; as the collector reckons it where BPF counts.
const HIT_NS: f64 = 700.0;
/// Of a window that was counted by breakpoints so much is the program's at least: what is left of a shorter one is what a hit happened
/// to take.
const OWN_SHARE: f64 = 0.25;
/// No hit takes less, ns.
const LEAST_HIT_NS: f64 = 100.0;

/// What is known of how the cost of a call goes with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trend {
    Unknown,
    Rises,
    Falls,
}

/// Calls over time in one process: `calls[i]` calls had begun when so much CPU time, `times[i]`, had passed. Both rise.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Timeline {
    clock: Clock,
    pub times: Vec<f64>,
    pub calls: Vec<f64>,
    /// Calls that were really counted.
    pub counted: u64,
    /// Calls before the first window, estimated.
    pub before: f64,
    /// When the first window opened, ns of CPU time.
    pub opened: f64,
    /// Share of the CPU time from first to last call that lay in long windows.
    pub exact_share: f64,
    /// When it was counted, ns: from and to of each window.
    pub windows: Vec<(f64, f64)>,
    /// What a call cost in each window on average, ns of CPU time of its thread.
    pub costs: Vec<f64>,
}

impl Timeline {
    /// The timeline of a probe between `start` and `end` of its process, ns, by the clock of the threads that make the
    /// calls; as it would be `without` one of its windows. None if it counted nothing.
    pub(crate) fn of(
        recording: &Recording,
        probe: u32,
        (start, end): (u64, u64),
        clock: Clock,
        trend: Trend,
        without: Option<usize>,
    ) -> Option<Timeline> {
        let mut windows: Vec<&Window> =
            recording.tables.windows.iter().filter(|w| w.probe == probe).collect();
        windows.sort_by_key(|window| window.start_ns);
        // A short one that the program's end cut off shows no rate.
        let cut = |window: &Window| {
            window.reason == "end"
                && window.hits < FEW
                && window.end_ns.saturating_sub(window.start_ns) < LONG_NS
        };
        if windows.len() > 1 && windows.last().is_some_and(|last| cut(last)) {
            windows.pop();
        }
        // Hits do not follow each other so quickly: what the thread stood in line for was taken for more than it was.
        windows.retain(|window| {
            window.end_ns.saturating_sub(window.start_ns) as f64 >= window.hits as f64 * LEAST_HIT_NS
        });
        let hit_ns = recording.about.hit_ns.map(|ns| ns as f64);
        if let Some(hit_ns) = hit_ns {
            windows.retain(|window| shows_more_than_hits(window, hit_ns));
        }
        let hit_ns = hit_ns.unwrap_or(HIT_NS);
        if let Some(without) = without.filter(|without| *without < windows.len()) {
            windows.remove(without);
        }
        let counted: u64 = windows.iter().map(|window| window.hits).sum();
        if counted == 0 {
            return None;
        }
        let marks: Vec<(u64, u64)> = recording
            .tables
            .calls
            .iter()
            .filter(|call| call.probe == probe && call.under.is_none())
            .map(|call| (call.time_ns, call.count))
            .collect();
        let mut pieces: Vec<Piece> =
            windows.iter().map(|window| Piece::of(window, &marks, &clock, hit_ns)).collect();
        let costs = pieces.iter().filter_map(Piece::cost).collect();
        without_outliers(&mut pieces);
        let windows = windows.iter().map(|window| (window.start_ns as f64, window.end_ns as f64)).collect();
        let (start, end) = (clock.cpu(start as f64), clock.cpu(end as f64));
        let before = (trend == Trend::Rises).then(|| risen_before(&mut pieces, start)).flatten();
        let at_end = (trend == Trend::Falls).then(|| fallen_after(&pieces, end)).flatten();
        let mut timeline = Timeline { clock, counted, windows, costs, ..Timeline::default() };
        let mut total = 0.0;
        let mut exact = 0.0;
        let first = &pieces[0];
        timeline.push(start, 0.0);
        total += before.unwrap_or(first.rate_open * (first.open - start).max(0.0));
        timeline.before = total;
        timeline.opened = first.open;
        for (at, piece) in pieces.iter().enumerate() {
            timeline.push(piece.open, total);
            for (time, count) in &piece.marks {
                timeline.push(*time, total + count - 1.0);
            }
            if !piece.marks.is_empty() {
                exact += piece.close - piece.open;
            }
            total += piece.calls;
            timeline.push(piece.close, total);
            // Between two windows the cost of a call goes in a line from the one's to the other's, by number of the call.
            let last = (end, at_end.map_or(piece.rate_close, |cost| 1.0 / cost));
            let (until, rate_then) = pieces.get(at + 1).map_or(last, |next| (next.open, next.rate_open));
            let gap = (until - piece.close).max(0.0);
            let (cost, cost_then) = (1.0 / piece.rate_close.max(1e-12), 1.0 / rate_then.max(1e-12));
            let calls = gap * 2.0 / (cost + cost_then);
            for step in 1..=GAP_STEPS {
                let x = step as f64 / GAP_STEPS as f64;
                let time = calls * (cost * x + (cost_then - cost) * x * x / 2.0);
                timeline.push(piece.close + time, total + calls * x);
            }
            total += calls;
        }
        timeline.exact_share = exact / (end - start).max(1.0);
        Some(timeline)
    }

    /// The same with so many calls before the first window, whose cost rose with a power of their number: then the first of
    /// them came quicker.
    pub(crate) fn with_before(&self, calls: f64, power: f64) -> Timeline {
        let mut changed = Timeline { before: calls, times: Vec::new(), calls: Vec::new(), ..self.clone() };
        let start = self.times[0];
        for step in 0..BEFORE_STEPS {
            let x = step as f64 / BEFORE_STEPS as f64;
            changed.push(start + (self.opened - start) * x, calls * x.powf(1.0 / (power + 1.0)));
        }
        for (time, number) in self.times.iter().zip(&self.calls) {
            if *time >= self.opened {
                changed.push(*time, number - self.before + calls);
            }
        }
        changed
    }

    fn push(&mut self, time: f64, calls: f64) {
        let last_time = self.times.last().copied().unwrap_or(f64::MIN);
        let last_calls = self.calls.last().copied().unwrap_or(0.0);
        if time > last_time {
            self.times.push(time);
            self.calls.push(calls.max(last_calls));
        }
    }

    /// Share of the stretches between `bounds`, ns, in or next to which it was counted: in the others the number of calls is a guess.
    pub(crate) fn support(&self, bounds: &[f64]) -> f64 {
        let counted = |(start, end): (f64, f64)| {
            let near = end - start;
            self.windows.iter().any(|(open, close)| *close >= start - near && *open <= end + near)
        };
        let stretches = bounds.windows(2).map(|pair| (pair[0], pair[1]));
        let supported = stretches.filter(|stretch| counted(*stretch)).count();
        supported as f64 / bounds.len().saturating_sub(1).max(1) as f64
    }

    /// Calls in all, counted and estimated.
    pub(crate) fn total(&self) -> f64 {
        self.calls.last().copied().unwrap_or(0.0)
    }

    /// How many calls had begun at a moment, ns.
    pub(crate) fn number_at(&self, time: f64) -> f64 {
        let cpu = self.clock.cpu(time);
        let at = self.times.partition_point(|other| *other < cpu);
        match (at.checked_sub(1), self.calls.get(at)) {
            (None, _) => 0.0,
            (Some(_), None) => self.total(),
            (Some(before), Some(next)) => {
                let part = (cpu - self.times[before]) / (self.times[at] - self.times[before]);
                self.calls[before] + (next - self.calls[before]) * part
            }
        }
    }

    /// When call number `call` began, ns.
    pub(crate) fn time_of(&self, call: f64) -> f64 {
        let at = self.calls.partition_point(|calls| *calls < call).min(self.calls.len() - 1);
        if at == 0 {
            return self.clock.time(self.times[0]);
        }
        let (t0, t1, n0, n1) = (self.times[at - 1], self.times[at], self.calls[at - 1], self.calls[at]);
        let cpu = if n1 <= n0 { t1 } else { t0 + (t1 - t0) * ((call - n0) / (n1 - n0)).clamp(0.0, 1.0) };
        self.clock.time(cpu)
    }
}

/// Whether a window was not mostly what its own hits took.
fn shows_more_than_hits(window: &Window, hit_ns: f64) -> bool {
    let length = window.end_ns.saturating_sub(window.start_ns);
    length >= LONG_NS || length as f64 * (1.0 - OWN_SHARE) >= window.hits as f64 * hit_ns
}

/// A short window in which the program was held up, or ran ahead, shows a rate far from that of both its neighbours: it
/// takes the nearer one's.
fn without_outliers(pieces: &mut [Piece]) {
    let rates: Vec<f64> = pieces.iter().map(|piece| piece.rate_open).collect();
    for at in 1..pieces.len().saturating_sub(1) {
        let (low, high) = (rates[at - 1].min(rates[at + 1]), rates[at - 1].max(rates[at + 1]));
        let piece = &mut pieces[at];
        let apart = piece.rate_open * OUTLIER < low || piece.rate_open > high * OUTLIER;
        if piece.marks.is_empty() && apart {
            let rate = piece.rate_open.clamp(low, high);
            (piece.rate_open, piece.rate_close) = (rate, rate);
            piece.calls = rate * (piece.close - piece.open);
        }
    }
}

/// Calls before the first window where the cost of calls rises: by the curve that the next windows lie on. With a cost that rises
/// with the number of calls, c = a·k, its square rises with time: dk = dt / c. While probes are first put into the program it
/// is held up, so that the first window can show too high a cost: then it takes that of the curve. None if there is no curve.
fn risen_before(pieces: &mut [Piece], start: f64) -> Option<f64> {
    let (first, next) = pieces.split_first_mut()?;
    let squares: Vec<(f64, f64)> = next
        .iter()
        .take(NEXT)
        .filter(|piece| piece.rate_open > 0.0)
        .map(|piece| (piece.open, piece.rate_open.powi(-2)))
        .collect();
    if squares.len() < 2 {
        return None;
    }
    let (t, y) = middle(&squares);
    let mut steep = slope(&squares, t, y);
    let mut base = y - steep * (t - start);
    if base < 0.0 {
        // The very first call costs something.
        (base, steep) = (0.0, slope(&squares, start, 0.0));
    }
    if steep <= 0.0 {
        return None;
    }
    let at_first = (base + steep * (first.open - start)).max(0.0).sqrt();
    if first.rate_open * at_first > 1.0 {
        return None; // it was cheaper than that
    }
    if first.marks.is_empty() && first.rate_open * at_first * HELD_UP < 1.0 {
        let rate = 1.0 / at_first.max(1e-9);
        (first.rate_open, first.rate_close) = (rate, rate);
        first.calls = rate * (first.close - first.open);
    }
    Some(2.0 / steep * (at_first - base.sqrt()))
}

/// The cost of the last call where the cost falls, by the curve of the last windows, which is the same as above; the more calls
/// are left the dearer they are, so that the last come quickest. None if there is no curve.
fn fallen_after(pieces: &[Piece], end: f64) -> Option<f64> {
    let squares: Vec<(f64, f64)> = pieces
        .iter()
        .rev()
        .take(NEXT)
        .filter(|piece| piece.rate_close > 0.0)
        .map(|piece| (piece.close, piece.rate_close.powi(-2)))
        .collect();
    let last = pieces.last().filter(|piece| squares.len() >= 3 && piece.rate_close > 0.0)?;
    let (t, y) = middle(&squares);
    let steep = slope(&squares, t, y);
    let at_end = y + steep * (end - t);
    let before = 1.0 / last.rate_close;
    (steep < 0.0).then(|| at_end.max(0.0).sqrt().clamp(before * LAST, before))
}

/// The mean of points.
fn middle(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len().max(1) as f64;
    points.iter().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x / n, sum.1 + y / n))
}

/// The slope of the line through `(x, y)` that comes nearest to points.
fn slope(points: &[(f64, f64)], x: f64, y: f64) -> f64 {
    let over: f64 = points.iter().map(|(at, value)| (at - x) * (value - y)).sum();
    over / points.iter().map(|(at, _)| (at - x).powi(2)).sum::<f64>().max(1.0)
}

/// What one window shows. Times are CPU time, ns.
struct Piece {
    open: f64,
    close: f64,
    /// Calls in it, as many as there would have been without the probe.
    calls: f64,
    /// Calls per ns at either end.
    rate_open: f64,
    rate_close: f64,
    /// Moments at which the count is known, in a long window, and the count.
    marks: Vec<(f64, f64)>,
}

impl Piece {
    /// What a call costs on average, ns.
    fn cost(&self) -> Option<f64> {
        (self.calls > 0.0).then(|| (self.close - self.open) / self.calls)
    }

    /// `hit_ns`: what a hit takes.
    fn of(window: &Window, marks: &[(u64, u64)], clock: &Clock, hit_ns: f64) -> Piece {
        let length = window.end_ns.saturating_sub(window.start_ns).max(1);
        let (open, end) = (clock.cpu(window.start_ns as f64), clock.cpu(window.end_ns as f64));
        let from = marks.partition_point(|(time, _)| *time < window.start_ns);
        let to = marks.partition_point(|(time, _)| *time <= window.end_ns);
        let marks: Vec<(f64, f64)> =
            marks[from..to].iter().map(|(time, count)| (clock.cpu(*time as f64), *count as f64)).collect();
        if length >= LONG_NS && marks.len() >= MARKS {
            let (rate_open, rate_close) = (end_rate(&marks, open, true), end_rate(&marks, end, false));
            return Piece { open, close: end, calls: window.hits as f64, rate_open, rate_close, marks };
        }
        let length = match length {
            LONG_NS.. => (end - open).max(1.0),
            short => clock.short(window.start_ns as f64, short as f64),
        };
        let free = (length - window.hits as f64 * hit_ns).max(length * 0.2);
        let rate = window.hits as f64 / free;
        Piece {
            open,
            close: open + length,
            calls: rate * length,
            rate_open: rate,
            rate_close: rate,
            marks: Vec::new(),
        }
    }
}

/// Calls per ns at one end of a long window: from the marks nearest to it, so many at least, and as far apart as gives a rate by
/// a clock that goes on from sample to sample.
fn end_rate(marks: &[(f64, f64)], edge: f64, first: bool) -> f64 {
    const NEAR: usize = 8;
    const APART_NS: f64 = 20e6;
    let far = |mark: &(f64, f64)| (mark.0 - edge).abs() >= APART_NS;
    let near = if first {
        let until = marks.iter().position(far).map_or(marks.len(), |at| at + 1);
        &marks[..until.max(NEAR).min(marks.len())]
    } else {
        let from = marks.iter().rposition(far).unwrap_or(0);
        &marks[from.min(marks.len().saturating_sub(NEAR))..]
    };
    let (Some(a), Some(b)) = (near.first(), near.last()) else { return 0.0 };
    let span = (b.0 - a.0).max(if first { a.0 - edge } else { edge - b.0 }).max(1.0);
    (b.1 - a.1) / span
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Short windows at these times, ns, at which a call costs so much.
    fn pieces(costs: &[(f64, f64)]) -> Vec<Piece> {
        let piece = |(open, cost): &(f64, f64)| {
            let rate = 1.0 / cost;
            Piece {
                open: *open,
                close: open + 1e5,
                calls: rate * 1e5,
                rate_open: rate,
                rate_close: rate,
                marks: Vec::new(),
            }
        };
        costs.iter().map(piece).collect()
    }

    /// The k-th call costs 10·k ns, so that after t ns there were sqrt(t / 5) calls.
    fn linear(times: &[f64]) -> Vec<(f64, f64)> {
        times.iter().map(|time| (*time, 10.0 * (time / 5.0).sqrt())).collect()
    }

    #[test]
    fn calls_before_the_first_window_follow_the_curve_of_the_next() {
        let mut costs = linear(&[10e6, 40e6, 70e6, 100e6, 130e6]);
        costs[0].1 *= 1.5; // the program was held up
        let mut held_up = pieces(&costs);
        let before = risen_before(&mut held_up, 0.0).expect("a curve");
        let truly = (10e6_f64 / 5.0).sqrt();
        assert!((before / truly - 1.0).abs() < 0.02, "{before} of {truly}");
        let cost = 1.0 / held_up[0].rate_open;
        assert!((cost / (10.0 * truly) - 1.0).abs() < 0.02, "{cost}");
    }

    #[test]
    fn the_last_calls_follow_the_curve_of_the_last_windows() {
        // c = 10·(K − k) ns, so that c² = 20·(T − t).
        let falls = |times: &[f64]| -> Vec<(f64, f64)> {
            times.iter().map(|time| (*time, (20.0 * (200e6 - time)).sqrt())).collect()
        };
        let windows = pieces(&falls(&[100e6, 120e6, 140e6, 160e6]));
        let truly = (20.0_f64 * (200e6 - 190e6)).sqrt();
        let cost = fallen_after(&windows, 190e6).expect("a curve");
        assert!((cost / truly - 1.0).abs() < 0.02, "{cost} of {truly}");
        let least = (20.0_f64 * 40e6).sqrt() * LAST;
        assert!(fallen_after(&windows, 210e6).is_some_and(|cost| (cost / least - 1.0).abs() < 0.01));
        assert_eq!(fallen_after(&pieces(&linear(&[100e6, 120e6, 140e6])), 190e6), None);
        assert_eq!(fallen_after(&pieces(&falls(&[100e6, 120e6])), 190e6), None);
    }

    #[test]
    fn what_hits_take_is_subtracted_and_a_window_of_little_else_shows_nothing() {
        let window = |hits, ns| Window { probe: 0, start_ns: 0, end_ns: ns, hits, reason: "planned".into() };
        let calls =
            |window: Window, hit_ns| Piece::of(&window, &[], &Clock::default(), hit_ns).rate_open.recip();
        assert!((calls(window(100, 1_000_000), 7_000.0) - 3_000.0).abs() < 1.0);
        assert!((calls(window(100, 1_000_000), HIT_NS) - 9_300.0).abs() < 1.0);
        assert!(shows_more_than_hits(&window(100, 1_000_000), 7_000.0));
        assert!(!shows_more_than_hits(&window(100, 1_000_000), 8_000.0));
        assert!(shows_more_than_hits(&window(10_000, LONG_NS), 8_000.0), "a long one has a clock of its own");
    }

    #[test]
    fn where_the_cost_is_flat_or_the_first_window_cheaper_there_is_no_curve() {
        assert_eq!(risen_before(&mut pieces(&[(10e6, 900.0), (40e6, 900.0), (70e6, 900.0)]), 0.0), None);
        let mut costs = linear(&[10e6, 40e6, 70e6, 100e6]);
        costs[0].1 *= 0.5;
        assert_eq!(risen_before(&mut pieces(&costs), 0.0), None);
        assert_eq!(risen_before(&mut pieces(&linear(&[10e6, 40e6])), 0.0), None);
    }
}
