//! Puts cleaned text on the terminal's lines: colour, indents and labels.
//!
//! Every text from a recording passes [`Ink::clean`] before it is measured or printed.

use crate::Style;
use crate::escape;
use crate::layout::{columns, wrap};
use anstyle::{AnsiColor, Style as Paint};

/// Below this one word would follow the other down the screen; beyond it, lines of prose are hard to read.
const MEASURE: (usize, usize) = (32, 96);

/// The commands and the titles.
pub(crate) const STRONG: Paint = Paint::new().bold();
/// What a line is about.
pub(crate) const LABEL: Paint = AnsiColor::Cyan.on_default();
/// Bars, and what something costs.
pub(crate) const COST: Paint = AnsiColor::Yellow.on_default().bold();
/// What is gained.
pub(crate) const GAIN: Paint = AnsiColor::Green.on_default().bold();
/// What went wrong or could not be seen.
pub(crate) const WARNING: Paint = AnsiColor::Yellow.on_default();
/// What is there for the one who looks for it.
pub(crate) const FAINT: Paint = Paint::new().dimmed();
/// Everything else.
pub(crate) const PLAIN: Paint = Paint::new();

/// All of them that change anything.
pub(crate) const PAINTS: [Paint; 6] = [STRONG, LABEL, COST, GAIN, WARNING, FAINT];

/// A terminal report in the making.
pub(crate) struct Ink<'a> {
    pub style: &'a Style,
    pub out: String,
}

impl<'a> Ink<'a> {
    pub(crate) fn new(style: &'a Style) -> Ink<'a> {
        Ink { style, out: String::new() }
    }

    /// Columns for prose.
    pub(crate) fn measure(&self) -> usize {
        self.style.width.clamp(MEASURE.0, MEASURE.1)
    }

    /// `text` as this terminal can show it, harmless.
    pub(crate) fn clean(&self, text: &str) -> String {
        if self.style.unicode { escape::visible(text) } else { escape::ascii(text) }
    }

    /// [`Ink::clean`] for sentences, in which a line end is a space.
    pub(crate) fn sentence(&self, text: &str) -> String {
        self.clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Between the steps of a call path and the ends of a range.
    pub(crate) fn arrow(&self) -> &'static str {
        if self.style.unicode { " → " } else { " -> " }
    }

    /// In place of what was left out.
    pub(crate) fn mark(&self) -> &'static str {
        if self.style.unicode { "…" } else { "..." }
    }

    /// `text` in colour, if there is to be colour.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        if self.style.color && !text.trim().is_empty() && paint != PLAIN {
            format!("{paint}{text}{paint:#}")
        } else {
            text.to_owned()
        }
    }

    /// Ends a line whose text is clean and painted.
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// `label` and clean `text`, wrapped; further lines hang under the text, or under the label where that leaves
    /// too little room.
    pub(crate) fn labelled(&mut self, indent: usize, label: &str, text: &str, paints: (Paint, Paint)) {
        let gap = columns(label) + 1;
        let hang = if indent + gap <= self.measure() / 3 { gap } else { 2 };
        self.hanging(indent, label, text, (gap, hang), paints);
    }

    /// Clean `text`, wrapped and indented.
    pub(crate) fn prose(&mut self, indent: usize, text: &str, paint: Paint) {
        self.hanging(indent, "", text, (0, 0), (PLAIN, paint));
    }

    /// [`Ink::prose`] of which further lines stand deeper, so that each text of several is seen to begin.
    pub(crate) fn item(&mut self, indent: usize, text: &str) {
        self.hanging(indent, "", text, (0, 2), (PLAIN, PLAIN));
    }

    fn hanging(
        &mut self,
        indent: usize,
        label: &str,
        text: &str,
        (gap, hang): (usize, usize),
        paints: (Paint, Paint),
    ) {
        let room = |taken: usize| self.measure().saturating_sub(taken);
        let lines = wrap(text, room(indent + gap), room(indent + hang));
        for (i, line) in lines.iter().enumerate() {
            let text = self.paint(paints.1, line);
            let line = match i {
                0 if label.is_empty() => format!("{:indent$}{text}", ""),
                0 if line.is_empty() => format!("{:indent$}{}", "", self.paint(paints.0, label.trim_end())),
                0 => format!("{:indent$}{} {text}", "", self.paint(paints.0, label)),
                _ => format!("{:1$}{text}", "", indent + hang),
            };
            self.line(&line);
        }
    }
}
