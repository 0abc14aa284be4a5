//! Functions of a language's runtime or standard library: they do what they are asked to, so whoever asks is guilty.

use crate::findings::Frame;

/// Libraries that are of a C or C++ runtime as a whole: their file names up to the version.
const MODULES: [&str; 13] = [
    "libc",
    "ld",
    "ld-linux",
    "ld-linux-x86-64",
    "ld-linux-aarch64",
    "ld-musl-x86_64",
    "ld-musl-aarch64",
    "libpthread",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libgcc_s",
    "libm",
];

/// The language that a function was written in, as far as its demangled name shows: in each, names have another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// `package/path.Function`, `package.(*Type).Method`.
    Go,
    /// `crate::module::function` without arguments, `<Type as Trait>::method`.
    Rust,
    /// `namespace::Class::method(arguments)`, or a mangled name that could not be read.
    Cpp,
    /// A plain name.
    C,
}

impl Language {
    pub(crate) fn of(name: &str) -> Language {
        let scoped = name.contains("::");
        // Arguments, and what may stand behind them.
        let arguments = name.trim_end_matches(" const").ends_with(')');
        let allocates = name.starts_with("operator new") || name.starts_with("operator delete");
        // A method of Go has its receiver in brackets, behind a dot.
        let receiver = name.contains(".(*");
        if name.starts_with("_Z") || (scoped || allocates) && arguments {
            Language::Cpp
        } else if scoped || name.starts_with('<') {
            Language::Rust
        } else if receiver || name.contains('.') && !arguments && is_go(name) {
            Language::Go
        } else if arguments {
            Language::Cpp
        } else {
            Language::C
        }
    }
}

/// Whether a name with a dot is Go's: what stands before the dot is a package, and no suffix of a compiler stands behind it, as in
/// `work.cold` or `work.part.0`.
fn is_go(name: &str) -> bool {
    const SUFFIXES: [&str; 8] =
        ["cold", "part", "isra", "constprop", "lto_priv", "llvm", "localalias", "clone"];
    // Go's assembler writes for which calling convention: `runtime.clone.abi0`.
    if name.ends_with(".abi0") {
        return true;
    }
    let last = name.rsplit('/').next().unwrap_or(name);
    let Some((package, rest)) = last.split_once('.') else { return false };
    let first = rest.split('.').next().unwrap_or_default();
    // An address in a library, `libz.so.1+0x80`, is no name; OCaml's packages have capitals.
    let plain =
        package.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_' || c == b'-');
    plain
        && !name.contains('+')
        && !package.is_empty()
        && !first.is_empty()
        && !SUFFIXES.contains(&first)
        && !first.starts_with(|c: char| c.is_ascii_digit())
}

/// Rust's crates that make up its standard library, the one of its hash tables among them.
const CRATES: [&str; 4] = ["std", "core", "alloc", "hashbrown"];
/// C++'s namespaces of its standard library and of what GCC adds to it.
const NAMESPACES: [&str; 3] = ["std", "__gnu_cxx", "__cxxabiv1"];
/// How mangled names in `std` begin that could not be read.
const MANGLED: [&str; 5] = ["_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"];
/// Functions of the C library and of Go's runtime where they are linked into a program without their packages' names: whole names.
const LINKED: [&str; 20] = [
    "memmove",
    "memcmp",
    "memcpy",
    "memset",
    "memchr",
    "strlen",
    "strcmp",
    "strncmp",
    "strcpy",
    "strchr",
    "bcmp",
    "memeqbody",
    "cmpbody",
    "indexbytebody",
    "indexbody",
    "countbody",
    "_start",
    "_dl_start",
    "_dl_relocate_object",
    "_dl_runtime_resolve_xsavec",
];

/// Where the headers of C++'s standard library are, GCC's and LLVM's.
const HEADERS: &str = "/include/c++/";

/// Whether the frame's function is of a runtime or standard library.
pub(crate) fn is_name(frame: &Frame) -> bool {
    // A part or a variant that a compiler made: `std::__find_if<…>(…) [clone .isra.0]`.
    let name = frame.function.split(" [clone").next().unwrap_or_default();
    let linked = LINKED.contains(&name) || LINKED.contains(&unversioned(name));
    if is_module(&frame.module) || name.ends_with(STUB) || linked {
        return true;
    }
    // Debug information names constructors of C++, and what was inlined in Rust, without their namespace.
    if frame.file.as_ref().is_some_and(|file| file.contains(HEADERS) || is_of_rusts_sources(file)) {
        return true;
    }
    match Language::of(name) {
        Language::Go => is_of_go(name),
        Language::Rust => is_of_the_library(name) || is_blanket(name),
        Language::Cpp => is_of_cpp(name),
        // GCC's layer between C++ and threads is compiled into programs.
        Language::C => name.starts_with("_dl_") && frame.module.is_empty() || name.starts_with("__gthread_"),
    }
}

/// Whether a file is one of Rust's library: `/rustc/5960781/library/std/src/io/mod.rs`, or where its sources are installed
/// `…/lib/rustlib/src/rust/library/std/src/io/mod.rs`.
fn is_of_rusts_sources(file: &str) -> bool {
    let of_the_compilers_build = file.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/'));
    of_the_compilers_build.is_some_and(|(_, rest)| rest.starts_with("library/"))
        || file.contains("/lib/rustlib/src/rust/library/")
}

/// A name without the instruction set that the C library chose it for: `__memmove_avx_unaligned_erms` is `memmove`.
pub(crate) fn unversioned(name: &str) -> &str {
    let name = name.trim_start_matches('_');
    let variant = ["_avx", "_avx2", "_avx512", "_evex", "_sse", "_ssse3", "_erms", "_generic", "_aarch64"];
    variant.iter().filter_map(|variant| name.find(variant)).min().map_or(name, |end| &name[..end])
}

/// Whether a module is a library of a C or C++ runtime: `libc.so.6`, `libc-2.31.so`, `ld-linux-x86-64.so.2`.
fn is_module(module: &str) -> bool {
    let Some((name, _)) = module.split_once(".so") else { return false };
    let versioned =
        name.rsplit_once('-').filter(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()));
    MODULES.contains(&name) || versioned.is_some_and(|(name, _)| MODULES.contains(&name))
}

/// Go's standard library: the first element of the package's path has no dot, as that of a module from elsewhere has, and is not `main`.
fn is_of_go(name: &str) -> bool {
    // What stands in brackets is a receiver or a type.
    let path = name.split(['(', '[', '{']).next().unwrap_or(name);
    let (folders, last) = path.rsplit_once('/').map_or(("", path), |(folders, last)| (folders, last));
    let package = last.split('.').next().unwrap_or_default();
    match folders.split('/').next().unwrap_or_default() {
        // A dot in a path is written as it is, but for that in the last element.
        "" => package != "main",
        first => !first.contains('.') && first != "main",
    }
}

/// The C++ library: the first namespace of the function's own name, behind what it returns.
fn is_of_cpp(name: &str) -> bool {
    if MANGLED.iter().any(|start| name.starts_with(start)) {
        return true;
    }
    // What it returns, as templates have it, ends at the last space outside of brackets before the arguments.
    let (mut depth, mut start) = (0i32, 0);
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth <= 0 && !name[start..at].is_empty() && !name[..at].ends_with("operator") => break,
            ' ' if depth <= 0 && !name[..at].ends_with("operator") => start = at + 1,
            _ => {}
        }
    }
    let own = name[start..].trim_start_matches(['*', '&']);
    own.split_once("::").is_some_and(|(first, _)| NAMESPACES.contains(&first))
}

/// How the name of a jump to another library's function ends.
const STUB: &str = "@plt";

/// What functions of a language's runtime that search, compare or copy bytes are called: with what their names begin, behind
/// underscores, for libraries in C; and in whole for Go and Rust.
const BYTES_IN_C: [&str; 9] =
    ["mem", "str", "stpcpy", "stpncpy", "bcmp", "bcopy", "wmem", "wcs", "rawmemchr"];
const BYTES: [&str; 12] = [
    "runtime.memmove",
    "runtime.memequal",
    "runtime.memclrNoHeapPointers",
    "memeqbody",
    "cmpbody",
    "indexbytebody",
    "countbody",
    "internal/bytealg.",
    "core::slice::memchr",
    "core::str::pattern::",
    "<core::str::pattern::",
    "memchr::",
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

/// Whether a runtime's function searches, compares or copies bytes: it takes as long as there are bytes.
pub(crate) fn handles_bytes(frame: &Frame) -> bool {
    let name = frame.function.trim_start_matches('_');
    let in_c = frame.function.ends_with(STUB) || is_module(&frame.module) || frame.module.is_empty();
    // The C library's own variants have no names where only its dynamic symbols are known.
    let unnamed = frame.module.starts_with("libc") && frame.function.starts_with(&frame.module);
    let known = BYTES_IN_C.iter().any(|start| name.starts_with(start))
        && !name.starts_with("strto")
        && !name.contains("::");
    in_c && (known || unnamed)
        || ["memcpy", "memmove", "memcmp", "strlen", "memset", "bcmp"].contains(&name)
        || BYTES.iter().any(|start| frame.function.starts_with(start))
}

/// Rust's standard library: a function of its crates, or its implementation of a trait of its own for a type of its own or of the
/// language: `<u64 as core::fmt::Display>::fmt`, `<alloc::vec::Vec<T>>::push`.
fn is_of_the_library(function: &str) -> bool {
    const TYPES: [&str; 18] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char", "str", "()",
    ];
    let Some(inner) = function.strip_prefix('<') else { return is_in_crate(function) };
    let is_of_language = |of: &str| TYPES.contains(&bare(of).trim_end_matches(']'));
    let Some((of, rest)) = inner.split_once(" as ") else {
        // Nobody else may add functions to a type of the language: `<str>::to_lowercase`, `<[prog::Row]>::contains`.
        let of = inner.split_once(">::").map(|(of, _)| of);
        return is_in_crate(inner)
            || of.is_some_and(|of| is_of_language(of) || of.starts_with('[') && of.ends_with(']'));
    };
    (is_of_language(of) || is_in_crate(bare(of))) && is_in_crate(rest)
}

/// A type without what stands before it: `&mut [u8]` is `u8]`.
fn bare(of: &str) -> &str {
    of.trim_start_matches('&').trim_start_matches("mut ").trim_start_matches('[')
}

/// Whether a path begins with one of the library's crates: `core::fmt::write`, and not `core_types::write`.
fn is_in_crate(path: &str) -> bool {
    path.split_once("::").is_some_and(|(first, _)| CRATES.contains(&first))
}

/// Rust's standard library implementing a trait of its own for any type: `<R as std::io::SpecReadByte>::spec_read_byte`.
fn is_blanket(function: &str) -> bool {
    let Some((of, rest)) = function.strip_prefix('<').and_then(|rest| rest.split_once(" as ")) else {
        return false;
    };
    let of = of.trim_start_matches('&').trim_start_matches("mut ");
    of.len() == 1 && of.chars().all(|c| c.is_ascii_uppercase()) && is_in_crate(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_header_of_the_standard_library_is_its_own() {
        let constructor = |file: &str| Frame {
            function_id: None,
            function: "thread<main()::<lambda()> >".to_owned(),
            module: "prog".to_owned(),
            file: Some(file.to_owned()),
            line: Some(142),
        };
        assert!(is_name(&constructor("/usr/include/c++/12/bits/std_thread.h")));
        assert!(is_name(&constructor("/usr/lib/llvm-14/include/c++/v1/thread")));
        assert!(!is_name(&constructor("/home/me/include/pool/thread.h")));
        assert!(is_name(&constructor("/rustc/59807616e1/library/std/src/io/mod.rs")));
        let installed =
            "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/iter/range.rs";
        assert!(is_name(&constructor(installed)));
        assert!(!is_name(&constructor("/rustc/59807616e1/compiler/rustc_ast/src/library/parse.rs")));
        assert!(!is_name(&constructor("/home/me/rustc/library/src/main.rs")));
    }

    #[test]
    fn a_languages_own_functions_are_known_and_a_programs_are_not() {
        let is = |function: &str, module: &str| {
            let (function, module) = (function.into(), module.into());
            is_name(&Frame { function_id: None, function, module, file: None, line: None })
        };
        for function in [
            "Names* std::__find_if<Names*, Same<Name const> >(Names*, Names*, Same<Name const>) [clone .isra.0]",
            "std::vector<int>::push_back(int&&)",
            "<R as std::io::SpecReadByte>::spec_read_byte",
            "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend",
            "<u64 as core::fmt::Display>::fmt",
            "<str>::to_lowercase",
            "<[prog::Row]>::contains",
            "<f64>::powi",
            "hashbrown::raw::RawTable<T,A>::find",
            "<[u8] as core::slice::cmp::SlicePartialEq<u8>>::equal",
            "syscall.RawSyscall6",
            "runtime.mallocgc",
            "runtime.clone.abi0",
            "strconv.ParseInt",
            "sync.(*Mutex).Lock",
            "encoding/json.(*decodeState).object",
            "internal/bytealg.IndexByteString",
            "bool std::operator==<char>(std::string const&, char const*)",
            "void std::__introsort_loop<int*, long, Less>(int*, int*, long, Less)",
            "std::vector<int>::size() const",
            "__gnu_cxx::__normal_iterator<int*>::operator++()",
            "__memmove_avx_unaligned_erms",
            "core::str::from_utf8",
            "_ZNSt6vectorI",
            "__gthread_mutex_lock",
        ] {
            assert!(is(function, "prog"), "{function}");
        }
        for function in [
            "load_config",
            "main.(*Journal).Append",
            "<prog::Lines as core::iter::Iterator>::next",
            "<u64 as prog::Encode>::encode",
            "<prog::Row>::parse",
            "hashbrowns::find",
            "<prog::Rows<[u8]>>::parse",
            "stdlib_init",
            "core::Engine::update()",
            "alloc::Pool::take(unsigned long)",
            "strlen_utf8",
            "memcmp_ct",
            "core_types::write",
            "parse(std::string const&)",
            "std::string render(int)",
            "void game::step<std::vector<int> >(std::vector<int>&)",
            "example.org/pool/sync.(*Pool).Get",
            "github.com/a/b.Parse",
            "work.cold",
            "time_step",
            "libz.so.1+0x80",
            "camlList.map_123",
        ] {
            assert!(!is(function, "prog"), "{function}");
        }
        for module in [
            "libc.so.6",
            "libc-2.31.so",
            "ld-linux-x86-64.so.2",
            "ld-2.31.so",
            "libstdc++.so.6.0.33",
            "libm.so.6",
        ] {
            assert!(is("qsort", module), "{module}");
        }
        for module in ["libcurl.so.4", "libmagic.so.1", "libc", "libcap-ng.so.0"] {
            assert!(!is("qsort", module), "{module}");
        }
    }
}
