//! The line that shows how far a recording or comparison is. Only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use slowpath_collect::{OnProgress, Progress};
use std::io::IsTerminal;
use std::time::Duration;

/// A line to be kept up to date, and cleared at the end. None if stderr is no terminal.
pub fn spinner() -> Option<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    Some(bar)
}

/// A callback that keeps the line up to date, and the line, to be cleared at the end. None if stderr is no terminal, or `shared`: a
/// program that we started writes to the terminal too, and the line would be drawn into what it shows.
pub fn line(shared: bool) -> Option<(ProgressBar, OnProgress)> {
    if shared && std::io::stdout().is_terminal() {
        return None;
    }
    let bar = spinner()?;
    let shown = bar.clone();
    let update = move |progress: &Progress| {
        // A program that ends at once, or asks something, is not disturbed.
        if progress.elapsed_ns < 500_000_000 {
            return;
        }
        let elapsed = Duration::from_nanos(progress.elapsed_ns).as_secs_f64();
        let counted = match progress.counted {
            0 => String::new(),
            n => format!(", counting {n} functions"),
        };
        shown.set_message(format!("recording {elapsed:.1} s, {} samples{counted}", progress.samples));
        shown.tick();
    };
    Some((bar, Box::new(update)))
}
