//! Findings as Markdown, to be put into an issue, a review or a build's summary.
//!
//! GitHub's dialect: tables and collapsed sections. Everything from the recorded program stands in code spans or is
//! escaped, so that a function called `<script>` or `a|b` is only a name.

use crate::Shown;
use crate::escape::{cell_code, code, prose};
use crate::sparkline::sparkline;
use crate::{escape, path, phrases, units};
use slowpath_diagnose::findings::{Fact, Finding, Findings, Frame, RecordingSummary, Sure};

/// Hot functions in the collapsed table.
const HOT: usize = 20;
/// Columns of a sparkline.
const BARS: usize = 40;

/// The report as Markdown. Ends with a line end.
pub fn markdown(findings: &Findings) -> Shown {
    Shown::made(&markdown_text(findings))
}

fn markdown_text(findings: &Findings) -> String {
    let recording = &findings.recording;
    let mut blocks = vec![format!("# slowpath: {}", command(recording))];
    if recording.cut_short {
        blocks.push(format!("**{}**", phrases::CUT_SHORT));
    }
    blocks.push(run(recording));
    let unseen = phrases::unseen(recording);
    if !unseen.is_empty() {
        blocks.push("Limitations:".to_owned());
        blocks.push(list(unseen.iter().map(|sentence| prose(sentence))));
    }
    for (i, finding) in findings.findings.iter().enumerate() {
        cause(&mut blocks, i + 1, finding, recording);
    }
    let legend = phrases::legend(findings);
    if !legend.is_empty() {
        blocks.push(list(legend.into_iter().map(|(word, means)| prose(&format!("{word}: {means}")))));
    }
    if findings.findings.is_empty() {
        blocks.push(format!("## {}", phrases::NOTHING_FOUND.trim_end_matches('.')));
        let is_heading =
            |said: &String| said == phrases::NOTHING_FOUND || said == phrases::NOTHING_ELSE_FOUND;
        let said = phrases::nothing_found(findings).into_iter().filter(|said| !is_heading(said));
        blocks.extend(said.map(|said| prose(&said)));
    }
    blocks.extend(phrases::not_explained(findings).into_iter().map(|said| prose(&said)));
    if !findings.notes.is_empty() {
        blocks.push("Notes:".to_owned());
        blocks.push(list(findings.notes.iter().map(|note| prose(note))));
    }
    if phrases::shows_hot(findings) {
        blocks.push(hot(findings));
    }
    if !findings.findings.is_empty() && !recording.command.is_empty() {
        let old = escape::shell_word(&escape::shell_command(&recording.command, true), true);
        blocks
            .push(format!("Prove a fix: {}", code(&format!("slowpath compare -- {old} '<fixed command>'"))));
    }
    let mut text = blocks.join("\n\n");
    text.push('\n');
    text
}

fn command(recording: &RecordingSummary) -> String {
    code(&escape::shell_command(&recording.command, true))
}

fn run(recording: &RecordingSummary) -> String {
    let mut rows: Vec<Vec<String>> = phrases::run_facts(recording)
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), prose(&value)])
        .collect();
    rows.push(vec!["samples".to_owned(), prose(&phrases::coverage(recording))]);
    rows.push(vec!["recording".to_owned(), cell_code(&recording.id)]);
    table(&["run", ""], &[], rows)
}

fn cause(blocks: &mut Vec<String>, number: usize, finding: &Finding, recording: &RecordingSummary) {
    let title = prose(&phrases::title(finding));
    blocks.push(format!("## {number}. {title}: {}", prose(&phrases::cost(finding, recording))));
    let called = phrases::called(finding).map_or(String::new(), |called| format!(", {}", prose(&called)));
    let guilty = located(&finding.place.frame);
    blocks.push(format!("{guilty}{called}"));
    if !finding.explanation.is_empty() {
        blocks.push(list(finding.explanation.iter().map(|sentence| prose(sentence))));
    }
    if !finding.files.is_empty() {
        blocks.push("Files:".to_owned());
        blocks.push(list(finding.files.iter().map(|file| code(&file.path))));
    }
    blocks.extend(series(finding));
    if !finding.facts.is_empty() {
        blocks.push(facts(&finding.facts));
    }
    let steps = path::steps(&finding.place.path);
    if steps.len() > 1 {
        blocks.push("Call path, outermost first:".to_owned());
        blocks.push(list(steps.iter().map(|step| {
            let times = if step.times > 1 {
                format!(", ×{}", units::count(step.times as u64))
            } else {
                String::new()
            };
            format!("{}{times}", located(step.frame))
        })));
    }
    if let Some(gain) = phrases::gain(finding, recording) {
        blocks.push(format!("**Gain:** {}", prose(&gain)));
    }
    if !finding.advice.is_empty() {
        blocks.push(format!("**Fix:** {}", prose(&finding.advice)));
    }
    blocks.push(format!("**More:** {}", code(&phrases::more(finding))));
}

/// A function and where it is: `` `f` (`loader.c:112`, `slow`) ``.
fn located(frame: &Frame) -> String {
    let Frame { function, module, file, line, .. } = frame;
    let known = phrases::place(file.as_deref(), *line)
        .into_iter()
        .chain((!module.is_empty()).then(|| module.to_owned()));
    let known: Vec<String> = known.map(|part| code(&part)).collect();
    if known.is_empty() { code(function) } else { format!("{} ({})", code(function), known.join(", ")) }
}

fn series(finding: &Finding) -> Option<String> {
    let series = finding.series.first()?;
    let line = sparkline(series, BARS, true)?;
    let end = |y| prose(&units::quantity(y, &series.y_unit));
    Some(format!("{}: {} {} → {}", prose(&series.name), code(&line.bars), end(line.first), end(line.last)))
}

fn facts(facts: &[Fact]) -> String {
    let sure = |fact: &Fact| match fact.sure {
        Sure::Exact => "exact",
        Sure::Sampled => "sampled",
        Sure::Fitted => "fitted",
    };
    let row = |fact: &Fact| {
        let value = units::quantity(fact.value, &fact.unit);
        vec![prose(&fact.name), prose(&value), prose(&fact.source), sure(fact).to_owned()]
    };
    table(&["evidence", "value", "source", "certainty"], &[1], facts.iter().map(row).collect())
}

fn hot(findings: &Findings) -> String {
    let rows = phrases::hot_rows(findings, HOT);
    if rows.is_empty() {
        return phrases::TOO_SHORT.to_owned();
    }
    let rows = rows.into_iter().map(|hot| {
        let [own, share, total] = phrases::hot_costs(hot, &findings.recording);
        vec![
            own,
            prose(&share),
            total,
            cell_code(&hot.function),
            phrases::place(hot.file.as_deref(), hot.line).map_or(String::new(), |place| cell_code(&place)),
            cell_code(&hot.module),
        ]
    });
    let heads = ["self", "share", "total", "function", "where", "module"];
    let table = table(&heads, &[0, 1, 2], rows.collect());
    format!(
        "<details>\n<summary>{}</summary>\n\n{table}\n\n</details>",
        phrases::hot_head(&findings.recording)
    )
}

fn table(heads: &[&str], to_the_right: &[usize], rows: Vec<Vec<String>>) -> String {
    let rule = (0..heads.len()).map(|i| if to_the_right.contains(&i) { "--:" } else { "---" });
    let mut lines =
        vec![format!("| {} |", heads.join(" | ")), format!("| {} |", rule.collect::<Vec<_>>().join(" | "))];
    lines.extend(rows.iter().map(|cells| format!("| {} |", cells.join(" | "))));
    lines.join("\n")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
