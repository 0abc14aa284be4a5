//! What is said of a comparison: each verdict, failures, why; and that the page on the JSON names every field.

use slowpath_compare::Outcome;
use slowpath_compare::values::*;
use slowpath_report::{Style, comparison, comparison_json, comparison_markdown, difference};

fn run(wall_ns: u64) -> Run {
    Run { wall_ns, user_ns: wall_ns, sys_ns: 0, peak_memory_bytes: 15 << 20, exit: 0, output: None }
}

fn estimate(ratio: f64, low: f64, high: f64) -> Option<Estimate> {
    Some(Estimate { ratio, low, high, level: 0.99, p: 0.004, pairs: 9 })
}

fn made(verdict: Verdict, wall: Option<Estimate>) -> Comparison {
    let probe = Probe { cpu_ns: 1, memory_ns: 1 };
    let side =
        |name: &str, wall| Side { name: name.into(), command: format!("./{name} <x>"), median: run(wall) };
    Comparison {
        kind: "comparison",
        schema: SCHEMA,
        sides: [side("slow", 6_310_000_000), side("fixed", 53_000_000)],
        verdict,
        metric: "wall",
        indifferent: 0.02,
        wall,
        cpu: wall,
        disputed: false,
        pairs: vec![Pair {
            runs: [run(6_310_000_000), run(53_000_000)],
            first: 0,
            probes: [probe; 3],
            set_aside: false,
        }],
        machine: Machine {
            host: "h".into(),
            cpu: "c".into(),
            cpus: 2,
            load: [0.0; 2],
            steal: 0.0,
            mhz: [0.0; 2],
        },
        outcome: Outcome::None,
        failure: None,
        notes: Vec::new(),
        why: None,
    }
}

fn calls(count: u64) -> Calls {
    Calls { count, more: false }
}

fn why() -> Why {
    let known = |function: &str, cost_ns| Known {
        cause: "superlinear-work".into(),
        title: "work grows with every call".into(),
        function: function.into(),
        cost_ns,
        fingerprint: "f".into(),
    };
    Why {
        gone: vec![known("rebuild", [6_100_000_000, 0])],
        new: vec![known("other", [0, 50_000_000])],
        kept: vec![known("third", [90_000_000, 80_000_000])],
        functions: vec![Change {
            name: "_int_malloc".into(),
            module: "libc.so".into(),
            ns: [380_000_000, 2_000_000],
            calls: [None, None],
        }],
        calls: vec![
            ("get_raw_dn".to_owned(), [calls(51_302), calls(452)]).into(),
            ("next".to_owned(), [Calls { count: 1_000_000, more: true }, calls(7)]).into(),
        ],
        syscalls: vec![Change {
            name: "openat".into(),
            module: String::new(),
            ns: [190_000_000, 10_000],
            calls: [Some(143_048), Some(5)],
        }],
        cpu_ns: [6_200_000_000, 50_000_000],
        explained: 0.48,
    }
}

fn style() -> Style {
    Style { color: false, width: 100, unicode: true }
}

#[test]
fn each_verdict_has_its_sentence() {
    let said = |verdict, wall| comparison(&made(verdict, wall), &style());
    let text = said(Verdict::Faster, estimate(118.2, 115.1, 121.3));
    assert!(text.starts_with("fixed is 118× faster than slow (95 % interval 115–121, 9 pairs)\n"), "{text}");
    assert!(text.contains("wall 6.31 s → 53 ms"), "{text}");
    let text = said(Verdict::Slower, estimate(0.8, 0.75, 0.85));
    assert!(
        text.starts_with("fixed is 1.25× slower than slow (95 % interval 1.18–1.33, 9 pairs)\n"),
        "{text}"
    );
    let text = said(Verdict::Same, estimate(1.0, 0.99, 1.01));
    assert!(text.starts_with(
        "no difference larger than 2.0 % between slow and fixed (95 % interval of the ratio 0.99–1.01"
    ));
    let text = said(Verdict::Unknown, estimate(1.0, 0.9, 1.1));
    assert!(text.starts_with("cannot tell slow and fixed apart") && text.contains("would help"), "{text}");
    assert!(said(Verdict::Unknown, None).starts_with("cannot tell"));
}

#[test]
fn a_failure_is_no_verdict() {
    let failed = Comparison { failure: Some("slow exited with 1".into()), ..made(Verdict::Unknown, None) };
    assert!(comparison(&failed, &style()).starts_with("no verdict: slow exited with 1\n"));
    assert!(comparison_markdown(&failed).starts_with("**No verdict:** slow exited with 1\n"));
}

#[test]
fn why_names_what_is_gone_new_and_kept() {
    let text = comparison(
        &Comparison { why: Some(why()), ..made(Verdict::Faster, estimate(118.0, 115.0, 121.0)) },
        &style(),
    );
    for line in [
        "why: gone: work grows with every call, rebuild (6.1 s)",
        "new: work grows with every call, other (50 ms)",
        "still there: work grows with every call, third (90 ms → 80 ms)",
        "_int_malloc: 0.38 s → 2 ms",
        "openat: 0.19 s → 10 µs, 143,048 → 5 calls",
        "get_raw_dn 51,302 → 452",
        "next more than 1,000,000 → 7",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(difference(&why(), ["a", "b"], &style()).contains("not how much faster it is"));
}

#[test]
fn an_expectation_is_answered() {
    for (outcome, said) in [
        (Outcome::Met, "as expected"),
        (Outcome::Missed, "NOT as expected"),
        (Outcome::Unknown, "cannot decide"),
    ] {
        let text =
            comparison(&Comparison { outcome, ..made(Verdict::Faster, estimate(2.0, 1.9, 2.1)) }, &style());
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn markdown_has_a_table_and_harmless_names() {
    let text = comparison_markdown(&Comparison {
        why: Some(why()),
        ..made(Verdict::Faster, estimate(2.0, 1.9, 2.1))
    });
    assert!(text.contains("| wall | 6.31 s | 53 ms |"), "{text}");
    assert!(text.contains("`./slow <x>`"), "{text}");
}

#[test]
fn the_page_names_every_field_of_the_json() {
    let page = include_str!("../../../../docs/comparison-json.md");
    let full = Comparison { why: Some(why()), ..made(Verdict::Faster, estimate(2.0, 1.9, 2.1)) };
    let value: serde_json::Value = serde_json::from_str(&comparison_json(&full)).expect("JSON");
    let mut names = Vec::new();
    names_of(&value, &mut names);
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/comparison-json.md does not tell of {name}");
    }
}

fn names_of(value: &serde_json::Value, names: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            names.push(name.clone());
            names_of(value, names);
        }),
        serde_json::Value::Array(values) => values.iter().for_each(|value| names_of(value, names)),
        _ => {}
    }
}
