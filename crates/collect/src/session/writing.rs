//! What is written down while a recording runs, and at its end: rows, what the kernel added up, and what was lost.

use super::*;
use crate::bpf::TALLIES;
use crate::tracer::alike;
use grain::Rows;

impl Session {
    /// Takes in the system calls that the kernel has added up, for the `last` time or not.
    pub(super) fn add_up(&mut self, last: bool) {
        let Some(bpf) = &self.bpf else { return };
        let tallies = bpf.tallies();
        self.unwritten += 1;
        let due = self.unwritten >= self.grain.of_moments().min(ADD_UP_S);
        if due {
            self.unwritten = 0;
        }
        let over = self.tracer.added_up(&tallies, &mut self.world, &mut self.writer.tables, due, last);
        bpf.forget(&over);
        // Room for new keys, which programs that go from file to file need.
        if !last && tallies.len() > TALLIES / 2 {
            let left = bpf.take(&self.tracer.idle(&tallies));
            self.tracer.put_away(&left, &mut self.writer.tables);
        }
    }

    pub(super) fn flush(&mut self) {
        if self.grain.of_moments() > 1 {
            alike::join(&mut self.writer.tables.syscalls);
        }
        let before = Rows::of(&self.writer.tables);
        if let Err(error) = self.writer.flush() {
            self.trouble.get_or_insert(error.to_string());
        }
        let written = before.since(Rows::of(&self.writer.tables));
        if let (Some(level), Some(bpf)) = (self.grain.written(written), &self.bpf) {
            // Where it is refused the recording is larger than it need be, and as true.
            let _ = bpf.coarser(level);
        }
    }

    /// Writes what is left and the final `about.json`.
    pub(crate) fn finish(mut self, mut about: About) -> (Arc<Folder>, Option<String>) {
        self.guarded(|session| {
            // So far what a tracer by ptrace took, and what the command used with all that it waited for.
            let waited = Cpu { user_ns: about.user_ns, sys_ns: about.sys_ns };
            let stopped_ns = about.tracing_ns.min(waited.total());
            let together = session.stands_for.together;
            let weighed = session.world.finish(waited, stopped_ns, together, &mut session.writer.tables);
            let Weighed { cpu, tracing_ns, sampled_share } = weighed;
            (about.user_ns, about.sys_ns) = (cpu.user_ns, cpu.sys_ns);
            about.tracing_ns = (stopped_ns + tracing_ns).min(cpu.total());
            about.sampled_share = sampled_share;
        });
        let mut lost = BTreeMap::new();
        let [execs, exits, calls, stacks, syscalls, parks] =
            self.bpf.as_ref().map(Bpf::lost).unwrap_or_default();
        for (kind, count) in [
            ("samples", self.lost_samples),
            ("exec events", execs),
            ("exit events", exits),
            ("call events", calls),
            ("stacks of system calls", stacks),
            ("waits of goroutines", parks),
            ("system calls", syscalls + self.tracer.lost),
            ("unreadable modules", self.world.unreadable),
        ] {
            if count > 0 {
                lost.insert(kind.to_owned(), count);
            }
        }
        about.lost = lost;
        about.degraded.extend(self.grain.says());
        let strangers = self.bpf.as_ref().map_or(0, Bpf::strangers);
        if strangers > 0 {
            let (s, were) = if strangers == 1 { ("", "was") } else { ("s", "were") };
            about.degraded.push(format!(
                "{strangers} program{s} with other rights than yours (set-uid, for example) {were} not recorded: for that, run with sudo"
            ));
        }
        if self.broken {
            about.state = State::CutShort;
        }
        let folder = self.writer.folder().clone();
        if let Err(error) = self.writer.finish(about) {
            self.trouble.get_or_insert(error.to_string());
        }
        (folder, self.trouble)
    }
}
