//! What the program asked of the kernel: its system calls, added up by name and by the place that makes them.

use crate::Evidence;
use crate::calls::Calls;
use crate::findings::Frame;
use slowpath_recording::Recording;
use slowpath_recording::tables::Syscall;
use slowpath_syscalls::name;
use std::collections::{BTreeMap, BTreeSet};

/// Calls of one name, or of one name and place.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The call's name; calls of the 32-bit interface have their number.
    pub name: String,
    /// The innermost function of the program itself; none where the stack is not known, and in a summary by name.
    pub place: Option<Frame>,
    /// How many.
    pub count: u64,
    /// Those that failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From entry to return, ns.
    pub duration_ns: u64,
    /// The part of it asleep, ns.
    pub blocked_ns: u64,
    /// The paths and addresses concerned, in alphabetical order.
    pub files: Vec<String>,
}

/// Both ways to add them up, the most time first.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// By name.
    pub by_name: Vec<Line>,
    /// By name and place.
    pub by_place: Vec<Line>,
}

#[derive(Default)]
struct Sum {
    count: u64,
    errors: u64,
    bytes: u64,
    duration_ns: u64,
    blocked_ns: u64,
    files: BTreeSet<u32>,
    /// A stack of the place.
    stack: Option<u32>,
}

impl Sum {
    fn add(&mut self, row: &Syscall) {
        self.count += row.count;
        self.errors += if row.result < 0 { row.count } else { 0 };
        self.bytes += row.bytes;
        self.duration_ns += row.duration_ns;
        self.blocked_ns += row.blocked_ns;
        self.files.extend(row.file);
        self.stack = self.stack.or(row.stack);
    }
}

/// Adds up the system calls of a recording whose symbols were resolved.
pub fn summary(recording: &Recording) -> Summary {
    let evidence = Evidence::new(recording);
    let calls = Calls::new(&evidence);
    let (mut names, mut places) = (BTreeMap::<_, Sum>::new(), BTreeMap::<_, Sum>::new());
    for row in &recording.tables.syscalls {
        let call = (row.compat, row.number);
        names.entry((call, None)).or_default().add(row);
        places.entry((call, calls.own(row))).or_default().add(row);
    }
    Summary { by_name: lines(&evidence, names), by_place: lines(&evidence, places) }
}

fn lines(evidence: &Evidence<'_>, sums: BTreeMap<((bool, u32), Option<u32>), Sum>) -> Vec<Line> {
    let files = &evidence.recording.tables.files;
    let mut lines: Vec<Line> = sums
        .into_iter()
        .map(|(((compat, number), own), sum)| {
            let paths: BTreeSet<&str> =
                sum.files.iter().map(|file| files[*file as usize].path.as_str()).collect();
            Line {
                name: if compat { format!("32-bit call {number}") } else { name(number) },
                place: sum.stack.zip(own).and_then(|(stack, own)| evidence.path_at(stack, own).pop()),
                count: sum.count,
                errors: sum.errors,
                bytes: sum.bytes,
                duration_ns: sum.duration_ns,
                blocked_ns: sum.blocked_ns,
                files: paths.into_iter().filter(|path| !path.is_empty()).map(str::to_owned).collect(),
            }
        })
        .collect();
    lines.sort_by(|a, b| b.duration_ns.cmp(&a.duration_ns).then_with(|| a.name.cmp(&b.name)));
    lines
}
