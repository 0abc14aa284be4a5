//! Findings as text for a terminal: what ran, what could not be seen, each cause, where the time goes.
//!
//! Decides what is said and in which order. Wording shared with Markdown is in `phrases`, the table of hot
//! functions in `hot`, colours and indents in `ink`.

use crate::Shown;
use crate::ink::{COST, FAINT, GAIN, Ink, LABEL, PLAIN, STRONG, WARNING};
use crate::layout::{columns, elide_middle, glued, wrap};
use crate::sparkline::sparkline;
use crate::{Style, escape, hot, names, path, phrases, units};
use slowpath_diagnose::findings::{Finding, Findings, RecordingSummary};

/// Hot functions shown beside findings, and where there are none.
const HOT_BESIDE: usize = 5;
const HOT_ALONE: usize = 8;
/// Columns of a sparkline.
const BARS: usize = 40;
/// Lines of the command at the head; the rest of it is only counted.
const COMMAND_LINES: usize = 4;
/// Files of a finding that are named.
const FILES: usize = 3;
/// A longer command is not repeated at the end.
const LONGEST_PROOF: usize = 600;
/// Columns before the text of a finding.
const INDENT: usize = 3;

/// The report for a terminal of `style`. Ends with a line end. Text from the recorded program is made harmless:
/// control characters and invisible ones are spelled out.
pub fn terminal(findings: &Findings, style: &Style) -> Shown {
    Shown::made(&terminal_text(findings, style))
}

fn terminal_text(findings: &Findings, style: &Style) -> String {
    let mut ink = Ink::new(style);
    head(&mut ink, &findings.recording);
    for (i, finding) in findings.findings.iter().enumerate() {
        ink.line("");
        cause(&mut ink, i + 1, finding, &findings.recording);
    }
    legend(&mut ink, findings);
    if findings.findings.is_empty() {
        ink.line("");
        for (number, said) in phrases::nothing_found(findings).iter().enumerate() {
            let said = ink.sentence(said);
            ink.prose(0, &said, if number == 0 { STRONG } else { PLAIN });
        }
    }
    for (number, said) in phrases::not_explained(findings).iter().enumerate() {
        if number == 0 {
            ink.line("");
        }
        let said = ink.sentence(said);
        ink.prose(0, &said, PLAIN);
    }
    notes(&mut ink, findings);
    if phrases::shows_hot(findings) {
        ink.line("");
        let most = if findings.findings.is_empty() { HOT_ALONE } else { HOT_BESIDE };
        let rows = phrases::hot_rows(findings, most);
        if rows.is_empty() {
            ink.prose(0, phrases::TOO_SHORT, PLAIN);
        } else {
            ink.prose(0, phrases::hot_head(&findings.recording), PLAIN);
            hot::table(&mut ink, findings, &rows);
        }
    }
    details_of_limitations(&mut ink, &findings.recording);
    if !findings.findings.is_empty() {
        proof(&mut ink, &findings.recording);
    }
    ink.out
}

fn head(ink: &mut Ink<'_>, recording: &RecordingSummary) {
    if recording.cut_short {
        ink.prose(0, phrases::CUT_SHORT, WARNING);
    }
    command(ink, recording);
    let facts = phrases::run_facts(recording);
    let failed = recording.exit.is_some_and(|code| code != 0);
    let mut line = String::new();
    let mut taken = 0;
    for (name, value) in facts {
        let width = columns(name) + 1 + columns(&value);
        if taken > 0 && 2 + taken + 3 + width > ink.measure() {
            ink.line(&format!("  {line}"));
            (line, taken) = (String::new(), 0);
        }
        if taken > 0 {
            line.push_str("   ");
            taken += 3;
        }
        let paint = if name == "exit" && failed { WARNING } else { STRONG };
        line.push_str(&format!("{name} {}", ink.paint(paint, &ink.clean(&value))));
        taken += width;
    }
    ink.line(&format!("  {line}"));
    ink.prose(2, &phrases::coverage(recording), FAINT);
    let unseen = phrases::unseen(recording);
    let short = phrases::unseen_in_short(&unseen).map(|short| vec![short]);
    for (i, unseen) in short.unwrap_or(unseen).iter().enumerate() {
        let unseen = ink.sentence(unseen);
        let label = if i == 0 { "limitations:" } else { "            " };
        if i == 0 || columns(label) + 2 <= ink.measure() / 3 {
            ink.labelled(2, label, &unseen, (WARNING, PLAIN));
        } else {
            ink.prose(4, &unseen, PLAIN);
        }
    }
}

/// Those that were only told in short at the head.
fn details_of_limitations(ink: &mut Ink<'_>, recording: &RecordingSummary) {
    let unseen = phrases::unseen(recording);
    if phrases::unseen_in_short(&unseen).is_none() {
        return;
    }
    ink.line("");
    ink.prose(0, "limitations in detail:", LABEL);
    for unseen in phrases::unseen_in_detail(&unseen) {
        let unseen = ink.sentence(&unseen);
        ink.item(2, &unseen);
    }
}

fn command(ink: &mut Ink<'_>, recording: &RecordingSummary) {
    const NAME: &str = "slowpath  ";
    let words: Vec<String> =
        recording.command.iter().map(|word| glued(&escape::shell_word(word, ink.style.unicode))).collect();
    let room = ink.measure().saturating_sub(NAME.len());
    let lines = wrap(&words.join(" "), room, room);
    let name = ink.paint(LABEL, NAME.trim_end());
    for (i, line) in lines.iter().take(COMMAND_LINES).enumerate() {
        let line = ink.paint(STRONG, line);
        let line = if i == 0 { format!("{name}  {line}") } else { format!("{:1$}{line}", "", NAME.len()) };
        ink.line(&line);
    }
    let hidden = lines.len().saturating_sub(COMMAND_LINES);
    if hidden > 0 {
        let more = format!("{} {} more", ink.mark(), units::counted(hidden as u64, "line"));
        ink.prose(NAME.len(), &more, FAINT);
    }
}

fn cause(ink: &mut Ink<'_>, number: usize, finding: &Finding, recording: &RecordingSummary) {
    title(ink, number, finding, recording);
    guilty(ink, finding, phrases::called(finding));
    for sentence in &finding.explanation {
        let sentence = ink.sentence(sentence);
        ink.item(INDENT, &sentence);
    }
    files(ink, finding);
    bars(ink, finding);
    let steps = path::steps(&finding.place.path);
    if steps.len() > 1 {
        let room = ink.measure().saturating_sub(INDENT + "path: ".len());
        let chain = path::fitted_chain(&steps, |step| step_name(ink, step), (ink.arrow(), ink.mark()), room);
        ink.labelled(INDENT, "path:", &glued(&chain), (LABEL, PLAIN));
    }
    if let Some(gain) = phrases::gain(finding, recording) {
        let gain = ink.clean(&gain);
        ink.labelled(INDENT, "gain:", &gain, (LABEL, GAIN));
    }
    if !finding.advice.is_empty() {
        let advice = ink.sentence(&finding.advice);
        ink.labelled(INDENT, "fix:", &advice, (LABEL, PLAIN));
    }
    ink.labelled(INDENT, "more:", &phrases::more(finding), (LABEL, FAINT));
}

/// What the words before titles mean.
fn legend(ink: &mut Ink<'_>, findings: &Findings) {
    for (number, (word, means)) in phrases::legend(findings).into_iter().enumerate() {
        if number == 0 {
            ink.line("");
        }
        ink.labelled(0, &format!("{word}:"), means, (LABEL, PLAIN));
    }
}

/// The title at the left and the cost at the right, or under each other.
fn title(ink: &mut Ink<'_>, number: usize, finding: &Finding, recording: &RecordingSummary) {
    let title = ink.sentence(&phrases::title(finding));
    let cost = ink.clean(&phrases::cost(finding, recording));
    let number = format!("{number:<width$}", width = INDENT - 1);
    let taken = columns(&number) + 1 + columns(&title);
    let between = ink.measure().saturating_sub(taken + columns(&cost));
    if between >= 2 {
        let line = format!(
            "{} {}{:between$}{}",
            ink.paint(LABEL, &number),
            ink.paint(STRONG, &title),
            "",
            ink.paint(COST, &cost)
        );
        ink.line(&line);
    } else {
        ink.labelled(0, &number, &title, (LABEL, STRONG));
        ink.prose(INDENT, &cost, COST);
    }
}

/// `rebuild_rdn_list (loader.c:112), called 142 times from add_ca_file (loader.c:160)`
fn guilty(ink: &mut Ink<'_>, finding: &Finding, called: Option<String>) {
    let room = ink.measure().saturating_sub(INDENT);
    let frame = &finding.place.frame;
    let full = ink.clean(&frame.function);
    let function = names::fitted(&full, room.clamp(8, names::IN_A_SENTENCE), ink.mark());
    let place = |file: Option<&str>| {
        ink.clean(&match phrases::place(file, frame.line) {
            Some(place) => format!("({place})"),
            None if frame.module.is_empty() => String::new(),
            None => format!("(in {})", phrases::base_name(&frame.module)),
        })
    };
    let called = called.map_or(String::new(), |called| ink.sentence(&format!(", {called}")));
    // The whole path of the file is worth more than its name alone, if there is room for it.
    let file = frame.file.as_deref();
    let whole = place(file);
    let whole_fits = columns(&function) + 1 + columns(&whole) + columns(&called) <= room;
    let place = if whole_fits { whole } else { place(file.map(phrases::base_name)) };
    let rest = format!("{}{}", glued(&place), called);
    // Wrapped as a whole, then painted: the name is the first word and stays in one piece.
    let text = format!("{}{}{rest}", glued(&function), if place.is_empty() { "" } else { " " });
    for line in wrap(&text, room, room) {
        let line = match line.strip_prefix(function.as_str()) {
            Some(rest) => format!("{}{rest}", ink.paint(STRONG, &function)),
            None => line,
        };
        ink.line(&format!("{:INDENT$}{line}", ""));
    }
}

fn files(ink: &mut Ink<'_>, finding: &Finding) {
    if finding.files.is_empty() {
        return;
    }
    let mut names: Vec<String> =
        finding.files.iter().take(FILES).map(|file| glued(&ink.clean(&file.path))).collect();
    let more = finding.files.len().saturating_sub(FILES);
    if more > 0 {
        names.push(format!("and {} more", units::count(more as u64)));
    }
    let label = if finding.files.len() == 1 { "file:" } else { "files:" };
    ink.labelled(INDENT, label, &names.join(", "), (LABEL, PLAIN));
}

/// The first series as a line of bars: `cost of a call  ▁▂▄▆█  0.4 ms → 61 ms`.
fn bars(ink: &mut Ink<'_>, finding: &Finding) {
    let Some(series) = finding.series.first() else { return };
    let draw = |columns| sparkline(series, columns, ink.style.unicode);
    let Some(line) = draw(BARS) else { return };
    let name = elide_middle(&ink.sentence(&series.name), ink.measure() / 2, ink.mark());
    let ends = |first, last| {
        let end = |y| units::quantity(y, &series.y_unit);
        ink.clean(&format!("{}{}{}", end(first), ink.arrow(), end(last)))
    };
    let taken = INDENT + columns(&name) + 2 + 2 + columns(&ends(line.first, line.last));
    let room = ink.measure().saturating_sub(taken);
    // Too narrow for bars that say anything: the two ends alone.
    let line = if room >= BARS { Some(line) } else { draw(room).filter(|_| room >= 8) };
    let text = match line {
        Some(line) => format!("{}  {}", ink.paint(COST, &line.bars), ends(line.first, line.last)),
        None => match draw(BARS) {
            Some(line) => ends(line.first, line.last),
            None => return,
        },
    };
    let name = ink.paint(LABEL, &name);
    ink.line(&format!("{:INDENT$}{name}  {text}", ""));
}

fn step_name(ink: &Ink<'_>, step: &path::Step<'_>) -> String {
    let name = ink.clean(&step.frame.function);
    match step.times {
        1 => name,
        times => format!("{name} {}", ink.clean(&format!("(×{})", units::count(times as u64)))),
    }
}

fn notes(ink: &mut Ink<'_>, findings: &Findings) {
    if !findings.notes.is_empty() {
        ink.line("");
    }
    for note in &findings.notes {
        let note = ink.sentence(note);
        ink.labelled(0, "note:", &note, (LABEL, PLAIN));
    }
}

/// A command as one word of another; in double quotes where single ones are in it and nothing that these would change.
fn one_word(command: &str, unicode: bool) -> String {
    if command.contains('\'') && !command.contains(['"', '$', '`', '\\', '!']) {
        format!("\"{command}\"")
    } else {
        escape::shell_word(command, unicode)
    }
}

/// The command that shows whether a fix worked. Never wrapped, so that it can be copied. None for a program that had not ended: a
/// server may never end by itself.
fn proof(ink: &mut Ink<'_>, recording: &RecordingSummary) {
    if recording.command.is_empty() || recording.exit.is_none() {
        return;
    }
    let old = escape::shell_command(&recording.command, ink.style.unicode);
    let old = if old.len() > LONGEST_PROOF {
        "'<command above>'".to_owned()
    } else {
        one_word(&old, ink.style.unicode)
    };
    let label = "prove a fix:";
    let command = format!("slowpath compare -- {old} '<fixed command>'");
    let fits = columns(label) + 1 + columns(&command) <= ink.measure();
    let (label, command) = (ink.paint(LABEL, label), ink.paint(STRONG, &command));
    ink.line("");
    ink.line(&format!("{label}{}{command}", if fits { " " } else { "\n  " }));
}
