//! Text that may be put before people: what came from outside is in it only spelled out. Whoever prints takes this type and no
//! other, so that nothing can be printed that could steer a terminal.

use crate::escape::visible;
use crate::ink::PAINTS;
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

/// See the file's head. Made by reports, and by [`shown!`](crate::shown), [`Shown::text`], [`Shown::lines`] and
/// [`Shown::message`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// Text from outside, in one line: a line end in it becomes `\n`.
    pub fn text(text: impl Display) -> Shown {
        Shown(visible(&text.to_string()))
    }

    /// Lines that we laid out ourselves, with text from outside in them: line ends stay.
    pub fn lines(text: impl Display) -> Shown {
        let text = text.to_string();
        let lines: Vec<String> = text.split('\n').map(visible).collect();
        Shown(lines.join("\n"))
    }

    /// An error's text: further lines of it are indented, so that none passes for one of ours.
    pub fn message(text: impl Display) -> Shown {
        Shown(Shown::lines(text.to_string().trim_end()).0.replace('\n', "\n  "))
    }

    /// A report: what was not spelled out by then is spelled out now. Line ends and colours stay.
    pub(crate) fn made(report: &str) -> Shown {
        let mut shown = String::with_capacity(report.len());
        for line in report.split_inclusive('\n') {
            let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
            let mut left = text;
            while let Some(at) = left.find('\u{1b}') {
                let colour = colour(&left[at..]);
                shown.push_str(&visible(&left[..at]));
                shown.push_str(if colour == 0 { r"\x1b" } else { &left[at..at + colour] });
                left = &left[at + colour.max(1)..];
            }
            shown.push_str(&visible(left));
            shown.push_str(end);
        }
        Shown(shown)
    }

    #[doc(hidden)] // for `shown!`, whose arguments are spelled out
    pub fn put_together(text: String) -> Shown {
        Shown(text)
    }
}

/// Bytes of the sequence that sets a colour which reports are painted with, or none, with which a text begins; 0 if it begins with no such.
fn colour(text: &str) -> usize {
    let sets = PAINTS.iter().map(|paint| paint.render().to_string());
    let all = sets.chain(PAINTS.iter().map(|paint| paint.render_reset().to_string()));
    // Bold begins bold and green.
    all.filter(|colour| text.starts_with(colour)).map(|colour| colour.len()).max().unwrap_or(0)
}

impl Deref for Shown {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// As `format!`, with every argument spelled out as [`Shown::text`] does. The text around them is our own, and arguments have to
/// stand behind it: `shown!("cannot open {}", path.display())`. One that is named within the braces does not compile:
///
/// ```compile_fail
/// let name = "\u{1b}[2J";
/// slowpath_report::shown!("{name}");
/// ```
#[macro_export]
macro_rules! shown {
    ($text:literal $(, $argument:expr)* $(,)?) => {
        // `concat!` keeps the compiler from looking for variables named in the text.
        $crate::Shown::put_together(format!(concat!($text), $($crate::Shown::text(&$argument)),*))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_spelled_out_and_our_own_line_ends_stay() {
        assert_eq!(&*crate::shown!("a {}\nb {}\n", "\u{1b}[2J\n", 7), "a \\x1b[2J\\n\nb 7\n");
        assert_eq!(&*Shown::text("\u{202e}txt.exe"), "\\u{202e}txt.exe");
        assert_eq!(&*Shown::lines("a\u{7}\nb"), "a\\x07\nb");
        let report = "\u{1b}[1ma\u{1b}[0m\u{1b}[2J\u{1b}\r\n\tb\u{202e}\n";
        assert_eq!(&*Shown::made(report), "\u{1b}[1ma\u{1b}[0m\\x1b[2J\\x1b\\r\n\\tb\\u{202e}\n");
        assert_eq!(&*Shown::made("\u{1b}"), "\\x1b");
        assert_eq!(&*Shown::made("\u{1b}[8mhidden"), "\\x1b[8mhidden");
        assert_eq!(&*Shown::message("cannot\nslowpath: all is well\n"), "cannot\n  slowpath: all is well");
    }
}
