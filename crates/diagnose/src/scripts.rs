//! Scripts and the interpreters that run them. A function of an interpreter tells nobody anything: what it does, the script asks for.

use crate::causes::words::base_name;
use slowpath_recording::tables::Process;
use std::collections::HashMap;

/// Programs that run scripts, by their names without versions.
const INTERPRETERS: [&str; 19] = [
    "python", "pypy", "perl", "ruby", "node", "nodejs", "php", "lua", "luajit", "bash", "dash", "sh", "ksh",
    "zsh", "tclsh", "guile", "gawk", "mawk", "busybox",
];

/// Whether a program's file is an interpreter: `python3.11` is.
fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&plain(program))
}

/// A name without its version.
fn plain(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// What a process runs, if its program is an interpreter: its script's file name, or the module that Python was asked for.
fn script(process: &Process) -> Option<String> {
    if !is_interpreter(base_name(&process.program)) {
        return None;
    }
    let mut arguments = process.arguments.iter().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-m" => return arguments.next().cloned(),
            // What follows is no file.
            "-c" | "-e" | "-E" | "-p" | "--eval" | "-r" => return None,
            "--" => return arguments.next().map(|script| base_name(script).to_owned()),
            option if option.starts_with('-') && option.len() > 1 => {}
            script => return Some(base_name(script).to_owned()),
        }
    }
    None
}

/// The script of each interpreter, by its file name; none where it ran several, for its functions do not say for which.
pub(crate) fn by_interpreter(processes: &[Process]) -> HashMap<&str, String> {
    let mut scripts: HashMap<&str, Option<String>> = HashMap::new();
    for process in processes.iter().filter(|process| is_interpreter(base_name(&process.program))) {
        let script = script(process);
        scripts
            .entry(base_name(&process.program))
            .and_modify(|known| {
                if *known != script {
                    *known = None;
                }
            })
            .or_insert(script);
    }
    scripts.into_iter().filter_map(|(interpreter, script)| Some((interpreter, script?))).collect()
}

/// The script that is run where a function of `module` is: that of the interpreter itself, or of the one whose library it is, such as
/// `libpython3.11.so.1.0`.
pub(crate) fn at<'a>(scripts: &'a HashMap<&str, String>, module: &str) -> Option<&'a String> {
    let of_library = || {
        let library = module.strip_prefix("lib")?.split_once(".so")?.0;
        let mut of_it = scripts.iter().filter(|(interpreter, _)| library.starts_with(plain(interpreter)));
        let (_, script) = of_it.next()?;
        of_it.next().is_none().then_some(script)
    };
    scripts.get(module).or_else(of_library)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(program: &str, arguments: &[&str]) -> Process {
        Process {
            process: 0,
            parent: None,
            pid: 1,
            run: 0,
            program: program.into(),
            arguments: arguments.iter().map(|one| (*one).to_owned()).collect(),
            directory: None,
            start_ns: 0,
            exec_ns: None,
            end_ns: None,
            exit: None,
            cpu_ns: None,
            user_ns: None,
            peak_memory_bytes: None,
            tracing_ns: 0,
            sample_scale: 1.0,
        }
    }

    #[test]
    fn scripts_are_the_first_argument_that_is_no_option() {
        let of = |program: &str, arguments: &[&str]| script(&process(program, arguments));
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(
            of("/usr/bin/python3.11", &["python3", "-u", "/srv/rates.py", "--all"]),
            named("rates.py")
        );
        assert_eq!(of("/usr/bin/python3.11", &["python3", "-m", "json.tool"]), named("json.tool"));
        assert_eq!(of("/usr/bin/bash", &["bash", "-e", "x.sh"]), None);
        assert_eq!(of("/usr/bin/dash", &["sh", "./run.sh"]), named("run.sh"));
        assert_eq!(of("/usr/bin/perl", &["perl", "-e", "print 1"]), None);
        assert_eq!(of("/usr/bin/node", &["node"]), None);
        assert_eq!(of("/usr/bin/shred", &["shred", "file"]), None);
        assert_eq!(of("/srv/python-tool", &["python-tool", "x"]), None);
    }

    #[test]
    fn an_interpreter_that_ran_several_scripts_says_nothing() {
        let one = process("/usr/bin/python3.11", &["python3", "a.py"]);
        let other = process("/usr/bin/python3.11", &["python3", "b.py"]);
        let shell = process("/usr/bin/dash", &["sh", "run.sh"]);
        let both = [one.clone(), shell.clone()];
        let scripts = by_interpreter(&both);
        assert_eq!((scripts["python3.11"].as_str(), scripts["dash"].as_str()), ("a.py", "run.sh"));
        assert_eq!(at(&scripts, "libpython3.11.so.1.0").map(String::as_str), Some("a.py"));
        assert_eq!(
            (at(&scripts, "dash").map(String::as_str), at(&scripts, "libc.so.6")),
            (Some("run.sh"), None)
        );
        assert!(!by_interpreter(&[one, other, shell]).contains_key("python3.11"));
    }
}
