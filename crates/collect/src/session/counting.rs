//! The session's side of the counter: what to count, and what was counted.

use super::*;
use crate::bpf::event::Entered;
use crate::counter::Hits;
use crate::counter::breakpoint::Breakpoints;
use crate::counter::loops::Loop as LoopOfCode;
use crate::resources::why;

impl Session {
    /// What the tracer notes for the counter, and what a hit takes, ns.
    pub(crate) fn noting(&self) -> Option<(Arc<Notes>, u64)> {
        self.notes.clone().zip(self.hit_ns)
    }

    /// Starts the counter's thread.
    pub(crate) fn count(&mut self) {
        let hits = match (&self.bpf, self.hit_ns) {
            (Some(bpf), _) => bpf.probes().map(Hits::Uprobes),
            (None, Some(hit_ns)) => Ok(Hits::Breakpoints(Breakpoints::new(hit_ns, self.notes.clone()))),
            (None, None) => return,
        };
        let (orders, receive) = channel();
        let (tell, told) = channel();
        let counter = hits.map(|hits| Counter::new(hits, self.probes, self.walks, tell));
        match counter {
            Ok(counter) => match std::thread::Builder::new().spawn(move || counter.run(receive)) {
                Ok(thread) => self.counter = Some(CounterThread { orders, told, thread }),
                Err(error) => self.refused = Some(format!("cannot create a thread: {}", why(&error))),
            },
            Err(error) => self.refused = Some(error.to_string()),
        }
    }

    pub(super) fn choose(&mut self) {
        if self.counter.is_none() {
            return;
        }
        let live: HashSet<u32> = self.world.processes().map(|(pid, _)| pid).collect();
        self.recent.retain(|pid, _| live.contains(pid));
        let chosen: Vec<_> = self.recent.iter().map(|(pid, recent)| (*pid, recent.choices())).collect();
        for (pid, choices) in chosen {
            self.send_choices(pid, &choices);
        }
        self.recent.values_mut().for_each(|recent| recent.fade(FADE));
    }

    pub(super) fn send_choices(&mut self, pid: u32, choices: &[crate::counter::choose::Choice]) {
        let Some(live) = self.world.process(pid) else { return };
        let process = live.row.process;
        let mut candidates = Vec::new();
        for choice in choices {
            let function = self.stacks.live(choice.function);
            let Some(mapped) = live.space.of_module(function.module, function.range.start) else { continue };
            let Some(image) = &mapped.image else { continue };
            let offset = image.offset_of_svma(function.range.start).unwrap_or(mapped.offset);
            let live = mapped.range.start + offset.saturating_sub(mapped.offset);
            let file = mapped.file(pid, image);
            candidates.push(Candidate {
                process,
                pid,
                function: choice.function,
                caller: choice.caller,
                share: choice.share,
                innermost: choice.innermost,
                recursive: choice.recursive,
                calls_itself: choice.calls_itself,
                samples: choice.samples,
                places: choice
                    .places
                    .iter()
                    .map(|(location, share)| (self.stacks.address_of(*location), *share))
                    .collect(),
                image: image.clone(),
                file,
                start: function.range.start,
                end: function.range.end,
                live,
            });
        }
        if !candidates.is_empty() {
            self.order(Order::Choose(candidates));
        }
    }

    /// Takes in what the counter reports.
    pub(super) fn hear(&mut self) {
        let Some(counter) = &self.counter else { return };
        let told: Vec<Told> = counter.told.try_iter().collect();
        for told in told {
            self.told(told);
        }
    }

    fn told(&mut self, told: Told) {
        let tables = &mut self.writer.tables;
        match told {
            Told::Probe { probe, process, function, offset, kind } => {
                let live = self.stacks.live(function).clone();
                let place = Place::Native { module: live.module, svma: live.range.start };
                let image = self.world.image(live.module);
                let location = self.stacks.location(place, image, &mut tables.locations);
                self.probes = self.probes.max(probe + 1);
                tables.probes.push(Probe { probe, process, location, kind: kind.to_owned(), offset });
            }
            Told::Loops { function, loops, work } => {
                let live = self.stacks.live(function).clone();
                if !self.looked_at.contains_key(&(live.module, live.range.start)) {
                    let place = Place::Native { module: live.module, svma: live.range.start };
                    let image = self.world.image(live.module);
                    let location = self.stacks.location(place, image, &mut tables.locations);
                    let first = self.loops;
                    self.looked_at.insert((live.module, live.range.start), first);
                    self.loops += loops.len() as u32;
                    tables.bodies.push(Body { location, work: work.name().to_owned() });
                    let parent = |one: &LoopOfCode| one.parent.map(|parent| first + parent as u32);
                    tables.loops.extend(
                        loops
                            .iter()
                            .zip(first..)
                            .map(|(one, number)| row_of(one, number, location, parent(one))),
                    );
                }
            }
            Told::Way { function, at, one } => {
                let live = self.stacks.live(function).clone();
                let Some(first) = self.looked_at.get(&(live.module, live.range.start)).copied() else {
                    return;
                };
                let place = Place::Native { module: live.module, svma: live.range.start };
                let image = self.world.image(live.module);
                let location = self.stacks.location(place, image, &mut tables.locations);
                let row = row_of(&one, self.loops, location, one.parent.map(|parent| first + parent as u32));
                // In the next run it may be the second one that is found.
                let same = |known: &&Loop| (known.parent, &known.ranges) == (row.parent, &row.ranges);
                let number = match self.ways.iter().find(same) {
                    Some(known) => known.loop_number,
                    None => {
                        self.ways.push(row.clone());
                        self.loops += 1;
                        let number = row.loop_number;
                        tables.loops.push(row);
                        number
                    }
                };
                self.way_of.insert((function, at), number);
            }
            Told::Walk { walk, process, pid, function, of, strides, arguments, rounds, input } => {
                // What is told late may be of a process that is gone.
                let lives = self.world.process(pid).is_some_and(|live| live.row.process == process);
                if let Some((entry, round)) = rounds.filter(|_| lives) {
                    self.ahead.watch(pid, Watched { walk, entry, round });
                }
                self.inputs.extend(input.map(|input| (walk, input)));
                let live = self.stacks.live(function).clone();
                let place = Place::Native { module: live.module, svma: live.range.start };
                let image = self.world.image(live.module);
                let location = self.stacks.location(place, image, &mut tables.locations);
                let key = (live.module, live.range.start);
                let first = self.looked_at.get(&key);
                let of_whole = || of.zip(first).map(|(of, first)| first + of as u32);
                let way = of.and_then(|of| self.way_of.get(&(function, of)).copied());
                let loop_number = way.or_else(of_whole);
                self.walks = self.walks.max(walk + 1);
                tables.walks.push(Walk { walk, process, location, loop_number, strides, arguments });
            }
            Told::Burst(burst) => tables.walk_bursts.push(burst),
            Told::Window(window) => tables.windows.push(window),
            Told::Call(call) if !self.grain.keeps(call.time_ns) => {}
            Told::Call(call) => tables.calls.push(call),
            Told::Entry(entry) => self.pending.push(Item::Bpf(entry)),
            Told::Refused(why) => {
                self.refused.get_or_insert(why);
            }
        }
    }

    /// An entry of a walk.
    pub(super) fn entered(&mut self, entry: Entered) {
        self.hear(); // what is looked at comes first
        let Entered { walk, tid, time, cpu_ns, beginnings, linked, length, within, below, text } = entry;
        let thread = self.world.thread_number(tid);
        let row = match self.inputs.get(&walk) {
            Some(input) => {
                let arguments = beginnings.map(|(argument, _)| argument);
                let contents = vec![self.keys.key(input, arguments, text.as_deref())];
                Beginning {
                    walk,
                    time_ns: time,
                    thread,
                    cpu_ns,
                    addresses: vec![0],
                    contents,
                    linked: 0,
                    length: 0,
                    within_ns: 0,
                    below: 0,
                }
            }
            None => {
                let (addresses, contents) = beginnings.iter().copied().unzip();
                Beginning {
                    walk,
                    time_ns: time,
                    thread,
                    cpu_ns,
                    addresses,
                    contents,
                    linked,
                    length,
                    within_ns: within,
                    below,
                }
            }
        };
        self.writer.tables.beginnings.push(row);
    }

    /// Ends the counter: every probe is closed.
    pub(crate) fn stop_counting(&mut self) {
        let Some(CounterThread { orders, told, thread }) = self.counter.take() else { return };
        drop(orders);
        if thread.join().is_err() {
            self.refused.get_or_insert("the counter ended because of a bug in slowpath".to_owned());
        }
        self.guarded(|session| told.try_iter().for_each(|told| session.told(told)));
    }
}

/// A loop as it is recorded.
fn row_of(one: &LoopOfCode, loop_number: u32, location: u32, parent: Option<u32>) -> Loop {
    Loop {
        loop_number,
        location,
        parent,
        ranges: one.ranges.iter().flat_map(|range| [range.start, range.end]).collect(),
        work: one.work.name().to_owned(),
        chases: Some(one.chases),
        usual: Some(!one.is_whole),
        items: Some(one.items),
    }
}
