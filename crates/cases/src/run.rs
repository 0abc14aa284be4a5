//! Builds and runs cases, and the table of results.

use crate::{Case, Error, Scale, all};
use comfy_table::Table;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// So often a slow program is recorded before its cause counts as missed: where growth is seen from samples, a run whose samples others disturb may not
/// show it. What is found has to be right each time, and a fixed version silent at once.
const ATTEMPTS: usize = 3;
/// How long the two programs of a case are timed at most, s. They are timed until it is clear which is faster, mostly for less than a minute; on a slow machine
/// a pair of the longest case (samba) takes 18 s, of which three do not show it.
const TIME_LIMIT_S: &str = "150";

/// What `slowpath compare` says of a case's two programs, by the time that counts for its cause.
struct Proof {
    /// Median time of each, ns.
    ns: [f64; 2],
    /// Slow over fixed, and its interval; none if no pair was complete.
    ratio: Option<[f64; 3]>,
    /// Why it is no proof.
    wrong: Option<String>,
}

/// Builds and runs the cases named (or `all`), and returns a table of them with what is not as expected below it, and whether each was as expected: the cause
/// found in the slow program at the right function, nothing in the fixed one, which is shown to be faster, with the same output if so stated.
pub fn run(gallery: &Path, names: &[String], slowpath: &Path) -> Result<(String, bool), Error> {
    let cases = all(gallery)?;
    let everything = names.iter().any(|name| name == "all");
    for name in names.iter().filter(|name| *name != "all") {
        if !cases.iter().any(|case| case.name == *name) {
            return Err(Error::Unknown { name: name.clone(), gallery: gallery.to_owned() });
        }
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "case",
        "cause found",
        "where",
        "time",
        "slow",
        "fixed",
        "ratio",
        "gain: predicted, actual",
        "verdict",
    ]);
    let (mut unexpected, mut missed) = (String::new(), String::new());
    for case in cases.iter().filter(|case| everything || names.contains(&case.name)) {
        build(case)?;
        let (slow, whole_ns) = found_in_slow(case, slowpath, &mut missed)?;
        let (fixed, _) = findings(case, &case.fixed, slowpath)?;
        let (wrong, cause, place) = verdict(case, &slow, &fixed);
        let found = slow.iter().find(|finding| finding["cause"] == case.cause.as_str());
        let basis = if found.is_some_and(|finding| finding["basis"] == "wall") { "wall" } else { "cpu" };
        let proof = proof(case, basis, slowpath, [&slow, &fixed], &mut missed)?;
        // As shares of the run: recorded runs and bare ones take different times.
        let run_ns = whole_ns[usize::from(basis == "wall")];
        let told = found.filter(|_| run_ns > 0.0).map(|one| one["gain_ns"].as_f64().unwrap_or(0.0) / run_ns);
        let had = 1.0 - proof.ns[1] / proof.ns[0].max(1.0);
        let gains = told.map_or(String::new(), |told| format!("{:.0} %, {:.0} %", 100.0 * told, 100.0 * had));
        let wrong = wrong.or(proof.wrong);
        // Below the table as well: it is long, and a log may show no more than its end.
        if let Some(wrong) = &wrong {
            unexpected.push_str(&format!("NOT as expected: {}: {wrong}\n", case.name));
        }
        table.add_row([
            case.name.clone(),
            cause,
            place,
            basis.to_owned(),
            seconds(proof.ns[0]),
            seconds(proof.ns[1]),
            proof.ratio.map_or(String::new(), ratio),
            gains,
            wrong.unwrap_or_else(|| "as expected".to_owned()),
        ]);
    }
    let whole = unexpected.is_empty();
    Ok((format!("{table}\n{missed}{unexpected}"), whole))
}

/// The findings of a case's slow program and its times, of the first of several runs in which there is one. Each run without is noted in `missed`.
fn found_in_slow(case: &Case, slowpath: &Path, missed: &mut String) -> Result<(Vec<Value>, [f64; 2]), Error> {
    let mut attempt = 1;
    loop {
        let (found, whole_ns) = findings(case, &case.slow, slowpath)?;
        if !found.is_empty() || attempt == ATTEMPTS {
            return Ok((found, whole_ns));
        }
        missed.push_str(&format!("MISSED {} in attempt {attempt}: no finding\n", case.name));
        attempt += 1;
    }
}

/// 88× (85–91), 1.2× (1.1–1.3)
fn ratio([ratio, low, high]: [f64; 3]) -> String {
    let digits = |value: f64| if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") };
    format!("{}× ({}–{})", digits(ratio), digits(low), digits(high))
}

fn seconds(ns: f64) -> String {
    if ns < 1e8 { format!("{:.0} ms", ns / 1e6) } else { format!("{:.2} s", ns / 1e9) }
}

/// What is not as expected, if anything, and the cause and place that were found.
fn verdict(case: &Case, slow: &[Value], fixed: &[Value]) -> (Option<String>, String, String) {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let of_cause = || slow.iter().filter(|finding| text(finding, "cause") == case.cause);
    let is_right =
        |function: &String| *function == case.expect.function || case.expect.or_functions.contains(function);
    let found = of_cause().find(|finding| is_right(&text(finding, "function"))).or(of_cause().next());
    let cause = found.map_or("none".to_owned(), |finding| {
        format!("{} ({})", text(finding, "cause"), text(finding, "confidence"))
    });
    let place = found.map(|finding| text(finding, "function")).unwrap_or_default();
    let explained = found.map(|finding| finding["explanation"].to_string()).unwrap_or_default();
    let wrong = if found.is_none() {
        Some("the cause was not found".to_owned())
    } else if !is_right(&place) {
        Some(format!("the wrong function was reported; expected {}", case.expect.function))
    } else if let Some(unsaid) = case.expect.says.iter().find(|word| !explained.contains(word.as_str())) {
        Some(format!("the explanation does not mention {unsaid}"))
    } else {
        fixed.first().map(|finding| {
            let (cause, place, why) =
                (text(finding, "cause"), text(finding, "function"), &finding["explanation"]);
            format!(
                "the fixed program has a finding: {cause} in {place}: {}",
                why[0].as_str().unwrap_or_default()
            )
        })
    };
    (wrong, cause, place)
}

fn build(case: &Case) -> Result<(), Error> {
    let packages = match case.packages.as_slice() {
        [] => String::new(),
        names => format!(". It needs the packages {}", names.join(" ")),
    };
    let failed = |why: String| Error::Build { name: case.name.clone(), why, packages: packages.clone() };
    let (program, arguments) =
        case.build.split_first().ok_or_else(|| failed("case.toml has no build command".to_owned()))?;
    let output =
        Command::new(program).args(arguments).current_dir(&case.folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(format!("{program}: {error}")))?;
    if output.status.success() { Ok(()) } else { Err(failed(tail(&output.stderr))) }
}

fn arguments(case: &Case) -> Vec<String> {
    let folder = case.folder.to_string_lossy();
    case.args.iter().map(|word| word.replace("{case}", &folder)).collect()
}

/// What slowpath finds in a program of a case, and the CPU time and the elapsed time of the run, ns.
fn findings(case: &Case, program: &Path, slowpath: &Path) -> Result<(Vec<Value>, [f64; 2]), Error> {
    let failed = |why: String| Error::Run { name: case.name.clone(), why };
    let path = case.folder.join(program);
    let text = match &case.scale {
        Some(scale) => scaled(case, scale, &path, slowpath),
        None => recorded(case, &path, &arguments(case), slowpath),
    };
    let mut json: Value =
        serde_json::from_slice(&text.map_err(&failed)?).map_err(|error| failed(error.to_string()))?;
    let ns = |name: &str| json["recording"][name].as_f64().unwrap_or(0.0);
    let whole = [ns("cpu_ns"), ns("wall_ns")];
    match json["findings"].take() {
        Value::Array(findings) => Ok((findings, whole)),
        _ => Err(failed("the report has no list of findings".to_owned())),
    }
}

/// Times both programs bare in pairs, as a user would. What its reasons miss once is noted in `missed`. What that names as the reason must be what was found in each alone.
fn proof(
    case: &Case,
    basis: &str,
    slowpath: &Path,
    alone: [&[Value]; 2],
    missed: &mut String,
) -> Result<Proof, Error> {
    let json = compared(case, basis, slowpath)?;
    let time = |side: usize| {
        let median = &json["sides"][side]["median"];
        let ns = |name: &str| median[name].as_f64().unwrap_or_default();
        if basis == "wall" { ns("wall_ns") } else { ns("user_ns") + ns("sys_ns") }
    };
    let estimate = |name: &str| json[basis][name].as_f64();
    let ratio = estimate("ratio").zip(estimate("low")).zip(estimate("high"));
    let wrong = match (json["failure"].as_str(), json["verdict"].as_str()) {
        (Some(why), _) => Some(why.to_owned()),
        (None, Some("faster")) if case.scale.is_none() => {
            // As a single run may miss what is near its threshold, so may the one of each side that gives the reasons.
            let mut wrong = unlike(case, slowpath, &json["why"], alone)?;
            for attempt in 1..ATTEMPTS {
                let Some(why) = &wrong else { break };
                missed.push_str(&format!("MISSED {} in comparison {attempt}: {why}\n", case.name));
                let again = compared(case, basis, slowpath)?;
                wrong = unlike(case, slowpath, &again["why"], alone)?;
            }
            wrong
        }
        (None, Some("faster")) => None,
        (None, _) => Some("the fixed program was not shown to be faster".to_owned()),
    };
    Ok(Proof { ns: [time(0), time(1)], ratio: ratio.map(|((ratio, low), high)| [ratio, low, high]), wrong })
}

/// What `slowpath compare` says of both programs, as JSON.
fn compared(case: &Case, basis: &str, slowpath: &Path) -> Result<Value, Error> {
    let failed = |why: String| Error::Run { name: case.name.clone(), why };
    let json = case.folder.join("build/comparison.json");
    let side = |program: &Path| {
        let words = [case.folder.join(program).to_string_lossy().into_owned()];
        shell_words::join(words.into_iter().chain(arguments(case)))
    };
    let mut command = Command::new(slowpath);
    command
        .args(["compare", "--no-shell", "--time-limit", TIME_LIMIT_S, "--export-json"])
        .arg(&json)
        .arg("--dir")
        .arg(case.folder.join("build/recordings"));
    if case.scale.is_some() {
        command.arg("--no-why"); // it takes several sizes, and compare runs one
    }
    if basis == "cpu" {
        command.arg("--cpu");
    }
    if case.expect.same_output {
        command.arg("--same-output");
    }
    let command = command.arg("--").args([side(&case.slow), side(&case.fixed)]);
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    let text = std::fs::read(&json).map_err(|_| failed(tail(&output.stderr)))?;
    serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))
}

/// Further runs of a program by itself, where the first and a comparison differ: what is near its threshold is found in some runs only.
const AGAIN: usize = 3;

/// What a comparison's reasons say otherwise than all runs of a side by itself.
fn unlike(
    case: &Case,
    slowpath: &Path,
    why: &Value,
    [slow, fixed]: [&[Value]; 2],
) -> Result<Option<String>, Error> {
    let list = |name: &str| why[name].as_array().cloned().unwrap_or_default();
    let sides = [
        ("slow", &case.slow, slow, [list("gone"), list("kept")].concat()),
        ("fixed", &case.fixed, fixed, [list("new"), list("kept")].concat()),
    ];
    for (side, program, alone, compared) in sides {
        let compared = prints(&compared);
        let mut runs = vec![prints(alone)];
        loop {
            let other = always_unlike(&runs, &compared);
            if let Some(other) = other.filter(|_| runs.len() > AGAIN) {
                let alone = &runs[0];
                return Ok(Some(format!(
                    "for the {side} program, compare finds {compared:?} and a single run finds {alone:?}; they differ in {other}, in {} \
                     single runs",
                    runs.len()
                )));
            } else if other.is_none() {
                break;
            }
            runs.push(prints(&findings(case, program, slowpath)?.0));
        }
    }
    Ok(None)
}

fn prints(findings: &[Value]) -> BTreeSet<String> {
    findings.iter().map(|one| one["fingerprint"].as_str().unwrap_or_default().to_owned()).collect()
}

/// A finding that all of `runs` have and `compared` has not, or the other way round.
fn always_unlike<'a>(runs: &'a [BTreeSet<String>], compared: &'a BTreeSet<String>) -> Option<&'a String> {
    let has = |of: &BTreeSet<String>, print: &String| of.contains(print);
    let mut all = runs.iter().flatten().chain(compared);
    all.find(|print| runs.iter().all(|run| has(run, print) != has(compared, print)))
}

/// The JSON of a recorded run.
fn recorded(case: &Case, program: &Path, arguments: &[String], slowpath: &Path) -> Result<Vec<u8>, String> {
    let json = case.folder.join("build/findings.json");
    let mut command = Command::new(slowpath);
    command.args(["--json", "--dir"]).arg(case.folder.join("build/recordings")).arg("--output").arg(&json);
    run_one(command.arg("--").arg(program).args(arguments))?;
    std::fs::read(json).map_err(|error| error.to_string())
}

/// The JSON of runs at several sizes.
fn scaled(case: &Case, scale: &Scale, program: &Path, slowpath: &Path) -> Result<Vec<u8>, String> {
    let sizes: Vec<String> = scale.sizes.iter().map(u32::to_string).collect();
    let mut command = Command::new(slowpath);
    command.args(["scale", "--json", "--dir"]).arg(case.folder.join("build/recordings"));
    command.args(["-L", &format!("n={}", sizes.join(","))]);
    command.args(["--calls", &scale.calls.to_string(), "--used", &scale.used.to_string()]);
    command.args(["--limit", &scale.limit, "--"]).arg(program).args(&scale.args);
    Ok(run_one(&mut command)?.stdout)
}

fn run_one(command: &mut Command) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        Ok(output)
    } else {
        Err(format!("{name} ended with {}: {}", output.status, tail(&output.stderr)))
    }
}

/// The last lines of what a program said.
fn tail(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_all_runs_say_otherwise_is_a_difference() {
        let set = |prints: &[&str]| prints.iter().map(|print| (*print).to_owned()).collect::<BTreeSet<_>>();
        let unlike = |runs: &[&[&str]], compared: &[&str]| {
            let runs: Vec<_> = runs.iter().map(|run| set(run)).collect();
            always_unlike(&runs, &set(compared)).cloned()
        };
        assert_eq!(unlike(&[&["a"]], &["a"]), None);
        assert_eq!(unlike(&[&["a", "b"]], &["a"]).as_deref(), Some("b"));
        assert_eq!(unlike(&[&["a", "b"], &["a"]], &["a"]), None);
        assert_eq!(unlike(&[&["a"], &["a"]], &["a", "b"]).as_deref(), Some("b"));
        assert_eq!(unlike(&[&["a"], &["a", "b"]], &["a", "b"]), None);
    }
}
