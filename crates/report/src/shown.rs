//! Text that may be put before people: what came from outside is in it only spelled out. Whoever prints takes this type and no
//! other, so that nothing can be printed that could steer a terminal.

use crate::escape::visible;
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

    /// What a report has cleaned itself.
    pub(crate) fn made(report: String) -> Shown {
        Shown(report)
    }

    #[doc(hidden)] // for `shown!`, whose arguments are spelled out
    pub fn put_together(text: String) -> Shown {
        Shown(text)
    }
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
        assert_eq!(&*Shown::message("cannot\nslowpath: all is well\n"), "cannot\n  slowpath: all is well");
    }
}
