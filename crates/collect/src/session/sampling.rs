//! One sample on its way into the tables: weighed, unwound, and shown to those who choose what to count.

use super::Session;
use crate::sampler::record::Sample;
use crate::unwind::{Copied, Place};
use crate::world::memory;
use slowpath_recording::tables::Sample as SampleRow;

impl Session {
    pub(super) fn sample(&mut self, sample: Sample) {
        let Some(live) = self.world.process(sample.pid) else { return };
        if !live.executed || self.gone.contains(&sample.tid) {
            return;
        }
        let weight = (sample.period as f64 * self.stands_for.ns_per_period) as u64;
        if self.own_code.is_on(&sample.kernel) {
            live.seen.samples += 1;
            live.seen.sampled_ns += weight;
            live.row.tracing_ns += weight;
            return;
        }
        self.places.clear();
        self.places.extend(sample.kernel.iter().map(|address| Place::Kernel { address: *address }));
        let kernel = self.places.len();
        let complete = match sample.regs {
            Some(regs) if regs.wide => {
                let memory = memory(&mut live.memory, sample.pid);
                let stack = Copied::whole(&sample.stack);
                let whole =
                    live.space.unwind(regs, stack, memory, &mut live.cache, &mut self.places).complete;
                whole & !live.space.goes_on_with_a_goroutine(&sample.chain, &mut self.places)
            }
            None => true, // in the kernel with no user stack to walk, as while it executes a program
            _ => false,
        };
        self.samples += 1;
        let kept = self.grain.sample().map(|of| of * weight);
        if let Some(weight) = kept {
            live.seen.samples += 1;
            live.seen.sampled_ns += weight;
        }
        let complete = complete || self.places.last().is_some_and(|place| self.starts_a_thread(*place));
        self.complete += u64::from(complete);
        let tables = &mut self.writer.tables;
        let thread = self.world.thread(sample.pid, sample.tid, sample.time, tables);
        let mut locations = Vec::with_capacity(self.places.len());
        for place in self.places.iter().rev() {
            let image = match place {
                Place::Native { module, .. } => self.world.image(*module),
                _ => None,
            };
            locations.push(self.stacks.location(*place, image, &mut tables.locations));
        }
        let stack = self.stacks.stack(locations.iter().copied(), &mut tables.stacks);
        if let Some((thread, weight)) = thread.zip(kept) {
            let row = |weight_ns, stack| SampleRow {
                time_ns: sample.time,
                thread,
                on_cpu: true,
                weight_ns,
                stack,
                complete,
            };
            let part = sample.before_call as f64 / sample.period.max(1) as f64;
            let before_ns = (weight as f64 * part) as u64;
            tables.samples.push(row(weight - before_ns.min(weight), stack));
            if before_ns > 0 {
                // The innermost function makes the call, for its caller.
                let callers = &locations[..locations.len().saturating_sub(1).max(1).min(locations.len())];
                let stack = self.stacks.stack(callers.iter().copied(), &mut tables.stacks);
                tables.samples.push(row(before_ns, stack));
            }
        }
        if self.counter.is_some() {
            let user = locations.len() - kernel;
            let stacks = &self.stacks;
            let first = !self.recent.contains_key(&sample.pid);
            let frames = locations[..user]
                .iter()
                .filter_map(|location| Some((stacks.function_of(*location)?, *location)));
            self.recent.entry(sample.pid).or_default().add(frames);
            if first && !self.carried.is_empty() {
                let carried = std::mem::take(&mut self.carried);
                self.send_choices(sample.pid, &carried);
                self.carried = carried;
            }
        }
    }

    /// Whether a thread or program begins there: some such places have no unwind information to say so.
    fn starts_a_thread(&self, place: Place) -> bool {
        let Place::Native { module, svma } = place else { return false };
        self.world.image(module).is_some_and(|image| image.is_start(svma))
    }
}
