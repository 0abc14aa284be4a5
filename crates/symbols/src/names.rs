//! Names for people: demangling, and the suffixes that compilers and linkers hang on names.
//!
//! Which of several names an address gets is decided in `symbol_table`, not here.

use std::fmt::{self, Write};

use cpp_demangle::DemangleOptions;

use crate::bounds::{LONGEST_MANGLED, LONGEST_NAME, cut};

/// Suffixes of functions that the compiler cloned, split or renamed.
const CLONE_SUFFIXES: [&str; 8] =
    ["cold", "part", "isra", "constprop", "lto_priv", "llvm", "localalias", "warm"];

/// The name as its author wrote it: C++ and Rust (legacy and v0) demangled, without return type,
/// without Rust's hash, without symbol versions (`@@GLIBC_2.14`) and without the suffixes of
/// compiler clones (`.constprop.0`, `.isra.0`, `.part.0`, `.cold`). Anything else, Go's names
/// among them, is returned unchanged. A trailing `@plt` stays. What is too long to be read is cut, and ends in `…`.
///
/// ```
/// assert_eq!(slowpath_symbols::demangle("_ZN3foo3barEi.constprop.0"), "foo::bar(int)");
/// assert_eq!(slowpath_symbols::demangle("memcpy@@GLIBC_2.14"), "memcpy");
/// assert_eq!(slowpath_symbols::demangle("main.(*T).Run"), "main.(*T).Run");
/// ```
pub fn demangle(name: &str) -> String {
    let (callee, stub) = name.strip_suffix("@plt").map_or((name, ""), |callee| (callee, "@plt"));
    let base = without_clone_suffixes(without_version(callee));
    let told = if base.len() > LONGEST_MANGLED { None } else { rust(base).or_else(|| cpp(base)) };
    let told = told.unwrap_or_else(|| base.get(..=LONGEST_NAME).unwrap_or(base).to_owned());
    format!("{}{stub}", cut(told, LONGEST_NAME))
}

/// `name` without `@VERSION` or `@@VERSION`.
pub(crate) fn without_version(name: &str) -> &str {
    match name.find('@') {
        // A name that begins with '@' is not a versioned one.
        Some(at) if at > 0 && !name.ends_with("@plt") => &name[..at],
        _ => name,
    }
}

/// `foo.cold`, `foo.cold.1` and `foo.isra.0.cold` are cold fragments of `foo`, `foo` and
/// `foo.isra.0`. `None` for a whole function.
pub(crate) fn fragment_of(name: &str) -> Option<&str> {
    let at = name.rfind(".cold")?;
    let rest = &name[at + ".cold".len()..];
    let numbered = rest.strip_prefix('.').is_some_and(is_number);
    (at > 0 && (rest.is_empty() || numbered)).then_some(&name[..at])
}

fn without_clone_suffixes(name: &str) -> &str {
    let mut base = name;
    loop {
        let without_number = match base.rsplit_once('.') {
            Some((head, number)) if is_number(number) => head,
            _ => base,
        };
        match without_number.rsplit_once('.') {
            Some((head, word)) if !head.is_empty() && CLONE_SUFFIXES.contains(&word) => base = head,
            _ => return base,
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn rust(name: &str) -> Option<String> {
    let plausible = name.starts_with("_R") || name.starts_with("_ZN");
    if !plausible {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut text = Bounded::default();
    let done = write!(text, "{demangled:#}").is_ok();
    text.told(done)
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name.as_bytes()).ok()?;
    let mut text = Bounded::default();
    let done = symbol.structured_demangle(&mut text, &DemangleOptions::new().no_return_type()).is_ok();
    text.told(done)
}

/// Text that refuses to grow once it is longer than [`LONGEST_NAME`]. What is written into it stops there.
#[derive(Default)]
struct Bounded(String);

impl Bounded {
    /// What was written, if all of it was or there was no room for it.
    fn told(self, done: bool) -> Option<String> {
        (done || self.0.len() > LONGEST_NAME).then_some(self.0)
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        // A piece is a part of a mangled name, so that the last one adds little.
        self.0.push_str(more);
        if self.0.len() > LONGEST_NAME { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{demangle, fragment_of};

    #[test]
    fn cpp_names_read_as_written() {
        assert_eq!(demangle("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("_Z3maxIiET_S0_S0_"), "max<int>(int, int)");
    }

    #[test]
    fn rust_names_lose_their_hash() {
        assert_eq!(demangle("_ZN4core3ptr4read17h0123456789abcdefE"), "core::ptr::read");
        assert_eq!(demangle("_RNvC6_123foo3bar"), "123foo::bar");
    }

    #[test]
    fn clones_show_the_name_of_their_origin() {
        for suffix in
            [".constprop.0", ".isra.0", ".part.0", ".lto_priv.12", ".part.0.isra.3", ".llvm.77", ".cold"]
        {
            assert_eq!(demangle(&format!("parse{suffix}")), "parse", "{suffix}");
        }
        assert_eq!(demangle("_Z3foov.part.0"), "foo()");
    }

    #[test]
    fn versions_go_and_plt_stays() {
        assert_eq!(demangle("memcpy@GLIBC_2.2.5"), "memcpy");
        assert_eq!(demangle("write@plt"), "write@plt");
        assert_eq!(demangle("_Z3foov@plt"), "foo()@plt");
    }

    #[test]
    fn other_names_stay_as_they_are() {
        for name in [
            "main",
            "main.(*T).Run",
            "runtime.mallocgc",
            "encoding/json.Marshal",
            "_Zebra",
            "_R",
            ".cold",
            "",
        ] {
            assert_eq!(demangle(name), name);
        }
    }

    #[test]
    fn a_cold_fragment_knows_its_function() {
        assert_eq!(fragment_of("foo.cold"), Some("foo"));
        assert_eq!(fragment_of("foo.isra.0.cold"), Some("foo.isra.0"));
        assert_eq!(fragment_of("foo.cold.1"), Some("foo"));
        assert_eq!(fragment_of("foo.colder"), None);
        assert_eq!(fragment_of(".cold"), None);
    }
}
