//! What the place that a report is printed to can show: colour, columns, signs beyond ASCII.
//!
//! Only asks the environment; what is done with the answers is up to each format.

use std::io::IsTerminal;

/// How a terminal report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// With ANSI colours.
    pub color: bool,
    /// Columns of the terminal. From 40 on no line is wider, but for paths and commands that cannot be broken.
    pub width: usize,
    /// With signs beyond ASCII, such as `→` and `█`.
    pub unicode: bool,
}

/// Columns where nothing says how many there are.
const DEFAULT_WIDTH: usize = 100;

impl Style {
    /// The style for `stream`, from the conventions of the environment.
    ///
    /// Colour on terminals, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` asks for it anywhere.
    /// Width from `COLUMNS`, else the terminal, else 100. Signs beyond ASCII if the first of `LC_ALL`, `LC_CTYPE`
    /// and `LANG` that is set names UTF-8.
    pub fn detect(stream: impl IsTerminal) -> Style {
        let is_terminal = stream.is_terminal();
        let columns = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let columns = if is_terminal { columns() } else { None };
        Style::from_environment(is_terminal, columns, |name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    fn from_environment(
        is_terminal: bool,
        columns: Option<usize>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Style {
        // An empty variable counts as unset, as the conventions ask.
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        let width = set("COLUMNS").and_then(|columns| columns.trim().parse().ok()).or(columns);
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_lowercase();
        Style {
            color: set("NO_COLOR").is_none() && (forced || (is_terminal && !dumb)),
            width: width.filter(|width| *width > 0).unwrap_or(DEFAULT_WIDTH),
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(is_terminal: bool, variables: &[(&str, &str)]) -> Style {
        Style::from_environment(is_terminal, is_terminal.then_some(132), |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_terminal_gets_colour_and_a_file_does_not() {
        assert!(style(true, &[]).color);
        assert!(!style(false, &[]).color);
    }

    #[test]
    fn no_color_and_a_dumb_terminal_turn_colour_off() {
        assert!(!style(true, &[("NO_COLOR", "1")]).color);
        assert!(style(true, &[("NO_COLOR", "")]).color);
        assert!(!style(true, &[("TERM", "dumb")]).color);
    }

    #[test]
    fn colour_can_be_forced_but_no_color_wins() {
        assert!(style(false, &[("CLICOLOR_FORCE", "1")]).color);
        assert!(!style(false, &[("CLICOLOR_FORCE", "0")]).color);
        assert!(!style(false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).color);
    }

    #[test]
    fn width_comes_from_columns_then_the_terminal_then_100() {
        assert_eq!(style(true, &[("COLUMNS", "80")]).width, 80);
        assert_eq!(style(true, &[("COLUMNS", "many")]).width, 132);
        assert_eq!(style(true, &[("COLUMNS", "0")]).width, 100);
        assert_eq!(style(false, &[]).width, 100);
    }

    #[test]
    fn the_first_locale_that_is_set_decides_on_unicode() {
        assert!(style(true, &[("LANG", "de_DE.UTF-8")]).unicode);
        assert!(style(true, &[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]).unicode);
        assert!(!style(true, &[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]).unicode);
        assert!(!style(true, &[]).unicode);
    }
}
