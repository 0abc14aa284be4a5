//! The command `slowpath`: arguments, progress, exit codes. What it does is in the other crates.
//!
//! - `args` — what can be asked.
//! - `run` — record, attach: run a target and report what was found.
//! - `compare` — two commands, or two recordings.
//! - `scale` — one command at several sizes.
//! - `limits` — what this machine can do.
//! - `kept` — where recordings are, and which one is meant.
//! - `recorded` — what those two record for themselves.
//! - `tally` — the calls of a few functions over a whole run, for `compare`.
//! - `manage` — recordings that exist, the causes, the machine, the cases.
//! - `setup` — lets a group record without sudo; `rights` — makes use of that.
//! - `view` — recordings as a page.
//! - `door` — the way from a served page to the browser.
//! - `progress` — the line while recording.
//! - `complain` — what is said beside a report.

mod args;
mod compare;
mod complain;
mod door;
mod kept;
mod limits;
mod manage;
mod progress;
mod recorded;
mod rights;
mod run;
mod scale;
mod setup;
mod tally;
mod view;

use args::{Args, Command};
use clap::Parser;
use complain::{complain, hint};
use slowpath_report::Shown;
use std::process::ExitCode;

/// slowpath's own failures, as with timeout(1).
const FAILED: u8 = 125;

/// What somebody meant who typed a program where slowpath's own words are: it stands behind `--`.
fn without_dashes(error: &clap::Error) -> Option<String> {
    use clap::error::ErrorKind;
    let unknown = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let program = words.iter().position(|word| !word.starts_with('-'))?;
    let there = unknown && !words.iter().any(|word| word == "--") && is_program(&words[program]);
    let (own, command) = words.split_at(program);
    let own = own.iter().map(|word| format!("{word} ")).collect::<String>();
    there.then(|| format!("slowpath: did you mean: slowpath {own}-- {}", command.join(" ")))
}

fn is_program(word: &str) -> bool {
    if word.contains('/') {
        return std::path::Path::new(word).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(word).is_file())
}

fn main() -> ExitCode {
    slowpath_collect::signals::prepare();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let help = !error.use_stderr();
            if let Some(meant) = without_dashes(&error) {
                hint(&Shown::lines(format_args!("{meant}\n")));
            }
            // If not even the help can be printed nobody can read it.
            let text = Shown::lines(error.render());
            if help {
                let _ = run::say(&text);
            } else {
                hint(&text);
            }
            let comparing = std::env::args_os().nth(1).is_some_and(|word| word == "compare");
            let usage = if comparing { compare::USAGE } else { FAILED };
            return ExitCode::from(if help { 0 } else { usage });
        }
    };
    let command = args.command();
    rights::settle(command.needs());
    let done = match command {
        Command::Record(record) => run::record(record),
        Command::Attach(attach) => run::attach(attach),
        Command::Compare(compare) => compare::compare(&compare),
        Command::Scale(scale) => scale::scale(&scale),
        Command::Tally(tally) => tally::tally(&tally),
        Command::Limits(args) => limits::limits(&args),
        Command::View(view) => view::view(&view),
        Command::Explain(explain) => manage::explain(&explain),
        Command::List(list) => manage::list(&list.at),
        Command::Rm(rm) => manage::remove(&rm),
        Command::Causes { name } => manage::causes(name.as_deref()),
        Command::Doctor => manage::doctor(),
        Command::Setup(setup) => setup::setup(&setup),
        Command::Cases { command } => manage::cases(&command),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err((message, code)) => {
            complain(&Shown::message(message));
            ExitCode::from(code)
        }
    }
}
