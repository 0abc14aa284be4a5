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
const IN_CPP: [&str; 20] = [
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
/// Go's, with or without types of their own: `sort.pdqsort_func`, `slices.pdqsortCmpFunc[…]`. `sort.Slice` prepares the sort, and does not compare.
const IN_GO: [&str; 11] = [
    "sort.pdqsort",
    "sort.insertionSort",
    "sort.heapSort",
    "sort.stable",
    "sort.symMerge",
    "sort.partition",
    "slices.pdqsort",
    "slices.insertionSort",
    "slices.stable",
    "slices.symMerge",
    "slices.partition",
];

/// Parts of sorts that a list of a few items does not get to: those that divide or merge long lists. glibc's and Go's call themselves for each half.
const LONG_IN_CPP: [&str; 8] = [
    "std::__introsort_loop",
    "std::__unguarded_partition",
    "std::__unguarded_insertion_sort",
    "std::__merge_sort_with_buffer",
    "std::__merge_sort_loop",
    "std::__chunk_insertion_sort",
    "std::__inplace_stable_sort",
    "std::__1::__introsort",
];
const LONG_IN_RUST: [&str; 4] = ["::quicksort", "::drift::", "::driftsort", "::merge_sort"];
/// … that call themselves, and how many such calls a list of 32 items has: glibc's halves the list down to one item, Go's stops at 12 items.
const HALVES: [(&str, usize); 3] = [("msort_with_tmp", 5), ("sort.pdqsort", 2), ("slices.pdqsort", 2)];
/// Go's stable sort merges blocks of 20 items that it has sorted.
const LONG_IN_GO: [&str; 2] = ["sort.symMerge", "slices.symMerge"];

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

/// Functions that make something new of a text or a value, which may be called by a sort itself if the comparison was inlined there.
const CONVERTS: [&str; 8] = [
    "<str>::to_lowercase",
    "<str>::to_uppercase",
    "alloc::str::<impl str>::to_lowercase",
    "alloc::str::<impl str>::to_uppercase",
    "alloc::fmt::format",
    "strings.ToLower",
    "strings.ToUpper",
    "fmt.Sprintf",
];

/// Whether a function with this demangled name makes something new of a text or a value.
pub fn converts(name: &str) -> bool {
    CONVERTS
        .iter()
        .any(|known| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")))
}

/// Whether a function with this demangled name is (a part of) a library's sort, which is given its comparison.
pub fn sorts(name: &str) -> bool {
    // The one makes each item's key once, and sorts then; the other looks for one item.
    if name.contains("sort_by_cached_key") || name.starts_with("core::slice::sort::select") {
        return false;
    }
    let template = |known: &&str| is_template(name, known);
    IN_C.contains(&name)
        || IN_CPP.iter().chain(&IN_LIBCXX).any(template)
        || IN_RUST.iter().any(|part| name.starts_with(part))
        || IN_GO.iter().any(|part| name.starts_with(part))
}

/// Whether a stack of functions that sort, innermost first, is that of a list of about 32 items or more.
pub fn sorts_many<'a>(names: impl Iterator<Item = &'a str> + Clone) -> bool {
    let halves =
        |(part, least): &(&str, usize)| names.clone().filter(|name| name.starts_with(part)).count() >= *least;
    let long = |name: &str| {
        LONG_IN_CPP.iter().any(|known| is_template(name, known))
            || name.starts_with("core::slice::sort::") && LONG_IN_RUST.iter().any(|part| name.contains(part))
            || name.starts_with("alloc::slice::merge_sort")
            || LONG_IN_GO.iter().any(|part| name.starts_with(part))
    };
    HALVES.iter().any(halves) || names.clone().any(long)
}

/// Whether a name is that of a function template, which stands behind the type that it returns: `void std::__introsort_loop<…>(…)`.
fn is_template(name: &str, known: &str) -> bool {
    name.match_indices(known).any(|(at, _)| {
        let behind = &name[at + known.len()..];
        (at == 0 || name[..at].ends_with(' ')) && (behind.starts_with('<') || behind.starts_with('('))
    })
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
            ("alloc::slice::<impl [T]>::sort_by", true),
            ("alloc::slice::<impl [T]>::sort_by_cached_key", false),
            ("sort.pdqsort_func", true),
            ("sort.Slice", false),
            ("slices.Sorted[go.shape.string]", false),
            ("core::slice::sort::select::partition_at_index", false),
            ("void std::__adjust_heap<Row*, Less>(Row*, long, long, Row, Less)", false),
            ("slices.pdqsortCmpFunc[go.shape.string]", true),
            ("main.sortRows", false),
            ("list_sort_impl", false),
        ] {
            assert_eq!(sorts(name), does, "{name}");
        }
    }

    #[test]
    fn short_lists_are_not_divided() {
        let many = |names: &[&str]| sorts_many(names.iter().copied());
        assert!(!many(&["msort_with_tmp"; 4]) && many(&["msort_with_tmp"; 5]));
        assert!(!many(&["sort.insertionSort_func", "sort.pdqsort_func"]));
        assert!(many(&["sort.insertionSort_func", "sort.pdqsort_func", "sort.pdqsort_func"]));
        assert!(many(&["void std::__introsort_loop<Row*, long, Less>(Row*, Row*, long, Less)"]));
        assert!(!many(&["void std::__insertion_sort<Row*, Less>(Row*, Row*, Less)"]));
        assert!(many(&["core::slice::sort::stable::quicksort::quicksort::<Row, F>"]));
        assert!(!many(&["core::slice::sort::shared::smallsort::insertion_sort_shift_left"]));
        assert!(!many(&["qsort_r"]) && many(&["slices.symMergeCmpFunc[go.shape.string]"]));
    }

    #[test]
    fn conversions_are_known_by_their_names() {
        for (name, does) in [
            ("<str>::to_lowercase", true),
            ("alloc::fmt::format::format_inner", true),
            ("alloc::fmt::formatter", false),
            ("alloc::vec::Vec<T>::with_capacity", false),
        ] {
            assert_eq!(converts(name), does, "{name}");
        }
    }

    #[test]
    fn values_are_read_by_the_c_library() {
        assert!(reads_a_value("strtod") && reads_a_value("strtod@plt") && !reads_a_value("strcmp"));
    }
}
