//! Text in columns: display width, wrapping, and names cut in the middle.
//!
//! Works on plain text; colour is put on the finished lines by `ink`.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A space at which no line is broken. [`wrap`] turns it into an ordinary one.
pub(crate) const GLUE: char = '\u{a0}';

/// Columns that `text` takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// `text` with spaces at which no line is broken.
pub(crate) fn glued(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Breaks `text` at spaces into lines: the first of at most `first` columns, the others of at most `rest`. A word
/// that is wider than its line stays whole. A number stays with its unit. Never empty.
pub(crate) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in unbreakable(text) {
        let room = if lines.is_empty() { first } else { rest };
        if !line.is_empty() && columns(&line) + 1 + columns(&word) > room {
            lines.push(std::mem::take(&mut line));
        } else if line.is_empty() && lines.is_empty() && columns(&word) > first && first < rest {
            // A label takes part of the first line, so a wide word fares better on the next.
            lines.push(String::new());
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines.iter().map(|line| line.replace(GLUE, " ")).collect()
}

/// The words of `text`, a number and its unit as one.
fn unbreakable(text: &str) -> Vec<String> {
    const UNITS: [&str; 15] =
        ["s", "ms", "µs", "us", "ns", "min", "h", "d", "%", "B", "KiB", "MiB", "GiB", "TiB", "kB"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
        match words.last_mut() {
            Some(number) if is_unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// `text` in at most `room` columns: its beginning and its end, with `mark` for what is left out between. Both
/// ends matter in a C++ name: the namespace in front, the method at the end.
pub(crate) fn elide_middle(text: &str, room: usize, mark: &str) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let Some(left) = room.checked_sub(columns(mark)) else {
        return mark.chars().take(room).collect();
    };
    // The end says more.
    let tail_room = left.div_ceil(2);
    let tail_start = fitting(text.char_indices().rev(), tail_room).unwrap_or(text.len());
    let head_room = left - columns(&text[tail_start..]).min(left);
    let head_end =
        fitting(text.char_indices().map(|(i, c)| (i + c.len_utf8(), c)), head_room).unwrap_or_default();
    format!("{}{mark}{}", &text[..head_end.min(tail_start)], &text[tail_start..])
}

/// The last position among `chars` that `room` columns reach.
fn fitting(chars: impl Iterator<Item = (usize, char)>, room: usize) -> Option<usize> {
    let mut used = 0;
    let fits = chars.take_while(|(_, c)| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    fits.last().map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_at_spaces() {
        assert_eq!(wrap("one two three four", 9, 10), ["one two", "three four"]);
        assert_eq!(wrap("", 10, 10), [""]);
    }

    #[test]
    fn a_wide_word_stays_whole_and_starts_a_line_of_its_own() {
        assert_eq!(wrap("a /a/very/long/path b", 6, 6), ["a", "/a/very/long/path", "b"]);
        assert_eq!(wrap("/a/very/long/path b", 6, 20), ["", "/a/very/long/path b"]);
        assert_eq!(wrap("wide", 0, 0), ["wide"]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrap("it took 12 ms, or", 10, 10), ["it took", "12 ms, or"]);
    }

    #[test]
    fn glue_holds_words_together_and_shows_as_a_space() {
        assert_eq!(wrap(&format!("go {}", glued("on now")), 6, 6), ["go", "on now"]);
    }

    #[test]
    fn width_is_counted_in_columns() {
        assert_eq!(columns("日本"), 4);
        assert_eq!(wrap("日本 日本", 8, 8).len(), 2);
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(elide_middle("namespace::class::method", 13, "…"), "namesp…method");
        assert_eq!(elide_middle("short", 5, "…"), "short");
        assert_eq!(elide_middle("日本日本日本", 7, "…"), "日本…本");
        for room in 0..30 {
            for mark in ["…", "..."] {
                assert!(columns(&elide_middle("a name of 日本 and more of it", room, mark)) <= room);
            }
        }
    }
}
