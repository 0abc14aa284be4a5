//! Names of functions in little room. What says least goes first: the arguments of templates, then those of the function, then
//! the namespaces or folders in front. An identifier is cut only if it alone is wider than the room.

use crate::layout::{columns, elide_middle};

/// In a sentence a name is no longer than this, in columns: a name that fills lines hides what is said of it.
pub(crate) const IN_A_SENTENCE: usize = 80;

/// `name` in at most `room` columns, `mark` standing for what is left out.
pub(crate) fn fitted(name: &str, room: usize, mark: &str) -> String {
    if columns(name) <= room {
        return name.to_owned();
    }
    let parts = split(name);
    let collapsed = |arguments: bool| -> String {
        let shown = |part: &Part<'_>| match part {
            Part::Word(text) => (*text).to_owned(),
            Part::Template(open, close) => format!("{open}{mark}{close}"),
            Part::Arguments(text) if arguments => (*text).to_owned(),
            Part::Arguments(_) => String::new(),
        };
        parts.iter().map(shown).collect()
    };
    for arguments in [true, false] {
        let text = collapsed(arguments);
        if columns(&text) <= room {
            return text;
        }
    }
    let bare = collapsed(false);
    for implemented in [with_short_types(&bare, true), with_short_types(&bare, false)].into_iter().flatten() {
        if columns(&implemented) <= room {
            return implemented;
        }
    }
    let starts = components(&bare);
    let behind = starts.iter().map(|at| format!("{mark}{}", &bare[*at..]));
    behind.into_iter().find(|text| columns(text) <= room).unwrap_or_else(|| {
        let last = starts.last().map_or(bare.as_str(), |at| &bare[*at..]);
        elide_middle(last, room, mark)
    })
}

#[derive(Debug, PartialEq)]
enum Part<'a> {
    Word(&'a str),
    /// Arguments of a template or of a generic function, with the brackets around them.
    Template(char, char),
    /// The function's arguments and what stands behind them.
    Arguments(&'a str),
}

/// A demangled name of C++, Rust or Go in its parts.
fn split(name: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(letter) = name[at..].chars().next() {
        let rest = &name[at..];
        if let Some(symbols) = operator(name, at) {
            at += symbols;
            continue;
        }
        let closed = match letter {
            // `<T as Trait>::f`: the type that has the method.
            '<' if at > 0 => closing(rest, '<', '>'),
            '[' if rest.starts_with("[go.shape.") => closing(rest, '[', ']'),
            '{' => {
                at += closing(rest, '{', '}').unwrap_or(1);
                continue;
            }
            '(' if rest.starts_with("(anonymous namespace)") => {
                at += "(anonymous namespace)".len();
                continue;
            }
            // The receiver of a method of Go stands behind a dot.
            '(' if at > 0 && !name[..at].ends_with('.') => {
                parts.push(Part::Word(&name[start..at]));
                parts.push(Part::Arguments(rest));
                return parts;
            }
            _ => None,
        };
        match closed {
            Some(length) => {
                parts.push(Part::Word(&name[start..at]));
                parts.push(Part::Template(letter, if letter == '<' { '>' } else { ']' }));
                at += length;
                start = at;
            }
            None => at += letter.len_utf8(),
        }
    }
    parts.push(Part::Word(&name[start..]));
    parts
}

/// If `operator` stands at `at`, how many bytes it takes with its symbols: `operator<<`, `operator()`, `operator->`.
fn operator(name: &str, at: usize) -> Option<usize> {
    const WORD: &str = "operator";
    let symbols = name[at..].strip_prefix(WORD)?;
    if name[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let length = match symbols {
        _ if symbols.starts_with("()") => 2,
        _ => symbols.find(|c: char| !"<>=!+-*/%^&|~,[]".contains(c)).unwrap_or(symbols.len()),
    };
    (length > 0).then_some(WORD.len() + length)
}

/// Bytes from the bracket at the beginning of `text` to the one that closes it, both included.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == open);
        // Not the arrow of `fn() -> T`.
        depth -= i32::from(letter == close && before != '-');
        if depth == 0 {
            return Some(at + letter.len_utf8());
        }
        before = letter;
    }
    None
}

/// A method of Rust without the modules of its type and its trait, or without the trait: `<Vec as Clone>::clone`, `<Vec>::clone`.
fn with_short_types(name: &str, with_trait: bool) -> Option<String> {
    let end = name.starts_with('<').then(|| closing(name, '<', '>')).flatten()?;
    let (types, method) = (&name[1..end - 1], &name[end..]);
    let last = |path: &str| components(path).last().map_or(path.to_owned(), |at| path[*at..].to_owned());
    Some(match types.split_once(" as ") {
        Some((of, named)) if with_trait => format!("<{} as {}>{method}", last(of), last(named)),
        Some((of, _)) => format!("<{}>{method}", last(of)),
        None => format!("<{}>{method}", last(types)),
    })
}

/// Where the components of a name begin behind the first one: after `::` and `/` outside of brackets.
fn components(name: &str) -> Vec<usize> {
    let mut depth = 0;
    let mut starts = Vec::new();
    for (at, letter) in name.char_indices() {
        match letter {
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth -= 1,
            '/' if depth == 0 => starts.push(at + 1),
            ':' if depth == 0 && name[..at].ends_with(':') => starts.push(at + 1),
            _ => {}
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "std::_Rb_tree<std::string, std::pair<std::string const, int>, std::less<std::string> >::find(std::string const&) const";

    #[test]
    fn arguments_of_templates_go_first() {
        assert_eq!(fitted(TREE, 200, "…"), TREE);
        assert_eq!(fitted(TREE, 60, "…"), "std::_Rb_tree<…>::find(std::string const&) const");
        assert_eq!(fitted(TREE, 40, "…"), "std::_Rb_tree<…>::find");
        assert_eq!(fitted(TREE, 20, "…"), "…_Rb_tree<…>::find");
        assert_eq!(fitted(TREE, 10, "…"), "…find");
    }

    #[test]
    fn an_identifier_is_cut_only_if_nothing_else_is_left() {
        let name = "v8::internal::Interpreter::a_method_of_a_long_name(int) const";
        assert_eq!(fitted(name, 40, "…"), "…Interpreter::a_method_of_a_long_name");
        assert_eq!(fitted(name, 30, "…"), "…a_method_of_a_long_name");
        assert_eq!(fitted(name, 10, "..."), "a_m...name");
    }

    #[test]
    fn operators_are_not_brackets() {
        let shift = "lib::operator<< <char>(std::basic_ostream<char, std::char_traits<char> >&, char const*)";
        assert_eq!(fitted(shift, 30, "…"), "lib::operator<< <…>");
        assert_eq!(
            fitted("A<int, long, long long>::operator()(int) const", 30, "…"),
            "A<…>::operator()(int) const"
        );
        assert_eq!(fitted("Map<int, long, long long>::operator->() const", 20, "…"), "Map<…>::operator->");
    }

    #[test]
    fn names_of_rust_and_go_keep_what_tells_them_apart() {
        let rust = "<alloc::vec::Vec<T> as core::clone::Clone>::clone";
        assert_eq!(fitted(rust, 30, "…"), "<Vec<…> as Clone>::clone");
        assert_eq!(fitted(rust, 20, "…"), "<Vec<…>>::clone");
        assert_eq!(fitted(rust, 10, "…"), "…clone");
        assert_eq!(
            fitted("core::ops::function::FnOnce::call_once::{{closure}}", 30, "…"),
            "…call_once::{{closure}}"
        );
        let go = "github.com/someone/graph/v2.(*directed[go.shape.string,go.shape.int]).AddEdge";
        assert_eq!(fitted(go, 60, "…"), "github.com/someone/graph/v2.(*directed[…]).AddEdge");
        assert_eq!(fitted(go, 40, "…"), "…someone/graph/v2.(*directed[…]).AddEdge");
    }

    #[test]
    fn no_name_is_wider_than_its_room() {
        for name in [TREE, "(anonymous namespace)::f<int>(long)", "f(", "a<b", "日本::日本日本(int)", ""]
        {
            for room in 1..80 {
                for mark in ["…", "..."] {
                    assert!(columns(&fitted(name, room, mark)) <= room, "{name} in {room}");
                }
            }
        }
        assert_eq!(
            fitted("(anonymous namespace)::f<int>(long)", 30, "…"),
            "(anonymous namespace)::f<…>".to_owned()
        );
    }
}
