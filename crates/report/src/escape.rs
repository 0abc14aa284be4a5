//! Text from the recorded program, made harmless for a terminal, for Markdown and for a shell.
//!
//! Function names, arguments and file names are whatever the program says they are. Everything that is printed
//! goes through here first; how it is laid out is `wrap`'s.

/// `text` with everything that could steer a terminal or hide text made visible: control characters as `\x1b`,
/// line ends as `\n`, bidirectional overrides and invisible characters as `\u{202e}`.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// [`visible`], in ASCII alone: the signs that reports use are spelled out, other characters become `\u{e9}`.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            '→' => out.push_str("->"),
            '…' => out.push_str("..."),
            '×' => out.push('x'),
            'µ' | 'μ' => out.push('u'),
            '²' => out.push_str("^2"),
            '³' => out.push_str("^3"),
            '·' => out.push('*'),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '≈' => out.push('~'),
            '–' | '—' | '−' => out.push('-'),
            '‘' | '’' => out.push('\''),
            '“' | '”' => out.push('"'),
            '\u{a0}' => out.push(' '),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    out
}

/// Characters that [`visible`] spells out.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control() || is_hidden(c)
}

/// Characters that show nothing, or change the order or place of what is shown.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// One word of a command line, quoted for a POSIX shell where it must be. What cannot be shown as it is becomes
/// `$'\x1b'`, which bash, zsh and newer POSIX shells read back to the same bytes.
pub(crate) fn shell_word(word: &str, unicode: bool) -> String {
    let shown = if unicode { visible(word) } else { ascii(word) };
    if shown != word {
        let mut out = String::from("$'");
        for c in word.chars() {
            match c {
                '\'' | '\\' => out.extend(['\\', c]),
                c if is_invisible(c) || !(c.is_ascii() || unicode) => {
                    // Three octal digits: unlike \x, they cannot swallow a digit that follows.
                    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                        out.push_str(&format!("\\{byte:03o}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('\'');
        return out;
    }
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A command line that a shell splits into `words` again.
pub(crate) fn shell_command(words: &[String], unicode: bool) -> String {
    words.iter().map(|word| shell_word(word, unicode)).collect::<Vec<_>>().join(" ")
}

/// A Markdown code span that shows `text` as it is, backticks included.
pub(crate) fn code(text: &str) -> String {
    let text = visible(text);
    if text.trim().is_empty() {
        return "?".to_owned();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // CommonMark takes one space off both ends, and a backtick at an end would join the fence.
    let ends = |c: char| text.starts_with(c) || text.ends_with(c);
    let pad = if ends('`') || ends(' ') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// [`code`] for a cell of a table. A table is cut at `|` before code spans are read, and renderers disagree on
/// a backslash before it, so a text with either is written as HTML with every sign as an entity.
pub(crate) fn cell_code(text: &str) -> String {
    if !text.contains(['|', '\\']) {
        return code(text);
    }
    let mut out = String::from("<code>");
    for c in visible(text).chars() {
        if c.is_ascii_punctuation() {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out.push_str("</code>");
    out
}

/// A sentence in Markdown, in which nothing is markup. Words that a renderer would turn into a link or a mention
/// of a person become code. Good inside a table cell, too.
pub(crate) fn prose(text: &str) -> String {
    // `visible` would spell a line end out; in a sentence it is only a space.
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let joined = visible(&joined);
    let words = joined.split(' ').enumerate().map(|(i, word)| {
        let linked = ["://", "www.", "WWW."].iter().any(|mark| word.contains(mark)) || word.contains('@');
        if linked { cell_code(word) } else { prose_word(word, i == 0) }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn prose_word(word: &str, first: bool) -> String {
    let mut out = String::with_capacity(word.len());
    for (i, c) in word.char_indices() {
        // A list item's mark, or a rule, stands alone in front.
        let opens_block = first
            && ((i == 0 && word.chars().all(|c| "-+=".contains(c)))
                || (i > 0
                    && i + 1 == word.len()
                    && ".)".contains(c)
                    && word[..i].bytes().all(|b| b.is_ascii_digit())));
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' => out.push_str("&#124;"),
            '\\' => out.push_str("&#92;"),
            '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '$' => out.extend(['\\', c]),
            c if opens_block => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(visible("a\x1b[31mb\r\n\t\x7f\u{9b}"), r"a\x1b[31mb\r\n\t\x7f\x9b");
        assert_eq!(visible("a\u{202e}b\u{2066}\u{200b}"), r"a\u{202e}b\u{2066}\u{200b}");
        assert_eq!(visible("größe::<T>"), "größe::<T>");
    }

    #[test]
    fn ascii_spells_out_the_signs_of_a_report() {
        assert_eq!(ascii("6 µs → 2.0·n², é"), r"6 us -> 2.0*n^2, \u{e9}");
    }

    #[test]
    fn shell_words_are_quoted_only_where_they_must_be() {
        assert_eq!(shell_word("/etc/ssl/certs", true), "/etc/ssl/certs");
        assert_eq!(shell_word("", true), "''");
        assert_eq!(shell_word("two words", true), "'two words'");
        assert_eq!(shell_word("it's", true), r"'it'\''s'");
        assert_eq!(shell_word("$(rm)", true), "'$(rm)'");
        assert_eq!(shell_word("~", true), "'~'");
    }

    #[test]
    fn shell_words_with_control_characters_stay_the_same_word() {
        assert_eq!(shell_word("a\x1b1'\\", true), r"$'a\0331\'\\'");
        assert_eq!(shell_word("é", true), "é");
        assert_eq!(shell_word("é", false), r"$'\303\251'");
        assert_eq!(shell_word("\u{202e}", true), r"$'\342\200\256'");
    }

    #[test]
    fn code_spans_hold_backticks() {
        assert_eq!(code("main"), "`main`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a``"), "``` `a`` ```");
        assert_eq!(code(" "), "?");
    }

    #[test]
    fn a_cell_is_not_cut_by_a_bar_or_a_backslash() {
        assert_eq!(cell_code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(cell_code("a\\|<b"), "<code>a&#92;&#124;&#60;b</code>");
        assert_eq!(cell_code("operator<<"), "`operator<<`");
    }

    #[test]
    fn markup_in_prose_is_inert() {
        assert_eq!(prose("<script> calls a|b & *c*_d_"), r"&lt;script&gt; calls a&#124;b &amp; \*c\*\_d\_");
        assert_eq!(prose("- x"), r"\- x");
        assert_eq!(prose("12. x"), r"12\. x");
        assert_eq!(prose("2.0 s - 1"), "2.0 s - 1");
        assert_eq!(prose("see\nhttp://x.y and @me"), "see `http://x.y` and `@me`");
    }
}
