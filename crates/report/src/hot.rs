//! The terminal's table of hot functions: where the CPU time, or the instructions, go.

use crate::ink::{FAINT, Ink, PLAIN};
use crate::table::{Column, draw};
use crate::{names, phrases};
use slowpath_diagnose::findings::{Findings, Hot};

/// A hot function's name has the room that is left; its caller's name has this many columns.
const ASKER: usize = 24;

/// Which column holds the names.
const NAME: usize = 3;

/// Appends the table of hot functions.
pub(crate) fn table(ink: &mut Ink<'_>, findings: &Findings, hot: &[&Hot]) {
    let cost = |at: usize| move |hot: &Hot| phrases::hot_costs(hot, &findings.recording)[at].clone();
    let column = |head, to_the_right, paint, cell: &dyn Fn(&Hot) -> String| {
        let cells = hot.iter().map(|hot| ink.clean(&cell(hot))).collect();
        Column { head, cells, to_the_right, paint }
    };
    let place =
        |hot: &Hot| phrases::place(hot.file.as_deref().map(phrases::base_name), hot.line).unwrap_or_default();
    let mark = ink.mark();
    let mut table = vec![
        column("self", true, PLAIN, &cost(0)),
        column("share", true, PLAIN, &cost(1)),
        column("total", true, PLAIN, &cost(2)),
        column("function", false, PLAIN, &|hot| hot.function.clone()),
        column("where", false, PLAIN, &place),
        column("called from", false, PLAIN, &|hot| {
            hot.asked_by.as_deref().map(|name| names::fitted(name, ASKER, mark)).unwrap_or_default()
        }),
        column("module", false, FAINT, &|hot| phrases::base_name(&hot.module).to_owned()),
    ];
    // From the right, so that places stay.
    for at in [5, 4] {
        if table[at].cells.iter().all(String::is_empty) {
            table.remove(at);
        }
    }
    draw(ink, table, NAME);
}
