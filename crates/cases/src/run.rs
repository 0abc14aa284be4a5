//! Builds and runs cases, and the table that tells how they went.

use crate::{Case, Error, Scale, all};
use comfy_table::Table;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// How one program of a case went.
struct Side {
    /// CPU and elapsed time of the bare program, s.
    cpu_s: f64,
    wall_s: f64,
    stdout: Vec<u8>,
    /// Findings of its recording.
    findings: Vec<Value>,
}

impl Side {
    /// The time that counts for a cause.
    fn took(&self, basis: &str) -> f64 {
        if basis == "wall" { self.wall_s } else { self.cpu_s }
    }
}

/// Builds and runs the cases named (or `all`), and returns a table of them, and whether each was as expected: the cause
/// found in the slow program at the right function, nothing in the mended one, the same output if so stated.
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
    table.set_header(["case", "cause found", "where", "time", "slow", "mended", "ratio", "verdict"]);
    let mut whole = true;
    for case in cases.iter().filter(|case| everything || names.contains(&case.name)) {
        build(case)?;
        let slow = side(case, &case.slow, slowpath)?;
        let fixed = side(case, &case.fixed, slowpath)?;
        let (verdict, cause, place) = verdict(case, &slow, &fixed);
        let found = slow.findings.iter().find(|finding| finding["cause"] == case.cause.as_str());
        let basis = if found.is_some_and(|finding| finding["basis"] == "wall") { "wall" } else { "cpu" };
        whole &= verdict.is_none();
        table.add_row([
            case.name.clone(),
            cause,
            place,
            basis.to_owned(),
            format!("{:.2} s", slow.took(basis)),
            format!("{:.2} s", fixed.took(basis)),
            ratio(slow.took(basis) / fixed.took(basis).max(1e-3)),
            verdict.unwrap_or_else(|| "as expected".to_owned()),
        ]);
    }
    Ok((format!("{table}\n"), whole))
}

/// A ratio as people read it: 88×, 1.2×.
fn ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}×") } else { format!("{ratio:.0}×") }
}

/// What is not as expected, if anything, and the cause and place that were found.
fn verdict(case: &Case, slow: &Side, fixed: &Side) -> (Option<String>, String, String) {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let of_cause = || slow.findings.iter().filter(|finding| text(finding, "cause") == case.cause);
    let found =
        of_cause().find(|finding| text(finding, "function") == case.expect.function).or(of_cause().next());
    let cause = found.map_or("none".to_owned(), |finding| {
        format!("{} ({})", text(finding, "cause"), text(finding, "confidence"))
    });
    let place = found.map(|finding| text(finding, "function")).unwrap_or_default();
    let explained = found.map(|finding| finding["explanation"].to_string()).unwrap_or_default();
    let wrong = if found.is_none() {
        Some("the cause was not found".to_owned())
    } else if place != case.expect.function {
        Some(format!("the guilty function is {}", case.expect.function))
    } else if let Some(unsaid) = case.expect.says.iter().find(|word| !explained.contains(word.as_str())) {
        Some(format!("it does not say {unsaid}"))
    } else if let Some(finding) = fixed.findings.first() {
        Some(format!("the mended program is said to have {}", text(finding, "cause")))
    } else if case.expect.same_output && slow.stdout != fixed.stdout {
        Some("the two programs print different things".to_owned())
    } else {
        None
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
        case.build.split_first().ok_or_else(|| failed("case.toml names no build".to_owned()))?;
    let output =
        Command::new(program).args(arguments).current_dir(&case.folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(format!("{program}: {error}")))?;
    if output.status.success() { Ok(()) } else { Err(failed(tail(&output.stderr))) }
}

fn side(case: &Case, program: &Path, slowpath: &Path) -> Result<Side, Error> {
    let failed = |why: String| Error::Run { name: case.name.clone(), why };
    let path = case.folder.join(program);
    // Timed bare: a recorded run would be charged for the recording.
    let folder = case.folder.to_string_lossy();
    let arguments: Vec<String> = case.args.iter().map(|word| word.replace("{case}", &folder)).collect();
    let (before, started) = (children_cpu_s(), std::time::Instant::now());
    let bare = run_one(Command::new(&path).args(&arguments)).map_err(&failed)?;
    let (cpu_s, wall_s) = (children_cpu_s() - before, started.elapsed().as_secs_f64());
    let text = match &case.scale {
        Some(scale) => scaled(case, scale, &path, slowpath),
        None => recorded(case, &path, &arguments, slowpath),
    };
    let mut json: Value =
        serde_json::from_slice(&text.map_err(&failed)?).map_err(|error| failed(error.to_string()))?;
    let findings = match json["findings"].take() {
        Value::Array(findings) => findings,
        _ => return Err(failed("the report has no list of findings".to_owned())),
    };
    Ok(Side { cpu_s, wall_s, stdout: bare.stdout, findings })
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

/// CPU time of all children that were waited for so far, s.
fn children_cpu_s() -> f64 {
    // SAFETY: rusage is plain numbers, and the pointer is valid.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
