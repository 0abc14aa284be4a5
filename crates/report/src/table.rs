//! Tables for a terminal. Columns that do not fit are dropped, the last first; names of functions are shortened.

use crate::ink::{Ink, LABEL};
use crate::layout::columns;
use crate::names;
use anstyle::Style as Paint;

/// Wider than prose, since nobody reads a table line by line, but no wider than the eye can follow.
const WIDEST: usize = 120;
const GAP: usize = 2;
/// Fewer columns than this say little of a function.
const NARROWEST_NAME: usize = 16;

/// A column: its head, a cell a row.
pub(crate) struct Column {
    pub head: &'static str,
    pub cells: Vec<String>,
    pub to_the_right: bool,
    pub paint: Paint,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| columns(cell)).max().unwrap_or(0).max(self.head.len())
    }
}

/// Appends a table whose column `name` may be cut.
pub(crate) fn draw(ink: &mut Ink<'_>, mut table: Vec<Column>, name: usize) {
    let rows = table[name].cells.len();
    fit(
        &mut table,
        name,
        ink.style.width.clamp(ink.measure().min(WIDEST), WIDEST).saturating_sub(2),
        ink.mark(),
    );

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
    lines.extend((0..rows).map(|i| row(&|column| (column.cells[i].clone(), column.paint))));
    for line in lines {
        ink.line(&line);
    }
}

/// Makes the table at most `room` columns wide where that can be. What is before the name and the name itself stay.
fn fit(table: &mut Vec<Column>, name: usize, room: usize, mark: &str) {
    loop {
        let others: usize =
            table.iter().enumerate().filter(|(i, _)| *i != name).map(|(_, c)| c.width()).sum();
        let left = room.saturating_sub(others + GAP * (table.len() - 1));
        let wanted = table[name].width();
        if left < wanted.min(NARROWEST_NAME) && table.len() > name + 1 {
            table.pop();
            continue;
        }
        if left < wanted {
            let left = left.max(table[name].head.len());
            for cell in &mut table[name].cells {
                *cell = names::fitted(cell, left, mark);
            }
        }
        return;
    }
}
