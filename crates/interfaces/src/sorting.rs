//! Functions that sort with a comparison that their caller gives them, and functions that turn a text into a value.

/// Whole names in C; those of glibc's own parts.
const IN_C: [&str; 8] = [
    "qsort",
    "qsort_r",
    "__qsort_r",
    "msort_with_tmp",
    "introsort_r",
    "g_qsort_with_data",
    "g_list_sort_real",
    "g_slist_sort_real",
];
/// What C++'s sorts consist of, without their templates' parameters.
const IN_CPP: [&str; 24] = [
    "std::sort",
    "std::stable_sort",
    "std::__sort",
    "std::__introsort_loop",
    "std::__insertion_sort",
    "std::__unguarded_insertion_sort",
    "std::__unguarded_linear_insert",
    "std::__final_insertion_sort",
    "std::__unguarded_partition",
    "std::__unguarded_partition_pivot",
    "std::__move_median_to_first",
    "std::__adjust_heap",
    "std::__push_heap",
    "std::__heap_select",
    "std::__partial_sort",
    "std::__move_merge",
    "std::__move_merge_adaptive",
    "std::__move_merge_adaptive_backward",
    "std::__merge_adaptive",
    "std::__merge_without_buffer",
    "std::__merge_sort_with_buffer",
    "std::__merge_sort_loop",
    "std::__chunk_insertion_sort",
    "std::__inplace_stable_sort",
];
/// libc++ has names of its own, in a namespace of its version.
const IN_LIBCXX: [&str; 6] = [
    "std::__1::__sort",
    "std::__1::__introsort",
    "std::__1::__insertion_sort",
    "std::__1::__stable_sort",
    "std::__1::__merge_move",
    "std::__1::sort",
];
/// Rust's, which have had several modules.
const IN_RUST: [&str; 4] = [
    "core::slice::sort::",
    "alloc::slice::merge_sort",
    "alloc::slice::stable_sort",
    "alloc::slice::<impl [T]>::sort",
];
/// Go's, with or without types of their own: `sort.pdqsort_func`, `slices.pdqsortCmpFunc[…]`.
const IN_GO: [&str; 14] = [
    "sort.Sort",
    "sort.Stable",
    "sort.Slice",
    "sort.pdqsort",
    "sort.insertionSort",
    "sort.heapSort",
    "sort.stable",
    "sort.symMerge",
    "sort.partition",
    "slices.Sort",
    "slices.pdqsort",
    "slices.insertionSort",
    "slices.stable",
    "slices.partition",
];

/// Functions of the C library (and of others that many programs use) that read a value from a text, without allocating memory.
const READS: [&str; 22] = [
    "atoi",
    "atol",
    "atoll",
    "atof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtod",
    "strtof",
    "strtold",
    "sscanf",
    "__isoc99_sscanf",
    "__isoc23_sscanf",
    "__isoc23_strtol",
    "__isoc23_strtoul",
    "strptime",
    "mktime",
    "timegm",
    "inet_pton",
    "inet_aton",
    "time.Parse",
];

/// Whether a function with this demangled name is (a part of) a library's sort, which is given its comparison.
pub fn sorts(name: &str) -> bool {
    // Templates stand behind the type that they return: `void std::__introsort_loop<…>(…)`.
    let template = |known: &&str| {
        name.match_indices(*known).any(|(at, _)| {
            let behind = &name[at + known.len()..];
            (at == 0 || name[..at].ends_with(' ')) && (behind.starts_with('<') || behind.starts_with('('))
        })
    };
    IN_C.contains(&name)
        || IN_CPP.iter().chain(&IN_LIBCXX).any(template)
        || IN_RUST.iter().any(|part| name.starts_with(part))
        || IN_GO.iter().any(|part| name.starts_with(part))
}

/// Whether a function with this demangled name reads a value from a text.
pub fn reads_a_value(name: &str) -> bool {
    READS.contains(&name.trim_end_matches("@plt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_are_known_by_their_names() {
        for (name, does) in [
            ("qsort", true),
            ("my_qsort", false),
            ("void std::__introsort_loop<Row*, long, Less>(Row*, Row*, long, Less)", true),
            ("__gnu_cxx::__normal_iterator<Row*, std::vector<Row> > std::__move_merge<Row*>(Row*)", true),
            ("std::sorted_vector<int>::insert(int)", false),
            ("std::__adjust_heap_of(int)", false),
            ("core::slice::sort::stable::quicksort::quicksort::<Row, F>", true),
            ("sort.pdqsort_func", true),
            ("slices.pdqsortCmpFunc[go.shape.string]", true),
            ("main.sortRows", false),
            ("list_sort_impl", false),
        ] {
            assert_eq!(sorts(name), does, "{name}");
        }
    }

    #[test]
    fn values_are_read_by_the_c_library() {
        assert!(reads_a_value("strtod") && reads_a_value("strtod@plt") && !reads_a_value("strcmp"));
    }
}
