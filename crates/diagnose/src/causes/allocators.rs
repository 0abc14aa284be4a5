//! Functions that hand out memory or take it back, of the allocators in use: one list for all causes.

use crate::findings::Frame;

/// What a function does with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It hands out memory.
    Gives,
    /// It takes memory back.
    Takes,
    /// It does both: it may move a block.
    Moves,
}
use Does::{Gives, Moves, Takes};

/// Whole names, without leading underscores of `__libc_` aliases and symbol versions.
const NAMES: &[(&str, Does)] = &[
    // The C library, and whatever replaces it under the same names (jemalloc, tcmalloc, mimalloc).
    ("malloc", Gives),
    ("calloc", Gives),
    ("memalign", Gives),
    ("aligned_alloc", Gives),
    ("posix_memalign", Gives),
    ("valloc", Gives),
    ("realloc", Moves),
    ("reallocarray", Gives),
    ("free", Takes),
    ("cfree", Takes),
    ("munmap", Takes),
    // Inside of glibc's.
    ("_int_malloc", Gives),
    ("_int_realloc", Moves),
    ("_int_free", Takes),
    ("_int_free_chunk", Takes),
    ("_int_free_merge_chunk", Takes),
    ("malloc_consolidate", Takes),
    ("systrim", Takes),
    // jemalloc.
    ("mallocx", Gives),
    ("rallocx", Moves),
    ("xallocx", Moves),
    ("dallocx", Takes),
    ("sdallocx", Takes),
    ("je_malloc", Gives),
    ("je_calloc", Gives),
    ("je_realloc", Moves),
    ("je_free", Takes),
    // tcmalloc.
    ("tc_malloc", Gives),
    ("tc_calloc", Gives),
    ("tc_realloc", Moves),
    ("tc_free", Takes),
    ("tc_new", Gives),
    ("tc_delete", Takes),
    // mimalloc.
    ("mi_malloc", Gives),
    ("mi_calloc", Gives),
    ("mi_zalloc", Gives),
    ("mi_realloc", Moves),
    ("mi_free", Takes),
    // Rust's global allocator.
    ("__rust_alloc", Gives),
    ("__rust_alloc_zeroed", Gives),
    ("__rust_realloc", Moves),
    ("__rust_dealloc", Takes),
    ("__rdl_alloc", Gives),
    ("__rdl_alloc_zeroed", Gives),
    ("__rdl_realloc", Moves),
    ("__rdl_dealloc", Takes),
    // Go.
    ("runtime.mallocgc", Gives),
    ("runtime.mallocgcTiny", Gives),
    ("runtime.mallocgcSmallNoscan", Gives),
    ("runtime.mallocgcSmallScanNoHeader", Gives),
    ("runtime.mallocgcSmallScanHeader", Gives),
    ("runtime.mallocgcLarge", Gives),
    ("runtime.newobject", Gives),
    ("runtime.makeslice", Gives),
    ("runtime.growslice", Gives),
    ("runtime.gcBgMarkWorker", Takes),
    // talloc and GLib.
    ("_talloc_zero", Gives),
    ("_talloc_array", Gives),
    ("_talloc_realloc", Moves),
    ("_talloc_free", Takes),
    ("talloc_named_const", Gives),
    ("g_malloc", Gives),
    ("g_malloc0", Gives),
    ("g_realloc", Moves),
    ("g_free", Takes),
    ("g_slice_alloc", Gives),
    ("g_slice_free1", Takes),
];

fn does(frame: &Frame) -> Option<Does> {
    // `free@GLIBC_2.2.5` and `free@plt` are free; so is `__libc_free`.
    let name = frame.function.split('@').next().unwrap_or_default();
    let plain = name.strip_prefix("__libc_").unwrap_or(name);
    // C++ has one for each kind of argument.
    let of = |operator: &str| {
        name.strip_prefix(operator).is_some_and(|rest| rest.starts_with('(') || rest.starts_with("[]"))
    };
    if of("operator new") || name.starts_with("_Znw") || name.starts_with("_Zna") {
        return Some(Gives);
    }
    if of("operator delete") || name.starts_with("_Zdl") || name.starts_with("_Zda") {
        return Some(Takes);
    }
    // Go's closures, such as `runtime.gcBgMarkWorker.func2`, are part of their function.
    let go = name.strip_prefix("runtime.").and_then(|rest| rest.split('.').next());
    let is =
        |known: &str| known == plain || known.strip_prefix("runtime.").is_some_and(|known| go == Some(known));
    NAMES.iter().find(|(known, _)| is(known)).map(|(_, does)| *does)
}

/// Whether a function takes memory back.
pub(crate) fn frees(frame: &Frame) -> bool {
    matches!(does(frame), Some(Takes | Moves))
}

/// Whether a function hands out memory, takes it back, or maps it.
pub(crate) fn is_allocator(frame: &Frame) -> bool {
    does(frame).is_some()
}

/// Whether a function hands out memory or takes it back. Giving whole mappings back to the kernel is no part of that.
pub(crate) fn allocates(frame: &Frame) -> bool {
    is_allocator(frame) && frame.function != "munmap"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str) -> Frame {
        Frame { function_id: None, function: function.into(), module: "prog".into(), file: None, line: None }
    }

    #[test]
    fn allocators_are_known_by_whole_names() {
        for (function, gives, takes) in [
            ("malloc", true, false),
            ("__libc_free", true, true),
            ("free@GLIBC_2.2.5", true, true),
            ("operator new(unsigned long)", true, false),
            ("operator delete[](void*)", true, true),
            ("mi_free", true, true),
            ("runtime.gcBgMarkWorker.func2", true, true),
            ("g_malloc", true, false),
            ("munmap", false, true),
            ("free_list_init", false, false),
            ("malloc_stats_of_game", false, false),
            ("munmapped_pages", false, false),
        ] {
            let of = frame(function);
            assert_eq!((allocates(&of), frees(&of)), (gives, takes), "{function}");
        }
    }
}
