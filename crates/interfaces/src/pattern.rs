//! Names of functions, and patterns for them.

/// A demangled name of C++ without its arguments and what stands behind them; names of other languages as they are.
///
/// `re2::RE2::RE2(char const*)` is `re2::RE2::RE2`; `text/template.(*Template).Parse` has no arguments.
pub fn without_arguments(name: &str) -> &str {
    // What is in angle brackets may have brackets of its own.
    let mut depth = 0i32;
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            // The receiver of a method of Go stands behind a dot.
            '(' if depth == 0 && at > 0 && !name[..at].ends_with('.') => return &name[..at],
            _ => {}
        }
    }
    name
}

/// Whether a name fits a pattern, in which `*` stands for any text.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("regcomp", "regcomp") && !fits("regcomp", "regcomp2") && !fits("regcomp", "my_regcomp"));
        assert!(fits("ucol_open_*", "ucol_open_72") && !fits("ucol_open_*", "ucol_close_72"));
        let boost = "boost::re_detail_*::basic_regex_implementation<*>::assign";
        assert!(fits(boost, "boost::re_detail_107400::basic_regex_implementation<char, X>::assign"));
        assert!(!fits(boost, "boost::re_detail_107400::basic_regex_implementation<char, X>::size"));
    }

    #[test]
    fn arguments_are_left_out_and_receivers_are_not() {
        assert_eq!(without_arguments("re2::RE2::RE2(char const*)"), "re2::RE2::RE2");
        assert_eq!(without_arguments("text/template.(*Template).Parse"), "text/template.(*Template).Parse");
        assert_eq!(without_arguments("f<void (*)(int)>::g(long) const"), "f<void (*)(int)>::g");
        assert_eq!(without_arguments("regcomp"), "regcomp");
    }
}
