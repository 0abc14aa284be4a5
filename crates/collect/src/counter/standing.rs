//! When each probe stands: opened in its turn, looked at, let stay or closed, and what its window shows.

use super::*;
use turns::TURN;

impl Counter {
    pub(super) fn affordable(&self) -> bool {
        self.is_within_budget(self.spent_ns, 1.0)
    }

    /// Whether what was spent is within a part of the budget, and of what may be spent at first.
    pub(super) fn is_within_budget(&self, spent_ns: u64, part: f64) -> bool {
        let elapsed = clock::now_ns().saturating_sub(self.started_ns) as f64;
        (spent_ns as f64) < part * self.limits.budget * (BUDGET * elapsed + AT_FIRST_NS)
    }

    /// Opens probes whose time has come: at most two at once on trial, so that their costs do not add up; and a hot one
    /// without a caller that is counted only by itself, since all that it shows is how quickly its hits follow each other.
    pub(super) fn open_next(&mut self) {
        let now = clock::now_ns();
        let busy: Vec<usize> = (0..self.probes.len())
            .filter(|i| self.probes[*i].standing.as_ref().is_some_and(|s| s.trial || s.windowed))
            .collect();
        let alone = |counter: &Counter, index: usize| {
            counter.probes[index].hot && counter.entered_caller_of(index).is_none()
        };
        if busy.iter().any(|index| alone(self, *index)) {
            return;
        }
        let mut room = 2usize.saturating_sub(busy.len());
        let mut order: Vec<usize> =
            (0..self.probes.len()).filter(|i| self.probes[*i].standing.is_none()).collect();
        order.sort_by_key(|index| self.probes[*index].again_ns);
        let mut shares: Vec<f64> = self
            .probes
            .iter()
            .enumerate()
            .filter(|(index, _)| alone(self, *index))
            .map(|(_, probe)| probe.candidate.share)
            .collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let least = shares.get(ALONE - 1).copied().unwrap_or(0.0);
        for index in order {
            if room == 0 || self.probes[index].again_ns > now || !self.affordable() {
                break;
            }
            if self.is_never_to_stay(index) && !self.is_within_budget(self.windows_ns, PART_FOR_WINDOWS) {
                continue;
            }
            if !self.may_open(index) {
                continue;
            }
            let probe = &self.probes[index];
            if alone(self, index) {
                if probe.candidate.share < least {
                    self.probes[index].again_ns = now + PAUSE_NS;
                    continue;
                }
                // Due, but not while others stand: these are let finish, and none is opened meanwhile.
                if room == 2 {
                    self.open(index);
                }
                break;
            }
            if self.open(index) {
                room -= 1;
            }
        }
    }

    fn open(&mut self, index: usize) -> bool {
        let caller = self.entered_caller_of(index);
        let (caller_hits, has_caller) = (caller.map_or(0, |caller| self.hits(caller)), caller.is_some());
        let probe = &mut self.probes[index];
        probe.generation += 1;
        probe.mode = MODE_COUNT;
        let (slot, offset) = (probe.slot, probe.placement.offset);
        let windowed = probe.hot;
        let stop_at = match (windowed, has_caller) {
            (false, _) => self.limits.trial_hits,
            // A caller that was not entered twice while it was counted will hardly be entered soon: what can be seen is the rate.
            (true, true) if caller_hits <= 1 => self.limits.window_hits / RATE_PART,
            (true, true) => self.limits.window_hits,
            (true, false) => self.limits.window_hits_alone,
        };
        let (generation, number) = (probe.generation, probe.number);
        let blank = Slot { mode: MODE_COUNT, generation, probe: number, stop_at, ..Slot::default() };
        let opened = clock::now_ns();
        // A uprobe is made slowly; a breakpoint is hit at once.
        let at_once = self.limits.at_once.is_some();
        match self.hits.open(slot, blank, &self.probes[index].candidate, offset) {
            Ok(handle) => {
                let late = self.hits.late(Some(slot));
                self.probes[index].standing = Some(Standing {
                    handle,
                    opened_ns: if at_once { opened } else { clock::now_ns() },
                    stop_at,
                    seen: 0,
                    seen_ns: opened,
                    trial: !windowed,
                    windowed,
                    caller_hits,
                    late,
                });
                self.relate();
                true
            }
            Err(error) => {
                let why = error.to_string();
                let benign = BENIGN.iter().any(|code| why.contains(&format!("(os error {code})")));
                if self.probes[index].generation == self.probes[index].before + 1 && !benign {
                    self.tell(Told::Refused(why));
                }
                self.probes[index].again_ns = opened + 10 * PAUSE_NS;
                false
            }
        }
    }

    /// Whether it was hit so often in its last window that it will not be let stay.
    fn is_never_to_stay(&self, index: usize) -> bool {
        let probe = &self.probes[index];
        probe.hot && probe.rate > self.limits.hot_per_s / 2.0
    }

    /// Looks at a standing probe and decides whether it stays, and how.
    pub(super) fn look(&mut self, index: usize) {
        let Some(standing) = &self.probes[index].standing else { return };
        let now = clock::now_ns();
        let Seen { count: hits, stopped_ns: stopped, .. } = self.seen(index);
        let (age, since) = (now - standing.opened_ns, now - standing.seen_ns);
        if standing.windowed {
            let turns = self
                .caller_of(index)
                .map_or(0, |caller| self.hits(caller).saturating_sub(standing.caller_hits));
            // A few whole calls of the caller are worth waiting for, if it is entered at all.
            let long = age >= if turns == 0 { WINDOW_NS } else { LONG_WINDOW_NS };
            if stopped.is_some() || long || turns >= WINDOW_TURNS {
                self.close(index, "planned");
            }
        } else if standing.trial {
            if stopped.is_some() || age >= TRIAL_NS && self.is_too_hot_for_a_place(hits, age) {
                self.close(index, "hot");
            } else if age >= TRIAL_NS && !self.makes_place(index) {
                self.close(index, TURN);
            } else if age >= TRIAL_NS {
                let mode = if rate(hits, age) <= self.limits.record_per_s { MODE_RECORD } else { MODE_COUNT };
                self.stay(index, hits, now, mode, true);
                self.look_at_loops(&self.probes[index].candidate.clone());
            }
        } else if stopped.is_some() {
            self.close(index, "hot");
        } else if since >= READ_NS {
            let new = hits - standing.seen;
            let probe = &self.probes[index];
            let cost = probe.placement.cost(self.limits.hit_ns);
            let (number, mode, now_rate) = (probe.number, probe.mode, rate(new, since));
            self.spent_ns += new * cost;
            if now_rate > self.limits.hot_per_s || (new * cost) as f64 > 0.015 * since as f64 {
                self.close(index, "hot");
            } else if (new * cost) as f64 > CHEAP * since as f64 && !self.affordable() {
                self.close(index, "budget");
            } else {
                if new > 0 && mode == MODE_COUNT {
                    self.tell(Told::Call(Call {
                        time_ns: now,
                        thread: None,
                        probe: number,
                        count: hits,
                        under: None,
                        cpu_ns: 0,
                    }));
                }
                let wanted = match mode {
                    MODE_RECORD if now_rate > 2.0 * self.limits.record_per_s => MODE_COUNT,
                    MODE_COUNT if now_rate < self.limits.record_per_s / 2.0 => MODE_RECORD,
                    same => same,
                };
                self.stay(index, hits, now, wanted, wanted != mode);
            }
        }
    }

    /// Lets a standing probe go on until the next look.
    fn stay(&mut self, index: usize, hits: u64, now: u64, mode: u32, changed: bool) {
        let burst = self.limits.burst_hits;
        let probe = &mut self.probes[index];
        let Some(standing) = &mut probe.standing else { return };
        (standing.trial, standing.seen, standing.seen_ns) = (false, hits, now);
        probe.mode = mode;
        let short = standing.stop_at < hits + burst;
        if short {
            standing.stop_at = hits + 4 * burst;
        }
        if changed || short {
            self.relate();
        }
    }

    pub(super) fn close(&mut self, index: usize, reason: &str) {
        let Some(standing) = self.probes[index].standing.take() else { return };
        let Seen { count: hits, stopped_ns, first_ns, last_ns, delay_ns: delay } = self.seen(index);
        // A window that was not full ends with its last hit too, where that is known.
        let stopped = stopped_ns.or(last_ns.filter(|_| hits > 1 && (standing.trial || standing.windowed)));
        let burst = stopped.is_some() && hits > 1 && (standing.trial || standing.windowed);
        let first = Some(first_ns).filter(|first| burst && *first > standing.opened_ns);
        let end = stopped.unwrap_or_else(clock::now_ns).max(standing.opened_ns + 1);
        let timed = standing.trial || standing.windowed;
        let spoiled = timed && self.is_spoiled(self.probes[index].slot, standing.late, standing.opened_ns);
        self.take_out(self.probes[index].slot, standing.handle);
        let stood_until = stopped_ns.unwrap_or_else(clock::now_ns).max(standing.opened_ns + 1);
        let age = stood_until - standing.opened_ns;
        let cost = self.probes[index].placement.cost(self.limits.hit_ns);
        let (alone, started) = (self.entered_caller_of(index).is_none(), self.started_ns);
        let spent = (hits - standing.seen.min(hits)) * cost;
        self.spent_ns += spent;
        self.windows_ns += if standing.windowed { spent } else { 0 };
        let probe = &mut self.probes[index];
        probe.rate = rate(hits, age);
        // A window shows whether a probe has become slow enough to stay.
        let dear = (probe.rate * cost as f64) > 0.01e9 || reason == "budget";
        probe.hot = probe.rate > self.limits.hot_per_s / 2.0 || dear;
        let pause = match reason {
            TURN => turns::pause(hits, end - started),
            _ if spoiled => (SPOILED_PAUSE_NS << probe.spoiled.min(8)).min(PAUSE_NS),
            _ if alone => ALONE_PAUSE_NS.max((end - started) / ALONE_PAUSE),
            _ => PAUSE_NS.max(((hits * cost) as f64 / WINDOW_SHARE) as u64).min(3_000_000_000),
        };
        probe.again_ns = end + pause;
        probe.spoiled = if spoiled { probe.spoiled + 1 } else { 0 };
        // Making the breakpoint holds the program up, and so do others: a burst of hits is measured from its first to its
        // last, for as long as it really ran.
        let (start, hits) = match first {
            Some(first) => ((first + delay).min(end - 1), hits - 1),
            _ => (standing.opened_ns, hits),
        };
        let told = !spoiled && (reason != TURN || turns::shows_a_rate(hits));
        let number = probe.number;
        if told {
            let reason = reason.to_owned();
            self.tell(Told::Window(Window { probe: number, start_ns: start, end_ns: end, hits, reason }));
        }
        self.relate();
    }
}
