//! Findings to render, realistic and hostile, and how golden files are compared.
#![allow(dead_code)] // each test file uses its part

use slowpath_diagnose::findings::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a run of a program that loads certificates says.
pub fn certificates() -> Findings {
    let command = ["cases/gnutls/build/slow", "/etc/ssl/certs"];
    Findings {
        kind: "findings",
        schema: SCHEMA,
        recording: RecordingSummary {
            id: "2026-03-01T12-00-00-load".to_owned(),
            command: command.map(str::to_owned).to_vec(),
            wall_ns: 6_310_000_000,
            undisturbed_wall_ns: 6_310_000_000,
            user_ns: 6_250_000_000,
            sys_ns: 20_000_000,
            exit: Some(0),
            samples: 6_240,
            sampled_share: 0.992,
            tracing_ns: 0,
            cpu_ns: 6_270_000_000,
            tracing_wall_ns: 0,
            complete_stacks_share: 1.0,
            degraded: vec![
                "system calls were not traced: no right to load BPF programs. Run as root, or give slowpath \
                 CAP_BPF and CAP_PERFMON"
                    .to_owned(),
            ],
            lost: BTreeMap::from([("samples".to_owned(), 12)]),
            cut_short: false,
            runs: 1,
            instructions: None,
        },
        findings: vec![rebuilding(), reading()],
        hot: hot(),
        leads: Leads {
            busiest: Some(Busiest {
                function: frame("load_folder", Some("/src/loader.c"), Some(40)),
                total_ns: 6_200_000_000,
                share: 0.99,
            }),
            busy_loop: Some(BusyLoop {
                function: frame("find_rdn", Some("/src/loader.c"), Some(112)),
                total_ns: 6_100_000_000,
                share: 0.97,
                rounds: 1_240.5,
                again: true,
            }),
            wait: Some(Wait {
                program: "load".to_owned(),
                call: "connect".to_owned(),
                asleep: false,
                file: Some("192.0.2.1:53".to_owned()),
                calls: 3,
                total_ns: 2_000_000_000,
                function: Some(frame("ask", Some("/src/names.c"), Some(7))),
            }),
        },
        notes: vec!["no symbols for libtasn1.so.6: stripped, and no debug file of its build-id".to_owned()],
    }
}

fn frame(function: &str, file: Option<&str>, line: Option<u32>) -> Frame {
    Frame {
        function_id: Some(7),
        function: function.to_owned(),
        module: "slow".to_owned(),
        file: file.map(str::to_owned),
        line,
    }
}

fn fact(name: &str, value: f64, unit: &str, source: &str, sure: Sure) -> Fact {
    Fact { name: name.to_owned(), value, unit: unit.to_owned(), source: source.to_owned(), sure }
}

fn cause(slug: &str) -> Cause {
    slowpath_diagnose::causes::named(slug).expect("it is one").cause()
}

fn rebuilding() -> Finding {
    let calls: Vec<f64> = (0..24).map(|i| f64::from(i) * 5.9 + 3.5).collect();
    let cost: Vec<f64> = calls.iter().map(|k| k * 430_000.0).collect();
    Finding {
        cause: cause("superlinear-work"),
        title: "work grows with every call".to_owned(),
        confidence: Confidence::Certain,
        variant: "rising",
        cost: Cost::Cpu { cost_ns: 6_090_000_000, gain_ns: 6_060_000_000 },
        share: 0.971,
        calls: Some(Calls { count: 142, sure: Sure::Exact }),
        related: vec![frame("get_raw_dn", Some("loader.c"), Some(71))],
        place: Place::at_end_of(vec![
            Frame { module: "libc.so.6".to_owned(), ..frame("__libc_start_main_impl", None, None) },
            frame("main", Some("main.c"), Some(31)),
            frame("load_dir", Some("loader.c"), Some(188)),
            frame("add_ca_file", Some("loader.c"), Some(160)),
            frame("rebuild_rdn_list", Some("loader.c"), Some(112)),
        ], || unreachable!("the path is not empty")),
        files: Vec::new(),
        explanation: vec![
            "the k-th call makes 2.0·k calls to get_raw_dn (R² 1.000), so the total cost grows as n²".to_owned(),
            "the other work in load_dir does not grow (second half of the calls: 1.1× the first half), so the input \
             is not growing"
                .to_owned(),
            "twice the input takes four times as long".to_owned(),
        ],
        facts: vec![
            fact("calls in all", 142.0, "calls", "probe", Sure::Exact),
            fact("cost of the last calls", 60_600_000.0, "ns", "samples", Sure::Fitted),
            fact("last quarter over first quarter", 6.87, "ratio", "samples", Sure::Sampled),
            fact("R² of the growth", 0.998, "1", "fit", Sure::Fitted),
        ],
        series: vec![Series {
            name: "cost of a call".to_owned(),
            x_label: "call number of rebuild_rdn_list".to_owned(),
            y_label: "cost of the call".to_owned(),
            y_unit: "ns".to_owned(),
            fit: cost.clone(),
            x: calls,
            y: cost,
        }],
        advice: "Make rebuild_rdn_list process only its own item: keep the result of earlier calls and add to it, or \
                 use a hash table or sorted index, instead of going through all earlier items on each call"
            .to_owned(),
        gain_is_least: false,
        fingerprint: "superlinear-work|program|rebuild_rdn_list|rising".to_owned(),
    }
}

fn reading() -> Finding {
    Finding {
        cause: cause("redundant-file-access"),
        title: "one file is read again and again".to_owned(),
        confidence: Confidence::Likely,
        variant: "content",
        cost: Cost::Wall { cost_ns: 52_000_000, gain_ns: 51_600_000 },
        share: 0.0082,
        place: Place {
            frame: Frame {
                module: "libcerts.so.4".to_owned(),
                ..frame(
                    "certs::x509::policy_table<certs::x509::Strict, std::allocator<char>>::reload",
                    None,
                    None,
                )
            },
            path: Vec::new(),
        },
        calls: None,
        related: Vec::new(),
        files: vec![Concerned { path: "/etc/ssl/policy.cnf".to_owned(), ids: vec![3, 5] }],
        explanation: vec![
            "opened, read and closed 142 times, unchanged".to_owned(),
            "not known: whether the program must notice at once if the file changes".to_owned(),
        ],
        facts: Vec::new(),
        series: Vec::new(),
        advice: "Read it once and cache the contents, or look it up only when the result is used".to_owned(),
        gain_is_least: false,
        fingerprint: "redundant-file-access|libcerts.so.4|reload|content".to_owned(),
    }
}

fn hot() -> Vec<Hot> {
    let hot = |function: &str, module: &str, file: Option<(&str, u32)>, self_ms: u64, total_ms: u64| Hot {
        function_id: 7,
        function: function.to_owned(),
        module: module.to_owned(),
        file: file.map(|(file, _)| file.to_owned()),
        line: file.map(|(_, line)| line),
        self_ns: self_ms * 1_000_000,
        total_ns: total_ms * 1_000_000,
        self_instructions: None,
        total_instructions: None,
        asked_by: module.starts_with("libc.so").then(|| "get_raw_dn".to_owned()),
    };
    vec![
        hot("get_raw_dn", "slow", Some(("loader.c", 71)), 3_310, 5_820),
        hot("__memcpy_avx_unaligned_erms", "libc.so.6", None, 1_480, 1_480),
        hot("malloc", "libc.so.6", None, 920, 920),
        hot("rebuild_rdn_list", "slow", Some(("loader.c", 112)), 270, 6_090),
        hot("std::vector<certs::x509::Name>::_M_realloc_insert", "libcerts.so.4", None, 61, 140),
        hot("asn1_der_decoding2", "libtasn1.so.6", None, 23, 40),
    ]
}

/// A program with nothing wrong that mostly waits.
pub fn healthy() -> Findings {
    let mut findings = certificates();
    findings.findings.clear();
    findings.notes.clear();
    findings.recording.degraded.clear();
    findings.recording.lost.clear();
    (findings.recording.user_ns, findings.recording.sys_ns) = (400_000_000, 20_000_000);
    findings.recording.cpu_ns = 420_000_000;
    findings.hot.truncate(2);
    findings
        .hot
        .iter_mut()
        .for_each(|hot| (hot.self_ns, hot.total_ns) = (hot.self_ns / 20, hot.total_ns / 20));
    findings
}

/// Text that would steer a terminal, leave a code span, or close a tag.
pub const HOSTILE: &str =
    "\x1b]0;owned\x07\x1b[2J\r\n<script>alert(1)</script> a|b `c` ``\u{202e}\u{9b}31m @me https://x.y";

/// Every text hostile, every number at its limit.
pub fn hostile() -> Findings {
    let mut findings = certificates();
    let text = || HOSTILE.to_owned();
    let recording = &mut findings.recording;
    recording.id = text();
    recording.command = vec![text(), text()];
    recording.degraded = vec![text()];
    recording.lost = BTreeMap::from([(text(), u64::MAX)]);
    (recording.user_ns, recording.sys_ns, recording.wall_ns) = (u64::MAX, u64::MAX, u64::MAX);
    recording.undisturbed_wall_ns = u64::MAX;
    recording.cpu_ns = u64::MAX;
    (recording.sampled_share, recording.complete_stacks_share) = (f64::NAN, f64::INFINITY);
    (recording.exit, recording.runs) = (Some(i32::MIN), u32::MAX);
    recording.cut_short = true;
    findings.notes = vec![text(), String::new()];
    for hot in &mut findings.hot {
        (hot.function, hot.module, hot.file, hot.line) = (text(), text(), Some(text()), Some(u32::MAX));
        (hot.self_ns, hot.total_ns) = (u64::MAX, 0);
    }
    for finding in &mut findings.findings {
        let frame = Frame {
            function_id: Some(u32::MAX),
            function: text(),
            module: text(),
            file: Some(text()),
            line: None,
        };
        (finding.title, finding.advice, finding.fingerprint) = (text(), text(), text());
        finding.explanation = vec![text(), String::new()];
        finding.files = vec![Concerned { path: text(), ids: vec![u32::MAX] }; 5];
        finding.place =
            Place { frame: Frame { line: finding.place.frame.line, ..frame.clone() }, path: vec![frame; 3] };
        (finding.share, finding.cost) = (f64::NAN, Cost::Cpu { cost_ns: u64::MAX, gain_ns: 1 });
        for value in [f64::NAN, f64::INFINITY, f64::MIN] {
            finding.facts.push(Fact { name: text(), value, unit: text(), source: text(), sure: Sure::Exact });
        }
        let (x, y) = (vec![0.0, f64::NAN, 2.0, f64::MAX], vec![f64::MAX, 1.0, f64::MIN, 0.0]);
        let (name, x_label, y_label, y_unit) = (text(), text(), text(), text());
        finding.series.insert(0, Series { name, x_label, y_label, y_unit, x, y, fit: vec![f64::NAN; 4] });
    }
    findings
}

/// Nothing at all.
pub fn empty() -> Findings {
    let mut findings = healthy();
    findings.hot.clear();
    let recording = &mut findings.recording;
    recording.command.clear();
    (recording.wall_ns, recording.user_ns, recording.sys_ns, recording.samples) = (0, 0, 0, 0);
    recording.undisturbed_wall_ns = 0;
    recording.cpu_ns = 0;
    recording.exit = None;
    findings
}

/// `text` without ANSI colours.
pub fn without_color(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        out.push_str(before);
        rest = after.split_once('m').expect("a colour ends with m").1;
    }
    out + rest
}

/// Compares with the file under `tests/golden`; `UPDATE_GOLDEN=1` rewrites it. Escapes show as `\e`.
pub fn assert_golden(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = text.replace('\x1b', "\\e");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("write the golden file");
    }
    let golden = std::fs::read_to_string(&path).expect("read the golden file");
    assert!(golden == text, "{name} differs; UPDATE_GOLDEN=1 accepts what is rendered now:\n{text}");
}
