//! Functions that hand out memory or take it back, of the allocators in use: one list for the collector and all causes.

/// What a function does with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// It hands out memory.
    Gives,
    /// It takes memory back.
    Takes,
    /// It does both: it may move a block.
    Moves,
}
use Memory::{Gives, Moves, Takes};

/// Whole names, without leading underscores of `__libc_` aliases and symbol versions.
const NAMES: &[(&str, Memory)] = &[
    // The C library, and whatever replaces it under the same names (jemalloc, tcmalloc, mimalloc).
    ("malloc", Gives),
    ("calloc", Gives),
    ("memalign", Gives),
    ("aligned_alloc", Gives),
    ("posix_memalign", Gives),
    ("valloc", Gives),
    ("realloc", Moves),
    ("reallocarray", Moves),
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
    ("runtime.gcAssistAlloc", Takes),
    ("runtime.gcAssistAlloc1", Takes),
    ("runtime.gcDrain", Takes),
    ("runtime.gcDrainN", Takes),
    ("runtime.bgsweep", Takes),
    ("runtime.bgscavenge", Takes),
    // … what it does on the scheduler's stack, where older recordings do not show its callers: to begin and end a round, and to give pages back.
    ("runtime.gcStart", Takes),
    ("runtime.gcMarkDone", Takes),
    ("runtime.gcMarkTermination", Takes),
    ("runtime.gcSweep", Takes),
    ("runtime.wbBufFlush", Takes),
    // What it has every function do that writes a pointer while a round is under way.
    ("runtime.bulkBarrierPreWrite", Takes),
    ("runtime.bulkBarrierPreWriteSrcOnly", Takes),
    ("runtime.bulkBarrierBitmap", Takes),
    ("runtime.gcWriteBarrier", Takes),
    ("runtime.gcWriteBarrier1", Takes),
    ("runtime.gcWriteBarrier2", Takes),
    ("runtime.gcWriteBarrier3", Takes),
    ("runtime.gcWriteBarrier4", Takes),
    ("runtime.gcWriteBarrier5", Takes),
    ("runtime.gcWriteBarrier6", Takes),
    ("runtime.gcWriteBarrier7", Takes),
    ("runtime.gcWriteBarrier8", Takes),
    ("runtime.wbMove", Takes),
    ("runtime.wbZero", Takes),
    ("runtime.(*pageAlloc).scavenge", Takes),
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

/// What a function with this demangled name does with memory; none if it is no allocator's.
pub fn memory(name: &str) -> Option<Memory> {
    let plain = plain(name);
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
    let go = name.strip_prefix("runtime.");
    let is_part = |rest: &str, known: &str| {
        rest.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is = |known: &str| {
        known == plain
            || go.zip(known.strip_prefix("runtime.")).is_some_and(|(rest, known)| is_part(rest, known))
    };
    NAMES.iter().find(|(known, _)| is(known)).map(|(_, does)| *does)
}

/// Whether a function, one that [`memory`] knows, is run by whoever writes a pointer while Go's collector is at work: for the collector's sake, and whether or not the writer
/// allocates anything.
pub fn is_barrier(name: &str) -> bool {
    let barrier = ["runtime.wb", "runtime.bulkBarrier", "runtime.gcWriteBarrier"];
    barrier.iter().any(|prefix| name.starts_with(prefix))
}

/// `free@GLIBC_2.2.5` and `free@plt` are free; so is `__libc_free`.
fn plain(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or_default();
    // jemalloc's, as Rust's programs have it.
    let prefixes = ["__libc_", "_rjem_je_", "_rjem_"];
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// Functions whose first argument is the block that they take back, and which end with that: whoever calls them, or what does so for others as C++'s
/// `operator delete`, wants it gone.
const FREES: [&str; 7] = ["free", "cfree", "dallocx", "sdallocx", "je_free", "tc_free", "mi_free"];

/// What a function with this demangled name does with memory, if its calls say more than that it was called:
///
/// - `Takes`: its first argument is the block that it takes back;
/// - `Moves`: its first argument is a block of the C library, before which its size stands, and its second the size that is wanted;
/// - `Gives`: its first argument is the size of what it hands out. Only Go's is told: elsewhere it is known what is taken back.
pub fn memory_by_call(name: &str) -> Option<Memory> {
    match plain(name) {
        name if FREES.contains(&name) => Some(Takes),
        "realloc" => Some(Moves),
        "runtime.mallocgc" => Some(Gives),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocators_are_known_by_whole_names() {
        for (name, does) in [
            ("malloc", Some(Gives)),
            ("__libc_free", Some(Takes)),
            ("free@GLIBC_2.2.5", Some(Takes)),
            ("realloc", Some(Moves)),
            ("operator new(unsigned long)", Some(Gives)),
            ("operator delete[](void*)", Some(Takes)),
            ("mi_free", Some(Takes)),
            ("runtime.gcBgMarkWorker.func2", Some(Takes)),
            ("runtime.gcMarkDone.forEachP.func5", Some(Takes)),
            ("runtime.(*pageAlloc).scavenge.func1", Some(Takes)),
            ("runtime.(*pageAlloc).scavengeOne", None),
            ("g_malloc", Some(Gives)),
            ("munmap", Some(Takes)),
            ("free_list_init", None),
            ("malloc_stats_of_game", None),
            ("munmapped_pages", None),
        ] {
            assert_eq!(memory(name), does, "{name}");
        }
    }

    #[test]
    fn calls_that_say_more_are_those_of_the_entries_of_an_allocator() {
        for (name, does) in [
            ("free", Some(Takes)),
            ("__libc_free", Some(Takes)),
            ("cfree@GLIBC_2.2.5", Some(Takes)),
            ("_rjem_sdallocx", Some(Takes)),
            ("realloc", Some(Moves)),
            ("runtime.mallocgc", Some(Gives)),
            ("runtime.mallocgcTiny", None),
            ("_int_free", None),
            ("munmap", None),
            ("malloc", None),
        ] {
            assert_eq!(memory_by_call(name), does, "{name}");
            assert!(does.is_none() || memory(name) == does, "{name}");
        }
        assert!(FREES.iter().all(|name| memory(name) == Some(Takes)));
    }
}
