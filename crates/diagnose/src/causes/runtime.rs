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
}
