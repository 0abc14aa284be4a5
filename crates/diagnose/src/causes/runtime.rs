//! Functions of a language's runtime or standard library: they do what they are asked to, so whoever asks is guilty.

use crate::findings::Frame;

const MODULES: [&str; 7] =
    ["libc.so", "libc-", "ld-linux", "libstdc++.so", "libc++.so", "libgcc_s.so", "libm.so"];

const NAMES: [&str; 33] = [
    "std::",
    "_ZSt",
    "_ZNSt",
    "_ZNKSt",
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
        || frame.function.ends_with(STUB)
        || is_blanket(&frame.function)
        || is_of_the_library(&frame.function)
}

/// How the name of a jump to another library's function ends.
const STUB: &str = "@plt";

/// What functions of a language's runtime that search, compare or copy bytes are called: with what their names begin, behind
/// underscores, for libraries in C; and in whole for Go and Rust.
const BYTES_IN_C: [&str; 9] =
    ["mem", "str", "stpcpy", "stpncpy", "bcmp", "bcopy", "wmem", "wcs", "rawmemchr"];
const BYTES: [&str; 9] = [
    "runtime.memmove",
    "runtime.memequal",
    "runtime.memclrNoHeapPointers",
    "memeqbody",
    "cmpbody",
    "indexbytebody",
    "countbody",
    "internal/bytealg.",
    "core::slice::memchr",
];

/// Whether a runtime's function that handles bytes copies them.
pub(crate) fn copies_bytes(frame: &Frame) -> bool {
    let name = frame.function.trim_start_matches('_');
    const COPY: [&str; 12] = [
        "memcpy",
        "memmove",
        "mempcpy",
        "strcpy",
        "stpcpy",
        "strcat",
        "strncpy",
        "strncat",
        "stpncpy",
        "bcopy",
        "wmemcpy",
        "runtime.memmove",
    ];
    COPY.iter().any(|start| name.starts_with(start))
}

/// Whether a function takes memory back.
pub(crate) fn frees(frame: &Frame) -> bool {
    const NAMES: [&str; 8] = [
        "free",
        "cfree",
        "_int_free",
        "systrim",
        "realloc",
        "__rust_dealloc",
        "__rust_realloc",
        "_int_realloc",
    ];
    const STARTS: [&str; 5] = ["operator delete", "_Zdl", "runtime.gcBgMark", "munmap", "free@"];
    NAMES.contains(&frame.function.as_str())
        || STARTS.iter().any(|start| frame.function.starts_with(start))
        || frame.function.starts_with("__libc_") && NAMES.contains(&&frame.function["__libc_".len()..])
}

/// Whether a function hands out memory or takes it back.
pub(crate) fn allocates(frame: &Frame) -> bool {
    const NAMES: [&str; 12] = [
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "free",
        "cfree",
        "_int_malloc",
        "_int_free",
        "_int_realloc",
        "__rust_alloc",
        "__rust_dealloc",
        "__rust_realloc",
    ];
    const STARTS: [&str; 6] =
        ["operator new", "operator delete", "_Znw", "_Zdl", "runtime.mallocgc", "runtime.growslice"];
    NAMES.contains(&frame.function.as_str())
        || STARTS.iter().any(|start| frame.function.starts_with(start))
        || frame.function.starts_with("__libc_") && NAMES.contains(&&frame.function["__libc_".len()..])
}

/// Whether a runtime's function searches, compares or copies bytes: it takes as long as there are bytes.
pub(crate) fn handles_bytes(frame: &Frame) -> bool {
    let name = frame.function.trim_start_matches('_');
    let in_c = frame.function.ends_with(STUB)
        || MODULES.iter().any(|start| frame.module.starts_with(start))
        || frame.module.is_empty();
    // The C library's own variants have no names where only its dynamic symbols are known.
    let unnamed = frame.module.starts_with("libc") && frame.function.starts_with(&frame.module);
    let known = BYTES_IN_C.iter().any(|start| name.starts_with(start))
        && !name.starts_with("strto")
        && !name.contains("::");
    in_c && (known || unnamed)
        || ["memcpy", "memmove", "memcmp", "strlen", "memset", "bcmp"].contains(&name)
        || BYTES.iter().any(|start| frame.function.starts_with(start))
}

/// Rust's standard library implementing a trait of its own for a type of its own or of the language:
/// `<u64 as core::fmt::Display>::fmt`.
fn is_of_the_library(function: &str) -> bool {
    const LIBRARY: [&str; 3] = ["std::", "core::", "alloc::"];
    const TYPES: [&str; 17] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char", "str",
    ];
    let Some((of, rest)) = function.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) else {
        return false;
    };
    let of =
        of.trim_start_matches('&').trim_start_matches("mut ").trim_start_matches('[').trim_end_matches(']');
    let own = TYPES.contains(&of) || LIBRARY.iter().any(|start| of.starts_with(start));
    own && LIBRARY.iter().any(|start| rest.starts_with(start))
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
            let (function, module) = (function.into(), module.into());
            is_name(&Frame { function_id: None, function, module, file: None, line: None })
        };
        for function in [
            "std::vector<int>::push_back(int&&)",
            "<R as std::io::SpecReadByte>::spec_read_byte",
            "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
            "<u64 as core::fmt::Display>::fmt",
            "<[u8] as core::slice::cmp::SlicePartialEq<u8>>::equal",
            "syscall.RawSyscall6",
            "runtime.mallocgc",
        ] {
            assert!(is(function, "prog"), "{function}");
        }
        for function in [
            "load_config",
            "main.(*Journal).Append",
            "<prog::Lines as core::iter::Iterator>::next",
            "<u64 as prog::Encode>::encode",
            "stdlib_init",
        ] {
            assert!(!is(function, "prog"), "{function}");
        }
        assert!(is("qsort", "libc.so.6"));
    }
}
