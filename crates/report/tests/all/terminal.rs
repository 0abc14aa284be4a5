//! What the terminal report shows, and that no text or width breaks it.

use crate::common::{assert_golden, certificates, empty, healthy, hostile, without_color};
use slowpath_diagnose::findings::{Basis, Confidence, Cost, Findings};
use slowpath_report::{Style, terminal};
use unicode_width::UnicodeWidthStr;

const PLAIN: Style = Style { color: false, width: 100, unicode: true };

fn every_style() -> impl Iterator<Item = Style> {
    let widths = (0..130).chain([1000, usize::MAX]);
    let signs = [(false, false), (false, true), (true, false), (true, true)];
    widths.flat_map(move |width| signs.map(|(color, unicode)| Style { color, width, unicode }))
}

fn plain(findings: &Findings) -> String {
    terminal(findings, &PLAIN).to_string()
}

#[test]
fn a_report_with_findings_reads_like_this() {
    assert_golden("findings.txt", &plain(&certificates()));
}

#[test]
fn a_report_in_colour_reads_like_this() {
    assert_golden("colour.txt", &terminal(&certificates(), &Style { color: true, ..PLAIN }));
}

#[test]
fn a_report_in_60_columns_of_ascii_reads_like_this() {
    assert_golden(
        "narrow-ascii.txt",
        &terminal(&certificates(), &Style { width: 60, unicode: false, ..PLAIN }),
    );
}

#[test]
fn a_report_without_findings_reads_like_this() {
    assert_golden("healthy.txt", &plain(&healthy()));
}

#[test]
fn a_gain_of_which_only_a_part_was_measured_is_given_as_the_least() {
    let mut findings = certificates();
    assert!(plain(&findings).contains("6.3 s CPU → about 0.21 s if this is fixed"));
    findings.findings.iter_mut().for_each(|finding| finding.gain_is_least = true);
    let said = plain(&findings);
    assert!(said.contains("6.3 s CPU → 0.21 s or less if this is fixed"), "{said}");
    assert!(said.contains("gain: at least 52 ms of 6.3 s wall if this is fixed"), "{said}");
}

#[test]
fn long_limitations_are_told_in_short_at_the_head_and_in_detail_at_the_end() {
    let mut findings = certificates();
    let long = |what: &str| {
        format!(
            "{what}, because of insufficient privileges: run with sudo, or allow it once with `sudo slowpath setup`. It took {}",
            "some time; ".repeat(5)
        )
    };
    findings.recording.degraded = vec![long("calls were counted (9.4 µs a hit)"), long("calls were traced")];
    let said = plain(&findings).split_whitespace().collect::<Vec<_>>().join(" ");
    let short = "limitations: calls were counted; calls were traced; lost: 12 samples. More can be seen with sudo, or after `sudo slowpath \
                 setup`. Details are at the end 1 work grows";
    assert!(said.contains(short), "{said}");
    let (_, end) = said.split_once("limitations in detail:").expect("the whole sentences are there");
    assert_eq!(end.matches("some time;").count(), 10);
    // What to do about it is said once.
    assert_eq!((end.matches("insufficient").count(), end.matches("slowpath setup").count()), (0, 1), "{end}");
    assert!(end.contains("the reason is missing privileges: run `sudo slowpath …`"), "{end}");
    // A line or two are shown where they belong.
    findings.recording.degraded.truncate(1);
    assert!(!plain(&findings).contains("in detail"));
}

#[test]
fn where_a_part_of_the_cost_stays_the_gain_says_so() {
    let mut findings = certificates();
    let gains = |gain_ns| Cost::Cpu { cost_ns: 3_000_000_000, gain_ns };
    findings.findings[0].cost = gains(2_690_000_000);
    let said = plain(&findings);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("about 3.6 s if this is fixed: 0.31 s of the 3.0 s would remain"), "{said}");
    findings.findings[0].cost = gains(2_710_000_000);
    assert!(!plain(&findings).contains("would remain"));
}

#[test]
fn what_tracing_took_is_left_out_of_the_elapsed_time() {
    let mut findings = certificates();
    findings.recording.undisturbed_wall_ns = 5_000_000_000;
    let said = plain(&findings);
    assert!(said.contains("wall 6.31 s (5.00 s without recording)"), "{said}");
    assert!(said.contains("of 5.0 s wall"), "{said}");
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    for findings in [certificates(), healthy(), hostile()] {
        let coloured = terminal(&findings, &Style { color: true, ..PLAIN });
        assert_ne!(coloured.to_string(), plain(&findings));
        assert_eq!(without_color(&coloured), plain(&findings));
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for style in every_style().filter(|style| style.width >= 40) {
        for findings in [certificates(), healthy(), empty()] {
            for line in without_color(&terminal(&findings, &style)).lines() {
                let is_command = line.contains("slowpath compare -- ");
                assert!(is_command || line.width() <= style.width, "{} columns: {line:?}", style.width);
            }
        }
    }
}

#[test]
fn no_text_and_no_number_makes_it_panic_or_steers_the_terminal() {
    for style in every_style() {
        for findings in [certificates(), healthy(), hostile(), empty()] {
            let text = without_color(&terminal(&findings, &style));
            let harmless = |c: char| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
            assert!(text.chars().all(harmless), "{text:?}");
            assert!(style.unicode || text.is_ascii(), "{text:?}");
            assert!(text.ends_with('\n') && text.lines().all(|line| !line.ends_with(' ')), "{text}");
        }
    }
}

#[test]
fn a_recording_that_is_cut_short_says_so_first() {
    let mut findings = certificates();
    findings.recording.cut_short = true;
    assert!(plain(&findings).starts_with("The recording is incomplete"));
}

#[test]
fn what_could_not_be_seen_is_said_at_the_head() {
    let text = plain(&certificates());
    let unseen = text.find("limitations: system calls were not traced").unwrap();
    assert!(text.contains("lost: 12 samples"));
    assert!(unseen < text.find("1  work grows").unwrap());
    assert!(!plain(&healthy()).contains("limitations:"));
}

#[test]
fn doubt_is_shown_and_certainty_is_not() {
    let mut findings = certificates();
    assert!(plain(&findings).contains("1  work grows with every call "));
    findings.findings[0].confidence = Confidence::Likely;
    assert!(plain(&findings).contains("1  likely: work grows with every call "));
    findings.findings[0].confidence = Confidence::Hint;
    assert!(plain(&findings).contains("1  hint: work grows with every call "));
}

#[test]
fn a_busy_program_without_findings_is_not_said_to_wait() {
    let mut findings = healthy();
    assert!(plain(&findings).contains(
        "For at least 5.9 s of the 6.3 s elapsed the program did not run: it waited, or no CPU was free."
    ));
    findings.recording.cpu_ns = 6_000_000_000;
    assert!(!plain(&findings).contains("did not run"));
}

#[test]
fn a_program_that_mostly_waits_is_said_to_even_if_something_else_was_found() {
    let mut findings = certificates();
    assert!(!plain(&findings).contains("not explained above"));
    // 6.27 s of CPU time.
    (findings.recording.wall_ns, findings.recording.undisturbed_wall_ns) = (60_000_000_000, 60_000_000_000);
    let text = plain(&findings).replace('\n', " ");
    assert!(
        text.contains("Much of the elapsed time is not explained above. For at least 53.7 s of the 60.0 s"),
        "{text}"
    );
    // Half of 53.7 s.
    let waits = |ns| {
        let mut findings = findings.clone();
        findings.findings[0].cost = Cost::new(Basis::Wall, ns, 0.0);
        findings.findings.truncate(1);
        plain(&findings).contains("not explained above")
    };
    assert!(waits(26e9) && !waits(27e9));
}

#[test]
fn calls_come_from_the_evidence_if_no_sentence_says_them() {
    let mut findings = certificates();
    findings.findings[0].explanation.remove(0);
    assert!(
        plain(&findings)
            .contains("rebuild_rdn_list (loader.c:112), called 142 times from add_ca_file (loader.c:160)\n")
    );
}

#[test]
fn the_command_to_prove_a_fix_is_quoted_and_shown_once() {
    let mut findings = certificates();
    findings.recording.command = vec!["./load".to_owned(), "my certs".to_owned()];
    let text = plain(&findings);
    assert_eq!(text.matches("slowpath compare -- \"./load 'my certs'\" '<fixed command>'").count(), 1);
    assert_eq!(text.matches("prove a fix:").count(), 1);
    assert!(!plain(&healthy()).contains("prove a fix:"));
}

#[test]
fn a_very_long_command_is_shortened() {
    let mut findings = certificates();
    findings.recording.command = (0..5000).map(|i| format!("file-{i}.o")).collect();
    let text = plain(&findings);
    assert!(text.lines().count() < 60, "{text}");
    assert!(text.contains("slowpath compare -- '<command above>' '<fixed command>'"));
}

#[test]
fn functions_of_one_or_two_samples_are_chance_and_not_shown() {
    let mut findings = healthy();
    findings.recording.samples = 10;
    findings.recording.cpu_ns = 10_000_000;
    findings.recording.undisturbed_wall_ns = 10_000_000;
    for (at, hot) in findings.hot.iter_mut().enumerate() {
        (hot.function, hot.self_ns) = (format!("row_{at}"), if at == 0 { 3_000_000 } else { 2_000_000 });
    }
    let text = plain(&findings);
    assert!(text.contains("row_0") && !text.contains("row_1"), "{text}");
    findings.hot.remove(0);
    let text = plain(&findings);
    assert!(
        text.contains("Too few samples to show where CPU time is spent") && !text.contains("row_"),
        "{text}"
    );
}

#[test]
fn where_hardly_any_cpu_time_is_used_there_is_no_table_of_it() {
    let mut findings = healthy();
    let shows = |findings: &Findings| plain(findings).contains("where CPU time is spent");
    findings.recording.undisturbed_wall_ns = 10 * findings.recording.cpu_ns;
    assert!(shows(&findings));
    findings.recording.undisturbed_wall_ns += 10;
    assert!(!shows(&findings));
    // Beside a cause of CPU time it is of interest.
    findings.findings = certificates().findings;
    assert!(shows(&findings));
}

#[test]
fn that_a_program_slept_for_most_of_the_time_is_said_first() {
    let mut findings = healthy();
    let elapsed = findings.recording.undisturbed_wall_ns;
    let first = |findings: &Findings| {
        let said = plain(findings).split_whitespace().collect::<Vec<_>>().join(" ");
        let after = said.split_once("stacks complete").map(|(_, after)| after.trim_start().to_owned());
        after.unwrap_or(said)
    };
    let wait = findings.leads.wait.as_mut().expect("there is one");
    (wait.asleep, wait.total_ns) = (true, elapsed / 2);
    let said = first(&findings);
    assert!(said.contains("Most of the time the program slept: load slept for"), "{said}");
    let order = |said: &str| {
        let at = |part: &str| said.find(part).unwrap_or(usize::MAX);
        at("Most of the time the program slept") < at("Apart from that, no known cause of slowness found")
    };
    assert!(order(&said), "{said}");
    let markdown = slowpath_report::markdown(&findings).to_string();
    assert!(markdown.contains("found\n\nMost of the time the program slept"), "{markdown}");
    findings.leads.wait.as_mut().expect("there is one").total_ns -= 1;
    let said = first(&findings);
    assert!(!said.contains("Most of the time the program slept"), "{said}");
    assert!(said.contains("The longest wait: load slept for"), "{said}");
    // The first thread sleeps while others compute.
    let wait = findings.leads.wait.as_mut().expect("there is one");
    wait.total_ns = elapsed;
    findings.recording.cpu_ns = elapsed;
    assert!(!first(&findings).contains("Most of the time the program slept"));
}
