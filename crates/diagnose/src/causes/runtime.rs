//! Functions of a language's runtime or standard library: they do what they are asked to, so whoever asks is guilty.

use crate::findings::Frame;

const MODULES: [&str; 7] =
    ["libc.so", "libc-", "ld-linux", "libstdc++.so", "libc++.so", "libgcc_s.so", "libm.so"];

const NAMES: [&str; 30] = [
    "std::",
    "void std::",
    "bool std::",
    "__gnu_cxx::",
    "core::",
    "alloc::",
    "<core::",
    "<alloc::",
    "<std::",
    "runtime.",
    "runtime/",
    "internal/",
    "syscall.",
    "os.",
    "io.",
    "fmt.",
    "bufio.",
    "time.",
    "net.",
    "poll.",
    "strings.",
    "bytes.",
    "slices.",
    "sort.",
    "memeqbody",
    "memmove",
    "memcmp",
    "memcpy",
    "strlen",
    "_dl_",
];

/// Whether the frame's function is of a runtime or standard library.
pub(crate) fn is_name(frame: &Frame) -> bool {
    MODULES.iter().any(|start| frame.module.starts_with(start))
        || NAMES.iter().any(|start| frame.function.starts_with(start))
        || is_blanket(&frame.function)
}

/// Rust's standard library implementing a trait of its own for any type: `<R as std::io::SpecReadByte>::spec_read_byte`.
fn is_blanket(function: &str) -> bool {
    let Some((of, rest)) = function.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) else {
        return false;
    };
    let any = of.len() == 1 && of.chars().all(|c| c.is_ascii_uppercase());
    any && ["std::", "core::", "alloc::"].iter().any(|start| rest.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_languages_own_functions_are_known_and_a_programs_are_not() {
        let is = |function: &str, module: &str| {
            is_name(&Frame { function: function.into(), module: module.into(), file: None, line: None })
        };
        for function in [
            "std::vector<int>::push_back(int&&)",
            "<R as std::io::SpecReadByte>::spec_read_byte",
            "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
            "syscall.RawSyscall6",
            "runtime.mallocgc",
        ] {
            assert!(is(function, "prog"), "{function}");
        }
        for function in [
            "load_config",
            "main.(*Journal).Append",
            "<prog::Lines as core::iter::Iterator>::next",
            "stdlib_init",
        ] {
            assert!(!is(function, "prog"), "{function}");
        }
        assert!(is("qsort", "libc.so.6"));
    }
}
