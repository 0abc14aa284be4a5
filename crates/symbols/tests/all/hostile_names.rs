//! Names made to cost memory, time or the stack: they are shown cut.

use slowpath_symbols::demangle;

/// No name that is shown is longer, bytes.
const MOST: usize = 20_000;

/// `f(P<int, int>, P<P<int, int>, P<int, int>>, …)`: each argument is twice as long as the one before.
fn doubling(arguments: usize) -> String {
    let digit = |at: usize| char::from_digit(at as u32, 36).expect("a digit").to_ascii_uppercase();
    let more = (0..arguments).map(|at| format!("S_IS{0}_S{0}_E", digit(at)));
    format!("_Z1f1PIiiE{}", more.collect::<String>())
}

#[test]
fn a_short_name_that_stands_for_a_long_one_is_cut() {
    assert_eq!(demangle(&doubling(1)), "f(P<int, int>, P<P<int, int>, P<int, int> >)");
    for name in [doubling(34), "_RYFG_FGyyEvRYFF_EvRYFFEvERLB_B_B_ERLRjB_B_B_".to_owned()] {
        let shown = demangle(&name);
        assert!(shown.len() < MOST && shown.ends_with('…'), "{}: {shown:.100}", shown.len());
    }
    assert!(demangle(&doubling(34)).starts_with("f(P<int, int>, P<P<int, int>, "));
    assert!(demangle(&format!("{}@plt", doubling(34))).ends_with("…@plt"));
}

#[test]
fn a_long_name_is_cut() {
    for name in ["x", "ä", "_Z1f1A", "_ZN3foo3bar", ".cold", "@plt", "@"] {
        let shown = demangle(&name.repeat(1_000_000));
        assert!(shown.len() < MOST, "{name}: {}", shown.len());
    }
    assert!(demangle(&"x".repeat(1_000_000)).ends_with("x…"));
    assert_eq!(demangle(&"x".repeat(1_000)), "x".repeat(1_000));
}

#[test]
fn names_that_nest_do_not_take_the_stack() {
    for (start, nested, end) in [
        ("_Z1f", "P", "i"),
        ("_Z1f", "1PI", "i"),
        ("_Z", "N", "1aE"),
        ("_Z1fI", "X", ""),
        ("_Z1fDT", "cl", ""),
        ("_Z", "Z1fvE", "1g"),
        ("_ZN", "1aI", ""),
        ("_RMC0", "R", "i"),
        ("_RMC0", "T", "i"),
        ("_R", "INv", "C1a"),
        ("_R", "NvM", "C1a"),
    ] {
        for times in [100, 1_000, 10_000] {
            let shown = demangle(&format!("{start}{}{end}", nested.repeat(times)));
            assert!(shown.len() < 2 * MOST, "{start}{nested}: {}", shown.len());
        }
    }
}
