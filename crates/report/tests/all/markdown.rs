//! What the Markdown report shows, and that names from the program stay names.

use crate::common::{assert_golden, certificates, empty, healthy, hostile};
use slowpath_report::markdown;

#[test]
fn a_report_with_findings_reads_like_this() {
    assert_golden("findings.md", &markdown(&certificates()));
}

#[test]
fn a_report_without_findings_reads_like_this() {
    assert_golden("healthy.md", &markdown(&healthy()));
}

#[test]
fn nothing_at_all_is_a_report_too() {
    assert!(markdown(&empty()).contains("No known cause of slowness found"));
}

/// `line` without its code spans, as CommonMark pairs them: a run of backticks ends at the next of equal length.
fn outside_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`') {
        if rest[..at].ends_with('\\') {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        let fence = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        out.push_str(&rest[..at]);
        let body = &rest[at + fence..];
        let mut from = 0;
        let end = loop {
            let open = from + body[from..].find('`').expect("a code span ends on its line");
            let run = body[open..].len() - body[open..].trim_start_matches('`').len();
            if run == fence {
                break open + run;
            }
            from = open + run;
        };
        rest = &body[end..];
    }
    out + rest
}

#[test]
fn hostile_names_are_inert() {
    let text = markdown(&hostile());
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    assert!(!text.contains('\u{202e}'));
    for line in text.lines() {
        let outside = outside_code(line);
        for live in ["<script", "https://", "@me"] {
            assert!(!outside.contains(live), "{live} is live in: {line}");
        }
    }
}

#[test]
fn every_row_of_a_table_has_as_many_cells_as_its_head() {
    let text = markdown(&hostile());
    let mut head = None;
    for line in text.lines() {
        // A bar cuts a table wherever it stands, so none of a name's may be left.
        let bars = line.starts_with('|').then(|| line.matches('|').count());
        if let (Some(head), Some(bars)) = (head, bars) {
            assert_eq!(bars, head, "{line}");
        }
        head = bars;
    }
}
