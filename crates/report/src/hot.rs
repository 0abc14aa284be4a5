//! The terminal's table of hot functions: where the CPU time goes.
//!
//! Columns that do not fit are dropped, the module first, then the place; names are cut in the middle.

use crate::ink::{FAINT, Ink, LABEL, PLAIN};
use crate::layout::{columns, elide_middle};
use crate::{phrases, units};
use anstyle::Style as Paint;
use slowpath_diagnose::findings::{Findings, Hot};

/// Wider than prose, since nobody reads a table line by line, but no wider than the eye can follow.
const WIDEST: usize = 120;
const GAP: usize = 2;
/// Fewer columns than this say little of a function.
const NARROWEST_NAME: usize = 16;

struct Column {
    head: &'static str,
    cells: Vec<String>,
    to_the_right: bool,
    paint: Paint,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| columns(cell)).max().unwrap_or(0).max(self.head.len())
    }
}

/// Appends the table of the first `rows` hot functions.
pub(crate) fn table(ink: &mut Ink<'_>, findings: &Findings, rows: usize) {
    let hot: Vec<&Hot> = findings.hot.iter().take(rows).collect();
    if hot.is_empty() {
        return;
    }
    let total = phrases::cpu_ns(&findings.recording);
    let share = |hot: &Hot| match total {
        0 => "?".to_owned(),
        total => units::share(hot.self_ns as f64 / total as f64),
    };
    let column = |head, to_the_right, paint, cell: &dyn Fn(&Hot) -> String| {
        let cells = hot.iter().map(|hot| ink.clean(&cell(hot))).collect();
        Column { head, cells, to_the_right, paint }
    };
    let place =
        |hot: &Hot| phrases::place(hot.file.as_deref().map(phrases::base_name), hot.line).unwrap_or_default();
    let mut table = vec![
        column("self", true, PLAIN, &|hot| units::rough(hot.self_ns)),
        column("share", true, PLAIN, &share),
        column("total", true, PLAIN, &|hot| units::rough(hot.total_ns)),
        column("function", false, PLAIN, &|hot| hot.function.clone()),
        column("where", false, PLAIN, &place),
        column("module", false, FAINT, &|hot| phrases::base_name(&hot.module).to_owned()),
    ];
    if table[4].cells.iter().all(String::is_empty) {
        table.remove(4);
    }
    fit(&mut table, ink.style.width.clamp(ink.measure().min(WIDEST), WIDEST).saturating_sub(2), ink.mark());

    let widths: Vec<usize> = table.iter().map(Column::width).collect();
    let row = |cell: &dyn Fn(&Column) -> (String, Paint)| {
        let mut line = String::from("  ");
        for (i, (column, width)) in table.iter().zip(&widths).enumerate() {
            let (text, paint) = cell(column);
            let pad = " ".repeat(width.saturating_sub(columns(&text)));
            let text = ink.paint(paint, &text);
            let gap = if i + 1 < table.len() { " ".repeat(GAP) } else { String::new() };
            line.push_str(&if column.to_the_right {
                format!("{pad}{text}{gap}")
            } else if gap.is_empty() {
                text
            } else {
                format!("{text}{pad}{gap}")
            });
        }
        line
    };
    let mut lines = vec![row(&|column| (column.head.to_owned(), LABEL))];
    lines.extend((0..hot.len()).map(|i| row(&|column| (column.cells[i].clone(), column.paint))));
    for line in lines {
        ink.line(&line);
    }
}

/// Makes the table at most `room` columns wide where that can be. The first three columns and the name stay.
fn fit(table: &mut Vec<Column>, room: usize, mark: &str) {
    const NAME: usize = 3;
    loop {
        let others: usize =
            table.iter().enumerate().filter(|(i, _)| *i != NAME).map(|(_, c)| c.width()).sum();
        let left = room.saturating_sub(others + GAP * (table.len() - 1));
        let wanted = table[NAME].width();
        if left < wanted.min(NARROWEST_NAME) && table.len() > NAME + 1 {
            table.pop();
            continue;
        }
        if left < wanted {
            let left = left.max(table[NAME].head.len());
            for cell in &mut table[NAME].cells {
                *cell = elide_middle(cell, left, mark);
            }
        }
        return;
    }
}
