//! Functions that match a regular expression by trying one way after the other, and where the text is that they go through.

use crate::What;
use crate::pattern;

/// Names as demangled, without arguments, with `*` for any text; and which arguments, counted from 1, lead to the text:
/// pcre2api(3), pcreapi(3), regex(3), GNU Regular Expression Searching, Oniguruma's doc/API, perlapi, and libstdc++'s `<bits/regex.tcc>`.
const MATCHERS: [(&str, What); 12] = [
    ("pcre2_match_8", What::Bytes(2, 3, 1)),
    ("pcre2_match_16", What::Bytes(2, 3, 2)),
    ("php_pcre2_match", What::Bytes(2, 3, 1)),
    ("pcre_exec", What::Bytes(3, 4, 1)),
    ("regexec", What::Text(2)),
    ("__regexec", What::Text(2)),
    ("re_search", What::Bytes(2, 3, 1)),
    ("onig_search", What::Range(2, 3)),
    ("onig_match", What::Range(2, 3)),
    ("Perl_regexec_flags", What::Range(3, 4)),
    ("*std::__detail::__regex_algo_search<*>", What::Range(1, 2)),
    ("*std::__detail::__regex_algo_match<*>", What::Range(1, 2)),
];

/// Where a function with this demangled name finds the text that it matches, if it is such a one.
pub fn matches(name: &str) -> Option<What> {
    let name = pattern::without_arguments(name);
    MATCHERS.iter().find(|(pattern, _)| pattern::fits(pattern, name)).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_known_by_their_names() {
        let search = "bool std::__detail::__regex_algo_search<char const*, std::allocator<int>, char>(char const*, char const*)";
        assert_eq!(matches(search), Some(What::Range(1, 2)));
        assert_eq!(matches("regexec"), Some(What::Text(2)));
        assert_eq!(matches("pcre2_match_8"), Some(What::Bytes(2, 3, 1)));
        for other in ["regcomp", "pcre2_compile_8", "match", "std::__detail::_Compiler<int>::_Compiler()"] {
            assert_eq!(matches(other), None, "{other}");
        }
    }
}
