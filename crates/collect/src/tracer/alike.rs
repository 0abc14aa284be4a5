//! Rows of one thread that say the same are put together, in a recording that has grown large: thousands of short-lived processes
//! would else leave some thirty rows each, most of them of calls whose place nobody knows.

use slowpath_recording::tables::Syscall;
use slowpath_syscalls::{EXITS, PROCESS, class};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Which rows may be put together: those whose place is not known, that succeeded without a wait. Each fork, execution and wait for a
/// child remains a row of its own, as does every failure.
fn may_join(row: &Syscall) -> bool {
    let alone = row.stack.is_some()
        || row.goroutine.is_some()
        || row.met.is_some()
        || row.blocked_ns > 0
        || row.result < 0;
    !(alone || row.sync || row.compat || class(row.number) & PROCESS != 0 || EXITS.contains(&row.number))
}

/// Puts together what is alike: number, thread and file. Of others the order stays.
pub(crate) fn join(rows: &mut Vec<Syscall>) {
    let mut first: HashMap<(u32, u32, Option<u32>), usize> = HashMap::new();
    let mut kept: Vec<Syscall> = Vec::with_capacity(rows.len());
    for row in rows.drain(..) {
        if may_join(&row) {
            match first.entry((row.thread, row.number, row.file)) {
                Entry::Occupied(at) => {
                    let into = &mut kept[*at.get()];
                    into.end_ns = into.end_ns.max(row.end_ns);
                    into.count += row.count;
                    into.duration_ns += row.duration_ns;
                    into.bytes += row.bytes;
                    continue;
                }
                Entry::Vacant(at) => _ = at.insert(kept.len()),
            }
        }
        kept.push(row);
    }
    *rows = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u32, thread: u32) -> Syscall {
        Syscall {
            time_ns: 0,
            end_ns: 10,
            thread,
            number,
            compat: false,
            count: 1,
            duration_ns: 10,
            blocked_ns: 0,
            result: 0,
            bytes: 4,
            argument: 0,
            file: None,
            sync: false,
            stack: None,
            goroutine: None,
            met: None,
        }
    }

    #[test]
    fn calls_that_say_the_same_are_one_row_and_lose_nothing() {
        let mut rows =
            vec![row(9, 1), row(10, 1), row(9, 1), row(9, 2), Syscall { file: Some(3), ..row(9, 1) }];
        rows.push(Syscall { end_ns: 70, count: 5, ..row(9, 1) });
        join(&mut rows);
        assert_eq!(rows.len(), 4);
        let of = |at: usize| {
            (rows[at].number, rows[at].thread, rows[at].count, rows[at].duration_ns, rows[at].bytes)
        };
        assert_eq!([of(0), of(1), of(2)], [(9, 1, 7, 30, 12), (10, 1, 1, 10, 4), (9, 2, 1, 10, 4)]);
        assert_eq!((rows[0].end_ns, rows[3].file), (70, Some(3)));
    }

    #[test]
    fn what_may_matter_by_itself_stays_by_itself() {
        let alone = [
            Syscall { stack: Some(1), ..row(0, 1) },
            Syscall { blocked_ns: 1, ..row(0, 1) },
            Syscall { result: -2, ..row(0, 1) },
            Syscall { sync: true, ..row(0, 1) },
            row(59, 1),
            row(61, 1),
        ];
        for one in alone {
            let mut rows = vec![one.clone(), one.clone()];
            join(&mut rows);
            assert_eq!(rows, [one.clone(), one]);
        }
    }
}
