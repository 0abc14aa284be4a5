//! The terminal's tables of system calls: by name, and by the place that makes them.

use crate::Shown;
use crate::ink::{FAINT, Ink, PLAIN};
use crate::table::{Column, draw};
use crate::{Style, phrases, units};
use slowpath_diagnose::findings::Frame;
use slowpath_diagnose::syscalls::{Line, Summary};

/// Rows of each table.
const ROWS: usize = 25;

/// What the program asked of the kernel, for a terminal of `style`. Ends with a line end.
pub fn syscalls(summary: &Summary, style: &Style) -> Shown {
    Shown::made(&syscalls_text(summary, style))
}

fn syscalls_text(summary: &Summary, style: &Style) -> String {
    let mut ink = Ink::new(style);
    if summary.by_name.is_empty() {
        ink.prose(0, "no system calls were recorded", PLAIN);
        return ink.out;
    }
    ink.prose(0, "system calls by name (time from entry to return):", PLAIN);
    table(&mut ink, &summary.by_name, false);
    ink.line("");
    ink.prose(0, "system calls by call site:", PLAIN);
    table(&mut ink, &summary.by_place, true);
    ink.out
}

fn table(ink: &mut Ink<'_>, all: &[Line], places: bool) {
    let lines: Vec<&Line> = all.iter().take(ROWS).collect();
    let column = |head, to_the_right, paint, cell: &dyn Fn(&Line) -> String| {
        let cells = lines.iter().map(|line| ink.clean(&cell(line))).collect();
        Column { head, cells, to_the_right, paint }
    };
    let mut table = vec![
        column("time", true, PLAIN, &|line| units::rough(line.duration_ns)),
        column("asleep", true, PLAIN, &|line| units::rough(line.blocked_ns)),
        column("calls", true, PLAIN, &|line| units::count(line.count)),
        column("errors", true, PLAIN, &|line| units::count(line.errors)),
        column("bytes", true, PLAIN, &|line| units::count(line.bytes)),
        column("call", false, PLAIN, &|line| line.name.clone()),
    ];
    let name = if places {
        let at = |frame: &Frame| {
            let place = phrases::place(frame.file.as_deref().map(phrases::base_name), frame.line);
            place.map_or_else(|| frame.function.clone(), |place| format!("{} ({place})", frame.function))
        };
        table.push(column("from", false, PLAIN, &|line| {
            line.place.as_ref().map_or_else(|| "?".to_owned(), at)
        }));
        6
    } else {
        5
    };
    table.push(column("files", false, FAINT, &|line| match line.files.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, ..] => format!("{first} and {} more", units::count(line.files.len() as u64 - 1)),
    }));
    draw(ink, table, name);
    if all.len() > ROWS {
        ink.prose(
            2,
            &format!("{} {} more", ink.mark(), units::counted((all.len() - ROWS) as u64, "row")),
            FAINT,
        );
    }
}
