//! When each call of a function happened, from the windows in which it was counted.
//!
//! A probe does not stand all the time. A short window tells the rate around it: it speaks for the stretch from half-way to
//! the window before to half-way to the one after. In a long window every call, or the count every few milliseconds,
//! is known.

use slowpath_recording::Recording;
use slowpath_recording::tables::Window;

/// A window of at least this length has a rate that changes, which its own counts tell …
const LONG_NS: u64 = 40_000_000;
/// … if its count is known at so many moments.
const MARKS: usize = 4;
/// Time of the target that one hit takes, ns, for the correction of short windows; as the collector reckons it.
const HIT_NS: f64 = 700.0;

/// Calls over time in one process: `calls[i]` calls had begun at `times[i]`. Both rise.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Timeline {
    pub times: Vec<f64>,
    pub calls: Vec<f64>,
    /// Calls that were really counted.
    pub counted: u64,
    /// Calls before the first window, estimated.
    pub before: f64,
    /// Share of the time from first to last call that lay in long windows.
    pub exact_share: f64,
}

impl Timeline {
    /// The timeline of a probe between `start` and `end` of its process, ns. None if it counted nothing.
    pub(crate) fn of(recording: &Recording, probe: u32, start: u64, end: u64) -> Option<Timeline> {
        let mut windows: Vec<&Window> = recording.tables.windows.iter().filter(|w| w.probe == probe).collect();
        windows.sort_by_key(|window| window.start_ns);
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
        let mut timeline = Timeline { counted, ..Timeline::default() };
        let mut total = 0.0;
        let mut exact = 0.0;
        for (at, window) in windows.iter().enumerate() {
            let half = |a: u64, b: u64| a as f64 + (b.saturating_sub(a)) as f64 / 2.0;
            let from = if at == 0 { start as f64 } else { half(windows[at - 1].end_ns, window.start_ns) };
            let to = windows.get(at + 1).map_or(end as f64, |next| half(window.end_ns, next.start_ns));
            let (open, close) = (window.start_ns as f64, window.end_ns as f64);
            let length = (close - open).max(1.0);
            let in_window: Vec<(f64, f64)> = marks
                .iter()
                .filter(|(time, _)| (window.start_ns..=window.end_ns).contains(time))
                .map(|(time, count)| (*time as f64, *count as f64))
                .collect();
            let long = close - open >= LONG_NS as f64 && in_window.len() >= MARKS;
            let free = if long { length } else { (length - window.hits as f64 * HIT_NS).max(length * 0.2) };
            // In a long window the rate at each end goes on into the gap; in a short one there is one rate.
            let (rate_before, rate_after) = if long {
                (end_rate(&in_window, open, true), end_rate(&in_window, close, false))
            } else {
                let rate = window.hits as f64 / free;
                (rate, rate)
            };
            timeline.push(from, total);
            total += rate_before * (open - from).max(0.0);
            if at == 0 {
                timeline.before = total;
            }
            timeline.push(open, total);
            if long {
                exact += length;
                for (time, count) in &in_window {
                    timeline.push(*time, total + count - 1.0);
                }
                total += window.hits as f64;
            } else {
                total += window.hits as f64 / free * length;
            }
            timeline.push(close, total);
            total += rate_after * (to - close).max(0.0);
            timeline.push(to, total);
        }
        timeline.exact_share = exact / (end.saturating_sub(start) as f64).max(1.0);
        Some(timeline)
    }

    fn push(&mut self, time: f64, calls: f64) {
        let last_time = self.times.last().copied().unwrap_or(f64::MIN);
        let last_calls = self.calls.last().copied().unwrap_or(0.0);
        if time > last_time {
            self.times.push(time);
            self.calls.push(calls.max(last_calls));
        }
    }

    /// Calls in all, counted and estimated.
    pub(crate) fn total(&self) -> f64 {
        self.calls.last().copied().unwrap_or(0.0)
    }

    /// When call number `call` began, ns.
    pub(crate) fn time_of(&self, call: f64) -> f64 {
        let at = self.calls.partition_point(|calls| *calls < call).min(self.calls.len() - 1);
        if at == 0 {
            return self.times[0];
        }
        let (t0, t1, n0, n1) = (self.times[at - 1], self.times[at], self.calls[at - 1], self.calls[at]);
        if n1 <= n0 { t1 } else { t0 + (t1 - t0) * ((call - n0) / (n1 - n0)).clamp(0.0, 1.0) }
    }
}

/// Calls per ns at one end of a long window, from the few marks nearest to it.
fn end_rate(marks: &[(f64, f64)], edge: f64, first: bool) -> f64 {
    const NEAR: usize = 8;
    let near = if first { &marks[..marks.len().min(NEAR)] } else { &marks[marks.len().saturating_sub(NEAR)..] };
    let (Some(a), Some(b)) = (near.first(), near.last()) else { return 0.0 };
    let span = (b.0 - a.0).max(if first { a.0 - edge } else { edge - b.0 }).max(1.0);
    (b.1 - a.1) / span
}
