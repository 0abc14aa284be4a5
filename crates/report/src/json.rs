//! Findings as JSON, the form that programs read: `docs/findings-json.md` describes every field.
//!
//! The fields are those of the types in `slowpath_diagnose::findings`; this sees to it that every number is one, and
//! that every JSON of ours is safe to look at.

use crate::Shown;
use crate::escape;
use serde::Serialize;
use slowpath_diagnose::findings::{Findings, Series};

/// The findings as indented JSON with a line end.
///
/// JSON has no NaN and no infinity: facts without a finite value are left out, points of a series without finite x
/// and y likewise, a fit that is not finite at every point is left out whole, and such a share is 0.
pub fn json(findings: &Findings) -> Shown {
    Shown::made(&json_text(findings))
}

fn json_text(findings: &Findings) -> String {
    let mut findings = findings.clone();
    let recording = &mut findings.recording;
    for share in [&mut recording.sampled_share, &mut recording.complete_stacks_share] {
        make_finite(share);
    }
    for finding in &mut findings.findings {
        make_finite(&mut finding.share);
        finding.facts.retain(|fact| fact.value.is_finite());
        finding.series.iter_mut().for_each(keep_finite_points);
    }
    indented(&findings)
}

/// Indented JSON with a line end. A character that shows nothing, steers a terminal or changes the order of others is written
/// as `\u202e`, which means the same and cannot deceive who looks at the file.
pub(crate) fn indented(value: &impl Serialize) -> String {
    // Serializing plain structs to memory cannot fail; an empty object would break no reader if it did.
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| "{}".to_owned());
    let mut out = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Line ends are between the values: those in strings are escaped already, as all of ASCII's control characters but one.
        if c == '\n' || !escape::is_invisible(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out.push('\n');
    out
}

fn make_finite(share: &mut f64) {
    if !share.is_finite() {
        *share = 0.0;
    }
}

fn keep_finite_points(series: &mut Series) {
    let points = series.x.len().min(series.y.len());
    let keep: Vec<usize> =
        (0..points).filter(|i| series.x[*i].is_finite() && series.y[*i].is_finite()).collect();
    let fits = series.fit.len() >= points && keep.iter().all(|i| series.fit[*i].is_finite());
    let only = |values: &[f64]| keep.iter().map(|i| values[*i]).collect::<Vec<f64>>();
    series.fit = if fits { only(&series.fit) } else { Vec::new() };
    series.x = only(&series.x);
    series.y = only(&series.y);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_deceive_who_looks_is_escaped_and_means_the_same() {
        let values = [
            "\x1b[31m\n\t",
            "\x7f\u{9b}",
            "\u{202e}a\u{2066}\u{200f}\u{61c}",
            "\u{e0041}",
            "größe → \"x\" 😀",
        ];
        let text = indented(&values);
        assert!(text.chars().all(|c| c == '\n' || !escape::is_invisible(c)), "{text}");
        for escaped in [r"\u001b[31m\n\t", r"\u007f\u009b", r"\u202ea\u2066\u200f\u061c", r"\udb40\udc41"] {
            assert!(text.contains(escaped), "{escaped}: {text}");
        }
        assert!(text.contains(r#"größe → \"x\" 😀"#));
        assert_eq!(serde_json::from_str::<[String; 5]>(&text).unwrap(), values);
        assert!(text.starts_with("[\n  \"") && text.ends_with("\n]\n"));
    }
}
