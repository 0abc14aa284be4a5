//! Who asks for what a function of a library or runtime does.

use crate::Evidence;
use crate::causes::runtime;

/// The function that asks for what the first of `functions` (of a stack, innermost first) does: the first around it that is neither of a
/// runtime nor of the same library.
pub(crate) fn asker(evidence: &Evidence<'_>, functions: &[u32]) -> Option<u32> {
    let (first, around) = functions.split_first()?;
    let (module, name) = (evidence.module(*first), evidence.name(*first));
    let library = !evidence.is_program(&module);
    around.iter().copied().find(|function| {
        let of_it = if library {
            evidence.module(*function) == module
        } else {
            is_of_one_package(evidence.name(*function), name)
        };
        !of_it && !runtime::is_name(&evidence.frame(*function))
    })
}

/// Whether two functions are of the same crate or namespace.
pub(crate) fn is_of_one_package(name: &str, other: &str) -> bool {
    package(name).is_some() && package(name) == package(other)
}

/// The crate or namespace of a name that has one: libraries of Rust and templates of C++ are part of the program.
fn package(name: &str) -> Option<&str> {
    let name = name.trim_start_matches(['<', '&']);
    name.split_once("::").map(|(package, _)| package)
}
