//! Findings as JSON, the form that programs read: `docs/findings-json.md` describes every field.
//!
//! The fields are those of the types in `slowpath_diagnose::findings`; this only sees to it that every number is one.

use slowpath_diagnose::findings::{Findings, Series};

/// The findings as indented JSON with a line end.
///
/// JSON has no NaN and no infinity: facts without a finite value are left out, points of a series without finite x
/// and y likewise, a fit that is not finite at every point is left out whole, and such a share is 0.
pub fn json(findings: &Findings) -> String {
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
    // Serializing plain structs to memory cannot fail; an empty object would break no reader if it did.
    let mut text = serde_json::to_string_pretty(&findings).unwrap_or_else(|_| "{}".to_owned());
    text.push('\n');
    text
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
