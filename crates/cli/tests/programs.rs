//! What slowpath says of small programs: those that have a cause, and those that are clean.

#![allow(clippy::print_stderr)] // what was missed is said

mod support;

use serde_json::Value;
use support::{json, may_count, one_at_a_time, program, scaled};

/// So often a program with a cause is recorded before it counts as missed. A clean one has to be silent at once.
const ATTEMPTS: u32 = 4;
/// Programs whose time is (about) linear in their scale.
const LINEAR: [&str; 37] = [
    "moved",
    "plans",
    "plans_anew",
    "messages",
    "messages_read",
    "hash_doubling",
    "sort",
    "recursion",
    "phases",
    "flat_cpp",
    "flat_rs",
    "flat_go",
    "matmul",
    "compress",
    "threads_pool",
    "cache_growth",
    "warmup",
    "random_sizes",
    "idle",
    "anew_flat",
    "refilled",
    "sorted_lazily",
    "sorted_folded",
    "nested_sizes",
    "searched_tree",
    "few_buckets",
    "more_buckets",
    "crowded",
    "spread",
    "picks",
    "picks_by_half",
    "blocked",
    "blocked_sorted",
    "queued",
    "queued_heap",
    "low_bits",
    "mixed_bits",
];

/// Its time there is quadratic in the scale where it has a cause, or where its items get bigger.
fn findings(name: &str, scale: f64) -> Vec<Value> {
    let quadratic = !LINEAR.contains(&name);
    let scale = &scaled(scale, if quadratic { 2.0 } else { 1.0 });
    let dir = tempfile::tempdir().expect("a folder");
    let path = program(name);
    let report = json(dir.path(), &[], &[path.to_str().expect("UTF-8"), scale]);
    report["findings"].as_array().expect("a list").clone()
}

/// Whether calls may be counted here and the program was built. Says SKIPPED where not.
fn may_run(name: &str) -> bool {
    let built = program(name).exists();
    if !built {
        eprintln!("SKIPPED {name}: its compiler is not here");
    }
    built && may_count(name)
}

/// The program has work that grows with every call, in a function whose name contains `guilty`, and nothing else.
fn finds(name: &str, guilty: &str) {
    finds_one(name, guilty, "superlinear-work", Some("repeated-scan"));
}

/// The same with any cause.
fn finds_cause(name: &str, guilty: &str, cause: &str) {
    finds_one(name, guilty, cause, None);
}

/// `also`: a cause that is true as well, of what goes through the same items each time, and is what a recording shows in which few samples tell of the
/// rest of the work. Once in so many attempts the first one must be found.
fn finds_one(name: &str, guilty: &str, cause: &str, also: Option<&str>) {
    let _one = one_at_a_time();
    if !may_run(name) {
        return;
    }
    // Causes are detected from samples, which chance and a busy machine can blur: a miss is reported, and tried again. What is found
    // must be right each time.
    let mut found = false;
    for attempt in 1..=ATTEMPTS {
        let findings = findings(name, 1.3);
        if let [finding] = &findings[..] {
            let function = finding["function"].as_str().expect("a name");
            assert!(function.contains(guilty), "{name}: {function}");
            let share = finding["share"].as_f64().expect("a number");
            assert!((0.3..=1.0).contains(&share), "{name}: {share}");
            found = finding["cause"] == cause;
            assert!(found || also.is_some_and(|also| finding["cause"] == also), "{name}: {finding:#?}");
        } else {
            assert!(findings.is_empty(), "{name}: {findings:#?}");
        }
        if found {
            break;
        }
        eprintln!("MISSED {name} in attempt {attempt}");
    }
    assert!(found, "{name}: not found in {ATTEMPTS} attempts");
}

/// The program is clean.
fn silent(name: &str) {
    let _one = one_at_a_time();
    if !may_run(name) {
        return;
    }
    let findings = findings(name, 1.0);
    assert!(findings.is_empty(), "{name}: {findings:#?}");
}

/// The program has one cause, in one function, whose gain is such a share of its elapsed or CPU time; and none with another second argument.
fn finds_unless(
    name: &str,
    cause: &str,
    function: &str,
    (of, share): (&str, std::ops::RangeInclusive<f64>),
    clean: &[&str],
) {
    let _one = one_at_a_time();
    if !may_run(name) {
        return;
    }
    let path = program(name);
    let path = path.to_str().expect("UTF-8");
    let dir = tempfile::tempdir().expect("a folder");
    let mut found = None;
    for attempt in 1..=ATTEMPTS {
        let report = json(dir.path(), &[], &[path, "1"]);
        let whole = report["recording"][of].as_f64().expect("a number");
        match &report["findings"].as_array().expect("a list")[..] {
            [] => eprintln!("MISSED {name} in attempt {attempt}"),
            [one] => found = Some((one.clone(), whole)),
            more => panic!("{name}: {more:#?}"),
        }
        if found.is_some() {
            break;
        }
    }
    let (finding, whole) = found.unwrap_or_else(|| panic!("{name}: not found in {ATTEMPTS} attempts"));
    assert_eq!((&finding["cause"], &finding["function"]), (&cause.into(), &function.into()));
    let gain = finding["gain_ns"].as_f64().expect("a number") / whole;
    assert!(share.contains(&gain), "{gain}");
    for clean in clean {
        let report = json(dir.path(), &[], &[path, "1", clean]);
        assert_eq!(report["findings"].as_array().expect("a list").len(), 0, "{clean}: {report:#}");
    }
}

/// With BPF, and in the same program where it waits for a condition, beside a thread that has its own reasons to sleep and look.
#[test]
fn a_thread_that_looks_for_what_another_one_hands_it_and_sleeps_is_found() {
    finds_unless("unnoticed", "waiting", "await_job", ("wall_ns", 0.15..=1.0), &["clean", "paced"]);
}

/// With BPF, and in the same program where what is written to a pipe tells the server to end, and where servers end by themselves.
#[test]
fn a_server_that_looks_only_now_and_then_whether_it_is_to_end_is_found() {
    finds_unless("stops_late", "waiting", "serve", ("wall_ns", 0.4..=1.0), &["woken", "own"]);
}

/// With BPF and samples by it: the loop must be hot.
#[test]
fn a_thread_that_waits_in_a_loop_without_sleeping_is_found() {
    finds_unless("spins", "busy-wait", "await_result", ("cpu_ns", 0.2..=0.7), &["clean", "brief"]);
}

/// With BPF.
#[test]
fn a_question_that_repeats_the_one_before_is_found() {
    finds_unless(
        "asks_twice",
        "redundant-file-access",
        "size_of",
        ("cpu_ns", 0.2..=0.55),
        &["clean", "links"],
    );
}

/// With BPF. How long a fork copies hangs on the machine; that most of starting up is copying does not.
#[test]
fn a_large_process_that_is_copied_for_each_operation_is_found() {
    let _one = one_at_a_time();
    if !may_run("forks_large") {
        return;
    }
    let path = program("forks_large");
    let path = path.to_str().expect("UTF-8");
    let dir = tempfile::tempdir().expect("a folder");
    let report = json(dir.path(), &[], &[path]);
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["cause"], &finding["function"]),
        (&"process-per-operation".into(), &"start_by_fork".into())
    );
    assert!(finding["title"].as_str().expect("a text").contains("copied"), "{finding:#}");
    let report = json(dir.path(), &[], &[path, "spawn"]);
    let copied = |finding: &Value| finding["title"].as_str().expect("a text").contains("copied");
    assert!(!report["findings"].as_array().expect("a list").iter().any(copied), "{report:#}");
    // A copy that executes nothing, and one that works for longer than copying takes.
    let report = json(dir.path(), &[], &[path, "itself"]);
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["cause"], &finding["function"]),
        (&"process-per-operation".into(), &"start_itself".into())
    );
    let report = json(dir.path(), &[], &[path, "long"]);
    assert_eq!(report["findings"].as_array().expect("a list").len(), 0, "{report:#}");
}

macro_rules! tests {
    ($($test:ident: $check:ident($($argument:expr),*);)*) => { $(#[test] fn $test() { $check($($argument),*); })* };
}

tests! {
    a_rising_cost_is_found: finds("rising", "name_list_insert");
    a_falling_cost_is_found: finds("falling", "queue_take");
    growth_that_starts_over_with_each_document_is_found: finds("anew", "document_append");
    growth_in_a_library_is_found: finds("in_library", "unique_add");
    growth_in_a_library_loaded_later_is_found: finds("in_library_dlopen", "unique_add");
    growth_in_a_forked_child_is_found: finds("in_child", "name_list_insert");
    growth_in_a_program_that_a_child_executes_is_found: finds("in_exec", "name_list_insert");
    growth_in_one_of_several_threads_is_found: finds("in_thread", "name_list_insert");
    growth_in_cpp_is_found: finds("rising_cpp", "Registry::add");
    growth_in_rust_is_found: finds("rising_rs", "UniqueNames::add");
    growth_in_go_is_found: finds("rising_go", "add");
    growth_that_was_inlined_into_main_is_told_of_what_was_inlined: finds("inlined", "is_known");
    a_loop_in_functions_that_call_each_other_is_found: finds("columns", "parse_term");
    the_largest_of_all_so_far_for_each_block_is_found: finds("peaks", "take_block");
    a_list_that_moves_to_new_memory_for_each_item_is_found: finds_cause("moved", "move_items", "superlinear-work");
    whoever_has_the_c_library_scan_is_guilty: finds("strcat_build", "append_line");

    keys_that_a_sort_makes_again_are_found: finds_cause("sorted_folded", "by_folded_name", "redundant-computation");

    sizes_that_are_added_up_at_each_level_are_found: finds_cause("nested_sizes", "box_size", "redundant-computation");

    a_plan_that_is_made_for_each_order_is_found: finds_cause("plans", "make_plan", "redundant-computation");
    a_plan_of_rules_that_change_is_clean: silent("plans_anew");

    messages_that_nobody_reads_are_found: finds_cause("messages", "log_debug", "costly-call-per-operation");
    messages_that_are_read_are_clean: silent("messages_read");

    a_hash_table_with_too_few_buckets_is_found: finds_cause("few_buckets", "find_word", "repeated-scan");
    a_hash_table_in_which_neighbours_pile_up_is_found: finds_cause("crowded", "find_page", "repeated-scan");
    sums_that_are_added_up_from_the_first_item_on_are_found: finds_cause("picks", "pick", "repeated-scan");
    a_search_whose_loop_begins_where_its_function_does_is_found: finds_cause("blocked", "is_blocked", "repeated-scan");
    a_list_in_order_that_is_gone_along_for_each_event_is_found: finds_cause("queued", "event_put", "repeated-scan");
    a_heap_is_clean: silent("queued_heap");
    a_hash_whose_low_bits_are_zero_is_found: finds_cause("low_bits", "owner", "repeated-scan");
    a_hash_that_mixes_all_bits_is_clean: silent("mixed_bits");
    a_binary_search_in_a_list_is_clean: silent("blocked_sorted");
    a_binary_search_in_a_table_of_sums_is_clean: silent("picks_by_half");
    a_hash_of_all_bits_is_clean: silent("spread");
    a_hash_table_that_grows_is_clean: silent("more_buckets");

    searching_and_measuring_one_tree_is_clean: silent("searched_tree");
    keys_that_a_sort_makes_once_are_clean: silent("sorted_lazily");
    a_doubling_hash_table_is_clean: silent("hash_doubling");
    hash_tables_built_again_and_again_are_clean: silent("anew_flat");
    a_buffer_that_is_filled_anew_for_each_search_is_clean: silent("refilled");
    sorting_is_clean: silent("sort");
    recursion_is_clean: silent("recursion");
    phases_are_clean: silent("phases");
    maps_in_cpp_are_clean: silent("flat_cpp");
    flat_rust_is_clean: silent("flat_rs");
    go_with_its_collector_is_clean: silent("flat_go");
    a_matrix_product_is_clean: silent("matmul");
    compressing_is_clean: silent("compress");
    a_pool_of_threads_is_clean: silent("threads_pool");
    a_tree_that_outgrows_the_caches_is_clean: silent("cache_growth");
    warm_up_is_clean: silent("warmup");
    items_of_random_size_are_clean: silent("random_sizes");
    items_sorted_by_size_are_clean: silent("sizes");
    an_idle_program_is_clean: silent("idle");
}

#[test]
fn items_that_simply_get_bigger_are_at_most_a_hint() {
    let _one = one_at_a_time();
    if !may_count("bigger_items") {
        return;
    }
    for finding in findings("bigger_items", 1.0) {
        assert_eq!(finding["confidence"], "hint", "{finding:#?}");
    }
}
